"""Splitting partly labelled data for cross-validation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import BaseCrossValidator, KFold, StratifiedKFold

from ._util.parameters import check_count
from ._util.warnings import quiet
from .estimators.labels import as_label_array, labeled_mask, plain_labels
from .neighbours.distinct import Copies, equal_items


class LabeledKFold(BaseCrossValidator):
    """Folds of the labelled rows, with every unlabelled row in every training fold.

    Test folds hold labelled rows only, so that any scoring works. A labelled row is in the
    test fold of exactly one split; unlabelled rows are in none. Labelled rows that are equal share
    a fold: a copy among the training rows would give the label away.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    shuffle : bool, default=True
        Whether the rows are shuffled before they are divided into folds.
    random_state : int, RandomState or None, default=0
        Decides the shuffling. By default every call gives the same folds; None gives others each
        time.
    unlabeled : default=-1
        Marks unlabelled rows in y, beside NaN, None, NA and empty texts; as in `GKMClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.arange(6)[:, None], np.array([0.5, 1.5, np.nan, 2.5, 3.5, np.nan])
    >>> for train, test in LabeledKFold(n_splits=2, shuffle=False).split(X, y):
    ...     print(train, test)
    [2 3 4 5] [0 1]
    [0 1 2 5] [3 4]
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        shuffle: bool = True,
        random_state: Any = 0,
        unlabeled: Any = -1,
    ) -> None:
        self.n_splits = check_count("n_splits", n_splits, least=2)
        self.shuffle = shuffle
        self.random_state = random_state
        self.unlabeled = unlabeled

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds."""
        return int(self.n_splits)

    def split(
        self, X: Any, y: Any, groups: Any = None
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Yield the rows to train on and the rows to test on.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows. They only show which rows are copies. Zeros may be passed instead.
        y : array-like of shape (n_samples,)
            Labels or targets, with the marks of unlabelled rows.
        groups : object
            Not used; for compatibility.
        """
        values = as_label_array(y)
        labeled = np.flatnonzero(labeled_mask(values, self.unlabeled))
        if len(labeled) == 0:
            raise ValueError(
                f"None of the {len(values)} rows is labelled (unlabeled={self.unlabeled!r}); "
                "there is nothing to test on. Label some rows, or pass another `unlabeled`."
            )
        known = plain_labels(values[labeled])
        copies = Copies.of(labeled if X is None else equal_items(X).place[labeled])
        if len(copies.first) == 1:
            copies = Copies.of(labeled)  # X holds zeros instead of the rows
        for sets in self._test_folds(known[copies.first]):
            rows = labeled[np.isin(copies.place, sets)]
            yield np.setdiff1d(np.arange(len(values)), rows), rows

    def _test_folds(self, known: NDArray[Any]) -> Iterator[NDArray[np.int64]]:
        if len(known) < self.n_splits:
            raise ValueError(
                f"n_splits={self.n_splits} is more than the {len(known)} labelled rows (copies "
                "count once); pass fewer folds, or label more rows."
            )
        for _, test in KFold(self.n_splits, **self._shuffling()).split(known):
            yield test

    def _shuffling(self) -> dict[str, Any]:
        return {
            "shuffle": self.shuffle,
            "random_state": self.random_state if self.shuffle else None,
        }


class LabeledStratifiedKFold(LabeledKFold):
    """`LabeledKFold` whose folds hold the classes in the proportions of all labelled rows.

    A class with fewer labelled rows than folds is absent from some test folds.

    Parameters
    ----------
    n_splits, shuffle, random_state, unlabeled
        As in `LabeledKFold`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import cross_val_score
    >>> from graphkm import GKMClassifier
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> y = np.where(np.arange(60) < 20, X[:, 0] > 0, -1)
    >>> folds = LabeledStratifiedKFold(n_splits=4, random_state=0)
    >>> cross_val_score(GKMClassifier(), X, y, cv=folds, scoring="accuracy").shape
    (4,)
    """

    def _test_folds(self, known: NDArray[Any]) -> Iterator[NDArray[np.int64]]:
        _, codes, counts = np.unique(known, return_inverse=True, return_counts=True)
        if counts.max() < self.n_splits:
            raise ValueError(
                f"n_splits={self.n_splits} is more than the labelled rows of every class, at most "
                f"{counts.max()} (copies count once); pass fewer folds, or label more rows."
            )
        folds = StratifiedKFold(self.n_splits, **self._shuffling())
        with quiet("The least populated class"):
            splits = list(folds.split(np.zeros(len(codes)), codes))
        for _, test in splits:
            yield test
