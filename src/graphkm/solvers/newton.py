"""The batch solver: it finds the minimum of J over the span of landmarks.

For p = 2 the graph goes into the features, which all outputs of one C_graph share. What is left is
a kernel machine on the labelled points (`graph_kernel`). For other p every Newton step reweights
the edges and sums a matrix (`terms`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._util.memory import require_memory
from .._util.parameters import check_choice, check_count, check_number
from .._util.parts import Combination, Sizes
from ..objective import Objective
from .base import Progress, Resources, Solution, Solver, State
from .damped_newton import DampedNewton, Terms, Vector
from .graph_kernel import GraphKernel, graph_form
from .landmark_features import LandmarkFeatures
from .landmarks import RULES, choose_landmarks
from .refits import Folds, Matrix, refit_scores
from .terms import EdgeMap, EdgeTerms, LabelTerms

Coefficients = Callable[[Vector], Vector]

_ALL = 2500  # rows up to which "auto" makes all of them landmarks
_SOME = 1000  # landmarks beyond
_PIVOT = {"f": 1e-7, "d": 1e-12}  # landmarks with a pivot below this share are dropped


class NewtonMethod(Solver):
    """What `Newton` and `RowNewton` share."""

    tol: float
    max_iter: int

    exact: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        check_number("tol", self.tol, least=0, strictly=True)
        check_count("max_iter", self.max_iter)

    def accepts(self, together: Combination) -> None:
        """Raise ValueError for a stream."""
        if together.streaming:
            raise ValueError(
                f"partial_fit cannot use solver={self!r}, which needs all rows at once; pass "
                "solver=Sums(), SGD() or 'auto'."
            )


@dataclass(frozen=True)
class Newton(NewtonMethod):
    """Find the minimum of J over the span of landmarks, by Newton's method.

    J is certified to lie within tol * J of its minimum. The solver suits few labels: it stores a
    matrix over the landmarks, and for p = 2 passes over the rows once.

    Parameters
    ----------
    n_landmarks : int or "auto", default="auto"
        Rows whose kernels span f, at most as many as there are. With all rows the problem is
        the exact one. "auto" is every row up to 2,500 rows, and 1,000 beyond.
    landmarks : {"uniform", "kmeans++", "greedy"}, default="uniform"
        How landmarks are chosen. Labelled rows come first, up to half of the number. The rest
        are drawn uniformly ("uniform"), drawn far from those chosen so far ("kmeans++"), or
        chosen so that the kernel of each is far from the span of the others ("greedy").
    tol : float, default=1e-6
        Stop when the certified gap is at most tol * J.
    max_iter : int, default=500
        Newton steps per output at most.

    Examples
    --------
    >>> from graphkm import GKMClassifier
    >>> GKMClassifier(solver=Newton(n_landmarks=500)).set_params(solver__tol=1e-8).solver
    Newton(n_landmarks=500, landmarks='uniform', tol=1e-08, max_iter=500)
    """

    n_landmarks: int | str = "auto"
    landmarks: str = "uniform"
    tol: float = 1e-6
    max_iter: int = 500

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        check_count("n_landmarks", self.n_landmarks, words=("auto",))
        check_choice("landmarks", self.landmarks, RULES)
        super().__post_init__()

    def planned(self, sizes: Sizes) -> Self:
        """Return the solver with its number of landmarks; an error if there are fewer rows."""
        n = sizes.n_rows
        if self.n_landmarks == "auto":
            return replace(self, n_landmarks=n if n <= _ALL else _SOME)
        if int(self.n_landmarks) > n:
            raise ValueError(
                f"n_landmarks={self.n_landmarks} is more than the {n} rows there are; pass at "
                f"most {n}, which is the exact problem, or 'auto'."
            )
        return self

    def matrix_shape(self, sizes: Sizes) -> tuple[int, int]:
        """Return the rows and the landmarks, whose number must be known."""
        return sizes.n_rows, int(self.n_landmarks)

    def features(self, objective: Objective, resources: Resources) -> LandmarkFeatures:
        """Return the features on the landmarks, whose number must be known."""
        random = np.random.default_rng(resources.seed)
        m, n_threads = int(self.n_landmarks), resources.n_threads
        require_memory(
            8 * 6 * m * m,
            f"solver=Newton() with {m:,} landmarks",
            "Pass a smaller n_landmarks, or solver=SGD().",
        )
        rows = choose_landmarks(objective, m, self.landmarks, random, n_threads)
        tolerance = _PIVOT[np.dtype(resources.dtype).char]
        return LandmarkFeatures(objective, rows, tolerance, n_threads)

    def start(self, objective: Objective, resources: Resources) -> State:
        """Return the state before the first step: landmarks chosen, features ready."""
        return NewtonState(self, objective, resources)


class NewtonState:
    """One output after another, each by `DampedNewton`."""

    def __init__(self, solver: Newton, objective: Objective, resources: Resources) -> None:
        self._solver = solver
        self._objective = objective
        self._features = solver.features(objective, resources)
        self._problems = make_problems(objective, self._features, resources.verbose)
        self._C = objective.C.copy()
        self._coefficients = np.zeros((len(self._features), objective.n_outputs))
        self._found = np.zeros((3, objective.n_outputs))  # J, gap, steps
        self._scale = float(np.abs(objective.targets).mean()) or 1.0
        self._n_iter = 0
        self._output = -1
        self._next_output()

    def _next_output(self) -> None:
        self._output += 1
        if self.done:
            return
        terms, size, self._to_coefficients, self._C[self._output] = self._problems(self._output)
        self._iteration = DampedNewton(terms, size, self._scale, self._solver.tol)
        if self._iteration.done:  # already at 0
            self._keep()
            self._next_output()

    @property
    def done(self) -> bool:
        """Whether every output is solved."""
        return self._output >= self._objective.n_outputs

    @property
    def progress(self) -> Progress:
        """Newton steps done and at most, landmarks."""
        most = self._solver.max_iter * self._objective.n_outputs
        return Progress(self._n_iter, most, len(self._features))

    def advance(self) -> None:
        """Take one Newton step on the present output."""
        iteration = self._iteration
        iteration.step()
        self._n_iter += 1
        self._keep()
        if iteration.done or iteration.n_iter >= self._solver.max_iter:
            warn_of_distance(iteration)
            self._next_output()

    def _keep(self) -> None:
        iteration = self._iteration
        self._coefficients[:, self._output] = self._to_coefficients(iteration.v)
        self._found[:, self._output] = iteration.value, iteration.gap, iteration.n_iter

    def solution(self) -> Solution:
        """Return the minimiser over the landmarks."""
        order = np.argsort(self._features.rows)
        J, gap, steps = self._found
        return Solution(
            rows=self._features.rows[order],
            coefficients=self._coefficients[order],
            n_iter=int(steps.max()),
            objective=J,
            gap=gap,
            C=self._C,
            refits=self._refits if self._graph_is_inside else None,
        )

    @property
    def _graph_is_inside(self) -> bool:
        """Whether the graph is part of the features, the same ones for all outputs."""
        objective = self._objective
        alike = not np.ptp(objective.C) and not np.ptp(objective.C_graph)
        return alike and (objective.smoothness.p == 2 or not objective.has_edges)

    def _refits(self, folds: Folds) -> Matrix:
        terms, *_ = self._problems(0)
        assert isinstance(terms, LabelTerms)
        objective = self._objective
        return refit_scores(terms.phi, objective.targets, terms.cost, objective.loss, folds)


def warn_of_distance(iteration: DampedNewton) -> None:
    """Warn if an iteration ends before its minimum."""
    if iteration.converged:
        return
    remedy = "Pass a larger max_iter or tol."
    if iteration.stalled:
        remedy = "Rounding hides what further steps would gain: pass smaller C and C_graph."
    warnings.warn(
        f"The Newton solver stopped after {iteration.n_iter} steps with J within "
        f"{iteration.gap:.2g} of its minimum; J is {iteration.value:.4g}. {remedy}",
        ConvergenceWarning,
        stacklevel=4,
    )


def make_problems(
    objective: Objective, features: LandmarkFeatures, verbose: int = 0
) -> Callable[[int], tuple[Terms, int, Coefficients, float]]:
    """Return a function from an output to its problem: terms, size, v to coefficients, and C."""
    if objective.has_edges and objective.smoothness.p != 2:
        shared = EdgeMap.of(objective, features)

        def reweighted(r: int) -> tuple[Terms, int, Coefficients, float]:
            C = float(objective.C[r])
            return EdgeTerms(objective, r, shared), len(features), features.coefficients, C

        return reweighted
    labeled = features.kernels_at(objective.labeled)
    form = graph_form(objective, features, verbose) if objective.has_edges else None
    known: dict[float, GraphKernel] = {}

    def problem(r: int) -> tuple[Terms, int, Coefficients, float]:
        factor = float(objective.graph_factor[r]) if form is not None else 0.0
        if factor not in known:
            known.clear()  # factors are large, and no later output needs earlier ones
            known[factor] = GraphKernel(features.gram, labeled, form, factor)
        inside = known[factor]
        C = float(objective.C[r]) / (inside.scale if objective.relative else 1.0)
        terms = LabelTerms.of(objective, r, inside.phi, C)
        return terms, inside.phi.shape[1], inside.coefficients, C

    return problem
