"""A stream from a file to a model: looked through, scaled, tested, learnt, resumed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from .._files import is_stream
from ..io import DataFileError
from ..io.files import STDIN
from ..machines.labels import missing_mask
from ..online import CheckpointError, Chunk, train
from ..online.chunks import cut_into_chunks
from .errors import UsageError
from .memory import Memory
from .methods import check_estimator, make_estimator
from .options import FitOptions, Method, Scale, Task, TrainingFileOptions
from .prequential import Record
from .printing import progress_bar
from .resuming import check_same_settings, forget
from .rows import label_values, remember
from .scaling import behind_scaler, choose_scale, make_scaler
from .survey import Survey, survey
from .tables import Table, open_training


@dataclass(frozen=True)
class Settings:
    """What `graphkm stream` is told beside files and parameters."""

    classes: str | None
    checkpoint: Path
    every: int
    chunk: int
    restart: bool
    task: Task
    scale: Scale


def learn_stream(
    path: str, files: TrainingFileOptions, fit: FitOptions, settings: Settings
) -> tuple[Any, Memory, Record]:
    """Return the model, what it remembers, and how its predictions did."""
    guess = "regress" if settings.task is Task.regress else "classify"
    check_estimator(make_estimator(Method.gkm, guess, fit))
    seen = _look_through(path, files, settings)
    files = replace(files, features=seen.n_features, zero_based=seen.zero_based)
    with open_training(path, files, seen.labels) as table:
        chunks = cut_into_chunks(table.pieces, settings.chunk)
        first = next(chunks, None)
        if first is None:
            raise DataFileError(f"{table.name} holds no rows.")
        memory = _memory(table, first, files, seen, settings)
        scaler = make_scaler(memory.scale)
        if scaler is not None:
            scaler.fit(first.X)
        model = make_estimator(Method.gkm, memory.task, fit)
        classes = _classes(first, memory, seen)
        check_same_settings(settings.checkpoint, _settings(memory, classes, settings))
        record = Record(memory.task)
        tested = _tested(chain([first], chunks), model, scaler, record, seen.n_rows)
        _train(tested, model, classes, settings, record)
    memory = replace(memory, n_rows=record.n_rows, n_labeled=record.n_labeled)
    if record.n_labeled == 0:
        raise DataFileError(f"{table.name}: none of its {record.n_rows:,} rows has a label.")
    return behind_scaler(scaler, model), memory, record


def _look_through(path: str, files: TrainingFileOptions, settings: Settings) -> Survey:
    """Return what must be known before the first chunk is learnt."""
    if settings.restart:
        forget(settings.checkpoint)
    given = None if settings.classes is None else settings.classes.split(",")
    if path == STDIN or is_stream(path):  # which can be read only once
        return Survey.of_classes(given, settings.task, files)
    found = survey(path, files, settings.task)
    return found if given is None else found.with_classes(given)


def _memory(
    table: Table, first: Chunk, files: TrainingFileOptions, seen: Survey, settings: Settings
) -> Memory:
    if seen.task is not None:
        settings = replace(settings, task=Task(seen.task))
    memory = remember(table, first.X, first.y, files, settings.task)
    labels = memory.labels if seen.labels == "auto" else seen.labels
    return replace(memory, labels=labels, scale=choose_scale(settings.scale, first.X))


def _classes(first: Chunk, memory: Memory, seen: Survey) -> Any:
    """Return the classes that the model is told of."""
    if memory.task == "regress":
        return None
    known = seen.classes
    if known is None:
        known = np.unique(first.y[~missing_mask(first.y)])
    if len(known) < 2:
        what = f"only the class {label_values(known)[0]}" if len(known) else "no class"
        raise DataFileError(
            f"There is {what} to be seen; there must be two at least. If others come later, name "
            "all with --classes A,B,..."
        )
    return known


def _settings(memory: Memory, classes: Any, settings: Settings) -> dict[str, Any]:
    """Return what must not change while a stream goes on, beside the model's parameters."""
    fixed = {
        name: value
        for name, value in asdict(memory).items()
        if name not in ("n_rows", "n_labeled", "version", "method")
    }
    return fixed | {
        "classes": None if classes is None else label_values(classes),
        "chunk": settings.chunk,
    }


def _tested(
    chunks: Iterator[Chunk], model: Any, scaler: Any, record: Record, total: int | None
) -> Iterator[Chunk]:
    """Yield scaled chunks; those that have not been learnt are predicted first."""
    with progress_bar("learning", "rows", total) as bar:
        for X, y, first_row in chunks:
            X = X if scaler is None else scaler.transform(X)
            # By then `train` has put the checkpoint's state into the model.
            learnt = model.stream_.n_rows if hasattr(model, "stream_") else 0
            if first_row == 0:
                record.resumed = learnt
            record.count(y)
            if first_row >= learnt > 0:
                record.test(model, X, y)
            yield Chunk(X, y, first_row)
            bar.update(len(y))
            bar.set_postfix_str(record.short(), refresh=False)


def _train(
    chunks: Iterator[Chunk], model: Any, classes: Any, settings: Settings, record: Record
) -> None:
    try:
        train(chunks, model, classes=classes, checkpoint=settings.checkpoint, every=settings.every)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"interrupted at row {record.n_rows:,}; the same command goes on from the last "
            "checkpoint."
        ) from None
    except CheckpointError as error:
        raise UsageError(f"{error} Or pass --restart to begin anew.") from error
