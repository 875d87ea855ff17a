"""The paper, literally and slowly: kernels, graphs and J by plain loops, and the implicit step.

Losses and explicit steps are those of `graphkm.reference`, which calls nothing else of the library.
Only the random draws come from there, because an algorithm is compared step by step on the same
draws. Units are the estimators': the paper's C and C' are l times `C` and `C_graph`. The last part
builds small problems twice, for the oracles and for the library.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.optimize import brentq
from scipy.sparse import csr_array, issparse

from flat import build_graph
from graphkm import reference
from graphkm.graphs.base import generators
from graphkm.kernels import (
    Cosine,
    FunctionKernel,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    SquaredExponential,
)
from graphkm.losses import L1, EpsilonInsensitive, Hinge, Logistic, SmoothHinge
from graphkm.objective import Objective
from graphkm.smoothness import Smoothness
from graphkm.solvers import SGD, Resources, solve
from graphkm.solvers.sgd import SGDState
from graphkm.theory import Guarantee

# ---------------------------------------------------------------- formulas


def smooth_value(p, t):
    return abs(t) ** p


def smooth_slope(p, t):
    return p * np.sign(t) * abs(t) ** (p - 1)


def _dot(x, y):
    return math.fsum(a * b for a, b in zip(x, y, strict=True))


FORMULAS = {
    "rbf": lambda x, y, gamma, sigma_f=1.0: sigma_f**2 * math.exp(-gamma * math.fsum((x - y) ** 2)),
    "linear": _dot,
    "poly": lambda x, y, gamma, coef0, degree: (gamma * _dot(x, y) + coef0) ** degree,
    "laplacian": lambda x, y, gamma: math.exp(-gamma * math.fsum(abs(x - y))),
    "cosine": lambda x, y: (
        _dot(x, y) / math.sqrt(_dot(x, x) * _dot(y, y)) if any(x) and any(y) else 0.0
    ),
}


def kernel_matrix(name, X, Y, **parameters):
    """Return the kernel matrix of dense rows, pair by pair."""
    X, Y = np.asarray(X, np.float64), np.asarray(Y, np.float64)
    return np.array([[FORMULAS[name](x, y, **parameters) for y in Y] for x in X])


def graph_edges(kind, X, labeled, *, gamma, k=None, radius=None, affinity=None):
    """Return [(u, v, mu)], u < v, by a double loop; `labeled` is a mask."""
    n = len(X)
    squares = [[math.fsum((X[i] - X[j]) ** 2) for j in range(n)] for i in range(n)]
    near = [
        set(sorted((j for j in range(n) if j != i), key=lambda j, i=i: (squares[i][j], j))[:k])
        for i in range(n)
    ]
    edges = []
    for u in range(n):
        for v in range(u + 1, n):
            joined = {
                "full": True,
                "bipartite": labeled[u] or labeled[v],
                "knn": u in near[v] or v in near[u],
                "epsilon": radius is not None and squares[u][v] <= radius**2,
                "precomputed": affinity is not None and affinity[u, v] != 0,
            }[kind]
            if joined and not (labeled[u] and labeled[v]):
                mu = affinity[u, v] if kind == "precomputed" else math.exp(-gamma * squares[u][v])
                edges.append((u, v, mu))
    return edges


# ---------------------------------------------------------------- the problem


@dataclass
class Problem:
    """All that J depends on, with the kernel as a full matrix.

    `K` (n, n) without the offset; `labeled` (l,) row numbers; `targets` (l, n_outputs);
    `weights` (l,); `C` and `C_graph` (n_outputs,); `edges` [(u, v, mu)]. `normalized` divides f
    by the root of a vertex's degree, and the sum by n instead of |E|; `degree` q takes L^q.
    """

    K: np.ndarray
    labeled: np.ndarray
    targets: np.ndarray
    weights: np.ndarray
    C: np.ndarray
    C_graph: np.ndarray
    p: float
    loss: str
    parameter: float = 0.0
    offset: float = 0.0
    edges: list = field(default_factory=list)
    normalized: bool = False
    degree: int = 1

    def weighted_loss(self, r):
        """Return the loss of output r; in the place of y it takes the number of a labelled row."""
        loss = reference.losses(self.parameter, self.parameter)[self.loss]
        y, s = self.targets[:, r], self.weights
        return reference.Loss(*(lambda i, o, of=of: s[i] * of(y[i], o) for of in loss))

    def of_the_paper(self, r):
        """Return output r in the paper's units."""
        l, labeled = len(self.labeled), np.isin(np.arange(len(self.K)), self.labeled)  # noqa: E741
        return reference.Problem(
            self.K + self.offset, labeled, np.arange(l), l * self.C[r], l * self.C_graph[r], self.p,
            self.weighted_loss(r),
        )  # fmt: skip


@dataclass
class Draws:
    """Labelled points (numbers into `labeled`), edges and their factors, one per step."""

    label: np.ndarray
    u: np.ndarray
    v: np.ndarray
    factor: np.ndarray


def scales(problem):
    """Return the factor of f at every vertex before differences are taken."""
    if not problem.normalized:
        return [1.0] * len(problem.K)
    total = [0.0] * len(problem.K)
    for u, v, mu in problem.edges:
        total[u] += mu
        total[v] += mu
    return [1 / math.sqrt(t) if t else 0.0 for t in total]


def dense_laplacian(problem):
    """Return L, with f' L f the sum over edges of mu (s_u f_u - s_v f_v)^2, edge by edge."""
    s, L = scales(problem), np.zeros((len(problem.K),) * 2)
    for u, v, mu in problem.edges:
        L[u, u] += mu * s[u] ** 2
        L[v, v] += mu * s[v] ** 2
        L[u, v] -= mu * s[u] * s[v]
        L[v, u] -= mu * s[u] * s[v]
    return L


def graph_factor(problem, r):
    """Return what multiplies the sum over edges."""
    parts = len(problem.K) if problem.normalized else len(problem.edges)
    return problem.C_graph[r] * len(problem.labeled) / parts


def roughness(problem, f):
    """Return the sum over edges, or f' L^q f."""
    if problem.degree > 1:
        assert problem.p == 2
        return f @ np.linalg.matrix_power(dense_laplacian(problem), problem.degree) @ f
    s = scales(problem)
    return math.fsum(
        mu * smooth_value(problem.p, s[u] * f[u] - s[v] * f[v]) for u, v, mu in problem.edges
    )


def J(problem, a):
    """Return J of f = sum_j a_j (k(., x_j) + offset), one number per column of a."""
    n = len(problem.K)
    K = problem.K + problem.offset
    values = []
    for r in range(problem.targets.shape[1]):
        f = [math.fsum(K[i, j] * a[j, r] for j in range(n)) for i in range(n)]
        norm = math.fsum(a[i, r] * a[j, r] * K[i, j] for i in range(n) for j in range(n))
        loss = problem.weighted_loss(r).value
        losses = math.fsum(loss(i, f[row]) for i, row in enumerate(problem.labeled))
        graph = 0.0
        if problem.edges:
            graph = graph_factor(problem, r) * roughness(problem, np.array(f))
        values.append(norm / 2 + problem.C[r] * losses + graph)
    return np.array(values)


# ---------------------------------------------------------------- the algorithm


def increasing_zero(g, low, high):
    """Return where an increasing function, perhaps with jumps, passes 0 between two points."""
    if low == high or g(low) >= 0:
        return low
    if g(high) <= 0:
        return high
    return brentq(g, low, high, xtol=1e-300, rtol=4 * np.finfo(float).eps, maxiter=2000)


def proximal_loss(loss, y, f, k, c):
    """Return the a that minimises  c loss(y, f + a k) + a^2 k / 2."""
    full = -c * loss.slope(y, f)  # the explicit step, which is the longest
    return increasing_zero(lambda a: a + c * loss.slope(y, f + a * k), min(0, full), max(0, full))


def proximal_smooth(p, t, k, c):
    """Return the b that minimises  c |t - b k|^p + b^2 k / 2; the full step where k is 0."""
    if k <= 0 or t == 0:
        return c * smooth_slope(p, t)
    # With b = (|t| - r) / k the remaining gap r lies in [0, |t|].
    size = abs(t)
    left = increasing_zero(lambda r: r - size + c * k * smooth_slope(p, r), 0.0, size)
    return math.copysign((size - left) / k, t)


def implicit(problem, t, w, i, u, v, mu):
    """Return w_{t+1} of the proximal update: the norm's share, the loss, then the edge."""
    K, labeled, y, C, C_prime, p, loss = vars(problem).values()
    row, rate, after = np.flatnonzero(labeled)[i], 2 / (t + 1), (t - 1) / (t + 1) * w
    after[row] += proximal_loss(loss, y[i], K[row] @ after, K[row, row], rate * C)
    distance = max(0.0, K[u, u] - 2 * K[u, v] + K[v, v])
    b = proximal_smooth(p, K[u] @ after - K[v] @ after, distance, rate * C_prime * mu)
    after[[u, v]] -= b, -b
    return after


STEPS = {"explicit": reference.update, "implicit": implicit}


def algorithm(problem, draws, step="explicit"):
    """Run Algorithm 1 and return the lemma's average and the mean of the sampled objectives.

    The average is wbar_{T+1} = 2 / (T (T+1)) sum_t t w_t; the second result is
    2 / (T (T+1)) sum_t t J_t(w_t), with J_t the norm, the sampled loss and the sampled edge.
    """
    n, n_outputs, T = len(problem.K), problem.targets.shape[1], len(draws.label)
    average, objective = np.zeros((n, n_outputs)), np.zeros(n_outputs)
    for r in range(n_outputs):
        one, w = problem.of_the_paper(r), np.zeros(n)
        for t, draw in enumerate(zip(*vars(draws).values(), strict=True), start=1):
            i, u, v, mu = draw
            f = one.K @ w
            loss = one.C * one.loss.value(i, f[problem.labeled[i]])
            edge = one.C_prime * mu * smooth_value(one.p, f[u] - f[v])
            objective[r] += t * (w @ f / 2 + loss + edge)
            average[:, r] += t * w
            w = STEPS[step](one, t, w, *draw)
    return 2 / (T * (T + 1)) * average, 2 / (T * (T + 1)) * objective


# ---------------------------------------------------------------- the same problem in the library


def quadratic(X, Y):
    """Return (<x, y> + 1)^2 as a user's function would, for dense or CSR rows."""
    products = X @ Y.T
    return ((products.toarray() if issparse(products) else products) + 1.0) ** 2


LOSSES = {
    "hinge": Hinge(),
    "smooth_hinge": SmoothHinge(tau=0.4),
    "logistic": Logistic(),
    "l1": L1(),
    "epsilon_insensitive": EpsilonInsensitive(epsilon=0.2),
}
# Each kernel of the library with the name and the parameters of its formula above.
KERNELS = {
    "rbf": (SquaredExponential(gamma=0.4, sigma_f=1.3), "rbf", {"gamma": 0.4, "sigma_f": 1.3}),
    "linear": (Linear(), "linear", {}),
    "poly": (
        Polynomial(degree=3, gamma=0.3, coef0=0.5),
        "poly",
        {"gamma": 0.3, "coef0": 0.5, "degree": 3},
    ),
    "laplacian": (Laplacian(gamma=0.5), "laplacian", {"gamma": 0.5}),
    "cosine": (Cosine(), "cosine", {}),
    "precomputed": (Precomputed(), "rbf", {"gamma": 0.4}),
    "callable": (FunctionKernel(quadratic), "poly", {"gamma": 1.0, "coef0": 1.0, "degree": 2}),
}
GRAPHS = ("full", "bipartite", "knn", "epsilon", "precomputed")


@dataclass
class Case:
    """One problem twice: for the library and for the oracles."""

    objective: Objective
    problem: Problem

    def draws(self, seed, T, rule="uniform", dtype=np.float64):
        """Return what the solver draws, with the edges that it skips given the factor 0."""
        label = generators(seed, 1)[0].integers(len(self.problem.labeled), size=T)
        graph = self.objective.graph
        if graph is None or not self.problem.C_graph.any():
            return Draws(label, np.zeros(T, int), np.zeros(T, int), np.zeros(T))
        u, v, factor = graph.sampler(rule, seed).draw(T)
        heavy = factor > np.finfo(dtype).eps * graph.max_weight
        return Draws(label, u, v, np.where(heavy, factor, 0.0))

    def guarantee(self):
        """Return the theorem's constants, for the output with the largest C and C_graph."""
        R2 = self.problem.K.diagonal().max()
        scale = max((mu for *_, mu in self.problem.edges), default=1.0)
        return Guarantee.for_estimator(
            C=self.problem.C.max(),
            C_graph=self.problem.C_graph.max(),
            n_labeled=len(self.problem.labeled),
            p=self.problem.p,
            R=math.sqrt(R2),
            A=math.sqrt(R2 + self.problem.offset) * self.problem.weights.max(),
            max_weight=scale,
        )

    def run(
        self, seed, T, rule="uniform", step="explicit", dtype=np.float64, n_threads=1,
        block_size=None, callback=None, **options,
    ):  # fmt: skip
        """Return the library's solution."""
        options.setdefault("guarantee", self.guarantee())

        class Blocks(SGD):
            """The solver in blocks of a size that users cannot choose."""

            def start(self, objective, resources):
                return SGDState(self, objective, resources, block_size)

        solver = Blocks(step, rule, T)
        resources = Resources(seed, np.dtype(dtype), n_threads)
        return solve(solver, replace(self.objective, **options), resources, callback=callback)

    def full(self, solution):
        """Return a solution's coefficients over all rows."""
        a = np.zeros((len(self.problem.K), self.problem.targets.shape[1]))
        a[solution.rows] = solution.coefficients
        return a

    def expansion(self, a, dtype=np.float64):
        """Return the library's f with the coefficients a over all rows."""
        f = self.objective.expansion(dtype)
        f.set(np.arange(len(a)), a)
        return f


def make_rows(rng, n, d=3):
    """Return rows with some zeros, one row of zeros and two equal rows."""
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7)
    X[3] = 0.0
    X[7] = X[6]
    return X


def make_affinity(rng, n):
    """Return a symmetric matrix of weights, mostly 0, some above 1."""
    upper = np.triu(rng.uniform(0.1, 1.7, (n, n)) * (rng.random((n, n)) < 0.3), 1)
    return upper + upper.T


def make_case(
    loss="hinge",
    p=2.0,
    kind="full",
    kernel="rbf",
    form="dense",
    offset=1.0,
    C=(0.3, 0.05),
    C_graph=(0.007, 0.02),
    n=24,
    n_labeled=8,
    graph_gamma=0.3,
    seed=0,
    X=None,
    affinity=None,
    normalized=False,
    degree=1,
):
    """Return a small random problem; classes are +-1, regression targets are real."""
    rng = np.random.default_rng(seed)
    rows = make_rows(rng, n) if X is None else X
    n = len(rows)
    affinity = make_affinity(rng, n) if affinity is None else affinity
    mask = np.zeros(n, bool)
    mask[rng.permutation(n)[:n_labeled]] = True
    targets = rng.normal(size=(n_labeled, len(C)))
    if LOSSES[loss].task == "classification":
        targets = np.where(targets > 0, 1.0, -1.0)
    label_weights = rng.uniform(0.2, 1.8, n_labeled)
    library_kernel, formula, parameters = KERNELS[kernel]
    K = kernel_matrix(formula, rows, rows, **parameters)
    data = K if kernel == "precomputed" else rows
    options = {"gamma": graph_gamma, "radius": 1.4 if kind == "epsilon" else None}
    graph = edges = None
    if kind is not None:
        brought = affinity if kind == "precomputed" else None
        graph = build_graph(
            kind,
            rows,
            mask,
            n_neighbors=4,
            affinity=None if brought is None else csr_array(brought),
            **options,
        )
        edges = graph_edges(kind, rows, mask, k=4, affinity=brought, **options)
        assert graph.n_edges == len(edges) > 0
    shared = {
        "labeled": np.flatnonzero(mask),
        "targets": targets,
        "weights": label_weights,
        "C": np.array(C, float),
        "C_graph": np.array(C_graph, float),
        "offset": offset,
    }
    objective = Objective(
        X=csr_array(data) if form == "csr" else data,
        kernel=library_kernel,
        loss=LOSSES[loss],
        smoothness=Smoothness(p),
        graph=graph,
        normalized=normalized,
        degree=degree,
        **shared,
    )
    problem = Problem(
        K=K,
        p=p,
        loss=loss,
        parameter=LOSSES[loss].parameter,
        edges=edges or [],
        normalized=normalized,
        degree=degree,
        **shared,
    )
    return Case(objective, problem)
