"""The state of a stream of sums: what it consists of, how it is saved, restored and undone."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._util.threads import blas_threads_for
from ..graphs.base import generators
from ..kernels import Kernel
from ..ridge.sums import RowSums, no_rows, packed, unpacked
from ..solvers.centres import no_rows as no_centres
from ..solvers.centres import stack
from ..solvers.sums_solver import block_size, chosen_C
from .landmarks import LandmarkSet
from .reservoir import Ints, Reservoir
from .sgd import StreamRows

_FIRST = 4  # rows for each landmark before landmarks are chosen


@dataclass(frozen=True)
class SumsTask:
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


class SumsState:
    """Sums, landmarks, labelled rows that wait, and kept rows."""

    def __init__(self, solver: SumsTask) -> None:
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

    def __getstate__(self) -> tuple[SumsTask, tuple[dict[str, Any], dict[str, Any]]]:
        """Leave out the compiled stores, which are rebuilt, and the seed, which is used up."""
        return replace(self.solver, seed=None), self.state()  # type: ignore[arg-type]

    def __setstate__(self, saved: tuple[SumsTask, tuple[dict[str, Any], dict[str, Any]]]) -> None:
        """Rebuild the stores from the landmarks."""
        self.__init__(replace(saved[0], seed=np.random.SeedSequence(0)))  # type: ignore[misc]
        self.restore(*saved[1])

    def _generators(self) -> list[np.random.Generator]:
        return [self.labels.rng, self.others.rng]

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

    def _joined(self) -> Waiting:
        """Return the labelled rows that wait."""
        if len(self._waiting) > 1:
            rows, *others = zip(*self._waiting, strict=True)
            self._waiting = (Waiting(stack(list(rows)), *map(np.concatenate, others)),)
        return self._waiting[0]


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
