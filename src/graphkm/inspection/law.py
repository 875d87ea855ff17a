r"""How a loss falls with the number of labels: a law, and what measured losses say of it.

The loss with n labels is

.. math::

    L(n) = a + b \, n^{-c} , \quad a, b \ge 0, \; c > 0 ,

which falls with n towards a. Its three numbers are not known from a few measured losses. So all of
them on a grid are weighed by how likely they make the measured losses (Bayes' rule), and what is
said of more labels is said by all of them together.

The grid has the loss L(l) with the labels that there are; the share a / L(l) that no label takes
away, from 0 to 1; and c from 1/4 to 2. All are equally likely before losses are seen. Statistics
knows c = 1/2 and c = 1 for smooth and for clear cases; a fit that finds clusters learns faster.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

POWERS = np.array([0.25, 0.5, 0.75, 1.0, 1.5, 2.0])
"""The powers c."""

LUCK = np.array([0.03, 0.1, 0.3])
"""By which share of itself a loss differs between draws of as many labels."""

_LOSSES, _SHARES = 121, 21
_FAR = 6.0  # standard errors


class Law(NamedTuple):
    """Laws, and how likely each of them is."""

    n_labels: int
    """The number l of labels that there are."""
    loss: Array
    """The loss L(l) with them."""
    rest: Array
    """The share of this loss that no label takes away."""
    power: Array
    """The power c."""
    weight: Array
    """How likely the law is; they add up to 1."""

    def at(self, n: float) -> Array:
        """Return the losses with n labels."""
        fallen = (n / self.n_labels) ** -self.power
        return np.asarray(self.loss * (self.rest + (1.0 - self.rest) * fallen))

    def quantile(self, n: float, share: float) -> float:
        """Return what the loss with n labels is below with probability `share`."""
        losses = self.at(n)
        order = np.argsort(losses)
        place = int(np.searchsorted(np.cumsum(self.weight[order]), share))
        return float(losses[order[min(place, len(order) - 1)]])


def fit_law(n_labels: int, sizes: Array, losses: Array, noise: Array) -> Law:
    """Return the laws, weighed by measured losses.

    Parameters
    ----------
    n_labels : int
        How many labels there are.
    sizes : ndarray of shape (m,)
        With how many labels each loss was measured.
    losses : ndarray of shape (m,)
        The losses.
    noise : ndarray of shape (m, m)
        Their covariance, as far as it comes from the few rows on which they were measured.

    Examples
    --------
    >>> sizes = np.array([25.0, 50.0, 75.0, 90.0])
    >>> law = fit_law(100, sizes, 2 / sizes, 1e-6 * np.eye(4))
    >>> print(f"{law.quantile(100, 0.5):.2f}, {law.quantile(200, 0.5):.2f}")
    0.02, 0.01
    """
    grid = _grid(n_labels, losses, noise)
    expected = np.stack([grid.at(size) for size in sizes])
    logs = []
    for luck in LUCK:
        part = np.linalg.cholesky(noise + np.diag(np.square(luck * _smooth(sizes, losses))))
        apart = np.linalg.solve(part, losses[:, None] - expected)
        logs.append(-0.5 * np.square(apart).sum(axis=0) - np.log(np.diag(part)).sum())
    best = max(each.max() for each in logs)
    likely = np.sum([np.exp(each - best) for each in logs], axis=0)
    return grid._replace(weight=likely / likely.sum())


def _grid(n_labels: int, losses: Array, noise: Array) -> Law:
    """Return all laws of the grid, equally likely."""
    spread = float(np.sqrt(np.diag(noise).mean() + np.square(LUCK[-1] * losses.mean())))
    middle = float(losses.mean())
    highest = middle + _FAR * spread
    lowest = max(middle - _FAR * spread, highest / (20 * _LOSSES))
    parts = np.meshgrid(
        np.linspace(lowest, highest, _LOSSES), np.linspace(0.0, 1.0, _SHARES), POWERS
    )
    loss, rest, power = (each.ravel() for each in parts)
    return Law(n_labels, loss, rest, power, np.full(len(loss), 1.0 / len(loss)))


def _smooth(sizes: Array, losses: Array) -> Array:
    """Return the mean loss with as many labels; it is never zero."""
    means = np.array([losses[sizes == size].mean() for size in sizes])
    return np.maximum(means, 1e-3 * max(float(losses.mean()), 1e-3))
