"""How a member cuts the graph into classes: which edges it cuts, and how large the parts are.

A boundary that goes through a crowd of rows cuts many edges. And a part that is much larger or
smaller than its share of the labels is hardly a class. Where labels are too few to judge members,
those are right more often that cut few edges, and whose parts fit the shares of the labels
(`benchmarks/judge.py`, columns "judge", "uncut" and "unsized").
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_LEAST = 0.01  # is added to shares of edges: so a cut of nearly no edges is not infinitely good


class Cut(NamedTuple):
    """A graph that is cut into classes."""

    edges: float
    """The share of edges that join two classes, divided by the share that chance would give."""
    sizes: NDArray[np.float64]
    """The share of edges that end in each class, none of them zero."""


def cut_graph(scores: NDArray[np.float64], similarity: Any) -> Cut:
    """Return how classes cut a graph.

    Parameters
    ----------
    scores : ndarray of shape (n_nodes, n_classes)
        Scores of the classes at every node. A node is in the class of its largest score.
    similarity : CSR array of shape (n_nodes, n_nodes)
        Weights of the edges.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> chain = csr_array(np.eye(4, k=1) + np.eye(4, k=-1))
    >>> halves, turns = np.eye(2)[[0, 0, 1, 1]], np.eye(2)[[0, 1, 0, 1]]
    >>> round(cut_graph(halves, chain).edges, 2), round(cut_graph(turns, chain).edges, 2)
    (0.67, 1.98)
    >>> cut_graph(halves, chain).sizes
    array([0.5, 0.5])
    """
    codes, k = scores.argmax(axis=1), scores.shape[1]
    first = np.repeat(codes, np.diff(similarity.indptr))
    weights = similarity.data.astype(np.float64)
    total = weights.sum()
    if not total:
        return Cut(1.0, np.full(k, 1.0 / k))
    cut = weights[first != codes[similarity.indices]].sum() / total
    sizes = np.bincount(first, weights, minlength=k) / total
    chance = 1.0 - np.square(sizes).sum()
    sizes = (sizes + _LEAST / k) / (1.0 + _LEAST)
    return Cut(float((cut + _LEAST) / (chance + _LEAST)), sizes)
