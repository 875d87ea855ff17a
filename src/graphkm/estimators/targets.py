"""What every regressing kernel machine shares: known targets, and the units they are learnt in."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils import check_consistent_length

from ..expansion import KernelExpansion
from .given_rows import weights_to_score
from .kernel_machine import KernelMachine
from .labels import as_label_array, labeled_mask, missing_mask, refuse_infinite

_SHARE, _WITHIN = 0.8, 1.2815515655446004  # this share is within so many standard deviations


class KernelRegressor(RegressorMixin, KernelMachine):
    """A kernel machine that learns ``(y - origin_) / spread_``, and answers in the units of y.

    So the problem is the same whatever the units. Only this class turns targets into spreads and
    back.
    """

    fit_intercept: bool
    origin_: float = 0.0
    spread_: float = 1.0

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the target of every row of X."""
        return self._decoded(self._scores(X)[:, 0])

    def _coded(self, known: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return targets as they are learnt, of shape (n, 1)."""
        return ((known - self.origin_) / self.spread_)[:, None]

    def _decoded(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return scores in the units of y."""
        return self.origin_ + self.spread_ * scores

    def set_expansion(self, f: KernelExpansion) -> None:
        """Set the fitted f and the attributes that show it, in the units of y."""
        super().set_expansion(f)
        self.dual_coef_ = self.spread_ * self.dual_coef_
        self.intercept_ = self._decoded(self.intercept_)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the coefficient of determination on the rows of (X, y) with a target."""
        from sklearn.metrics import r2_score  # as RegressorMixin does: it is slow to import

        labeled, known = self._known_targets(y)
        weights = weights_to_score(X, labeled, sample_weight)
        return float(r2_score(known, self.predict(X)[labeled], sample_weight=weights))

    def _transduce(self, X: Any, labeled: NDArray[np.bool_], known: NDArray[np.float64]) -> None:
        """Keep the targets of the training rows; given ones stay."""

        def find(model: Any, rows: Any) -> NDArray[np.float64]:
            found: NDArray[np.float64] = model._decoded(model.training_scores(rows)[:, 0])
            found[labeled] = known
            return found

        self._transduce_all(X, find)

    @property
    def transduction_(self) -> NDArray[np.float64]:
        """Targets of the training rows."""
        return self._remembered().copy()

    def _encode_more(
        self, X: Any, y: Any, sample_weight: Any = None
    ) -> tuple[NDArray[np.bool_], NDArray[np.float64], NDArray[np.float64]]:
        """Return which of a stream's next rows have targets, the coded targets, and weights."""
        labeled, known, weights = self._known_rows(X, y, sample_weight)
        return labeled, self._coded(known), weights

    def _known_rows(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[NDArray[np.bool_], NDArray[np.float64], NDArray[np.float64]]:
        """Return which rows have targets, the targets as given, and their weights."""
        labeled, known = self._known_targets(y)
        check_consistent_length(X, labeled)
        counted, weights = self._counted(sample_weight, X, labeled)
        return counted, known[counted[labeled]], weights

    def _known_rows_of_fit(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[NDArray[np.bool_], NDArray[np.float64], NDArray[np.float64]]:
        """Return what `_known_rows` does; raise if no row has a target that counts."""
        labeled, known = self._known_targets(y)
        counted, weights = self._labels_that_count(X, labeled, sample_weight)
        return counted, known[counted[labeled]], weights

    def _known_targets(self, y: Any) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        return known_targets(y, self.unlabeled)


def known_targets(y: Any, unlabeled: Any) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return which rows have a target, and the targets.

    Examples
    --------
    >>> known_targets([1.5, None, 2.0], unlabeled=None)
    (array([ True, False,  True]), array([1.5, 2. ]))
    """
    values = as_label_array(y)
    if values.dtype.kind not in "biuf":
        try:
            known = np.where(missing_mask(values), np.nan, values.astype(object))
            values = known.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"y must hold numbers for regression: {error}") from None
    labeled = labeled_mask(values, unlabeled)
    known = values[labeled].astype(np.float64)
    refuse_infinite(known)
    return labeled, known


def spread_of(deviations: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """Return the spread: four of five targets lie within 1.28 spreads of their origin.

    For normal targets it is the standard deviation, and a few wild targets do not change it. If
    four of five lie at the origin itself, it is the mean distance of the others; if all do, it
    is 1.

    Examples
    --------
    >>> normal = np.random.default_rng(0).normal(size=10_000)
    >>> round(spread_of(normal, np.ones(10_000)), 1), spread_of(np.zeros(3), np.ones(3))
    (1.0, 1.0)
    """
    far = np.abs(deviations)
    typical = weighted_quantile(far, weights, _SHARE) / _WITHIN
    if not typical and (far * weights).any():
        typical = float(np.average(far[far > 0], weights=weights[far > 0]))
    return typical or 1.0


def weighted_quantile(
    values: NDArray[np.float64], weights: NDArray[np.float64], share: float
) -> float:
    """Return the value below which this share of all weights lies, or the mean of two such values.

    If all weights are 0, they count as equal.

    Examples
    --------
    >>> values = np.array([4.0, 1.0, 2.0])
    >>> [weighted_quantile(values, np.array(w), 0.5) for w in ([1, 1, 1], [1, 1, 2], [1, 0, 1])]
    [2.0, 2.0, 3.0]
    """
    order = np.argsort(values, kind="stable")
    sums = np.cumsum(weights[order] if weights.any() else np.ones(len(values)))
    reached = share * sums[-1]
    close = 1e-12 * sums[-1]
    ends = np.searchsorted(sums, [reached - close, reached + close])
    return float(values[order[np.minimum(ends, len(values) - 1)]].mean())
