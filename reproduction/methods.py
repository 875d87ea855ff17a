"""The methods that are compared: their grids, and estimators for given parameters.

Every estimator of the experiments is made here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC

from graphkm import KNN, SGD, GKMClassifier, GKMClassifierCV
from graphkm.machines import LaplacianSVC, TransductiveSVC
from graphkm.machines.checks import UnderflowError
from graphkm.machines.classes import winning_class

from .gkm import PaperGKM
from .protocol import Protocol
from .self_training import SelfTrainingKNN

LOSSES = ("hinge", "logistic")
POWERS = (1, 2, 3)
_WEIGHTS = (1e-6, 1e-4, 1e-2, 1e-1, 1.0, 10.0, 100.0)  # LapSVM's

Parameters = dict[str, Any]
Stages = list[list[Parameters]]
Rows = tuple[Any, NDArray[np.int64]]
"""X and y."""


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
        return [grid(C=protocol.costs, gamma=protocol.widths)]

    def make(self, parameters: Parameters, n_labeled: int, n: int, context: Context) -> Any:
        """Return an estimator for n rows, n_labeled of them labelled."""
        raise NotImplementedError

    def fit(self, X: Any, y: NDArray[np.int64], parameters: Parameters, context: Context) -> Any:
        """Return a model of partly labelled rows."""
        if self.labels == "labeled rows":
            X, y = X[y >= 0], y[y >= 0]
        return self.make(parameters, int((y >= 0).sum()), X.shape[0], context).fit(X, y)

    def accuracies(
        self, candidates: list[Parameters], train: Rows, test: Rows, context: Context
    ) -> list[float]:
        """Return every candidate's accuracy on `test` after a fit on `train`."""
        return [self._accuracy(each, train, test, context) for each in candidates]

    def _accuracy(self, parameters: Parameters, train: Rows, test: Rows, context: Context) -> float:
        try:
            model = self.fit(*train, parameters, context)
        except UnderflowError:
            return 0.0  # with this gamma of the grid no row is similar to any other
        return float(np.mean(model.predict(test[0]) == test[1]))


@dataclass(frozen=True, kw_only=True)
class PaperSettings(Method):
    """GKM with the paper's solver, kernel widths and number of steps.

    The printed form has an intercept, by a kernel of K + 1; the released code has none.

    Parameters
    ----------
    gkm : PaperGKM
        Loss, p, and whether there is a graph.
    """

    gkm: PaperGKM

    def stages(self, protocol: Protocol) -> Stages:
        """Return the paper's grid, smallest gamma first: ties go to the first candidate."""
        return [grid(gamma=protocol.widths, C=protocol.costs)]

    def make(self, parameters: Parameters, n_labeled: int, n: int, context: Context) -> Any:
        """Return GKMClassifier."""
        as_printed = context.protocol.as_printed
        C, C_graph = self.gkm.constants(parameters["C"], n_labeled, as_printed)
        return GKMClassifier(
            C=C,
            C_graph=C_graph,
            loss=self.gkm.loss,
            gamma=parameters["gamma"],
            graph="full" if as_printed else "bipartite",
            smoothness=self.gkm.p,
            solver=SGD(step="explicit", max_iter=context.steps(n)),
            fit_intercept=as_printed,
            random_state=context.seed,
            n_jobs=1,
        )

    def accuracies(
        self, candidates: list[Parameters], train: Rows, test: Rows, context: Context
    ) -> list[float]:
        """Return every candidate's accuracy; those of one gamma share all kernel values."""
        answer: dict[tuple[float, float], float] = {}
        for gamma in dict.fromkeys(each["gamma"] for each in candidates):
            costs = [each["C"] for each in candidates if each["gamma"] == gamma]
            found = self._one_gamma(gamma, costs, train, test, context)
            answer.update(zip(((gamma, C) for C in costs), found, strict=True))
        return [answer[each["gamma"], each["C"]] for each in candidates]

    def _one_gamma(
        self, gamma: float, costs: list[float], train: Rows, test: Rows, context: Context
    ) -> list[float]:
        as_printed, steps = context.protocol.as_printed, context.steps(train[0].shape[0])
        classes, objective = self.gkm.objective(gamma, costs, *train, as_printed)
        f = self.gkm.solve(objective, steps=steps, seed=context.seed)
        scores = np.split(f.scores(test[0]), len(costs), axis=1)
        return [float(np.mean(classes[winning_class(each)] == test[1])) for each in scores]


@dataclass(frozen=True)
class BestSettings(Method):
    """GKM with this library's batch solver, graphs and own search of parameters."""

    def stages(self, protocol: Protocol) -> Stages:
        """Return nothing: the estimator chooses by itself."""
        return []

    def make(self, parameters: Parameters, n_labeled: int, n: int, context: Context) -> Any:
        """Return GKMClassifierCV without class weights: plain accuracy is measured."""
        return GKMClassifierCV(GKMClassifier(), random_state=context.seed, n_jobs=1)


@dataclass(frozen=True)
class LaplacianSVM(Method):
    """LapSVM by preconditioned conjugate gradients, as in the paper."""

    def stages(self, protocol: Protocol) -> Stages:
        """Return the paper's grid of both weights at every gamma, or gamma first."""
        if protocol.name == "full":
            return [grid(gamma=protocol.widths, gamma_A=_WEIGHTS, gamma_I=_WEIGHTS)]
        weights = _WEIGHTS[1::2] if protocol.name == "quick" else _WEIGHTS
        first = grid(gamma=protocol.widths, gamma_A=(1e-2,), gamma_I=(1.0,))
        return [first, grid(gamma_A=weights, gamma_I=weights)]

    def make(self, parameters: Parameters, n_labeled: int, n: int, context: Context) -> Any:
        """Return LaplacianSVC; half of the memory may go to its matrices."""
        limit = context.protocol.memory_limit / 2
        graph = KNN(n_neighbors=min(20, n - 1))
        return LaplacianSVC(**parameters, graph=graph, solver="cg", max_memory=limit, n_jobs=1)


@dataclass(frozen=True)
class ConcaveConvex(Method):
    """CCCP-TSVM with s = 0 and U C* = L C, as in the paper."""

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
class SupportVectors(Method):
    """scikit-learn's SVC, which is LIBSVM."""

    def make(self, parameters: Parameters, n_labeled: int, n: int, context: Context) -> Any:
        """Return SVC."""
        return SVC(**parameters)


def grid(**values: Iterable[Any]) -> list[Parameters]:
    """Return all combinations.

    Examples
    --------
    >>> grid(C=(1, 2), gamma=(3,))
    [{'C': 1, 'gamma': 3}, {'C': 2, 'gamma': 3}]
    """
    return [dict(zip(values, each, strict=True)) for each in product(*values.values())]


_ALL: tuple[Method, ...] = (
    *(
        PaperSettings(f"gkm-{loss}-p{p}", f"GKM {loss}, p = {p}", gkm=PaperGKM(loss, p))
        for loss in LOSSES
        for p in POWERS
    ),
    PaperSettings("gkm-no-graph", "GKM, no graph", gkm=PaperGKM(with_graph=False)),
    BestSettings("gkm-best", "GKM, best settings"),
    LaplacianSVM("lapsvm", "LapSVM", divisor=40),
    ConcaveConvex("cccp", "CCCP", divisor=40),
    SelfTraining("self-knn", "Self-KNN", divisor=10),
    SupportVectors("svm-labeled", "SVM, labelled rows", labels="labeled rows"),
    SupportVectors("svm-all-labels", "SVM, all labels", divisor=10, labels="all"),
)

METHODS: dict[str, Method] = {each.name: each for each in _ALL}
"""All methods by name."""
