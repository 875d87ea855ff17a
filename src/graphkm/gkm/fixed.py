"""Estimators that give known answers for positions, so that any scorer can judge them."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from ..machines.classes import winning_class
from .scaling import Scaling, class_scores, differences, probabilities


class FixedClassifier(ClassifierMixin, BaseEstimator):
    """Gives known shares for positions, so that any scorer can judge them."""

    def __init__(self, shares: Any, classes: Any, scaling: Scaling | None) -> None:
        self.shares, self.classes, self.scaling = shares, classes, scaling
        self.classes_ = classes

    def predict(self, rows: Any) -> Any:
        """Return labels."""
        return self.classes_[winning_class(class_scores(self.shares[rows], self.scaling))]

    def predict_proba(self, rows: Any) -> Any:
        """Return probabilities."""
        return probabilities(self.shares[rows], self.scaling)

    def decision_function(self, rows: Any) -> Any:
        """Return scores."""
        return differences(class_scores(self.shares[rows], self.scaling))


class FixedRegressor(RegressorMixin, BaseEstimator):
    """Gives known values for positions, so that any scorer can judge them."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def fit(self, X: Any, y: Any) -> Self:
        """Learn nothing."""
        return self

    def predict(self, rows: Any) -> Any:
        """Return values."""
        return self.values[rows]
