"""Regression from few targets and many rows without one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from .._util.parameters import check_flag
from ..estimators.array_kinds import own_names
from ..estimators.targets import KernelRegressor, spread_of, weighted_quantile
from ..graphs import GraphPart
from ..kernels import Kernel
from ..losses import Loss, resolve_loss
from ..smoothness import SmoothnessPart
from ..solvers import Progress, Solver
from .base import Problem
from .partial_fits import StreamingGKM, can_stream
from .plan import check_parameters

_ENOUGH = 10  # targets that give the spread of a stream well enough


@own_names
class GKMRegressor(KernelRegressor, StreamingGKM):
    """Kernel regression that is smooth over a graph of all rows, with or without a target.

    The objective is that of `GKMClassifier`, with a loss of the residual. The model learns
    ``(y - origin_) / spread_``, so that the units of y do not matter: C, the loss's epsilon and
    ``objective_`` are in units of the targets' spread. Predictions, ``dual_coef_`` and
    ``intercept_`` are in the units of y.

    Parameters
    ----------
    C : float, "auto" or text, default="auto"
        As in `GKMClassifier`.
    C_graph : float, "auto", "guaranteed" or text, default="auto"
        As in `GKMClassifier`; "auto" is 10 / l for `Newton` at p = 2 with a graph that lists its
        edges, 50 n / l for `RowNewton`, and 0.01 otherwise (0.001 for a normalised smoothness at
        another p).
    kernel, gamma, graph, random_state, n_jobs
        As in `GKMClassifier`.
    unlabeled : float or None, default=None
        A further mark of unknown targets. NaN, None and NA always count as unknown.

    Other Parameters
    ----------------
    loss : {"epsilon_insensitive", "l1"} or Loss, default="epsilon_insensitive"
        Loss of the known targets; `graphkm.losses.EpsilonInsensitive` sets another epsilon
        than 0.1 spreads.
    solver : {"auto", "newton", "row_newton", "sgd", "sums"} or Solver, default="auto"
        As in `GKMClassifier`, but "auto" never takes `RowNewton`, whose predictions far from all
        known targets shrink towards ``origin_``. `SGD` takes 100,000 steps, or a fifth of the rows
        if that is more.
    fit_intercept : bool, default=True
        Add 1 to the kernel, and learn f around the median of the known targets instead of 0.
    standardize : bool, default=True
        False learns y itself instead of ``(y - origin_) / spread_``, as the paper does.
    smoothness, precision, transduce, verbose, callback
        As in `GKMClassifier`.

    Attributes
    ----------
    support_, support_vectors_, dual_coef_, intercept_, kernel_
        As in `GKMClassifier`.
    field_ : Field or None
        The rows' scores after `RowNewton`, in units of the targets' spread.
    objective_, C_, guarantee_
        As in `GKMClassifier`, of the problem whose targets are ``(y - origin_) / spread_``.
    origin_, spread_ : float
        The median of the known targets (0 without an intercept), and their spread around it:
        four of five are within 1.28 spreads. For normal targets the spread is the standard
        deviation. Rows count by their weights. If all targets are equal, the spread is 1.
    transduction_ : ndarray of shape (n_samples,)
        Targets of the training rows; given targets are kept.
    n_iter_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from graphkm import GKMRegressor
    >>> X = np.linspace(0, 6, 121)[:, None]
    >>> y = np.where(np.arange(121) % 10 == 0, np.sin(X.ravel()), np.nan)
    >>> reg = GKMRegressor(C=10, random_state=0).fit(X, y)
    >>> print(f"{np.abs(reg.predict(X) - np.sin(X.ravel())).max():.2f}")
    0.08
    """

    _published: ClassVar[dict[str, Any]] = {"standardize": False}

    def __init__(
        self,
        C: float | str = "auto",
        C_graph: float | str = "auto",
        *,
        loss: str | Loss = "epsilon_insensitive",
        kernel: str | Kernel | Callable[[Any, Any], Any] = "rbf",
        gamma: float | str = "spread",
        graph: str | GraphPart = "knn",
        smoothness: float | str | SmoothnessPart = "auto",
        solver: str | Solver = "auto",
        fit_intercept: bool = True,
        standardize: bool = True,
        unlabeled: float | None = None,
        precision: str = "single",
        transduce: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[Progress], Any] | None = None,
    ) -> None:
        self.C = C
        self.C_graph = C_graph
        self.loss = loss
        self.kernel = kernel
        self.gamma = gamma
        self.graph = graph
        self.smoothness = smoothness
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.unlabeled = unlabeled
        self.precision = precision
        self.transduce = transduce
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def fit(
        self,
        X: Any,
        y: Any = None,
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
            Factors of C per row; those of rows without a target have no effect. A target of
            weight 0 counts for nothing, and `transduction_` does not give it back.
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
        return self.learn(self.encode(X, y, sample_weight, affinity, ids))

    @available_if(can_stream)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from the next rows of a stream: see `StreamingGKM`.

        The origin comes from the first chunk that holds a target. Every chunk computes the spread
        again from all targets so far, until there are ten or more. Then the spread stays.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`; a chunk may hold no target.

        Returns
        -------
        self
        """
        with self._all_or_nothing():
            rows = self._next_rows(X)
            labeled, known, weights = self._known_rows(rows, y, sample_weight)
            self._measure_stream(known, weights)
            loss = resolve_loss(self.loss, "regression")
            return self._learn_more(rows, labeled, self._coded(known), weights, loss)

    def _measure_stream(self, known: NDArray[np.float64], weights: NDArray[np.float64]) -> None:
        """Take the units from a stream's first targets."""
        if not hasattr(self, "stream_"):
            self.origin_, self.spread_ = 0.0, 1.0
        if not check_flag("standardize", self.standardize):
            return
        seen = self.stream_.n_labels if hasattr(self, "stream_") else 0
        if seen >= _ENOUGH or not len(known):
            return
        if not seen:
            self._measure(known, weights)
            return
        # The function learnt so far stays the same; its numbers change to the new units.
        before, (targets, earlier) = self.spread_, self.stream_.known_targets()
        deviations = [before * targets[:, 0], known - self.origin_]
        self.spread_ = spread_of(np.concatenate(deviations), np.concatenate([earlier, weights]))
        self.stream_.rescale(before / self.spread_)

    def _measure(self, known: NDArray[np.float64], weights: NDArray[np.float64]) -> None:
        """Set the units in which these targets are learnt."""
        self.origin_, self.spread_ = 0.0, 1.0
        if not check_flag("standardize", self.standardize):
            return
        self.origin_ = weighted_quantile(known, weights, 0.5) if self.fit_intercept else 0.0
        self.spread_ = spread_of(known - self.origin_, weights)

    def encode(
        self, X: Any, y: Any, sample_weight: Any, affinity: Any = None, ids: Any = None
    ) -> Problem:
        """Check the input, and express the targets in units of their spread."""
        check_parameters(self)
        loss = resolve_loss(self.loss, "regression")
        X, graph = self._rows_and_affinity(X, affinity, ids)
        labeled, known, weights = self._known_rows_of_fit(X, y, sample_weight)
        self._measure(known, weights)
        return Problem(X, labeled, known, self._coded(known), weights, loss, graph)

    def learn(self, problem: Problem, **given: Any) -> Self:
        """Fit to a problem that `encode` returned."""
        self.fit_problem(problem, **given)
        self._transduce(problem.X, problem.labeled, problem.known)
        return self
