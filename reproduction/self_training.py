"""Self-training of a nearest-neighbour classifier."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neighbors import KNeighborsClassifier
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from graphkm.estimators.labels import as_label_array, labeled_mask, plain_labels, refuse_ambiguous


class SelfTrainingKNN(ClassifierMixin, BaseEstimator):
    """scikit-learn's `SelfTrainingClassifier` with its `KNeighborsClassifier`.

    This is the Self-KNN of the GKM paper, which cites Zhu and Goldberg (2009) and names no
    settings. The defaults are scikit-learn's, but labels are added until no row is confident
    enough. Labels and marks of unlabelled rows can be of all kinds that `graphkm` takes.

    Parameters
    ----------
    n_neighbors, n_jobs
        As in `KNeighborsClassifier`.
    threshold, criterion, k_best, max_iter
        As in `SelfTrainingClassifier`.
    unlabeled : default=-1
        The mark of unlabelled rows in y, as in `GKMClassifier`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    estimator_ : SelfTrainingClassifier
        The fitted estimator; its labels are class numbers.
    transduction_ : ndarray of shape (n_samples,)
        Labels of the training rows: given, added, or else predicted at the end.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> X, truth = make_moons(200, noise=0.1, random_state=0)
    >>> y = np.full(200, -1)
    >>> y[:20] = truth[:20]
    >>> clf = SelfTrainingKNN().fit(X, y)
    >>> clf.predict([[-1.0, 0.5], [2.0, 0.0]]).tolist()
    [0, 1]
    """

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        threshold: float = 0.75,
        criterion: str = "threshold",
        k_best: int = 10,
        max_iter: int | None = None,
        unlabeled: Any = -1,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.threshold = threshold
        self.criterion = criterion
        self.k_best = k_best
        self.max_iter = max_iter
        self.unlabeled = unlabeled
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from all rows; unlabelled ones have `unlabeled`, NaN, None or NA in y."""
        X = validate_data(self, X, accept_sparse="csr")
        codes = self._encode(y)
        if len(codes) != X.shape[0]:
            raise ValueError(f"X has {X.shape[0]} rows and y {len(codes)} labels; pass as many.")
        n_labeled = int((codes >= 0).sum())
        if isinstance(self.n_neighbors, int) and self.n_neighbors > n_labeled:
            raise ValueError(
                f"n_neighbors={self.n_neighbors}, but only {n_labeled} rows are labelled at the "
                f"start; pass n_neighbors={n_labeled} or less, or label more rows."
            )
        self.estimator_ = SelfTrainingClassifier(
            KNeighborsClassifier(self.n_neighbors, n_jobs=self.n_jobs),
            threshold=self.threshold,
            criterion=self.criterion,
            k_best=self.k_best,
            max_iter=self.max_iter,
        )
        with warnings.catch_warnings():
            # If all rows are labelled, this is an ordinary classifier.
            warnings.filterwarnings("ignore", "y contains no unlabeled samples")
            self.estimator_.fit(X, codes)
        self.n_iter_ = self.estimator_.n_iter_
        added = self.estimator_.transduction_
        rest = added < 0
        if rest.any():
            added[rest] = self.estimator_.predict(X[rest])
        self.transduction_ = self.classes_[added]
        return self

    def _encode(self, y: Any) -> NDArray[np.int64]:
        """Return class numbers, -1 where there is no label."""
        values = as_label_array(y)
        labeled = labeled_mask(values, self.unlabeled)
        if not labeled.any():
            raise ValueError(
                f"None of the {len(labeled)} rows is labelled: y holds only missing values or the "
                f"marker unlabeled={self.unlabeled!r}. Label some rows of every class, or name "
                "the right marker."
            )
        refuse_ambiguous(values, self.unlabeled)
        known = plain_labels(values[labeled])
        if known.dtype.kind == "f" and not np.isfinite(known).all():
            raise ValueError("Input y contains infinity; mark unlabelled rows with NaN.")
        check_classification_targets(known)
        self.classes_, numbers = np.unique(known, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"The labelled rows hold only one class, {self.classes_.tolist()[0]!r}; at least "
                "two classes are needed. Label rows of another class too."
            )
        codes = np.full(len(values), -1)
        codes[labeled] = numbers
        return codes

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of every row of X."""
        codes = self._call("predict", X)
        return np.asarray(self.classes_[codes])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the share of every class among the neighbours, of shape (n, n_classes)."""
        return self._call("predict_proba", X)

    def _call(self, method: str, X: Any) -> NDArray[Any]:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr")
        return np.asarray(getattr(self.estimator_, method)(X))

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what the estimator takes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags
