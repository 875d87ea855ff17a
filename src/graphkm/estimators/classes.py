"""What every classifying kernel machine shares: classes as targets, and scores as labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.utils import check_consistent_length
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from .._util.warnings import quiet
from ..judge.folds import FEWEST, calibration_folds
from ..neighbours.distinct import distinct_rows
from .calibration import Calibration, class_columns
from .class_weights import ClassWeight, class_factors, labels_that_weigh
from .data_checks import require_memory_for_classes
from .given_rows import weights_to_score
from .kernel_machine import KernelMachine
from .labels import (
    as_label_array,
    labeled_mask,
    plain_labels,
    refuse_ambiguous,
    refuse_infinite,
)


class CodedLabels(NamedTuple):
    """Labels that are checked and coded, one against the rest."""

    labeled: NDArray[np.bool_]
    known: NDArray[np.int64]  # class numbers of the labelled rows
    targets: NDArray[np.float64]  # -1 and +1, of shape (n_labeled, 1 or n_classes)
    weights: NDArray[np.float64]

    def part(self, kept: NDArray[np.int64]) -> CodedLabels:
        """Return some of the labels; their rows are positions among the labelled ones."""
        labeled = np.zeros_like(self.labeled)
        labeled[np.flatnonzero(self.labeled)[kept]] = True
        return CodedLabels(labeled, self.known[kept], self.targets[kept], self.weights[kept])


def can_tell_probabilities(model: Any) -> bool:
    """Return True if there are probabilities; else raise AttributeError, which says why not."""
    if not getattr(model, "probability", True):
        raise AttributeError(
            "predict_proba needs fits to folds of the labels, which take their time; pass "
            "probability=True and fit again."
        )
    # A stream can always hold labels out. It does so when `calibration_` is read, not here.
    known = {"calibration_", "stream_"} & vars(model).keys()
    if hasattr(model, "classes_") and not known:
        raise AttributeError(
            f"This {type(model).__name__} has no probabilities: it comes from another program, or "
            "from a model file of an earlier version. Fit it again for predict_proba."
        )
    return True


class KernelClassifier(ClassifierMixin, KernelMachine):
    """A kernel machine with the further parameter `class_weight`."""

    class_weight: ClassWeight
    calibration_: Calibration

    def _encode_classes(self, X: Any, y: Any, sample_weight: Any) -> CodedLabels:
        """Check the labels, and code them as targets -1 and +1."""
        values = as_label_array(y)
        labeled = labeled_mask(values, self.unlabeled)
        labeled, given = self._labels_that_count(X, labeled, sample_weight)
        refuse_ambiguous(values, self.unlabeled)
        known = plain_labels(values[labeled])
        refuse_infinite(known)
        check_classification_targets(known)
        labeled, known, given = self._labels_that_weigh(labeled, known, given)
        if len(known) == 0:
            raise ValueError(
                "sample_weight (or class_weight) is 0 for every labelled row; at least one must "
                "be positive."
            )
        self.classes_, codes = np.unique(known, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"The labelled rows hold only one class, {self.classes_.tolist()[0]!r}; at least "
                "two classes are needed. Label rows of another class too; rows of weight 0 do not "
                "count."
            )
        weights = given * self._class_factors(codes)
        require_memory_for_classes(len(codes), len(self.classes_))
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
        labeled, given = self._counted(sample_weight, X, labeled)
        known = plain_labels(values[labeled])
        refuse_infinite(known)
        labeled, known, given = self._labels_that_weigh(labeled, known, given)
        if isinstance(self.class_weight, str):
            raise ValueError(
                f"class_weight={self.class_weight!r} counts all labels, and a stream has not "
                "shown them all; pass a dict of weights, or None."
            )
        self._set_stream_classes(values, known, classes)
        codes = self._codes(known)
        weights = given * self._class_factors(codes)
        require_memory_for_classes(len(codes), len(self.classes_))
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
        weights = weights_to_score(X, labeled, sample_weight)
        hits = self.predict(X)[labeled] == values[labeled]
        return float(np.average(hits, weights=weights))

    @available_if(can_tell_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the classes' probabilities, of shape (n, n_classes).

        Labels that were held out show how sure scores are: see `graphkm.estimators.Calibration`.
        The class that `predict` names has the largest probability, unless ``class_weight`` has
        moved the decisions: probabilities keep the shares of the classes among the labels.
        """
        return self._probabilities(X)

    @available_if(can_tell_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithms of the classes' probabilities."""
        return np.asarray(np.log(self.predict_proba(X)))

    def _probabilities(self, X: Any) -> NDArray[np.float64]:
        scores = self._scores(X)
        return self.calibration_.probabilities(class_columns(scores), winning_class(scores))

    def calibrated(
        self, scores: NDArray[np.float64], codes: NDArray[np.int64], weights: NDArray[np.float64]
    ) -> Calibration:
        """Return the calibration by held-out scores; `weights` contain the class weights."""
        factors = self._factor_of[codes] if self.class_weight is not None else np.ones(len(codes))
        weights = weights / np.where(factors > 0, factors, 1.0)
        used = weights > 0
        if np.count_nonzero(used) < FEWEST or not np.isfinite(scores[used]).all():
            return Calibration.usual(len(self.classes_), len(codes))
        columns = class_columns(scores[used])
        keeps = self.class_weight is None
        return Calibration.fit(columns, codes[used], weights[used], keeps=keeps)

    def calibrated_by_fits(
        self, X: Any, coded: CodedLabels, learn: Callable[[Any, CodedLabels], Any]
    ) -> Calibration:
        """Return the calibration by fits to folds; `learn` fits a copy to some of the labels."""
        rows = np.flatnonzero(coded.labeled)
        folds = calibration_folds(coded.known, coded.weights, distinct_rows(X[rows]))
        if not folds:
            return Calibration.usual(len(self.classes_), len(rows))
        scores = []
        for train, test in folds:
            fold = clone(self)
            fold.classes_, fold.n_features_in_ = self.classes_, self.n_features_in_
            with quiet():  # the user did not ask for these fits
                learn(fold, coded.part(train))
            scores.append(fold.decision_function(X[rows[test]]).reshape(len(test), -1))
        held = np.concatenate([test for _, test in folds])
        return self.calibrated(np.concatenate(scores), coded.known[held], coded.weights[held])

    def _transduce(self, X: Any, labeled: NDArray[np.bool_], codes: NDArray[np.int64]) -> None:
        """Keep the labels of the training rows; given ones stay."""

        def find(model: Any, rows: Any) -> NDArray[Any]:
            found = winning_class(model.training_scores(rows))
            found[labeled] = codes
            return found.astype(np.min_scalar_type(len(model.classes_) - 1))

        self._transduce_all(X, find)

    @property
    def transduction_(self) -> NDArray[Any]:
        """Labels of the training rows."""
        codes = self._remembered()
        return np.asarray(self.classes_[codes])

    def _labels_that_weigh(
        self, labeled: NDArray[np.bool_], known: NDArray[Any], weights: NDArray[np.float64]
    ) -> tuple[NDArray[np.bool_], NDArray[Any], NDArray[np.float64]]:
        """Return the labelled rows, labels and weights; classes of weight 0 are left out."""
        weighs = labels_that_weigh(self.class_weight, known)
        counted = labeled.copy()
        counted[labeled] = weighs
        return counted, known[weighs], weights[weighs]

    def _class_factors(self, codes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the factor of C that class_weight gives each labelled row."""
        if self.class_weight is None:
            return np.ones(len(codes))
        self._factor_of = class_factors(self.class_weight, self.classes_, self.classes_[codes])
        return self._factor_of[codes]


def winning_class(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the number of the winning class: of two classes the second one wins a tie.

    Two classes have one column, f, or one for each class. The first of more classes wins a tie.

    Examples
    --------
    >>> winning_class(np.array([[-1.0], [0.0]])), winning_class(np.array([[1.0, 0.0, 2.0]]))
    (array([0, 1]), array([2]))
    >>> winning_class(np.array([[0.5, 0.5]]))
    array([1])
    """
    if scores.shape[1] == 1:
        return (scores[:, 0] >= 0).astype(np.int64)
    if scores.shape[1] == 2:
        return (scores[:, 1] >= scores[:, 0]).astype(np.int64)
    return scores.argmax(axis=1)
