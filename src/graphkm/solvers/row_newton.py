"""Smoothing the rows' own scores, for graphs too large for landmarks to follow.

The span of m kernels is too small to follow a graph of many more rows. Here every row has a score
g_u of its own, which depends on the graph and the labels only. It minimises

    1/2 ||g||^2 + C sum_i s_i loss(y_i, g_i) + C_graph (l / |E|) g' L^q g .

That is J for the kernel with k(x, x) = 1 and k(x, z) = 0 for different rows. With
T = 1 + 2 C_graph (l / |E|) L^q it is a kernel machine on the labelled rows with the kernel T^(-1).
That takes l sparse linear systems, solved by conjugate gradients. Then the landmarks' kernels are
fitted to the decisions of g at all rows (in regression, to g itself), so that new rows can be
scored.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve, solve_triangular
from sklearn.exceptions import ConvergenceWarning

from .._parts import Combination
from ..graphs.laplacian import laplacian_matrix
from ..objective import Objective
from .base import Progress, Resources, Solution, State
from .damped_newton import DampedNewton, safe_cholesky
from .landmark_features import LandmarkFeatures
from .newton import LandmarkSolver, NewtonState, warn_of_distance
from .terms import LabelTerms

_COLUMNS = 64  # linear systems solved side by side
_TOLERANCE = 1e-4  # of their residuals
_MOST = 1000  # steps of conjugate gradients

LARGEST = 2**28
"""Entries of T^(-1) at most, rows times labelled rows: 1 GiB."""


class RowKernel:
    """The columns of T^(-1) at the labelled rows, T = 1 + strength L^degree.

    It offers what `GraphKernel` offers: phi at the labelled rows and at others.

    Parameters
    ----------
    matrix : csr_array of shape (n, n)
        L.
    degree : int
        Its power.
    strength : float
        What multiplies it.
    labeled : ndarray of int of shape (l,)
        The labelled rows.
    """

    def __init__(
        self, matrix: Any, degree: int, strength: float, labeled: NDArray[np.int64]
    ) -> None:
        matrix = matrix.astype(np.float32)
        self._columns = np.empty((matrix.shape[0], len(labeled)), np.float32)
        left = np.empty(len(labeled))
        for start in range(0, len(labeled), _COLUMNS):
            part = slice(start, min(start + _COLUMNS, len(labeled)))
            solved = _solve_units(matrix, degree, strength, labeled[part])
            self._columns[:, part], left[part] = solved
        _warn_of_residual(float(left.max()))
        own = self._columns[labeled].astype(np.float64)
        self.phi = safe_cholesky((own + own.T) / 2)

    @property
    def scale(self) -> float:
        """The mean of the kernel at the labelled rows."""
        return float(np.einsum("ij,ij->", self.phi, self.phi)) / len(self.phi)

    def at(self, rows: Any) -> NDArray[np.float64]:
        """Return phi at some rows."""
        values = self._columns[rows].astype(np.float64)
        return solve_triangular(self.phi, values.T, lower=True, check_finite=False).T

    def scores(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return g at all rows for every column of v."""
        beta = solve_triangular(self.phi, v, lower=True, trans="T", check_finite=False)
        return np.asarray(self._columns @ beta.astype(np.float32), dtype=np.float64)


def _solve_units(
    matrix: Any, degree: int, strength: float, rows: NDArray[np.int64]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return columns of T^(-1), by conjugate gradients on all of them together.

    The norms of the residuals come with them. The right-hand sides are unit vectors.
    """
    columns = np.arange(len(rows))
    residual = np.zeros((matrix.shape[0], len(rows)), np.float32)
    residual[rows, columns] = 1.0
    solution, direction = np.zeros_like(residual), residual.copy()
    size = np.ones(len(rows), np.float32)
    for _ in range(_MOST):
        image = direction
        for _ in range(degree):
            image = matrix @ image
        image = direction + np.float32(strength) * image
        # Solved columns stay as they are: beyond their precision they would diverge.
        going = size > _TOLERANCE**2
        steep = np.einsum("ij,ij->j", direction, image)
        length = np.divide(size, steep, out=np.zeros_like(size), where=going & (steep > 0))
        solution += length * direction
        residual -= length * image
        left = np.einsum("ij,ij->j", residual, residual)
        if (left <= _TOLERANCE**2).all():
            break
        ratio = np.divide(left, size, out=np.zeros_like(size), where=going)
        direction = residual + ratio * direction
        size = left
    return solution, np.sqrt(left)


def _warn_of_residual(residual: float) -> None:
    """Warn if the worst linear system was left unsolved."""
    if residual <= _TOLERANCE:  # not so if it is NaN
        return
    warnings.warn(
        f"Smoothing the rows' scores ended after {_MOST:,} steps of conjugate gradients with a "
        f"relative residual of {residual:.2g}, where {_TOLERANCE:g} was wanted: the scores are "
        "inexact. Pass a smaller C_graph, a smoothness with normalized=True or a smaller degree, "
        "or solver=Newton().",
        ConvergenceWarning,
        stacklevel=4,
    )


@dataclass(frozen=True)
class RowNewton(LandmarkSolver):
    """Smooth the rows' own scores over the graph, then fit the landmarks' kernels to them.

    It follows a graph of many more rows than landmarks. The rows' scores are found by Newton's
    method, with a certified gap; new rows are scored by the landmarks. It needs p = 2 and a
    graph whose edges are listed. Without edges it does what `Newton` does.

    Parameters
    ----------
    n_landmarks : int or "auto", default="auto"
        Rows whose kernels span f, at most as many as there are. "auto" is every row up to 2,500
        rows, and 1,000 beyond.
    landmarks : {"uniform", "kmeans++", "greedy"}, default="uniform"
        How landmarks are chosen: see `Newton`.
    tol : float, default=1e-6
        Stop when the certified gap is at most tol * J.
    max_iter : int, default=500
        Newton steps per output at most.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from graphkm import GKMClassifier
    >>> X, truth = make_moons(200, noise=0.1, random_state=0)
    >>> y = np.where(np.arange(200) < 10, truth, -1)
    >>> model = GKMClassifier(solver=RowNewton(n_landmarks=50), random_state=0).fit(X, y)
    >>> bool(np.mean(model.transduction_ == truth) > 0.9)
    True
    """

    def accepts(self, together: Combination) -> None:
        """Raise ValueError for another p, a graph of all pairs, or a stream."""
        super().accepts(together)
        p, graph = together.smoothness.p, together.graph
        if p != 2 or (graph is not None and not graph.listed):
            raise ValueError(
                "solver=RowNewton() needs a smoothness with p=2 and a graph that lists its edges "
                f"(KNN, Epsilon or Affinity), and p={p}, graph={graph!r}; pass solver=Newton()."
            )

    def start(self, objective: Objective, resources: Resources) -> State:
        """Return the state before the first Newton step: linear systems solved."""
        if not objective.has_edges:
            return NewtonState(self, objective, resources)
        return RowState(self, objective, resources)


class RowState:
    """One output after another; the landmarks are fitted at the end."""

    def __init__(self, solver: RowNewton, objective: Objective, resources: Resources) -> None:
        assert objective.graph is not None
        if np.ptp(objective.C_graph):
            raise ValueError(
                "solver=RowNewton() solves its linear systems once for all outputs, which need "
                f"one C_graph, and theirs are {objective.C_graph.tolist()}; solve them one by one."
            )
        self._solver, self._objective, self._resources = solver, objective, resources
        matrix = laplacian_matrix(objective.graph, normalized=objective.normalized)
        strength = 2.0 * float(objective.graph_factor[0])
        self._kernel = RowKernel(matrix, objective.degree, strength, objective.labeled)
        self._C = objective.C / (self._kernel.scale if objective.relative else 1.0)
        self._iterations = [self._iteration(r) for r in range(objective.n_outputs)]

    def _iteration(self, r: int) -> DampedNewton:
        phi, objective = self._kernel.phi, self._objective
        terms = LabelTerms.of(objective, r, phi, float(self._C[r]))
        scale = float(np.abs(objective.targets).mean()) or 1.0
        return DampedNewton(terms, len(phi), scale, self._solver.tol)

    def _open(self) -> list[DampedNewton]:
        most = self._solver.max_iter
        return [each for each in self._iterations if not each.done and each.n_iter < most]

    @property
    def done(self) -> bool:
        """Whether every output is solved."""
        return not self._open()

    @property
    def progress(self) -> Progress:
        """Newton steps done and at most, landmarks."""
        most = self._solver.max_iter * len(self._iterations)
        done = sum(each.n_iter for each in self._iterations)
        return Progress(done, most, int(self._solver.n_landmarks))

    def advance(self) -> None:
        """Take one Newton step on the first output that is not solved."""
        iteration = self._open()[0]
        iteration.step()
        if iteration.done or iteration.n_iter >= self._solver.max_iter:
            warn_of_distance(iteration)

    def solution(self) -> Solution:
        """Return the landmarks' fit to the rows' scores, and these scores."""
        scores = self._kernel.scores(np.column_stack([each.v for each in self._iterations]))
        features = self._solver.features(self._objective, self._resources)
        coefficients = fit_landmarks(features, self._wanted(scores))
        order = np.argsort(features.rows)
        return Solution(
            rows=features.rows[order],
            coefficients=coefficients[order],
            n_iter=max(each.n_iter for each in self._iterations),
            objective=np.array([each.value for each in self._iterations]),
            gap=np.array([each.gap for each in self._iterations]),
            C=self._C,
            row_scores=scores,
        )

    def _wanted(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what f is fitted to at all rows: the labels where given, else the result of g."""
        labeled, targets = self._objective.labeled, self._objective.targets
        wanted = scores
        if self._objective.loss.task == "classification":
            best = scores.argmax(axis=1)[:, None] == np.arange(scores.shape[1])
            wanted = np.where(scores >= 0 if scores.shape[1] == 1 else best, 1.0, -1.0)
        wanted = wanted.copy()
        wanted[labeled] = targets
        return wanted


def fit_landmarks(features: LandmarkFeatures, wanted: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the coefficients a that minimise ||K a - wanted||^2 + a' S a, in one pass."""
    squares = features.gram.copy()
    right = np.zeros((len(features), wanted.shape[1]))
    for block in features.blocks():
        values = features.kernels_at(block)
        squares += values.T @ values
        right += values.T @ wanted[block]
    squares[np.diag_indices_from(squares)] += 1e-12 * float(np.trace(squares)) / len(squares)
    return solve(squares, right, assume_a="pos", check_finite=False)
