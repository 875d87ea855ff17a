r"""Cuts of a graph into classes whose sizes are known.

Labels spread along the graph, and every node goes to one class. Then the classes spread again, and
so on: a class keeps what its nodes reach together, and the border between two classes moves to
where few edges cross it (Merriman, Bence and Osher, 1992; with sizes: Jacobs, Merkurjev and
Esedoglu, 2018, "Auction dynamics"). In every round the nodes go to the classes c(i) that maximise

.. math::

    \sum_i n_i u_{i c(i)} - p \sum_k \mathrm{dist}(m_k, [(1 - d) s_k, (1 + d) s_k]) ,

where :math:`n_i` is the number of rows of node i, u are shares of the classes that reach it,
:math:`m_k` are the rows of class k, and :math:`s_k` is its size. A size may be wrong by the slack d
at no cost. What it is off beyond, costs the price p for each row. So a size moves a row only where
the row is in doubt, and a wrong size moves few of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..graphs.nodes import NodeGraph
from .system import FieldSystem

Array = NDArray[np.float64]
Shares = NDArray[np.float32]

_ROUNDS = 20
_FAR = 1e-3  # eps of the first spreading: labels reach about a thousand steps far
_SAME = 1e-4  # share of nodes whose class changes in a round that ends the cut
_SWEEPS = 10  # shifts go on from those of the round before
_CLOSE = 1e-3  # sizes are met if they are so near, as a share of all rows
_STILL = 1e-5  # change of all shifts in a sweep that ends the search


def cut_to_sizes(
    system: FieldSystem,
    graph: NodeGraph,
    rows: NDArray[np.int64],
    targets: Array,
    sizes: Array,
    *,
    slack: float,
    price: float,
    steps: int,
) -> Shares:
    """Return scores of the classes at all nodes; a node is in the class of its largest score.

    Parameters
    ----------
    system : FieldSystem
        The graph for products.
    graph : NodeGraph
        The graph. Every row is one of its nodes, or a copy of one.
    rows : ndarray of int of shape (l,)
        The labelled rows that are used, as places in `graph.rows`.
    targets : ndarray of shape (l, n_classes)
        The weights of their labels, each in the column of its class.
    sizes : ndarray of shape (n_classes,)
        Shares of the classes, which add up to 1.
    slack : float
        How wrong a size may be, as a share of it.
    price : float
        What each row beyond that costs, as a share of a row.
    steps : int
        How far classes spread in a round.

    Examples
    --------
    >>> from graphkm.graphs.nodes import RowNodes
    >>> from graphkm.neighbours.index import NeighbourIndex
    >>> X = np.array([[0.0], [0.1], [0.2], [0.3], [5.0], [5.1]])
    >>> graph = RowNodes.graph(NeighbourIndex(X), n_neighbors=2)
    >>> about = graph, np.array([0, 4]), np.eye(2), np.array([2 / 3, 1 / 3])
    >>> how = {"slack": 0.1, "price": 0.1, "steps": 10}
    >>> cut_to_sizes(FieldSystem(graph.similarity), *about, **how).argmax(axis=1)
    array([0, 0, 0, 0, 1, 1])
    """
    at, n = graph.rows.indices[graph.rows.indptr[rows]], graph.similarity.shape[0]
    known = np.zeros((n, targets.shape[1]))
    np.add.at(known, at, targets)
    marked = np.flatnonzero(known.any(axis=1))
    given = (known[marked] / known[marked].sum(axis=1, keepdims=True)).astype(np.float32)
    counts = getattr(graph.nodes, "counts", None)
    masses = np.ones(n) if counts is None else counts.astype(np.float64)
    scale = graph.scale.astype(np.float32)[:, None]
    total = known.sum(axis=0)
    sources = (known / np.where(total > 0, total, 1.0)).astype(np.float32)
    shares = _normal(scale * system.applied(scale * sources, _FAR), sources)
    shares[marked] = given
    shift, codes = np.zeros(len(sizes)), np.full(n, -1)
    for _ in range(_ROUNDS):
        shift = shifts_to_sizes(shares, masses, sizes, slack, price, shift)
        before, codes = codes, (shares + shift.astype(np.float32)).argmax(axis=1)
        if np.mean(codes != before) < _SAME:
            break
        own = np.eye(len(sizes), dtype=np.float32)[codes]
        own[marked] = given
        shares = _normal(scale * system.moved(own / scale, steps), own)
        shares[marked] = given
    return np.asarray(shares + shift.astype(np.float32))


def _normal(found: Shares, otherwise: Shares) -> Shares:
    """Return rows divided by their sums; rows that nothing reaches are those of `otherwise`."""
    found = np.maximum(found, 0.0)  # rounding errors
    total = found.sum(axis=1, keepdims=True)
    return np.where(total > 0, found / np.where(total > 0, total, 1.0), otherwise)


def shifts_to_sizes(
    shares: Shares,
    masses: Array,
    sizes: Array,
    slack: float,
    price: float,
    start: Array | None = None,
) -> Array:
    """Return what is added to the shares of every class, so that the largest ones have the sizes.

    The shifts minimise a convex function, the dual of the sum above, class after class: given the
    others, the best shift of a class is the one nearest to 0 with which the class has its size up
    to the slack. No shift is larger than the price.

    Parameters
    ----------
    shares : ndarray of shape (n, n_classes)
        Shares of the classes at every node.
    masses : ndarray of shape (n,)
        Rows of every node.
    sizes : ndarray of shape (n_classes,)
        Shares of the classes, which add up to 1.
    slack : float
        How wrong a size may be, as a share of it.
    price : float
        The largest shift.
    start : ndarray of shape (n_classes,), optional
        Shifts to start from.

    Examples
    --------
    >>> shares = np.array([[0.9, 0.1], [0.6, 0.4], [0.55, 0.45], [0.2, 0.8]])
    >>> shift = shifts_to_sizes(shares, np.ones(4), np.array([0.5, 0.5]), 0.0, 0.1)
    >>> (shares + shift).argmax(axis=1)
    array([0, 0, 1, 1])
    """
    k, total = shares.shape[1], masses.sum()
    top = np.partition(shares, -2, axis=1)
    doubt = top[:, -1] - top[:, -2] <= 2.0 * price  # no shifts change the other rows
    sure = np.bincount(shares[~doubt].argmax(axis=1), masses[~doubt], minlength=k)
    least, most = ((1.0 + each) * sizes * total - sure for each in (-slack, slack))
    shift = np.zeros(k) if start is None else start.copy()
    if not doubt.any():
        return shift
    shares, masses = shares[doubt], masses[doubt]
    moved = shares + shift
    for _ in range(_SWEEPS):
        found = np.bincount(moved.argmax(axis=1), masses, minlength=k)
        off = np.maximum(least - found, found - most) > _CLOSE * total
        if not (off | (shift != 0)).any():
            break
        before = shift.copy()
        for each in np.flatnonzero(off | (shift != 0)):
            moved[:, each] = -np.inf
            ahead = shares[:, each] - moved.max(axis=1)
            shift[each] = _best_shift(ahead, masses, least[each], most[each], price)
            moved[:, each] = shares[:, each] + shift[each]
        if np.abs(shift - before).max() < _STILL:
            break
    return shift


def _best_shift(ahead: Array, masses: Array, least: float, most: float, price: float) -> float:
    """Return the shift nearest to 0 with which the rows that are ahead have a mass within bounds.

    Examples
    --------
    >>> ahead, ones = np.array([0.3, 0.1, -0.1, -0.3]), np.ones(4)
    >>> [round(_best_shift(ahead, ones, *bounds, 1.0), 2) for bounds in ((1, 3), (3, 4), (0, 1))]
    [0.0, 0.2, -0.2]
    >>> _best_shift(ahead, ones, 3, 4, 0.1)
    0.1
    """
    order = np.argsort(-ahead, kind="stable")
    ordered, sums = ahead[order], np.cumsum(masses[order])
    close = 1e-12 * sums[-1]  # rounding errors of the sums
    if most < -close or least > sums[-1] + close:  # out of reach: as far as the price allows
        return -price if most < -close else price
    ends = ordered[:1] + _STILL, ordered[-1:] - _STILL
    between = np.concatenate([ends[0], (ordered[1:] + ordered[:-1]) / 2, ends[1]])
    low = -between[np.searchsorted(sums, least - close) + (least > close)]
    high = max(low, -between[np.searchsorted(sums, most + close, side="right")])
    return float(np.clip(min(max(0.0, low), high), -price, price))
