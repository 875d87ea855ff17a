"""Features from edges alone: leading eigenvectors of a given graph.

They tell communities apart: groups of rows with more edges inside than between them. A graph may
fall into many small pieces, and the eigenvectors would then tell only these. So every row has as
many edges more as the mean row has, which lead nowhere (Amini et al., 2013, "Pseudo-likelihood
methods for community detection in large sparse networks").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from ..fields.spectra import leading_subspace
from ..fields.system import FieldSystem
from ..graphs.given import GivenGraph
from .features import Features, step_counts
from .rows import Rows, of_length_one, row_features


def communities(
    graph: GivenGraph, system: FieldSystem, labeled: NDArray[np.int64], n_classes: int
) -> Iterator[Features]:
    """Yield the leading eigenvectors of a given graph: as many as classes, and more.

    Parameters
    ----------
    graph : GivenGraph
        The graph of all rows.
    system : FieldSystem
        The same, for products with many columns.
    labeled : ndarray of int
        The labelled rows.
    n_classes : int
        How many classes are to be told apart; 2 for quantities.
    """
    steps = [n_classes, *step_counts(n_classes)]
    vectors = leading_subspace(damped(graph, system), graph.n_rows, steps[-1])
    for m in dict.fromkeys(min(m, vectors.shape[1]) for m in steps):
        name = f"communities, {graph.name}, m={m}"
        yield row_features(name, of_length_one(vectors[:, :m]), labeled)


def damped(graph: GivenGraph, system: FieldSystem) -> Callable[[Rows], Rows]:
    """Return the product with E^(-1/2) W E^(-1/2), where E are the degrees plus their mean."""
    even = graph.degrees + graph.degrees.mean()
    scale = np.sqrt((graph.degrees + graph.usual) / even).astype(np.float32)[:, None]
    loops = (graph.usual / even).astype(np.float32)[:, None]  # which the system has besides
    return lambda rows: scale * system.moved(scale * rows) - loops * rows
