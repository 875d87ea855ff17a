"""Scores of classes as probabilities, fitted to labels that the scores have not seen.

Scores say which class is likelier, but not by how much. Held-out labels tell how much. First a
slope and one offset per class (Platt scaling, for several classes at once) turn the scores into
logarithms of probabilities. With many labels a rising curve per class (isotonic regression) then
mends what a slope cannot. At last a floor keeps probabilities from being surer than labels allow.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, logit, softmax

Matrix = NDArray[np.float64]

MANY = 1000
"""With so many held-out labels or more, curves are fitted."""

GRID = np.linspace(-8.0, 8.0, 65)
"""Log-odds at which curves are known; between two of them a curve is straight."""

AHEAD = 1e-4
"""Offsets may let another class win. The winner of the scores is then put ahead by this part of its
own share, so that rows keep their order."""

_OF_A_CLASS = 100  # a class's curve needs so many held-out labels of the class, and of the others
_EARLIER = 10.0  # a curve is pulled to the slope's shares as if by so many labels
_PRIOR = 1.0  # one over the variance of the offsets, before labels are seen
_SLOPES = (0.01, 100.0)  # least and largest slope, times the size of the scores


@dataclass(frozen=True)
class Calibration:
    """Probabilities from scores.

    Parameters
    ----------
    slope : float
        How sure a score is.
    offsets : ndarray of shape (n_classes,)
        What is added for each class.
    floor : ndarray of shape (n_classes,)
        The least probabilities. They sum to 1 / (n + 1) after n held-out labels.
    keeps : bool, default=True
        Whether the class of the largest score keeps the largest probability. False where class
        weights have moved the decisions on purpose.
    curves : ndarray of shape (n_classes, 65) or None, default=None
        Shares of each class at the log-odds of `GRID`.

    Examples
    --------
    >>> scores = np.array([[-1.0, 1.0], [0.5, -0.5], [2.0, -2.0], [-0.3, 0.3]] * 5)
    >>> found = Calibration.fit(scores, np.array([1, 0, 0, 0] * 5))
    >>> found.probabilities(scores[:4]).round(2)
    array([[0.19, 0.81],
           [0.95, 0.05],
           [0.99, 0.01],
           [0.5 , 0.5 ]])
    """

    slope: float
    offsets: NDArray[np.float64]
    floor: NDArray[np.float64]
    keeps: bool = True
    curves: Matrix | None = None

    @classmethod
    def usual(cls, n_classes: int, n_labels: int = 0) -> Calibration:
        """Return the calibration for too few held-out labels: scores count as log-odds."""
        equal = np.full(n_classes, 1.0 / n_classes)
        return cls(1.0, np.zeros(n_classes), equal / (n_labels + 1.0))

    @classmethod
    def fit(
        cls,
        scores: Matrix,
        codes: NDArray[np.int64],
        weights: NDArray[np.float64] | None = None,
        *,
        keeps: bool = True,
    ) -> Calibration:
        """Return the calibration of greatest likelihood.

        One more label, shared by all classes, keeps the slope finite where scores separate the
        classes. A prior keeps offsets small where labels are few.

        Parameters
        ----------
        scores : ndarray of shape (n, n_classes)
            Scores of labelled rows from fits without their labels.
        codes : ndarray of int of shape (n,)
            The classes of these rows.
        weights : ndarray of shape (n,), optional
            Their weights without class weights, which would shift the base rates.
        keeps : bool, default=True
            As in the class.
        """
        n, k = scores.shape
        weights = np.ones(n) if weights is None else weights / weights.mean()
        wanted = np.eye(k)[codes]
        slope, offsets = _platt(scores, wanted, weights)
        base = (weights @ wanted + 1.0) / (n + k)
        found = cls(slope, offsets, base / (n + 1.0), keeps)
        if n < MANY:
            return found
        shares = softmax(found._logits(scores), axis=1)
        return replace(found, curves=_curves(shares, wanted, weights))

    def probabilities(self, scores: Matrix, winner: NDArray[np.int64] | None = None) -> Matrix:
        """Return the probabilities of the classes, of shape (n, n_classes).

        `winner` is the class that wins by the scores; by default the first class wins a tie.
        """
        shares = softmax(self._logits(scores), axis=1)
        if self.curves is not None:
            shares = _bent(shares, self.curves)
        shares = (1.0 - self.floor.sum()) * shares + self.floor
        if not self.keeps:
            return shares
        return _with_winner(shares, scores.argmax(axis=1) if winner is None else winner)

    def _logits(self, scores: Matrix) -> Matrix:
        return self.slope * scores + self.offsets


def class_columns(scores: Matrix) -> Matrix:
    """Return one score per class: of two classes one column, f, becomes -f and f.

    Examples
    --------
    >>> class_columns(np.array([[2.0]]))
    array([[-2.,  2.]])
    """
    return np.hstack([-scores, scores]) if scores.shape[1] == 1 else scores


def _platt(scores: Matrix, wanted: Matrix, weights: NDArray[np.float64]) -> tuple[float, Any]:
    """Return slope and offsets of greatest likelihood."""
    n, k = scores.shape
    targets = (n * wanted + 1.0 / k) / (n + 1.0)
    size = float(np.sqrt(np.square(scores - scores.mean(axis=1, keepdims=True)).mean())) or 1.0
    known, weights = scores / size, weights[:, None]

    def loss(values: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        slope, offsets = values[0], values[1:]
        logs = log_softmax(slope * known + offsets, axis=1)
        left = weights * (np.exp(logs) - targets)
        lost = -float((weights * targets * logs).sum()) + 0.5 * _PRIOR * float(offsets @ offsets)
        return lost, np.append((left * known).sum(), left.sum(axis=0) + _PRIOR * offsets)

    # A class without held-out labels has the offset 0: nothing is known of it.
    seen = wanted.sum(axis=0) > 0
    bounds = [_SLOPES, *((-np.inf, np.inf) if each else (0.0, 0.0) for each in seen)]
    start = np.append(1.0, np.zeros(k))
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return float(found[0]) / size, found[1:]


def _curves(shares: Matrix, wanted: Matrix, weights: NDArray[np.float64]) -> Matrix:
    """Return every class's share at the log-odds of the grid, by isotonic regression."""
    curves = np.tile(expit(GRID), (shares.shape[1], 1))
    for c, (share, is_class) in enumerate(zip(shares.T, wanted.T, strict=True)):
        if min(is_class.sum(), (1.0 - is_class).sum()) >= _OF_A_CLASS:
            curves[c] = _rising(_log_odds(share), share, is_class, weights)
    return curves


def _rising(
    odds: NDArray[np.float64],
    share: NDArray[np.float64],
    is_class: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return a rising curve through means of rows, pulled a little to the shares of the slope."""
    from sklearn.isotonic import isotonic_regression  # slow to import

    order = np.argsort(odds, kind="stable")
    odds, share, is_class, weights = (each[order] for each in (odds, share, is_class, weights))
    level = isotonic_regression(is_class, sample_weight=weights)
    first = np.flatnonzero(np.append(True, np.diff(level) > 0))

    def summed(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.add.reduceat(weights * values, first))

    size = summed(np.ones(len(odds)))
    size = np.where(size > 0, size, 1e-300)
    height = (summed(is_class) + _EARLIER * summed(share) / size) / (size + _EARLIER)
    return np.maximum.accumulate(np.interp(GRID, summed(odds) / size, height))


def _log_odds(shares: Matrix) -> Matrix:
    return np.clip(logit(np.clip(shares, 1e-12, 1.0 - 1e-12)), GRID[0], GRID[-1])


def _bent(shares: Matrix, curves: Matrix) -> Matrix:
    """Return the shares after their curves, normalised."""
    columns = zip(_log_odds(shares).T, curves, strict=True)
    bent = np.column_stack([np.interp(odds, GRID, curve) for odds, curve in columns])
    return np.asarray(bent / bent.sum(axis=1, keepdims=True))


def _with_winner(shares: Matrix, winner: NDArray[np.int64]) -> Matrix:
    """Return the nearest shares in which the winner's is the largest.

    Shares above it are cut to one level, and the winner gets what they lose.

    Examples
    --------
    >>> _with_winner(np.array([[0.6, 0.4], [0.4, 0.6]]), np.array([1, 1])).round(3)
    array([[0.5, 0.5],
           [0.4, 0.6]])
    """
    rows = np.arange(len(shares))
    own = shares[rows, winner]
    others = shares.copy()
    others[rows, winner] = 0.0
    sums = own[:, None] + np.cumsum(-np.sort(-others, axis=1), axis=1)
    level = np.maximum(own, (sums / np.arange(2, shares.shape[1] + 2)).max(axis=1))
    cut = np.minimum(shares, (level - AHEAD * own)[:, None])
    cut[rows, winner] = level
    return np.asarray(cut / cut.sum(axis=1, keepdims=True))
