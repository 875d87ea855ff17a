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
Decaestecker, 2002, "Adjusting the outputs of a classifier to new a priori probabilities"). But
probabilities may be off: l labels tell the odds of a class only up to a factor, whose logarithm has
about the variance 1 / l. If the rows tell the classes apart perfectly, such a factor changes no
mean; if they tell nothing, it changes all of it. So let I be the share of the variance of the
classes that the probabilities explain. Where the sizes differ from the labels' shares by d, the
mean of the probabilities differs by I d, and by an error whose variance is
:math:`(1 - I)^2 s (1 - s) / l`. That is what :math:`l I / (1 - I)^2` rows would tell. All
unlabelled rows together count as so many, but never as more than l, because l labels have checked
the probabilities. Beside them the labels' own shares count as five rows of every class.

Whether labels were drawn by class is a guess, too. If rows were drawn at random, and every size is
as likely as any other, then all numbers of labels are equally likely. If as many of each were
wanted, a number is e times less likely with every label that it is off.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, gammaln, logsumexp

Array = NDArray[np.float64]

SLACK = 0.1
"""How wrong a size may be, as a share of it."""

BEFORE = 5.0
"""The labels' shares count as so many rows of every class, beside the unlabelled rows."""

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


def contradiction(sizes: Array, counts: NDArray[np.int64], n: int, classes: Any) -> str | None:
    """Return how the labels of n rows contradict the sizes of classes; None if they do not.

    A class cannot have fewer rows than labels. The slack of sizes is left to it.

    Parameters
    ----------
    sizes : ndarray of shape (n_classes,)
        Shares of the classes, which add up to 1.
    counts : ndarray of shape (n_classes,)
        Labelled rows of every class.
    n : int
        All rows.
    classes : ndarray of shape (n_classes,)
        The classes.

    Examples
    --------
    >>> sizes, classes = np.array([0.95, 0.05]), np.array(["ham", "spam"])
    >>> contradiction(sizes, np.array([10, 5]), 100, classes)
    >>> contradiction(sizes, np.array([10, 6]), 100, classes)[:63]
    "class_sizes gives class 'spam' 5 of 100 rows, but 6 rows have t"
    """
    rows = sizes * n
    worst = int(np.argmax(counts - (1.0 + SLACK) * rows))
    if counts[worst] <= (1.0 + SLACK) * rows[worst]:
        return None
    name = classes.tolist()[worst]
    return (
        f"class_sizes gives class {name!r} {rows[worst]:,.3g} of {n:,} rows, but {counts[worst]:,} "
        "rows have this label. Sizes count all rows of the fit, and labelled ones are among them: "
        "correct the sizes or the labels, or leave class_sizes out."
    )


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


def drawn_by_class(counts: Array) -> float:
    """Return the probability that as many rows of every class were meant to be labelled.

    Parameters
    ----------
    counts : ndarray of shape (n_classes,)
        Labels of every class.

    Examples
    --------
    >>> [round(drawn_by_class(np.array([50.0 + off, 50.0 - off])), 2) for off in (0, 1, 10)]
    [0.98, 0.86, 0.0]
    """
    k, n = len(counts), counts.sum()
    choices = gammaln(n + k) - gammaln(k) - gammaln(n + 1)
    usual = 2.0 * np.arctanh(np.exp(-1.0))  # the logarithm of the sum of exp(-|j|) over all j
    off = np.abs(counts - n / k).sum() + (k - 1) * usual
    return float(expit(choices - off))


def sizes_of_rows(shares: Array, counts: Array) -> Array:
    """Return the sizes of classes, estimated from unlabelled rows as far as labels do not tell.

    Parameters
    ----------
    shares : ndarray of shape (n, n_classes)
        Probabilities of unlabelled rows, as if the classes had the labels' shares.
    counts : ndarray of shape (n_classes,)
        Labels of every class.

    Examples
    --------
    >>> shares = np.repeat([[0.9, 0.1], [0.1, 0.9]], [90, 10], axis=0)
    >>> sizes_of_rows(shares, np.array([10.0, 10.0])).round(2)  # twenty labels are not sure of it
    array([0.74, 0.26])
    >>> sizes_of_rows(shares, np.array([500.0, 500.0])).round(2)
    array([0.9, 0.1])
    >>> sizes_of_rows(shares, np.array([600.0, 400.0])).round(2)  # not drawn by class
    array([0.6, 0.4])
    """
    n, k = shares.shape
    own = counts / counts.sum()
    told = _explained(shares)
    worth = told / (1.0 - told) ** 2 if told < 0.5 else 1.0  # it is 1 from 0.38 on
    seen, sizes = min(1.0, min(1.0, worth) * counts.sum() / n), own
    for _ in range(_STEPS):
        found = seen * tilted(shares, np.log(sizes / own)).sum(axis=0) + BEFORE * k * own
        before, sizes = sizes, found / found.sum()
        if np.abs(sizes - before).max() < _CLOSE:
            break
    mean = own * (sizes / own) ** drawn_by_class(counts)
    return np.asarray(mean / mean.sum())


def _explained(shares: Array) -> float:
    """Return the share of the variance of classes that probabilities explain.

    Examples
    --------
    >>> round(_explained(np.array([[0.5, 0.5], [0.5, 0.5]])), 2), _explained(np.eye(2))
    (0.0, 1.0)
    """
    means = shares.mean(axis=0)
    return float(np.square(shares - means).sum(axis=1).mean() / np.sum(means * (1.0 - means)))


def tilted(shares: Array, tilt: Array) -> Array:
    """Return probabilities times exp(b), divided by their sum."""
    found = shares * np.exp(tilt - tilt.max())
    return np.asarray(found / found.sum(axis=1, keepdims=True))
