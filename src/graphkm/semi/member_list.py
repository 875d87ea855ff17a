"""Which members a fit of the front door has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..graphs import RowNodes
from ..judge.mixture import Verdict
from ..members import (
    Known,
    Member,
    Scope,
    cluster_members,
    diffused_members,
    leading_members,
    model_members,
    residual_members,
    sized_members,
)
from ..members.along_edges import Edges, edge_members
from ..members.features import ENTRIES, can_have_features

MANY = 50
"""With so many labels or more, a model is corrected along the graph: fewer errors say little."""


def fit_members(
    models: dict[str, Any],
    known: Known,
    given: Any,
    labeled: NDArray[np.int64],
    scope: Scope | None,
    edges: Edges | None,
    judge: Callable[[Sequence[Member], Known], Verdict],
    *,
    alike: bool = False,
) -> list[Member]:
    """Return all members, fitted.

    Parameters
    ----------
    models : dict
        Estimators by name.
    known : Known
        The labelled rows.
    given : array, frame or CSR matrix
        All rows, as they were given.
    labeled : ndarray of int
        Which of them are labelled.
    scope : Scope or None
        The graph of the members that live on one; None for none of these.
    edges : Edges or None
        The given graphs; None for none.
    judge : callable
        It weighs members. The model that does best on held-out labels has its errors corrected.
    alike : bool, default=False
        Whether all columns share one unit, as those of an encoder do.
    """
    ours = list(model_members(models, known, given, labeled))
    best = None
    if len(known.y) >= MANY and models and known.folds:
        best = ours[int(np.argmin(judge(ours, known).losses))]
    found = list(ours)
    if alike:
        lines = {name: model for name, model in models.items() if name.startswith("linear")}
        found += leading_members(known, given, lines)
    if scope is not None:
        found += _on_nodes(models, known, scope, alone=edges is None, alike=alike)
        found += [] if best is None else residual_members(known, scope, best)
    if edges is not None:
        found += edge_members(known, edges, best)
    return found


def _on_nodes(
    models: dict[str, Any], known: Known, scope: Scope, *, alone: bool, alike: bool
) -> list[Member]:
    """Return the members on the graph of nearest rows, or of anchors.

    Beside given graphs there are fewer of them: rows are averaged along all graphs together.
    """
    nodes = scope.graph.nodes
    n, width = nodes.points.shape
    few = n > 2 and can_have_features(n, len(known.y))
    lines = {name: each for name, each in models.items() if name.startswith("linear") and alone}
    found = residual_members(known, scope, None)
    if isinstance(nodes, RowNodes) and few:
        found = chain(cluster_members(known, scope, several=alone), sized_members(known, scope))
    if isinstance(nodes, RowNodes) and (few or (alike and n * width <= ENTRIES)):
        return [*found, *diffused_members(known, scope, lines, alike=alike)]
    return list(found)
