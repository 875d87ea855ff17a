"""What the classifier and the regressor share: the fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._threads import blas_threads_for
from ..graphs import Graph, build_graph, neighbour_graph
from ..kernels import Kernel, resolve_gamma
from ..losses import Loss
from ..machines.checks import (
    check_graph_reaches,
    largest_kernel_value,
    require_memory_for_centres,
    warn_of_rounding,
    warn_of_unlabeled_components,
)
from ..machines.machine import KernelMachine
from ..objective import Objective
from ..smoothness import Smoothness
from ..solvers import Progress, Solution, solve
from ..theory import Guarantee, largest_C_graph
from .settings import Settings, make_resources, make_solver, resolve_settings

_GUARANTEED = 0.99  # of the limit, which at p = 2 is itself not allowed


Neighbours = tuple[NDArray[np.int64], NDArray[np.float64]]
"""The nearest rows of every row, nearest first, and their squared distances."""


class Problem(NamedTuple):
    """Data that are checked, and labels that are coded."""

    X: Any
    labeled: NDArray[np.bool_]
    known: NDArray[Any]  # class numbers or targets of the labelled rows, as given
    targets: NDArray[np.float64]  # of shape (n_labeled, n_outputs)
    weights: NDArray[np.float64]
    loss: Loss


class BaseGKM(KernelMachine):
    """Fit of a kernel machine smoothed over a graph; subclasses code the labels."""

    def __init__(
        self,
        C: float | str,
        C_graph: float | str,
        *,
        loss: str | Loss,
        p: float,
        kernel: str | Kernel | Callable[[Any, Any], Any],
        gamma: float | str,
        graph: str,
        n_neighbors: int | str,
        radius: float | None,
        graph_gamma: float | str | None,
        neighbors: str,
        laplacian: str,
        laplacian_degree: int | str,
        solver: str,
        n_landmarks: int | str,
        landmarks: str,
        smoothing: str,
        tol: float,
        edge_sampling: str,
        step: str,
        max_iter: int | str,
        steps_per_row: float | str,
        reservoir_size: int,
        half_life: float | None,
        budget: int | None,
        fit_intercept: bool,
        unlabeled: Any,
        precision: str,
        random_state: Any,
        n_jobs: int | None,
        verbose: int,
        callback: Callable[[Progress], Any] | None,
    ) -> None:
        self.C = C
        self.C_graph = C_graph
        self.loss = loss
        self.p = p
        self.kernel = kernel
        self.gamma = gamma
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.graph_gamma = graph_gamma
        self.neighbors = neighbors
        self.laplacian = laplacian
        self.laplacian_degree = laplacian_degree
        self.solver = solver
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.smoothing = smoothing
        self.tol = tol
        self.edge_sampling = edge_sampling
        self.step = step
        self.max_iter = max_iter
        self.steps_per_row = steps_per_row
        self.reservoir_size = reservoir_size
        self.half_life = half_life
        self.budget = budget
        self.fit_intercept = fit_intercept
        self.unlabeled = unlabeled
        self.precision = precision
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    # ------------------------------------------------------------------ fit

    def _fit(
        self, problem: Problem, *, affinity: Any = None, neighbours: Neighbours | None = None
    ) -> Solution:
        """Solve the problem, set the fitted attributes and return the solution.

        `neighbours` are those of the kNN graph, where they are known already.
        """
        X, labeled, _, targets, weights, loss = problem
        if not weights.any():
            raise ValueError(
                "sample_weight (or class_weight) is 0 for every labelled row; at least one must "
                "be positive."
            )
        dtype = np.dtype(np.float64 if self.precision == "double" else np.float32)
        settings = resolve_settings(self, X.shape[0], len(targets))
        if settings.solver == "sgd":
            require_memory_for_centres(X, targets.shape[1], settings.max_iter, dtype, self.budget)
        kernel = self._resolve_kernel(X, dtype)
        graph = self._build_graph(X, labeled, kernel, affinity, neighbours, settings)
        warn_of_rounding(kernel, X, dtype)
        R = float(np.sqrt(largest_kernel_value(kernel, X, dtype)))
        C_graph, guarantee = self._graph_constant(R, loss, weights, graph, settings)
        objective = Objective(
            X=X,
            labeled=np.flatnonzero(labeled),
            targets=targets,
            weights=weights,
            kernel=kernel,
            offset=float(self.fit_intercept),
            loss=loss,
            smoothness=Smoothness(float(self.p)),
            C=np.full(targets.shape[1], settings.C),
            C_graph=np.full(targets.shape[1], C_graph),
            graph=graph,
            normalized=settings.normalized,
            degree=settings.degree,
            relative=settings.relative,
            guarantee=guarantee,
        )
        solver = make_solver(self, settings, kernel)
        with blas_threads_for(X.shape[0], settings.n_landmarks):
            solution = solve(solver, objective, make_resources(self), callback=self.callback)
        self._set_attributes(objective, guarantee, solution, dtype)
        return solution

    def _build_graph(
        self,
        X: Any,
        labeled: NDArray[np.bool_],
        kernel: Kernel,
        affinity: Any,
        neighbours: Neighbours | None,
        settings: Settings,
    ) -> Graph | None:
        self._check_graph(kernel, affinity, wanted=not labeled.all() and self.C_graph != 0)
        if labeled.all() or self.C_graph == 0:
            return None
        gamma = settings.graph_gamma
        if gamma is None and self.graph != "precomputed":
            own = kernel.euclidean_gamma
            gamma = resolve_gamma("spread", X) if own is None else own
        graph: Graph
        if neighbours is not None:
            assert gamma is not None
            near, d2 = neighbours
            k = int(self.n_neighbors)  # a candidate's
            graph = neighbour_graph(near[:, :k], d2[:, :k], labeled, gamma)
        else:
            graph = build_graph(
                self.graph,
                X,
                labeled,
                gamma=0.0 if gamma is None else gamma,
                n_neighbors=self.n_neighbors,
                radius=self.radius,
                affinity=affinity,
                search=self.neighbors,  # type: ignore[arg-type]  # checked
                n_jobs=self._n_threads(),
                verbose=bool(self.verbose),
            )
        if not isinstance(settings.graph_gamma, str | None):
            check_graph_reaches(graph, settings.graph_gamma)
        warn_of_unlabeled_components(graph, labeled)
        return graph

    def _check_graph(self, kernel: Kernel, affinity: Any, *, wanted: bool) -> None:
        """Raise if the graph, where one is wanted, cannot be built from what was passed."""
        if affinity is not None and self.graph != "precomputed":
            raise ValueError(
                f"An affinity was passed, but graph={self.graph!r}; pass graph='precomputed'."
            )
        if wanted and not kernel.has_rows and self.graph != "precomputed":
            raise ValueError(
                f"kernel='precomputed' leaves no rows between which graph={self.graph!r} could "
                "measure distances; pass graph='precomputed' and fit(X, y, affinity=W), or "
                "C_graph=0 to leave the graph out."
            )

    def _graph_constant(
        self,
        R: float,
        loss: Loss,
        weights: NDArray[np.float64],
        graph: Graph | None,
        settings: Settings,
    ) -> tuple[float, Guarantee | None]:
        """Return C_graph as a number, and the theorem's constants where it speaks.

        It speaks of differences of f itself, and of a C that is known beforehand.
        """
        if settings.normalized or settings.degree > 1:
            return (0.0 if graph is None else float(settings.C_graph)), None
        guarantee = self._guarantee(R, loss, weights, graph, settings)
        C_graph = guarantee.C_graph / len(weights) / _weight_scale(graph)
        return C_graph, None if settings.relative else guarantee

    def _guarantee(
        self,
        R: float,
        loss: Loss,
        weights: NDArray[np.float64],
        graph: Graph | None,
        settings: Settings,
    ) -> Guarantee:
        """Return the theorem's constants, with C_graph='guaranteed' filled in."""
        A = loss.lipschitz * float(np.sqrt(R**2 + float(self.fit_intercept)) * weights.max())
        n_labeled, C, C_graph = len(weights), settings.C, settings.C_graph
        if graph is None:
            C_graph = 0.0
        elif isinstance(C_graph, str):
            limit = largest_C_graph(n_labeled * C, self.p, R, A)
            limit = _GUARANTEED * limit / n_labeled / _weight_scale(graph)
            # Below p = 2 every value is guaranteed: then the paper's choice, C_graph = C.
            C_graph = limit if np.isfinite(limit) else C
        return Guarantee.for_estimator(
            C, float(C_graph), n_labeled, self.p, R, A, _weight_scale(graph)
        )

    def _set_attributes(
        self, objective: Objective, guarantee: Guarantee | None, solution: Solution, dtype: Any
    ) -> None:
        self.guarantee_ = guarantee
        self.n_iter_ = solution.n_iter
        self.C_ = float((objective.C if solution.C is None else solution.C).max())
        self.objective_ = float(solution.objective.sum())
        self._set_machine(
            objective.kernel,
            objective.X,
            solution.rows,
            solution.coefficients,
            offset=objective.offset,
            dtype=dtype,
        )
        self.support_, self._training_rows = solution.rows, objective.X
        self._row_scores = solution.row_scores


def _weight_scale(graph: Graph | None) -> float:
    return 1.0 if graph is None else graph.max_weight
