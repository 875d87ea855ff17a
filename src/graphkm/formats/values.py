"""Labels and quantities as cells of a table, as `graphkm train` reads them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from typing import Any

from ..io.kinds import label_word
from ..tables.several_labels import NONE, joined_names, split_names
from .shape import AnnotationsError, Kind, Value

SEPARATOR = ";"
"""What stands between names of several labels, as on the labelling page."""

_WHOLE = re.compile(r"-?(0|[1-9]\d*)")


def kind_of_cells(cells: Iterable[str]) -> Kind:
    """Return the kind of labels that cells look like: fractions are quantities.

    Examples
    --------
    >>> kind_of_cells(["a;b", ""]), kind_of_cells(["1", "2"]), kind_of_cells(["1", "2.5"])
    ('several', 'class', 'quantity')
    """
    found = (label_word(cell.strip(), None) for cell in cells)
    words = [word for word in found if word is not None]
    if any(SEPARATOR in word or word == NONE for word in words):
        return "several"
    numbers = [number_of(word) for word in words]
    whole = all(number is not None for number in numbers)
    return "quantity" if whole and any(isinstance(n, float) for n in numbers) else "class"


def value_of(cell: str, kind: Kind, where: str) -> Value | None:
    """Return what a cell of labels says; None if it is empty.

    Examples
    --------
    >>> value_of("a; b", "several", ""), value_of("a; b", "class", ""), value_of("NA", "class", "")
    (('a', 'b'), ('a; b',), None)
    """
    word = label_word(cell.strip(), None)
    if word is None:
        return None
    if kind == "several":
        return tuple(dict.fromkeys(split_names(word, SEPARATOR) or ()))
    if kind == "class":
        return (word,)
    number = number_of(word)
    if number is None:
        raise AnnotationsError(f"{where}: the label {word[:40]!r} is no number.")
    return number


def number_of(word: str) -> int | float | None:
    """Return a finite number; None if a text is none.

    Examples
    --------
    >>> number_of("12"), number_of("1.50"), number_of("inf"), number_of("a")
    (12, 1.5, None, None)
    """
    if _WHOLE.fullmatch(word):
        return int(word)
    try:
        number = float(word)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def cell_of(value: Value | None, kind: Kind) -> str:
    """Return the cell of a value; raise if it would read as something else.

    Examples
    --------
    >>> cell_of(("a", "b"), "several"), cell_of((), "several"), cell_of(2.5, "quantity")
    ('a;b', '-', '2.5')
    """
    if value is None:
        return ""
    if not isinstance(value, tuple):
        return str(value)
    for name in value:
        _check_name(name)
    return joined_names(value, SEPARATOR)


def _check_name(name: str) -> None:
    """Raise if a class has a name that a cell cannot hold."""
    why = None
    if name != name.strip():
        why = "begins or ends with a space"
    elif label_word(name, None) is None:
        why = "marks rows without a label"
    elif name == NONE:
        why = "marks rows that have none of the labels"
    elif SEPARATOR in name:
        why = f"has the sign {SEPARATOR} that stands between the names of several labels"
    if why is not None:
        raise AnnotationsError(
            f"the class {name!r} {why} in a table, so it cannot be written there. Rename it with "
            "--rename OLD=NEW."
        )


def plain_text(cell: Any) -> str:
    """Return a value of JSON as the text of a cell.

    Examples
    --------
    >>> plain_text("a"), plain_text(None), plain_text(True), plain_text(1.5), plain_text(["é"])
    ('a', '', 'true', '1.5', '["é"]')
    """
    if isinstance(cell, str):
        return cell
    return "" if cell is None else json.dumps(cell, ensure_ascii=False)
