"""What an estimator's parameters mean for given data: checks, and every "auto" filled in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import check_random_state

from .._parameters import check_choice, check_count, check_flag, check_number
from ..kernels import Kernel, Precomputed
from ..solvers import BudgetedSolver, NewtonSolver, RowSolver, StochasticSolver
from ..solvers.base import Solver
from ..solvers.landmarks import RULES
from ..solvers.rows import LARGEST
from ..theory import Guarantee

_EXACT = 2500  # rows up to which all of them are landmarks
_LANDMARKS = 1000  # beyond
_FEW = 1000  # labels
_MANY = 300  # rows whose graph has small eigenvalues: below, C_graph shrinks
_SMALL = 500  # rows on which every graph and every p is quick
_NEWTON_STEPS = 500
_LISTED = ("knn", "epsilon", "precomputed")
_PIVOT = {"single": 1e-7, "double": 1e-12}  # landmarks explained up to this are dropped


@dataclass(frozen=True)
class Settings:
    """The parameters that may be "auto", as they are for one fit."""

    solver: str
    C: float
    relative: bool  # whether C is in units of the smoothed kernel
    C_graph: float | str
    normalized: bool
    degree: int
    graph_gamma: float | str | None
    smoothing: str
    n_landmarks: int
    max_iter: int


def check_parameters(estimator: Any) -> None:
    """Raise ValueError for the first parameter that is out of range."""
    e = estimator
    check_number("C", e.C, least=0, strictly=True, words=("auto",))
    check_number("C_graph", e.C_graph, least=0, words=("auto", "guaranteed"))
    check_number("p", e.p, least=1)
    check_number("gamma", e.gamma, least=0, strictly=True, words=("spread", "scale", "auto"))
    check_count("n_neighbors", e.n_neighbors, words=("auto",))
    if e.radius is not None:
        check_number("radius", e.radius, least=0, strictly=True)
    if e.graph_gamma is not None:
        check_number("graph_gamma", e.graph_gamma, least=0, words=("auto", "local"))
    check_choice("graph", e.graph, ("full", "bipartite", *_LISTED))
    check_choice("neighbors", e.neighbors, ("auto", "exact", "approximate"))
    check_choice("laplacian", e.laplacian, ("auto", "normalized", "unnormalized"))
    check_count("laplacian_degree", e.laplacian_degree, words=("auto",))
    check_choice("solver", e.solver, ("auto", "newton", "sgd"))
    check_choice("smoothing", e.smoothing, ("auto", "landmarks", "rows"))
    check_count("n_landmarks", e.n_landmarks, words=("auto",))
    check_choice("landmarks", e.landmarks, RULES)
    check_number("tol", e.tol, least=0, strictly=True)
    check_choice("edge_sampling", e.edge_sampling, ("uniform", "weight"))
    check_choice("step", e.step, ("explicit", "implicit"))
    check_choice("precision", e.precision, ("single", "double"))
    check_count("max_iter", e.max_iter, words=("auto",))
    check_number("steps_per_row", e.steps_per_row, least=0, words=("auto",))
    check_count("reservoir_size", e.reservoir_size, least=2)
    if e.half_life is not None:
        check_number("half_life", e.half_life, least=0, strictly=True)
    if e.budget is not None:
        check_count("budget", e.budget)
    check_flag("fit_intercept", e.fit_intercept)
    if e.callback is not None and not callable(e.callback):
        raise ValueError(f"callback must be a function or None, got {e.callback!r}.")
    e.n_threads()


def resolve_settings(estimator: Any, n: int, n_labeled: int) -> Settings:
    """Return the parameters for n rows, n_labeled of them labelled."""
    e = estimator
    n_landmarks = default_landmarks(n) if e.n_landmarks == "auto" else int(e.n_landmarks)
    if n_landmarks > n:
        raise ValueError(
            f"n_landmarks={n_landmarks} is more than the {n} rows there are; pass at most {n}, "
            "which is the exact problem, or 'auto'."
        )
    solver = _choose_solver(e, n, n_labeled, n_landmarks) if e.solver == "auto" else e.solver
    newton = solver == "newton"
    normalized = newton if e.laplacian == "auto" else e.laplacian == "normalized"
    smoothing = _choose_smoothing(e, n, n_labeled, n_landmarks) if newton else "landmarks"
    degree = e.laplacian_degree
    if degree == "auto":
        once = not newton or smoothing == "rows" or e.p != 2 or e.graph not in _LISTED
        degree = 1 if once else 2
    _refuse_contradictions(e, solver, normalized, int(degree))
    # The theorem behind "guaranteed" needs C itself.
    smoothed = newton and e.p == 2 and e.C_graph != "guaranteed"
    relative = e.C == "auto" and smoothed
    usual_C, usual_C_graph = e._default_costs(smoothed, smoothing, n, n_labeled)
    if e.graph not in _LISTED:  # all pairs, as strong as neighbours, would flatten f
        usual_C_graph = e._default_costs(False, smoothing, n, n_labeled)[1]
    if normalized and e.p != 2:  # a sum over edges divided by the vertices, about a tenth as many
        usual_C_graph /= 10
    C = usual_C if e.C == "auto" else float(e.C)
    C_graph = usual_C_graph if e.C_graph == "auto" else e.C_graph
    graph_gamma = e.graph_gamma
    if graph_gamma == "auto":
        graph_gamma = "local" if newton and e.graph == "knn" else None
    max_iter = e.max_iter
    if max_iter == "auto":
        max_iter = _NEWTON_STEPS if newton else default_iterations(n, is_classifier(e))
    return Settings(
        solver,
        C,
        relative,
        C_graph,
        normalized,
        int(degree),
        graph_gamma,
        smoothing,
        n_landmarks,
        int(max_iter),
    )


def _choose_solver(e: Any, n: int, n_labeled: int, n_landmarks: int) -> str:
    """Return "newton" where labels are few, which is where it gains and costs little.

    It needs the list of edges, and for a p other than 2 a pass over them at every step: there
    only small data are worth it.
    """
    few = n_labeled <= (_FEW if n <= n_landmarks else n_landmarks // 2)
    suits = (e.p == 2 and e.graph in _LISTED) or n <= _SMALL
    stochastic = e.C_graph == "guaranteed" or e.budget is not None
    return "newton" if few and suits and not stochastic else "sgd"


def _choose_smoothing(e: Any, n: int, n_labeled: int, n_landmarks: int) -> str:
    """Return what the graph smooths: the landmarks' function, or the rows' own scores."""
    possible = e.p == 2 and e.graph in _LISTED
    if e.smoothing == "rows" and not possible:
        raise ValueError(
            "smoothing='rows' needs p=2 and a graph that lists its edges ('knn', 'epsilon' or "
            f"'precomputed'), and p={e.p}, graph={e.graph!r}; pass smoothing='landmarks'."
        )
    if e.C_graph == 0 or n_labeled == n:  # nothing to smooth
        return "landmarks"
    if e.smoothing != "auto":
        return str(e.smoothing)
    # Rows far from all labels fall back to a score of 0, whose sign is still right: classes
    # can live with that, and quantities cannot.
    suits = is_classifier(e) and n > n_landmarks and n * n_labeled <= LARGEST
    return "rows" if possible and suits else "landmarks"


def _refuse_contradictions(e: Any, solver: str, normalized: bool, degree: int) -> None:
    if degree > 1 and e.p != 2:
        raise ValueError(
            f"laplacian_degree={degree} iterates the Laplacian, which belongs to p=2, and p={e.p}; "
            "pass laplacian_degree=1 or p=2."
        )
    if solver == "newton" and e.budget is not None:
        raise ValueError(
            f"budget={e.budget} limits the centres of the stochastic solver; pass solver='sgd', or "
            "limit those of solver='newton' with n_landmarks."
        )
    if solver == "sgd" and (normalized or degree > 1):
        raise ValueError(
            "solver='sgd' draws single edges, and cannot use laplacian='normalized' or a "
            "laplacian_degree above 1; pass solver='newton', or leave both 'auto'."
        )
    if e.C_graph == "guaranteed" and (normalized or degree > 1):
        raise ValueError(
            "C_graph='guaranteed' follows a theorem about laplacian='unnormalized' of degree 1; "
            "pass these, or a number for C_graph."
        )
    if e.graph_gamma == "local" and e.graph != "knn":
        raise ValueError(
            "graph_gamma='local' takes its bandwidths from the graph 'knn', and "
            f"graph={e.graph!r}; pass a number, or None for the kernel's."
        )


def make_solver(
    estimator: Any, settings: Settings, guarantee: Guarantee | None, dtype: Any, n_threads: int
) -> Solver:
    """Return the solver of these settings."""
    e = estimator
    random = check_random_state(e.random_state)
    seed = np.random.SeedSequence(random.randint(2**31 - 1, size=4).tolist())
    if settings.solver == "newton":
        newton = NewtonSolver(
            n_landmarks=settings.n_landmarks,
            rule=e.landmarks,
            seed=seed,
            max_iter=settings.max_iter,
            tol=float(e.tol),
            tolerance=_PIVOT[e.precision],
            relative=settings.relative,
            n_threads=n_threads,
            verbose=e.verbose,
        )
        if settings.smoothing == "rows":
            return RowSolver(newton, decisions=is_classifier(e))
        return newton
    assert guarantee is not None
    return StochasticSolver(
        max_iter=settings.max_iter,
        step=e.step,
        edge_sampling=e.edge_sampling,
        seed=seed,
        guarantee=guarantee,
        dtype=dtype,
        n_threads=n_threads,
    )


def within_budget(estimator: Any, solver: Solver, kernel: Kernel) -> Solver:
    """Return the solver, with the estimator's budget if there is one."""
    if estimator.budget is None:
        return solver
    if isinstance(kernel, Precomputed):
        raise ValueError(
            f"budget={estimator.budget} needs the rows themselves, and kernel='precomputed' has "
            "none; pass budget=None."
        )
    assert isinstance(solver, StochasticSolver)
    return BudgetedSolver(**vars(solver), budget=int(estimator.budget))


def graph_share(n: int) -> float:
    """Return the share of the usual C_graph that a graph of n rows gets: all of it, unless few.

    The fewer the rows, the larger the least eigenvalues of their Laplacian, and the flatter one
    C_graph makes f: what follows clusters of a thousand rows overrules the labels of a dozen.

    Examples
    --------
    >>> graph_share(1000), round(graph_share(30), 4)
    (1.0, 0.01)
    """
    return min(1.0, n / _MANY) ** 2


def default_landmarks(n: int) -> int:
    """Return the number of landmarks that ``n_landmarks="auto"`` takes for n rows.

    Examples
    --------
    >>> default_landmarks(500), default_landmarks(70000)
    (500, 1000)
    """
    return n if n <= _EXACT else _LANDMARKS


def default_iterations(n: int, classes: bool) -> int:
    """Return the number of steps that ``max_iter="auto"`` takes for n rows with solver="sgd".

    Quantities take more of them than signs: each step adds to the precision of f.

    Examples
    --------
    >>> [default_iterations(n, classes=True) for n in (100, 5000, 500_000)]
    [1000, 10000, 100000]
    >>> [default_iterations(n, classes=False) for n in (100, 5000, 1_000_000)]
    [100000, 100000, 200000]
    """
    return max(1000, min(2 * n, 20_000), n // 5) if classes else max(100_000, n // 5)
