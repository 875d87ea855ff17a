"""Solvers as parts: their checks, what "auto" becomes, what they cannot go with."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass, replace
from typing import Any

import numpy as np
import pytest

from graphkm._util.parts import Sizes
from graphkm.kernels import Linear, Precomputed
from graphkm.smoothness import IteratedLaplacian, Power
from graphkm.solvers import SGD, DivergenceError, Newton, Progress, Resources, RowNewton, solve
from graphkm.solvers.base import Solution, Solver
from oracles import make_case

LINEAR, SQUARES = Linear(), Power()
BATCH = pytest.mark.parametrize("cls", [Newton, RowNewton])


def sizes(n, classes=True):
    return Sizes(n, n // 10, classes)


@dataclass
class Drawn:
    """A graph's part as solvers see it."""

    listed: bool


@dataclass
class Together:
    """The parts of one model."""

    solver: Any
    kernel: Any = LINEAR
    graph: Any = None
    smoothness: Any = SQUARES
    C_graph: float | str = 1.0
    streaming: bool = False

    def check(self):
        self.solver.accepts(self)


# ---------------------------------------------------------------- values


SHARED = [
    ({"tol": 0}, "tol must be a finite number > 0, got 0"),
    ({"max_iter": 0}, "max_iter must be a whole number >= 1, got 0"),
    ({"max_iter": "auto"}, "max_iter must be a whole number >= 1, got 'auto'"),
]
OF_LANDMARKS = [
    ({"n_landmarks": 0}, "n_landmarks must be 'auto' or a whole number >= 1, got 0"),
    ({"n_landmarks": "all"}, "n_landmarks must be 'auto' or a whole number"),
    ({"landmarks": "random"}, "landmarks must be one of 'uniform', 'kmeans..', 'greedy'"),
]


@pytest.mark.parametrize(
    ("cls", "options", "message"),
    [(Newton, *case) for case in OF_LANDMARKS + SHARED] + [(RowNewton, *case) for case in SHARED],
)
def test_bad_values_of_newton(cls, options, message):
    with pytest.raises(ValueError, match=message):
        cls(**options)
    with pytest.raises(ValueError, match=message):
        cls().with_params(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"step": "newton"}, "step must be one of 'explicit', 'implicit', got 'newton'"),
        ({"edge_sampling": "all"}, "edge_sampling must be one of 'uniform', 'weight', got 'all'"),
        ({"max_iter": 2.5}, "max_iter must be 'auto' or 'published' or a whole number >= 1"),
        ({"budget": 0}, "budget must be a whole number >= 1, got 0"),
        ({"steps_per_row": -1}, "steps_per_row must be 'auto' or a finite number >= 0, got -1"),
        ({"reservoir_size": 1}, "reservoir_size must be a whole number >= 2, got 1"),
        ({"half_life": 0}, "half_life must be a finite number > 0, got 0"),
    ],
)
def test_bad_values_of_sgd(options, message):
    with pytest.raises(ValueError, match=message):
        SGD(**options)


@pytest.mark.parametrize("part", [Newton(), RowNewton(), SGD()])
def test_parts_are_frozen_and_addressable(part):
    assert part.with_params(**part.get_params()) == part
    assert part.with_params(max_iter=7).max_iter == 7
    with pytest.raises(FrozenInstanceError):
        part.max_iter = 7
    with pytest.raises(ValueError, match="has no parameter 'speed'"):
        part.with_params(speed=3)
    assert part.exact == (not isinstance(part, SGD))


# ---------------------------------------------------------------- "auto"


def test_landmarks_planned():
    for n, m in ((10, 10), (2500, 2500), (2501, 1000), (70_000, 1000)):
        planned = Newton(tol=0.5).planned(sizes(n))
        assert planned == Newton(m, tol=0.5)
        assert planned.planned(sizes(n)) is planned
    assert Newton(10).planned(sizes(10)).n_landmarks == 10
    with pytest.raises(ValueError, match=r"n_landmarks=11 is more than the 10 rows.*'auto'"):
        Newton(11).planned(sizes(10))


@pytest.mark.parametrize(
    ("n", "classes", "steps"),
    [
        (100, True, 1000),
        (5000, True, 10_000),
        (50_000, True, 20_000),
        (500_000, True, 100_000),
        (100, False, 100_000),
        (5000, False, 100_000),
        (1_000_000, False, 200_000),
    ],
)
def test_steps_planned(n, classes, steps):
    assert SGD(step="explicit").planned(sizes(n, classes)) == SGD("explicit", max_iter=steps)
    assert SGD(max_iter=3).planned(sizes(n, classes)).max_iter == 3


# ---------------------------------------------------------------- contradictions


@BATCH
def test_newton_takes_no_streams(cls):
    Together(cls()).check()
    with pytest.raises(ValueError, match=rf"cannot use solver={cls.__name__}.*SGD\(\)"):
        Together(cls(), streaming=True).check()


@pytest.mark.parametrize(
    "others",
    [
        {"smoothness": Power(1)},
        {"smoothness": Power(3), "graph": Drawn(listed=True)},
        {"graph": Drawn(listed=False)},
    ],
)
def test_row_newton_needs_p_2_and_listed_edges(others):
    with pytest.raises(ValueError, match=r"RowNewton\(\) needs .*p=2 and a graph that lists"):
        Together(RowNewton(), **others).check()
    Together(Newton(), **others).check()
    Together(RowNewton(), graph=Drawn(listed=True), smoothness=IteratedLaplacian()).check()


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ({"smoothness": Power(normalized=False)}, "needs a normalised Laplacian.*normalized=True"),
        ({"smoothness": IteratedLaplacian(2, normalized=False)}, "needs a normalised Laplacian"),
        ({"kernel": Precomputed()}, "kernel='precomputed' has no rows"),
    ],
)
def test_row_newton_needs_a_normalised_laplacian_and_rows(others, message):
    with pytest.raises(ValueError, match=rf"RowNewton\(\) .*{message}.*solver=Newton\(\)"):
        Together(RowNewton(), **others).check()
    Together(RowNewton(), **others, C_graph=0).check()  # nothing is smoothed then
    Together(Newton(), **others).check()


@pytest.mark.parametrize(
    "smoothness", [Power(normalized=True), IteratedLaplacian(2, normalized=False)]
)
def test_sgd_draws_single_edges(smoothness):
    with pytest.raises(ValueError, match=r"SGD\(\) draws single edges.*pass solver=Newton\(\)"):
        Together(SGD(), smoothness=smoothness).check()
    Together(SGD(), smoothness=Power(1, normalized=False)).check()
    Together(SGD(), smoothness=IteratedLaplacian(1, normalized=False)).check()


def test_budgets_need_rows():
    with pytest.raises(ValueError, match=r"budget=5 needs the rows.*pass budget=None"):
        Together(SGD(budget=5), kernel=Precomputed()).check()
    Together(SGD(), kernel=Precomputed()).check()
    Together(SGD(budget=5)).check()


def test_streams_draw_edges_uniformly():
    with pytest.raises(ValueError, match=r"edge_sampling='weight', which needs to know all edges"):
        Together(SGD(edge_sampling="weight"), streaming=True).check()
    Together(SGD(edge_sampling="weight")).check()
    Together(SGD(), streaming=True).check()


# ---------------------------------------------------------------- solving


def run(solver, case, **options):
    objective = replace(case.objective, **options)
    return solve(solver, objective, Resources(np.random.SeedSequence(0), np.float64))


def test_solve_fills_in_auto():
    case = make_case("hinge", 2.0, "knn", C=(0.5,), C_graph=(0.1,))
    assert len(run(Newton(), case).rows) <= len(case.problem.K)
    assert run(SGD(), case).n_iter == 1000
    with pytest.raises(ValueError, match="n_landmarks=1000 is more than the 24 rows"):
        run(Newton(1000), case)


def test_row_newton_without_edges_is_newton():
    case = make_case("hinge", 2.0, None, C=(0.5,), C_graph=(0.1,))
    one, two = run(Newton(), case), run(RowNewton(), case)
    np.testing.assert_array_equal(one.coefficients, two.coefficients)
    assert two.field is None


def test_without_a_guarantee_only_overflow_is_divergence():
    case = make_case("hinge", 2.0, "full", C=(1.0,), C_graph=(100.0,))
    with pytest.raises(DivergenceError, match=r"stayed near .* No guarantee"):
        run(SGD("explicit", max_iter=20), case, guarantee=case.guarantee())
    assert np.isfinite(run(SGD("explicit", max_iter=20), case).coefficients).all()
    with pytest.raises(DivergenceError, match=r"overflowed\. Lower C.*step='implicit'"):
        run(SGD("explicit", max_iter=2000), case)


@dataclass(frozen=True)
class Guess(Solver):
    """A solver from outside: one coefficient, nothing else."""

    value: float = 1.0

    def start(self, objective, resources):
        return Guessed(self, objective)


class Guessed:
    def __init__(self, solver, objective):
        self.solver, self.objective, self.done = solver, objective, False

    @property
    def progress(self):
        return Progress(int(self.done), 1, 1)

    def advance(self):
        self.done = True

    def solution(self):
        a = np.full((1, self.objective.n_outputs), self.solver.value)
        return Solution(np.array([0]), a, 1, np.zeros(self.objective.n_outputs))


def test_a_solver_of_ones_own():
    solution = run(Guess(3.0), make_case())
    assert solution.coefficients.tolist() == [[3.0, 3.0]]
    assert solution.complete
    Together(Guess(), streaming=True).check()
    assert not Guess.exact
