"""`Sums`: kernel ridge regression on landmarks, in one pass over the labelled rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from .._util.memory import require_memory
from .._util.parameters import check_count, check_number
from .._util.parts import Combination, Sizes
from ..graphs import Affinity
from ..neighbours.distinct import distinct_rows
from ..objective import Objective
from ..ridge.sums import (
    RowSums,
    add,
    add_rows,
    choose_C,
    half_of,
    leading,
    leave_one_out,
    no_rows,
    scale,
    solve,
    squared_error,
)
from .base import Progress, Resources, Solution, Solver
from .landmark_features import LandmarkFeatures
from .landmarks import choose_landmarks
from .refits import Folds, Matrix

_LANDMARKS = 1000  # "auto"
_LEAST, _MOST = 64, 256  # labelled rows of a block, which are added together
_PIVOT = {"f": 1e-7, "d": 1e-12}  # landmarks with a pivot below this share are dropped
_BOLDER = 3.0  # factor of C for classes: the best C for their errors is larger than for squares
JUDGES = 1000
"""The most landmarks that take part in the choice of C."""


@dataclass(frozen=True)
class Sums(Solver):
    """Kernel ridge regression on landmarks: it needs only sums over the rows.

    f = sum_j a_j k(., s_j) minimises 1/2 ||w||^2 + C/2 sum_i s_i (y_i - f(x_i))^2 over the
    landmarks' span, for classes with targets -1 and +1. The sums are K'K and K'y over the labelled
    rows, with K the kernel between rows and landmarks. ``partial_fit`` adds a chunk to them, and a
    prediction computes the coefficients. With landmarks and C given the model does not depend on
    the order of the rows, up to rounding. Its memory does not grow with the stream.

    C="auto" is the C with which each half of the labelled rows predicts the other half best, and
    for classes three times as much. The number of a row decides which half it is in, so the order
    of the rows matters. The sums alone give the exact squared error of held-out rows. A stream
    chooses C again when it has a quarter more labels than at the last choice, and whenever it
    compares its landmarks with the rows. There is no graph: unlabelled rows only help to choose
    landmarks.

    Parameters
    ----------
    n_landmarks : int or "auto", default="auto"
        Rows whose kernels span f, at most as many as there are. "auto" is 1,000. A labelled row
        costs as much as the square of their number, and a solution their cube. In a stream half of
        them at most are labelled rows.
    half_life : float or None, default=None
        For ``partial_fit``: None remembers all rows alike. With a number h a row counts half as
        much after h rows of the stream, a quarter after 2h, and so on.

    Notes
    -----
    A stream takes its landmarks from a sample of its first rows, four times as many as landmarks.
    Then it compares a sample of all rows so far (of recent ones, with a half-life) with them
    whenever the number of rows has doubled, or after every half-life. Far means farther than 95 %
    of the landmarks are from the landmark nearest to them. The data have drifted if more than
    15 % + 1 / sqrt(n) of n rows are far from all landmarks, or as many of n landmarks are far from
    all rows. Then far rows, and after them others, replace landmarks that are nearest to no row of
    the sample. The sums so far are projected: the kernel of a new landmark becomes the nearest
    function in the span of the old ones. For rows already added, what lies outside that span is
    lost. Rows that come later count in full.

    Examples
    --------
    >>> from graphkm import GKMClassifier
    >>> rng = np.random.default_rng(0)
    >>> model = GKMClassifier(solver=Sums(n_landmarks=100), random_state=0)
    >>> for _ in range(5):
    ...     X = rng.normal(size=(500, 2))
    ...     y = np.where(rng.random(500) < 0.2, X[:, 0] * X[:, 1] > 0, -1)
    ...     model = model.partial_fit(X, y, classes=[0, 1])
    >>> bool(model.score(X, X[:, 0] * X[:, 1] > 0) > 0.9), len(model.support_) <= 100
    (True, True)
    """

    n_landmarks: int | str = "auto"
    half_life: float | None = None

    squared: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        check_count("n_landmarks", self.n_landmarks, least=2, words=("auto",))
        if self.half_life is not None:
            check_number("half_life", self.half_life, least=0, strictly=True)

    def planned(self, sizes: Sizes) -> Self:
        """Return the solver with its number of landmarks."""
        m = _LANDMARKS if self.n_landmarks == "auto" else int(self.n_landmarks)
        require_memory(
            8 * 5 * m * m,
            f"solver=Sums() with {m:,} landmarks",
            "Pass a smaller n_landmarks, or solver=SGD().",
        )
        return replace(self, n_landmarks=m)

    def matrix_shape(self, sizes: Sizes) -> tuple[int, int]:
        """Return the labelled rows and the landmarks."""
        return sizes.n_labeled, int(self.n_landmarks)

    def accepts(self, together: Combination) -> None:
        """Raise ValueError if a graph is asked for."""
        if together.C_graph not in ("auto", 0):
            raise ValueError(
                f"solver=Sums() has no graph, and C_graph={together.C_graph!r}; pass C_graph=0, or "
                "solver=SGD()."
            )
        if together.C_graph == "auto" and isinstance(together.graph, Affinity):
            raise ValueError(
                "solver=Sums() has no graph, and an affinity was passed; pass another solver."
            )

    def start(self, objective: Objective, resources: Resources) -> SumsState:
        """Return the state before the pass."""
        return SumsState(self, objective, resources)


class SumsState:
    """One block of labelled rows after another."""

    def __init__(self, solver: Sums, objective: Objective, resources: Resources) -> None:
        self._objective = objective
        random = np.random.default_rng(resources.seed)
        m = min(int(solver.n_landmarks), objective.X.shape[0])
        rows = choose_landmarks(objective, m, "uniform", random, resources.n_threads)
        tolerance = _PIVOT[np.dtype(resources.dtype).char]
        rows = random.permutation(rows)  # any of them may judge
        self._features = LandmarkFeatures(objective, rows, tolerance, resources.n_threads)
        self._copies = distinct_rows(objective.X[objective.labeled])
        self._done = 0
        empty = no_rows(len(self._features), objective.n_outputs)
        self._all, self._half = empty, leading(empty, JUDGES)

    @property
    def done(self) -> bool:
        """Whether all labelled rows are added."""
        return self._done >= self._objective.n_labeled

    @property
    def progress(self) -> Progress:
        """Labelled rows added and in all, landmarks."""
        return Progress(self._done, self._objective.n_labeled, len(self._features))

    def advance(self) -> None:
        """Add a block of labelled rows."""
        block = slice(self._done, self._done + block_size(len(self._features)))
        rows = self._objective.labeled[block]
        targets, weights = self._objective.targets[block], self._objective.weights[block]
        K = self._features.kernels_at(rows)
        # Copies of a row judge together: the number of the first decides for all.
        judges = half_of(self._objective.labeled[self._copies.first[self._copies.place[block]]])
        self._all = add_rows(self._all, K, targets, weights)
        self._half = add_rows(self._half, K[judges, :JUDGES], targets[judges], weights[judges])
        self._done += len(rows)

    def solution(self) -> Solution:
        """Return the least squares of the rows added so far."""
        penalty = self._features.gram
        C = float(self._objective.C[0])
        if np.isnan(C):
            classes = self._objective.sizes.classes
            C = chosen_C(self._all, self._half, penalty, classes=classes)
        a = solve(self._all, penalty, C)
        J = 0.5 * np.einsum("jr,jr->r", a, penalty @ a)
        J += [0.5 * C * squared_error(_output(self._all, r), a[:, [r]]) for r in range(a.shape[1])]
        return Solution(
            rows=self._features.rows,
            coefficients=a,
            n_iter=1,
            objective=J,
            C=np.full(a.shape[1], C),
            refits=partial(self._refits, C),
        )

    def _refits(self, C: float, folds: Folds) -> Matrix:
        """Return leave-one-out scores, which have a closed form, of all test rows.

        Copies of a row are left out with it, as one row.
        """
        test, objective = np.concatenate([test for _, test in folds]), self._objective
        K = self._features.kernels_at(objective.labeled[test])
        pooled = self._copies.pooled(objective.targets, objective.weights)
        known = (each[self._copies.place[test]] for each in pooled)
        return leave_one_out(self._all, self._features.gram, C, K, *known)


def block_size(n_landmarks: int) -> int:
    """Return how many labelled rows are added together: for small blocks sums are slow."""
    return min(max(n_landmarks, _LEAST), _MOST)


def chosen_C(sums: RowSums, half: RowSums, penalty: Any, *, classes: bool) -> float:
    """Return C from the sums of all rows, and those of a half with the first landmarks."""
    p = len(half.cross)
    rest = add(leading(sums, p), scale(half, -1.0))
    C = choose_C(half, rest, penalty[:p, :p])
    return _BOLDER * C if classes else C


def _output(sums: RowSums, r: int) -> RowSums:
    return sums._replace(cross=sums.cross[:, [r]], squares=sums.squares[[r]])
