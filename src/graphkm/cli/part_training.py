"""A model from files that are larger than memory, read in parts by worker processes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from .._util.progress import SILENT
from ..dask.part_fit import fit_parts
from ..dask.runner import Runner
from ..dask.workers import each
from ..embed import TextEmbedder, Words
from ..graphs import resolve_nodes
from ..io import DataFileError
from ..io.columns import Columns
from ..io.file_parts import FilePart, cut_file, data_files, put_together
from ..semi.views import View, asked_views, chosen_columns
from ..tables.whole_tables import whole_rows
from .dask_options import DaskOptions, runner_of
from .estimators import check_options, make_estimator
from .fit_options import TrainingOptions
from .learning_rows import Rows
from .model_files import FileNote
from .options import LearningFileOptions, Missing, Scale, Task, UsageError
from .part_sample import SAMPLE, drawn_places, labelled_share, rows_of_sample, sample_of, settled
from .preparing import behind, fitted_steps, views_of, with_names
from .row_files import open_known
from .views import check_encoders, encoders_of

_BYTES = 2**25  # of files that a task reads at a time
_NUMBERS = 2**22  # of the rows that a task makes: 32 MiB


class Trained(NamedTuple):
    """A model of many files, and what was read."""

    model: Any
    rows: Rows
    """The sample, with the note on all files."""
    scale: str
    n_files: int
    n_parts: int


class _Seen(NamedTuple):
    """What is known of the files before the fit."""

    parts: list[FilePart]
    """The smallest ones, with the number of their rows."""
    rows: Rows
    n_labeled: int


def train_parts(
    data: str,
    options: LearningFileOptions,
    task: Task,
    scale: Scale,
    fit: TrainingOptions,
    many: DaskOptions,
) -> Trained:
    """Return a model of the files of a folder or a pattern.

    One pass draws a sample, from which the preparation of the columns is learnt as it is of a file
    that fits in memory. The fit's passes follow, in each of which workers prepare the rows anew.
    """
    _refuse(options, fit)
    check_encoders("mixture", int(options.text is not None), options.encoder, "--text")
    fit = replace(fit, graph="anchors")
    check_options("mixture", task, fit)
    files = data_files(data)
    options, first = settled(files[0], options)
    if first.label is None:
        raise UsageError(f"{data}: no column holds labels; name one with --label.")
    with runner_of(many) as runner:
        seen = _look(files, data, options, first, task, runner)
        note = replace(seen.rows.note, n_rows=sum(part.n_rows for part in seen.parts))
        note = replace(note, n_labeled=seen.n_labeled)
        model = make_estimator("mixture", note.task, fit)
        model.set_params(graph=resolve_nodes(model.graph), n_jobs=1, verbose=0)
        prepare, steps, views = prepared, None, None
        if note.encoded:
            given, chosen = part_views(scale, seen.rows, options.encoder)
            views, prepare = given, cells
            model.set_params(views={name: (v.encoder, v.chosen) for name, v in given.items()})
            width = sum(view.of(seen.rows.X[:1]).shape[1] for view in given.values())
        else:
            steps, chosen = fitted_steps(scale, seen.rows)
            width = (steps.transform(seen.rows.X[:1]) if steps else seen.rows.X).shape[1]
        parts = put_together(seen.parts, max(1, _NUMBERS // width), _BYTES)
        lengths = [part.n_rows for part in parts]
        about = options, note, steps
        fitted = fit_parts(model, prepare, parts, lengths, runner, about, views=views)
    note = replace(note, encoders=encoders_of(fitted, seen.rows.names))
    pipeline = with_names(behind(steps.steps if steps else [], fitted), note)
    return Trained(pipeline, replace(seen.rows, note=note), chosen, len(files), len(parts))


def part_views(scale: Scale, rows: Rows, encoder: str) -> tuple[dict[str, View], str]:
    """Return the views of rows in parts, with encoders that have seen a sample; and the scaling.

    Words are no view of them: means of many rows of words are neither sparse nor small.
    """
    asked, chosen = views_of(scale, rows, encoder)
    found = asked_views({k: v for k, v in asked.items() if not isinstance(v[0], Words)}, rows.X)
    assert found is not None
    fitted = {}
    for name, view in found.items():
        made = view.encoder
        if made is not None:
            made = clone(made).fit(chosen_columns(rows.X, view.chosen))
        if isinstance(made, TextEmbedder):
            made.set_params(verbose=0)
        fitted[name] = View(made, view.chosen, view.columns)
    return fitted, chosen


def prepared(
    part: FilePart, about: tuple[LearningFileOptions, FileNote, Any]
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return the rows of a part as numbers, and their labels."""
    (X, y), steps = cells(part, about), about[2]
    return np.asarray(X if steps is None else steps.transform(X), dtype=np.float64), y


def cells(
    part: FilePart, about: tuple[LearningFileOptions, FileNote, Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the rows of a part as they are, and their labels."""
    options, note, _ = about
    try:
        with open_known(part.path, options, note, source=part.source()) as table:
            return whole_rows(table.name, table.pieces, SILENT)
    except DataFileError as error:
        raise DataFileError(f"{error} (Lines are counted in {part.name}.)") from error


def _refuse(options: LearningFileOptions, fit: TrainingOptions) -> None:
    """Raise for what only files in memory know."""
    several = "it learns one label per row; graphkm.dask in Python knows several"
    encoded = "it learns from numbers, words, dates and texts; store vectors as columns of Parquet"
    rows = "every row counts; leave bad rows out of the files, or pass --missing impute for gaps"
    wrong = [
        ("--labels", options.labels, several),
        ("--separator", options.separator, several),
        ("--images", options.images, encoded),
        ("--skip-bad-rows", options.skip_bad_rows, rows),
        ("--missing drop", options.missing is Missing.drop, rows),
        ("--features", options.features, "it is for LIBSVM files"),
    ]
    for flag, value, why in wrong:
        if value:
            raise UsageError(f"{flag} does not go with --dask: {why}.")
    if fit.graph not in (None, "anchors"):
        raise UsageError(
            f"--graph {fit.graph}: rows in parts are joined by anchors alone; leave --graph out."
        )


# ------------------------------------------------------------------ the pass before the fit


def _look(
    files: Sequence[str],
    data: str,
    options: LearningFileOptions,
    first: Columns,
    task: Task,
    runner: Runner,
) -> _Seen:
    """Return the parts of all files, a sample of their rows, and how many have a label."""
    named = first.head.names is not None
    parts = [part for own in each(runner, "cut-files", cut_file, files, named) for part in own]
    if not parts:
        raise DataFileError(f"{data}: its {len(files):,} files hold no rows.")
    drawn, n = list(drawn_places(parts)), sum(part.n_rows for part in parts)
    looks = []
    for start, stop in _groups(parts):
        rows = sum(part.n_rows for part in parts[start:stop])
        looks.append((parts[start:stop], drawn[start:stop], labelled_share(rows, n)))
    found = each(runner, "sample-rows", _sampled, looks, options, first)
    counts = [count for each_ in found for count in each_.counts]
    whole = [part._replace(n_rows=k) for part, k in zip(parts, counts, strict=True)]
    rows = rows_of_sample(data, found, first, options, task)
    return _Seen([part for part in whole if part.n_rows], rows, sum(s.n_labeled for s in found))


def _groups(parts: Sequence[FilePart]) -> list[tuple[int, int]]:
    """Return where runs of parts begin and end that one task looks at."""
    found, start, size = list[tuple[int, int]](), 0, 0
    for place, part in enumerate(parts):
        own = part.n_rows if part.format == "parquet" else part.stop - part.start
        most = SAMPLE if part.format == "parquet" else _BYTES
        if place > start and size + own > most:
            found.append((start, place))
            start, size = place, 0
        size += own
    return [*found, (start, len(parts))]


def _sampled(look: tuple[Any, Any, int], options: LearningFileOptions, first: Columns) -> Any:
    return sample_of(*look, options, first)
