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
from sklearn.utils.validation import _check_sample_weight, validate_data

from .._parameters import check_count, check_number
from .._threads import blas_threads_for
from ..expansion import KernelExpansion
from ..kernels import Kernel, resolve_gamma, resolve_kernel
from .checks import canonical_csr, check_range, largest_kernel_value
from .machine import KernelMachine
from .ridge_search import choose, fit_near
from .ridge_solvers import Matrix, RidgeFit, RidgeProblem

_GAMMAS = (1.0, 3.0)  # times the gamma "spread"
_ALPHAS = 10.0 ** np.arange(-3.0, 1.25, 0.5)  # times the mean k(x, x)
_ALL = 8000  # rows up to which all of them are landmarks
_LANDMARKS = 2000  # if there are more rows
_VISIBLE = 1e-4  # change of a score that rounding must not reach


class BaseKernelRidge(KernelMachine):
    """The fit; subclasses code the targets and judge held-out scores."""

    gammas: Sequence[float | str] | None
    alphas: Sequence[float] | None
    n_landmarks: int | str
    random_state: Any
    _n_outputs: int | None = None  # columns of the targets that f learns; None is all

    @abstractmethod
    def _encode(self, y: Any, weights: NDArray[np.float64]) -> tuple[Matrix, NDArray[np.float64]]:
        """Return what is learnt, of shape (n, columns), and the weights of the rows."""

    @abstractmethod
    def _loss(self, held: Matrix, targets: Matrix, weights: NDArray[np.float64]) -> float: ...

    @abstractmethod
    def _set_held_out(
        self, held: Matrix, targets: Matrix, weights: NDArray[np.float64]
    ) -> None: ...

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose gamma and alpha, and learn f.

        Parameters
        ----------
        X : array, frame or CSR matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels or targets; none may be missing.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of the squared errors. A row of weight 0 has no effect.

        Returns
        -------
        self
        """
        kernel = self._checked_kernel()
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype=(np.float64, np.float32),
            y_numeric=is_regressor(self),
        )
        X = canonical_csr(X) if issparse(X) else X
        if kernel.native_code is not None:
            check_range(X, np.dtype(np.float64))
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        targets, weights = self._encode(y, weights)
        used = np.flatnonzero(weights)
        if len(used) == 0:
            raise ValueError("By sample_weight and class_weight, no row has a positive weight.")
        with blas_threads_for(len(used), self._count_landmarks(len(used))):
            self._learn(kernel, X, targets, weights, used)
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

    def _learn(
        self,
        kernel: Kernel,
        X: Any,
        targets: Matrix,
        weights: NDArray[np.float64],
        used: NDArray[np.int64],
    ) -> None:
        rows = X if len(used) == X.shape[0] else X[used]
        problem = RidgeProblem(kernel, rows, targets[used], weights[used], self.n_threads())
        order = check_random_state(self.random_state).permutation(len(used))
        m = self._count_landmarks(len(used))
        gammas, extend = self._gammas(problem), self.gammas is None
        best = choose(problem, gammas, self._alphas, self._loss, order, m, extend=extend)
        fit = fit_near(best, self._loss, np.sort(order[:m]))
        self.alpha_ = fit.alpha
        self.gamma_: float | None = getattr(best.problem.kernel, "gamma", None)
        self.support_ = used[fit.landmarks]
        self._set_f(best.problem.kernel, X[self.support_], fit)
        held = np.zeros_like(targets)
        held[used] = fit.held_out
        unused = np.flatnonzero(weights == 0)
        if len(unused):
            held[unused, : self._n_outputs] = self.expansion_.scores(X[unused])
        self._set_held_out(held, targets, weights)

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
        if problem.kernel.stationary and problem.kernel.bounded is not None:
            return _ALPHAS * problem.kernel.bounded
        mean = float(problem.kernel.diagonal(problem.X).mean())
        return _ALPHAS * (mean if mean > 0 else 1.0)

    def _count_landmarks(self, n: int) -> int:
        if self.n_landmarks == "auto":
            return n if n <= _ALL else _LANDMARKS
        return min(n, int(self.n_landmarks))

    def _set_f(self, kernel: Kernel, centres: Any, fit: RidgeFit) -> None:
        """Keep f, in single precision if the fit was and that moves no score visibly.

        Coefficients are residuals over alpha, of both signs: their rounding errors do not add up.
        """
        a = np.ascontiguousarray(fit.coefficients[:, : self._n_outputs])
        error = np.finfo(np.float32).eps * largest_kernel_value(kernel, centres, np.float64)
        visible = error * np.sqrt(np.square(a).sum(axis=0).max()) > _VISIBLE
        f = KernelExpansion(
            kernel,
            centres,
            a.shape[1],
            dtype=np.float64 if visible else fit.dtype,
            n_threads=self.n_threads(),
        )
        f.set(np.arange(len(a)), a)
        self.set_expansion(f)
