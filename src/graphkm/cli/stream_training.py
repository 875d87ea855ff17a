"""A stream from a file to a model: surveyed, scaled, tested, learnt, resumed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from .._util.files import destination, is_stream, previous_path
from ..estimators.labels import missing_mask
from ..io import DataFileError
from ..io.csv import is_number
from ..io.files import STDIN
from ..io.libsvm import file_width
from ..online import CheckpointError, Chunk, train
from ..online.chunks import cut_into_chunks
from ..online.prequential import RunningScore
from ..online.training import rows_learnt
from ..tables.naming import is_usual_label
from ..tables.preparing import make_scaler
from .estimators import check_options, make_estimator
from .fit_options import FitOptions
from .learning_rows import decide_task, file_note, label_values
from .model_files import FileNote
from .options import Format, Method, Missing, Scale, Task, TrainingFileOptions, UsageError
from .output import percent, progress_bar, whole_or_not
from .preparing import behind, choose_scale
from .row_files import open_training
from .row_table import Table

_WINDOW = 1000  # tested rows in the recent score
_WIDEST = 2**31 - 2  # the largest index of a LIBSVM file
_KEPT = 1000  # different labels, after which a survey collects no more


@dataclass(frozen=True)
class Settings:
    """The options of `graphkm stream` itself."""

    classes: str | None
    checkpoint: Path
    every: int
    chunk: int
    restart: bool
    task: Task
    scale: Scale


class Record:
    """Counts of rows, and the score of predictions for rows not learnt yet."""

    def __init__(self, task: str) -> None:
        self.resumed = 0  # rows learnt before this run
        self.n_rows = self.n_labeled = 0
        self._classify = task == "classify"
        self._name = "accuracy" if self._classify else "mean absolute error"
        self._score = RunningScore(_WINDOW)

    def count(self, y: Any) -> None:
        """Count a chunk's rows."""
        self.n_rows += len(y)
        self.n_labeled += int((~missing_mask(y)).sum())

    def test(self, model: Any, X: Any, y: Any) -> None:
        """Predict the labelled rows of a chunk and compare."""
        labeled = ~missing_mask(y)
        if labeled.any():
            predicted, truth = model.predict(X[labeled]), y[labeled]
            self._score.add(predicted == truth if self._classify else np.abs(predicted - truth))

    def short(self) -> str:
        """Return the recent score for the progress bar."""
        if not self._score.n_marks:
            return ""
        recent = self._score.recent
        return percent(recent) if self._classify else f"error {recent:.4g}"

    def lines(self) -> dict[str, str | None]:
        """Return the score for people."""
        n, show = self._score.n_marks, percent if self._classify else "{:.6g}".format
        if not n:
            return {self._name: "not measured: no labelled row came after the first chunk"}
        return {
            self._name: f"{show(self._score.overall)} on {n:,} labelled rows, each predicted "
            f"before it was learnt; {show(self._score.recent)} on the last {min(n, _WINDOW):,}"
        }

    def facts(self) -> dict[str, Any]:
        """Return the score for programs."""
        name = f"prequential_{self._name.replace(' ', '_')}"
        return {
            "tested": self._score.n_marks,
            name: self._score.overall,
            f"{name}_recent": self._score.recent,
        }


def learn_stream(
    path: str, files: TrainingFileOptions, fit: FitOptions, settings: Settings
) -> tuple[Any, FileNote, Record]:
    """Return the model, its note, and the record of its predictions."""
    if fit.landmarks is not None and fit.solver is None:
        fit = replace(fit, solver="sums")
    check_options(Method.gkm, settings.task, fit)
    files = _numbers_alone(files)
    seen = _survey(path, files, settings)
    files = replace(files, features=seen.n_features, zero_based=seen.zero_based)
    with open_training(path, files, seen.labels) as table:
        chunks = cut_into_chunks(table.pieces, settings.chunk)
        first = next(chunks, None)
        if first is None:
            raise DataFileError(f"{table.name} holds no rows.")
        note = _note(table, first, files, seen, settings)
        scaler = make_scaler(note.scale)
        if scaler is not None:
            scaler.fit(first.X)
        model = make_estimator(Method.gkm, note.task, fit)
        _require_stream(model)
        classes = _classes(first, note, seen)
        _check_same_settings(settings.checkpoint, _lasting(note, classes, settings))
        record = Record(note.task)
        tested = _tested(chain([first], chunks), model, scaler, record, seen.n_rows)
        _train(tested, model, classes, settings, record)
    note = replace(note, n_rows=record.n_rows, n_labeled=record.n_labeled, encoding=table.encoding)
    if record.n_labeled == 0:
        raise DataFileError(f"{table.name}: none of its {record.n_rows:,} rows has a label.")
    return behind([("scaler", scaler)] * (scaler is not None), model), note, record


def _numbers_alone(files: TrainingFileOptions) -> TrainingFileOptions:
    """Return the options of a stream; raise if they ask for what needs all rows at once."""
    if files.categorical not in ("auto", "none") or files.missing is Missing.impute:
        option = "--missing impute" if files.missing is Missing.impute else "--categorical"
        raise UsageError(
            f"{option} needs all rows before the first is learnt, and a stream has only the next "
            "ones. Use graphkm train, or make numbers of the columns first."
        )
    return replace(files, skip_bad_rows=files.skip_bad_rows or files.missing is Missing.drop)


def _require_stream(model: Any) -> None:
    """Raise if a model cannot learn from a stream, with its own reason."""
    try:
        _ = model.partial_fit
    except AttributeError as error:
        raise UsageError(str(error.__cause__ or error)) from error


def _survey(path: str, files: TrainingFileOptions, settings: Settings) -> Survey:
    """Return what is known before the first chunk; --restart removes the old checkpoint."""
    if settings.restart:
        _forget(settings.checkpoint)
    given = None if settings.classes is None else settings.classes.split(",")
    if path == STDIN or is_stream(path):  # can be read only once
        return Survey.of_classes(given, settings.task, files)
    found = survey_file(path, files, settings.task)
    return found if given is None else found.with_classes(given)


def _note(
    table: Table, first: Chunk, files: TrainingFileOptions, seen: Survey, settings: Settings
) -> FileNote:
    task = settings.task if seen.task is None else Task(seen.task)
    note = file_note(table, first.X, first.y, files, task)
    labels = note.labels if seen.labels == "auto" else seen.labels
    return replace(note, labels=labels, scale=choose_scale(settings.scale, first.X))


def _classes(first: Chunk, note: FileNote, seen: Survey) -> Any:
    """Return all classes of the stream; None for regression."""
    if note.task == "regress":
        return None
    known = seen.classes
    if known is None:
        known = np.unique(first.y[~missing_mask(first.y)])
    if len(known) < 2:
        what = f"only the class {label_values(known)[0]}" if len(known) else "no class"
        raise DataFileError(
            f"The stream shows {what}, but two classes are needed. If others come later, name all "
            "with --classes A,B,..."
        )
    return known


def _tested(
    chunks: Iterator[Chunk], model: Any, scaler: Any, record: Record, total: int | None
) -> Iterator[Chunk]:
    """Yield scaled chunks, and test the model on those it has not learnt yet."""
    with progress_bar("learning", "rows", total) as bar:
        for X, y, first_row in chunks:
            X = X if scaler is None else scaler.transform(X)
            learnt = rows_learnt(model)  # `train` has put the checkpoint's state into the model
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


# ------------------------------------------------- a look through the file


@dataclass(frozen=True)
class Survey:
    """What is known of a stream before it is learnt; None for what is unknown."""

    task: str | None = None
    labels: str = "auto"  # number, text, or auto: the first labels will tell
    classes: Any = None
    n_rows: int | None = None
    n_features: int | None = None
    zero_based: bool | None = None

    @classmethod
    def of_classes(cls, given: list[str] | None, task: Task, files: TrainingFileOptions) -> Survey:
        """Return what the options say of a stream that can be read only once.

        Examples
        --------
        >>> found = Survey.of_classes(["1", "2"], Task.auto, TrainingFileOptions())
        >>> found.labels, found.classes
        ('number', array([1., 2.]))
        """
        if files.format is Format.libsvm and files.features is None:
            raise UsageError(
                "A LIBSVM stream does not tell how many features will come; pass --features N."
            )
        start = cls(n_features=files.features, zero_based=bool(files.zero_based))
        if task is Task.regress:
            return replace(start, task="regress", labels="number")
        return start if given is None else start.with_classes(given)

    def with_classes(self, given: list[str]) -> Survey:
        """Return the survey with the classes of --classes."""
        names = [name.strip() for name in given if name.strip()]
        text = self.labels == "text" or not all(map(is_number, names))
        classes = np.unique(names if text else [float(name) for name in names])
        if len(classes) < 2:
            raise UsageError(f"--classes {','.join(given)}: name at least two classes.")
        return replace(self, task="classify", labels="text" if text else "number", classes=classes)


def survey_file(path: str, files: TrainingFileOptions, task: Task) -> Survey:
    """Read a whole file in pieces to find its classes, its width and its length."""
    widest = replace(files, features=_WIDEST, zero_based=True)  # any LIBSVM file fits
    known: Any = np.empty(0)
    n_rows, n_labeled, lowest, highest = 0, 0, _WIDEST, -1
    labels = "number" if task is Task.regress else "auto"
    with (
        open_training(path, widest, labels) as table,
        progress_bar("reading", "rows") as bar,
    ):
        for X, y in table.pieces:
            n_rows += len(y)
            found = y[~missing_mask(y)]
            n_labeled += len(found)
            if len(found) and len(known) <= _KEPT:
                known = np.unique(np.concatenate([known, found]) if len(known) else found)
            if table.format == "libsvm" and X.nnz:
                lowest = min(lowest, int(X.indices.min()))
                highest = max(highest, int(X.indices.max()))
            bar.update(len(y))
    if n_rows == 0:
        raise DataFileError(f"{table.name} holds no rows.")
    if len(known) == 0:
        raise DataFileError(f"{table.name}: none of its {n_rows:,} rows has a label.")
    label = None if table.columns is None else table.columns.label_name
    guessed = table.columns is not None and files.label is None and not is_usual_label(label)
    chosen = decide_task(known, task, table.name, label if guessed else None, n_labeled)
    seen = Survey(
        task=chosen,
        labels="number" if known.dtype.kind == "f" else "text",
        classes=known if chosen == "classify" else None,
        n_rows=n_rows,
    )
    if table.format != "libsvm":
        return seen
    from_zero = files.zero_based
    if from_zero is None:
        from_zero = lowest == 0 or 0 in table.dropped
    kept = highest + 1 if from_zero else highest
    width = file_width(max(kept, 1), table.dropped, from_zero)
    return replace(seen, n_features=files.features or width, zero_based=from_zero)


# --------------------------------------------- what must not change in a stream


def _lasting(note: FileNote, classes: Any, settings: Settings) -> dict[str, Any]:
    """Return the settings that a resumed stream must repeat, besides the model's parameters."""
    free = ("n_rows", "n_labeled", "version", "method", "encoding")
    fixed = {name: value for name, value in asdict(note).items() if name not in free}
    known = None if classes is None else label_values(classes)
    return fixed | {"classes": known, "chunk": settings.chunk}


def _check_same_settings(checkpoint: Path, settings: dict[str, Any]) -> None:
    """Compare the settings with the checkpoint's; write them beside it if it is new.

    `graphkm.online.train` checks the model's own parameters.
    """
    beside = _beside(checkpoint)
    if not checkpoint.exists():
        with whole_or_not(beside) as file:
            json.dump(settings, file, indent=1)
        return
    if not beside.exists():
        raise UsageError(
            f"{beside}, which tells how the checkpoint {checkpoint} was begun, is missing; pass "
            "--restart to begin anew, or another --checkpoint."
        )
    before = json.loads(beside.read_text(encoding="utf-8"))
    for name, value in settings.items():
        if before.get(name) != value:
            raise UsageError(
                f"The checkpoint {checkpoint} was begun with {name} {before.get(name)!r}, which is "
                f"{value!r} now; pass the same, or --restart to begin anew."
            )


def _forget(checkpoint: Path) -> None:
    """Remove a checkpoint and the files that belong to it."""
    for path in (checkpoint, previous_path(checkpoint), _beside(checkpoint)):
        with suppress(FileNotFoundError):
            destination(path).unlink()


def _beside(checkpoint: Path) -> Path:
    return checkpoint.with_name(checkpoint.name + ".json")
