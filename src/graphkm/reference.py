r"""The paper's algorithm as a literal program, in the paper's order and with its names.

"Scalable Semi-supervised Learning with Graph-based Kernel Machine" (arXiv 1606.06793) minimises

.. math::

    J(w) = \frac{1}{2} \|w\|^2 + \frac{C}{l} \sum_i l(w; x_i, y_i)
    + \frac{C'}{|E|} \sum_{(u,v) \in E} \mu_{uv}\, l_p(w^\top (\Phi(x_u) - \Phi(x_v))).

It is for reading, and an oracle of the compiled solver. w = sum_i alpha_i Phi(x_i) is stored as
alpha; K is the kernel matrix of all rows, plus the constant that stands for the bias (footnote 1).
`graphkm.GKMClassifier.as_published` is the same machine, compiled, with the same costs.

Examples
--------
>>> rng = np.random.default_rng(0)
>>> X, y = rng.normal(size=(20, 2)), np.array([1.0, -1.0])  # rows 0 and 1 are labelled
>>> labeled = np.arange(20) < 2
>>> K = squared_exponential(X, gamma=1.0) + 1.0
>>> E = full_graph(X, labeled, gamma=1.0)
>>> problem = Problem(K, labeled, y, C=2.0, C_prime=0.5)
>>> w, wbar = algorithm_1(problem, sample(labeled, E, 500, rng))
>>> J(problem, E, np.zeros(20)), round(J(problem, E, wbar), 2)
(2.0, 1.77)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.special import expit

Vector = NDArray[np.float64]
Mask = NDArray[np.bool_]
Draws = Iterable[tuple[int, int, int, float]]
"""For each step t: i_t, which counts labelled rows, then u_t, v_t and mu of the edge."""


class Loss(NamedTuple):
    """A loss of y and o = w'Phi(x), and what multiplies Phi(x) in its gradient."""

    value: Callable[[float, float], float]
    slope: Callable[[float, float], float]


def losses(tau: float = 0.5, epsilon: float = 0.1) -> dict[str, Loss]:
    """Return the five losses of "Suitability of Loss Function and Kernel Function"."""
    return {
        "hinge": Loss(lambda y, o: max(0.0, 1 - y * o), lambda y, o: -y if y * o <= 1 else 0.0),
        "smooth_hinge": Loss(
            lambda y, o: 0.0 if y * o > 1 else 1 - y * o - tau / 2 if y * o < 1 - tau
            else (1 - y * o) ** 2 / (2 * tau),
            lambda y, o: 0.0 if y * o > 1 else -y if y * o < 1 - tau else (y * o - 1) * y / tau,
        ),
        "logistic": Loss(lambda y, o: np.logaddexp(0, -y * o), lambda y, o: -y * expit(-y * o)),
        "l1": Loss(lambda y, o: abs(y - o), lambda y, o: np.sign(o - y)),
        "epsilon_insensitive": Loss(
            lambda y, o: max(0.0, abs(y - o) - epsilon),
            lambda y, o: np.sign(o - y) if abs(y - o) > epsilon else 0.0,
        ),
    }  # fmt: skip


HINGE = losses()["hinge"]


def squared_exponential(X: Vector, gamma: float) -> Vector:
    """Return exp(-gamma ||x_i - x_j||^2): the kernel K, and with sigma_s = sigma_l the weights."""
    return np.exp(-gamma * cdist(X, X, "sqeuclidean"))


class Edges(NamedTuple):
    """The edges (u, v) of a graph, and their weights mu."""

    u: NDArray[np.int64]
    v: NDArray[np.int64]
    mu: Vector


def full_graph(X: Vector, labeled: Mask, gamma: float) -> Edges:
    """Return "Graph Setting", fully connected: all pairs, without those of two labelled rows."""
    u, v = np.triu_indices(len(X), k=1)
    kept = ~(labeled[u] & labeled[v])
    return Edges(u[kept], v[kept], squared_exponential(X, gamma)[u[kept], v[kept]])


def sample(labeled: Mask, E: Edges, T: int, rng: np.random.Generator) -> Draws:
    """Algorithm 1, line 3: draw i_t from 1..l and (u_t, v_t) from the edges, uniformly."""
    i, edge = rng.integers(labeled.sum(), size=T), rng.integers(len(E.mu), size=T)
    return zip(i, E.u[edge], E.v[edge], E.mu[edge], strict=True)


@dataclass(frozen=True)
class Problem:
    """What J depends on beside the edges; y are the labels of the labelled rows."""

    K: Vector
    labeled: Mask
    y: Vector
    C: float
    C_prime: float
    p: float = 1
    loss: Loss = HINGE


def J(problem: Problem, E: Edges, w: Vector) -> float:
    """Return the objective, Eq. 4 with l_p and any loss."""
    K, labeled, y, C, C_prime, p, loss = vars(problem).values()
    f = K @ w
    xi = [loss.value(*pair) for pair in zip(y, f[labeled], strict=True)]
    roughness = E.mu @ np.abs(f[E.u] - f[E.v]) ** p  # sum of mu l_p
    return float(w @ f / 2 + C * np.mean(xi) + C_prime * roughness / len(E.mu))


def update(problem: Problem, t: int, w: Vector, i: int, u: int, v: int, mu: float) -> Vector:
    """Algorithm 1, line 4: return w_{t+1} in its three terms, with the rate 2 / (t + 1)."""
    K, labeled, y, C, C_prime, p, loss = vars(problem).values()
    x, after = np.flatnonzero(labeled)[i], (t - 1) / (t + 1) * w
    o, gap = K[x] @ w, K[u] @ w - K[v] @ w  # w_t' Phi(x_{i_t}) and w_t' Phi_{u_t v_t}
    after[x] -= 2 * C / (t + 1) * loss.slope(y[i], o)
    slope = p * np.sign(gap) * abs(gap) ** (p - 1)  # of l_p(t) = |t|^p
    after[[u, v]] -= 2 * C_prime * mu / (t + 1) * slope * np.array([1, -1])
    return after


def iterates(problem: Problem, draws: Draws) -> Iterator[Vector]:
    """Yield w_1, w_2, ..., w_{T+1} of Algorithm 1."""
    w = np.zeros(len(problem.K))  # line 1: w_1 = 0
    yield w
    for t, draw in enumerate(draws, start=1):  # lines 2 and 3
        w = update(problem, t, w, *draw)
        yield w


def algorithm_1(problem: Problem, draws: Draws, average: str = "lemma") -> tuple[Vector, Vector]:
    """Return w_{T+1} and its average.

    Line 5 ("algorithm") averages w_{t+1}; Lemma 1 ("lemma") and Theorem 1's proof average w_t.
    """
    steps = iterates(problem, draws)
    w, wbar = next(steps), np.zeros(len(problem.K))  # line 1: w_1 = wbar_1 = 0
    for t, after in enumerate(steps, start=1):  # line 5
        wbar = (t - 1) / (t + 1) * wbar + 2 / (t + 1) * (w if average == "lemma" else after)
        w = after
    return w, wbar  # wbar_{T+1}
