"""Class shares as probabilities: a slope and one offset per class, fitted to held-out labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

Shares = NDArray[np.float64]

_PRIOR = 10.0  # one over the variance of the offsets, before labels are seen
_USUAL = 5.0  # the slope where no label can be held out
_SURE = 1.25  # standard errors
_FURTHER = 1.5
_LEAST = 0.01  # of a slope in units of the shares: 0 would say the same of every row


@dataclass(frozen=True)
class Scaling:
    """Probabilities in proportion to exp(slope * share + offset).

    Parameters
    ----------
    slope : float
        How sure a share is. A field far from its few labels has the right order of classes and
        hardly any size, so that its slope is large.
    offsets : ndarray of shape (n_classes,)
        What is added for each class. Smoothing takes more from a rare class than it gives.
    """

    slope: float
    offsets: NDArray[np.float64]

    @classmethod
    def usual(cls, n_classes: int) -> Scaling:
        """Return the scaling where no label can be held out."""
        return cls(_USUAL, np.zeros(n_classes))

    @classmethod
    def fit(cls, shares: Shares, wanted: Shares, weights: NDArray[np.float64]) -> Scaling:
        """Return the scaling of greatest likelihood.

        One more label, of all classes alike, keeps the slope finite; a prior keeps the offsets
        small where labels are few. Offsets move decisions. So they are 0 unless they surely reduce
        the errors, by more than 1.25 standard errors of the difference; and half as much again does
        no harm: many rows may lie just behind the border.

        Parameters
        ----------
        shares : ndarray of shape (n, n_classes)
            Held-out shares.
        wanted : ndarray of shape (n, n_classes)
            1 in the column of the label.
        weights : ndarray of shape (n,)
            Weights of the labels.

        Examples
        --------
        >>> shares, wanted = np.array([[0.4, 0.6], [0.6, 0.4]]), np.array([[0, 1.0], [1.0, 0]])
        >>> found = Scaling.fit(shares, wanted, np.ones(2))
        >>> found.probabilities(shares).round(2)
        array([[0.17, 0.83],
               [0.83, 0.17]])
        """
        moved = cls(*_fitted(shares, wanted, weights, moves=True))
        further = cls(moved.slope, _FURTHER * moved.offsets)
        sure, harm = (weights * each._gains(shares, wanted) for each in (moved, further))
        if sure.sum() > _SURE * np.sqrt(np.square(sure).sum()) and harm.sum() >= 0:
            return moved
        return cls(*_fitted(shares, wanted, weights, moves=False))

    def _gains(self, shares: Shares, wanted: Shares) -> NDArray[np.float64]:
        """Return 1 where the offsets mend an error, and -1 where they make one."""
        codes = wanted.argmax(axis=1)
        wrong, before = (s.argmax(axis=1) != codes for s in (self.logits(shares), shares))
        return before.astype(np.float64) - wrong

    def logits(self, shares: Shares) -> Shares:
        """Return logarithms of the probabilities, up to a constant for each row."""
        return np.asarray(self.slope * shares + self.offsets)

    def probabilities(self, shares: Shares) -> Shares:
        """Return the probabilities of the classes."""
        return np.asarray(softmax(self.logits(shares), axis=1))


def _fitted(
    shares: Shares, wanted: Shares, weights: NDArray[np.float64], *, moves: bool
) -> tuple[float, NDArray[np.float64]]:
    """Return slope and offsets of greatest likelihood; the offsets are 0 unless it `moves`."""
    n, k = shares.shape
    targets = (n * wanted + 1.0 / k) / (n + 1.0)
    weights = weights[:, None] / weights.mean()
    size = float(np.sqrt(np.square(shares - 1.0 / k).mean())) or 1.0
    known = (shares - 1.0 / k) / size

    def loss(values: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        slope, offsets = values[0], values[1:]
        logs = log_softmax(slope * known + offsets, axis=1)
        left = weights * (np.exp(logs) - targets)
        lost = -float((weights * targets * logs).sum())
        slopes = np.concatenate([[(left * known).sum()], left.sum(axis=0) + _PRIOR * offsets])
        return lost + 0.5 * _PRIOR * float(offsets @ offsets), slopes

    start = np.concatenate([[1.0], np.zeros(k)])
    bounds = [(_LEAST, None)] + [(None, None) if moves else (0.0, 0.0)] * k
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return float(found[0]) / size, found[1:]


def class_scores(shares: Shares, scaling: Scaling | None) -> Shares:
    """Return what decides: the logits, or without a scaling the shares themselves."""
    return shares if scaling is None else scaling.logits(shares)


def differences(scores: Shares) -> Shares:
    """Return scores of the classes; of two classes the difference, in one column."""
    return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


def probabilities(shares: Shares, scaling: Scaling | None) -> Shares:
    """Return probabilities; without a scaling shares clipped to [0, 1] and normalised."""
    if scaling is not None:
        return scaling.probabilities(shares)
    clipped = np.clip(shares, 0.0, 1.0)
    total = clipped.sum(axis=1, keepdims=True)
    equal = np.full_like(clipped, 1.0 / clipped.shape[1])
    return np.divide(clipped, total, out=equal, where=total > 0)
