r"""The stochastic solver on rows that come once and in pieces.

The steps are those of `graphkm.solvers.SGD`, with one t and one average over the whole stream. They
draw from the rows seen so far.

- Every labelled row is one step, when it comes. If that is fewer than planned (`Schedule`),
  further steps repeat labelled rows from a reservoir.
- The edge of a step joins rows of two reservoirs: one of labelled rows, one of all others.
- J is the objective of the rows seen so far: C and C_graph are multiplied by l, the labels so far.
  With a budget, l stops at a number of labels for each centre (`Budget.n_labels`), and steps become
  smaller.
- With a half-life h only recent rows count. l counts the labels of h / log 2 rows, the reservoirs
  forget, and so do w and its average. Whenever t reaches the steps of 4h rows, it goes back by
  half. w and the average stay as they are. When t has doubled again, they count for a quarter.

All of it depends on the rows up to a step and on the seed. How the stream is cut into pieces
changes blocks, and so only the rounding. A budget is enforced after every block: there the cut also
changes which centres leave.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil, log
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..graphs.base import generators
from ..kernels import Kernel
from ..losses import Loss
from ..solvers.budget import Budget
from ..solvers.centres import Centres, stack
from ..solvers.descent import Descent, Draws
from .edges import Moment, StreamEdges
from .reservoir import Ints, Kept, Reservoir, offer_both
from .schedule import Schedule

_BLOCK = 256  # steps
_PIECE = 4096  # rows looked at together
_CANDIDATES = 400  # neighbours looked at for a step, at most


class StreamRows(NamedTuple):
    """Rows as compiled code takes them; targets and weights count where there is a label."""

    rows: Any
    labeled: NDArray[np.bool_]
    targets: NDArray[np.float64]
    weights: NDArray[np.float64]


class StreamScores(NamedTuple):
    """Scores of some labelled rows of a stream, with their targets and weights."""

    scores: NDArray[np.float64]
    targets: NDArray[np.float64]
    weights: NDArray[np.float64]


class Machine(NamedTuple):
    """f as numbered rows with coefficients, and the C it was found for."""

    ids: Ints
    rows: Any
    coefficients: NDArray[np.float64]
    C: float


@dataclass(frozen=True)
class StreamSolver:
    """What is learnt from a stream, and how.

    Parameters
    ----------
    kernel, offset, loss, p, C, C_graph
        As in `Objective`; one C and C_graph for all outputs.
    n_features, n_outputs : int
        Sizes of a row and of a target.
    sparse : bool
        Whether rows are CSR.
    step : {"explicit", "implicit"}
        As in `SGD`.
    graph : {"full", "bipartite", "knn"}
        As in `StreamEdges`.
    graph_gamma : float
        Bandwidth of edge weights.
    n_neighbors : int
        For "knn".
    reservoir_size : int
        Rows kept of each kind.
    half_life : float or None
        As in `Reservoir`.
    steps_per_row : float or "auto"
        As in `Schedule`.
    seed : numpy.random.SeedSequence
        Decides all draws.
    budget : int or None
        Centres at most.
    dtype : dtype
        Precision of the kernel values.
    n_threads : int
        Threads; the result is the same, bit for bit, for any number.
    """

    kernel: Kernel
    offset: float
    loss: Loss
    p: float
    C: float
    C_graph: float
    n_features: int
    n_outputs: int
    sparse: bool
    step: Literal["explicit", "implicit"]
    graph: str
    graph_gamma: float
    n_neighbors: int
    reservoir_size: int
    half_life: float | None
    steps_per_row: float | str
    seed: np.random.SeedSequence
    budget: int | None = None
    dtype: Any = np.float32
    n_threads: int = 1

    def start(self) -> StreamState:
        """Return the state before the first row."""
        return StreamState(self)


class StreamState:
    """The learning state: W, the sums of its average, kept rows, and streams of draws."""

    def __init__(self, solver: StreamSolver) -> None:
        self.solver = s = solver
        labels, others, again, edges = generators(s.seed, 4)
        self.n_rows = self.n_labels = 0
        self.W = Centres(
            s.kernel,
            s.n_features,
            s.n_outputs,
            offset=s.offset,
            sparse=s.sparse,
            dtype=s.dtype,
            n_threads=s.n_threads,
        )
        self._descent = Descent(
            self.W,
            loss=s.loss,
            p=s.p,
            C=np.full(s.n_outputs, s.C),
            C_graph=np.full(s.n_outputs, s.C_graph),
            implicit=s.step == "implicit",
            budget=s.budget,
        )
        self.schedule = Schedule(s.steps_per_row, s.half_life)
        self.again = again  # draws labelled rows for steps beyond their own
        n_candidates = min(ceil(2 * s.reservoir_size / s.n_neighbors), _CANDIDATES)
        self.edges = StreamEdges(s.graph, s.graph_gamma, n_candidates, s.n_neighbors, edges)
        self.labels = Reservoir(s.reservoir_size, s.half_life, labels)
        self.others = Reservoir(s.reservoir_size, s.half_life, others)
        # The kept rows: others, then labels.
        self.kept = StreamRows(
            self.W.no_rows(), np.empty(0, bool), np.empty((0, s.n_outputs)), np.empty(0)
        )
        self.kept_ids = np.empty(0, np.int64)

    def learn(self, stream: StreamRows) -> None:
        """Take the steps of some more rows."""
        for first in range(0, len(stream.labeled), _PIECE):
            self._learn(StreamRows._make(part[first : first + _PIECE] for part in stream))

    @property
    def n_iter(self) -> int:
        """The steps taken so far."""
        return self._descent.n_iter

    def machine(self) -> Machine:
        """Return f: the average of w over the steps."""
        return Machine(self.W.ids, self.W.rows, self._descent.average(), self.solver.C)

    def known_targets(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the targets of the kept rows that have one, and their weights."""
        known = self.kept.labeled
        return self.kept.targets[known], self.kept.weights[known]

    def rescale(self, factor: float) -> None:
        """Multiply all targets so far, and so the function learnt, by a factor."""
        numbers, arrays = self.state()
        scaled = {name: factor * arrays[name] for name in ("sums", "kept_targets")}
        self.restore(numbers, arrays | scaled)

    def snapshot(self) -> Callable[[], None]:
        """Return a function that undoes what happens from now on."""
        state = self.state()
        return lambda: self.restore(*state)

    def state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the whole state as numbers and arrays (or CSR rows).

        Nothing in them changes when the stream goes on.
        """
        numbers = {
            "n_rows": self.n_rows,
            "n_labels": self.n_labels,
            "n_iter": self.n_iter,
            "t": self._descent.t,
            "harmonic": self._descent.harmonic,
            "schedule": self.schedule.state(),
            "offered": [self.labels.n_offered, self.others.n_offered],
            "filled": [self.labels.filled, self.others.filled],
            "generators": [rng.bit_generator.state for rng in self._generators()],
        }
        arrays = {
            "ids": self.W.ids.copy(),
            "sums": self.W.sums.copy(),
            "rows": self.W.rows,
            "kept_ids": self.kept_ids,
            **{f"kept_{name}": part for name, part in self.kept._asdict().items()},
        }
        return numbers, arrays

    def restore(self, numbers: dict[str, Any], arrays: dict[str, Any]) -> None:
        """Go on from a state."""
        self.n_rows, self.n_labels = numbers["n_rows"], numbers["n_labels"]
        descent = self._descent
        descent.n_iter, descent.t = numbers["n_iter"], numbers["t"]
        descent.harmonic = numbers["harmonic"]
        self.schedule.restore(numbers["schedule"])
        self.labels.n_offered, self.others.n_offered = numbers["offered"]
        self.labels.filled, self.others.filled = numbers["filled"]
        for rng, state in zip(self._generators(), numbers["generators"], strict=True):
            rng.bit_generator.state = state
        self.W.replace(arrays["ids"], arrays["rows"], arrays["sums"])
        self.kept_ids = arrays["kept_ids"]
        self.kept = StreamRows._make(arrays[f"kept_{name}"] for name in StreamRows._fields)

    def __getstate__(self) -> tuple[StreamSolver, tuple[dict[str, Any], dict[str, Any]]]:
        """Leave out the compiled store, which is rebuilt, and the seed, which is used up."""
        return replace(self.solver, seed=None), self.state()  # type: ignore[arg-type]

    def __setstate__(
        self, saved: tuple[StreamSolver, tuple[dict[str, Any], dict[str, Any]]]
    ) -> None:
        """Rebuild the store from the centres."""
        self.__init__(replace(saved[0], seed=np.random.SeedSequence(0)))  # type: ignore[misc]
        self.restore(*saved[1])

    def _generators(self) -> list[np.random.Generator]:
        return [self.labels.rng, self.others.rng, self.again, self.edges.rng]

    def _learn(self, piece: StreamRows) -> None:
        labels, others = offer_both(
            self.labels, self.others, piece.labeled, self.n_rows, len(self.kept_ids)
        )
        table = StreamRows(
            stack([self.kept.rows, piece.rows]),
            *(np.concatenate(pair) for pair in zip(self.kept[1:], piece[1:], strict=True)),
        )
        ids = np.append(self.kept_ids, self.n_rows + np.arange(len(piece.labeled)))
        n_labels = self.n_labels + np.cumsum(piece.labeled)
        n_rows = self.n_rows + 1 + np.arange(len(piece.labeled))
        steps = self.schedule.advance(piece.labeled)
        time = np.repeat(np.arange(len(steps)), steps)
        label = self._labels_of(piece.labeled, steps, time, labels)
        limit = self._memory(n_rows, self.n_iter + np.cumsum(steps))
        first = 0
        while first < len(time):
            now = time[first : first + _BLOCK]
            full = np.flatnonzero(self._descent.t + 1 + np.arange(len(now)) >= limit[now])
            if len(full):
                now = now[: full[0] + 1]
            at = Moment(now, n_labels[now], n_rows[now] - n_labels[now])
            self._advance(label[first : first + len(now)], at, labels, others, table, ids)
            if len(full):
                self._descent.forget()
            first += len(now)
        final = np.concatenate([others.final(), labels.final()])
        self.kept = StreamRows._make(part[final] for part in table)
        self.kept_ids = ids[final]
        self.n_rows += len(piece.labeled)
        self.n_labels += int(piece.labeled.sum())

    def _labels_of(self, labeled: NDArray[np.bool_], steps: Ints, time: Ints, labels: Kept) -> Ints:
        """Return the labelled entry of every step: the row itself first, then kept ones."""
        first = np.cumsum(steps) - steps
        own = np.zeros(len(time), bool)
        own[first[labeled]] = True
        again = labels.draw(self.again.random(len(time)), time)
        return np.where(own, len(self.kept_ids) + time, again)

    def _memory(self, n_rows: Ints, n_iter: Ints) -> NDArray[np.float64]:
        """Return for every row the number of steps at which half of them are forgotten."""
        h = self.solver.half_life
        if h is None:
            return np.full(len(n_rows), np.inf)
        return np.maximum(4.0, 4.0 * h * n_iter / n_rows)

    def _counted(self, at: Moment) -> NDArray[np.float64]:
        """Return l: the labels seen, limited by the half-life and the budget."""
        h, budget = self.solver.half_life, self.solver.budget
        counted = at.labels.astype(np.float64)
        if h is not None:
            counted *= np.minimum(1.0, h / (log(2) * (at.labels + at.unlabeled)))
        return counted if budget is None else np.minimum(counted, Budget(budget).n_labels)

    def _advance(
        self, label: Ints, at: Moment, labels: Kept, others: Kept, table: StreamRows, ids: Ints
    ) -> None:
        """Take one block of steps."""
        counted = self._counted(at)
        u, v, mu = np.full(len(label), -1), np.full(len(label), -1), np.zeros(len(label))
        if self.solver.C_graph > 0:
            u, v, mu = self.edges.draw(at, labels, others, table.rows)
            u = np.where(mu > np.finfo(self.solver.dtype).eps, u, -1)
        draws = Draws(
            label, table.targets[label], table.weights[label] * counted, u, v, mu * counted
        )
        self._descent.take(draws, lambda entries: (ids[entries], table.rows[entries]))
