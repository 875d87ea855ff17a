"""Splitting partly labelled data for cross-validation."""

from .estimators.folds import LabeledKFold, LabeledStratifiedKFold

__all__ = ["LabeledKFold", "LabeledStratifiedKFold"]
