"""What every classifying kernel machine shares: classes as targets, and scores as labels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import check_consistent_length, compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from .labels import as_label_array, labeled_mask, plain_labels, refuse_ambiguous
from .machine import KernelMachine


class CodedLabels(NamedTuple):
    """Labels that are checked and coded, one against the rest."""

    labeled: NDArray[np.bool_]
    known: NDArray[np.int64]  # class numbers of the labelled rows
    targets: NDArray[np.float64]  # -1 and +1, of shape (n_labeled, 1 or n_classes)
    weights: NDArray[np.float64]


class KernelClassifier(ClassifierMixin, KernelMachine):
    """A kernel machine with the further parameter `class_weight`."""

    class_weight: dict[Any, float] | str | None
    _given: tuple[NDArray[np.int64], NDArray[np.int64]]

    def _encode_classes(self, X: Any, y: Any, sample_weight: Any) -> CodedLabels:
        """Check the labels, and code them as targets -1 and +1."""
        values = as_label_array(y)
        labeled = labeled_mask(values, self.unlabeled)
        self._check_labels(X, labeled)
        refuse_ambiguous(values, self.unlabeled)
        known = plain_labels(values[labeled])
        if known.dtype.kind == "f" and not np.isfinite(known).all():
            raise ValueError("Input y contains infinity; mark unlabelled rows with NaN.")
        check_classification_targets(known)
        self.classes_, codes = np.unique(known, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"The labelled rows hold only one class, {self.classes_.tolist()[0]!r}; at least "
                "two classes are needed. Label rows of another class too."
            )
        weights = self._validate_weights(sample_weight, X, labeled) * self._class_factors(codes)
        first = 1 if len(self.classes_) == 2 else 0
        targets = np.where(codes[:, None] == np.arange(first, len(self.classes_)), 1.0, -1.0)
        return CodedLabels(labeled, codes, targets, weights)

    def _encode_more(
        self, X: Any, y: Any, sample_weight: Any = None, classes: Any = None
    ) -> tuple[NDArray[np.bool_], NDArray[np.float64], NDArray[np.float64]]:
        """Return which of a stream's next rows are labelled, their targets and their weights."""
        values = as_label_array(y)
        labeled = labeled_mask(values, self.unlabeled)
        check_consistent_length(X, labeled)
        known = plain_labels(values[labeled])
        if known.dtype.kind == "f" and not np.isfinite(known).all():
            raise ValueError("Input y contains infinity; mark unlabelled rows with NaN.")
        if isinstance(self.class_weight, str):
            raise ValueError(
                f"class_weight={self.class_weight!r} counts labels, of which a stream has not "
                "shown all; pass a dict of weights, or None."
            )
        self._set_stream_classes(values, known, classes)
        codes = self._codes(known)
        weights = self._validate_weights(sample_weight, X, labeled) * self._class_factors(codes)
        first = 1 if len(self.classes_) == 2 else 0
        targets = np.where(codes[:, None] == np.arange(first, len(self.classes_)), 1.0, -1.0)
        return labeled, targets, weights

    def _set_stream_classes(self, values: NDArray[Any], known: NDArray[Any], classes: Any) -> None:
        """Fix the classes with the first chunk; later ones may repeat them."""
        given = None if classes is None else np.unique(plain_labels(as_label_array(classes)))
        if hasattr(self, "stream_"):
            if given is not None and not np.array_equal(given, self.classes_):
                raise ValueError(
                    f"classes={given.tolist()} differ from those of the first call of "
                    f"partial_fit, {self.classes_.tolist()}; pass the same, or None."
                )
            return
        if given is None:
            refuse_ambiguous(values, self.unlabeled)
            given = np.unique(known)
        elif not labeled_mask(given, self.unlabeled).all():
            raise ValueError(
                f"classes={given.tolist()} hold the mark of unlabelled rows, "
                f"unlabeled={self.unlabeled!r}; pass another mark, or unlabeled=None."
            )
        if len(given) < 2:
            raise ValueError(
                f"The first call of partial_fit knows of {len(given)} classes, "
                f"{given.tolist()}; pass classes=, all labels that the stream may hold."
            )
        check_classification_targets(given)
        self.classes_ = given

    def _codes(self, known: NDArray[Any]) -> NDArray[np.int64]:
        """Return the class numbers of labels."""
        if len(known) == 0:
            return np.empty(0, np.int64)
        strange = ~np.isin(known, self.classes_)
        if strange.any():
            raise ValueError(
                f"y holds the label {known[strange].tolist()[0]!r}, which is none of the classes "
                f"{self.classes_.tolist()} of the first call of partial_fit; pass classes= there, "
                "all labels that the stream may hold."
            )
        return np.searchsorted(self.classes_, known)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return f(x): of shape (n,) for two classes, (n, n_classes) for more."""
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of every row of X."""
        codes = winning_class(self._scores(X))
        return np.asarray(self.classes_[codes])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on the labelled rows of (X, y)."""
        values = as_label_array(y)
        labeled = labeled_mask(values, self.unlabeled)
        weights = self._weights_to_score(X, labeled, sample_weight)
        hits = self.predict(X)[labeled] == values[labeled]
        return float(np.average(hits, weights=weights))

    @property
    def transduction_(self) -> NDArray[Any]:
        """Labels of the training rows."""
        codes = winning_class(self._training_scores())
        rows, given = self._given
        codes[rows] = given
        return np.asarray(self.classes_[codes])

    def _class_factors(self, codes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the factor of C that class_weight gives each labelled row."""
        if self.class_weight is None:
            return np.ones(len(codes))
        factors = compute_class_weight(
            self.class_weight, classes=self.classes_, y=self.classes_[codes]
        )
        if not (np.isfinite(factors) & (factors >= 0)).all():
            raise ValueError(
                f"class_weight must hold finite numbers >= 0, got {self.class_weight!r}."
            )
        return np.asarray(factors[codes], dtype=np.float64)


def winning_class(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the number of the winning class. With two classes f = 0 is the second class.

    Examples
    --------
    >>> winning_class(np.array([[-1.0], [0.0]])), winning_class(np.array([[1.0, 0.0, 2.0]]))
    (array([0, 1]), array([2]))
    """
    if scores.shape[1] == 1:
        return (scores[:, 0] >= 0).astype(np.int64)
    return scores.argmax(axis=1)
