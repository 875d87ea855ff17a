"""`graphkm train`: a model from a file."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import (
    AsJson,
    Data,
    FitOptions,
    Method,
    Model,
    ModelKind,
    Scale,
    ScaleOption,
    Task,
    TaskOption,
    TrainingFileOptions,
    spread,
)

if TYPE_CHECKING:
    from .rows import Rows

EXAMPLES = (
    "graphkm train few_labels.csv moons.gkm",
    "graphkm train labelled.csv model.gkm --unlabeled-data unlabelled.csv --label kind",
    "graphkm train few_labels.csv mixture.gkm --method semi",
    "graphkm train few_labels.csv forest.gkm --model forest",
    "cat few_labels.csv | graphkm train - moons.gkm --holdout 0.3",
)

UnlabeledData = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="More rows, which count as unlabelled; their labels are ignored.",
    ),
]


@spread
def train(
    data: Data,
    model: Model,
    unlabeled_data: UnlabeledData = None,
    task: TaskOption = Task.auto,
    scale: ScaleOption = Scale.auto,
    holdout: Annotated[
        float,
        typer.Option(
            metavar="SHARE",
            min=0.0,
            max=0.9,
            help="Keep this share of the labelled rows out of training, and test on them.",
        ),
    ] = 0.0,
    method: Annotated[
        Method,
        typer.Option(
            help="The graph-based kernel machine, the Laplacian SVM, the transductive SVM, or "
            "semi: a mixture of many models, with and without the graph, weighed by held-out "
            "labels.",
        ),
    ] = Method.gkm,
    kind: Annotated[
        ModelKind | None,
        typer.Option(
            "--model",
            help="Instead of --method: a random forest, boosted trees, an SVM, a logistic "
            "regression or a kernel machine on the labels, corrected over the graph of all rows. "
            "--set reaches its own parameters.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
    files: TrainingFileOptions = TrainingFileOptions(),  # noqa: B008
    fit: FitOptions = FitOptions(),  # noqa: B008
) -> None:
    """Learn from a file in which some rows, or all, have a label."""
    from .corrected import check_corrected, check_sparse, make_corrected
    from .models import check_options, make_estimator, write_model
    from .output import check_output
    from .preparing import fit_prepared
    from .rows import hold_out, read_rows

    check_output(model, data, unlabeled_data)
    start = time.perf_counter()
    if kind is None:
        check_options(method, task, fit)
    else:
        check_corrected(kind, method, task, fit)
    rows = read_rows(data, files, task, unlabeled_data)
    read_in = time.perf_counter() - start
    rows, held_out = hold_out(rows, holdout, fit.seed)
    if kind is None:
        estimator = make_estimator(method, rows.note.task, fit)
    else:
        estimator = make_corrected(kind, rows.note.task, fit)
        check_sparse(kind, estimator, rows.X)
    fitted, chosen = fit_prepared(estimator, scale, rows)
    note = replace(rows.note, scale=chosen, method=(kind or method).value)
    write_model(fitted, model, note)
    seconds = time.perf_counter() - start
    _summary(rows, held_out, fitted, note, model, read_in, seconds, as_json)


def _summary(
    rows: Rows,
    held_out: Rows | None,
    fitted: Any,
    note: Any,
    path: Path,
    read_in: float,
    seconds: float,
    as_json: bool,
) -> None:
    from .evaluate import judge, score_lines
    from .models import described_model, found_facts
    from .output import say, show

    scores: dict[str, Any] = {}
    known = "not measured: pass --holdout 0.2, or test other rows with graphkm evaluate"
    measured: dict[str, str] = {"accuracy" if note.task == "classify" else "quality": known}
    if held_out is not None:
        scores = judge(note.task, held_out.y, fitted.predict(held_out.X))
        measured = {
            name: f"{text}  on {len(held_out.y):,} rows held out"
            for name, text in score_lines(note.task, scores).items()
        }
    show(
        rows.lines()
        | described_model(fitted, note)
        | measured
        | {"time": f"{seconds:.1f} s, of which {read_in:.1f} s for reading", "model": str(path)},
        rows.facts()
        | found_facts(fitted)
        | {"scale": note.scale, "method": note.method, "seconds": seconds, "model": path}
        | {"held_out": scores | {"rows": len(held_out.y)} if held_out is not None else None},
        as_json,
    )
    if not as_json:
        for text in rows.doubts():
            say(f"note: {text}")
