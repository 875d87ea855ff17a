"""What the classifier and the regressor share: validation, fit and scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ..expansion import KernelExpansion, default_threads
from ..graphs import Graph, build_graph, neighbour_graph
from ..kernels import Kernel, Precomputed, SquaredExponential, resolve_gamma, resolve_kernel
from ..losses import Loss
from ..objective import Objective
from ..smoothness import Smoothness
from ..solvers import Progress, Solution, solve
from ..theory import Guarantee, largest_C_graph
from .checks import (
    canonical_csr,
    check_graph_reaches,
    check_kernel_reaches,
    check_range,
    largest_kernel_value,
    require_memory_for_centres,
    warn_of_rounding,
    warn_of_unlabeled_components,
)
from .parameters import count_threads
from .settings import Settings, make_solver, resolve_settings

_GUARANTEED = 0.99  # of the limit, which at p = 2 is itself not allowed
_VISIBLE = 1e-4  # change of a score that rounding must not reach


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


class BaseGKM(BaseEstimator):
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
        n_neighbors: int,
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
    ) -> None:
        """Solve the problem and set the fitted attributes.

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
            require_memory_for_centres(X, targets.shape[1], settings.max_iter, dtype)
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
        )
        solver = make_solver(self, settings, guarantee, dtype, self._n_threads())
        solution = solve(solver, objective, verbose=self.verbose, callback=self.callback)
        self._set_attributes(objective, guarantee, solution, dtype)

    def _open_kernel(self) -> Kernel:
        """Return the kernel, with gamma left open unless it has its own."""
        return resolve_kernel(self.kernel)

    def _resolve_kernel(self, X: Any, dtype: np.dtype[Any]) -> Kernel:
        kernel = self._open_kernel()
        if isinstance(kernel, Precomputed):
            if X.shape[0] != X.shape[1]:
                raise ValueError(
                    f"With kernel='precomputed' X must be the square matrix of kernel values "
                    f"between all training rows, got shape {X.shape}."
                )
            return kernel
        if kernel.native_code is not None:
            check_range(X, dtype)
        kernel = kernel.with_gamma(resolve_gamma(self.gamma, X))  # type: ignore[arg-type]
        check_kernel_reaches(kernel, X)
        return kernel

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
            own = kernel.gamma if isinstance(kernel, SquaredExponential) else None
            gamma = resolve_gamma("spread", X) if own is None else own
        graph: Graph
        if neighbours is not None:
            assert gamma is not None
            near, d2 = neighbours
            k = self.n_neighbors
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
        if wanted and isinstance(kernel, Precomputed) and self.graph != "precomputed":
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

    def _n_threads(self) -> int:
        return count_threads(self.n_jobs, default_threads())

    def _set_attributes(
        self, objective: Objective, guarantee: Guarantee | None, solution: Solution, dtype: Any
    ) -> None:
        X, support = objective.X, solution.rows
        if _single_is_too_coarse(objective.kernel, X, solution):
            dtype = np.dtype(np.float64)
        self.kernel_ = objective.kernel
        self.guarantee_ = guarantee
        self.n_iter_ = solution.n_iter
        self.C_ = float((objective.C if solution.C is None else solution.C).max())
        self.objective_ = float(solution.objective.sum())
        self.support_ = support
        self.dual_coef_ = np.ascontiguousarray(solution.coefficients.T)
        precomputed = isinstance(objective.kernel, Precomputed)
        # A precomputed kernel's centres are columns, of which only the numbers are kept.
        rows = np.empty((X.shape[0], 0)) if precomputed else X[support]
        self.support_vectors_ = rows[support] if precomputed else rows
        self._f = KernelExpansion(
            objective.kernel,
            rows,
            objective.n_outputs,
            offset=objective.offset,
            dtype=dtype,
            n_threads=self._n_threads(),
        )
        self._f.set(support if precomputed else np.arange(len(support)), solution.coefficients)
        self.intercept_ = self._f.intercept
        self._training_rows = X
        self._row_scores = solution.row_scores

    # ------------------------------------------------------------------ input

    def _validate_rows(self, X: Any, *, reset: bool) -> Any:
        X = validate_data(self, X, reset=reset, accept_sparse="csr", dtype=(np.float64, np.float32))
        return canonical_csr(X) if issparse(X) else X

    def _validate_weights(
        self, sample_weight: Any, X: Any, labeled: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Return the weights of the labelled rows; those of the others have no meaning."""
        return np.asarray(
            _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        )[labeled]

    def _check_labels(self, X: Any, labeled: NDArray[np.bool_]) -> None:
        check_consistent_length(X, labeled)
        if not labeled.any():
            raise ValueError(
                f"None of the {len(labeled)} rows is labelled: y holds only missing values or the "
                f"marker unlabeled={self.unlabeled!r}. Label some rows of every class, or name "
                "the right marker."
            )

    # ------------------------------------------------------------------ scores

    def _scores(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        X = self._validate_rows(X, reset=False)
        if self.kernel_.native_code is not None:
            check_range(X, self._f.dtype)
        return self._f.scores(X)

    def _weights_to_score(
        self, X: Any, labeled: NDArray[np.bool_], sample_weight: Any
    ) -> NDArray[Any] | None:
        """Return the weights of the labelled rows of a score; None counts all alike."""
        check_consistent_length(X, labeled, sample_weight)
        if not labeled.any():
            raise ValueError("None of the rows to score is labelled; pass some with a label.")
        return None if sample_weight is None else np.asarray(sample_weight)[labeled]

    def _kept_rows(self) -> Any:
        check_is_fitted(self)
        if self._training_rows is None:
            raise AttributeError(
                "transduction_ is computed from the training rows, which are not kept in a "
                "saved or copied model; call predict on them instead."
            )
        return self._training_rows

    def __getstate__(self) -> dict[str, Any]:
        """Leave the training rows out of what is saved."""
        state = dict(super().__getstate__())
        if "_training_rows" in state:
            state["_training_rows"] = state["_row_scores"] = None
        return state

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what the estimator takes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.kernel, Precomputed) or (
            isinstance(self.kernel, str) and self.kernel == "precomputed"
        )
        tags.target_tags.required = True
        return tags


def _single_is_too_coarse(kernel: Kernel, X: Any, solution: Solution) -> bool:
    """Return whether rounding kernel values to single precision could move a score visibly.

    A strong graph term is met by large coefficients that cancel each other.
    """
    largest = largest_kernel_value(kernel, X, np.float64)
    moved = np.finfo(np.float32).eps * largest * np.abs(solution.coefficients).sum(axis=0)
    return bool((moved > _VISIBLE).any())


def _weight_scale(graph: Graph | None) -> float:
    return 1.0 if graph is None else max(1.0, graph.max_weight)
