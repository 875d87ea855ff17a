"""One loss, kernel, graph and solver from outside the package, each in a file of its own."""

from __future__ import annotations

import importlib
import pickle
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.model_selection import GridSearchCV

from graphkm import KNN, SGD, GKMClassifier, GKMClassifierCV, Newton, Power
from graphkm.kernels import SquaredExponential
from graphkm.model_selection import LabeledStratifiedKFold

FILES = {
    "outside_loss": """
from dataclasses import dataclass
from typing import ClassVar
import numpy as np
from scipy.special import expit
from graphkm.losses import Loss

@dataclass(frozen=True)
class Steep(Loss):
    slope: float = 2.0
    task: ClassVar[str] = "classification"
    lipschitz: ClassVar[float] = 4.0

    def value(self, y, f):
        return np.logaddexp(0, -self.slope * y * f)

    def gradient(self, y, f):
        return -self.slope * y * expit(-self.slope * y * f)

    def curvature(self, y, f):
        return self.slope**2 * expit(-self.slope * y * f) * expit(self.slope * y * f)
""",
    "outside_kernel": """
from dataclasses import dataclass
import numpy as np
from graphkm.kernels import Kernel

@dataclass(frozen=True)
class Bell(Kernel):
    width: float = 1.0

    def _matrix(self, X, Y):
        return np.exp(-self.width * ((X[:, None] - Y[None]) ** 2).sum(axis=2))

    def _diagonal(self, X):
        return np.ones(X.shape[0])
""",
    "outside_graph": """
from dataclasses import dataclass
from typing import ClassVar
import numpy as np
from graphkm.graphs import GraphPart, ListedGraph

@dataclass(frozen=True)
class Grid(GraphPart):
    cell: float = 0.5
    listed: ClassVar[bool] = True

    def build(self, X, labeled, **_):
        cells = np.floor(X / self.cell)
        same = (cells[:, None] == cells[None]).all(axis=2)
        u, v = np.nonzero(np.triu(same, 1) & ~np.outer(labeled, labeled))
        return ListedGraph(len(X), u, v, np.ones(len(u)))
""",
    "outside_solver": """
from dataclasses import dataclass
import numpy as np
from graphkm.graphs.laplacian import laplacian_matrix
from graphkm.solvers import Progress, Solution, Solver

@dataclass(frozen=True)
class Ridge(Solver):
    'The squared loss in closed form, whatever the loss is called.'
    jitter: float = 1e-10

    def accepts(self, together):
        if together.smoothness.p != 2:
            raise ValueError(f"Ridge needs p=2, and smoothness={together.smoothness!r}.")

    def start(self, objective, resources):
        return Solved(self, objective)

class Solved:
    def __init__(self, solver, objective):
        o = self.objective = objective
        K = o.kernel(o.X, o.X) + o.offset
        n = len(K)
        penalty = np.zeros((n, n))
        if o.has_edges:
            L = laplacian_matrix(o.graph, normalized=o.normalized).toarray()
            penalty = 2 * o.graph_factor[0] * L
        shown = np.zeros((n, n))
        shown[o.labeled, o.labeled] = o.C[0] * o.weights
        known = np.zeros((n, o.n_outputs))
        known[o.labeled] = o.targets
        A = np.eye(n) * (1 + solver.jitter) + (penalty + shown) @ K
        self.a = np.linalg.solve(A, shown @ known)
        self.done = False

    @property
    def progress(self):
        return Progress(int(self.done), 1, len(self.a))

    def advance(self):
        self.done = True

    def solution(self):
        return Solution(np.arange(len(self.a)), self.a, 1, np.zeros(self.a.shape[1]))
""",
}


@pytest.fixture(scope="module")
def outside(tmp_path_factory):
    folder = tmp_path_factory.mktemp("outside")
    for name, text in FILES.items():
        (folder / f"{name}.py").write_text(text)
    sys.path.insert(0, str(folder))
    yield {name.removeprefix("outside_"): importlib.import_module(name) for name in FILES}
    sys.path.remove(str(folder))
    for name in FILES:
        del sys.modules[name]


@pytest.fixture(scope="module")
def moons():
    X, truth = make_moons(200, noise=0.1, random_state=0)
    return X, np.where(np.arange(200) % 10 == 0, truth, -1), truth


def test_a_loss(outside, moons):
    """log(1 + exp(-2 y f)) of f is the logistic loss of 2 f: C and K change with it."""
    X, y, _ = moons
    common = {"C_graph": 0.5, "graph": KNN(weights=1.0), "precision": "double"}
    common |= {"smoothness": Power(2, normalized=False), "solver": Newton(tol=1e-10)}
    steep = GKMClassifier(C=1.0, loss=outside["loss"].Steep(2.0), gamma=1.0, **common).fit(X, y)
    scaled = SquaredExponential(gamma=1.0, sigma_f=2.0)
    common["C_graph"] /= 4  # of (2 f)^2
    plain = GKMClassifier(C=1.0, loss="logistic", kernel=scaled, **common).fit(X, y)
    np.testing.assert_allclose(
        2 * steep.decision_function(X), plain.decision_function(X), rtol=1e-3, atol=1e-4
    )


@pytest.mark.parametrize("solver", [Newton(), SGD(max_iter=500)])
def test_a_kernel(outside, moons, solver):
    X, y, _ = moons
    common = {"C": 1.0, "C_graph": 0.1, "graph": KNN(weights=2.0), "random_state": 0}
    common |= {"solver": solver, "precision": "double"}
    mine = GKMClassifier(kernel=outside["kernel"].Bell(2.0), **common).fit(X, y)
    ours = GKMClassifier(kernel=SquaredExponential(gamma=2.0), **common).fit(X, y)
    np.testing.assert_allclose(
        mine.decision_function(X), ours.decision_function(X), rtol=1e-4, atol=1e-4
    )


def test_a_graph(outside, moons):
    X, y, _ = moons
    part = outside["graph"].Grid(0.4)
    cells = np.floor(X / 0.4)
    W = (cells[:, None] == cells[None]).all(axis=2).astype(float)
    np.fill_diagonal(W, 0.0)
    with pytest.warns(UserWarning, match="hold no labelled point"):
        mine = GKMClassifier(C_graph=10.0, graph=part, random_state=0).fit(X, y)
    with pytest.warns(UserWarning, match="hold no labelled point"):
        given = GKMClassifier(C_graph=10.0, random_state=0)
        given.fit(X, y, affinity=W)
    np.testing.assert_allclose(mine.decision_function(X), given.decision_function(X), atol=1e-8)
    assert mine.plan_.graph is part


def test_a_solver(outside, moons):
    """The closed form by hand, from the public graph."""
    X, y, _ = moons
    common = {"C": 2.0, "C_graph": 0.3, "gamma": 1.0, "graph": KNN(weights=1.0)}
    model = GKMClassifier(solver=outside["solver"].Ridge(), **common).fit(X, y)
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
    edges = model.plan_.graph.build(X, y >= 0).edges()
    L = np.zeros((200, 200))
    for u, v, mu in zip(*edges, strict=True):
        L[[u, v], [u, v]] += mu
        L[[u, v], [v, u]] -= mu
    shown = np.diag(2.0 * (y >= 0))
    target = np.where(y < 0, 0, 2 * y - 1)
    M = shown + 2 * 0.3 * 20 / len(edges.u) * L
    f = K @ np.linalg.solve(np.eye(200) + M @ K, shown @ target)
    np.testing.assert_allclose(model.decision_function(X), f, atol=1e-5)
    with pytest.raises(ValueError, match=r"Ridge needs p=2, and smoothness=Power\(p=1"):
        GKMClassifier(solver=outside["solver"].Ridge(), smoothness=1).fit(X, y)


def test_all_of_them_together(outside, moons):
    X, y, truth = moons
    model = GKMClassifier(
        C=10.0,
        C_graph=1.0,
        loss=outside["loss"].Steep(),
        kernel=outside["kernel"].Bell(),
        graph=outside["graph"].Grid(),
        solver=outside["solver"].Ridge(),
    )
    values = {"kernel__width": [1.0, 3.0], "graph__cell": [0.5, 0.8], "solver__jitter": [1e-9]}
    search = GridSearchCV(model, values, cv=LabeledStratifiedKFold(2, random_state=0))
    with pytest.warns(UserWarning, match="hold no labelled point"):
        search.fit(X, y)
    assert search.best_estimator_.score(X, truth) > 0.8
    assert search.best_estimator_.solver.jitter == 1e-9
    assert model.graph == outside["graph"].Grid()  # the search replaced parts of its own copies
    twin = clone(search.best_estimator_).set_params(loss__slope=3.0)
    assert twin.loss.slope == 3.0
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(again.predict(X), search.predict(X))


def test_the_search_takes_them(outside, moons):
    X, y, truth = moons
    model = GKMClassifier(kernel=outside["kernel"].Bell(2.0), class_weight="balanced")
    search = GKMClassifierCV(model, random_state=0).fit(X, y)
    assert search.score(X, truth) > 0.9
