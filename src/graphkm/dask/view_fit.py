"""A fit to rows in several views, which encoders make inside the partitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from dask.delayed import Delayed
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from ..embed import ImageEmbedder, TextEmbedder
from ..graphs.anchors import drawn_rows
from ..semi.views import View, asked_views, chosen_columns
from .collections import Partitioned
from .passes import Passes
from .runner import Runner
from .tasks import beside, first_rows, fit_views, see_rows

_LOOKED_AT = 20  # rows that show an embedder what it gets
_LEARN_NOTHING = (TextEmbedder, ImageEmbedder)


class ViewFit(NamedTuple):
    """Rows that every view sees in its own way.

    The labels pass makes all views of a partition, and the passes of a view make that one alone.
    So no partition's vectors are kept, and every pass encodes again what no cache has.

    Parameters
    ----------
    data : Partitioned
        Rows as they are given: texts, arrays or frames.
    views : dict of View
        How each view is made, with fitted encoders. Every worker gets them once, and an encoder
        that loads a model loads it once for each worker.
    runner : Runner
        Runs the tasks.
    """

    data: Partitioned
    views: dict[str, View]
    runner: Runner

    def fit(self, model: Any, seed: int, label_memory: int) -> Delayed:
        """Return the local model, fitted to the rows of all partitions, as `Passes.fit` does."""
        dtypes = {name: _seen_as(view) for name, view in self.views.items()}
        seen = {name: self._seen(view) for name, view in self.views.items()}
        rows = [
            self.runner.task("join-views", beside, list(seen), list(own))
            for own in zip(*seen.values(), strict=True)
        ]
        lengths = self.data.lengths
        start = drawn_rows(sum(lengths), model.graph.count(sum(lengths)), seed)
        known = self._passes(rows, dtypes).known(start, model, label_memory)
        anchors = {
            name: self._passes(own, dtypes[name]).anchors(known, model.graph.passes, name)
            for name, own in seen.items()
        }
        about = (model, seed, self.runner.share(self.views), anchors, known, lengths, dtypes)
        return self.runner.task("fit-model", fit_views, *about)

    def _seen(self, view: View) -> list[Delayed]:
        shared = self.runner.share(view)
        return [self.runner.task("see-rows", see_rows, part, shared) for part in self.data.rows]

    def _passes(self, rows: Sequence[Delayed], dtype: Any) -> Passes:
        return Passes(self.data._replace(rows=list(rows), dtype=dtype), self.runner)


def _seen_as(view: View) -> Any:
    """Return float32 for vectors of a model, and float64 for all else."""
    return np.dtype(np.float32 if isinstance(view.encoder, _LEARN_NOTHING) else np.float64)


def ready_views(views: Any, some: Any) -> dict[str, View]:
    """Return the views that a user asked for, with encoders that can be used in any partition.

    Parameters
    ----------
    views : mapping
        As the front door takes them.
    some : frame or array
        A few rows.
    """
    asked = asked_views(views, some)
    assert asked is not None
    return {name: _ready(name, view, some) for name, view in asked.items()}


def _ready(name: str, view: View, some: Any) -> View:
    if isinstance(view.encoder, _LEARN_NOTHING):
        encoder = clone(view.encoder).fit(chosen_columns(some, view.chosen))
        return View(encoder, view.chosen, view.columns)
    try:
        if view.encoder is not None:
            check_is_fitted(view.encoder)
    except NotFittedError:
        raise ValueError(
            f"The view {name!r} has an encoder that learns from rows, {view.encoder!r}, and no "
            "worker sees all rows; fit it to a sample of them first."
        ) from None
    return view


def sample_of_rows(data: Partitioned, runner: Runner) -> Any:
    """Return the first rows of the first partition that has any."""
    first = next(part for part, n in zip(data.rows, data.lengths, strict=True) if n)
    (found,) = runner.bring([runner.task("first-rows", first_rows, first, _LOOKED_AT)])
    return found
