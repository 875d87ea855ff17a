"""What ridge regressions predict for a row that is left out, computed from fits with all rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from ..neighbours.distinct import Copies

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]

_ALL_OF_IT = 1.0 - 1e-12  # the largest leverage: such a row alone decides its score


def without_own(scores: Matrix, targets: Matrix, leverages: Vector) -> Matrix:
    """Return what a linear fit without a row says of it, (f - h t) / (1 - h), for every row.

    Examples
    --------
    >>> t = np.array([[1.0], [3.0]])
    >>> without_own(np.full((2, 1), 2.0), t, np.full(2, 0.5)).ravel()
    array([3., 1.])
    """
    h = np.minimum(leverages, _ALL_OF_IT)[:, None]
    return np.asarray((scores - h * targets) / (1.0 - h))


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
    found = without_own(scores, targets, np.einsum("ij,ij->i", left, right))
    for rows in [] if copies is None else copies.sets():
        block = left[rows] @ right[rows].transpose(0, 2, 1)
        rest = np.eye(rows.shape[1]) / _ALL_OF_IT - block
        found[rows] = targets[rows] - np.linalg.solve(rest, (targets - scores)[rows])
    return found


def ridges(
    phi: Matrix,
    weights: Vector,
    targets: Matrix,
    copies: Copies | None,
    Cs: Sequence[float] | Vector,
) -> Iterator[tuple[Matrix, Matrix]]:
    """Yield, for every C, held-out scores of all rows, and the coefficients v of the fit.

    The fit minimises 1/2 ||v||^2 + C/2 sum_i s_i (y_i - <v, phi_i>)^2. The score of a row comes
    from a fit without the row and its copies. A row of weight 0 has the score 0.

    Examples
    --------
    >>> phi, y = np.array([[1.0], [2.0]]), np.array([[1.0], [0.0]])
    >>> [(held, v)] = ridges(phi, np.ones(2), y, None, [1.0])
    >>> held.ravel().round(6).tolist(), v.round(6).tolist()
    ([0.0, 1.0], [[0.166667]])
    """
    root = np.sqrt(weights)[:, None]
    rows, y = root * phi, root * targets
    gram = rows.T @ rows
    # A kernel of zeros has no features, and LAPACK takes no empty matrix.
    values, vectors = eigh(gram, check_finite=False) if gram.size else (np.empty(0), gram)
    turned = rows @ vectors
    right = turned.T @ y
    for C in Cs:
        factors = 1.0 / (np.maximum(values, 0.0) + 1.0 / C)
        v = factors[:, None] * right
        held = left_out(turned @ v, y, turned * factors, turned, copies)
        yield np.divide(held, root, out=np.zeros_like(held), where=root > 0), vectors @ v


def means_without(targets: Matrix, weights: Vector, copies: Copies | None) -> tuple[Vector, Matrix]:
    """Return the mean of the targets, and the mean without each row and its copies.

    Examples
    --------
    >>> means_without(np.array([[1.0], [2.0], [6.0]]), np.ones(3), None)
    (array([3.]), array([[4. ],
           [3.5],
           [1.5]]))
    """
    means, sums = targets, weights
    if copies is not None:
        means, sums = (each[copies.place] for each in copies.pooled(targets, weights))
    left = np.maximum(weights.sum() - sums, 1e-300)[:, None]
    total = (weights[:, None] * targets).sum(axis=0)
    return np.average(targets, axis=0, weights=weights), (total - sums[:, None] * means) / left
