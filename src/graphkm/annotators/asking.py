"""Which rows need another answer, and whose.

What an answer of annotator j would tell about the class z of a row is their mutual information,

    I = H(answer) - sum_t s[t] H(answer | z = t) ,

with the shares s of the row and the annotator's matrix. It is large where the shares are undecided,
or where the answers contradict the model; and small where the annotator guesses.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from .._util.parameters import check_count
from .answers import Answers
from .matrices import pattern_of
from .posterior import Posterior
from .report import Question, QuestionTable

Array = NDArray[np.float64]


def information(shares: Array, confusion: Array) -> Array:
    """Return what an answer tells about the class of each row, in bits.

    Parameters
    ----------
    shares : ndarray of shape (n_rows, n_classes)
        What is known of the rows.
    confusion : ndarray of shape (..., n_classes, n_classes)
        The matrix of an annotator, or several of them.

    Returns
    -------
    ndarray of shape (..., n_rows)

    Examples
    --------
    >>> undecided, known = [0.5, 0.5], [1.0, 0.0]
    >>> information(np.array([undecided, known]), np.eye(2))
    array([1., 0.])
    """
    told = entr(shares @ confusion).sum(axis=-1)
    noise = np.einsum("it,...t->...i", shares, entr(confusion).sum(axis=-1))
    return np.asarray(np.maximum(told - noise, 0.0) / np.log(2.0))


def questions(answers: Answers, found: Posterior, n: int, annotator: Any = None) -> QuestionTable:
    """Return the rows for which another answer tells most.

    Parameters
    ----------
    answers : Answers
    found : Posterior
        What is known after these answers.
    n : int
        How many rows; fewer come back if fewer can be asked.
    annotator : optional
        Who will answer: only rows that they have not answered. A new person is taken for the mean
        annotator. None: rows are chosen for the mean annotator, and each line names the one who
        has not answered the row and would tell most.
    """
    check_count("n", n)
    names, k = answers.annotators.tolist(), len(answers.classes)
    free = np.arange(len(answers.rows))
    matrix = pattern_of(np.array([found.matrices.mean]), k)[0]
    if annotator is None:  # somebody must be left to ask
        free = free[np.diff(answers.seen.indptr) < len(names)]
    elif annotator in names:
        place = names.index(annotator)
        matrix = found.matrices.confusion[place]
        done = answers.row[answers.annotator == place]
        free = np.setdiff1d(free, done)
    gains = information(found.shares[free], matrix)
    order = np.argsort(-gains, kind="stable")[:n]
    chosen, gains = free[order], gains[order]
    who = [annotator] * len(chosen)
    if annotator is None:
        each = information(found.shares[chosen], found.matrices.confusion)
        each[answers.seen[chosen].toarray().T > 0] = -1.0
        best = each.argmax(axis=0)
        who, gains = [names[place] for place in best], each.max(axis=0, initial=-1.0)
    return _table(answers, found.shares, chosen, who, gains)


def _table(
    answers: Answers, shares: Array, chosen: NDArray[np.int64], who: list[Any], gains: Array
) -> QuestionTable:
    best = shares[chosen].argmax(axis=1)
    lines = zip(
        answers.rows[chosen].tolist(),
        who,
        gains.tolist(),
        answers.classes[best].tolist(),
        shares[chosen, best].tolist(),
        strict=True,
    )
    return QuestionTable(sorted((Question(*line) for line in lines), key=lambda each: -each.gain))
