"""The classes of a labelling, and which of them a label means."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..io.kinds import NUMBER, label_word, number_text, values
from ..tables.preparing import overflowing_column

_LONGEST = 200  # letters of a label, at most


class AnswerError(ValueError):
    """An answer that cannot be kept; the message says why.

    Parameters
    ----------
    message : str
        Why, in English.
    code : str, default=""
        The page's own text for it, if it has one, with `values` in its gaps.
    """

    def __init__(self, message: str, code: str = "", **values: Any) -> None:
        super().__init__(message)
        self.code, self.values = code, values


class Classes:
    """The classes that are known, in the order in which they came.

    Parameters
    ----------
    names : sequence of str
        The classes at the start.
    fixed : bool
        Whether other classes are refused, unless a person says that one is new.

    Examples
    --------
    >>> known = Classes(["cat", "dog"])
    >>> known.meant(" Cat "), known.meant("bird"), known.names
    ('cat', 'bird', ['cat', 'dog'])
    """

    def __init__(self, names: Sequence[str] = (), *, fixed: bool = False) -> None:
        self.names, self.fixed = list(names), fixed

    def meant(self, label: str | None) -> str:
        """Return the label that a person means.

        Blanks around it do not count. A label that differs from a known class only in upper and
        lower case means that class. If both spellings are classes, each means itself.
        """
        text = _stripped(label)
        if text in self.names:
            return text
        for name in self.names:
            if _folded(name) == _folded(text):
                return name
        if label_word(text, None) is None:
            raise AnswerError(f"{text!r} marks rows without a label; name the class differently.")
        if len(text.splitlines()) > 1:
            raise AnswerError("a label has one line; leave line breaks out.")
        if any(unicodedata.category(letter) in ("Cc", "Cs") for letter in text):
            raise AnswerError(f"{text!r} has characters that are no text; leave them out.")
        if len(text) > _LONGEST:
            raise AnswerError(f"{len(text)} letters are too many; use at most {_LONGEST}.")
        self._refuse(text)
        return text

    def admit(self, label: str, *, new: bool = False) -> None:
        """Add the class of a label that is kept, as it is written; `new` ones are not refused."""
        if label not in self.names:
            if not new:
                self._refuse(label)
            self.names.append(label)

    def opened(self) -> Classes:
        """Return the same classes, beside which others are allowed.

        Examples
        --------
        >>> Classes(["cat", "dog"], fixed=True).opened().meant("bird")
        'bird'
        """
        return Classes(self.names)

    def doubts(self) -> list[str]:
        """Return a note for every two classes that may be meant as one.

        Examples
        --------
        >>> Classes(["cat", "dog", "Cat"]).doubts()
        ["The classes 'cat' and 'Cat' differ only in upper and lower case."]
        """
        first = {_folded(name): name for name in reversed(self.names)}
        twins = [(first[_folded(name)], name) for name in self.names]
        return [
            f"The classes {one!r} and {other!r} differ only in upper and lower case."
            for one, other in twins
            if one != other
        ]

    def _refuse(self, text: str) -> None:
        if self.fixed:
            names = ", ".join(self.names)
            raise AnswerError(
                f"{text!r} is not one of the classes {names}.", "not_a_class", name=text
            )


def quantity(label: str | None) -> str:
    """Return the quantity that a person means, as files have it.

    Examples
    --------
    >>> quantity(" 1.50 ")
    '1.5'
    """
    text = _stripped(label)
    found, wrong = values([text], NUMBER)
    if wrong or np.isnan(found[0]):
        raise AnswerError(wrong.get(0, f"{text!r} is not a number") + ".")
    if overflowing_column(found[:, None], ()) is not None:
        raise AnswerError(f"{text[:40]!r} is too large: its square overflows. Give a smaller one.")
    return number_text(found[0])


def _stripped(label: str | None) -> str:
    text = "" if label is None else label.strip()
    if not text:
        raise AnswerError("a label cannot be empty.", "empty_label")
    return text


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()
