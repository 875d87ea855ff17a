"""Tables for people: who is reliable, and which rows need another answer."""

from __future__ import annotations

from typing import Any, NamedTuple

_SHOWN = 20  # lines that are printed


class AnnotatorReport(NamedTuple):
    """One line of the table."""

    name: Any
    answers: int
    """How many answers they gave."""
    reliability: float
    """The probability that an answer is right."""
    error: float
    """The standard error of the reliability."""
    agreement: float
    """The share of pairs with answers of others to the same row that are the same; NaN of none."""


class AnnotatorTable(list[AnnotatorReport]):
    """The annotators, the most reliable first; it prints as a table.

    Examples
    --------
    >>> AnnotatorTable([AnnotatorReport("eva", 40, 0.91, 0.03, 0.8)])
    annotator  answers  reliability  +- error  agreement
    eva             40        0.910     0.030      0.800
    """

    def __repr__(self) -> str:
        """Return the table; of many annotators the first ones."""
        width = max([9, *(len(str(each.name)) for each in self[:_SHOWN])])
        lines = [f"{'annotator':<{width}}  answers  reliability  +- error  agreement"]
        for each in self[:_SHOWN]:
            with_others = "" if each.agreement != each.agreement else f"{each.agreement:.3f}"
            line = f"{each.name!s:<{width}}  {each.answers:7d}  {each.reliability:11.3f}  "
            lines.append((line + f"{each.error:8.3f}  {with_others:>9}").rstrip())
        return "\n".join(lines + _rest(len(self)))


class Question(NamedTuple):
    """A row that needs another answer."""

    row: Any
    annotator: Any
    """Whose answer would tell most."""
    gain: float
    """What the answer tells about the row's class, in bits."""
    answer: Any
    """The likeliest class so far."""
    share: float
    """Its share."""


class QuestionTable(list[Question]):
    """Rows that need another answer, the most useful first; it prints as a table.

    Examples
    --------
    >>> QuestionTable([Question(17, "eva", 0.62, "cat", 0.55)])
    row  ask  gain in bits  likeliest
    17   eva         0.620  cat 0.550
    """

    def __repr__(self) -> str:
        """Return the table; of many questions the first ones."""
        wide = max([3, *(len(str(each.row)) for each in self[:_SHOWN])])
        names = max([3, *(len(str(each.annotator)) for each in self[:_SHOWN])])
        lines = [f"{'row':<{wide}}  {'ask':<{names}}  gain in bits  likeliest"]
        for each in self[:_SHOWN]:
            line = f"{each.row!s:<{wide}}  {each.annotator!s:<{names}}  {each.gain:12.3f}"
            lines.append(f"{line}  {each.answer} {each.share:.3f}")
        return "\n".join(lines + _rest(len(self)))


def _rest(n: int) -> list[str]:
    """Return the line that says how many lines are not printed."""
    return [f"... and {n - _SHOWN:,} further lines"] if n > _SHOWN else []
