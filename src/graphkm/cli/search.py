"""`graphkm search`: choose parameters by held-out labels."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from .options import (
    AsJson,
    Data,
    LearningOptions,
    Scale,
    ScaleOption,
    Task,
    TaskOption,
    TrainingFileOptions,
    spread,
)
from .train import UnlabeledData

EXAMPLES = (
    "graphkm search few_labels.csv best.gkm",
    "graphkm search few_labels.csv --cv 3 --json",
)


@spread
def search(
    data: Data,
    model: Annotated[
        Path | None,
        typer.Argument(metavar="[MODEL]", help="Where to write the best model. Default: nowhere."),
    ] = None,
    unlabeled_data: UnlabeledData = None,
    task: TaskOption = Task.auto,
    scale: ScaleOption = Scale.auto,
    cv: Annotated[
        int | None,
        typer.Option(
            min=2, help="Search over lists of values, and judge them by this many folds of labels."
        ),
    ] = None,
    as_json: AsJson = False,
    files: TrainingFileOptions = TrainingFileOptions(),  # noqa: B008
    learning: LearningOptions = LearningOptions(),  # noqa: B008
) -> None:
    """Choose the parameters by held-out labels, and tell how much the unlabelled rows help.

    Lists to choose from are set like --set Cs=[1,10] or --set C_graphs=[0,1e5].
    """
    from .models import check_options, last_step, make_estimator, write_model
    from .output import check_output
    from .preparing import behind, fit_prepared
    from .rows import read_rows

    if model is not None:
        check_output(model, data, unlabeled_data)
    start = time.perf_counter()
    folds = {} if cv is None else {"cv": cv}
    check_options("search", task, learning, **folds)
    rows = read_rows(data, files, task, unlabeled_data)
    estimator = make_estimator("search", rows.note.task, learning, **folds)
    fitted, chosen = fit_prepared(estimator, scale, rows)
    found = last_step(fitted)
    if model is not None:
        steps = fitted.steps[:-1] if fitted is not found else []
        note = replace(rows.note, scale=chosen)
        write_model(behind(steps, found.best_estimator_), model, note)
    _summary(rows, found, chosen, model, time.perf_counter() - start, as_json)


def _summary(
    rows: Any, found: Any, scale: str, path: Path | None, seconds: float, as_json: bool
) -> None:
    from .output import say, show

    best = {name.rpartition("__")[2]: value for name, value in found.best_params_.items()}
    told = {name: value for name, value in best.items() if value == value}  # NaN: not used
    chosen = ", ".join(f"{name}={_short(value)}" for name, value in told.items())
    show(
        rows.lines()
        | {
            "scaling": scale,
            "candidates": f"{len(found.cv_results_['params'])}",
            "chosen": chosen,
            "held-out score": _score(found, rows.note.task),
            "unlabelled rows": bought(found, rows.note.task),
            "time": f"{seconds:.1f} s",
            "model": None if path is None else str(path),
        },
        rows.facts()
        | {
            "scale": scale,
            "candidates": len(found.cv_results_["params"]),
            "best_params": best,
            "best_score": found.best_score_,
            "unlabeled_gain": found.unlabeled_gain_,
            "seconds": seconds,
            "model": path,
        },
        as_json,
    )
    if not as_json:
        for text in rows.doubts():
            say(f"note: {text}")


def _score(found: Any, task: str) -> str:
    from .output import percent

    if math.isnan(found.best_score_):
        return "none: too few labels to hold any out"
    score = found.best_score_
    what = f"{percent(score)} accuracy" if task == "classify" else f"R^2 {score:.4f}"
    plan = found.best_estimator_.plan_
    one_by_one = found.cv is None and plan.solver.exact and plan.smoothness.p == 2
    one_by_one = one_by_one and task == "classify"
    how = "one at a time" if one_by_one else "in folds"
    if "near" in found.best_params_:
        return f"{what} on labels held out {how}, which had no part in the choice"
    return f"{what} on labels held out {how}; the best of all candidates, so slightly optimistic"


def bought(found: Any, task: str) -> str:
    """Return a sentence on the gain from the unlabelled rows, by the search's own scores."""
    gain = found.unlabeled_gain_
    if math.isnan(gain):
        return "too few labels to measure how much they help; what these say flows along the graph"
    model = found.best_estimator_
    if (model.corrected_ is not None and model.field_ is None) or model.plan_.graph is None:
        return "did not help here: the best candidate ignores them"
    score, size = "accuracy", f"{100 * gain:.2f} points"
    if task != "classify":
        score, size = "R^2", f"{gain:.4f}"
    if gain <= 0:
        return f"made held-out predictions surer; their {score} changed by {size}"
    return f"improved {score} by {size}, against the best candidate that ignores them"


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
