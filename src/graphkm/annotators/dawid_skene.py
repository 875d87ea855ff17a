"""Answers alone: `DawidSkene`, and what it shares with the classifier."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .agreement import Agreement, agreement_of, agreement_with_others
from .answers import COLUMNS, Answers, read_answers
from .asking import questions
from .posterior import Posterior, posterior
from .report import AnnotatorReport, AnnotatorTable, QuestionTable


class Answered(BaseEstimator):
    """What is known of rows and of annotators after a fit."""

    answers_: Answers
    posterior_: Posterior

    def _keep(self, answers: Answers, found: Posterior) -> None:
        """Keep what a fit has found."""
        self.answers_, self.posterior_ = answers, found
        self.classes_, self.rows_ = answers.classes, answers.rows
        self.annotators_ = answers.annotators
        self.shares_, self.confusion_ = found.shares, found.matrices.confusion
        self.weights_, self.power_ = found.weights, found.power
        right, agreed = found.matrices.right, agreement_with_others(answers)
        self.reliability_ = AnnotatorTable(
            AnnotatorReport(
                answers.annotators[place : place + 1].tolist()[0],
                int(answers.per_annotator[place]),
                float(right[place]),
                float(found.errors[place]),
                float(agreed[place]),
            )
            for place in np.argsort(-right, kind="stable").tolist()
        )

    def agreement(self) -> Agreement:
        """Return how often annotators agree, as `graphkm.annotators.agreement` does."""
        check_is_fitted(self, "posterior_")
        return agreement_of(self.answers_)

    def ask_again(self, n: int = 10, annotator: Any = None) -> QuestionTable:
        """Return the rows for which another answer would tell most.

        Parameters
        ----------
        n : int, default=10
            How many rows; fewer come back if fewer can be asked.
        annotator : optional
            Who will answer: only rows that they have not answered. A new person is taken for the
            mean annotator. None: each line names who would tell most about its row.

        Returns
        -------
        QuestionTable
        """
        check_is_fitted(self, "posterior_")
        return questions(self.answers_, self.posterior_, n, annotator)


class DawidSkene(Answered):
    """Turns answers of several people into shares of classes, and says who is reliable.

    Every annotator has a matrix: how often they answer what, by the true class. Rows have a class
    that nobody sees. Both are found by expectation maximisation (Dawid and Skene, 1979). Somebody
    with few answers is drawn towards the mean annotator. Who answers at random counts for nothing,
    and who is wrong more often than not counts in reverse.

    Parameters
    ----------
    columns : tuple of three str, default=("row", "annotator", "answer")
        The names of the columns of a frame of answers, in this order.

    Attributes
    ----------
    reliability_ : AnnotatorTable
        For each annotator the number of answers, the probability that an answer is right, its
        standard error, and the agreement with others; it prints as a table.
    confusion_ : ndarray of shape (n_annotators, n_classes, n_classes)
        The probability of each answer (last axis) to rows of each class, in the order of
        `annotators_`.
    shares_ : ndarray of shape (n_rows, n_classes)
        The probability of every class of every row with answers, in the order of `rows_`.
    weights_ : ndarray of shape (n_rows,)
        What the answers tell about every row, from 0 (nothing) to 1 (all), whatever the prior.
    rows_, annotators_, classes_ : ndarray
        The rows with answers, who answered and what was answered, sorted.
    power_ : float
        The power of `prior` under which the answers are likeliest; 1 without one.

    Examples
    --------
    >>> import numpy as np
    >>> from graphkm.annotators import DawidSkene
    >>> rng = np.random.default_rng(0)
    >>> truth, right = rng.integers(3, size=500), np.array([0.95, 0.8, 0.6])
    >>> rows, who = np.repeat(np.arange(500), 3), np.tile([0, 1, 2], 500)
    >>> wrong = rng.random(1500) > right[who]
    >>> said = (truth[rows] + wrong * rng.integers(1, 3, 1500)) % 3
    >>> model = DawidSkene().fit((rows, who, said))
    >>> model.reliability_
    annotator  answers  reliability  +- error  agreement
    0              500        0.958     0.018      0.687
    1              500        0.816     0.019      0.653
    2              500        0.603     0.023      0.552
    """

    def __init__(self, *, columns: tuple[str, str, str] = COLUMNS) -> None:
        self.columns = columns

    def fit(self, answers: Any, prior: ArrayLike | None = None) -> Self:
        """Learn from answers.

        Parameters
        ----------
        answers : frame, mapping, or tuple of three arrays
            One line for each answer: row, annotator, answer. All lines count.
        prior : array-like of shape (n_rows, n_classes), optional
            Probabilities of the classes, from a model that did not see the answers to the row:
            rows sorted, classes sorted. They take the place of the sizes of the classes, and
            count with the power under which all answers are likeliest.

        Returns
        -------
        self
        """
        read = read_answers(answers, self.columns)
        self._keep(read, posterior(read, None if prior is None else checked_prior(prior, read)))
        return self

    def predict(self) -> NDArray[Any]:
        """Return the likeliest class of every row of `rows_`."""
        check_is_fitted(self, "posterior_")
        return np.asarray(self.classes_[self.shares_.argmax(axis=1)])


def checked_prior(prior: ArrayLike, answers: Answers) -> NDArray[np.float64]:
    """Return probabilities of the rows with answers; raise if they are none."""
    found, shape = np.asarray(prior, np.float64), (len(answers.rows), len(answers.classes))
    if found.shape != shape:
        raise ValueError(
            f"prior has the shape {found.shape}, but {shape[0]:,} rows have answers, of "
            f"{shape[1]} classes; pass one line for each row with answers, rows and classes sorted."
        )
    sums = found.sum(axis=1)
    if not (np.isfinite(found).all() and (found >= 0).all() and (sums > 0).all()):
        raise ValueError("prior holds probabilities: no NaN, nothing below 0, no line of zeros.")
    return np.asarray(found / sums[:, None])
