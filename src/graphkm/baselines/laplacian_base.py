"""What `LaplacianSVC` and `LaplacianRegressor` share: parameters, graph, kernel and fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._util.memory import available_memory, format_bytes
from .._util.parameters import check_choice, check_count, check_flag, check_number
from .._util.threads import blas_threads_for
from ..estimators.data_checks import (
    check_graph_reaches,
    check_kernel_reaches,
    largest_kernel_value,
    warn_of_rounding,
    warn_of_unlabeled_components,
)
from ..estimators.kernel_machine import KernelMachine
from ..estimators.nested_parameters import Composed, Resolver
from ..expansion import KernelExpansion
from ..graphs import KNN, Epsilon, GraphPart, graph_or_given, resolve_graph
from ..graphs.laplacian import laplacian_matrix
from ..kernels import Kernel, resolve_gamma, resolve_kernel
from ..losses import Loss
from ..neighbours.arguments import NEIGHBORS, default_neighbors
from ..smoothness import IteratedLaplacian
from .laplacian_cg import Check, solve_by_cg
from .laplacian_newton import solve_by_newton
from .laplacian_objective import KernelMatrix, LaplacianObjective, LaplacianSolution

_EXACT = 500  # rows up to which Newton's factorisation is as quick as conjugate gradients
_SHARE = 0.5  # share of the available memory that matrices may take
_NEGLIGIBLE = 2**25  # bytes up to which the available memory is not looked at
_UNKNOWN = 2**31  # bytes that count as available if the system does not tell
_STEPS = {"newton": 500, "cg": 5000}


class BaseLaplacian(Composed, KernelMachine):
    """Fit of a kernel machine with a Laplacian penalty; subclasses code the labels."""

    gamma_A: float
    gamma_I: float
    graph: str | GraphPart
    smoothness: str | IteratedLaplacian
    solver: str
    tol: float
    max_iter: int | str
    fit_intercept: bool
    precision: str
    max_memory: float | str
    _usual_neighbors: int
    _usual_degree: int

    def _resolvers(self) -> Mapping[str, Resolver]:
        return {
            "kernel": resolve_kernel,
            "graph": resolve_graph,
            "smoothness": self._resolve_smoothness,
        }

    def _check_parameters(self) -> None:
        """Raise ValueError for the first parameter that is out of range; parts check themselves."""
        check_number("gamma_A", self.gamma_A, least=0, strictly=True)
        check_number("gamma_I", self.gamma_I, least=0)
        words = ("spread", "scale", "auto")
        check_number("gamma", self.gamma, least=0, strictly=True, words=words)
        if not resolve_graph(self.graph).listed:
            raise ValueError(
                f"graph={self.graph!r} lists no edges, which a Laplacian needs; pass KNN() or "
                "Epsilon(radius=...)."
            )
        self._resolve_smoothness(self.smoothness)
        check_choice("solver", self.solver, ("auto", "newton", "cg"))
        check_number("tol", self.tol, least=0, strictly=True)
        check_count("max_iter", self.max_iter, words=("auto",))
        check_flag("fit_intercept", self.fit_intercept)
        check_choice("precision", self.precision, ("single", "double"))
        check_number("max_memory", self.max_memory, least=0, strictly=True, words=("auto",))
        self.n_threads()

    def _resolve_smoothness(self, smoothness: Any) -> IteratedLaplacian:
        """Return the Laplacian's degree, and whether it is normalised."""
        if isinstance(smoothness, str) and smoothness == "auto":
            return IteratedLaplacian(self._usual_degree)
        if not isinstance(smoothness, IteratedLaplacian):
            raise ValueError(
                f"smoothness must be 'auto' or IteratedLaplacian(...), got {smoothness!r}."
            )
        if smoothness.degree == "auto":
            return smoothness.with_params(degree=self._usual_degree)
        return smoothness

    # ------------------------------------------------------------------ fit

    def _fit(
        self,
        X: Any,
        labeled: NDArray[np.bool_],
        targets: NDArray[np.float64],
        weights: NDArray[np.float64],
        loss: Loss,
        affinity: Any,
        make_check: Callable[[KernelExpansion], Check | None] | None = None,
    ) -> None:
        """Solve the problem and set the fitted attributes."""
        if not weights.any():
            raise ValueError(
                "sample_weight (or class_weight) is 0 for every labelled row; at least one must "
                "be positive."
            )
        n, dtype = X.shape[0], np.dtype(np.float64 if self.precision == "double" else np.float32)
        solver, stored = self._choose_solver(n, loss, dtype)
        if solver == "newton":  # its factorisation works in double precision anyway
            dtype = np.dtype(np.float64)
        kernel = self._resolve_kernel(X, dtype)
        check_kernel_reaches(kernel, X)
        warn_of_rounding(kernel, X, dtype)
        largest_kernel_value(kernel, X, dtype)
        threads = self.n_threads()
        expansion = KernelExpansion(kernel, X, targets.shape[1], dtype=dtype, n_threads=threads)
        objective = LaplacianObjective(
            kernel=KernelMatrix(expansion, X, stored=stored),
            laplacian=self._build_laplacian(X, labeled, kernel, affinity),
            degree=int(self._resolve_smoothness(self.smoothness).degree),
            norm_weight=float(self.gamma_A),
            graph_weight=float(self.gamma_I),
            labeled=np.flatnonzero(labeled),
            targets=targets,
            weights=weights,
            loss=loss,
            fit_intercept=bool(self.fit_intercept),
            n_rows=n,
        )
        check = None if make_check is None else make_check(expansion)
        with blas_threads_for(n, n):
            found = self._solve(objective, solver, check)
        used = np.flatnonzero(found.coefficients.any(axis=1))
        self.solver_, self.n_iter_ = solver, found.n_iter
        self.objective_ = float(found.objective.sum())
        a, b = found.coefficients[used], found.intercept
        self._set_machine(kernel, X, used, a, constant=b, dtype=dtype)

    def _solve(
        self, objective: LaplacianObjective, solver: str, check: Check | None
    ) -> LaplacianSolution:
        most = _STEPS[solver] if self.max_iter == "auto" else int(self.max_iter)
        if solver == "newton":
            return solve_by_newton(objective, float(self.tol), most)
        return solve_by_cg(objective, float(self.tol), most, check)

    def _choose_solver(self, n: int, loss: Loss, dtype: Any) -> tuple[str, bool]:
        """Return the solver, and whether the kernel matrix is stored."""
        newton = 3 * 8 * n * n  # the matrix, its product with the Laplacian, and one temporary
        limit = self._memory_limit(newton)
        smooth = loss.smoothed(1.0) is loss
        solver = self.solver
        if solver == "auto":
            solver = "newton" if not smooth or (n <= _EXACT and newton <= limit) else "cg"
        if solver == "cg" and not smooth:
            raise ValueError(
                f"solver='cg' needs a smooth loss, and loss={loss.name!r} has a kink; pass "
                "loss='squared_hinge', or solver='newton'."
            )
        if solver == "newton" and newton > limit:
            raise MemoryError(
                f"solver='newton' with {n:,} rows needs about {format_bytes(newton)} for matrices "
                f"between all rows, more than max_memory allows, {format_bytes(int(limit))}. Pass "
                "solver='cg' with a smooth loss, which computes kernel rows in blocks, a larger "
                "max_memory, or fewer rows."
            )
        return solver, dtype.itemsize * n * n <= limit

    def _memory_limit(self, wanted: int) -> float:
        if self.max_memory != "auto":
            return float(self.max_memory)
        # Reading the system's files takes milliseconds.
        free = available_memory() if wanted > _NEGLIGIBLE else None
        return _UNKNOWN if free is None else _SHARE * free

    def _build_laplacian(
        self, X: Any, labeled: NDArray[np.bool_], kernel: Kernel, affinity: Any
    ) -> Any:
        """Return L over all rows, labelled pairs included; None if the graph is not used."""
        graph = graph_or_given(self.graph, affinity)
        n = X.shape[0]
        if self.gamma_I == 0 or n == 1:
            return None
        if not kernel.has_rows and graph.needs_rows:
            raise ValueError(
                "kernel='precomputed' leaves no rows between which neighbours could be searched "
                "for; pass fit(X, y, affinity=...), or gamma_I=0."
            )
        if isinstance(graph, KNN) and graph.n_neighbors == "auto":
            usual = self._usual_neighbors * default_neighbors(n) // NEIGHBORS  # fewer for few rows
            graph = graph.with_params(n_neighbors=usual)
        if isinstance(graph, KNN | Epsilon):
            own = kernel.euclidean_gamma
            gamma = resolve_gamma("spread", X) if own is None else own
            graph = graph.weighted(gamma, local=True)
        nobody = np.zeros(n, dtype=bool)  # the library's other graphs leave labelled pairs out
        built = graph.build(X, nobody, affinity=affinity, n_jobs=self.n_threads())
        given = getattr(graph_or_given(self.graph, affinity), "weights", "auto")
        if not isinstance(given, str):
            check_graph_reaches(built, given)
        warn_of_unlabeled_components(built, labeled)
        normalized = self._resolve_smoothness(self.smoothness).normalized
        return laplacian_matrix(built, normalized=normalized)
