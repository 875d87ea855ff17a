"""What the kernel ridge machines share: parameters, search, fit and the function f."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import is_regressor
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from .._util.parameters import check_count, check_number, refuse_masked
from .._util.threads import blas_threads_for
from ..estimators.data_checks import (
    canonical_csr,
    check_range,
    check_scale,
    checked_weights,
    largest_kernel_value,
)
from ..estimators.kernel_machine import KernelMachine
from ..expansion import KernelExpansion
from ..kernels import Kernel, resolve_gamma, resolve_kernel
from ..neighbours.distinct import Copies, distinct_rows
from ..ridge.landmarks import LandmarkBasis, LandmarkFit, LandmarkSums
from .search import Choice, choose, fit_all, fit_sums
from .solvers import Matrix, RidgeProblem

_GAMMAS = (1.0, 3.0)  # times the gamma "spread"
_ALPHAS = 10.0 ** np.arange(-3.0, 1.25, 0.5)  # times the mean k(x, x) and the mean weight
_ALL = 8000  # rows up to which all of them are landmarks
_LANDMARKS = 2000  # if there are more rows
_VISIBLE = 1e-4  # change of a score that rounding must not reach


class BaseKernelRidge(KernelMachine):
    """The fit; subclasses code the targets and judge held-out scores."""

    gammas: Sequence[float | str] | None
    alphas: Sequence[float] | None
    n_landmarks: int | str
    random_state: Any
    held_out_: NDArray[np.float64]
    _n_outputs: int | None = None  # columns of the targets that f learns; None is all

    @abstractmethod
    def encode(self, y: Any, weights: NDArray[np.float64]) -> tuple[Matrix, NDArray[np.float64]]:
        """Return what is learnt, of shape (n, columns), and the weights of the rows."""

    @abstractmethod
    def _loss(self, held: Matrix, targets: Matrix, weights: NDArray[np.float64]) -> float: ...

    @abstractmethod
    def set_held_out(
        self, held: Matrix, copies: Copies, targets: Matrix, weights: NDArray[np.float64]
    ) -> None:
        """Set the held-out scores of all training rows, and their score.

        Parameters
        ----------
        held : ndarray of shape (n_sets, n_outputs)
            What a fit without a set of equal rows says of them, for every set.
        copies : Copies
            The sets.
        targets, weights
            Of all rows, as `encode` returned them.
        """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose gamma and alpha, and learn f.

        Parameters
        ----------
        X : array, frame or CSR matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels or targets; none may be missing.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of the squared errors. A row of weight 0 counts for nothing: neither its label
            nor its class.

        Returns
        -------
        self
        """
        kernel = self._checked_kernel()
        for name, values in (("X", X), ("y", y)):
            refuse_masked(name, values)
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype=(np.float64, np.float32),
            order="C",  # frames store columns, and sums over columns would round differently
            y_numeric=is_regressor(self),
        )
        X = canonical_csr(X) if issparse(X) else X
        if kernel.native_code is not None:
            check_range(X, np.dtype(np.float64))
            check_scale(X, np.dtype(np.float64))
        weights = checked_weights(sample_weight, X)
        targets, weights = self.encode(y, require_weight(weights))
        n_used = int(np.count_nonzero(weights))
        with blas_threads_for(n_used, self.count_landmarks(n_used)):
            self._learn(kernel, X, targets, weights)
        return self

    def _checked_kernel(self) -> Kernel:
        """Check all parameters, and return the kernel, whose gamma may be open."""
        for name, words in (("gammas", ("spread", "scale", "auto")), ("alphas", ())):
            values = getattr(self, name)
            if values is None:
                continue
            if np.ndim(values) != 1 or len(values) == 0:
                raise ValueError(f"{name} must be a list of values, or None, got {values!r}.")
            for value in values:
                check_number(f"each of {name}", value, least=0, strictly=True, words=words)
        check_count("n_landmarks", self.n_landmarks, words=("auto",))
        self.n_threads()
        kernel = resolve_kernel(self.kernel)
        if not kernel.has_rows:
            raise ValueError(
                f"kernel={self.kernel!r} has no rows to take landmarks from; pass a kernel of "
                "rows, such as 'rbf'."
            )
        return kernel

    def _learn(self, kernel: Kernel, X: Any, targets: Matrix, weights: NDArray[np.float64]) -> None:
        """Fit f to sets of equal rows, each as one row, and hold them out one by one.

        A row with the mean target of its copies and the sum of their weights gives the same f.
        """
        copies = distinct_rows(X)
        means, sums = copies.pooled(targets, weights)
        used = np.flatnonzero(sums)
        numbers, n = copies.first[used], len(used)
        rows = X if n == X.shape[0] else X[numbers]
        problem = RidgeProblem(kernel, rows, means[used], sums[used], self.n_threads())
        order, m = self._drawn(n), self.count_landmarks(n)
        best = self._choose(problem, order, m)
        if m == n:
            full = fit_all(best, self._loss)
            self._set_f(best, rows, numbers, full.coefficients, full.alpha, full.dtype)
            own = full.held_out
        else:
            basis = self._basis(best, order[:m], n)
            added = basis.sums(rows, problem.targets, problem.weights)
            fit = self._fit_sums(best, basis, added, numbers[np.sort(order[:m])])
            own = basis.held_out(fit, rows, problem.targets, problem.weights)
        held = np.zeros_like(means)
        held[used] = own
        unused = np.flatnonzero(sums == 0)
        if len(unused):
            held[unused, : self._n_outputs] = self.expansion_.scores(X[copies.first[unused]])
        self.set_held_out(held, copies, targets, weights)

    def _choose(self, problem: RidgeProblem, order: NDArray[np.int64], m: int) -> Choice:
        gammas, extend = self._gammas(problem), self.gammas is None
        return choose(problem, gammas, self._alphas, self._loss, order, m, extend=extend)

    def _basis(self, best: Choice, landmarks: NDArray[np.int64], n: int) -> LandmarkBasis:
        """Return the landmarks among the rows of a choice, for sums over n rows."""
        problem = best.problem
        dtype = problem.dtype(float(best.alphas[best.best]), n)
        rows = problem.X[np.sort(landmarks)]
        return LandmarkBasis(problem.kernel, rows, dtype, problem.n_threads)

    def _drawn(self, n: int) -> NDArray[np.int64]:
        """Return n rows in random order. The search and the landmarks take the first of them."""
        return np.asarray(check_random_state(self.random_state).permutation(n))

    def _fit_sums(
        self,
        best: Choice,
        basis: LandmarkBasis,
        sums: LandmarkSums,
        support: NDArray[np.int64],
    ) -> LandmarkFit:
        """Learn f from the sums over all rows; `support` are the numbers of the landmarks."""
        fit = fit_sums(best, self._loss, basis, sums)
        self._set_f(best, basis.landmarks, support, fit.coefficients, fit.alpha, basis.dtype)
        return fit

    def _gammas(self, problem: RidgeProblem) -> list[float | None]:
        """Return the gammas to try; None for a kernel that has none, or its own."""
        if problem.kernel.with_gamma(1.0) is problem.kernel:
            return [None]
        if self.gammas is not None:
            return [resolve_gamma(gamma, problem.X) for gamma in self.gammas]  # type: ignore[arg-type]
        spread = resolve_gamma("spread", problem.X)
        return [factor * spread for factor in _GAMMAS]

    def _alphas(self, problem: RidgeProblem) -> NDArray[np.float64]:
        """Return the alphas to try with the kernel of `problem`, in rising order."""
        if self.alphas is not None:
            return np.unique(np.asarray(self.alphas, dtype=np.float64))
        alphas = _ALPHAS * float(problem.weights.mean())
        if problem.kernel.stationary and problem.kernel.bounded is not None:
            return alphas * problem.kernel.bounded
        mean = float(problem.kernel.diagonal(problem.X).mean())
        return alphas * (mean if mean > 0 else 1.0)

    def count_landmarks(self, n: int) -> int:
        """Return how many of n rows are landmarks."""
        if self.n_landmarks == "auto":
            return n if n <= _ALL else _LANDMARKS
        return min(n, int(self.n_landmarks))

    def _set_f(
        self,
        best: Choice,
        centres: Any,
        support: NDArray[np.int64],
        coefficients: Matrix,
        alpha: float,
        dtype: Any,
    ) -> None:
        """Keep f, in single precision if the fit was and that moves no score visibly.

        Coefficients are residuals over alpha, of both signs: their rounding errors do not add up.
        """
        kernel = best.problem.kernel
        self.alpha_, self.support_ = alpha, support
        self.gamma_: float | None = getattr(kernel, "gamma", None)
        a = np.ascontiguousarray(coefficients[:, : self._n_outputs])
        error = np.finfo(np.float32).eps * largest_kernel_value(kernel, centres, np.float64)
        visible = error * np.sqrt(np.square(a).sum(axis=0).max()) > _VISIBLE
        f = KernelExpansion(
            kernel,
            centres,
            a.shape[1],
            dtype=np.float64 if visible else dtype,
            n_threads=self.n_threads(),
        )
        f.set(np.arange(len(a)), a)
        self.set_expansion(f)


def require_weight(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weights of rows; an error if all are 0.

    Examples
    --------
    >>> require_weight(np.array([0.0, 2.0]))
    array([0., 2.])
    """
    if not weights.any():
        raise ValueError("By sample_weight and class_weight, no row has a positive weight.")
    return weights
