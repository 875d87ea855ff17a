"""What a linear fit without a row says of it, from the fit with all rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..neighbours.distinct import Copies

Matrix = NDArray[np.float64]

_ALL_OF_IT = 1.0 - 1e-12  # the largest leverage: such a row decides its score alone


def left_out(
    scores: Matrix, targets: Matrix, left: Matrix, right: Matrix, copies: Copies | None
) -> Matrix:
    """Return what a linear fit without a row and its copies says of the row, for every row.

    The scores are H t for targets t, with H = left right'. A row of leverage h and score f has the
    score (f - h t) / (1 - h) without its own target. A set G of equal rows has the errors
    (1 - H_GG)^-1 (t - f)_G.

    Parameters
    ----------
    scores, targets : ndarray of shape (n, n_columns)
        f and t, times the roots of the rows' weights.
    left, right : ndarray of shape (n, m)
        The factors of H.
    copies : Copies or None
        The sets of equal rows; None if all rows differ.

    Examples
    --------
    >>> t, one = np.array([[1.0], [3.0], [5.0]]), np.ones((3, 1))
    >>> left_out(one * t.mean(), t, one / 3, one, Copies.of(np.array([1, 1, 2]))).ravel().round(6)
    array([5., 5., 2.])
    """
    leverage = np.minimum(np.einsum("ij,ij->i", left, right), _ALL_OF_IT)[:, None]
    found = (scores - leverage * targets) / (1.0 - leverage)
    for rows in [] if copies is None else copies.sets():
        block = left[rows] @ right[rows].transpose(0, 2, 1)
        rest = np.eye(rows.shape[1]) / _ALL_OF_IT - block
        found[rows] = targets[rows] - np.linalg.solve(rest, (targets - scores)[rows])
    return np.asarray(found)
