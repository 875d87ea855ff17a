"""What a fitted classifier says: classes, several labels, and how good they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from ..estimators.classes import winning_class
from ..estimators.given_rows import weights_to_score
from ..estimators.labels import as_label_array, labeled_mask
from .answers import Answering
from .label_tables import is_table, table_of
from .ordered import nearest_class
from .target import Target, share_target
from .training import Training
from .views import unmeasured

Array = NDArray[np.float64]

_NEVER, _ALWAYS = np.finfo(np.float64).tiny, 1.0 - 2.0**-53  # their odds have logarithms


class ClassAnswers(Answering):
    """A mixture that is asked for classes, or for several labels of a row."""

    classes_: NDArray[Any]
    order_: NDArray[Any] | None
    thresholds_: Array
    unlabeled: Any

    def numbers(self, answers: NDArray[Any]) -> NDArray[Any]:
        """Return classes as their numbers; several labels are numbers already."""
        if answers.ndim == 2:
            return answers.astype(np.uint8)
        codes = np.searchsorted(self.classes_, answers)
        return codes.astype(np.min_scalar_type(len(self.classes_) - 1))

    def _answers(self, found: NDArray[np.float64]) -> NDArray[Any]:
        if self.mixture_.kind == "labels":
            return (found > self.thresholds_).astype(np.int64)
        if self.order_ is not None:
            places = np.searchsorted(self.classes_, self.order_)
            return np.asarray(self.order_[nearest_class(found[:, places])])
        return np.asarray(self.classes_[winning_class(found)])

    def _keep_answers(self, training: Training, target: Target) -> NDArray[np.float64] | None:
        found = super()._keep_answers(training, target)
        if found is not None:
            self.label_distributions_ = found
        return found

    def predict_proba(self, X: Any, affinity: Any = None, ids: Any = None) -> NDArray[np.float64]:
        """Return the probability of every class, or of every label; parameters as of predict."""
        return self._mixed(X, affinity, ids)

    def predict_log_proba(
        self, X: Any, affinity: Any = None, ids: Any = None
    ) -> NDArray[np.float64]:
        """Return the logarithms of the classes' probabilities; parameters as of predict."""
        return np.asarray(np.log(self._mixed(X, affinity, ids)))

    def decision_function(
        self, X: Any, affinity: Any = None, ids: Any = None
    ) -> NDArray[np.float64]:
        """Return the logarithms of the probabilities; for two classes their difference.

        Several labels have the logarithms of their odds, above 0 where `predict` gives the label.
        """
        found = self._mixed(X, affinity, ids)
        if self.mixture_.kind == "labels":
            return np.asarray(_log_odds(found) - _log_odds(self.thresholds_))
        logs = np.log(found)
        return logs[:, 1] - logs[:, 0] if logs.shape[1] == 2 else logs

    def score(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        affinity: Any = None,
        ids: Any = None,
    ) -> float:
        """Return the accuracy on the labelled rows of (X, y).

        A share of a class counts as that much of a label. With several labels per row it is the
        share of rows of which all labels are right, as in scikit-learn; rows with unknown labels
        do not count.
        """
        found = self.predict(X, affinity, ids)
        target, n = self._to_score(y)
        labeled = np.isin(np.arange(n), target.labeled)
        weights_to_score(labeled if unmeasured(X) else X, labeled, sample_weight)  # checks them
        hits = found[target.labeled] == target.y
        weights = np.ones(len(hits)) if target.shares is None else target.shares
        if sample_weight is not None:
            weights = weights * np.asarray(sample_weight)[target.labeled]
        return float(np.average(hits.reshape(len(hits), -1).all(axis=1), weights=weights))

    def _to_score(self, y: Any) -> tuple[Target, int]:
        """Return the labels that a score counts, and the number of rows."""
        if self.mixture_.kind == "labels":
            values = table_of(y, self.unlabeled, self.classes_).values
            whole = np.flatnonzero(~np.isnan(values).any(axis=1))
            return Target(whole, values[whole], "labels"), len(values)
        if is_table(y):
            table = table_of(y, self.unlabeled, self.classes_)
            every = np.ones(len(table.values), dtype=bool)
            return share_target(table, every, self.classes_), len(every)
        truth = as_label_array(y)
        labeled = np.flatnonzero(labeled_mask(truth, self.unlabeled))
        return Target(labeled, truth[labeled], "classes"), len(truth)  # NA cannot be compared


def _log_odds(shares: Array) -> Array:
    """Return finite logarithms of odds."""
    return np.asarray(logit(np.clip(shares, _NEVER, _ALWAYS)))
