"""Nodes and constants of an ONNX graph, with names of their own."""

from __future__ import annotations

from typing import Any

import numpy as np


class Nodes:
    """Nodes of a graph in the order in which they are computed, and their constants.

    Parameters
    ----------
    onnx : module
        The package itself.
    """

    def __init__(self, onnx: Any) -> None:
        self._onnx = onnx
        self.types = onnx.TensorProto
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(self, operator: str, *inputs: Any, name: str = "", n: int = 1, **options: Any) -> str:
        """Add a node; inputs that are numbers become constants. Return the name of its output."""
        names = [value if isinstance(value, str) else self._constant(value) for value in inputs]
        output = name or f"n{len(self.nodes)}"
        outputs = [output] + [f"{output}_{i}" for i in range(1, n)]
        self.nodes.append(self._onnx.helper.make_node(operator, names, outputs, **options))
        return output

    def _constant(self, value: Any) -> str:
        """Add a constant: whole numbers, numbers in double precision, or texts."""
        array = np.asarray(value)
        if array.dtype.kind == "f":
            array = np.ascontiguousarray(array, np.float64)
        name = f"c{len(self.constants)}"
        self.constants.append(self._onnx.numpy_helper.from_array(array, name))
        return name
