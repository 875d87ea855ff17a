"""A fit to rows that tasks read from parts of files."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from ..semi.views import View
from .collections import Partitioned
from .passes import Passes
from .runner import Runner
from .view_fit import ViewFit

SHARE = 64
"""Labelled rows may take this part of a worker's memory. The members that learn from the 52,291
labelled rows of COVTYPE, of 22 MiB, took thirty times as much."""

_MOST = 2**31  # bytes of labelled rows, as of the estimators


def fit_parts(
    model: Any,
    read: Callable[..., tuple[Any, Any]],
    parts: Sequence[Any],
    lengths: Sequence[int],
    runner: Runner,
    *about: Any,
    views: dict[str, View] | None = None,
) -> Any:
    """Return a local model, fitted to the rows of all parts.

    Every pass reads the parts again. If the labelled rows take more than a 64th of a worker's
    memory, the members learn from a random part of them, and a warning tells how many it has.

    Parameters
    ----------
    model : SemiSupervisedClassifier or SemiSupervisedRegressor
        Unfitted; its graph is an `Anchors`, and it has one thread.
    read : callable
        Returns rows and their labels; it takes a part, and `about`.
    parts : list
        What is read.
    lengths : list of int
        How many rows each has.
    runner : Runner
        Runs the tasks.
    *about
        The same for all parts: every worker gets them once.
    views : dict of View, optional
        How encoders see the rows, which may be texts then. They are fitted.
    """
    model.models_for_nodes()  # raises before rows are read
    shared = [runner.share(each) for each in about]
    pairs = [runner.task("read-rows", read, part, *shared) for part in parts]
    rows, labels = (
        [runner.task(f"take-{name}", itemgetter(k), pair) for pair in pairs]
        for k, name in enumerate(("rows", "labels"))
    )
    data = Partitioned(rows, labels, None, list(lengths), np.dtype(np.float64))
    label_memory = min(_MOST, (runner.worker_memory() or _MOST) // SHARE)
    passes = Passes(data, runner) if views is None else ViewFit(data, views, runner)
    task = passes.fit(model, model.draw_seed(), label_memory)
    (fitted,) = runner.bring([task])
    for category, message in fitted.warnings:
        warnings.warn(message, category, stacklevel=2)
    return fitted.model
