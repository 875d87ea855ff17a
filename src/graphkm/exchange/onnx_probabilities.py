"""`Calibration.probabilities` as nodes of an ONNX graph, step for step."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..estimators.calibration import AHEAD, GRID, Calibration
from .onnx_nodes import Nodes


def add_probabilities(
    graph: Nodes, f: str, code: str, calibration: Calibration, n_classes: int
) -> str:
    """Add the nodes that compute probabilities from f and the number of the label."""
    add = graph.add
    columns = add("Concat", add("Neg", f), f, axis=1) if n_classes == 2 else f
    shares = add("Mul", columns, float(calibration.slope))
    shares = add("Softmax", add("Add", shares, calibration.offsets[None, :]), axis=1)
    if calibration.curves is not None:
        shares = _bent(graph, shares, calibration.curves)
    floor = calibration.floor
    shares = add("Add", add("Mul", shares, float(1.0 - floor.sum())), floor[None, :])
    if calibration.keeps:
        shares = _with_winner(graph, shares, code, n_classes)
    return _normalised(graph, shares)


def _normalised(graph: Nodes, shares: str) -> str:
    return graph.add("Div", shares, graph.add("ReduceSum", shares, np.array([1]), keepdims=1))


def _bent(graph: Nodes, shares: str, curves: NDArray[np.float64]) -> str:
    """Return shares after their curves: hat functions over the grid, weighted by its values."""
    add = graph.add
    inside = add("Clip", shares, 1e-12, 1.0 - 1e-12)
    odds = add("Sub", add("Log", inside), add("Log", add("Sub", 1.0, inside)))
    odds = add("Clip", odds, float(GRID[0]), float(GRID[-1]))
    place = add("Div", add("Sub", odds, float(GRID[0])), float(GRID[1] - GRID[0]))
    place = add("Unsqueeze", place, np.array([2]))
    steps = np.arange(len(GRID), dtype=np.float64)[None, None, :]
    hats = add("Relu", add("Sub", 1.0, add("Abs", add("Sub", place, steps))))
    bent = add("ReduceSum", add("Mul", hats, curves[None, :, :]), np.array([2]), keepdims=0)
    return _normalised(graph, bent)


def _with_winner(graph: Nodes, shares: str, code: str, n_classes: int) -> str:
    """Return the nearest shares in which that of the label is the largest."""
    add, last = graph.add, np.array([1])
    code = add("Unsqueeze", code, last)
    wins = add("Equal", code, np.arange(n_classes)[None, :])
    mask = add("Cast", wins, to=graph.types.DOUBLE)
    mine = add("Mul", shares, mask)
    own = add("ReduceSum", mine, last, keepdims=1)
    others = add("TopK", add("Sub", shares, mine), np.array([n_classes]), n=2, axis=1)
    sums = add("Add", add("CumSum", others, np.array(1)), own)
    means = add("Div", sums, np.arange(2.0, n_classes + 2.0)[None, :])
    level = add("Max", own, add("ReduceMax", means, axes=[1], keepdims=1))
    cut = add("Min", shares, add("Sub", level, add("Mul", own, AHEAD)))
    return add("Where", wins, level, cut)
