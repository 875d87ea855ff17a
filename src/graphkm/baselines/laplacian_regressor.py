"""Laplacian regularised least squares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from .._util.parameters import check_flag
from ..estimators.array_kinds import own_names
from ..estimators.targets import KernelRegressor, spread_of
from ..graphs import GraphPart
from ..kernels import Kernel
from ..smoothness import IteratedLaplacian
from .laplacian_base import BaseLaplacian
from .laplacian_losses import SquaredError


@own_names
class LaplacianRegressor(KernelRegressor, BaseLaplacian):
    r"""Kernel ridge regression with a graph's Laplacian as a second penalty (LapRLS).

    It minimises

    .. math::

        \sum_i s_i (y_i - f(x_i))^2 + \gamma_A a^T K a + \gamma_I f^T L^q f

    over f = K a + b, as `LaplacianSVC` does with its losses (Belkin, Niyogi and Sindhwani, 2006).
    With an intercept, f is learnt around the mean of the known targets. The minimum follows the
    units of y: if y is multiplied by 10, so are the predictions.

    Parameters
    ----------
    gamma_A, gamma_I, kernel, gamma, max_iter, precision, max_memory, transduce, n_jobs
        As in `LaplacianSVC`.
    graph : {"knn"} or GraphPart, default="knn"
        As in `LaplacianSVC`; KNN's "auto" neighbours are 10, but at most the root of the number
        of rows.
    smoothness : "auto" or IteratedLaplacian, default="auto"
        As in `LaplacianSVC`; "auto" is ``IteratedLaplacian(degree=2)``.
    solver : {"auto", "newton", "cg"}, default="auto"
        "newton" is the closed form, from one factorisation. "cg" is conjugate gradients, up to
        `tol`. "auto" is as in `LaplacianSVC`.
    tol : float, default=1e-6
        As in `LaplacianSVC`; there is no early stopping.
    fit_intercept : bool, default=True
        Whether there is a b, and f is learnt around the mean of the known targets.
    unlabeled : float or None, default=None
        A mark of unknown targets beside NaN, None and NA, which always count as unknown.

    Attributes
    ----------
    support_, support_vectors_, dual_coef_, intercept_, objective_, kernel_, solver_
        As in `LaplacianSVC`.
    origin_, spread_ : float
        The mean of the known targets (0 without an intercept), and their spread around it, as in
        `GKMRegressor`. Targets are learnt in these units, which avoids rounding errors.
    transduction_ : ndarray of shape (n_samples,)
        Targets of the training rows, predicted when asked for; given targets are kept.
    n_iter_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from graphkm.baselines import LaplacianRegressor
    >>> X = np.linspace(0, 6, 121)[:, None]
    >>> y = np.where(np.arange(121) % 10 == 0, np.sin(X.ravel()), np.nan)
    >>> reg = LaplacianRegressor().fit(X, y)
    >>> print(f"{np.abs(reg.predict(X) - np.sin(X.ravel())).max():.2f}")
    0.01
    """

    _usual_neighbors = 10
    _usual_degree = 2

    def __init__(
        self,
        gamma_A: float = 1e-3,
        gamma_I: float = 1e-2,
        *,
        kernel: str | Kernel | Callable[[Any, Any], Any] = "rbf",
        gamma: float | str = "spread",
        graph: str | GraphPart = "knn",
        smoothness: str | IteratedLaplacian = "auto",
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int | str = "auto",
        fit_intercept: bool = True,
        unlabeled: float | None = None,
        precision: str = "double",
        max_memory: float | str = "auto",
        transduce: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.gamma_A = gamma_A
        self.gamma_I = gamma_I
        self.kernel = kernel
        self.gamma = gamma
        self.graph = graph
        self.smoothness = smoothness
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.unlabeled = unlabeled
        self.precision = precision
        self.max_memory = max_memory
        self.transduce = transduce
        self.n_jobs = n_jobs

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        affinity: Any = None,
        ids: Any = None,
    ) -> Self:
        """Learn from rows with and without a target.

        Parameters
        ----------
        X : array, frame or CSR matrix of shape (n_samples, n_features)
            All rows; kernel values between them for kernel="precomputed".
        y : array-like of shape (n_samples,)
            Targets; NaN, None, NA or masked where unknown.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of the squared errors; those of rows without a target have no effect. A target
            of weight 0 counts for nothing, and `transduction_` does not give it back.
        affinity : matrix, edges, graph, or list or dict of them, optional
            Which rows belong together, as you know it, in any form that
            `SemiSupervisedClassifier.fit` takes. It takes the place of `graph`. Several graphs are
            added up after each has been brought to the same mean degree.
        ids : array-like of shape (n_samples,) or str, optional
            What edges call the rows: one id each, or the name of a column of X, which is then no
            feature. By default edges have the index of a frame, or the numbers of the rows.

        Returns
        -------
        self
        """
        self._check_parameters()
        check_flag("transduce", self.transduce)
        X, graph = self._rows_and_affinity(X, affinity, ids)
        labeled, known, weights = self._known_rows_of_fit(X, y, sample_weight)
        centred = bool(self.fit_intercept)
        self.origin_ = float(np.average(known, weights=weights)) if centred else 0.0
        self.spread_ = spread_of(known - self.origin_, weights)
        self._fit(X, labeled, self._coded(known), weights, SquaredError(), graph)
        self.objective_ = self.objective_ * self.spread_ * self.spread_  # may be infinite
        self._transduce(X, labeled, known)
        return self
