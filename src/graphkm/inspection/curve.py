"""How many more labels are worth it: held-out scores with fewer labels, and with more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from .._util.parameters import check_count
from ..semi.held import Held, held_of
from .frames import as_frame
from .law import Array, Law, fit_law
from .refits import Measured, check_labels, draws_of, held_losses, needs_affinity, refitted

INSIDE = 0.8
"""How probable it is that an interval has the score."""


@dataclass(frozen=True, repr=False)
class LearningCurve:
    """Scores by number of labels; it prints as sentences.

    Parameters
    ----------
    sizes, scores : ndarray
        Numbers of labels, and the mean held-out score with each of them.
    labels : int
        How many labels there are.
    more : ndarray of int
        How many labels there may be beside them; the first is 0.
    expected, low, high : ndarray
        The score that is expected with so many more, and the ends of its 80 % interval.
    unit : {"accuracy", "R^2"}
        What a score is.

    Examples
    --------
    >>> about = np.array([20, 40]), np.array([0.8, 0.85])
    >>> ends = np.array([0.86, 0.88]), np.array([0.84, 0.86]), np.array([0.88, 0.91])
    >>> LearningCurve(*about, 80, np.array([0, 100]), *ends, "accuracy")
    accuracy on held-out labels
    20 labels: 80.0 %
    40 labels: 85.0 %
    80 labels: 84.0 % to 88.0 % (now)
    100 more labels: 86.0 % to 91.0 %
    """

    sizes: Array
    scores: Array
    labels: int
    more: NDArray[np.int64]
    expected: Array
    low: Array
    high: Array
    unit: str

    def frame(self) -> Any:
        """Return a frame: labels, how many of them are to come, score, low and high."""
        columns = {"labels": self.labels + self.more, "more": self.more, "score": self.expected}
        return as_frame(columns | {"low": self.low, "high": self.high})

    def __repr__(self) -> str:
        """Return a line for each number of labels."""
        share = self.unit == "accuracy"

        def score(value: float) -> str:
            return f"{100 * value:.1f} %" if share else f"{value:.3f}"

        pairs = zip(self.sizes, self.scores, strict=True)
        lines = [f"{self.unit} on held-out labels"]
        lines += [f"{size:.0f} labels: {score(value)}" for size, value in pairs]
        for more, low, high in zip(self.more, self.low, self.high, strict=True):
            ends = f"{score(low)} to {score(high)}"
            now = f"{self.labels} labels: {ends} (now)"
            lines.append(f"{more} more labels: {ends}" if more else now)
        return "\n".join(lines)


def learning_curve(
    model: Any,
    X: Any,
    *,
    more: Sequence[int] = (50, 100, 200),
    repeats: int = 3,
    random_state: Any = None,
    affinity: Any = None,
    ids: Any = None,
) -> LearningCurve:
    """Return how the held-out score grows with labels, and what more labels would give.

    The model is fitted again with a quarter, a half and three quarters of its labels, each
    `repeats` times. All rows stay in the graph. The labels that a fit did not see score it. What
    the model itself said of its held-out labels is one more score, with nearly all labels. A law
    of learning is fitted to the scores (``inspection/law.py``): the loss falls as a + b n^-c.
    Losses count as uncertain because rows are few and because other draws of the labels give other
    models. The interval has 80 % of what is likely then.

    This says what labels give that are drawn as those before were. Labels of rows that
    `graphkm.active.suggest` names may give more.

    Parameters
    ----------
    model : SemiSupervisedClassifier or SemiSupervisedRegressor
        A fitted model. Its labels and their weights are those of its fit. Rows with shares of
        classes are not taken.
    X : array, frame or CSR matrix of shape (n_samples, n_features), or what the fit had
        The rows of the fit.
    more : sequence of int, default=(50, 100, 200)
        How many labels may be added.
    repeats : int, default=3
        How often the model is fitted with each number of labels. So there are nine fits by default.
    random_state : int, RandomState or None, default=None
        Draws the labels of each fit.
    affinity, ids
        As they were given to the fit.

    Returns
    -------
    LearningCurve
        `expected`, `low`, `high`, and `frame()`. The scores are accuracies; with several labels per
        row, the share of rows of which all labels are right; and of quantities, R^2.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.linear_model import LogisticRegression
    >>> from graphkm import SemiSupervisedClassifier
    >>> X, y = make_moons(300, noise=0.3, random_state=0)
    >>> y[60:] = -1
    >>> model = SemiSupervisedClassifier(LogisticRegression(), graph=None, random_state=0)
    >>> curve = learning_curve(model.fit(X, y), X, more=[60], random_state=0)
    >>> bool(0.7 < curve.low[1] < curve.expected[1] < curve.high[1] < 1.0)
    True
    """
    held = held_of(model)
    needs_affinity(model, affinity)
    added = _checked_more(more)
    check_count("repeats", repeats, least=1)
    check_labels(held)
    draws = draws_of(held, int(repeats), check_random_state(random_state))
    found = [refitted(model, X, held, chosen, affinity, ids) for chosen in draws]
    return _curve(held, [*found, held_losses(model, held)], added)


def _checked_more(more: Any) -> NDArray[np.int64]:
    """Return numbers of labels, or raise."""
    values = np.atleast_1d(np.asarray(more))
    if values.ndim != 1 or not len(values) or values.dtype.kind not in "iu" or values.min() < 1:
        raise ValueError(
            f"more has numbers of labels that may be added, 1 or more each; got {more!r}."
        )
    return values.astype(np.int64)


def _curve(held: Held, found: list[Measured], added: NDArray[np.int64]) -> LearningCurve:
    """Return the curve of measured fits."""
    labels, sizes = len(held.rows), np.array([each.size for each in found])
    table = np.stack([each.loss for each in found])
    if np.isnan(table).all(axis=1).any():
        raise ValueError(
            "Too few labelled rows have all their labels; a learning curve counts those alone."
        )
    losses, noise = mean_losses(table, held.weights)
    law = fit_law(labels, sizes, losses, noise)
    numbers = np.concatenate([[0], added])
    outer = (1.0 - INSIDE) / 2.0
    low, middle, high = (_scores(law, labels + numbers, s) for s in (1.0 - outer, 0.5, outer))
    distinct = np.unique(sizes)
    means = np.array([1.0 - losses[sizes == size].mean() for size in distinct])
    unit = "R^2" if held.kind == "quantities" else "accuracy"
    return LearningCurve(distinct, means, labels, numbers, middle, low, high, unit)


def _scores(law: Law, numbers: NDArray[np.int64], share: float) -> Array:
    return np.array([1.0 - law.quantile(float(n), share) for n in numbers])


def mean_losses(losses: Array, weights: Array) -> tuple[Array, Array]:
    """Return the mean loss of every fit, and the covariances of these means.

    The same labelled rows score several fits. A row that is hard for one is hard for others, so the
    means err together. Variance and correlation of the losses of a row are pooled over all fits: a
    fit that was lucky with its few rows would otherwise look more certain than others. One loss
    more than there is counts as possible, because rows without a single error do not show that
    there are none.

    Parameters
    ----------
    losses : ndarray of shape (n_fits, n_labeled)
        The loss of every row; NaN where a fit saw its label.
    weights : ndarray of shape (n_labeled,)
        The weights of the rows.

    Examples
    --------
    >>> means, noise = mean_losses(np.array([[0.0, 1.0, np.nan, 1.0, 0.0]]), np.ones(5))
    >>> means.tolist(), noise.round(4).tolist()
    ([0.5], [[0.0829]])
    """
    told = ~np.isnan(losses)
    shares = np.where(told, weights, 0.0)
    shares /= shares.sum(axis=1, keepdims=True)
    values = np.where(told, losses, 0.0)
    means = (shares * values).sum(axis=1)
    apart = np.where(told, values - means[:, None], 0.0)
    variance = np.square(apart).sum() / told.sum()
    # Sums over pairs of different fits: those over all pairs, without each fit and itself.
    pairs = np.square(told.sum(axis=0)).sum() - told.sum()
    product = np.square(apart.sum(axis=0)).sum() - np.square(apart).sum()
    alike = np.clip(product / max(pairs * variance, 1e-300), 0.0, 1.0)
    joint = variance * (shares @ shares.T)
    noise = alike * joint + (1.0 - alike) * np.diag(np.diag(joint))
    return means, noise + 1.0 / (losses.shape[1] + 2) ** 2
