"""How the sides of a fit are made: a graph for every view, names of labels as rows, given edges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..graphs import NodeGraph
from ..members import Known
from ..members.along_edges import Edges
from ..members.averages import unit_rows
from ..neighbours.distinct import Copies
from .given_graphs import Given, step_to_nearest
from .sides import LabelNames, Side
from .training import Training
from .views import View, below, rows_of_names


def with_names(known: Known, rows: Any, labels: NDArray[Any]) -> Known:
    """Return labelled rows with more rows below them that are never held out."""
    n, more = len(known.y), len(labels)
    names = np.arange(n, n + more)
    ones = np.ones(more)
    return replace(
        known,
        rows=below(known.rows, rows),
        y=np.concatenate([known.y, labels]),
        weights=np.concatenate([known.weights, ones]),
        given=None if known.given is None else np.concatenate([known.given, ones]),
        folds=[(np.concatenate([train, names]), test) for train, test in known.folds],
        copies=Copies.of(np.concatenate([known.copies.place, n + np.arange(more)])),
    )


Nodes = Callable[[Any, NDArray[np.int64] | None], NodeGraph | None]
"""Makes the graph of rows, joined to the labelled ones; to all rows for None."""


def side_of(
    name: str,
    training: Training,
    known: Known,
    nodes: Nodes,
    theirs: Given | None,
    n_threads: int,
    names: tuple[Any, NDArray[Any]] | None = None,
) -> Side:
    """Return one view with its graph, and the given graphs if it is to see them.

    Parameters
    ----------
    name : str
        The view's name.
    training : Training
        All rows of the view.
    known : Known
        The labelled rows of the view.
    nodes : callable
        Makes the graph.
    theirs : Given or None
        The given graphs.
    n_threads : int
        Threads of sparse products.
    names : (rows, labels) or None
        Rows that the view makes of the labels' names, and these labels.
    """
    given, rows, labeled = training.given, training.rows, training.labeled
    if theirs is not None:
        graph = nodes(rows, None)
        near = step_to_nearest(rows, graph, n_threads)
        if graph is not None:
            graph = graph._replace(rows=graph.rows[labeled])
        own = None if given is None else partial(unit_rows, rows, len(labeled))
        edges = Edges(theirs.ids, theirs.graphs, own, near, labeled, n_threads)
        return Side(name, given, known, labeled, graph, edges)
    if names is not None:
        n = rows.shape[0]
        known = with_names(known, *names)
        rows = given = below(rows, names[0])
        labeled = np.concatenate([labeled, n + np.arange(len(names[1]))])
    return Side(name, given, known, labeled, nodes(rows, labeled), names=names)


def sides_of_views(
    views: dict[str, View],
    training: Training,
    known: Known,
    nodes: Nodes,
    theirs: Given | None,
    n_threads: int,
    names: LabelNames | None,
) -> list[Side]:
    """Return every view with its graph; the first also sees the given graphs."""
    sides = list[Side]()
    for name, view in views.items():
        if not len(training.labeled) and not view.reads_texts:
            continue  # only texts can be told by names
        beside = theirs if not sides else None
        told = None
        if names is not None and view.reads_texts and beside is None:
            told = rows_of_names(view, names[0]), names[1]
        own = replace(training, given=training.given[name], rows=training.rows[name])
        seen = replace(known, rows=known.rows[name])
        side = side_of(name, own, seen, nodes, beside, n_threads, told)
        sides.append(replace(side, alike=view.alike))
    return sides


def sides_of_nodes(
    views: dict[str, View] | None,
    given: Any,
    known: Known,
    labeled: NDArray[np.int64],
    graphs: dict[str, NodeGraph],
) -> list[Side]:
    """Return every view with a graph that was made elsewhere; plain rows are one view."""
    if views is None:
        return [Side("", given, known, labeled, graphs[""])]
    return [
        Side(
            name,
            given[name],
            replace(known, rows=known.rows[name]),
            labeled,
            graphs[name],
            alike=view.alike,
        )
        for name, view in views.items()
    ]
