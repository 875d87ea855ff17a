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

from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from .._parameters import check_choice, check_count, check_number
from .._parts import Combination, Sizes
from ..backends import run_block
from ..graphs import ListedGraph
from ..graphs.base import generators
from ..objective import Objective
from .base import DivergenceError, Progress, Resources, Solution, Solver, State

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
class SGD(Solver):
    """Stochastic gradient descent on single labelled points and edges.

    It stores neither a kernel matrix nor a full graph, and suits many labels and many rows.
    ``partial_fit`` takes the same steps on rows that come in chunks.

    Parameters
    ----------
    step : {"implicit", "explicit"}, default="implicit"
        "explicit" is the paper's step. "implicit" minimises every sampled term exactly, which
        is stable for every C, C_graph and p.
    edge_sampling : {"uniform", "weight"}, default="uniform"
        Draw edges uniformly, or in proportion to their weight. Both minimise the same J.
    max_iter : int or "auto", default="auto"
        Steps. For n rows "auto" is 2n up to 20,000 steps, at least 1,000 and at least n / 5;
        in regression it is 100,000, and at least n / 5.
    budget : int or None, default=None
        Centres at most, after every block of steps. Those with the smallest coefficients are
        projected onto near ones. In a stream the l of the objective then counts at most 16
        labels for each centre.
    steps_per_row : float or "auto", default="auto"
        For ``partial_fit``: steps per row of the stream, at least one for every labelled row.
        "auto" is 2n after n rows up to 20,000 steps, and n / 5 later. With a `half_life` h it
        is a constant rate, that of n = h / log 2.
    reservoir_size : int, default=2000
        For ``partial_fit``: rows kept, of those with and of those without a label.
    half_life : float or None, default=None
        For ``partial_fit``: None keeps a uniform sample of everything seen. A number keeps a
        row for that many rows of the stream with probability one half, to follow drift.

    Examples
    --------
    >>> from graphkm._parts import Sizes
    >>> sizes = Sizes(n_rows=5000, n_labeled=2000, classes=True)
    >>> SGD(step="explicit").planned(sizes).max_iter
    10000
    """

    step: Literal["implicit", "explicit"] = "implicit"
    edge_sampling: Literal["uniform", "weight"] = "uniform"
    max_iter: int | str = "auto"
    budget: int | None = None
    steps_per_row: float | str = "auto"
    reservoir_size: int = 2000
    half_life: float | None = None

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        check_choice("step", self.step, ("explicit", "implicit"))
        check_choice("edge_sampling", self.edge_sampling, ("uniform", "weight"))
        check_count("max_iter", self.max_iter, words=("auto",))
        if self.budget is not None:
            check_count("budget", self.budget)
        check_number("steps_per_row", self.steps_per_row, least=0, words=("auto",))
        check_count("reservoir_size", self.reservoir_size, least=2)
        if self.half_life is not None:
            check_number("half_life", self.half_life, least=0, strictly=True)

    def planned(self, sizes: Sizes) -> Self:
        """Return the solver with a number of steps; a stream's rate may stay "auto".

        Quantities take more steps than signs: each step adds to the precision of f.
        """
        if self.max_iter != "auto":
            return self
        n = sizes.n_rows
        few = max(1000, min(2 * n, 20_000)) if sizes.classes else 100_000
        return replace(self, max_iter=max(few, n // 5))

    def accepts(self, together: Combination) -> None:
        """Raise ValueError where single edges, or rows that come once, are not enough."""
        smoothness = together.smoothness
        if smoothness.normalized is True or smoothness.degree not in ("auto", 1):
            raise ValueError(
                "solver=SGD() draws single edges, and cannot use a smoothness with "
                f"normalized=True or a degree above 1, such as {smoothness!r}; pass "
                "solver=Newton(), or smoothness=Power(p)."
            )
        if self.budget is not None and not together.kernel.has_rows:
            raise ValueError(
                f"budget={self.budget} needs the rows themselves, and kernel='precomputed' has "
                "none; pass budget=None."
            )
        if together.streaming and self.edge_sampling != "uniform":
            raise ValueError(
                f"partial_fit cannot use edge_sampling={self.edge_sampling!r}, which needs to "
                "know all edges; pass edge_sampling='uniform'."
            )

    def start(self, objective: Objective, resources: Resources) -> State:
        """Return the state before the first step, w_1 = 0."""
        if self.budget is not None:
            from .budgeted import BudgetedState

            return BudgetedState(self, objective, resources)
        return SGDState(self, objective, resources)


class SGDState:
    """The learning state: W, the sums of its average, and the streams of draws."""

    def __init__(
        self,
        solver: SGD,
        objective: Objective,
        resources: Resources,
        block_size: int | None = None,
    ) -> None:
        self._solver, self._objective, self._resources = solver, objective, resources
        self._max_iter = int(solver.max_iter)
        self._n_iter = 0
        small = objective.X.shape[0] <= _SMALL
        self._block_size = block_size or (_LONG_BLOCK if small else _BLOCK)
        self._harmonic = 0.0  # H_{t-1} for the next step t
        self._open(solver, objective)
        self._norm = np.zeros(objective.n_outputs)  # ||W||^2
        bins = self._bins(np.array([self._max_iter]))[0] + 1
        self._objectives = np.zeros((bins, objective.n_outputs))  # sums of t J_t(w_t)
        (self._labels,) = generators(resources.seed, 1)
        self._edges = None
        if objective.has_edges:
            assert objective.graph is not None
            self._edges = objective.graph.sampler(solver.edge_sampling, resources.seed)
        # The largest factor: known where edges are listed, else the largest drawn so far.
        self._heaviest = 0.0
        if isinstance(objective.graph, ListedGraph) and solver.edge_sampling == "uniform":
            self._heaviest = float(objective.graph.edges().weight.max(initial=0.0))
        self._drawn = self._draw_ahead(0)

    @property
    def progress(self) -> Progress:
        """Steps done, steps in all, centres so far."""
        return Progress(self._n_iter, self._max_iter, len(self._W))

    @property
    def done(self) -> bool:
        """Whether all steps are taken."""
        return self._n_iter >= self._max_iter

    def advance(self) -> None:
        """Take one block of steps."""
        solver, problem = self._solver, self._objective
        size = min(self._block_size, self._max_iter - self._n_iter)
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
            n_threads=self._resources.n_threads,
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

    def _open(self, solver: SGD, objective: Objective) -> None:
        """Start with W = 0."""
        self._W = objective.expansion(self._resources.dtype, self._resources.n_threads)
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
        shows = weight > np.finfo(self._resources.dtype).eps * heaviest[1:]
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
        T, guarantee = self._n_iter, self._objective.guarantee
        if self._solver.step == "implicit" or guarantee is None:
            return
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
            f"{failure} {self._objective.guarantee or 'Lower C_graph.'} Or pass step='implicit', "
            "which is stable for large C_graph and p; C_graph='guaranteed' is the largest value "
            "the theorem allows."
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
