"""The methods that are compared: their grids and their estimators."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import groupby, product
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import KNeighborsClassifier
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.svm import SVC

from graphkm import KNN, GKMClassifier, GKMClassifierCV
from graphkm.baselines import LaplacianSVC, TransductiveSVC
from graphkm.estimators.classes import winning_class
from graphkm.estimators.data_checks import UnderflowError
from graphkm.objective import Objective
from graphkm.solvers import solve

from .protocol import Protocol

LOSSES = ("hinge", "logistic")
POWERS = (1, 2, 3)
_WEIGHTS = (1e-6, 1e-4, 1e-2, 1e-1, 1.0, 10.0, 100.0)  # LapSVM's

Parameters = dict[str, Any]
Stages = list[list[Parameters]]
Rows = tuple[Any, NDArray[np.int64]]  # X and y


@dataclass(frozen=True)
class Context:
    """What a fit needs besides data and parameters."""

    protocol: Protocol
    objective: str  # of the paper's machine: "printed" or "released"
    seed: int
    memory: float = 4e9  # bytes that the fit may take


@dataclass(frozen=True)
class Method:
    """One method: its grid and its estimator."""

    name: str  # in results
    title: str  # in tables
    make: Callable[[Parameters, int, Context], Any]  # for so many labelled rows
    stages: Callable[[Protocol], Stages]  # each list builds on the best candidate of the one before
    divisor: int = 1  # parameters are chosen on the protocol's most_rows divided by this
    labels: str = "partly"  # "labeled rows": it sees no other rows; "all": it sees all labels
    published: bool = False  # it is the paper's machine

    def fit(self, X: Any, y: NDArray[np.int64], parameters: Parameters, context: Context) -> Any:
        """Return a model that is fitted to partly labelled rows."""
        if self.labels == "labeled rows":
            X, y = X[y >= 0], y[y >= 0]
        return self.make(parameters, int((y >= 0).sum()), context).fit(X, y)

    def accuracies(
        self, candidates: list[Parameters], train: Rows, test: Rows, context: Context
    ) -> list[float]:
        """Return every candidate's accuracy on `test` after a fit on `train`."""
        groups = [[each] for each in candidates]
        if self.published:  # neighbouring candidates of one gamma share all kernel values
            groups = [list(same) for _, same in groupby(candidates, itemgetter("gamma"))]
        answer: list[float] = []
        for group in groups:
            try:
                if self.published:
                    answer += together([self.make(each, 0, context) for each in group], train, test)
                else:
                    model = self.fit(*train, group[0], context)
                    answer.append(float(np.mean(model.predict(test[0]) == test[1])))
            except UnderflowError:
                answer += [0.0] * len(group)  # with this gamma, k is 0 between all rows
        return answer


def together(models: list[GKMClassifier], train: Rows, test: Rows) -> list[float]:
    """Return the accuracies of models that differ in their costs alone, from one run of them all.

    They make the same draws, so each is exactly what it would be alone.
    """
    first = models[0]
    problem = first.encode(*train, None)
    parts = [model.objective(problem) for model in models]
    plan, each = parts[-1][0], [objective for _, objective in parts]
    joint: Objective = replace(
        each[-1],  # the largest C: its guarantee is the weakest
        C=np.concatenate([one.C for one in each]),
        C_graph=np.concatenate([one.C_graph for one in each]),
        targets=np.tile(problem.targets, len(each)),
    )
    resources = first.resources()
    solution = solve(plan.solver, joint, resources)
    f = joint.expansion(resources.dtype)
    f.set(solution.rows, solution.coefficients)
    scores = np.split(f.scores(test[0]), len(each), axis=1)
    return [float(np.mean(first.classes_[winning_class(one)] == test[1])) for one in scores]


def grid(**values: Iterable[Any]) -> list[Parameters]:
    """Return all combinations."""
    return [dict(zip(values, each, strict=True)) for each in product(*values.values())]


def _paper_grid(protocol: Protocol) -> Stages:
    # Small gammas first: ties go to the first candidate.
    return [grid(gamma=protocol.widths, C=protocol.costs)]


def _grid(protocol: Protocol) -> Stages:
    return [grid(C=protocol.costs, gamma=protocol.widths)]


def _lapsvm_grid(protocol: Protocol) -> Stages:
    """Return the candidates for gamma, then those for the weights."""
    weights = _WEIGHTS[1::2] if protocol.name == "quick" else _WEIGHTS
    first = grid(gamma=protocol.widths, gamma_A=(1e-2,), gamma_I=(1.0,))
    return [first, grid(gamma_A=weights, gamma_I=weights)]


def _published(name: str, title: str, loss: str, p: int, C_prime: float | str) -> Method:
    """Return the paper's machine, with the authors' edges and without a constant if "released"."""

    def make(parameters: Parameters, n_labeled: int, context: Context) -> Any:
        program: dict[str, Any] = {"graph": "bipartite", "fit_intercept": False}
        return GKMClassifier.as_published(
            loss, p, C_prime=C_prime, objective=context.objective, random_state=context.seed,
            n_jobs=1, **parameters, **(program if context.objective == "released" else {}),
        )  # fmt: skip

    return Method(name, title, make, _paper_grid, published=True)


def _best(parameters: Parameters, n_labeled: int, context: Context) -> Any:
    """Return GKM with this library's batch solver, graphs and own search of parameters."""
    return GKMClassifierCV(GKMClassifier(), random_state=context.seed, n_jobs=1)


def _lapsvm(parameters: Parameters, n_labeled: int, context: Context) -> Any:
    """Return LapSVM by preconditioned conjugate gradients, as in the paper."""
    limit = context.memory / 2  # for its matrices
    return LaplacianSVC(
        **parameters, graph=KNN(n_neighbors=20), solver="cg", max_memory=limit, n_jobs=1
    )


def _cccp(parameters: Parameters, n_labeled: int, context: Context) -> Any:
    """Return CCCP-TSVM with s = 0 and U C* = L C, as in the paper."""
    return TransductiveSVC(**parameters, s=0.0, C_unlabeled="auto", n_jobs=1)


def _self_knn(parameters: Parameters, n_labeled: int, context: Context) -> Any:
    """Return scikit-learn's Self-KNN: it adds labels until no row is confident enough.

    The paper names no settings, so the number of neighbours is chosen too.
    """
    neighbors = KNeighborsClassifier(min(int(parameters["n_neighbors"]), n_labeled), n_jobs=1)
    return SelfTrainingClassifier(neighbors, max_iter=None)


def _svm(parameters: Parameters, n_labeled: int, context: Context) -> Any:
    """Return scikit-learn's SVC, which is LIBSVM."""
    return SVC(**parameters)


_ALL = (
    *(_published(f"gkm-{loss}-p{p}", f"GKM {loss}, p = {p}", loss, p, "guaranteed")
      for loss, p in product(LOSSES, POWERS)),
    _published("gkm-no-graph", "GKM, no graph", "hinge", 1, 0.0),
    Method("gkm-best", "GKM, best settings", _best, lambda protocol: []),
    Method("lapsvm", "LapSVM", _lapsvm, _lapsvm_grid, divisor=40),
    Method("cccp", "CCCP", _cccp, _grid, divisor=40),
    Method("self-knn", "Self-KNN", _self_knn, lambda _: [grid(n_neighbors=(1, 3, 5, 9))],
           divisor=10),
    Method("svm-labeled", "SVM, labelled rows", _svm, _grid, labels="labeled rows"),
    Method("svm-all-labels", "SVM, all labels", _svm, _grid, divisor=10, labels="all"),
)  # fmt: skip

METHODS: dict[str, Method] = {each.name: each for each in _ALL}
