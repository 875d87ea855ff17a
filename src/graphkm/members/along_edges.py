"""Members on given graphs: rows that are averaged along edges, and what edges say without rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import eye_array

from ..graphs.given import GivenGraph, KnownRows
from ..graphs.given_edges import Ids
from ..graphs.nodes import NodeGraph
from .averages import Step, average_members
from .clusters import ridge_members
from .communities import communities
from .features import ENTRIES, LARGEST
from .member import Known, Member, Scope
from .residuals import residual_members
from .rows import Rows
from .surroundings import surroundings


@dataclass(frozen=True)
class Edges:
    """All rows, as members of given graphs see them.

    Parameters
    ----------
    ids : Ids
        What edges call the rows.
    graphs : list of GivenGraph
        The given graphs.
    rows : callable or None
        Returns `unit_rows` of all rows, for the most columns; None where there are edges alone.
    near : callable or None
        A step to a row's nearest rows; None where rows have no columns.
    labeled : ndarray of int
        The labelled rows.
    n_threads : int
        Threads of sparse products.
    """

    ids: Ids
    graphs: Sequence[GivenGraph]
    rows: Callable[[int], Rows] | None
    near: Step | None
    labeled: NDArray[np.int64]
    n_threads: int

    def scopes(self) -> list[Scope]:
        """Return the graphs as fields see them: every row is a node."""
        n = len(self.ids)
        own = eye_array(n, format="csr")[self.labeled]
        return [
            Scope(NodeGraph(KnownRows(n), graph.similarity, own, np.ones(n)), self.n_threads)
            for graph in self.graphs
        ]


def edge_members(known: Known, edges: Edges, best: Member | None) -> Iterator[Member]:
    """Yield the members that given graphs make, whose values are at all rows.

    Parameters
    ----------
    known : Known
        The labelled rows.
    edges : Edges
        The given graphs.
    best : Member or None
        The model whose held-out errors are carried along the edges; None for none.
    """
    for member in _members(known, edges, best):
        yield replace(member, on_edges=True)


def _members(known: Known, edges: Edges, best: Member | None) -> Iterator[Member]:
    scopes, n, n_labels = edges.scopes(), len(edges.ids), len(edges.labeled)
    if edges.rows is not None:
        systems = [scope.system for scope in scopes]
        about = edges.graphs, systems, edges.near
        yield from average_members(known, edges.rows, edges.labeled, *about)
    for graph, scope in zip(edges.graphs, scopes, strict=True):
        yield from ridge_members(
            communities(graph, scope.system, edges.labeled, known.n_groups), known
        )
        if max(n, graph.n_edges) * min(n_labels, LARGEST) <= ENTRIES:  # a step costs its edges
            yield from ridge_members(surroundings(graph.name, scope.system, edges.labeled), known)
        else:
            yield from _named(graph, residual_members(known, scope, None))
        if best is not None:
            yield from _named(graph, residual_members(known, scope, best))


def _named(graph: GivenGraph, members: Iterator[Member]) -> Iterator[Member]:
    for member in members:
        yield replace(member, name=f"{member.name}, {graph.name}")
