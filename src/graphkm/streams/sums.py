"""Sums over the rows of a stream: landmarks, what is added when, and what is forgotten.

- Two reservoirs keep rows, as for stochastic steps: labelled ones, and others. After the first
  rows, landmarks are taken from them. They stay until the data drift (`LandmarkSet.renewed`).
- Labelled rows wait until a block of them is complete, and are then added to the sums. Before
  there are landmarks, all of them wait.
- A solution adds those that wait to a copy of the sums.
- C="auto" is chosen when the labelled rows have grown by a quarter, and when landmarks are looked
  at. Then a block ends, and its sums are set aside until C is asked for. Before there are
  landmarks, every solution chooses C anew.
- With a half-life h a row counts 2^(-age / h).

All of it depends on the rows, their order and the seed. The cut into chunks changes only what the
first chunk decides, such as the mean row, and so the rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._util.threads import blas_threads_for
from ..graphs.base import generators
from ..kernels import Kernel
from ..neighbours.distinct import distinct_rows
from ..ridge.sums import (
    FEW,
    RowSums,
    add_rows,
    half_of,
    leading,
    leave_one_out,
    no_rows,
    packed,
    scale,
    solve,
    transformed,
    unpacked,
)
from ..solvers.centres import no_rows as no_centres
from ..solvers.centres import stack
from ..solvers.sums_solver import JUDGES, block_size, chosen_C
from .landmarks import LandmarkSet
from .reservoir import Ints, Reservoir, offer_both
from .sgd import Machine, StreamRows, StreamScores

_FIRST = 4  # rows for each landmark before landmarks are chosen
_PIECE = 4096  # rows looked at together
_GROWTH = 1.25  # times as many labels: C is chosen again


@dataclass(frozen=True)
class SumsStreamSolver:
    """What is learnt from a stream by sums, and how.

    Parameters
    ----------
    kernel, offset
        As in `Objective`.
    C : float or None
        None is chosen by halves of the labelled rows.
    classes : bool
        Whether targets are classes.
    n_features, n_outputs : int
        Sizes of a row and of a target.
    sparse : bool
        Whether rows are CSR.
    n_landmarks, half_life
        As in `Sums`.
    seed : numpy.random.SeedSequence
        Decides all draws.
    dtype : dtype
        Precision of the kernel values.
    n_threads : int
        Threads; the result is the same, bit for bit, for any number.
    """

    kernel: Kernel
    offset: float
    C: float | None
    classes: bool
    n_features: int
    n_outputs: int
    sparse: bool
    n_landmarks: int
    half_life: float | None
    seed: np.random.SeedSequence
    dtype: Any = np.float32
    n_threads: int = 1

    def start(self) -> SumsStream:
        """Return the state before the first row."""
        return SumsStream(self)


class SumsStream:
    """The learning state: sums, landmarks, labelled rows that wait, and kept rows."""

    def __init__(self, solver: SumsStreamSolver) -> None:
        self.solver = s = solver
        labels, others, order = generators(s.seed, 3)
        self.n_rows = self.n_labels = 0
        self.labels = Reservoir(max(1, s.n_landmarks // 2), s.half_life, labels)
        self.others = Reservoir(s.n_landmarks, s.half_life, others)
        self._shuffle = int(order.integers(2**62))  # decides the order of landmarks
        empty = no_centres(s.n_features, s.sparse, s.dtype)
        nothing = StreamRows(empty, np.empty(0, bool), np.empty((0, s.n_outputs)), np.empty(0))
        self.kept, self.kept_ids = nothing, np.empty(0, np.int64)  # others, then labels
        self._waiting: tuple[Waiting, ...]
        self._waiting = (Waiting(empty, np.empty((0, s.n_outputs)), np.empty(0), self.kept_ids),)
        self.landmarks: LandmarkSet | None = None
        self._next = _FIRST * s.n_landmarks  # rows after which landmarks are looked at
        self._block = block_size(s.n_landmarks)
        self._clock = 0  # the row number that the sums are up to date with
        self._all = self._half = no_rows(0, s.n_outputs)
        self._C: float | None = s.C
        self._judges: Judges | None = None  # what C follows from; None: it is up to date
        self._due = 0  # labels after which C is chosen again

    def learn(self, stream: StreamRows) -> None:
        """Add some more rows."""
        first, n = 0, len(stream.labeled)
        while first < n:
            last = min(n, first + _PIECE, first + self._next - self.n_rows)
            self._learn(StreamRows._make(part[first:last] for part in stream))
            if self.n_rows == self._next:
                self._look_at_landmarks()
            first = last

    @property
    def n_iter(self) -> int:
        """The steps of a solution: one, if there is anything to solve."""
        return int(self.n_labels > 0)

    def machine(self) -> Machine:
        """Return the solution for all rows so far; without labels, do no work."""
        with self._threads():
            present = self._present()
            if present is not None:
                landmarks, sums, C = present
                a = solve(sums, landmarks.gram, C)
                return Machine(landmarks.ids, landmarks.rows, a, C)
        none = np.empty(0, np.int64)
        return Machine(none, self.kept.rows[none], np.empty((0, self.solver.n_outputs)), np.nan)

    def held_out(self) -> StreamScores:
        """Return what solutions without a row's own target say of the kept labelled rows.

        Copies of a row that are kept are left out with it, as one row.
        """
        known = self.kept.labeled
        targets, weights = self.kept.targets[known], self.kept.weights[known]
        with self._threads():
            present = self._present()
            if present is None:
                return StreamScores(np.zeros_like(targets), targets, weights)
            landmarks, sums, C = present
            rows = self.kept.rows[known]
            faded = weights * self._faded(self.n_rows - 1 - self.kept_ids[known])
            copies = distinct_rows(rows)
            pooled = (each[copies.place] for each in copies.pooled(targets, faded))
            scores = leave_one_out(sums, landmarks.gram, C, landmarks.values(rows), *pooled)
        return StreamScores(scores, targets, weights)

    def _present(self) -> tuple[LandmarkSet, RowSums, float] | None:
        """Return landmarks, the sums of all rows so far, and C; None if no row counts."""
        if not self.n_labels:
            return None
        landmarks = self.landmarks or self._chosen()
        sums, half = self._all, self._half
        if self.landmarks is None:
            sums, half = self._no_sums(landmarks)
        factor = self._faded(self.n_rows - self._clock)
        sums, half = scale(sums, factor), scale(half, factor)
        waiting = self._joined()
        for first in range(0, len(waiting.ids), self._block):
            block = waiting.part(slice(first, first + self._block))
            sums, half = self._with_block(sums, half, landmarks, block, self.n_rows)
        if not sums.weight:
            return None
        C = self._current_C()
        if C is None:
            C = chosen_C(sums, half, landmarks.gram, classes=self.solver.classes)
        return landmarks, sums, C

    def known_targets(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the targets of the labelled rows that wait, and their weights."""
        waiting = self._joined()
        return waiting.targets, waiting.weights

    def rescale(self, factor: float) -> None:
        """Multiply all targets so far by a factor."""
        waiting = self._joined()
        self._waiting = (waiting._replace(targets=factor * waiting.targets),)
        self.kept = self.kept._replace(targets=factor * self.kept.targets)
        self._all, self._half = (
            sums._replace(cross=factor * sums.cross, squares=factor**2 * sums.squares)
            for sums in (self._all, self._half)
        )

    # ------------------------------------------------------------------ states

    def snapshot(self) -> Callable[[], None]:
        """Return a function that undoes what happens from now on. No array ever changes."""
        attributes = dict(vars(self))
        both = self.labels, self.others
        before = [(r.n_offered, r.filled, r.rng.bit_generator.state) for r in both]

        def undo() -> None:
            vars(self).update(attributes)
            for reservoir, (n_offered, filled, drawn) in zip(both, before, strict=True):
                reservoir.n_offered, reservoir.filled = n_offered, filled
                reservoir.rng.bit_generator.state = drawn

        return undo

    def state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the whole state as numbers and arrays (or CSR rows)."""
        numbers = {
            "n_rows": self.n_rows,
            "n_labels": self.n_labels,
            "next": self._next,
            "shuffle": self._shuffle,
            "clock": self._clock,
            "begun": self.landmarks is not None,
            "offered": [self.labels.n_offered, self.others.n_offered],
            "filled": [self.labels.filled, self.others.filled],
            "generators": [rng.bit_generator.state for rng in self._generators()],
            "weights": [self._all.weight, self._half.weight],
            "counts": [self._all.n_rows, self._half.n_rows],
            "C": self._current_C(),
            "due": self._due,
        }
        waiting, landmarks = self._joined(), self.landmarks
        arrays = {
            "landmarks": self.kept.rows[:0] if landmarks is None else landmarks.rows,
            "landmark_ids": self.kept_ids[:0] if landmarks is None else landmarks.ids,
            "kept_ids": self.kept_ids,
            **{f"kept_{name}": part for name, part in self.kept._asdict().items()},
            **{f"waiting_{name}": part for name, part in waiting._asdict().items()},
        }
        for name, sums in (("all", self._all), ("half", self._half)):
            arrays |= {f"{name}_columns": packed(sums.gram), f"{name}_cross": sums.cross}
            arrays |= {f"{name}_squares": sums.squares}
        return numbers, arrays

    def restore(self, numbers: dict[str, Any], arrays: dict[str, Any]) -> None:
        """Go on from a state."""
        s = self.solver
        self.n_rows, self.n_labels = numbers["n_rows"], numbers["n_labels"]
        self._next, self._clock = numbers["next"], numbers["clock"]
        self._shuffle, self._due = numbers["shuffle"], numbers["due"]
        self._C, self._judges = numbers["C"], None
        self.labels.n_offered, self.others.n_offered = numbers["offered"]
        self.labels.filled, self.others.filled = numbers["filled"]
        for rng, state in zip(self._generators(), numbers["generators"], strict=True):
            rng.bit_generator.state = state
        self.kept_ids = arrays["kept_ids"]
        self.kept = StreamRows._make(arrays[f"kept_{name}"] for name in StreamRows._fields)
        self._waiting = (Waiting._make(arrays[f"waiting_{name}"] for name in Waiting._fields),)
        self.landmarks = None
        if numbers["begun"]:
            rows, ids = arrays["landmarks"], arrays["landmark_ids"]
            self.landmarks = LandmarkSet(s.kernel, s.offset, rows, ids, s.n_threads)
        both = []
        for i, name in enumerate(("all", "half")):
            cross = arrays[f"{name}_cross"]
            gram = unpacked(arrays[f"{name}_columns"], len(cross))
            squares = arrays[f"{name}_squares"]
            both.append(RowSums(gram, cross, squares, numbers["weights"][i], numbers["counts"][i]))
        self._all, self._half = both

    def __getstate__(self) -> tuple[SumsStreamSolver, tuple[dict[str, Any], dict[str, Any]]]:
        """Leave out the compiled stores, which are rebuilt, and the seed, which is used up."""
        return replace(self.solver, seed=None), self.state()  # type: ignore[arg-type]

    def __setstate__(
        self, saved: tuple[SumsStreamSolver, tuple[dict[str, Any], dict[str, Any]]]
    ) -> None:
        """Rebuild the stores from the landmarks."""
        self.__init__(replace(saved[0], seed=np.random.SeedSequence(0)))  # type: ignore[misc]
        self.restore(*saved[1])

    def _generators(self) -> list[np.random.Generator]:
        return [self.labels.rng, self.others.rng]

    # ------------------------------------------------------------------ rows

    def _learn(self, piece: StreamRows) -> None:
        labels, others = offer_both(
            self.labels, self.others, piece.labeled, self.n_rows, len(self.kept_ids)
        )
        final = np.concatenate([others.final(), labels.final()])
        ids = self.n_rows + np.arange(len(piece.labeled))
        known = np.flatnonzero(piece.labeled)
        new = Waiting(piece.rows[known], piece.targets[known], piece.weights[known], ids[known])
        table = StreamRows(
            stack([self.kept.rows, piece.rows]),
            *(np.concatenate(pair) for pair in zip(self.kept[1:], piece[1:], strict=True)),
        )
        self.kept = StreamRows._make(part[final] for part in table)
        self.kept_ids = np.append(self.kept_ids, ids)[final]
        self.n_rows += len(piece.labeled)
        self.n_labels += len(known)
        if len(known):
            self._waiting = (*self._waiting, new)
            self._add_blocks()

    def _add_blocks(self, *, rest: bool = False) -> None:
        """Add the complete blocks of labelled rows to the sums, or all of them."""
        n_waiting = sum(len(part.ids) for part in self._waiting)
        if self.landmarks is None or (not rest and n_waiting < self._block_from(n_waiting)):
            return
        waiting, first = self._joined(), 0
        while first < n_waiting:
            size = self._block_from(n_waiting - first)
            if first + size > n_waiting and not rest:
                break
            block = waiting.part(slice(first, first + size))
            now = int(block.ids[-1]) + 1
            factor = self._faded(now - self._clock)
            sums, half = scale(self._all, factor), scale(self._half, factor)
            self._all, self._half = self._with_block(sums, half, self.landmarks, block, now)
            self._clock = now
            first += len(block.ids)
            n_added = self.n_labels - n_waiting + first
            if n_added == self._due:
                self._judge(n_added)
        self._waiting = (waiting.part(slice(first, None)),)

    def _block_from(self, n_waiting: int) -> int:
        """Return the size of the next block: it ends where C is chosen."""
        left = self._due - (self.n_labels - n_waiting)
        return min(self._block, left) if left > 0 else self._block

    def _judge(self, n_added: int) -> None:
        """Set aside what C follows from: the sums of the labelled rows added so far."""
        assert self.landmarks is not None
        if self.solver.C is None:
            p = len(self._half.cross)
            first = leading(self._all, p)
            first = first._replace(gram=first.gram.copy(order="F"))  # no view of a larger matrix
            self._judges = Judges(first, self._half, self.landmarks.gram[:p, :p])
            self._due = max(FEW, ceil(_GROWTH * n_added))

    def _current_C(self) -> float | None:
        """Return the C of the last choice; None before the first one."""
        if self._judges is not None:
            with self._threads():
                self._C = chosen_C(*self._judges, classes=self.solver.classes)
            self._judges = None
        return self._C

    def _threads(self) -> AbstractContextManager[None]:
        """Let BLAS have as many threads whoever asks: their number changes the last bits.

        C may magnify them, because errors differ little around the best one.
        """
        return blas_threads_for(self.solver.n_landmarks, self.solver.n_landmarks)

    def _with_block(
        self, sums: RowSums, half: RowSums, landmarks: LandmarkSet, block: Waiting, now: int
    ) -> tuple[RowSums, RowSums]:
        """Return the sums of all rows, and of a half of them, with a block of rows added."""
        K, judges = landmarks.values(block.rows), half_of(block.ids)
        weights = block.weights * self._faded(now - 1 - block.ids)
        sums = add_rows(sums, K, block.targets, weights)
        K = K[judges, : len(half.cross)]
        return sums, add_rows(half, K, block.targets[judges], weights[judges])

    def _faded(self, age: Any) -> Any:
        """Return how much rows of this age count."""
        h = self.solver.half_life
        return np.ones_like(age, float)[()] if h is None else np.exp2(-np.asarray(age) / h)

    def _joined(self) -> Waiting:
        """Return the labelled rows that wait."""
        if len(self._waiting) > 1:
            rows, *others = zip(*self._waiting, strict=True)
            self._waiting = (Waiting(stack(list(rows)), *map(np.concatenate, others)),)
        return self._waiting[0]

    # ------------------------------------------------------------------ landmarks

    def _look_at_landmarks(self) -> None:
        """Choose landmarks, or follow a drift; say when to look again."""
        if self.landmarks is None:
            self.landmarks = self._chosen()
            self._all, self._half = self._no_sums(self.landmarks)
        else:
            change = self.landmarks.renewed(self.kept.rows, self.kept_ids)
            if change is not None:
                self._all, self._half = (
                    transformed(sums, self.landmarks.projection(change, len(sums.cross)))
                    for sums in (self._all, self._half)
                )
                self.landmarks = change.landmarks
        self._add_blocks(rest=True)
        self._judge(self.n_labels)
        h = self.solver.half_life
        self._next += self.n_rows if h is None else max(ceil(h), self.solver.n_landmarks)

    def _chosen(self) -> LandmarkSet:
        """Return landmarks among the kept rows, labelled ones first, in a random order."""
        s, n_labels = self.solver, self.labels.filled
        first = len(self.kept_ids) - n_labels
        rows = np.append(
            first + np.arange(n_labels), np.arange(min(first, s.n_landmarks - n_labels))
        )
        rows = np.random.default_rng(self._shuffle).permutation(rows)
        return LandmarkSet.distinct(
            s.kernel, s.offset, self.kept.rows[rows], self.kept_ids[rows], s.n_threads
        )

    def _no_sums(self, landmarks: LandmarkSet) -> tuple[RowSums, RowSums]:
        outputs = self.solver.n_outputs
        return no_rows(len(landmarks), outputs), no_rows(min(len(landmarks), JUDGES), outputs)


class Judges(NamedTuple):
    """What C follows from: sums with the first landmarks, those of a half, and the penalty."""

    sums: RowSums
    half: RowSums
    penalty: NDArray[np.float64]


class Waiting(NamedTuple):
    """Labelled rows that are not added yet."""

    rows: Any
    targets: NDArray[np.float64]
    weights: NDArray[np.float64]
    ids: Ints

    def part(self, places: slice) -> Waiting:
        """Return some of them."""
        return Waiting._make(part[places] for part in self)
