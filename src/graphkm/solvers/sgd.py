"""The paper's Algorithm 1 on a data set: what its steps draw, and when they have diverged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from .._util.parameters import check_choice, check_count, check_number
from .._util.parts import Combination, Sizes
from ..backends import active, query_rows
from ..expansion import mean_row
from ..graphs import ListedGraph
from ..graphs.base import generators
from ..objective import Objective
from .base import Progress, Resources, Solution, Solver, State
from .centres import Centres
from .descent import Descent, Draws

_SMALL = 1024  # up to so many rows blocks are long: they draw a row often, and compute it once
_LONG_BLOCK = 2048
_AHEAD = 2048  # steps drawn together
_BIN = 32  # steps whose objectives are summed together
_LARGE = 5000  # rows from which on the paper's steps are n / 5: its sets have 3,089 or 8,124 rows
_TOLERANCE = 10.0  # how far above its bound the objective must be to be called divergent


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
    max_iter : int, "auto" or "published", default="auto"
        Steps. For n rows "auto" is 2n up to 20,000 steps, at least 1,000 and at least n / 5;
        in regression it is 100,000, and at least n / 5. "published" is the paper's number: n up to
        5,000 rows, and n / 5 beyond.
    budget : int or None, default=None
        The most centres after a block of steps. Those with the smallest coefficients, above
        all in the average, are projected onto near ones. In a stream the l of the objective then
        counts at most 16 labels for each centre.
    steps_per_row : float or "auto", default="auto"
        For ``partial_fit``: steps per row of the stream, at least one for every labelled row.
        "auto" is 2n after n rows up to 20,000 steps, and n / 5 later. With a ``half_life`` h
        the rate is constant: the rate for n = h / log 2.
    reservoir_size : int, default=2000
        For ``partial_fit``: how many labelled rows are kept, and how many unlabelled rows.
    half_life : float or None, default=None
        For ``partial_fit``: None keeps a uniform sample of everything seen. A number keeps a
        row for that many rows of the stream with probability one half, to follow drift.

    Examples
    --------
    >>> from graphkm import GKMClassifier
    >>> X, y = np.array([[-1.0], [1.0], [-2.0]]), np.array([0, 1, -1])
    >>> model = GKMClassifier(solver=SGD(max_iter=500), random_state=0).fit(X, y)
    >>> model.n_iter_, model.transduction_.tolist()
    (500, [0, 1, 0])
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
        check_count("max_iter", self.max_iter, words=("auto", "published"))
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
        n = sizes.n_rows
        if self.max_iter == "published":
            return replace(self, max_iter=n if n <= _LARGE else n // 5)
        if self.max_iter != "auto":
            return self
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
        return SGDState(self, objective, resources)


class SGDState:
    """The learning state: W and its average, and the draws.

    Parameters
    ----------
    solver, objective, resources
        As in `SGD.start`.
    block_size : int, optional
        Steps per block; only rounding depends on it.
    """

    def __init__(
        self,
        solver: SGD,
        objective: Objective,
        resources: Resources,
        block_size: int | None = None,
    ) -> None:
        self._solver, self._objective, self._resources = solver, objective, resources
        self._max_iter = int(solver.max_iter)
        small = objective.X.shape[0] <= _SMALL
        self._block_size = block_size or (_LONG_BLOCK if small else active().block_steps)
        self._shift = mean_row(objective.kernel, objective.X)
        self._descent = _start_descent(solver, objective, resources)
        # Projections change ||W|| by an unknown amount: with a budget J is judged without it.
        self._norm = np.zeros(objective.n_outputs) if solver.budget is None else None
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
        return Progress(self._descent.n_iter, self._max_iter, len(self._descent.W))

    @property
    def done(self) -> bool:
        """Whether all steps are taken."""
        return self._descent.n_iter >= self._max_iter

    def advance(self) -> None:
        """Take one block of steps."""
        before = self._descent.n_iter
        draws = self._draw(min(self._block_size, self._max_iter - before))
        objective = self._descent.take(draws, self._find, self._norm)
        steps = np.arange(before, self._descent.n_iter) + 1.0
        np.add.at(self._objectives, self._bins(steps), (objective * steps).T)

    def solution(self) -> Solution:
        """Return the lemma's average; an error if the run has diverged."""
        W, T = self._descent.W, self._descent.n_iter
        self._check_bounds()
        average = self._descent.average()
        used = np.flatnonzero(average.any(axis=1))
        used = used[np.argsort(W.ids[used])]
        J = 2.0 / (T * (T + 1.0)) * self._objectives.sum(axis=0)
        return Solution(
            rows=W.ids[used],
            coefficients=average[used],
            n_iter=T,
            objective=J if self._norm is not None else np.full_like(J, np.nan),
        )

    def _find(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], Any]:
        kernel, X = self._objective.kernel, self._objective.X
        return rows, query_rows(kernel, X, rows, self._resources.dtype, self._shift)

    def _draw(self, size: int) -> Draws:
        """Return the next draws: how they are cut into blocks does not matter."""
        if len(self._drawn.label) < size:
            more = self._draw_ahead(max(size, _AHEAD))
            self._drawn = self._drawn.join(more)
        now, self._drawn = self._drawn.split(size)
        return now

    def _draw_ahead(self, size: int) -> Draws:
        problem = self._objective
        drawn = self._labels.integers(problem.n_labeled, size=size)
        label = problem.labeled[drawn], problem.targets[drawn], problem.weights[drawn]
        if self._edges is None:
            nowhere = np.full(size, -1, np.int64)
            return Draws(*label, nowhere, nowhere, np.zeros(size))
        u, v, weight = self._edges.draw(size)
        # The running maximum does not depend on how draws are cut into calls.
        heaviest = np.maximum.accumulate(np.append(self._heaviest, weight))
        self._heaviest = float(heaviest[-1])
        shows = weight > np.finfo(self._resources.dtype).eps * heaviest[1:]
        return Draws(*label, np.where(shows, u, -1), v, weight)

    @staticmethod
    def _bins(steps: NDArray[Any]) -> NDArray[np.int64]:
        """Return which sum of objectives a step t belongs to; it does not depend on blocks."""
        return (steps.astype(np.int64) - 1) // _BIN

    def _check_bounds(self) -> None:
        """Refuse an explicit run if J stayed far above its bound in the second half.

        The bound is J(0) plus the theorem's 2 G^2 / T. G belongs to this problem if the
        theorem holds, else to the same problem without the graph.
        """
        T, guarantee = self._descent.n_iter, self._objective.guarantee
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
            self._descent.fail(
                f"the objective stayed near {mean[worst]:.3g}, far above {limit[worst]:.3g}"
            )


def _start_descent(solver: SGD, objective: Objective, resources: Resources) -> Descent:
    """Return the descent of an objective, W = 0."""
    n_labeled = objective.n_labeled
    W = Centres(
        objective.kernel,
        objective.X.shape[1],
        objective.n_outputs,
        offset=objective.offset,
        sparse=issparse(objective.X),
        dtype=resources.dtype,
        n_threads=resources.n_threads,
        keep_rows=solver.budget is not None,
    )
    return Descent(
        W,
        loss=objective.loss,
        p=objective.smoothness.p,
        C=n_labeled * objective.C,
        C_graph=n_labeled * objective.C_graph,
        implicit=solver.step == "implicit",
        budget=solver.budget,
        guarantee=objective.guarantee,
    )
