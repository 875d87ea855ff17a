"""Kernel machines as nodes of an ONNX graph.

f is a product of kernel values and coefficients, and the label is computed from f, as in the
library. The operators SVMRegressor and SVMClassifier are not used. They sum in single precision,
where large coefficients that cancel lose their digits; they need a copy of the centres for every
class; and with several classes the scores of the second are votes of pairs, not f.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from ..kernels import Linear, Polynomial
from .kernel_form import PlainModel
from .onnx_nodes import Nodes, check_size
from .onnx_probabilities import add_probabilities


class Answers(NamedTuple):
    """What a model says, as names of outputs of nodes."""

    classes: NDArray[Any] | None
    """The labels; None for quantities."""
    scores: str
    """`decision_function`, or quantities of shape (n, 1)."""
    code: str = ""
    """The number of the label."""
    probabilities: str = ""
    """Empty if there are none."""


def add_machine(graph: Nodes, rows: str, plain: PlainModel) -> Answers:
    """Add the nodes that compute all answers of a kernel machine from rows."""
    f = add_functions(graph, rows, plain)
    if plain.classes is None:
        return Answers(None, f)
    k, code = len(plain.classes), _add_code(graph, f, plain.classes)
    scores = graph.add("Reshape", f, np.array([-1])) if k == 2 else f
    if plain.calibration is None:
        return Answers(plain.classes, scores, code)
    probabilities = add_probabilities(graph, f, code, plain.calibration, k)
    return Answers(plain.classes, scores, code, probabilities)


def add_functions(graph: Nodes, rows: str, plain: PlainModel) -> str:
    """Add the nodes that compute f, of shape (n, n_outputs), from rows."""
    add, kernel = graph.add, plain.kernel
    centres = dense_rows(plain.centres)
    if isinstance(kernel, Linear | Polynomial):
        values = add("MatMul", rows, centres.T)
        if isinstance(kernel, Polynomial):
            values = add("Add", add("Mul", values, float(kernel.gamma)), float(kernel.coef0))  # type: ignore[arg-type]
            values = add("Pow", values, float(kernel.degree))
    else:
        # Around their mean no digit of d^2 = x.x - 2 x.c + c.c is lost.
        mean = centres.mean(axis=0)
        rows, centres = add("Sub", rows, mean), centres - mean
        own = add("ReduceSum", add("Mul", rows, rows), np.array([1]), keepdims=1)
        d2 = add("Add", add("MatMul", rows, -2.0 * centres.T), np.square(centres).sum(axis=1))
        d2 = add("Relu", add("Add", d2, own))
        values = add("Exp", add("Mul", d2, -float(kernel.gamma)))  # type: ignore[attr-defined]
    return add("Add", add("MatMul", values, plain.coefficients), plain.intercept)


def dense_rows(rows: Any) -> NDArray[np.float64]:
    """Return rows as an array; an error if they are too large for a file.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> dense_rows(csr_array([[0.0, 2.0]]))
    array([[0., 2.]])
    """
    check_size(8 * rows.shape[0] * rows.shape[1])
    return np.asarray(rows.toarray() if issparse(rows) else rows, np.float64)


def _add_code(graph: Nodes, f: str, classes: NDArray[Any]) -> str:
    if len(classes) > 2:
        return graph.add("ArgMax", f, axis=1, keepdims=0)
    flat = graph.add("Reshape", f, np.array([-1]))
    return graph.add("Cast", graph.add("GreaterOrEqual", flat, 0.0), to=graph.types.INT64)
