"""The batch solver: J to its minimum, on the span of landmarks.

For p = 2 the graph goes into the features, which all outputs of one C_graph share, and what is
left is a kernel machine on the labelled points (`smoothed`). For other p every Newton step
reweights the edges and sums a matrix (`edge_terms`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._memory import require_memory
from ..objective import Objective
from .base import Progress, Solution
from .damped_newton import DampedNewton, Terms, Vector
from .edge_terms import EdgeMap, EdgeTerms
from .features import LandmarkFeatures
from .label_terms import LabelTerms
from .landmarks import choose_landmarks
from .smoothed import SmoothedFeatures, graph_form

Coefficients = Callable[[Vector], Vector]


@dataclass(frozen=True)
class NewtonSolver:
    """Newton's method on landmark features.

    Parameters
    ----------
    n_landmarks : int
        Landmarks; all rows if there are no more, which is the exact problem.
    rule : {"uniform", "kmeans++", "greedy"}
        How they are chosen.
    seed : numpy.random.SeedSequence
        Decides the landmarks.
    max_iter : int
        Newton steps per output at most.
    tol : float
        Stop when J is certified to lie within this share of its minimum over the landmarks.
    tolerance : float
        Landmarks that the others explain up to this share are dropped.
    relative : bool
        Whether C counts in units of 1 / k, where k is the mean over the labelled points of
        the kernel that has the graph inside: 1 is soft, 100 nearly a hard margin, however
        strong the graph. For p = 2 only.
    n_threads : int
        For kernel values; matrix products use the threads of BLAS.
    verbose : int
        Whether the pass over the rows shows its progress.
    """

    n_landmarks: int
    rule: str
    seed: np.random.SeedSequence
    max_iter: int = 200
    tol: float = 1e-6
    tolerance: float = 1e-12
    relative: bool = False
    n_threads: int = 1
    verbose: int = 0

    def start(self, objective: Objective) -> NewtonState:
        """Return the state before the first step: landmarks chosen, features ready."""
        return NewtonState(self, objective)

    def features(self, objective: Objective) -> LandmarkFeatures:
        """Return the features on the landmarks of this solver."""
        random = np.random.default_rng(self.seed)
        m = min(self.n_landmarks, objective.X.shape[0])
        require_memory(
            8 * 6 * m * m,
            f"solver='newton' with {m:,} landmarks",
            "Pass a smaller n_landmarks, or solver='sgd'.",
        )
        rows = choose_landmarks(objective, m, self.rule, random, self.n_threads)
        return LandmarkFeatures(objective, rows, self.tolerance, self.n_threads)


class NewtonState:
    """One output after another, each by `DampedNewton`."""

    def __init__(self, solver: NewtonSolver, objective: Objective) -> None:
        self._solver = solver
        self._objective = objective
        self._features = solver.features(objective)
        self._problems = make_problems(
            objective, self._features, relative=solver.relative, verbose=solver.verbose
        )
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
        )


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
    objective: Objective, features: LandmarkFeatures, *, relative: bool, verbose: int = 0
) -> Callable[[int], tuple[Terms, int, Coefficients, float]]:
    """Return what makes the problem of one output: terms, size, v to coefficients, and C."""
    if objective.has_edges and objective.smoothness.p != 2:
        shared = EdgeMap.of(objective, features)

        def reweighted(r: int) -> tuple[Terms, int, Coefficients, float]:
            C = float(objective.C[r])
            return EdgeTerms(objective, r, shared), len(features), features.coefficients, C

        return reweighted
    labeled = features.kernels_at(objective.labeled)
    form = graph_form(objective, features, verbose) if objective.has_edges else None
    known: dict[float, SmoothedFeatures] = {}

    def problem(r: int) -> tuple[Terms, int, Coefficients, float]:
        factor = float(objective.graph_factor[r]) if form is not None else 0.0
        if factor not in known:
            known.clear()  # outputs of one C_graph follow each other; one factor is large
            known[factor] = SmoothedFeatures(features.gram, labeled, form, factor)
        smoothed = known[factor]
        C = float(objective.C[r]) / (smoothed.scale if relative else 1.0)
        terms = LabelTerms.of(objective, r, smoothed.phi, C)
        return terms, smoothed.phi.shape[1], smoothed.coefficients, C

    return problem
