"""Fields on nodes as nodes of an ONNX graph: `NearNodes.weights` and `AnchorNodes.weights`.

Rounded distances from all nodes give candidates. Their distances are then computed from differences
of rows, as in the library: only a row that equals a node has the distance 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..graphs.anchors import FEW, JOINED, AnchorNodes
from ..graphs.nodes import REACH, NearNodes
from .onnx_machines import dense_rows
from .onnx_nodes import Nodes

_MORE = 4  # candidates beyond the neighbours wanted: the first distances are rounded
_NEVER = -1e300  # the exponent of a weight 0
_LEAST = 1e-300


class Reached(NamedTuple):
    """The nodes that each row reaches, as names of outputs of shape (n, k)."""

    near: str
    """Numbers of nodes."""
    weights: str


def add_reached(graph: Nodes, rows: str, nodes: Any) -> Reached:
    """Add the nodes that compute which nodes each row reaches, and with which weights.

    Raises ValueError if the graph's nodes have no form.
    """
    mild = isinstance(nodes, AnchorNodes) and len(nodes.reach) <= FEW
    k = min(JOINED + 1 if mild else nodes.n_neighbors, len(nodes.reach))
    _refuse_approximate(nodes, k)
    near, d2 = _nearest(graph, rows, nodes, k)
    if mild:
        used = min(JOINED, k)
        exponent = _first(graph, _shares(graph, d2, k), used)
        return _faded(graph, _first(graph, near, used), exponent, d2, nodes.reach)
    return _faded(graph, near, _sharp(graph, near, d2, k, nodes), d2, nodes.reach)


def add_field(graph: Nodes, reached: Reached, field: NDArray[Any]) -> str:
    """Add the nodes that compute z(x) times a field, of shape (n, n_columns)."""
    values = graph.add("Gather", field.astype(np.float64), reached.near, axis=0)
    shares = graph.add("Unsqueeze", reached.weights, np.array([2]))
    product = graph.add("Mul", values, shares)
    return graph.add("ReduceSum", product, np.array([1]), keepdims=0)


def add_far(graph: Nodes, reached: Reached) -> str:
    """Add the nodes that compute 1 - sum z(x), of shape (n, 1): how far rows are from all nodes."""
    total = graph.add("ReduceSum", reached.weights, np.array([1]), keepdims=1)
    return graph.add("Relu", graph.add("Sub", 1.0, total))


def _refuse_approximate(nodes: Any, k: int) -> None:
    if not isinstance(nodes, NearNodes):
        raise ValueError(
            f"ONNX graphs have no form for nodes of the kind {type(nodes).__name__}; fit with "
            "graph=KNN(), graph=Anchors() or graph=None."
        )
    if not nodes.index.misses_nothing(k):
        raise ValueError(
            f"This model searches its {len(nodes.reach):,} nodes approximately, and an ONNX graph "
            "would find others. Fit with graph=KNN(search='exact'), with fewer anchors "
            "(graph=Anchors(n_anchors=5000)), or with graph=None, which has no nodes."
        )


def _nearest(graph: Nodes, rows: str, nodes: Any, k: int) -> tuple[str, str]:
    """Add the k nearest nodes, nearest first, and their squared distances."""
    add, types, m = graph.add, graph.types, len(nodes.reach)
    points = dense_rows(nodes.points)
    if nodes.points.dtype == np.float32:  # the library rounds new rows as the nodes were
        rows = add("Cast", add("Cast", rows, to=types.FLOAT), to=types.DOUBLE)
    stored, mean = graph.constant(points), points.mean(axis=0)
    centred = add("Sub", stored, mean)
    squares = np.square(points - mean).sum(axis=1)[None, :]
    # The row's own square is the same for all nodes.
    rough = add("Gemm", add("Sub", rows, mean), centred, squares, alpha=-2.0, transB=1)
    wide = np.array([min(m, k + _MORE)])
    found = add("TopK", rough, wide, n=2, axis=1, largest=0) + "_1"
    # Candidates are in order of their numbers: if distances are equal, the first one counts.
    found = add("TopK", found, wide, n=2, axis=1, largest=0)
    others = add("Gather", stored, found, axis=0)
    apart = add("Sub", add("Unsqueeze", rows, np.array([1])), others)
    exact = add("ReduceSum", add("Mul", apart, apart), np.array([2]), keepdims=0)
    d2 = add("TopK", exact, np.array([k]), n=2, axis=1, largest=0)
    return add("GatherElements", found, d2 + "_1", axis=1), d2


def _sharp(graph: Nodes, near: str, d2: str, k: int, nodes: Any) -> str:
    """Add -b d^2 / (s_u s_v); a row that equals a node reaches that node alone."""
    add = graph.add
    d = add("Sqrt", d2)
    own = _column(graph, d, k - 1)
    own = add("Where", add("Greater", own, 0.0), own, 1.0)
    theirs = add("Gather", nodes.reach, near, axis=0)
    scaled = add("Mul", add("Div", d, own), add("Div", d, theirs))
    exponent = add("Mul", scaled, -float(nodes.sharpness))
    equal = add("Not", add("Greater", _column(graph, d2, 0), 0.0))
    return add("Where", add("And", equal, add("Greater", d2, 0.0)), _NEVER, exponent)


def _shares(graph: Nodes, d2: str, k: int) -> str:
    """Add -d^2 / d_k^2, and 0 where all distances are 0."""
    last = graph.add("Max", _column(graph, d2, k - 1), _LEAST)
    return graph.add("Neg", graph.add("Div", d2, last))


def _faded(graph: Nodes, near: str, exponent: str, d2: str, reach: NDArray[np.float64]) -> Reached:
    """Add the weights, which sum to one or, far from all nodes, to less."""
    add = graph.add
    weights = add("Softmax", exponent, axis=1)
    usual = add("Mul", weights, add("Gather", reach, near, axis=0))
    usual = add("Mul", add("ReduceSum", usual, np.array([1]), keepdims=1), REACH)
    nearest = add("Max", _column(graph, d2, 0), _LEAST)
    left = add("Min", add("Div", add("Mul", usual, usual), nearest), 1.0)
    return Reached(near, add("Mul", weights, left))


def _column(graph: Nodes, values: str, place: int) -> str:
    return graph.add("Gather", values, np.array([place]), axis=1)


def _first(graph: Nodes, values: str, n: int) -> str:
    return graph.add("Slice", values, np.array([0]), np.array([n]), np.array([1]))
