"""Members on given graphs: rows that are averaged along edges, and what edges say without rows.

The rows are averaged along the edges some steps far, and a ridge regression learns from the
averages (Wu et al., 2019, "Simplifying graph convolutional networks"; Gasteiger et al., 2019,
"Predict then propagate"). Where rows have no columns, or beside them, every row has a code of its
own, which is averaged in the same way: rows with the same surroundings have nearly the same
averages.

Neighbours may differ in class. So there is a member that has a row, its neighbours and their
neighbours side by side, and learns what they mean (Zhu et al., 2020, "Beyond homophily").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.sparse import issparse

from ..graphs.given import GivenGraph
from ..ridge.factors import safe_cholesky
from .features import Features

Rows = NDArray[np.float32]
Step = Callable[[Rows], Rows]

_NEAR = 3  # steps: as many as graph networks have layers, and one more
_FAR = 0.9  # share of a far average that comes from neighbours
_NEAREST = 0.25  # how much a row's nearest rows count beside a given graph
_FARTHER = 0.99  # of codes, which must reach the nearest label
_COLUMNS = 1024  # of rows and codes: with more columns and more labels, they are mixed
_ENTRIES = 2**26  # of averages: with more columns than fit, they are mixed


class Walk(NamedTuple):
    """A step to the neighbours, along one graph or several."""

    name: str
    step: Step


def walks_along(graphs: Sequence[GivenGraph], near: Step | None) -> list[Walk]:
    """Return the walks along each graph, and along all of them with the rows' nearest ones.

    Parameters
    ----------
    graphs : list of GivenGraph
        The given graphs.
    near : callable or None
        A step to a row's nearest rows; None where rows have no columns.
    """
    found = [Walk(graph.name, partial(_along, graph.similarity)) for graph in graphs]
    steps, shares = [each.step for each in found], [1.0] * len(found)
    if near is not None:
        steps, shares = [*steps, near], [*shares, _NEAREST]
    if len(steps) > 1:
        found.append(Walk("all", partial(_mean_of, steps, np.array(shares) / sum(shares))))
    return found


def _along(similarity: Any, rows: Rows) -> Rows:
    return np.asarray(similarity @ rows)


def _mean_of(steps: Sequence[Step], shares: NDArray[np.float64], rows: Rows) -> Rows:
    found = np.zeros_like(rows)
    for step, share in zip(steps, shares.tolist(), strict=True):
        found += np.float32(share) * step(rows)
    return found


def unit_rows(X: Any, n_labels: int) -> Rows:
    """Return rows of length one: what is averaged.

    Columns of dense rows are brought to one scale first. Those of sparse rows count as they are.
    """
    n, d = X.shape
    if not issparse(X):
        spread = X.std(axis=0)
        X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    if min(d, n_labels) > _COLUMNS or n * d > _ENTRIES:
        width = max(1, min(d, _COLUMNS, _ENTRIES // n))
        mixer = np.random.default_rng(0).normal(size=(d, width)).astype(np.float32)
        return _of_length_one(np.asarray(X.astype(np.float32) @ mixer))
    return _of_length_one((X.toarray() if issparse(X) else X).astype(np.float32))


def codes_of(n: int, n_labels: int) -> Rows:
    """Return a code for each of n rows: all codes are at right angles, or nearly so."""
    if n * n <= _ENTRIES and min(n, n_labels) <= _COLUMNS:
        return np.eye(n, dtype=np.float32)
    width = max(1, min(_COLUMNS, _ENTRIES // n))
    return np.random.default_rng(0).normal(size=(n, width)).astype(np.float32)


def averages(walks: Sequence[Walk], rows: Rows) -> Iterator[tuple[str, Rows]]:
    """Yield rows that are averaged along every walk, some steps far."""
    for walk in walks:
        moved = rows
        for step in range(1, _NEAR + 1):
            moved = walk.step(moved)
            yield f"{walk.name}, {step} steps" if step > 1 else f"{walk.name}, 1 step", moved
        yield f"{walk.name}, far", far_average(walk.step, rows, _FAR)


def far_average(step: Step, rows: Rows, share: float) -> Rows:
    """Return (1 - a) sum_k a^k S^k rows for the share a, up to a tenth of its sum."""
    moved = rows
    for _ in range(int(np.ceil(np.log(0.1) / np.log(share)))):
        moved = np.float32(share) * step(moved) + np.float32(1 - share) * rows
    return moved


def edge_features(
    graphs: Sequence[GivenGraph], near: Step | None, X: Any, labeled: NDArray[np.int64]
) -> Iterator[Features]:
    """Yield what given graphs make of all rows, and of their edges alone.

    Parameters
    ----------
    graphs : list of GivenGraph
        The given graphs.
    near : callable or None
        A step to a row's nearest rows.
    X : ndarray, CSR array or None
        All rows; None where there are only edges.
    labeled : ndarray of int
        The labelled rows.
    """
    walks, n = walks_along(graphs, near), graphs[0].joined.shape[0]
    if X is not None:
        rows = unit_rows(X, len(labeled))
        for name, moved in averages(walks, rows):
            yield _features(f"averages, {name}", _of_length_one(moved), labeled)
        for graph in graphs:
            beside = _beside(graph, rows)
            yield _features(f"neighbours beside, {graph.name}", beside, labeled)
    codes = codes_of(n, len(labeled))
    for walk in walks[: len(graphs)]:
        for share in (_FAR, _FARTHER):
            moved = _of_length_one(far_average(walk.step, codes, share))
            yield _features(f"edges, {walk.name}, {share:g}", moved, labeled)


def _beside(graph: GivenGraph, rows: Rows) -> Rows:
    """Return rows, their neighbours and the neighbours of these, side by side."""
    first = np.asarray(graph.means @ rows)
    second = np.asarray(graph.means @ first)
    return np.hstack([rows, _of_length_one(first), _of_length_one(second)])


def _of_length_one(rows: Rows) -> Rows:
    length = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return rows / np.where(length > 0, length, 1)[:, None]


def _features(name: str, rows: Rows, labeled: NDArray[np.int64]) -> Features:
    """Return rows as features of members: no more of them than labelled rows."""
    own = rows[labeled].astype(np.float64)
    size = np.sqrt(max(np.einsum("ij,ij->", own, own) / len(own), 1e-300))
    if own.shape[1] <= len(own):
        return Features(name, own / size, lambda v: rows @ (v / size).astype(np.float32))
    phi = safe_cholesky(own @ own.T / size**2)

    def values(v: NDArray[np.float64]) -> NDArray[np.float64]:
        beta = solve_triangular(phi, v, lower=True, trans="T", check_finite=False)
        return np.asarray(rows @ (own.T @ beta / size**2).astype(np.float32), dtype=np.float64)

    return Features(name, phi, values)
