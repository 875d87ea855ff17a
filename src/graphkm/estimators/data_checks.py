"""Checks of the data before the work begins: whether it fits into memory, and can succeed."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import _check_sample_weight

from .._util.memory import require_memory
from .._util.parameters import refuse_masked
from ..backends import make_store, query_rows
from ..graphs import Graph, ListedGraph
from ..kernels import Kernel, resolve_gamma
from ..neighbours.distances import squared_distances
from ..solvers import SGD

_PROBE, _OTHERS = 32, 4096  # kernel values are checked between so many rows and so many others
_PAIRS = 1024  # of these pairs, so many distances are computed exactly
_ROWS = 8192  # rows whose norms are computed together
_ROUNDING = 0.01  # with a larger error in the exponent, kernel values mislead


class GraphWarning(UserWarning):
    """The graph and the labels do not go well together; the message says how."""


def canonical_csr(X: Any) -> Any:
    """Return CSR rows without duplicates and with the 32-bit indices that compiled code takes."""
    if max(X.nnz, *X.shape) >= 2**31:
        raise ValueError(
            f"X has {X.nnz:,} non-zeros in {X.shape[0]:,} rows and {X.shape[1]:,} columns, more "
            "than 32-bit indices count; fit on fewer rows, or hash the features into fewer columns."
        )
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if X.indices.dtype != np.int32 or X.indptr.dtype != np.int32:
        narrow = (X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32))
        X = type(X)(narrow, shape=X.shape)
    return X


def check_range(X: Any, dtype: Any) -> None:
    """Raise if sums of squares of the features overflow."""
    largest = max(abs(float(X.max())), abs(float(X.min())))
    if largest >= np.sqrt(float(np.finfo(dtype).max) / (4 * X.shape[1])):
        raise ValueError(
            f"X holds values as large as {largest:.3g}, whose squares overflow in {dtype} "
            "arithmetic. Scale the features, for example with StandardScaler"
            + (", or pass precision='double'." if dtype == np.float32 else ".")
        )


def smallest_scale(dtype: Any) -> float:
    """Return the least size of rows at which all digits that matter are kept.

    A digit matters if it is not lost beside the largest value. Variances must keep such digits,
    too: they are squares, in double precision.
    """
    number, double = np.finfo(dtype), np.finfo(np.float64)
    least = float(number.tiny) / float(number.eps)
    return max(least, float(np.sqrt(double.tiny / double.eps)))


def check_scale(X: Any, dtype: Any) -> None:
    """Raise if rows differ, but their values are so small that digits are lost."""
    largest = max(abs(float(X.max())), abs(float(X.min())))
    if largest < smallest_scale(dtype) and _rows_differ(X):
        raise ValueError(
            f"X holds no values larger than {largest:.3g}, which are too small for "
            f"{np.dtype(dtype)} arithmetic to keep their digits. Pass features of a usual size, "
            "for example X / abs(X).max()"
            + (", or rows of float64 and precision='double'." if dtype == np.float32 else ".")
        )


def _rows_differ(X: Any) -> bool:
    return bool(np.ptp(X.toarray() if issparse(X) else X, axis=0).any())


def checked_weights(sample_weight: Any, X: Any) -> NDArray[np.float64]:
    """Return the weights of all rows; raise if they are masked, negative or out of range."""
    refuse_masked("sample_weight", sample_weight)
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    check_weight_range(weights)
    return np.asarray(weights)


def check_weight_range(weights: NDArray[np.float64]) -> None:
    """Raise if the squares of positive weights overflow or underflow.

    Examples
    --------
    >>> check_weight_range(np.array([0.0, 1e-300, 1.0]))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: sample_weight reaches from 1e-300 to 1, and the squares of some weights ...
    """
    used, number = weights[weights > 0], np.finfo(np.float64)
    if len(used) and not (number.tiny**0.5 < used.min() and used.max() < number.max**0.5):
        raise ValueError(
            f"sample_weight reaches from {used.min():.3g} to {used.max():.3g}, and the squares of "
            "some weights overflow or underflow. Divide the weights by their mean, and set those "
            "that are negligible to 0."
        )


def require_memory_for_classes(n_labeled: int, n_classes: int) -> None:
    """Raise MemoryError if a table of all labels by all classes does not fit."""
    require_memory(
        8 * n_labeled * n_classes,
        f"One number for each of {n_labeled:,} labels and {n_classes:,} classes",
        "Every class is learnt against the rest. If the labels are quantities, take a regressor; "
        "if they are names or numbers of rows, pass another column as y; else join rare classes.",
    )


def largest_kernel_value(kernel: Kernel, X: Any, dtype: Any) -> float:
    """Return the largest k(x, x), at least 0; an error if it overflows."""
    if kernel.bounded is not None:
        largest = kernel.bounded
    elif not kernel.has_rows:
        largest = float(kernel.diagonal(X).max())
    else:
        starts = range(0, X.shape[0], _ROWS)
        with np.errstate(over="ignore"):
            largest = max(float(kernel.diagonal(X[i : i + _ROWS]).max()) for i in starts)
    if not largest < float(np.finfo(dtype).max):
        raise ValueError(
            f"The kernel {kernel!r} has values as large as {largest:.3g}, which overflow in "
            f"{dtype} arithmetic. Scale the features, or the kernel's own parameters down."
        )
    return max(largest, 0.0)


class UnderflowError(ValueError):
    """A gamma is so large that all kernel values or edge weights between rows are 0."""


def check_kernel_reaches(kernel: Kernel, X: Any) -> None:
    """Raise if no row has a kernel value above underflow with any different row."""
    if not kernel.stationary or X.shape[0] < 2:
        return
    chosen = np.random.default_rng(0).permutation(X.shape[0])[:_OTHERS]
    store = make_store(kernel, X.shape[1], 1, sparse=issparse(X), dtype=np.float64)
    store.append(query_rows(kernel, X, chosen, np.float64))
    values = store.values(query_rows(kernel, X, chosen[:_PROBE], np.float64))
    values /= float(kernel.diagonal(X[:1])[0])  # k(x, x) is the same everywhere
    reached = values >= np.finfo(np.float32).tiny
    if reached.all():
        return
    u, v = np.nonzero(reached)
    farthest = np.argsort(values[u, v])[:_PAIRS]
    # Rounding gives equal rows a distance. So some distances are computed exactly.
    if not squared_distances(X, chosen[u[farthest]], chosen[v[farthest]]).any():
        raise UnderflowError(
            f"{_width(kernel)} makes every kernel value between different rows underflow "
            "to 0, so that no point tells anything about another. Pass a smaller gamma (the "
            f"choice gamma='scale' is {resolve_gamma('scale', X):.3g} here) or scale the features."
        )


def _width(kernel: Kernel) -> str:
    gamma = kernel.get_params().get("gamma")
    return repr(kernel) if gamma is None else f"gamma={gamma:.3g}"


def check_graph_reaches(graph: Graph, gamma: float) -> None:
    """Raise if the weights of all edges looked at are 0."""
    index = np.random.default_rng(0).integers(graph.n_edges, size=_OTHERS)
    if not graph.take(index).weight.any():
        raise UnderflowError(
            f"weights={gamma:.3g} makes every edge weight underflow to 0, so that the graph "
            "joins nothing. Pass a smaller number, or weights='kernel'."
        )


def rounding_of_exponents(kernel: Kernel, X: Any, dtype: Any) -> float:
    """Return the largest rounding error of gamma ||x - y||^2; 0 for kernels without it."""
    gamma = kernel.euclidean_gamma
    if gamma is None or X.shape[0] == 0:
        return 0.0
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
    return float(np.finfo(dtype).eps) * gamma * largest


def _most_rounding(kernel: Kernel, X: Any, dtype: Any) -> float:
    """Return an upper bound of `rounding_of_exponents`, from the ranges of the columns."""
    gamma = kernel.euclidean_gamma
    if gamma is None or issparse(X) or X.shape[0] == 0:
        return np.inf
    lowest, highest = X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64)
    with np.errstate(over="ignore"):
        return float(np.finfo(dtype).eps * gamma * np.square(highest - lowest).sum())


def warn_of_rounding(kernel: Kernel, X: Any, dtype: Any) -> None:
    """Warn if squared distances lose the digits that matter."""
    if _most_rounding(kernel, X, dtype) <= _ROUNDING:
        return
    error = rounding_of_exponents(kernel, X, dtype)
    if error > _ROUNDING:
        warnings.warn(
            f"Some rows are so far from the others (gamma times the largest squared distance from "
            f"the mean is {error / np.finfo(dtype).eps:.3g}) that their kernel values are inexact "
            f"in {dtype} arithmetic. Scale the features"
            + (", or pass precision='double'." if dtype == np.float32 else ", or drop those rows."),
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
            "rows, hold no labelled point: there the graph carries no label, and the kernel alone "
            "decides (with RowNewton nothing does, and scores are 0). More neighbours (or a larger "
            "radius) connect them.",
            GraphWarning,
            stacklevel=4,
        )


def require_memory_for_centres(X: Any, n_outputs: int, solver: SGD, dtype: Any) -> None:
    """Raise before a fit whose centres would not fit into memory."""
    max_iter = int(solver.max_iter)
    n_centres = min(X.shape[0], 3 * max_iter)
    if solver.budget is not None:
        n_centres = min(n_centres, solver.budget + _OTHERS)  # a block adds centres first
    per_value = np.dtype(dtype).itemsize
    row = X.nnz / max(1, X.shape[0]) * (per_value + 4) if issparse(X) else X.shape[1] * per_value
    # Panels grow by doubling, and the old and the new ones exist together for a while. A
    # dictionary finds a centre by its number; an entry takes about 100 bytes.
    centres = n_centres * (100 + 3 * row + n_outputs * (4 * 8 + 3 * per_value))
    estimate = int(centres) + max_iter * n_outputs // 4 + 2**24  # and the objective's course
    require_memory(
        estimate,
        f"a fit of {max_iter:,} steps with up to {n_centres:,} centres of {X.shape[1]:,} features",
        "Lower max_iter, reduce the number of features, or fit on fewer rows.",
    )
