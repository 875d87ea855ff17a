"""Graphs that a user brings: what they join, and which known rows new rows reach by them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import scipy.sparse as sp

from ..graphs import KNN, NodeGraph
from ..graphs.given import GivenGraph
from ..graphs.given_edges import Ids, named_affinities, weights_of
from ..members.averages import Step
from ..members.rows import Rows

Graph = TypeVar("Graph", bound=GivenGraph)


class Given(NamedTuple):
    """The graphs of all rows that were given."""

    ids: Ids
    """What edges call the rows."""
    graphs: list[GivenGraph]
    """The graphs."""

    @classmethod
    def of(cls, affinity: Any, ids: Ids) -> Given:
        """Return what an affinity says; raise if it joins no rows."""
        named = named_affinities(affinity).items()
        return cls(
            ids, with_edges([GivenGraph(name, weights_of(each, ids)) for name, each in named])
        )


def with_edges(graphs: Sequence[Graph]) -> list[Graph]:
    """Return the graphs that join rows; raise if none does."""
    found = [graph for graph in graphs if graph.n_edges]
    if not found:
        raise ValueError(
            f"The affinity joins none of the {graphs[0].n_rows} rows to another one; pass edges "
            "with weights above 0 between different rows, or no affinity."
        )
    return found


def links_to_themselves(n: int) -> Any:
    """Return the links of rows of a fit, each of which is itself a known row."""
    return sp.eye_array(n, dtype=np.float32, format="csr")


def new_rows(affinity: Any, names: Any) -> int:
    """Return how many new rows there are, of which only edges are known."""
    if names is not None:
        return len(names)
    first = next(iter(named_affinities(affinity).values()))
    if sp.issparse(first) or isinstance(first, np.ndarray):
        return int(first.shape[0])
    raise ValueError(
        "Without X, edges do not tell how many new rows there are; pass ids=..., one for each new "
        "row, or a matrix with a row for each new row and a column for each known row."
    )


def links_of(affinity: Any, ids: Ids, known: Ids) -> Any:
    """Return the shares of known rows in new rows: a CSR array whose rows sum to one, or to zero.

    Edges of several graphs count the same.
    """
    found = sum(
        _shares(weights_of(each, ids, known)) for each in named_affinities(affinity).values()
    )
    return _shares(sp.csr_array(found))


def _shares(weights: Any) -> Any:
    total = np.asarray(weights.sum(axis=1, dtype=np.float64)).ravel()
    scale = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)
    return sp.csr_array(sp.diags_array(scale) @ weights)


def step_to_nearest(rows: Any, graph: NodeGraph | None, n_threads: int) -> Step | None:
    """Return the step from all rows to their nearest ones; None without a graph of them.

    Parameters
    ----------
    rows : ndarray or CSR array
        All rows. The nearest of sparse rows are those that point into the same direction.
    graph : NodeGraph or None
        The graph of the front door, with the weights of all rows.
    n_threads : int
        Threads of the search.
    """
    if graph is None:
        return None
    if sp.issparse(rows):
        length = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
        unit = sp.csr_array(sp.diags_array(1.0 / np.where(length > 0, length, 1.0)) @ rows)
        graph = KNN().nodes(unit, n_jobs=n_threads)
    weights = graph.rows.astype(np.float32)
    return step_over(weights, weights.T.tocsr(), graph.similarity)


def step_over(weights: Any, back: Any, similarity: Any) -> Step:
    """Return the step from all rows to the nodes that they reach, and from their neighbours back.

    Parameters
    ----------
    weights : matrix of shape (n, m)
        The weights of the nodes at all rows; anything that multiplies tables by ``@``.
    back : matrix of shape (m, n)
        The same, transposed.
    similarity : CSR array of shape (m, m)
        The graph of the nodes.
    """
    ones = np.ones((weights.shape[0], 1), np.float32)
    counts = np.maximum(np.asarray(back @ ones), np.float32(1e-9))

    def step(values: Rows) -> Rows:
        return np.asarray(weights @ (similarity @ ((back @ values) / counts)))

    return step
