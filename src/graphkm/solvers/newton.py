"""The batch solver: J to its minimum, on the span of landmarks.

For p = 2 the graph is one matrix M = K' L^q K, with K the kernel between all rows and the
landmarks, summed in one pass over blocks of rows. With S the kernel between landmarks and
A = S + 2 (C_graph l / |E|) M = B B', f = sum_j a_j k(., s_j) has

    J = 1/2 ||v||^2 + C sum_i s_i loss(y_i, <v, B^(-1) k(x_i)>),   v = B' a:

a kernel machine on the labelled points alone, with the graph inside its kernel. All outputs
of one C_graph share B. For other p every Newton step reweights the edges and sums a matrix.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr, solve_triangular
from sklearn.exceptions import ConvergenceWarning

from .._memory import require_memory
from .._threads import blas_threads_for
from ..graphs import Edges
from ..graphs.laplacian import edge_laplacian, laplacian_matrix, vertex_scales
from ..losses import Loss
from ..objective import Objective
from ..smoothness import Smoothness
from .base import Progress, Solution
from .damped_newton import (
    DampedNewton,
    Terms,
    Vector,
    safe_cholesky,
    solve_matrix,
    solve_rows,
)
from .features import LandmarkFeatures
from .landmarks import choose_landmarks

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
        with blas_threads_for(min(self.n_landmarks, objective.X.shape[0])):
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
        with blas_threads_for(len(iteration.v)):
            iteration.step()
        self._n_iter += 1
        self._keep()
        if iteration.done or iteration.n_iter >= self._solver.max_iter:
            if not iteration.done:
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
    """Warn that an iteration ends before its minimum."""
    warnings.warn(
        f"The Newton solver stopped after {iteration.n_iter} steps with J within "
        f"{iteration.gap:.2g} of its minimum; J is {iteration.value:.4g}. Pass a larger max_iter "
        "or tol.",
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


def graph_form(
    objective: Objective, features: LandmarkFeatures, verbose: int = 0
) -> NDArray[np.float64]:
    """Return M = K' L^q K, shown as a progress bar over the rows where wanted."""
    assert objective.graph is not None
    matrix = laplacian_matrix(objective.graph, normalized=objective.normalized)
    with _row_bar(objective.X.shape[0]) if verbose else nullcontext() as bar:
        return features.kernel_form(matrix, objective.degree, bar)


def _row_bar(n: int) -> Any:
    from tqdm.auto import tqdm  # only those who want to see it wait for its import

    return tqdm(total=n, unit="row", desc="graph")


class SmoothedFeatures:
    """phi(x) = B^(-1) k(x) at the labelled points, with B B' = S + 2 factor M.

    Where there are fewer labelled points than landmarks, only their span matters, and phi is
    written in an orthonormal basis of it.

    Parameters
    ----------
    gram : ndarray of shape (m, m)
        S, the kernel between landmarks.
    labeled : ndarray of shape (l, m)
        The kernel between labelled points and landmarks.
    form : ndarray of shape (m, m) or None
        M; None for no graph.
    factor : float
        Weight of the graph.
    """

    def __init__(
        self,
        gram: NDArray[np.float64],
        labeled: NDArray[np.float64],
        form: NDArray[np.float64] | None,
        factor: float,
    ) -> None:
        A = gram if form is None or not factor else gram + (2 * factor) * form
        root = safe_cholesky(A)
        phi = solve_triangular(root, labeled.T, lower=True, check_finite=False).T
        basis = np.eye(len(gram))
        if phi.shape[0] < phi.shape[1]:
            with blas_threads_for(len(phi)):
                basis, R = qr(phi.T, mode="economic", check_finite=False)
            phi = R.T
        self.phi = np.ascontiguousarray(phi)
        self._map = solve_triangular(root, basis, lower=True, trans="T", check_finite=False)

    def coefficients(self, v: Vector) -> Vector:
        """Return the landmarks' coefficients a of a v."""
        return self._map @ v

    def at(self, kernels: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return phi at other points, given their kernels, as far as the labelled ones reach."""
        return kernels @ self._map

    @property
    def scale(self) -> float:
        """The mean of the smoothed kernel k(x, x) over the labelled points."""
        return float(np.einsum("ij,ij->", self.phi, self.phi)) / len(self.phi) or 1.0


@dataclass(frozen=True)
class LabelTerms:
    """C sum_i s_i loss(y_i, <v, phi_i>)."""

    phi: NDArray[np.float64]
    y: Vector
    cost: Vector
    loss: Loss

    @classmethod
    def of(cls, objective: Objective, r: int, phi: NDArray[np.float64], C: float) -> LabelTerms:
        """Return the labelled points' terms of one output."""
        return cls(phi, objective.targets[:, r], C * objective.weights, objective.loss)

    def scores(self, v: Vector) -> Vector:
        """Return the scores of the labelled points."""
        return self.phi @ v

    def adjoint(self, g: Vector) -> Vector:
        """Return sum_i g_i phi_i."""
        return self.phi.T @ g

    def value(self, s: Vector, width: float) -> float:
        """Return the losses' sum."""
        return float(self.cost @ self._smoothed(width).value(self.y, s))

    def gradient(self, s: Vector, width: float) -> Vector:
        """Return the losses' derivatives."""
        return self.cost * self._smoothed(width).gradient(self.y, s)

    def residual(self, s: Vector, width: float) -> float:
        """Return loss - envelope - width/2 slope^2, summed: an envelope's own conjugate."""
        smooth = self._smoothed(width)
        if smooth is self.loss:
            return 0.0
        left = self.loss.value(self.y, s) - smooth.value(self.y, s)
        return float(self.cost @ (left - 0.5 * width * smooth.gradient(self.y, s) ** 2))

    def newton_step(self, g: Vector, s: Vector, width: float) -> Vector:
        """Return (1 + sum_i curvature_i phi_i phi_i')^(-1) g."""
        return solve_rows(self.bent_rows(s, width), g)

    def bent_rows(self, s: Vector, width: float) -> NDArray[np.float64]:
        """Return phi_i sqrt(curvature_i) where the loss is curved."""
        curvature = self.cost * self._smoothed(width).curvature(self.y, s)
        bent = np.flatnonzero(curvature)
        return self.phi[bent] * np.sqrt(curvature[bent])[:, None]

    def _smoothed(self, width: float) -> Loss:
        return self.loss.smoothed(width) if width else self.loss


@dataclass(frozen=True)
class EdgeMap:
    """What the outputs of a p other than 2 share: features, edges and vertex scales."""

    features: LandmarkFeatures
    labeled: NDArray[np.float64]  # features of the labelled points
    edges: Edges
    scale: Vector

    @classmethod
    def of(cls, objective: Objective, features: LandmarkFeatures) -> EdgeMap:
        """Return the map of an objective."""
        assert objective.graph is not None
        scale = vertex_scales(objective.graph, normalized=objective.normalized)
        labeled = features.at(objective.labeled)
        return cls(features, labeled, objective.graph.edges(), scale)


class EdgeTerms:
    """The labelled points' losses, and factor sum_(u,v) mu_uv |s_u f_u - s_v f_v|^p.

    Scores are f at all rows.
    """

    def __init__(self, objective: Objective, r: int, shared: EdgeMap) -> None:
        self._shared = shared
        self._rows = objective.labeled
        self._labels = LabelTerms.of(objective, r, shared.labeled, float(objective.C[r]))
        self._smoothness = objective.smoothness
        self._cost = objective.graph_factor[r] * shared.edges.weight

    def scores(self, v: Vector) -> Vector:
        """Return f at all rows."""
        return self._shared.features.scores(v)

    def adjoint(self, g: Vector) -> Vector:
        """Return Z' g."""
        return self._shared.features.adjoint(g)

    def value(self, s: Vector, width: float) -> float:
        """Return losses and roughness."""
        roughness = float(self._cost @ self._smoothed(width).value(self._differences(s)))
        return self._labels.value(s[self._rows], width) + roughness

    def gradient(self, s: Vector, width: float) -> Vector:
        """Return the derivatives in f at all rows."""
        u, v, _ = self._shared.edges
        scale, n = self._shared.scale, len(s)
        pull = self._cost * self._smoothed(width).gradient(self._differences(s))
        g: Vector = np.bincount(u, pull * scale[u], n).astype(np.float64, copy=False)
        g -= np.bincount(v, pull * scale[v], n)
        g[self._rows] += self._labels.gradient(s[self._rows], width)
        return g

    def residual(self, s: Vector, width: float) -> float:
        """Return |t|^p plus its conjugate at the smoothed slope, less their product, summed."""
        t = self._differences(s)
        slope = self._smoothed(width).gradient(t)
        left = self._smoothness.value(t) + self._smoothness.conjugate(slope) - slope * t
        edges = float(self._cost @ left) if self._smoothness.p < 2 else 0.0
        return self._labels.residual(s[self._rows], width) + edges

    def newton_step(self, g: Vector, s: Vector, width: float) -> Vector:
        """Solve with the labels' part and the quadratic form of the reweighted graph."""
        shared = self._shared
        weight = self._cost * self._smoothed(width).curvature(self._differences(s))
        matrix = edge_laplacian(Edges(shared.edges.u, shared.edges.v, weight), shared.scale)
        rows = self._labels.bent_rows(s[self._rows], width)
        return solve_matrix(rows.T @ rows + shared.features.quadratic_form(matrix), g)

    def _differences(self, s: Vector) -> Vector:
        u, v, _ = self._shared.edges
        scaled = self._shared.scale * s
        return scaled[u] - scaled[v]

    def _smoothed(self, width: float) -> Smoothness:
        return self._smoothness.smoothed(width)
