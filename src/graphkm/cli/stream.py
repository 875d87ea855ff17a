"""`graphkm stream`: online training with checkpoints."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from .fit_options import FitOptions
from .options import AsJson, Data, Model, Scale, ScaleOption, Task, TaskOption, TrainingFileOptions
from .spreading import spread

EXAMPLES = (
    "graphkm stream rows.csv online.gkm --every 1000",
    "cat rows.csv | graphkm stream - online.gkm --classes cat,dog",
)


@spread
def stream(
    data: Data,
    model: Model,
    classes: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...",
            help="All classes of the stream. Default: a file is searched for them first; standard "
            "input must show them in the first chunk.",
        ),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="Where the state is kept; MODEL.checkpoint by default."),
    ] = None,
    every: Annotated[int, typer.Option(min=1, help="Rows between two checkpoints.")] = 20_000,
    chunk: Annotated[int, typer.Option(min=2, help="Rows learnt at a time.")] = 1000,
    restart: Annotated[
        bool, typer.Option("--restart", help="Remove the checkpoint and begin anew.")
    ] = False,
    task: TaskOption = Task.auto,
    scale: ScaleOption = Scale.auto,
    as_json: AsJson = False,
    files: TrainingFileOptions = TrainingFileOptions(),  # noqa: B008
    fit: FitOptions = FitOptions(),  # noqa: B008
) -> None:
    """Learn row by row from a file that need not fit into memory, or from standard input.

    Every chunk is predicted before it is learnt, which gives an honest accuracy. If the process is
    killed, the same command continues from the last checkpoint. It also continues with a file that
    has grown. The first chunk decides the scaling, and --gamma if it is a word.
    """
    from .model_files import write_model
    from .output import check_output
    from .stream_training import Settings, learn_stream

    check_output(model, data)
    start = time.perf_counter()
    place = _checkpoint_place(model, checkpoint)
    check_output(place, data)
    settings = Settings(classes, place, every, chunk, restart, task, scale)
    fitted, note, record = learn_stream(data, files, fit, settings)
    write_model(fitted, model, note)
    _summary(fitted, note, record, model, time.perf_counter() - start, as_json)


def _checkpoint_place(model: Path, given: Path | None) -> Path:
    """Return the checkpoint's path; it must be a file, because it is read again."""
    from .._util.files import destination, is_stream
    from .options import UsageError

    place = given or model.with_name(model.name + ".checkpoint")
    if is_stream(destination(given or model)):
        raise UsageError(
            f"{given or model} is a pipe or a device, and a checkpoint is read again; name a file "
            "with --checkpoint."
        )
    if destination(place) == destination(model):
        raise UsageError(f"{place} cannot be both the model and its checkpoint; name another file.")
    return place


def _summary(
    fitted: Any, note: Any, record: Any, path: Path, seconds: float, as_json: bool
) -> None:
    from .learning_rows import label_text, label_values
    from .model_files import described_model
    from .note_lines import label_line
    from .output import show

    labels = list(getattr(fitted, "classes_", ()))
    resumed = f", {record.resumed:,} of them before this run" if record.resumed else ""
    show(
        {
            "rows": f"{note.n_rows:,} with {note.n_features:,} features{resumed}",
            "encoding": None if note.encoding == "utf-8" else note.encoding,
            "label": label_line(note),
            "labelled": f"{note.n_labeled:,}",
            "classes": ", ".join(map(label_text, labels)) if labels else None,
        }
        | described_model(fitted, note)
        | record.lines()
        | {"time": f"{seconds:.1f} s", "model": str(path)},
        {
            "task": note.task,
            "encoding": note.encoding,
            "label": note.label,
            "rows": note.n_rows,
            "labelled": note.n_labeled,
            "resumed_at": record.resumed,
            "classes": label_values(labels),
            "scale": note.scale,
            "seconds": seconds,
            "model": path,
        }
        | record.facts(),
        as_json,
    )
