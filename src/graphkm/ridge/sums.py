"""Sums over rows: all that a model on landmarks needs from them.

A block of rows has features A: kernel values with landmarks, or weights of anchors. With targets Y
and weights w, its sums are A'WA, A'WY, the weighted squares of Y, and the sum of the weights. Sums
of blocks add up, and old rows are forgotten by a factor. A solution needs nothing else. So it
depends on the set of rows, but not on their order or their blocks, except for rounding.

All functions are pure: they return new arrays and change none.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve
from scipy.linalg.blas import dsymm, dsyrk

from .factors import raised_cholesky
from .left_out import without_own

Matrix = NDArray[np.float64]

FEW = 20
"""With fewer labelled rows, C is not chosen: half of them cannot judge the other half."""
_USUAL = 10.0  # C with fewer rows, divided by the mean kernel value
_START, _LEAST, _MOST = -3, -9, 1  # powers of ten: first, least and largest ridge per weight
_ALL_OF_IT = 1.0 - 1e-9  # the largest leverage; sums keep fewer digits of it than rows would
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class RowSums(NamedTuple):
    """Sums over rows with features A, targets Y and weights w, in double precision.

    Attributes
    ----------
    gram : ndarray of shape (m, m)
        The upper triangle of A'WA; what is below the diagonal has no meaning.
    cross : ndarray of shape (m, n_outputs)
        A'WY.
    squares : ndarray of shape (n_outputs,)
        The diagonal of Y'WY.
    weight : float
        The sum of w.
    n_rows : float
        Their number; forgetting reduces it, too.
    """

    gram: Matrix
    cross: Matrix
    squares: Matrix
    weight: float
    n_rows: float


def no_rows(n_features: int, n_outputs: int) -> RowSums:
    """Return the sums over no rows."""
    gram = np.zeros((n_features, n_features), order="F")
    return RowSums(gram, np.zeros((n_features, n_outputs)), np.zeros(n_outputs), 0.0, 0.0)


def add_rows(sums: RowSums, features: Any, targets: Matrix, weights: Matrix) -> RowSums:
    """Return sums with a block of rows added to them.

    Examples
    --------
    >>> A, y, w = np.array([[1.0], [2.0]]), np.array([[1.0], [3.0]]), np.array([1.0, 4.0])
    >>> sums = add_rows(no_rows(1, 1), A, y, w)
    >>> float(sums.gram[0, 0]), float(sums.cross[0, 0]), sums.weight, sums.n_rows
    (17.0, 25.0, 5.0, 2.0)
    """
    if not len(weights):
        return sums
    root = np.sqrt(weights)[:, None]
    A, Y = np.multiply(features, root, dtype=np.float64), targets * root
    return RowSums(
        dsyrk(1.0, A.T, beta=1.0, c=sums.gram),
        sums.cross + A.T @ Y,
        sums.squares + np.einsum("ir,ir->r", Y, Y),
        sums.weight + float(weights.sum()),
        sums.n_rows + len(weights),
    )


def add(one: RowSums, other: RowSums) -> RowSums:
    """Return the sums over the rows of both."""
    return RowSums(
        one.gram + other.gram,
        one.cross + other.cross,
        one.squares + other.squares,
        one.weight + other.weight,
        one.n_rows + other.n_rows,
    )


def scale(sums: RowSums, factor: float) -> RowSums:
    """Return the sums in which every row counts `factor` times as much."""
    return sums if factor == 1.0 else RowSums._make(factor * part for part in sums)


def leading(sums: RowSums, n_features: int) -> RowSums:
    """Return the sums for the first features alone."""
    return sums._replace(gram=sums.gram[:n_features, :n_features], cross=sums.cross[:n_features])


def transformed(sums: RowSums, T: Matrix) -> RowSums:
    """Return the sums for the features A T."""
    upper = np.triu(sums.gram)
    gram = upper + np.triu(upper, 1).T
    return sums._replace(gram=np.asfortranarray(T.T @ gram @ T), cross=T.T @ sums.cross)


def packed(gram: Matrix) -> NDArray[np.float64]:
    """Return the upper triangle, column after column: each is contiguous, so this is a fast copy.

    Examples
    --------
    >>> packed(np.array([[1.0, 2.0], [0.0, 3.0]], order="F"))
    array([1., 2., 3.])
    """
    return np.concatenate([np.empty(0), *(gram[: j + 1, j] for j in range(len(gram)))])


def unpacked(values: NDArray[np.float64], n_features: int) -> Matrix:
    """Return the matrix of `packed`, with zeros below its diagonal.

    Examples
    --------
    >>> unpacked(np.array([1.0, 2.0, 3.0]), 2)
    array([[1., 2.],
           [0., 3.]])
    """
    gram = np.zeros((n_features, n_features), order="F")
    for j in range(n_features):
        gram[: j + 1, j] = values[j * (j + 1) // 2 : (j + 1) * (j + 2) // 2]
    return gram


def solve(sums: RowSums, penalty: Matrix, C: float) -> Matrix:
    """Return the a, one column per output, that minimise 1/2 a'Pa + C/2 sum_i w_i (y_i - A_i a)^2.

    Examples
    --------
    >>> sums = add_rows(no_rows(1, 1), np.ones((2, 1)), np.array([[1.0], [3.0]]), np.ones(2))
    >>> solve(sums, np.ones((1, 1)), C=1e9).round(3)
    array([[2.]])
    """
    matrix = np.divide(penalty, C, order="F")
    matrix += sums.gram
    return np.asarray(cho_solve((raised_cholesky(matrix), False), sums.cross))


def leave_one_out(
    sums: RowSums, penalty: Matrix, C: float, features: Matrix, targets: Matrix, weights: Matrix
) -> Matrix:
    """Return what `solve` predicts for a row that is left out, for some rows in the sums.

    A row of leverage h and score f has the score (f - h y) / (1 - h) without its own target.

    Examples
    --------
    >>> A, y, w = np.ones((2, 1)), np.array([[1.0], [3.0]]), np.ones(2)
    >>> sums = add_rows(no_rows(1, 1), A, y, w)
    >>> leave_one_out(sums, np.ones((1, 1)), 1e9, A, y, w).round(3)
    array([[3.],
           [1.]])
    """
    matrix = np.divide(penalty, C, order="F")
    matrix += sums.gram
    factor = raised_cholesky(matrix), False
    reached = cho_solve(factor, features.T)
    leverages = np.minimum(weights * np.einsum("ij,ji->i", features, reached), _ALL_OF_IT)
    return without_own(reached.T @ sums.cross, targets, leverages)


def squared_error(sums: RowSums, coefficients: Matrix) -> float:
    """Return sum_i w_i (y_i - A_i a)^2 over all outputs, from the sums alone.

    Examples
    --------
    >>> sums = add_rows(no_rows(1, 1), np.ones((2, 1)), np.array([[1.0], [3.0]]), np.ones(2))
    >>> squared_error(sums, np.array([[1.0]]))
    4.0
    """
    image = dsymm(1.0, sums.gram, coefficients)
    fitted = np.sum(coefficients * (image - 2.0 * sums.cross))
    return float(sums.squares.sum() + fitted)


def half_of(ids: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which rows belong to the half that judges C; it depends on their numbers alone.

    Examples
    --------
    >>> round(float(half_of(np.arange(10_000)).mean()), 2)
    0.5
    """
    return (ids.astype(np.uint64) * _GOLDEN >> np.uint64(63)).astype(bool)


def choose_C(one: RowSums, other: RowSums, penalty: Matrix) -> float:
    """Return the C with which each half of the rows predicts the other half best.

    The squared error of one half's solution on the other half is exact, and needs only sums. It is
    computed for powers of ten. A parabola through the best three of them then gives the minimum.
    With fewer than 20 rows, C is 10 divided by the mean kernel value.
    """
    unit = float(penalty.diagonal().mean()) or 1.0
    weight = 0.5 * (one.weight + other.weight)
    if one.n_rows + other.n_rows < FEW or not min(one.weight, other.weight) > 0:
        return _USUAL / unit
    errors: dict[int, float] = {}

    def error(power: int) -> float:
        if power not in errors:
            C = 1.0 / (10.0**power * weight * unit)
            errors[power] = sum(
                squared_error(judge, solve(fitted, penalty, C))
                for fitted, judge in ((one, other), (other, one))
            )
        return errors[power]

    at = _START
    while _LEAST < at < _MOST:
        step = min((-1, 0, 1), key=lambda step: error(at + step))
        if step == 0:
            break
        at += step
    best = float(at)
    if _LEAST < at < _MOST:
        left, middle, right = error(at - 1), error(at), error(at + 1)
        bend = left - 2.0 * middle + right
        best += 0.5 * (left - right) / bend if bend > 0 else 0.0
    return 1.0 / (10.0**best * weight * unit)
