"""The methods that are compared: their grids, and estimators for given parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC

from ..gkm import GKMClassifierCV
from ..machines import LaplacianSVC, SelfTrainingKNN, TransductiveSVC
from .protocol import Protocol

Parameters = dict[str, Any]
Stages = list[list[Parameters]]


@dataclass(frozen=True)
class Context:
    """What a fit needs beside data and parameters.

    Parameters
    ----------
    protocol : Protocol
        The folder's.
    steps : callable
        The number of steps T for so many rows.
    seed : int
        Decides all draws of the fit.
    """

    protocol: Protocol
    steps: Callable[[int], int]
    seed: int


@dataclass(frozen=True)
class Method:
    """A way to learn; subclasses say which.

    Parameters
    ----------
    name : str
        In results.
    title : str
        In tables.
    divisor : int
        Parameters are chosen on the protocol's rows divided by this: more for slower methods.
    labels : {"partly", "labeled rows", "all"}
        What it sees: all rows and some labels, the labelled rows alone, or all labels.
    """

    name: str
    title: str
    divisor: int = 1
    labels: str = "partly"

    def stages(self, protocol: Protocol) -> Stages:
        """Return lists of candidates; each list is tried with the best of the one before."""
        return []

    def make(self, parameters: Parameters, n_labeled: int, n: int, context: Context) -> Any:
        """Return an estimator for n rows, n_labeled of them labelled."""
        raise NotImplementedError

    def fit(self, X: Any, y: NDArray[np.int64], parameters: Parameters, context: Context) -> Any:
        """Return a model of partly labelled rows."""
        if self.labels == "labeled rows":
            X, y = X[y >= 0], y[y >= 0]
        return self.make(parameters, int((y >= 0).sum()), X.shape[0], context).fit(X, y)

    def accuracies(
        self, candidates: list[Parameters], train: tuple[Any, Any], test: tuple[Any, Any],
        context: Context,
    ) -> list[float]:  # fmt: skip
        """Return every candidate's accuracy on `test` after a fit on `train`."""
        return [self._accuracy(each, train, test, context) for each in candidates]

    def _accuracy(
        self, parameters: Parameters, train: tuple[Any, Any], test: tuple[Any, Any],
        context: Context,
    ) -> float:  # fmt: skip
        try:
            model = self.fit(*train, parameters, context)
        except ValueError as error:
            if "underflow" not in str(error):
                raise
            return 0.0  # a gamma of the grid that makes all rows strangers to each other
        return float(np.mean(model.predict(test[0]) == test[1]))


@dataclass(frozen=True)
class SupportVectors(Method):
    """scikit-learn's SVC, which is LIBSVM."""

    def stages(self, protocol: Protocol) -> Stages:
        """Return the paper's grid."""
        return [grid(C=protocol.costs, gamma=protocol.widths)]

    def make(self, parameters: Parameters, n_labeled: int, n: int, context: Context) -> Any:
        """Return SVC."""
        return SVC(**parameters)


@dataclass(frozen=True)
class LaplacianSVM(Method):
    """LapSVM by preconditioned conjugate gradients, as in the paper."""

    def stages(self, protocol: Protocol) -> Stages:
        """Return the paper's grid of both weights at every gamma, or gamma first."""
        weights: tuple[float, ...] = (1e-6, 1e-4, 1e-2, 1e-1, 1.0, 10.0, 100.0)
        if protocol.name == "full":
            return [grid(gamma=protocol.widths, gamma_A=weights, gamma_I=weights)]
        weights = weights[1::2] if protocol.name == "quick" else weights
        first = grid(gamma=protocol.widths, gamma_A=(1e-2,), gamma_I=(1.0,))
        return [first, grid(gamma_A=weights, gamma_I=weights)]

    def make(self, parameters: Parameters, n_labeled: int, n: int, context: Context) -> Any:
        """Return LaplacianSVC; half of the memory may go to its matrices."""
        limit = context.protocol.memory_limit / 2
        k = min(20, n - 1)
        return LaplacianSVC(**parameters, n_neighbors=k, solver="cg", max_memory=limit, n_jobs=1)


@dataclass(frozen=True)
class ConcaveConvex(Method):
    """CCCP-TSVM with s = 0 and U C* = L C, as in the paper."""

    def stages(self, protocol: Protocol) -> Stages:
        """Return the paper's grid."""
        return [grid(C=protocol.costs, gamma=protocol.widths)]

    def make(self, parameters: Parameters, n_labeled: int, n: int, context: Context) -> Any:
        """Return TransductiveSVC."""
        return TransductiveSVC(**parameters, s=0.0, C_unlabeled="auto", n_jobs=1)


@dataclass(frozen=True)
class SelfTraining(Method):
    """Self-KNN; the paper names no settings, so the number of neighbours is chosen too."""

    def stages(self, protocol: Protocol) -> Stages:
        """Return numbers of neighbours."""
        return [grid(n_neighbors=(1, 3, 5, 9))]

    def make(self, parameters: Parameters, n_labeled: int, n: int, context: Context) -> Any:
        """Return SelfTrainingKNN with no more neighbours than labels."""
        return SelfTrainingKNN(min(int(parameters["n_neighbors"]), n_labeled), n_jobs=1)


@dataclass(frozen=True)
class BestGKM(Method):
    """GKM with this library's batch solver, graphs and own search of parameters."""

    def make(self, parameters: Parameters, n_labeled: int, n: int, context: Context) -> Any:
        """Return GKMClassifierCV, with all rows alike: what is measured is plain accuracy."""
        return GKMClassifierCV(class_weight=None, random_state=context.seed, n_jobs=1)


def grid(**values: Iterable[Any]) -> list[Parameters]:
    """Return all combinations.

    Examples
    --------
    >>> grid(C=(1, 2), gamma=(3,))
    [{'C': 1, 'gamma': 3}, {'C': 2, 'gamma': 3}]
    """
    return [dict(zip(values, each, strict=True)) for each in product(*values.values())]
