"""The leading eigenvectors of graphs: functions of the rows that hardly change along edges.

Where rows lie in groups, the leading eigenvectors are nearly constant on each of them. They tell
the groups apart without a single label.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse.linalg import eigsh

from .nodes import RowNodes
from .search import Neighbours

Vectors = NDArray[np.float64]

_SMALL = 400  # rows up to which all eigenvectors are computed
_TOLERANCE = 1e-3  # of the eigenvalues


def leading_vectors(similarity: Any, m: int) -> Vectors:
    """Return eigenvectors of the m largest eigenvalues of a symmetric matrix, largest first.

    Parameters
    ----------
    similarity : sparse or dense matrix of shape (n, n)
        S = D^(-1/2) W D^(-1/2), whose largest eigenvalue is 1.
    m : int
        How many; n if that is less.

    Returns
    -------
    ndarray of shape (n, m)

    Examples
    --------
    >>> two_pairs = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    >>> found = leading_vectors(two_pairs, 2)
    >>> (found @ found.T).round(6)
    array([[0.5, 0.5, 0. , 0. ],
           [0.5, 0.5, 0. , 0. ],
           [0. , 0. , 0.5, 0.5],
           [0. , 0. , 0.5, 0.5]])
    """
    n = similarity.shape[0]
    if n <= _SMALL or 3 * m > n:
        whole = similarity.toarray() if hasattr(similarity, "toarray") else similarity
        return np.asarray(eigh(np.asarray(whole, np.float64))[1][:, ::-1][:, :m])
    start = np.random.default_rng(0).normal(size=n)  # not even: some vectors are
    values, vectors = eigsh(
        similarity.astype(np.float64), m, which="LA", tol=_TOLERANCE, v0=start, maxiter=100 * n
    )
    return np.asarray(vectors[:, np.argsort(-values)])


def neighbour_vectors(neighbours: Neighbours, m: int) -> Vectors:
    """Return leading eigenvectors of a graph of nearest neighbours with local weights."""
    return leading_vectors(RowNodes.graph_of(neighbours, sharpness=1.0).similarity, m)


def kernel_vectors(rows: Any, gamma: float, m: int) -> Vectors:
    """Return leading eigenvectors of the graph of all pairs with weights exp(-gamma d^2)."""
    from sklearn.metrics.pairwise import rbf_kernel  # slow to import

    # Sums round differently where columns lie side by side, as in frames.
    points = np.ascontiguousarray(rows) if isinstance(rows, np.ndarray) else rows
    kernel = rbf_kernel(points, gamma=gamma)
    scale = 1.0 / np.sqrt(kernel.sum(axis=1))
    kernel *= scale[:, None]
    kernel *= scale
    return leading_vectors(kernel, m)
