"""Looks at the data before the work begins: whether it fits, and can succeed."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.sparse import issparse

from .._memory import require_memory
from ..graphs import Graph, ListedGraph
from ..kernels import Kernel, Laplacian, SquaredExponential, resolve_gamma

_PROBE, _OTHERS = 32, 4096  # rows between which kernel values are looked at
_ROWS = 8192  # rows whose norms are computed together
_ROUNDING = 0.01  # error of a kernel value's exponent from which single precision misleads


def check_kernel_reaches(kernel: Kernel, X: Any) -> None:
    """Raise if no row has a kernel value above underflow with any different row."""
    if not isinstance(kernel, SquaredExponential | Laplacian) or X.shape[0] < 2:
        return
    chosen = np.random.default_rng(0).permutation(X.shape[0])[:_OTHERS]
    values = kernel(X[chosen[:_PROBE]], X[chosen]) / kernel.bounded
    between = values[values < 1.0]
    if between.size and between.max() < np.finfo(np.float32).tiny:
        raise ValueError(
            f"gamma={kernel.gamma:.3g} makes every kernel value between different rows underflow "
            "to 0, so that no point tells anything about another. Pass a smaller gamma (the "
            f"choice gamma='scale' is {resolve_gamma('scale', X):.3g} here) or scale the features."
        )


def warn_of_rounding(kernel: Kernel, X: Any) -> None:
    """Warn where squared distances in single precision lose the digits that matter."""
    if not isinstance(kernel, SquaredExponential) or X.shape[0] == 0:
        return
    mean = 0.0 if issparse(X) else X.mean(axis=0, dtype=np.float64)
    largest = 0.0
    for start in range(0, X.shape[0], _ROWS):
        rows = X[start : start + _ROWS]
        if issparse(rows):
            norms = np.asarray(rows.multiply(rows).sum(axis=1))
        else:
            centred = rows - mean
            norms = np.einsum("ij,ij->i", centred, centred)
        largest = max(largest, float(norms.max()))
    assert kernel.gamma is not None
    if np.finfo(np.float32).eps * kernel.gamma * largest > _ROUNDING:
        warnings.warn(
            f"Some rows are so far from the others (gamma times the largest squared distance from "
            f"the mean is {kernel.gamma * largest:.3g}) that their kernel values are inexact in "
            "single precision. Pass precision='double', or scale the features.",
            UserWarning,
            stacklevel=4,
        )


def warn_of_unlabeled_components(graph: Graph, labeled: Any) -> None:
    """Warn if parts of the graph hold no labelled point."""
    if not isinstance(graph, ListedGraph):
        return
    n_parts, n_rows = graph.unlabeled_components(labeled)
    if n_parts:
        warnings.warn(
            f"{n_parts} of the graph's connected components, with {n_rows} of {len(labeled)} "
            "rows, hold no labelled point: there the graph carries no label and the kernel alone "
            "decides. More neighbours (or a larger radius) connect them.",
            UserWarning,
            stacklevel=4,
        )


def require_memory_for_centres(X: Any, n_outputs: int, max_iter: int, dtype: Any) -> None:
    """Raise before a fit whose centres would not fit into memory."""
    n_centres = min(X.shape[0], 3 * max_iter)
    per_value = np.dtype(dtype).itemsize
    row = X.nnz / max(1, X.shape[0]) * (per_value + 4) if issparse(X) else X.shape[1] * per_value
    # Panels grow by doubling: while they move, the old and the new are there together.
    estimate = int(n_centres * (3 * row + n_outputs * (4 * 8 + 3 * per_value))) + 2**24
    require_memory(
        estimate,
        f"a fit with up to {n_centres:,} centres of {X.shape[1]:,} features",
        "Lower max_iter, reduce the number of features, or fit on fewer rows.",
    )
