"""Options of readers and writers, and columns that tools add to a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .shape import AnnotationsError, Kind

ANNOTATOR, ROW, STATUS = "annotator", "row", "status"
PREDICTION, SCORE, MODEL = "prediction", "score", "model"
OURS = (ANNOTATOR, ROW, STATUS, PREDICTION, SCORE, MODEL)
"""Columns that may follow the label, in this order."""


@dataclass(frozen=True)
class Asked:
    """What a person says about a file.

    Parameters
    ----------
    name : str
        The file's name in messages.
    question : str or None
        The question, or the column of labels; None: the only one there is.
    kind : {"class", "several", "quantity"} or None
        What answers are; None: what they look like.
    """

    name: str
    question: str | None = None
    kind: Kind | None = None

    def one_of(self, found: Sequence[str]) -> str:
        """Return the question among those that a file has.

        Examples
        --------
        >>> Asked("a.json").one_of(["mood"]), Asked("a.json").one_of([])
        ('mood', 'label')
        """
        names = list(dict.fromkeys(found))
        if self.question is not None:
            if names and self.question not in names:
                raise AnnotationsError(
                    f"{self.name} has no question called {self.question!r}; it has "
                    f"{', '.join(map(repr, names))}."
                )
            return self.question
        if len(names) > 1:
            raise AnnotationsError(
                f"{self.name} has several questions: {', '.join(map(repr, names))}. Name one of "
                "them with --question."
            )
        return names[0] if names else "label"


def own_columns(header: Sequence[str], label: int) -> list[str]:
    """Return the columns after the label if all of them are ours; none if they are cells of rows.

    Examples
    --------
    >>> own_columns(["text", "label", "annotator", "row"], 1), own_columns(["label", "row"], 0)
    (['annotator', 'row'], [])
    """
    tail = list(header[label + 1 :])
    ordered = [name for name in OURS if name in tail]
    pairs = ((ROW, ANNOTATOR), (SCORE, PREDICTION), (MODEL, PREDICTION))
    whole = all(first in tail for name, first in pairs if name in tail)
    return tail if tail == ordered and whole else []


def check_columns(columns: Sequence[str], taken: Sequence[str], format: str) -> None:
    """Raise if a column of the rows has a name that a format needs itself."""
    both = [name for name in columns if name in taken]
    if both:
        raise AnnotationsError(
            f"the rows have a column called {both[0]!r}, and {format} needs this name itself. "
            f"Leave it out with --drop {both[0]}, or rename it with --rename {both[0]}=NEW."
        )
