"""What every kernel machine shares: validation, the kernel, fitted attributes and scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted, validate_data

from .._util.parameters import count_threads, refuse_masked
from ..expansion import KernelExpansion, default_threads
from ..graphs.affinity import summed_affinity
from ..graphs.given_edges import Ids
from ..graphs.row_ids import without_ids
from ..kernels import Kernel, resolve_gamma, resolve_kernel
from .data_checks import (
    canonical_csr,
    check_range,
    check_scale,
    checked_weights,
    largest_kernel_value,
)
from .given_rows import require_labels
from .transduction import (
    forget_transduced,
    kept_transduced,
    set_transduced,
    state_of_copy,
    transduce_later,
    transduced,
)

_BLOCK = 2**16  # rows scored at a time
_VISIBLE = 1e-4  # rounding must change a score by less than this


class KernelMachine(BaseEstimator):
    """An estimator whose f is a sum of kernels over rows of its training data.

    Subclasses have the parameters `kernel`, `gamma`, `unlabeled` and `n_jobs`.
    """

    kernel: Any
    gamma: float | str
    unlabeled: Any
    n_jobs: int | None
    transduce: bool

    # ------------------------------------------------------------------ fit

    def _open_kernel(self) -> Kernel:
        """Return the kernel; its gamma is None unless it has its own."""
        return resolve_kernel(self.kernel)

    def _resolve_kernel(self, X: Any, dtype: np.dtype[Any]) -> Kernel:
        kernel = self._open_kernel()
        if not kernel.has_rows:
            if X.shape[0] != X.shape[1]:
                raise ValueError(
                    f"With kernel='precomputed' X must be the square matrix of kernel values "
                    f"between all training rows, got shape {X.shape}."
                )
            return kernel
        if kernel.native_code is not None:
            check_range(X, dtype)
            check_scale(X, dtype)
        return kernel.with_gamma(resolve_gamma(self.gamma, X))  # type: ignore[arg-type]

    def n_threads(self) -> int:
        """Return the threads that `n_jobs` asks for."""
        return count_threads(self.n_jobs, default_threads())

    def _set_machine(
        self,
        kernel: Kernel,
        X: Any,
        support: NDArray[np.int64],
        coefficients: NDArray[np.float64],
        *,
        offset: float = 0.0,
        constant: NDArray[np.float64] | None = None,
        dtype: Any,
    ) -> None:
        """Keep f = sum_j coefficients_j (k(., x_j) + offset) + constant over the rows `support`."""
        if _single_is_too_coarse(kernel, X, coefficients):
            dtype = np.dtype(np.float64)
        self.support_ = support
        # The centres of a precomputed kernel are columns. Only their numbers are kept.
        rows = X[support] if kernel.has_rows else np.empty((X.shape[0], 0))
        f = KernelExpansion(
            kernel,
            rows,
            coefficients.shape[1],
            offset=offset,
            constant=constant,
            dtype=dtype,
            n_threads=self.n_threads(),
        )
        f.set(np.arange(len(support)) if kernel.has_rows else support, coefficients)
        self.set_expansion(f)

    def set_expansion(self, f: KernelExpansion) -> None:
        """Set the fitted f and the attributes that show it."""
        self.expansion_ = f
        self.kernel_ = f.kernel
        self.support_vectors_ = f.centres
        self.dual_coef_ = np.ascontiguousarray(f.coefficients.T)
        self.intercept_: NDArray[np.float64] = f.intercept

    # ------------------------------------------------------------------ input

    def _validate_rows(self, X: Any, *, reset: bool) -> Any:
        refuse_masked("X", X)
        X = validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=(np.float64, np.float32),
            order="C",  # frames store columns, and sums over columns would round differently
        )
        return canonical_csr(X) if issparse(X) else X

    def _rows_and_affinity(self, X: Any, affinity: Any, ids: Any) -> tuple[Any, Any]:
        """Return the rows, checked, and the weights of the given graph; None if there is none."""
        if affinity is None:
            if ids is not None:
                raise ValueError("ids name the rows of an affinity; pass both, or none of them.")
            return self._validate_rows(X, reset=True), None
        if X is None:
            raise ValueError(
                f"X is None, and {type(self).__name__} needs rows; SemiSupervisedClassifier and "
                "SemiSupervisedRegressor learn from edges alone."
            )
        X, names = without_ids(X, ids)
        rows = self._validate_rows(X, reset=True)
        return rows, summed_affinity(affinity, Ids(rows.shape[0], names))

    def _counted(
        self, sample_weight: Any, X: Any, labeled: NDArray[np.bool_]
    ) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Return which labelled rows have a weight above 0, and these weights.

        A label of weight 0 counts for nothing, and is not given back. The weights of unlabelled
        rows have no meaning.
        """
        weights = checked_weights(sample_weight, X)
        counted = labeled & (weights > 0)
        return counted, weights[counted]

    def _labels_that_count(
        self, X: Any, labeled: NDArray[np.bool_], sample_weight: Any
    ) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Return what `_counted` does; raise if no label counts."""
        check_consistent_length(X, labeled)
        require_labels(np.flatnonzero(labeled), len(labeled), self.unlabeled)
        counted, weights = self._counted(sample_weight, X, labeled)
        if not counted.any():
            raise ValueError("sample_weight is 0 for every labelled row; one must be positive.")
        return counted, weights

    # ------------------------------------------------------------------ scores

    def _scores(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        return self.scores_at(self._validate_rows(X, reset=False))

    def scores_at(self, rows: Any) -> NDArray[np.float64]:
        """Return the scores of rows that are checked."""
        if self.kernel_.native_code is not None:
            check_range(rows, self.expansion_.dtype)
        return self.expansion_.scores(rows)

    def training_scores(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of the training rows."""
        blocks = range(0, X.shape[0], _BLOCK)
        return np.concatenate([self.scores_at(X[first : first + _BLOCK]) for first in blocks])

    # ------------------------------------------------------------------ labels of training rows

    def _transduce_all(self, X: Any, find: Callable[[Any, Any], NDArray[Any]]) -> None:
        """Keep what `find` says of the training rows; compute it now, or when it is asked for."""
        forget_transduced(self)
        if not self.transduce:
            return
        if self._scores_are_known():
            set_transduced(self, find(self, X))
        else:
            transduce_later(self, X, find)

    def _scores_are_known(self) -> bool:
        """Return whether scores of training rows cost little, or a copy of X costs too much."""
        return not self.kernel_.has_rows

    def _remembered(self) -> NDArray[Any]:
        check_is_fitted(self)
        found = transduced(self)
        if found is None:
            raise AttributeError(
                "transduction_ is not known: it is set by fit with transduce=True, not by "
                "partial_fit; model files of earlier versions do not hold it, nor do copies of a "
                "model whose X was large and has changed. Call predict on the training rows "
                "instead."
            )
        return found

    def __getstate__(self) -> Any:
        """Compute what a copy or a file has to hold."""
        found = kept_transduced(self)
        return state_of_copy(super().__getstate__(), found)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what the estimator takes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        kernel = self.kernel  # not checked yet: it may be any object
        named = isinstance(kernel, str) and kernel == "precomputed"
        tags.input_tags.pairwise = named or (isinstance(kernel, Kernel) and not kernel.has_rows)
        tags.target_tags.required = True
        return tags


def _single_is_too_coarse(kernel: Kernel, X: Any, coefficients: NDArray[np.float64]) -> bool:
    """Return whether rounding kernel values to single precision could move a score visibly.

    A strong graph term leads to large coefficients that cancel each other.
    """
    if len(coefficients) == 0:
        return False
    largest = largest_kernel_value(kernel, X, np.float64)
    moved = np.finfo(np.float32).eps * largest * np.abs(coefficients).sum(axis=0)
    return bool((moved > _VISIBLE).any())
