"""Lines of a table, as the labelling page writes them: the row, its label, and who gave it.

The k-th line of a row has its k-th answer and its k-th guess. Columns that no row needs are not
written. A table without a column for rows has one line for each row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..tables.naming import is_usual_label
from .names import (
    ANNOTATOR,
    MODEL,
    OURS,
    PREDICTION,
    ROW,
    SCORE,
    STATUS,
    Asked,
    check_columns,
    own_columns,
)
from .shape import (
    STATUSES,
    Annotations,
    AnnotationsError,
    Answer,
    Guess,
    Kind,
    Row,
    kind_of,
    numbered,
)
from .values import cell_of, kind_of_cells, number_of, plain_text, value_of


@dataclass(frozen=True)
class Lines:
    """A header, and the cells of each line."""

    header: list[str]
    lines: list[list[Any]]


def from_lines(table: Lines, asked: Asked) -> Annotations:
    """Return the rows of a table.

    Examples
    --------
    >>> header = ["text", "label", "annotator", "row"]
    >>> lines = [["Good.", "pos", "eva", "1"], ["Good.", "neg", "tom", "1"]]
    >>> [row] = from_lines(Lines(header, lines), Asked("labels.csv")).rows
    >>> row.cells, [answer.who for answer in row.answers]
    ({'text': 'Good.'}, ['eva', 'tom'])
    """
    header, name = table.header, asked.name
    twice = next((one for one in header if header.count(one) > 1), None)
    if twice is not None:
        raise AnnotationsError(f"{name}: two columns are called {twice!r}; rename one of them.")
    label = _label_place(header, asked)
    own = [] if label is None else own_columns(header, label)
    own = own if _are_statuses(table, own) else []
    question = "label" if label is None else header[label]
    apart = {question, *own} if label is not None else set()
    said = [dict(zip(header, line, strict=True)) for line in table.lines]
    kind = asked.kind or kind_of_cells(
        plain_text(line[column])
        for line in said
        for column in (question, PREDICTION)
        if column in apart
    )
    rows: dict[Any, Row] = {}
    for place, line in enumerate(said, 1):
        where = f"{name}, row {place}"
        cells = {column: cell for column, cell in line.items() if column not in apart}
        id = plain_text(line[ROW]) if ROW in own else None
        answers, guesses = _said(line, question if label is not None else None, own, kind, where)
        key: Any = (place,) if id is None else id
        before = rows.get(key)
        if before is not None and before.cells != cells:
            raise AnnotationsError(
                f"{where}: the row {id!r} stands in several lines, and their cells differ."
            )
        if before is not None:
            answers, guesses = (*before.answers, *answers), (*before.guesses, *guesses)
        rows[key] = Row(cells, id, answers, guesses)
    found = list(rows.values())
    return Annotations(found, question, kind_of(found, kind, name))


def _label_place(header: Sequence[str], asked: Asked) -> int | None:
    """Return the place of the label's column: the named one, or one that is called so."""
    if asked.question is not None:
        if asked.question not in header:
            raise AnnotationsError(
                f"{asked.name} has no column {asked.question!r}; its columns are "
                f"{', '.join(header)}."
            )
        return list(header).index(asked.question)
    usual = [place for place, name in enumerate(header) if is_usual_label(name)]
    return usual[0] if usual else None


def _are_statuses(table: Lines, own: Sequence[str]) -> bool:
    """Return whether a column called status is ours."""
    if STATUS not in own:
        return True
    place = table.header.index(STATUS)
    return all(plain_text(line[place]) in ("", *STATUSES) for line in table.lines)


def _said(
    line: dict[str, Any], question: str | None, own: Sequence[str], kind: Kind, where: str
) -> tuple[tuple[Answer, ...], tuple[Guess, ...]]:
    """Return the answer and the guess of a line, if it has them."""
    if question is None:
        return (), ()
    told = {name: plain_text(line[name]) for name in own}
    value = value_of(plain_text(line[question]), kind, where)
    status = told.get(STATUS) or "given"
    if value is not None and status != "given":
        raise AnnotationsError(f"{where}: it is {status}, and has a label; drop one of both.")
    who = told.get(ANNOTATOR) or None
    answers = (Answer(value, who, status),) if value is not None or status != "given" else ()  # type: ignore[arg-type]
    guess = value_of(told.get(PREDICTION, ""), kind, where)
    if guess is None:
        return answers, ()
    text = told.get(SCORE, "")
    score = number_of(text)
    if text and score is None:
        raise AnnotationsError(f"{where}: the score {text[:40]!r} is no number.")
    return answers, (Guess(guess, score, told.get(MODEL) or None),)


def to_lines(found: Annotations, *, by_row: bool = False) -> Lines:
    """Return the lines of a table. `by_row` leaves out all columns but those of rows and labels.

    Examples
    --------
    >>> row = Row({"text": "Good."}, "7", (Answer(("pos",), "eva"), Answer(None, "tom", "skipped")))
    >>> table = to_lines(Annotations([row]))
    >>> table.header
    ['text', 'label', 'annotator', 'row', 'status']
    >>> table.lines
    [['Good.', 'pos', 'eva', '7', ''], ['Good.', '', 'tom', '7', 'skipped']]
    """
    rows = found.rows if by_row else numbered(found.rows)
    columns = found.columns
    check_columns(columns, [found.question], "the table")
    own = [] if by_row else _needed(rows)
    check_columns(columns, own, "the table")
    lines = []
    for row in rows:
        cells = [row.cells.get(name) for name in columns]
        for k in range(1 if by_row else row.n_lines):
            told = _cells_of(row, k, found.kind)
            lines.append([*cells, told["label"], *(told[name] for name in own)])
    return Lines([*columns, found.question, *own], lines)


def _needed(rows: Sequence[Row]) -> list[str]:
    """Return which of our columns these rows need."""
    answers = [answer for row in rows for answer in row.answers]
    guesses = [guess for row in rows for guess in row.guesses]
    ids = any(row.id is not None for row in rows)
    needs = {
        ANNOTATOR: ids or any(answer.who is not None for answer in answers),
        ROW: ids,
        STATUS: any(answer.status != "given" for answer in answers),
        PREDICTION: bool(guesses),
        SCORE: any(guess.score is not None for guess in guesses),
        MODEL: any(guess.model is not None for guess in guesses),
    }
    return [name for name in OURS if needs[name]]


def _cells_of(row: Row, k: int, kind: Kind) -> dict[str, str]:
    """Return the cells of the k-th answer and the k-th guess."""
    answer = row.answers[k] if k < len(row.answers) else Answer(None)
    guess = row.guesses[k] if k < len(row.guesses) else None
    return {
        "label": cell_of(answer.value, kind),
        ANNOTATOR: answer.who or "",
        ROW: row.id or "",
        STATUS: "" if answer.status == "given" else answer.status,
        PREDICTION: "" if guess is None else cell_of(guess.value, kind),
        SCORE: "" if guess is None or guess.score is None else str(guess.score),
        MODEL: "" if guess is None else guess.model or "",
    }
