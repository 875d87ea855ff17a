"""Several classes by votes of all pairs, as in LIBSVM."""

from __future__ import annotations

from itertools import combinations
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..estimators.array_kinds import own_names
from ..estimators.classes import KernelClassifier
from ..kernels import Kernel


@own_names
class PairwiseClassifier(KernelClassifier):
    """A classifier from another program's file, with one function for every pair of classes.

    It predicts and is saved like the library's own models, but cannot be fitted. The function of
    a pair votes for its first class where it is positive, else for its second. The class with the
    most votes wins. If several have the most, the one that the file lists first wins.

    Parameters
    ----------
    kernel : str or Kernel, default="rbf"
        Kernel of the functions.
    precision : {"single", "double"}, default="double"
        Precision of the kernel values.
    n_jobs : int or None, default=None
        Threads; None is every core of the process.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, in order.
    votes_order_ : ndarray of shape (n_classes,)
        Numbers of the classes in the order of the file. Pairs are counted in this order.
    """

    votes_order_: NDArray[np.int64]
    unlabeled = None
    class_weight = None
    gamma = "scale"

    def __init__(
        self,
        kernel: str | Kernel = "rbf",
        *,
        precision: str = "double",
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.precision = precision
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> Self:
        """Raise TypeError: this model is already fitted."""
        raise TypeError(
            "A PairwiseClassifier comes from from_libsvm and cannot be fitted; fit a GKMClassifier."
        )

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the functions of the pairs (0, 1), (0, 2), ..., (1, 2), ... at every row."""
        return self._scores(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label with the most votes for every row of X."""
        scores = self._scores(X)
        votes = np.zeros((len(scores), len(self.classes_)), np.int64)
        for column, (first, second) in enumerate(combinations(range(len(self.classes_)), 2)):
            positive = scores[:, column] > 0
            votes[:, first] += positive
            votes[:, second] += ~positive
        return np.asarray(self.classes_[self.votes_order_[votes.argmax(axis=1)]])
