"""A graph from a matrix of weights that the user brings."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from .arguments import check_labeled
from .listed import ListedGraph


def affinity_graph(W: Any, labeled: ArrayLike, n_vertices: int) -> ListedGraph:
    """Join u and v with mu_uv = max(W_uv, W_vu) where that is positive.

    The diagonal and the labelled-labelled entries are dropped.

    Parameters
    ----------
    W : sparse matrix or array-like of shape (n_vertices, n_vertices)
        Weights, finite and not negative. Not changed.
    labeled : ndarray of bool of shape (n_vertices,)
        True where a row has a label.
    n_vertices : int
        Number of training rows.

    Returns
    -------
    ListedGraph

    Examples
    --------
    >>> W = np.array([[1.0, 0.5, 0.0], [0.2, 1.0, 0.0], [0.0, 0.7, 1.0]])
    >>> graph = affinity_graph(W, np.array([True, False, False]), n_vertices=3)
    >>> graph.edges()
    Edges(u=array([0, 1]), v=array([1, 2]), weight=array([0.5, 0.7]))
    """
    mask = check_labeled(labeled, n_vertices)
    weights = _check_affinity(W, n_vertices)
    upper = sp.triu(weights.maximum(weights.T), k=1).tocoo()
    u, v = upper.row.astype(np.int64), upper.col.astype(np.int64)
    kept = (upper.data > 0) & ~(mask[u] & mask[v])
    if not kept.any() and not mask.all():
        raise ValueError(
            f"the affinity joins none of the {int((~mask).sum())} unlabelled rows to another "
            "row; pass a matrix with positive entries off the diagonal in their rows"
        )
    return ListedGraph(n_vertices, u[kept], v[kept], upper.data[kept])


def _check_affinity(W: Any, n_vertices: int) -> Any:
    """Return a copy of W as a canonical CSR array of finite, non-negative floats."""
    matrix = W if sp.issparse(W) else np.asarray(W)
    if matrix.shape != (n_vertices, n_vertices):
        raise ValueError(
            f"the affinity has shape {matrix.shape}; pass one row and one column for each of "
            f"the {n_vertices} training rows"
        )
    if matrix.dtype.kind not in "biuf":
        raise TypeError(f"the affinity has dtype {matrix.dtype}; pass real numbers")
    weights = sp.csr_array(matrix, dtype=np.float64, copy=True)
    weights.sum_duplicates()
    row = np.repeat(np.arange(n_vertices), np.diff(weights.indptr))
    for bad, flaw in (
        (~np.isfinite(weights.data), "not finite"),
        (weights.data < 0, "negative"),
    ):
        if bad.any():
            first = int(np.flatnonzero(bad)[0])
            raise ValueError(
                f"{int(bad.sum())} weights of the affinity are {flaw}, the first is "
                f"W[{row[first]}, {weights.indices[first]}] = {weights.data[first]}; "
                "pass finite weights >= 0"
            )
    return weights
