"""The methods that are compared: their grids and their estimators."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import groupby, product
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC

from graphkm import KNN, SGD, GKMClassifier, GKMClassifierCV
from graphkm.baselines import LaplacianSVC, TransductiveSVC
from graphkm.estimators.classes import winning_class
from graphkm.estimators.data_checks import UnderflowError

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
    """What a fit needs besides data and parameters."""

    protocol: Protocol
    steps: Callable[[int], int]  # the number of steps T for n rows
    seed: int


@dataclass(frozen=True)
class Method:
    """One method; every subclass makes one kind of estimator."""

    name: str  # in results
    title: str  # in tables
    divisor: int = 1  # parameters are chosen on the protocol's most_rows divided by this
    labels: str = "partly"  # "labeled rows": it sees no other rows; "all": it sees all labels

    def stages(self, protocol: Protocol) -> Stages:
        """Return lists of candidates; each list builds on the best candidate of the one before."""
        return [grid(C=protocol.costs, gamma=protocol.widths)]

    def make(self, parameters: Parameters, n_labeled: int, n: int, context: Context) -> Any:
        """Return an estimator for n rows, n_labeled of them labelled."""
        raise NotImplementedError

    def fit(self, X: Any, y: NDArray[np.int64], parameters: Parameters, context: Context) -> Any:
        """Return a model that is fitted to partly labelled rows."""
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
            return 0.0  # with this gamma, k is 0 between all rows
        return float(np.mean(model.predict(test[0]) == test[1]))


@dataclass(frozen=True, kw_only=True)
class PaperSettings(Method):
    """GKM with the paper's solver, kernel widths and number of steps.

    The printed form has an intercept (its kernel is K + 1); the released code has none.
    """

    gkm: PaperGKM

    def stages(self, protocol: Protocol) -> Stages:
        # Small gammas first: ties go to the first candidate.
        return [grid(gamma=protocol.widths, C=protocol.costs)]

    def make(self, parameters: Parameters, n_labeled: int, n: int, context: Context) -> Any:
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
        # Neighbouring candidates of one gamma share all kernel values.
        answer: list[float] = []
        for gamma, same in groupby(candidates, itemgetter("gamma")):
            answer += self._one_gamma(gamma, [each["C"] for each in same], train, test, context)
        return answer

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
        return []

    def make(self, parameters: Parameters, n_labeled: int, n: int, context: Context) -> Any:
        return GKMClassifierCV(GKMClassifier(), random_state=context.seed, n_jobs=1)


@dataclass(frozen=True)
class LaplacianSVM(Method):
    """LapSVM by preconditioned conjugate gradients, as in the paper."""

    def stages(self, protocol: Protocol) -> Stages:
        if protocol.name == "full":
            return [grid(gamma=protocol.widths, gamma_A=_WEIGHTS, gamma_I=_WEIGHTS)]
        weights = _WEIGHTS[1::2] if protocol.name == "quick" else _WEIGHTS
        first = grid(gamma=protocol.widths, gamma_A=(1e-2,), gamma_I=(1.0,))  # gamma, then weights
        return [first, grid(gamma_A=weights, gamma_I=weights)]

    def make(self, parameters: Parameters, n_labeled: int, n: int, context: Context) -> Any:
        limit = context.protocol.memory_limit / 2  # for its matrices
        graph = KNN(n_neighbors=min(20, n - 1))
        return LaplacianSVC(**parameters, graph=graph, solver="cg", max_memory=limit, n_jobs=1)


@dataclass(frozen=True)
class ConcaveConvex(Method):
    """CCCP-TSVM with s = 0 and U C* = L C, as in the paper."""

    def make(self, parameters: Parameters, n_labeled: int, n: int, context: Context) -> Any:
        return TransductiveSVC(**parameters, s=0.0, C_unlabeled="auto", n_jobs=1)


@dataclass(frozen=True)
class SelfTraining(Method):
    """Self-KNN; the paper names no settings, so the number of neighbours is chosen too."""

    def stages(self, protocol: Protocol) -> Stages:
        return [grid(n_neighbors=(1, 3, 5, 9))]

    def make(self, parameters: Parameters, n_labeled: int, n: int, context: Context) -> Any:
        return SelfTrainingKNN(min(int(parameters["n_neighbors"]), n_labeled), n_jobs=1)


@dataclass(frozen=True)
class SupportVectors(Method):
    """scikit-learn's SVC, which is LIBSVM."""

    def make(self, parameters: Parameters, n_labeled: int, n: int, context: Context) -> Any:
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
