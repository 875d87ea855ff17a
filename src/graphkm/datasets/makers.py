"""Generated data sets."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from sklearn.datasets import make_moons
from sklearn.utils import check_random_state


def make_two_moons(
    n_samples: int = 1000, *, noise: float = 0.15, random_state: Any = None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Draw two interleaved half circles: two classes that a graph of all rows can separate.

    Parameters
    ----------
    n_samples : int, default=1000
        The number of rows, half of them in each class.
    noise : float, default=0.15
        The standard deviation of the noise in both coordinates. Up to about 0.1 there is a gap
        between the moons.
    random_state : int, RandomState or None
        Decides the draws.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
    y : ndarray of 0 and 1

    Examples
    --------
    >>> from graphkm.datasets import hide_labels, make_two_moons
    >>> X, y = make_two_moons(100, random_state=0)
    >>> partly = hide_labels(y, n_per_class=2, random_state=0)
    >>> X.shape, (partly >= 0).sum()
    ((100, 2), np.int64(4))
    """
    _require_rows(n_samples)
    X, y = make_moons(n_samples, noise=noise, random_state=random_state)
    return X, y.astype(np.int64)


def make_g50c(
    n_samples: int = 550,
    *,
    n_features: int = 50,
    bayes_error: float = 0.05,
    random_state: Any = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Draw two Gaussians with a known Bayes error, as in G50C.

    Both have the identity as covariance. Their means lie on the diagonal, and `bayes_error`
    decides their distance. The best classifier is the sign of the sum of the features.

    Parameters
    ----------
    n_samples : int, default=550
        The number of rows, half of them in each class.
    n_features : int, default=50
        The number of features.
    bayes_error : float in (0, 0.5), default=0.05
        The share of rows that the best classifier gets wrong.
    random_state : int, RandomState or None
        Decides the draws, and the order of rows.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of 0 and 1

    Examples
    --------
    >>> from graphkm.datasets import make_g50c
    >>> X, y = make_g50c(random_state=0)
    >>> X.shape, y.sum()
    ((550, 50), np.int64(275))
    """
    _require_rows(n_samples)
    if not isinstance(n_features, Integral) or n_features < 1:
        raise ValueError(f"n_features={n_features!r} must be an integer of at least 1.")
    if not 0 < bayes_error < 0.5:
        raise ValueError(
            f"bayes_error={bayes_error!r} must lie between 0 and 0.5: with two classes of equal "
            "size, guessing is wrong half of the time."
        )
    rng = check_random_state(random_state)
    y = rng.permutation(np.arange(n_samples) % 2).astype(np.int64)
    # A row is on the wrong side of the middle if its noise exceeds half the means' distance.
    half_distance = -ndtri(bayes_error)
    X = rng.standard_normal((n_samples, n_features))
    X += ((2 * y - 1) * half_distance / np.sqrt(n_features))[:, None]
    return X, y


def _require_rows(n_samples: Any) -> None:
    if not isinstance(n_samples, Integral) or n_samples < 2:
        raise ValueError(
            f"n_samples={n_samples!r} must be an integer of at least 2, one row for each class."
        )
