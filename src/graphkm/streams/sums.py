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

from math import ceil
from typing import Any

import numpy as np

from ..neighbours.distinct import distinct_rows
from ..ridge.sums import (
    FEW,
    RowSums,
    add_rows,
    half_of,
    leading,
    leave_one_out,
    no_rows,
    scale,
    solve,
    transformed,
)
from ..solvers.centres import stack
from ..solvers.sums_solver import JUDGES, chosen_C
from .landmarks import LandmarkSet
from .reservoir import offer_both
from .sgd import Machine, StreamRows, StreamScores
from .sums_state import Judges, SumsState, SumsTask, Waiting

_PIECE = 4096  # rows looked at together
_GROWTH = 1.25  # times as many labels: C is chosen again


class SumsStreamSolver(SumsTask):
    """What is learnt from a stream by sums, and how; the parameters are those of `SumsTask`."""

    def start(self) -> SumsStream:
        """Return the state before the first row."""
        return SumsStream(self)


class SumsStream(SumsState):
    """Learns from the rows of a stream, and solves when it is asked."""

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
