"""Dual problems of kernel machines, by sequential minimal optimisation in compiled code.

    minimise  1/2 a'Ka + sum_i (slope_i a_i + bend_i |a_i - kink_i|)
    over      lower <= a <= upper  with  sum a = 0

is the dual of f(x) = sum_i a_i k(x, x_i) + b with a piecewise linear loss at every row:

==============================  ======  =======  ====  =========================
loss                            slope   bend     kink  bounds
==============================  ======  =======  ====  =========================
hinge, C (1 - y f)_+            -y      0              [0, C] y
absolute error beyond epsilon   -y      epsilon  0     [-C, C]
both hinges of an unlabelled    0       1        m     [m - C*, m + C*]
row, minus m f
==============================  ======  =======  ====  =========================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from .._util.memory import require_memory
from ..backends import in_precision, make_smo
from ..expansion import KernelExpansion
from ..kernels import Kernel

Vector = NDArray[np.float64]
_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class DualTerms:
    """The terms of the dual problem for every row; see the module.

    Parameters
    ----------
    slope, bend, kink, lower, upper : ndarray of shape (n,)
        Linear costs, costs of the distance from the kink, kinks, and bounds.
    """

    slope: Vector
    bend: Vector
    kink: Vector
    lower: Vector
    upper: Vector

    @classmethod
    def hinge(cls, targets: Vector, C: Vector) -> DualTerms:
        """Return the terms of C_i (1 - y_i f(x_i))_+; rows of C_i = 0 take no part.

        Examples
        --------
        >>> terms = DualTerms.hinge(np.array([1.0, -1.0]), np.array([2.0, 2.0]))
        >>> terms.lower.tolist(), terms.upper.tolist()
        ([0.0, -2.0], [2.0, 0.0])
        """
        bend, kink, signed = np.zeros(len(targets)), np.zeros(len(targets)), targets * C
        return cls(-targets, bend, kink, np.minimum(signed, 0.0), np.maximum(signed, 0.0))

    def value(self, a: Vector) -> float:
        """Return the sum over rows of slope a + bend |a - kink|."""
        return float(self.slope @ a + self.bend @ np.abs(a - self.kink))


class DualSolution(NamedTuple):
    """The minimiser a, and the function it stands for.

    The balancing condition adds `spread` to every balanced row's coefficient. `scores` are
    f(x_i), intercept included. `gap` bounds the violation of the optimality conditions.
    """

    a: Vector
    spread: float
    coefficients: Vector
    scores: Vector
    intercept: float
    n_iter: int
    gap: float


class DualSolver:
    """Solver of dual problems over the same rows; each starts from the solution before it.

    Parameters
    ----------
    kernel : Kernel
        With its gamma filled in.
    X : ndarray or CSR of shape (n, n_features)
        The rows; the matrix of kernel values for a precomputed kernel.
    balanced : ndarray of int, optional
        Rows whose mean score the problems prescribe.
    dtype : dtype, default=float32
        Precision of the kernel rows; scores are in float64.
    cache_size : float, default=200
        Megabytes of kernel rows kept.
    n_threads : int, default=1
        Threads of the products over all rows; the steps themselves take one.

    Examples
    --------
    >>> from graphkm.kernels import Linear
    >>> solver = DualSolver(Linear(), np.array([[-1.0], [1.0], [3.0]]), dtype=np.float64)
    >>> y = np.array([-1.0, 1.0, 1.0])
    >>> solver.solve(DualTerms.hinge(y, np.full(3, 10.0)), tol=1e-6).scores.round(4).tolist()
    [-1.0, 1.0, 3.0]
    """

    def __init__(
        self,
        kernel: Kernel,
        X: Any,
        *,
        balanced: NDArray[np.int64] | None = None,
        dtype: Any = np.float32,
        cache_size: float = 200.0,
        n_threads: int = 1,
    ) -> None:
        self._balanced = balanced
        self._n = X.shape[0]
        self._n_threads = n_threads
        # In compiled code every amplitude is 1, and coefficients are scaled instead.
        native = kernel.native_code is not None
        self._amplitude = float(getattr(kernel, "sigma_f", 1.0)) ** 2 if native else 1.0
        expansion = KernelExpansion(kernel, X, dtype=dtype, n_threads=n_threads)
        diagonal = expansion.diagonal(np.arange(self._n)) / self._amplitude
        mean = np.empty(0)
        if balanced is not None:
            expansion.set(balanced, np.full((len(balanced), 1), 1.0 / len(balanced)))
            mean = expansion.scores(X)[:, 0] / self._amplitude
            diagonal = np.append(diagonal, mean[balanced].mean())
        rows = expansion.rows_of(X) if native else _gram(kernel, X, dtype)
        self._native = make_smo(kernel, rows, diagonal, mean, dtype, int(cache_size * 2**20))

    def reset(self) -> None:
        """Forget the last solution: the next start is zero, or the one passed to `solve`."""
        self._native.reset()

    def solve(
        self,
        terms: DualTerms,
        start: Vector | None = None,
        *,
        mean: float | None = None,
        tol: float = 1e-3,
        max_iter: int = 2**62,
        shrinking: bool = True,
    ) -> DualSolution:
        """Solve one problem, from the solution of another if there is one.

        Parameters
        ----------
        terms : DualTerms
            The problem.
        start : ndarray of shape (n,), optional
            Where to start, moved into the bounds; zero by default.
        mean : float, optional
            The mean score of the balanced rows; None leaves it free.
        tol : float, default=1e-3
            Violation of the optimality conditions allowed, in units of scores.
        max_iter : int
            Steps at most.
        shrinking : bool, default=True
            Whether variables that no pair can move are set aside.

        Returns
        -------
        DualSolution
        """
        whole = self._with_extra(terms, mean)
        a = self._feasible(start, whole)
        scores = np.empty(len(a))
        n_iter, gap = self._native.solve(
            whole.slope,
            whole.bend,
            whole.kink,
            whole.lower,
            whole.upper,
            a,
            scores,
            tol,
            max_iter,
            shrinking,
            self._n_threads,
        )
        intercept = _intercept(whole, a, scores)
        a, spread = a[: self._n] / self._amplitude, 0.0
        coefficients = a
        if self._balanced is not None and mean is not None:
            intercept = mean - float(scores[-1])
            spread = -float(a.sum()) / len(self._balanced)
            coefficients = a.copy()
            coefficients[self._balanced] += spread
        scores = scores[: self._n] + intercept
        return DualSolution(a, spread, coefficients, scores, intercept, n_iter, gap)

    def _with_extra(self, terms: DualTerms, mean: float | None) -> DualTerms:
        """Return the terms in units of the amplitude, and the balancing variable's."""
        unit = self._amplitude
        parts = (terms.slope, terms.bend, terms.kink * unit, terms.lower * unit, terms.upper * unit)
        if self._balanced is None:
            return DualTerms(*(np.ascontiguousarray(part, np.float64) for part in parts))
        extra = (0.0,) * 5 if mean is None else (-mean, 0.0, 0.0, -np.inf, np.inf)
        return DualTerms(*map(np.append, parts, extra))

    def _feasible(self, start: Vector | None, terms: DualTerms) -> Vector:
        """Return coefficients within the bounds that sum to zero, near the start."""
        a = np.zeros(len(terms.slope))
        if start is not None:
            a[: self._n] = _snapped(start * self._amplitude, terms, self._n)
        a = np.clip(a, terms.lower, terms.upper)
        surplus = float(a.sum())
        if self._balanced is not None and np.isinf(terms.upper[-1]):
            a[-1] -= surplus
            return a
        # A sum that is 0 up to rounding needs no change, which would push a row off its bound.
        if abs(surplus) <= len(a) * _EPS * float(np.abs(a).sum()):
            return a
        room = a - terms.lower if surplus > 0 else terms.upper - a
        # One row after another gives all it can, until the surplus is gone.
        given = np.diff(np.minimum(np.cumsum(room), abs(surplus)), prepend=0.0)
        return np.clip(a - np.sign(surplus) * given, terms.lower, terms.upper)


def _snapped(a: Vector, terms: DualTerms, n: int) -> Vector:
    """Return the first n coefficients; those within rounding of a bound or kink are put on it.

    A row one unit in the last place beside its bound would count as free, and its slope would
    violate the optimality conditions.
    """
    for place in (terms.kink[:n], terms.lower[:n], terms.upper[:n]):
        a = np.where(np.abs(a - place) <= 8 * _EPS * np.abs(a), place, a)
    return a


def _gram(kernel: Kernel, X: Any, dtype: Any) -> NDArray[Any]:
    """Return all kernel values: precomputed ones, or those of a kernel in Python."""
    if not kernel.has_rows:
        return in_precision(X.toarray() if issparse(X) else X, dtype)
    n = X.shape[0]
    require_memory(
        n * n * (8 + np.dtype(dtype).itemsize),
        f"all {n:,} x {n:,} values of a kernel function",
        "Use a kernel with a name, whose rows are computed as needed, or fewer rows.",
    )
    return in_precision(kernel(X, X), dtype)


def _intercept(terms: DualTerms, a: Vector, scores: Vector) -> float:
    """Return b. Rows between bounds and kinks determine it; the others only limit it."""
    up = -scores - terms.slope - np.where(a >= terms.kink, terms.bend, -terms.bend)
    down = -scores - terms.slope - np.where(a > terms.kink, terms.bend, -terms.bend)
    rises, falls = a < terms.upper, a > terms.lower
    free = rises & falls & (up == down)
    if free.any():
        return float(up[free].mean())
    least, most = np.max(up[rises], initial=-np.inf), np.min(down[falls], initial=np.inf)
    if np.isfinite(least) and np.isfinite(most):
        return float(least + most) / 2
    return float(least if np.isfinite(least) else most if np.isfinite(most) else 0.0)
