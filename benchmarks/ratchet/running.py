"""Cells measured in worker processes of one thread each."""

from __future__ import annotations

import multiprocessing
import os
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any

import numpy as np
from sklearn.metrics import r2_score

from _common import SkipError

from .cells import CELLS, Cell, Draw
from .estimators import ESTIMATORS, Estimator
from .judging import Result
from .planted import DEFECTS

_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def run(
    plan: dict[str, Sequence[int]], *, rivals: bool, defect: str | None, jobs: int
) -> Iterator[tuple[str, list[Result] | str]]:
    """Yield names of cells and their results as they come, or why there are none.

    Parameters
    ----------
    plan : dict
        The splits to run of every cell, by its name.
    rivals : bool
        Whether rivals are measured, too.
    defect : str or None
        What is planted into the library.
    jobs : int
        Worker processes. They start from nothing, so that none has more than one thread.
    """
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, spawn, initializer=_prepare, initargs=(defect,)) as pool:
        tasks = {pool.submit(measure, *each, rivals): each[0] for each in plan.items()}
        try:
            for task in as_completed(tasks):
                yield tasks[task], task.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _prepare(defect: str | None) -> None:
    warnings.simplefilter("ignore")
    if defect is not None:
        DEFECTS[defect]()


def measure(name: str, splits: Sequence[int], rivals: bool) -> list[Result] | str:
    """Return the results of one cell, or why there are none."""
    cell = CELLS[name]
    try:
        draws = {split: cell.draw(split) for split in splits}
    except SkipError as reason:
        return str(reason)
    n_columns = next(iter(draws.values())).X.shape[1]
    chosen = [
        each
        for each in ESTIMATORS
        if each.classes == cell.classes
        and (rivals or not each.rival)
        and n_columns <= each.most_columns
    ]
    return [result for estimator in chosen for result in _results(cell, draws, estimator)]


def _results(cell: Cell, draws: dict[int, Draw], estimator: Estimator) -> list[Result]:
    seconds, scores = [], {}
    for split, draw in draws.items():
        start = time.process_time()
        try:
            scores[split] = scored(estimator.fit(draw.X, draw.y, split), draw, cell.classes)
        except Exception as error:
            raise RuntimeError(f"{cell.name}, split {split}: {estimator.name}: {error}") from error
        seconds.append(time.process_time() - start)
    first = next(iter(draws.values()))
    known = ~np.isnan(first.y) if not cell.classes else first.y >= 0
    about = (cell.group, cell.name, len(first.y), int(known.sum()), len(first.truth))
    return [
        Result(
            *about,
            estimator.name,
            estimator.rival,
            metric,
            float(np.mean(seconds)),
            {split: values[metric] for split, values in scores.items()},
        )
        for metric in scores[next(iter(scores))]
    ]


def scored(model: Any, draw: Draw, classes: bool) -> dict[str, float]:
    """Return the scores of a fitted model, in points."""
    known = getattr(model, "transduction_", None) if draw.hidden is not None else None
    found = model.predict(draw.X_test) if known is None else known[draw.hidden]
    if not classes:
        return {"R^2": 100.0 * float(r2_score(draw.truth, found))}
    answer = {"accuracy": 100.0 * float(np.mean(found == draw.truth))}
    probabilities: Callable[[Any], Any] | None = getattr(model, "predict_proba", None)
    if probabilities is not None:
        truth = draw.truth[:, None] == model.classes_
        square = np.square(probabilities(draw.X_test) - truth).sum(axis=1)
        # A class without a label has no column: it was given no chance.
        answer["Brier"] = 100.0 * float(np.mean(square + ~truth.any(axis=1)))
    return answer
