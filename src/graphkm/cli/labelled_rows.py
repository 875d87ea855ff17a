"""All rows that the labelling page has shown, with the answers of its file of labels."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..formats import Annotations, AnnotationsError, Answer, Row, read_annotations
from ..formats.values import plain_text


def with_all_rows(
    labels: Annotations, source: Path, data: Path, encoding: str | None
) -> Annotations:
    """Return the rows of a file, with the labels of the page and the skips of its journal.

    Parameters
    ----------
    labels : Annotations
        The page's file of labels.
    source : Path
        Where it is; the journal lies beside it.
    data : Path
        The CSV file that the page has shown.
    encoding : str or None
        The encoding of that file.
    """
    shown = read_annotations(data, "csv", encoding=encoding).rows
    answers: dict[int, list[Answer]] = defaultdict(list)
    for place, row in _places(labels, shown, source, data):
        answers[place] += row.answers
    for place, answer in _passed_over(source):
        if place >= len(shown):
            raise AnnotationsError(f"{source}.journal is about other rows than those of {data}.")
        if all(one.who != answer.who for one in answers[place]):
            answers[place].append(answer)
    rows = [
        replace(row, id=str(k + 1), answers=tuple(answers[k]) or row.answers)
        for k, row in enumerate(shown)
    ]
    return replace(labels, rows=rows)


def _places(
    labels: Annotations, shown: list[Row], source: Path, data: Path
) -> Iterator[tuple[int, Row]]:
    """Yield the labelled rows with their places: by number, or else by their cells."""
    by_cells: dict[tuple[str, ...], list[int]] = defaultdict(list)
    names = labels.columns
    for place in reversed(range(len(shown))):
        by_cells[_key(shown[place], names)].append(place)
    for number, row in enumerate(labels.rows, 1):
        key = _key(row, names)
        if row.id is None and by_cells[key]:
            yield by_cells[key].pop(), row
            continue
        known = row.id is not None and row.id.isdecimal() and 0 < int(row.id) <= len(shown)
        place = int(str(row.id)) - 1 if known else -1
        if place < 0 or _key(shown[place], names) != key:
            raise AnnotationsError(
                f"row {row.id or number} of {source} is no row of {data}. Is it the file that was "
                "labelled?"
            )
        yield place, row


def _key(row: Row, names: list[str]) -> tuple[str, ...]:
    """Return the cells of a row as the page writes them: each in one line, without margins."""
    cells = (plain_text(row.cells.get(name)) for name in names)
    return tuple(" ".join(cell.strip().splitlines()) for cell in cells)


def _passed_over(source: Path) -> list[tuple[int, Answer]]:
    """Return the rows that people have skipped or could not tell, by the journal."""
    from ..app.journal_lines import read_line

    journal = source.with_name(source.name + ".journal")
    if not journal.exists():
        return []
    said: list[dict[str, Any]] = []
    for line in journal.read_bytes().split(b"\n")[1:]:
        try:
            entry = read_line(line, False) if line else None
        except (ValueError, json.JSONDecodeError) as error:
            raise AnnotationsError(f"{journal}: a line is damaged ({error}).") from error
        if not isinstance(entry, dict):
            continue
        if entry.get("kind") != "undo":
            said.append(entry)
            continue
        own = [k for k, e in enumerate(said) if e.get("annotator") == entry.get("annotator")]
        if own:
            del said[own[-1]]
    last: dict[tuple[int, str | None], Answer] = {}
    for entry in said:
        status = {"skip": "skipped", "unknown": "unknown"}.get(str(entry.get("kind")))
        key = int(entry["row"]), entry.get("annotator")
        last.pop(key, None)
        if status is not None:
            last[key] = Answer(None, key[1], status)  # type: ignore[arg-type]
    return [(row, answer) for (row, _), answer in last.items()]
