r"""Probabilities of classes whose sizes are known, or estimated from the unlabelled rows.

Few labels say little about how large the classes are, but a person often knows it. The probability
of class k is then multiplied by :math:`e^{b_k}`, and each row's probabilities are divided by their
sum. Their means over all rows are then the sizes of the classes. Sizes are never exact: a class may
be a tenth larger or smaller. Among all b within these bounds, the best is the minimum of the convex
function

.. math::

    \frac{1}{n} \sum_x \log \sum_k e^{b_k} P(k \mid x) - \sum_k s_k b_k + 0.1 \sum_k s_k |b_k| ,

whose derivative is the mean probability of each class minus its size, up to a tenth of it. Where
the classes have about their sizes already, b is 0, and nothing changes.

Often as many rows of every class are labelled, and the labels say nothing of the sizes. The
unlabelled rows do: the sizes are most likely under which they look as they do (Saerens, Latinne and
Decaestecker, 2002, "Adjusting the outputs of a classifier to new a priori probabilities"). How well
probabilities say so was checked with l labels only. So all unlabelled rows together count as l
rows, beside ten of every class that were there before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import logsumexp

Array = NDArray[np.float64]

SLACK = 0.1
"""How wrong a size may be, as a share of it."""

EQUAL = 10.0
"""Classes are equally large before rows are seen: as sure as if so many rows of each were."""

_STEPS = 500
_CLOSE = 1e-7  # change of the sizes in a step that ends the search


def checked_sizes(asked: Any, classes: NDArray[Any], known: Array) -> Array:
    """Check the parameter `class_sizes`, and return the share of every class.

    Parameters
    ----------
    asked : mapping, "labels", "auto" or None
        A share or a number of rows for every class; all else takes the labels' own shares.
    classes : ndarray
        The classes.
    known : ndarray of shape (n_classes,)
        The labels' own shares.

    Examples
    --------
    >>> checked_sizes({"a": 300, "b": 100}, np.array(["a", "b"]), np.array([0.5, 0.5]))
    array([0.75, 0.25])
    """
    if asked is None or (isinstance(asked, str) and asked in ("auto", "labels")):
        return known
    if not isinstance(asked, Mapping):
        raise ValueError(
            "class_sizes must be 'auto', 'labels', None or a mapping from every class to its "
            f"size, such as {{'yes': 0.2, 'no': 0.8}}; got {asked!r}."
        )
    names = classes.tolist()
    unknown = [each for each in asked if each not in names]
    if unknown:
        raise ValueError(
            f"class_sizes has the class {unknown[0]!r}, which no labelled row has. The classes "
            f"are {_some(names)}."
        )
    missing = [each for each in names if each not in asked]
    if missing:
        raise ValueError(f"class_sizes lacks the class {missing[0]!r}; give every class a size.")
    for each in names:
        size = asked[each]
        number = isinstance(size, int | float | np.number) and not isinstance(size, bool)
        if not (number and np.isfinite(size) and size > 0):
            raise ValueError(f"The size of class {each!r} must be above 0; got {size!r}.")
    sizes = np.array([asked[each] for each in names], dtype=np.float64)
    return sizes / sizes.sum()


def _some(names: list[Any]) -> str:
    return ", ".join(map(repr, names[:10])) + (" and others" if len(names) > 10 else "")


def tilt_to_sizes(shares: Array, sizes: Array) -> Array:
    """Return b for every class, such that the classes have their sizes up to the slack.

    Parameters
    ----------
    shares : ndarray of shape (n, n_classes)
        Probabilities of every row.
    sizes : ndarray of shape (n_classes,)
        Shares of the classes, which add up to 1.

    Examples
    --------
    >>> shares = np.array([[0.6, 0.4], [0.6, 0.4]])
    >>> found = tilted(shares, tilt_to_sizes(shares, np.array([0.4, 0.6])))
    >>> found.mean(axis=0).round(2)
    array([0.44, 0.56])
    >>> tilt_to_sizes(shares, np.array([0.6, 0.4]))
    array([0., 0.])
    """
    logs, k = np.log(np.maximum(shares, np.finfo(np.float64).tiny)), len(sizes)

    def loss(both: Array) -> tuple[float, Array]:
        """Return the function and its gradient at b = up - down, both at least 0."""
        b = both[:k] - both[k:]
        moved = logs + b
        total = logsumexp(moved, axis=1)
        means = np.exp(moved - total[:, None]).mean(axis=0)
        value = total.mean() - sizes @ b + SLACK * sizes @ (both[:k] + both[k:])
        slope = means - sizes
        return value, np.concatenate([slope + SLACK * sizes, SLACK * sizes - slope])

    options = {"maxiter": 1000, "ftol": 1e-14, "gtol": 1e-8}
    bounds = [(0.0, None)] * (2 * k)
    found = minimize(
        loss, np.zeros(2 * k), jac=True, method="L-BFGS-B", bounds=bounds, options=options
    )
    return np.asarray(found.x[:k] - found.x[k:])


def sizes_of_rows(shares: Array, n_labels: int) -> Array:
    """Return the sizes of classes of which as many rows each were labelled.

    Parameters
    ----------
    shares : ndarray of shape (n, n_classes)
        Probabilities of unlabelled rows, as if all classes were equally large.
    n_labels : int
        How many labels there are of all classes.

    Examples
    --------
    >>> shares = np.repeat([[0.9, 0.1], [0.1, 0.9]], [90, 10], axis=0)
    >>> sizes_of_rows(shares, 20).round(2)  # twenty labels do not say it for sure
    array([0.71, 0.29])
    >>> sizes_of_rows(shares, 1000).round(2)
    array([0.88, 0.12])
    """
    n, k = shares.shape
    seen, sizes = min(1.0, n_labels / n), np.full(k, 1.0 / k)
    for _ in range(_STEPS):
        counts = seen * tilted(shares, np.log(sizes)).sum(axis=0) + EQUAL
        before, sizes = sizes, counts / counts.sum()
        if np.abs(sizes - before).max() < _CLOSE:
            break
    return sizes


def tilted(shares: Array, tilt: Array) -> Array:
    """Return probabilities times exp(b), divided by their sum."""
    found = shares * np.exp(tilt - tilt.max())
    return np.asarray(found / found.sum(axis=1, keepdims=True))
