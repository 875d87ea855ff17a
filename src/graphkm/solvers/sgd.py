r"""The paper's Algorithm 1, step by step the same iterates, computed in blocks.

Three facts make it fast without changing an iterate. With W_t = t (t-1) w_t the step
w_{t+1} = (t-1)/(t+1) w_t - 2/(t+1) h_t is a pure addition, W_{t+1} = W_t + delta_t with
delta_t = -2 t h_t. The lemma's average needs two sums per coefficient,

    wbar_{T+1} = 2/(T(T+1)) (H_{T-1} A - B),  A = sum_s delta_s,  B = sum_s delta_s H_{s-1},

with H_k the harmonic numbers, and A is W itself. And the draws do not depend on w, so a
block of them is scored against all centres in one product; its steps then run one after
another on the block's own small kernel matrix, which keeps the scores current.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..backends import run_block
from ..graphs import ListedGraph
from ..graphs.base import generators
from ..objective import Objective
from ..theory import Guarantee
from .base import DivergenceError, Progress, Solution

_BLOCK = 256  # steps: larger blocks spend more on their own kernel matrix
_SMALL = 1024  # rows: a long block meets each of so few again and again, and its kernel once
_LONG_BLOCK = 2048
_AHEAD = 2048  # steps drawn together
_BIN = 32  # steps whose objectives are summed together
_TOLERANCE = 10.0  # how far above its bound the objective must be to be called divergent


class Draws(NamedTuple):
    """Labelled points, and edges with their factors; u = -1 where that is too small to show."""

    label: NDArray[np.int64]
    u: NDArray[np.int64]
    v: NDArray[np.int64]
    weight: NDArray[np.float64]

    def join(self, more: Draws) -> Draws:
        """Return these draws and then more."""
        return Draws._make(np.concatenate(pair) for pair in zip(self, more, strict=True))

    def split(self, size: int) -> tuple[Draws, Draws]:
        """Return the first draws, and the rest."""
        parts = [(values[:size], values[size:]) for values in self]
        return Draws._make(first for first, _ in parts), Draws._make(rest for _, rest in parts)


@dataclass(frozen=True)
class StochasticSolver:
    """Stochastic gradient descent on single labelled points and edges.

    Parameters
    ----------
    max_iter : int
        Steps T.
    step : {"explicit", "implicit"}
        The paper's step, or the proximal one: every sampled term is minimised exactly, which
        is stable for every C, C_graph and p.
    edge_sampling : {"uniform", "weight"}
        How edges are drawn.
    seed : numpy.random.SeedSequence
        Decides all draws; they do not depend on block size, threads or precision.
    guarantee : Guarantee
        What the theorem promises, for the divergence check and its message.
    dtype : dtype
        Precision of the kernel values.
    n_threads : int
        Threads; the result is the same, bit for bit, for any number.
    block_size : int, optional
        Steps per block; only rounding depends on it.
    """

    max_iter: int
    step: Literal["explicit", "implicit"]
    edge_sampling: Literal["uniform", "weight"]
    seed: np.random.SeedSequence
    guarantee: Guarantee
    dtype: Any = np.float32
    n_threads: int = 1
    block_size: int | None = None

    def start(self, objective: Objective) -> StochasticState:
        """Return the state before the first step, w_1 = 0."""
        return StochasticState(self, objective)


class StochasticState:
    """The learning state: W, the sums of its average, and the streams of draws."""

    def __init__(self, solver: StochasticSolver, objective: Objective) -> None:
        self._solver = solver
        self._objective = objective
        self._n_iter = 0
        small = objective.X.shape[0] <= _SMALL
        self._block_size = solver.block_size or (_LONG_BLOCK if small else _BLOCK)
        self._harmonic = 0.0  # H_{t-1} for the next step t
        self._open(solver, objective)
        self._norm = np.zeros(objective.n_outputs)  # ||W||^2
        bins = self._bins(np.array([solver.max_iter]))[0] + 1
        self._objectives = np.zeros((bins, objective.n_outputs))  # sums of t J_t(w_t)
        (self._labels,) = generators(solver.seed, 1)
        self._edges = None
        if objective.has_edges:
            assert objective.graph is not None
            self._edges = objective.graph.sampler(solver.edge_sampling, solver.seed)
        # The largest factor: known where edges are listed, else the largest drawn so far.
        self._heaviest = 0.0
        if isinstance(objective.graph, ListedGraph) and solver.edge_sampling == "uniform":
            self._heaviest = float(objective.graph.edges().weight.max(initial=0.0))
        self._drawn = self._draw_ahead(0)

    @property
    def progress(self) -> Progress:
        """Steps done, steps in all, centres so far."""
        return Progress(self._n_iter, self._solver.max_iter, len(self._W))

    @property
    def done(self) -> bool:
        """Whether all steps are taken."""
        return self._n_iter >= self._solver.max_iter

    def advance(self) -> None:
        """Take one block of steps."""
        solver, problem = self._solver, self._objective
        size = min(self._block_size, solver.max_iter - self._n_iter)
        label, u, v, weight = self._draw(size)
        rows, label_at, u_at, v_at = distinct(problem.labeled[label], u, v)
        scores, gram = self._scores(rows)
        change, weighted = np.zeros((2, problem.n_outputs, len(rows)))
        objective = np.zeros((problem.n_outputs, size))
        finite = run_block(
            gram=gram,
            scores=np.ascontiguousarray(scores.T),
            change=change,
            weighted=weighted,
            norm=self._norm,
            objective=objective,
            first_step=self._n_iter + 1,
            harmonic=self._harmonic,
            label=label_at,
            target=problem.targets[label],
            label_weight=problem.weights[label],
            u=u_at,
            v=v_at,
            edge_weight=weight,
            C=problem.n_labeled * problem.C,
            C_graph=problem.n_labeled * problem.C_graph,
            loss=problem.loss,
            p=problem.smoothness.p,
            implicit=solver.step == "implicit",
            n_threads=solver.n_threads,
        )
        if not finite:
            self._fail("the scores overflowed")
        steps = np.arange(self._n_iter, self._n_iter + size) + 1.0
        self._harmonic = float(np.add.accumulate(np.append(self._harmonic, 1.0 / steps))[-1])
        np.add.at(self._objectives, self._bins(steps), (objective * steps).T)
        self._n_iter += size
        self._keep(rows, change, weighted)

    def solution(self) -> Solution:
        """Return the lemma's average; an error if the run has diverged."""
        T = self._n_iter
        self._check_bounds()
        average = self._average(self._W.coefficients, self._B[: len(self._W)])
        used = average.any(axis=1)
        order = np.argsort(self._W.rows[used])
        total = self._objectives.sum(axis=0)
        return Solution(
            rows=self._W.rows[used][order],
            coefficients=average[used][order],
            n_iter=T,
            objective=2.0 / (T * (T + 1.0)) * total,
        )

    def _open(self, solver: StochasticSolver, objective: Objective) -> None:
        """Start with W = 0."""
        self._W = objective.expansion(solver.dtype, solver.n_threads)
        self._B = np.zeros((0, objective.n_outputs))

    def _scores(self, rows: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return <W, Phi> at some rows, and their kernel matrix."""
        return self._W.scores_and_gram(rows)

    def _average(self, A: NDArray[np.float64], B: NDArray[np.float64]) -> NDArray[np.float64]:
        T = self._n_iter
        harmonic = self._harmonic - 1.0 / T  # H_{T-1}
        average = 2.0 / (T * (T + 1.0)) * (harmonic * A - B)
        if not np.isfinite(average).all():
            self._fail("the coefficients overflowed")
        return average

    def _draw(self, size: int) -> Draws:
        """Return the next draws: how they are cut into blocks does not matter."""
        if len(self._drawn.label) < size:
            more = self._draw_ahead(max(size, _AHEAD))
            self._drawn = self._drawn.join(more)
        now, self._drawn = self._drawn.split(size)
        return now

    def _draw_ahead(self, size: int) -> Draws:
        label = self._labels.integers(self._objective.n_labeled, size=size)
        if self._edges is None:
            nowhere = np.full(size, -1, np.int64)
            return Draws(label, nowhere, nowhere, np.zeros(size))
        u, v, weight = self._edges.draw(size)
        # The running maximum does not depend on how draws are cut into calls.
        heaviest = np.maximum.accumulate(np.append(self._heaviest, weight))
        self._heaviest = float(heaviest[-1])
        shows = weight > np.finfo(self._solver.dtype).eps * heaviest[1:]
        return Draws(label, np.where(shows, u, -1), v, weight)

    def _keep(self, rows: NDArray[np.int64], change: Any, weighted: Any) -> None:
        moved = np.flatnonzero(change.any(axis=0) | weighted.any(axis=0))
        self._W.add(rows[moved], change.T[moved])
        if len(self._W) > len(self._B):
            more = max(len(self._W), 2 * len(self._B)) - len(self._B)
            self._B = np.concatenate([self._B, np.zeros((more, self._B.shape[1]))])
        self._B[self._W.slots(rows[moved])] += weighted.T[moved]

    @staticmethod
    def _bins(steps: NDArray[Any]) -> NDArray[np.int64]:
        """Return which sum of objectives a step t belongs to, whatever its block."""
        return (steps.astype(np.int64) - 1) // _BIN

    def _check_bounds(self) -> None:
        """Refuse an explicit run whose second half stayed far above what J should be at most.

        That is J(0), plus the theorem's 2 G^2 / T: with the G of this problem where the
        theorem holds, else with that of the same problem without the graph.
        """
        if self._solver.step == "implicit":
            return
        T, guarantee = self._n_iter, self._solver.guarantee
        steps = np.arange(1, T + 1)
        weight = np.bincount(self._bins(steps), weights=steps)
        late = len(weight) // 2
        mean = self._objectives[late : len(weight)].sum(axis=0) / weight[late:].sum()
        G = guarantee.G if guarantee.holds else 2.0 * guarantee.b
        limit = _TOLERANCE * (self._objective.value_at_zero() + 2.0 * G * G / T)
        if (mean > limit).any():
            worst = int(np.argmax(mean / limit))
            self._fail(f"the objective stayed near {mean[worst]:.3g}, far above {limit[worst]:.3g}")

    def _fail(self, what: str) -> None:
        failure = f"The stochastic solver diverged within {max(self._n_iter, 1)} steps: {what}."
        if self._solver.step == "implicit":
            raise DivergenceError(f"{failure} Lower C, C_graph or the weights, or scale the data.")
        raise DivergenceError(
            f"{failure} {self._solver.guarantee} Or pass step='implicit', which is stable for "
            "large C_graph and p; C_graph='guaranteed' is the largest value the theorem allows."
        )


def distinct(
    label: NDArray[np.int64], u: NDArray[np.int64], v: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Return the distinct rows a block needs, and where its labels and edges stand among them.

    Examples
    --------
    >>> distinct(np.array([7, 5]), np.array([-1, 9]), np.array([3, 5]))[0]
    array([5, 7, 9])
    """
    live = np.flatnonzero(u >= 0)
    rows, place = np.unique(np.concatenate([label, u[live], v[live]]), return_inverse=True)
    at_label, at_u, at_v = np.split(place.astype(np.int32), [len(label), len(label) + len(live)])
    edges = np.full((2, len(u)), -1, np.int32)
    edges[:, live] = at_u, at_v
    return rows, at_label, edges[0], edges[1]
