"""`graphkm predict --dask`: a file of predictions for each part of many files."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import warnings
from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from .._util.files import replacing
from ..dask.runner import Runner
from ..dask.workers import each
from ..io import DataFileError
from ..io.file_parts import FilePart, cut_file, data_files, put_together
from .categories import UnknownCategories
from .dask_options import DaskOptions, runner_of
from .links import Links
from .model_files import FileNote, read_model
from .options import FileOptions, UsageError
from .output import say, show
from .prediction_rows import header, kept_columns, predictions
from .row_files import open_known

JOURNAL = "_graphkm.json"
"""What a folder of predictions was made of. Dask and Spark pass over such names."""
_ROWS, _BYTES = 2**18, 2**25  # of a part, at most


class Asked(NamedTuple):
    """What is asked of every row."""

    proba: bool
    sets: float | None
    novelty: bool
    keep: str | None
    as_parquet: bool


class Done(NamedTuple):
    """What was written for a part."""

    n_rows: int
    unknown: dict[str, int]


def predict_parts(
    model: Path,
    data: str,
    out: Path,
    asked: Asked,
    options: FileOptions,
    many: DaskOptions,
    as_json: bool,
) -> None:
    """Write a file of predictions for each part of the files of a folder or a pattern.

    Every file appears whole, or not at all. The same command goes on where one was interrupted.
    """
    fitted, note = read_model(model)
    _check(fitted, note, model, asked)
    files = data_files(data)
    if options.header is None and note.columns is not None:
        options = replace(options, header=True)
    with runner_of(many) as runner:
        found = each(runner, "cut-files", cut_file, files, bool(options.header))
        parts = put_together([part for own in found for part in own], _ROWS, _BYTES)
        ending = "parquet" if asked.as_parquet else "csv"
        names = [f"{stem}.{ending}" for stem in _stems(parts)]
        _begin(out, model, parts, asked, options)
        todo = [
            (part, str((out / name).absolute()))
            for part, name in zip(parts, names, strict=True)
            if not (out / name).exists()
        ]
        if len(todo) < len(parts):
            say(f"note: {len(parts) - len(todo):,} of {len(parts):,} files were there already.")
        about = fitted, note, asked, options, str(model)
        done = _written(runner, todo, about)
    unknown = {name: 0 for each_ in done for name in each_.unknown}
    for each_ in done:
        for name, count in each_.unknown.items():
            unknown[name] += count
    if unknown:
        told = ", ".join(f"{name} in {count:,} rows" for name, count in unknown.items())
        say(f"note: {data} has categories that the model does not know: {told}.")
    n_rows = sum(each_.n_rows for each_ in done)
    show(
        {
            "predicted": f"{n_rows:,} rows",
            "written": f"{len(todo):,} files",
            "to": str(out),
        },
        {"rows": n_rows, "files": len(names), "written": len(todo), "unknown_categories": unknown}
        | {"out": out},
        as_json,
    )


def _check(fitted: Any, note: FileNote, model: Path, asked: Asked) -> None:
    """Raise before anything is read if the model cannot tell what is asked."""
    from .further_columns import further_columns
    from .links import known_rows

    if note.format == "libsvm" or known_rows(fitted) is not None:
        raise UsageError(
            f"--dask: {model} has learnt from LIBSVM rows, or from edges, and the files of a "
            "folder are tables without edges."
        )
    further_columns(fitted, note, asked.sets, asked.novelty, model) if asked[1:3] != (
        None,
        False,
    ) else None


def _written(runner: Runner, todo: Sequence[tuple[FilePart, str]], about: Any) -> list[Done]:
    return each(runner, "predict-rows", predict_part, todo, about) if todo else []


def _stems(parts: Sequence[FilePart]) -> list[str]:
    """Return a name for each part: that of its file, and its number if the file has several.

    Files of the same name in several folders are told apart by the folders.
    """
    root = os.path.commonpath([os.path.dirname(part.path) or "." for part in parts])
    several = {part.path for part in parts if part.number}
    found = []
    for part in parts:
        inside = os.path.relpath(part.path, root).replace(os.sep, "__")
        stem = inside.split(".")[0] if inside.split(".")[0] else inside
        found.append(f"{stem}-{part.number:05d}" if part.path in several else stem)
    twice = next((name for name in found if found.count(name) > 1), None)
    if twice is not None:
        raise DataFileError(
            f"Several files are called {twice} but for their endings; rename them, or name some "
            "of them by a pattern."
        )
    return found


def _begin(
    out: Path, model: Path, parts: Sequence[FilePart], asked: Asked, options: FileOptions
) -> None:
    """Make the folder, and note what it is made of; raise if it holds anything else."""
    about = [(part.path, part.start, part.stop, os.path.getsize(part.path)) for part in parts]
    digest = hashlib.sha256(json.dumps([about, asked, asdict(options)], default=str).encode())
    digest.update(hashlib.sha256(model.read_bytes()).digest())
    told = {"made_of": digest.hexdigest(), "model": str(model)}
    if out.exists() and not out.is_dir():
        raise UsageError(f"--out {out}: with --dask it is a folder, and this is a file.")
    out.mkdir(exist_ok=True)
    journal = out / JOURNAL
    if journal.exists():
        if json.loads(journal.read_text()).get("made_of") == told["made_of"]:
            return
        raise UsageError(
            f"--out {out}: it holds predictions of another model, of other files or with other "
            "options. Name another folder, or remove it."
        )
    if any(out.iterdir()):
        raise UsageError(f"--out {out}: the folder is not empty; name a new one.")
    with replacing(journal) as file:
        file.write(json.dumps(told).encode())


# ------------------------------------------------------------------ on a worker


def predict_part(todo: tuple[FilePart, str], about: Any) -> Done:
    """Write the predictions of the rows of a part, whole or not at all."""
    from .further_columns import further_columns

    (part, path), (fitted, note, asked, options, model) = todo, about
    further = []
    if asked.sets is not None or asked.novelty:
        further = further_columns(fitted, note, asked.sets, asked.novelty, Path(model))
    unknown = UnknownCategories(fitted, note.columns)
    kept = kept_columns(None, asked.keep, note)
    try:
        source = part.source()
        with open_known(part.path, options, note, labels=False, kept=kept, source=source) as table:
            names = [*table.kept_names, *header(fitted, note, asked.proba)]
            names += [name for each_ in further for name in each_.names]
            pieces = unknown.passing(table.pieces)
            found = predictions(fitted, note, pieces, asked.proba, Links(), further)
            with warnings.catch_warnings():  # the command's own filters do not reach a worker
                warnings.filterwarnings("ignore", "X does not have valid feature names")
                rows = list(chain.from_iterable(found))
            copied = list(table.kept) if table.kept_names else [()] * len(rows)
    except DataFileError as error:
        raise DataFileError(f"{error} (Lines are counted in {part.name}.)") from error
    whole = [[*cells, *row] for cells, row in zip(copied, rows, strict=True)]
    with replacing(path) as file:
        if asked.as_parquet:
            _write_parquet(file, names, whole, len(table.kept_names), note)
        else:
            text = io.TextIOWrapper(file, encoding="utf-8", newline="")
            csv.writer(text, lineterminator="\n").writerows([names, *whole])
            text.detach()
    return Done(len(whole), unknown.counts)


def _write_parquet(
    file: Any, names: Sequence[str], rows: Sequence[Sequence[Any]], n_kept: int, note: FileNote
) -> None:
    """Write rows as Parquet: labels that are numbers are numbers, and copied cells are texts."""
    import pyarrow as pa
    from pyarrow import parquet

    columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in names]
    if note.labels == "number" and names[n_kept] == "prediction" and not note.several:
        columns[n_kept] = [float(value) for value in columns[n_kept]]
    arrays = [pa.array(column) for column in columns]
    parquet.write_table(pa.Table.from_arrays(arrays, list(names)), file)
