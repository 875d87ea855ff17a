"""What every regressing kernel machine shares: known targets, and scores about an origin."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils import check_consistent_length

from .labels import as_label_array, labeled_mask, missing_mask
from .machine import KernelMachine


class KernelRegressor(RegressorMixin, KernelMachine):
    """A kernel machine whose f is learnt about `_origin`."""

    fit_intercept: bool
    _origin: float = 0.0
    _given: tuple[NDArray[np.int64], NDArray[np.float64]]

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the target of every row of X."""
        return self._scores(X)[:, 0] + self._origin

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the coefficient of determination on the rows of (X, y) with a target."""
        from sklearn.metrics import r2_score  # as RegressorMixin does: it is slow to import

        labeled, known = self._known_targets(y)
        weights = self._weights_to_score(X, labeled, sample_weight)
        return float(r2_score(known, self.predict(X)[labeled], sample_weight=weights))

    @property
    def transduction_(self) -> NDArray[np.float64]:
        """Targets of the training rows."""
        targets = self._training_scores()[:, 0] + self._origin
        rows, given = self._given
        targets[rows] = given
        return targets

    def _encode_more(
        self, X: Any, y: Any, sample_weight: Any = None
    ) -> tuple[NDArray[np.bool_], NDArray[np.float64], NDArray[np.float64]]:
        """Return where a stream's next rows have targets, these about the origin, and weights."""
        labeled, known = self._known_targets(y)
        check_consistent_length(X, labeled)
        weights = self._validate_weights(sample_weight, X, labeled)
        if not hasattr(self, "_streamed_origin") and len(known):
            self._streamed_origin = float(np.median(known)) if self.fit_intercept else 0.0
            self._origin = self._streamed_origin
        return labeled, (known - self._origin)[:, None], weights

    def _known_targets(self, y: Any) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        values = as_label_array(y)
        if values.dtype.kind not in "biuf":
            try:
                known = np.where(missing_mask(values), np.nan, values.astype(object))
                values = known.astype(np.float64)
            except (TypeError, ValueError) as error:
                raise ValueError(f"y must hold numbers for regression: {error}") from None
        labeled = labeled_mask(values, self.unlabeled)
        known = values[labeled].astype(np.float64)
        if not np.isfinite(known).all():
            raise ValueError("Input y contains infinity; mark unknown targets with NaN.")
        return labeled, known
