"""What `LaplacianSVC` and `LaplacianRegressor` share: parameters, graph, kernel and fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._memory import available_memory, format_bytes
from .._parameters import check_choice, check_count, check_flag, check_number
from .._threads import blas_threads_for
from ..expansion import KernelExpansion
from ..graphs import NEIGHBORS, build_graph, default_neighbors
from ..graphs.laplacian import laplacian_matrix
from ..kernels import Kernel, resolve_gamma
from ..losses import Loss
from .checks import (
    check_graph_reaches,
    largest_kernel_value,
    warn_of_rounding,
    warn_of_unlabeled_components,
)
from .laplacian_cg import Check, solve_by_cg
from .laplacian_newton import solve_by_newton
from .laplacian_objective import KernelMatrix, LaplacianObjective, LaplacianSolution
from .machine import KernelMachine

_EXACT = 500  # rows up to which Newton's factorisation is as quick as conjugate gradients
_SHARE = 0.5  # of the available memory
_NEGLIGIBLE = 2**25  # bytes
_UNKNOWN = 2**31  # bytes, where nobody tells how many there are
_STEPS = {"newton": 500, "cg": 5000}


class BaseLaplacian(KernelMachine):
    """Fit of a kernel machine with a Laplacian penalty; subclasses code the labels."""

    _usual_neighbors: int

    def __init__(
        self,
        gamma_A: float,
        gamma_I: float,
        *,
        kernel: str | Kernel | Callable[[Any, Any], Any],
        gamma: float | str,
        graph: str,
        n_neighbors: int | str,
        graph_gamma: float | str | None,
        neighbors: str,
        laplacian: str,
        laplacian_degree: int,
        solver: str,
        tol: float,
        max_iter: int | str,
        fit_intercept: bool,
        unlabeled: Any,
        precision: str,
        max_memory: float | str,
        n_jobs: int | None,
    ) -> None:
        self.gamma_A = gamma_A
        self.gamma_I = gamma_I
        self.kernel = kernel
        self.gamma = gamma
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.graph_gamma = graph_gamma
        self.neighbors = neighbors
        self.laplacian = laplacian
        self.laplacian_degree = laplacian_degree
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.unlabeled = unlabeled
        self.precision = precision
        self.max_memory = max_memory
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        """Raise ValueError for the first parameter that is out of range."""
        check_number("gamma_A", self.gamma_A, least=0, strictly=True)
        check_number("gamma_I", self.gamma_I, least=0)
        words = ("spread", "scale", "auto")
        check_number("gamma", self.gamma, least=0, strictly=True, words=words)
        check_choice("graph", self.graph, ("knn", "precomputed"))
        check_count("n_neighbors", self.n_neighbors, words=("auto",))
        if self.graph_gamma is not None:
            check_number("graph_gamma", self.graph_gamma, least=0, words=("local",))
        check_choice("neighbors", self.neighbors, ("auto", "exact", "approximate"))
        check_choice("laplacian", self.laplacian, ("normalized", "unnormalized"))
        check_count("laplacian_degree", self.laplacian_degree)
        check_choice("solver", self.solver, ("auto", "newton", "cg"))
        check_number("tol", self.tol, least=0, strictly=True)
        check_count("max_iter", self.max_iter, words=("auto",))
        check_flag("fit_intercept", self.fit_intercept)
        check_choice("precision", self.precision, ("single", "double"))
        check_number("max_memory", self.max_memory, least=0, strictly=True, words=("auto",))
        self._n_threads()

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
        if solver == "newton":  # its factorisation has no use for coarser values
            dtype = np.dtype(np.float64)
        kernel = self._resolve_kernel(X, dtype)
        warn_of_rounding(kernel, X, dtype)
        largest_kernel_value(kernel, X, dtype)
        threads = self._n_threads()
        expansion = KernelExpansion(kernel, X, targets.shape[1], dtype=dtype, n_threads=threads)
        objective = LaplacianObjective(
            kernel=KernelMatrix(expansion, X, stored=stored),
            laplacian=self._build_laplacian(X, labeled, kernel, affinity),
            degree=self.laplacian_degree,
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
        # The look at the system's files takes milliseconds.
        free = available_memory() if wanted > _NEGLIGIBLE else None
        return _UNKNOWN if free is None else _SHARE * free

    def _count_neighbors(self, n: int) -> int:
        """Return the neighbours of n rows: usually those of the default, of few rows fewer."""
        if self.n_neighbors == "auto":
            return self._usual_neighbors * default_neighbors(n) // NEIGHBORS
        return int(self.n_neighbors)

    def _build_laplacian(
        self, X: Any, labeled: NDArray[np.bool_], kernel: Kernel, affinity: Any
    ) -> Any:
        """Return L over all rows, labelled pairs included; None where the graph has no weight."""
        if affinity is not None and self.graph != "precomputed":
            raise ValueError(
                f"An affinity was passed, but graph={self.graph!r}; pass graph='precomputed'."
            )
        if self.gamma_I == 0 or X.shape[0] == 1:
            return None
        if not kernel.has_rows and self.graph != "precomputed":
            raise ValueError(
                "kernel='precomputed' leaves no rows between which neighbours could be searched "
                "for; pass graph='precomputed' and fit(X, y, affinity=W), or gamma_I=0."
            )
        gamma = self.graph_gamma
        if gamma is None:
            own = kernel.euclidean_gamma
            gamma = resolve_gamma("spread", X) if own is None else own
        graph = build_graph(
            self.graph,
            X,
            np.zeros(X.shape[0], dtype=bool),  # the library's other graphs leave such pairs out
            gamma=0.0 if self.graph == "precomputed" else gamma,
            n_neighbors=self._count_neighbors(X.shape[0]),
            affinity=affinity,
            search=self.neighbors,  # type: ignore[arg-type]  # checked
            n_jobs=self._n_threads(),
        )
        if not isinstance(self.graph_gamma, str | None):
            check_graph_reaches(graph, self.graph_gamma)
        warn_of_unlabeled_components(graph, labeled)
        return laplacian_matrix(graph, normalized=self.laplacian == "normalized")
