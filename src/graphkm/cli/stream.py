"""`graphkm stream`: online training with checkpoints."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from .grouping import spread
from .options import (
    AsJson,
    Data,
    FitOptions,
    Model,
    Scale,
    ScaleOption,
    Task,
    TaskOption,
    TrainingFileOptions,
)

EXAMPLE = "graphkm stream rows.csv online.gkm --every 1000"
MORE_EXAMPLES = ("cat rows.csv | graphkm stream - online.gkm --classes cat,dog",)


@spread
def stream(
    data: Data,
    model: Model,
    classes: Annotated[
        str | None,
        typer.Option(
            "--classes",
            metavar="A,B,...",
            help="All classes there will be. Default: a file is read through for them beforehand; "
            "standard input must show them in the first chunk.",
        ),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option("--checkpoint", help="Where the state is kept; MODEL.checkpoint by default."),
    ] = None,
    every: Annotated[
        int, typer.Option("--every", min=1, help="Rows between two checkpoints.")
    ] = 20_000,
    chunk: Annotated[int, typer.Option("--chunk", min=2, help="Rows learnt at a time.")] = 1000,
    restart: Annotated[
        bool, typer.Option("--restart", help="Begin anew, whatever checkpoint there is.")
    ] = False,
    task: TaskOption = Task.auto,
    scale: ScaleOption = Scale.auto,
    as_json: AsJson = False,
    files: TrainingFileOptions = TrainingFileOptions(),  # noqa: B008
    fit: FitOptions = FitOptions(),  # noqa: B008
) -> None:
    """Learn row by row from a file that need not fit into memory, or from standard input.

    Every chunk is predicted before it is learnt, which gives an honest accuracy wherever labels
    are known. If the process is killed, the same command goes on from the last checkpoint; so it
    does with a file that has grown. The first chunk decides scaling, and --gamma if it is a word.
    """
    from .model_files import write_model
    from .streaming import Settings, learn_stream
    from .writing import check_output

    check_output(model, data)
    start = time.perf_counter()
    place = _checkpoint_place(model, checkpoint)
    check_output(place, data)
    settings = Settings(classes, place, every, chunk, restart, task, scale)
    fitted, memory, record = learn_stream(data, files, fit, settings)
    write_model(fitted, model, memory)
    _summary(fitted, memory, record, model, time.perf_counter() - start, as_json)


def _checkpoint_place(model: Path, given: Path | None) -> Path:
    """Return where the state is kept: a file of its own, since it is read again."""
    from .._files import destination, is_stream
    from .errors import UsageError

    place = given or model.with_name(model.name + ".checkpoint")
    if is_stream(destination(given or model)):
        raise UsageError(
            f"{given or model} is a pipe or a device, and a checkpoint is read again; name a file "
            "with --checkpoint."
        )
    if destination(place) == destination(model):
        raise UsageError(f"{place} cannot be the model and its checkpoint; name another file.")
    return place


def _summary(
    fitted: Any, memory: Any, record: Any, path: Path, seconds: float, as_json: bool
) -> None:
    from .describing import described_estimator
    from .printing import show
    from .rows import label_text, label_values

    labels = list(getattr(fitted, "classes_", ()))
    resumed = f", {record.resumed:,} of them before this run" if record.resumed else ""
    show(
        {
            "rows": f"{memory.n_rows:,} with {memory.n_features:,} features{resumed}",
            "labelled": f"{memory.n_labeled:,}",
            "classes": ", ".join(map(label_text, labels)) if labels else None,
        }
        | described_estimator(fitted, memory)
        | record.lines()
        | {"time": f"{seconds:.1f} s", "model": str(path)},
        {
            "task": memory.task,
            "rows": memory.n_rows,
            "labelled": memory.n_labeled,
            "resumed_at": record.resumed,
            "classes": label_values(labels),
            "scale": memory.scale,
            "seconds": seconds,
            "model": path,
        }
        | record.facts(),
        as_json,
    )
