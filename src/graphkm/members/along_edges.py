"""Members on given graphs: rows that are averaged along edges, and what edges say without rows.

The rows are averaged along the edges some steps far, and a ridge regression learns from the
averages (Wu et al., 2019, "Simplifying graph convolutional networks"; Gasteiger et al., 2019,
"Predict then propagate").

Neighbours may differ in class. So there is a member that has a row, its neighbours and their
neighbours side by side, and learns what they mean (Zhu et al., 2020, "Beyond homophily").

Edges alone say something, too. A walk that starts at a row visits the rows around it, and two rows
are alike if walks from both visit the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.sparse import eye_array, issparse

from ..fields.kernel import ColumnsKernel
from ..fields.system import FieldSystem
from ..graphs.given import GivenGraph, KnownRows
from ..graphs.given_edges import Ids
from ..graphs.nodes import NodeGraph
from ..ridge.factors import safe_cholesky
from .clusters import ridge_members
from .features import EPSILONS, LARGEST, Features
from .member import Array, Known, Member, Scope
from .residuals import residual_members

Rows = NDArray[np.float32]
Step = Callable[[Rows], Rows]

_NEAR = 3  # steps: as many as graph networks have layers, and one more
_NEAREST = 0.25  # how much a row's nearest rows count beside a given graph
_SAMPLE = 128  # walks that tell how many rows a row's own walks visit
_COLUMNS = 1024  # of rows: with more columns and more labels, they are mixed
_ENTRIES = 2**26  # of averages: with more columns than fit, they are mixed


@dataclass(frozen=True)
class Edges:
    """All rows, as members of given graphs see them.

    Parameters
    ----------
    ids : Ids
        What edges call the rows.
    graphs : list of GivenGraph
        The given graphs.
    rows : ndarray, CSR array or None
        All rows; None where there are edges alone.
    near : callable or None
        A step to a row's nearest rows; None where rows have no columns.
    labeled : ndarray of int
        The labelled rows.
    n_threads : int
        Threads of sparse products.
    """

    ids: Ids
    graphs: Sequence[GivenGraph]
    rows: Any
    near: Step | None
    labeled: NDArray[np.int64]
    n_threads: int

    def scope(self, graph: GivenGraph) -> Scope:
        """Return one of the graphs as fields see it: every row is a node."""
        n = graph.joined.shape[0]
        every = eye_array(n, format="csr")
        nodes = KnownRows(n)
        return Scope(
            NodeGraph(nodes, graph.similarity, every[self.labeled], np.ones(n)), self.n_threads
        )


def edge_members(known: Known, edges: Edges) -> Iterator[Member]:
    """Yield the members that given graphs make, whose values are at all rows."""
    for member in ridge_members(edge_features(edges), known):
        yield replace(member, on_edges=True)


def corrections_along(edges: Edges, known: Known, model: Member) -> Iterator[Member]:
    """Yield corrections of a model along every given graph."""
    for graph in edges.graphs:
        for member in residual_members(known, edges.scope(graph), model):
            yield replace(member, name=f"{member.name}, {graph.name}", on_edges=True)


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


def unit_rows(X: Any, n_labels: int, most: int = _COLUMNS) -> Rows:
    """Return rows of length one: what is averaged.

    Columns of dense rows are brought to one scale first. Those of sparse rows count as they are.
    Where columns and labels are both more than `most`, random mixtures of the columns take their
    place.
    """
    n, d = X.shape
    if not issparse(X):
        spread = X.std(axis=0)
        X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    if min(d, n_labels) > most or n * d > _ENTRIES:
        width = max(1, min(d, most, _ENTRIES // n))
        mixer = np.random.default_rng(0).normal(size=(d, width)).astype(np.float32)
        return _of_length_one(np.asarray(X.astype(np.float32) @ mixer))
    return _of_length_one((X.toarray() if issparse(X) else X).astype(np.float32))


def averages(walks: Sequence[Walk], rows: Rows) -> Iterator[tuple[str, Rows]]:
    """Yield rows that are averaged along every walk, some steps far."""
    for walk in walks:
        moved = rows
        for step in range(1, _NEAR + 1):
            moved = walk.step(moved)
            yield f"{walk.name}, {step} steps" if step > 1 else f"{walk.name}, 1 step", moved
        yield f"{walk.name}, far", far_average(walk.step, rows, EPSILONS[0])


def far_average(step: Step, rows: Rows, eps: float) -> Rows:
    """Return (1 - a) sum_k a^k S^k rows with a = 1 / (1 + eps): nine tenths of this sum."""
    share, moved = 1.0 / (1.0 + eps), rows
    for _ in range(int(np.ceil(np.log(0.1) / np.log(share)))):
        moved = np.float32(share) * step(moved) + np.float32(1 - share) * rows
    return moved


def edge_features(edges: Edges) -> Iterator[Features]:
    """Yield what given graphs make of all rows, and of their edges alone."""
    graphs, X, labeled = edges.graphs, edges.rows, edges.labeled
    if X is not None:
        for name, moved in averages(walks_along(graphs, edges.near), unit_rows(X, len(labeled))):
            yield _features(f"averages, {name}", _of_length_one(moved), labeled)
        rows = unit_rows(X, len(labeled), _COLUMNS // 3)
        for graph in graphs:
            yield _features(f"neighbours beside, {graph.name}", _beside(graph, rows), labeled)
    for graph in graphs:
        yield from surroundings(graph, labeled, edges.n_threads)


def surroundings(
    graph: GivenGraph, labeled: NDArray[np.int64], n_threads: int
) -> Iterator[Features]:
    """Yield kernels of rows by the rows that their walks visit: P P' / (|p_i| |p_j|)."""
    system = FieldSystem(graph.similarity, n_threads=n_threads)
    rng = np.random.default_rng(0)
    marked = labeled
    if len(labeled) > LARGEST:
        marked = np.sort(rng.permutation(labeled)[:LARGEST])
    for eps in EPSILONS:
        columns = system.applied(system.inverse(marked, eps), eps)
        drawn = rng.choice(np.array([-1.0, 1.0], np.float32), size=(len(columns), _SAMPLE))
        length = np.sqrt(np.square(system.applied(drawn, eps)).mean(axis=1))
        columns /= length[:, None] * length[marked]
        kernel = ColumnsKernel(columns, marked)
        size = np.sqrt(kernel.scale)

        def values(v: Array, kernel: ColumnsKernel = kernel, size: float = size) -> Array:
            return kernel.values(v / size).astype(np.float64)

        yield Features(f"edges, {graph.name}, eps={eps:g}", kernel.at(labeled) / size, values)


def _beside(graph: GivenGraph, rows: Rows) -> Rows:
    """Return rows, their neighbours and the neighbours of these, side by side."""
    first = np.asarray(graph.means @ rows)
    second = np.asarray(graph.means @ first)
    return np.hstack([rows, _of_length_one(first), _of_length_one(second)])


def _of_length_one(rows: Rows) -> Rows:
    length = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return np.asarray(rows / np.where(length > 0, length, np.float32(1))[:, None], np.float32)


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
