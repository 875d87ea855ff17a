"""Nodes and constants of an ONNX graph, with names of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST = 2**31 - 1
"""Bytes of a file of protocol buffers, at most."""

TREES = "ai.onnx.ml"
"""Where the operators of trees are defined."""


class Nodes:
    """Nodes of a graph in the order in which they are computed, and their constants.

    Parameters
    ----------
    onnx : module
        The package itself.
    """

    def __init__(self, onnx: Any) -> None:
        self._onnx = onnx
        self._bytes = 0
        self.types = onnx.TensorProto
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(self, operator: str, *inputs: Any, name: str = "", n: int = 1, **options: Any) -> str:
        """Add a node; inputs that are numbers become constants. Return the name of its output."""
        names = [value if isinstance(value, str) else self.constant(value) for value in inputs]
        output = name or f"n{len(self.nodes)}"
        outputs = [output] + [f"{output}_{i}" for i in range(1, n)]
        self.nodes.append(self._onnx.helper.make_node(operator, names, outputs, **options))
        return output

    def constant(self, value: Any) -> str:
        """Add a constant: whole numbers, numbers in double precision, or texts."""
        array = np.asarray(value)
        if array.dtype.kind == "f":
            array = np.ascontiguousarray(array, np.float64)
        self._bytes += array.nbytes
        check_size(self._bytes)
        name = f"c{len(self.constants)}"
        self.constants.append(self._onnx.numpy_helper.from_array(array, name))
        return name

    def tensor(self, values: NDArray[np.float64]) -> Any:
        """Return numbers in double precision as the option of a node."""
        return self._onnx.numpy_helper.from_array(np.ascontiguousarray(values, np.float64))


def check_size(n_bytes: int) -> None:
    """Raise if a graph is larger than a file can be.

    Examples
    --------
    >>> check_size(10**9)
    """
    if n_bytes > MOST:
        raise ValueError(
            f"An ONNX file holds {MOST / 1e9:.1f} GB at most, and this model needs "
            f"{n_bytes / 1e9:.3g} GB or more. Fit it with fewer nodes "
            "(graph=Anchors(n_anchors=1000)), with graph=None, with fewer landmarks or with "
            "smaller trees."
        )
