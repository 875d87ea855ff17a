"""How often annotators agree, as it is, and beyond chance.

Rows have different numbers of answers, by different people. Cohen's kappa compares two people, and
Fleiss' kappa needs as many answers for every row. Krippendorff's alpha needs neither: it is 1 minus
the disagreement that is seen, divided by the disagreement of answers that are dealt to the rows at
random. So it is 1 if all agree, and about 0 if answers have nothing to do with the rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .answers import COLUMNS, Answers, read_answers

Array = NDArray[np.float64]


class Pair(NamedTuple):
    """Two annotators, and how often they agree."""

    one: Any
    other: Any
    rows: int
    """Pairs of answers to the same row, one of each."""
    agreement: float
    """The share of them that are the same."""


class Agreement(NamedTuple):
    """How often annotators agree; it prints as a table."""

    alpha: float
    """Krippendorff's alpha for names; NaN if no row has two answers."""
    raw: float
    """The share of pairs of answers of two people to one row that are the same."""
    pairs: list[Pair]
    """Every two annotators who answered the same rows, those with most rows first."""

    def __repr__(self) -> str:
        """Return the table; of many pairs the first ten."""
        width = max([11, *(len(f"{one}, {other}") for one, other, *_ in self.pairs[:10])])
        lines = [
            f"agreement {self.raw:.3f}, Krippendorff's alpha {self.alpha:.3f}",
            f"{'two of them':<{width}}   rows  agreement",
        ]
        for one, other, rows, share in self.pairs[:10]:
            lines.append(f"{f'{one}, {other}':<{width}}  {rows:5d}  {share:9.3f}")
        if len(self.pairs) > 10:
            lines.append(f"... and {len(self.pairs) - 10:,} further pairs")
        return "\n".join(lines)


def agreement(answers: Any, *, columns: tuple[str, str, str] = COLUMNS) -> Agreement:
    """Return how often annotators agree.

    Parameters
    ----------
    answers : frame, mapping, or tuple of three arrays
        One line for each answer: row, annotator, answer.
    columns : tuple of three str, default=("row", "annotator", "answer")
        The names of the columns of a frame, in this order.

    Returns
    -------
    Agreement

    Examples
    --------
    >>> rows, who = [1, 1, 2, 2, 3, 3, 4], ["eva", "tom"] * 3 + ["eva"]
    >>> agreement((rows, who, ["cat", "cat", "dog", "dog", "cat", "dog", "cat"]))
    agreement 0.667, Krippendorff's alpha 0.444
    two of them   rows  agreement
    eva, tom         3      0.667
    """
    return agreement_of(read_answers(answers, columns))


def agreement_of(answers: Answers) -> Agreement:
    """Return the agreement of answers that have been read."""
    same, both = _pairs(answers)
    upper = sparse.triu(both, k=1).tocoo()
    one, other = upper.coords
    shared = np.asarray(same[one, other]).ravel() if len(one) else np.empty(0)
    names = answers.annotators.tolist()
    order = np.lexsort((other, one, -upper.data))
    pairs = [
        Pair(names[one[i]], names[other[i]], int(upper.data[i]), float(shared[i] / upper.data[i]))
        for i in order.tolist()
    ]
    raw = float(shared.sum() / upper.data.sum()) if len(shared) else np.nan
    return Agreement(krippendorff_alpha(answers.votes), raw, pairs)


def agreement_with_others(answers: Answers) -> Array:
    """Return the share of each annotator's pairs with others that are the same; NaN of none."""
    same, both = (each - sparse.diags_array(each.diagonal()) for each in _pairs(answers))
    hits, tries = same.sum(axis=1), both.sum(axis=1)
    return np.divide(hits, tries, out=np.full(len(tries), np.nan), where=tries > 0)


def _pairs(answers: Answers) -> tuple[Any, Any]:
    """Return how many pairs of answers two annotators share, those that are the same and all."""
    k = len(answers.classes)
    cells = answers.row * k + answers.answer
    ones = np.ones(len(cells))
    shape = len(answers.rows) * k, len(answers.annotators)
    by_answer = sparse.csr_array((ones, (cells, answers.annotator)), shape=shape)
    return sparse.csr_array(by_answer.T @ by_answer), answers.seen.T @ answers.seen


def krippendorff_alpha(votes: Array) -> float:
    """Return Krippendorff's alpha for names.

    Parameters
    ----------
    votes : ndarray of shape (n_rows, n_classes)
        How often each row got each answer. Rows with one answer do not count. Two answers of one
        person to a row count like those of two.

    Examples
    --------
    >>> krippendorff_alpha(np.array([[2.0, 0.0], [0.0, 2.0], [2.0, 0.0]]))
    1.0
    """
    told = votes.sum(axis=1)
    votes, told = votes[told > 1], told[told > 1]
    totals, n = votes.sum(axis=0), told.sum()
    expected = n**2 - (totals**2).sum()
    if not expected:  # no row has two answers, or all of them are the same
        return 1.0 if n else np.nan
    seen = ((told**2 - (votes**2).sum(axis=1)) / (told - 1)).sum()
    return float(1.0 - (n - 1) * seen / expected)
