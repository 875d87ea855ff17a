"""Members on rows that are averaged along the graph: noise in the columns cancels out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from .by_label import ByLabel, LabelSum
from .cuts import cut_graph
from .member import Array, Known, Member, Scope
from .models import WIDE, model_members, model_scores, total_variance

_STEPS = 2


def diffused_members(
    known: Known, scope: Scope, models: dict[str, Any], *, alike: bool = False
) -> Iterator[Member]:
    """Yield models that are fitted to averages of the labelled rows, and predict all nodes.

    Columns that are `alike` are scaled together, so that averages vary as much as the rows.
    """
    points = scope.graph.nodes.points
    if not models or points.shape[1] > WIDE:  # averages of words are no longer sparse
        return
    start = process_time()
    rows = points.toarray() if issparse(points) else np.asarray(points, dtype=np.float64)
    size = total_variance(rows)
    spread = 1.0 if alike else rows.std(axis=0)
    rows = (rows - rows.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    for _ in range(_STEPS):
        rows = scope.graph.similarity @ rows
    if alike:
        rows *= np.sqrt(size / total_variance(rows))
    spent = process_time() - start
    own = replace(known, rows=scope.graph.rows @ rows)
    for member in model_members(models, own, None, np.empty(0, np.int64)):
        assert member.model is not None
        values = partial(model_scores, member.model, rows, known.classes)
        cut = None if known.classes is None else cut_graph(values(), scope.graph.similarity)
        yield replace(
            member,
            name=f"diffused, {member.name}",
            model=None,
            values=values,
            cut=cut,
            seconds=member.seconds + spent,
            labels_only=False,
            by_label=member.by_label and partial(_by_label, member.by_label, rows),
        )


def _by_label(of_rows: ByLabel, rows: Array, nodes: NDArray[np.int64]) -> LabelSum:
    return of_rows(rows[nodes])
