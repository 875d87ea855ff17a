"""Rows, what people answered and what models guessed: the one shape behind all formats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ..io import DataFileError

Value = tuple[str, ...] | int | float
"""Names of classes, one or several or none; or a quantity."""

Kind = Literal["class", "several", "quantity"]
Status = Literal["given", "skipped", "unknown"]
STATUSES: tuple[Status, ...] = ("given", "skipped", "unknown")


class AnnotationsError(DataFileError):
    """A file of annotations is not what it should be, or a format cannot carry them."""


@dataclass(frozen=True)
class Answer:
    """What a person answered.

    Parameters
    ----------
    value : tuple of str, int, float or None
        The classes that the person named, or a quantity; None if there is no answer.
    who : str or None
        The person; None without a name.
    status : {"given", "skipped", "unknown"}
        "skipped" rows were passed over, and of "unknown" ones the person could not tell.
    """

    value: Value | None
    who: str | None = None
    status: Status = "given"


@dataclass(frozen=True)
class Guess:
    """What a model says of a row.

    Parameters
    ----------
    value : tuple of str, int or float
        The classes, or a quantity.
    score : float or None
        How sure the model is, from 0 to 1.
    model : str or None
        Its name and version.
    """

    value: Value
    score: float | None = None
    model: str | None = None


@dataclass(frozen=True)
class Row:
    """A row with all that is said of it.

    Parameters
    ----------
    cells : dict
        The row: texts, or whatever JSON holds, by the names of the columns.
    id : str or None
        What the row is called.
    answers : tuple of Answer
    guesses : tuple of Guess
    """

    cells: dict[str, Any]
    id: str | None = None
    answers: tuple[Answer, ...] = ()
    guesses: tuple[Guess, ...] = ()

    @property
    def n_lines(self) -> int:
        """How many lines of a table it takes: its k-th answer and k-th guess share one."""
        return max(1, len(self.answers), len(self.guesses))


@dataclass(frozen=True)
class Annotations:
    """Rows with answers and guesses, all to one question.

    Parameters
    ----------
    rows : list of Row
    question : str, default="label"
        What the column of labels, or the question, is called.
    kind : {"class", "several", "quantity"}, default="class"
        Whether rows have one class, several labels, or a quantity.
    notes : tuple of str
        What the file held besides, and was not taken.

    Examples
    --------
    >>> row = Row({"text": "Good."}, answers=(Answer(("pos",), "eva"), Answer(("neg",), "tom")))
    >>> Annotations([row]).classes
    ('neg', 'pos')
    """

    rows: list[Row]
    question: str = "label"
    kind: Kind = "class"
    notes: tuple[str, ...] = field(default=(), compare=False)

    @property
    def classes(self) -> tuple[str, ...]:
        """All names of classes, sorted."""
        values = values_of(self.rows)
        return tuple(sorted({name for v in values if isinstance(v, tuple) for name in v}))

    @property
    def columns(self) -> list[str]:
        """The names of all columns, in the order in which they come."""
        return list(dict.fromkeys(name for row in self.rows for name in row.cells))


def values_of(rows: Iterable[Row]) -> list[Value]:
    """Return all values that are answered or guessed."""
    found: list[Value] = []
    for row in rows:
        found += [answer.value for answer in row.answers if answer.value is not None]
        found += [guess.value for guess in row.guesses]
    return found


def kind_of(rows: Sequence[Row], asked: Kind | None, name: str) -> Kind:
    """Return the kind of answers: the one that is asked for, or what they look like.

    Examples
    --------
    >>> kind_of([Row({}, answers=(Answer(("a", "b")),))], None, "a.json")
    'several'
    """
    values = values_of(rows)
    numbers = [value for value in values if not isinstance(value, tuple)]
    if numbers and len(numbers) < len(values):
        raise AnnotationsError(
            f"{name}: some answers are numbers, like {numbers[0]:g}, and some are names of "
            "classes. Name one question."
        )
    several = any(isinstance(value, tuple) and len(value) != 1 for value in values)
    found: Kind = "quantity" if numbers else "several" if several else "class"
    if asked in (None, found) or (asked == "several" and found == "class") or not values:
        return asked or found
    looks = {"quantity": "quantities", "several": "several labels per row", "class": "classes"}
    raise AnnotationsError(f"{name}: its answers are {looks[found]}, and not {looks[str(asked)]}.")


def numbered(rows: Sequence[Row]) -> list[Row]:
    """Return rows that all have an id, if one has or if one takes several lines.

    A row without an id is called by its place, counted from 1.

    Examples
    --------
    >>> [row.id for row in numbered([Row({}), Row({}, id="x")])]
    ['1', 'x']
    """
    if all(row.id is None and row.n_lines == 1 for row in rows):
        return list(rows)
    taken = {row.id for row in rows}
    found = []
    for place, row in enumerate(rows, 1):
        name = str(place)
        while row.id is None and name in taken:
            name += "_"
        taken.add(name)
        found.append(row if row.id is not None else replace(row, id=name))
    return found


def majority(row: Row) -> Value | None:
    """Return the answer that most people gave to a row; None if there is no such answer.

    Examples
    --------
    >>> cat, dog = Answer(("cat",), "eva"), Answer(("dog",), "tom")
    >>> majority(Row({}, answers=(cat, dog, cat))), majority(Row({}, answers=(cat, dog)))
    (('cat',), None)
    """
    votes = Counter(answer.value for answer in row.answers if answer.value is not None)
    first = votes.most_common(2)
    if not first or (len(first) == 2 and first[0][1] == first[1][1]):
        return None
    return first[0][0]
