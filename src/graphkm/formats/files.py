"""Files of annotations, and which format they have."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from .._util.files import replacing
from ..io.bad_rows import BadRows
from ..io.encodings import TextEncoding
from ..io.files import open_source, source_name
from .argilla import is_flat, read_records, write_records
from .coco import read_coco, write_coco
from .csv_text import read_csv, write_csv
from .json_min import read_json_min, write_json_min
from .label_studio import read_tasks, write_tasks
from .names import Asked
from .prodigy import read_examples, write_examples
from .shape import Annotations, AnnotationsError, Kind
from .tables import Lines, from_lines, to_lines
from .values import plain_text

Text = tuple[str, tuple[str, ...]]  # of a file, and notes


@dataclass(frozen=True)
class Format:
    """How a format is read, from JSON or lines, and written."""

    read: Callable[[Any, Asked], Annotations]
    write: Callable[[Annotations], Text]


def _read_objects(objects: Any, asked: Asked) -> Annotations:
    header = list(dict.fromkeys(name for each in objects for name in each))
    return from_lines(Lines(header, [[each.get(c) for c in header] for each in objects]), asked)


def _write_csv(found: Annotations) -> Text:
    return write_csv(to_lines(found)), ()


def _write_objects(found: Annotations) -> Text:
    table = to_lines(found)
    n = len(found.columns)
    lines = [[*line[:n], *map(plain_text, line[n:])] for line in table.lines]
    told = [dict(zip(table.header, line, strict=True)) for line in lines]
    return "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in told), ()


def _argilla_lines(found: Annotations) -> Text:
    return write_records(found, lines=True)


_BY_NAME = {
    "csv": Format(from_lines, _write_csv),
    "jsonl": Format(_read_objects, _write_objects),
    "label-studio": Format(read_tasks, write_tasks),
    "label-studio-min": Format(read_json_min, write_json_min),
    "argilla": Format(read_records, write_records),
    "argilla-jsonl": Format(read_records, _argilla_lines),
    "prodigy": Format(read_examples, write_examples),
    "coco": Format(read_coco, write_coco),
}
FORMATS = tuple(_BY_NAME)
"""The names of all formats."""


def read_annotations(
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    question: str | None = None,
    kind: Kind | None = None,
    encoding: str | None = None,
) -> Annotations:
    r"""Return the rows, answers and guesses of a file.

    Parameters
    ----------
    path : path
        The file, compressed or not; "-" is standard input.
    format : str, optional
        One of ``FORMATS``. Default: what the text looks like.
    question : str, optional
        The column of labels, or the question. Default: the only one there is; in tables the column
        called label.
    kind : {"class", "several", "quantity"}, optional
        What answers are. Default: what they look like.
    encoding : str, optional
        The encoding of CSV. Default: judged, as everywhere; JSON is UTF-8.

    Returns
    -------
    Annotations

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("mood.csv").write_text("text,label,annotator,row\nFine.,good,eva,1\n")
    >>> read_annotations("mood.csv").rows[0].answers
    (Answer(value=('good',), who='eva', status='given'),)
    """
    name = source_name(os.fspath(path))
    if format is not None and format not in _BY_NAME:
        raise ValueError(f"format={format!r}: it must be one of {', '.join(FORMATS)}.")
    text = _text_of(os.fspath(path), encoding)
    if not text.strip():
        raise AnnotationsError(f"{name} is empty.")
    asked = Asked(name, question, kind)
    if format == "csv" or (format is None and not text.lstrip().startswith(("[", "{"))):
        found = from_lines(read_csv(text, name), asked)
    else:
        found = _read_json(_parsed(text, name), format, asked)
    if not found.rows:
        raise AnnotationsError(f"{name} holds no rows.")
    return found


def _read_json(parsed: Any, format: str | None, asked: Asked) -> Annotations:
    format = format or _format_of(parsed, asked.name)
    if isinstance(parsed, dict) and format != "coco":
        parsed = [parsed]
    try:
        return _BY_NAME[format].read(parsed, asked)
    except AnnotationsError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise AnnotationsError(
            f"{asked.name}: a part of it is not what {format} has there ({error}). Name another "
            "format with --from."
        ) from error


def _text_of(path: str, encoding: str | None) -> str:
    taken = TextEncoding(encoding)
    with open_source(path) as opened:
        blocks = [b"".join(taken.chunks(opened, 1 << 20))]
        bad = BadRows(opened.name)
        text = b"".join(taken.as_utf8(iter(blocks), bad)).decode("utf-8")
        taken.report(opened.name)
    return text


def _parsed(text: str, name: str) -> Any:
    """Return JSON: one value, or a list of the values that stand in lines."""
    try:
        return json.loads(text)
    except ValueError as error:
        first = str(error)
    found = []
    for place, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                found.append(json.loads(line))
            except ValueError as error:
                told = first if not found else f"line {place}: {error}"
                raise AnnotationsError(f"{name} is no JSON ({told}).") from None
    return found


def _format_of(parsed: Any, name: str) -> str:
    """Return the format that JSON looks like."""
    if isinstance(parsed, dict) and {"images", "categories"} <= set(parsed):
        return "coco"
    objects = parsed if isinstance(parsed, list) else [parsed]
    if not objects or not all(isinstance(each, dict) for each in objects):
        raise AnnotationsError(f"{name}: it is no list of objects. Name its format with --from.")
    names = {name for each in objects for name in each}
    if isinstance(objects[0].get("data"), dict):
        return "label-studio"
    if isinstance(objects[0].get("fields"), dict) or is_flat(objects[0]):
        return "argilla"
    if names & {"_input_hash", "_task_hash", "_view_id", "answer", "accept"}:
        return "prodigy"
    if {"annotation_id", "id"} <= names or "lead_time" in names:
        return "label-studio-min"
    if all(not isinstance(value, dict | list) for each in objects for value in each.values()):
        return "jsonl"
    raise AnnotationsError(
        f"{name}: its format is not known. Name it with --from: {', '.join(FORMATS)}."
    )


def format_of_output(path: str) -> str | None:
    """Return the format that the name of a file tells for sure; None if it tells none.

    Examples
    --------
    >>> format_of_output("labels.csv"), format_of_output("tasks.json")
    ('csv', None)
    """
    return "csv" if path.lower().endswith(".csv") else None


def write_annotations(
    found: Annotations, path: str | os.PathLike[str], format: str, *, keep_previous: bool = False
) -> tuple[str, ...]:
    """Write rows to a file, whole or not at all.

    Parameters
    ----------
    found : Annotations
    path : path
    format : str
        One of ``FORMATS``.
    keep_previous : bool, default=False
        Whether a file that is there stays as PATH.previous.

    Returns
    -------
    tuple of str
        Notes: what the format has no place for.

    Examples
    --------
    >>> from graphkm.formats import Annotations, Answer, Row
    >>> rows = [Row({"text": "Fine."}, answers=(Answer(("good",), "eva"),))]
    >>> write_annotations(Annotations(rows), "tasks.json", "label-studio")
    ()
    >>> read_annotations("tasks.json").rows == rows
    True
    """
    if format not in _BY_NAME:
        raise ValueError(f"format={format!r}: it must be one of {', '.join(FORMATS)}.")
    text, notes = _BY_NAME[format].write(found)
    data = text.encode("utf-8")
    with replacing(path, keep_previous=keep_previous) as file:
        file.write(data)
    return notes


def renamed(found: Annotations, names: dict[str, str], drop: tuple[str, ...]) -> Annotations:
    """Return rows with columns and classes that are renamed, and without some columns.

    Examples
    --------
    >>> from graphkm.formats import Answer, Row
    >>> found = Annotations([Row({"x": "1", "y": "2"}, answers=(Answer(("NA",)),))])
    >>> renamed(found, {"NA": "none", "x": "z"}, ("y",)).rows[0].cells
    {'z': '1'}
    """
    known = {*found.columns, *found.classes}
    strange = [name for name in (*names, *drop) if name not in known]
    if strange:
        raise AnnotationsError(f"no column and no class is called {strange[0]!r}.")

    def value(old: Any) -> Any:
        return tuple(names.get(name, name) for name in old) if isinstance(old, tuple) else old

    rows = [
        replace(
            row,
            cells={names.get(c, c): cell for c, cell in row.cells.items() if c not in drop},
            answers=tuple(replace(a, value=value(a.value)) for a in row.answers),
            guesses=tuple(replace(g, value=value(g.value)) for g in row.guesses),
        )
        for row in found.rows
    ]
    return replace(found, rows=rows)
