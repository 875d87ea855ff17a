"""Regression from few targets and many rows without one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from ..kernels import Kernel
from ..losses import Loss, resolve_loss
from ..solvers import Progress
from .base import Problem
from .settings import check_parameters
from .stream_checks import can_stream
from .streaming import StreamingGKM
from .targets import KernelRegressor


class GKMRegressor(KernelRegressor, StreamingGKM):
    """Kernel regression that is smooth over a graph of all rows, with or without a target.

    The objective is that of `GKMClassifier`, with a loss of the residual. With an intercept,
    f is learnt around the median of the known targets, so that the regularised constant has
    to carry only what is left.

    Parameters
    ----------
    C : float or "auto", default="auto"
        As in `GKMClassifier`.
    C_graph : float, "auto" or "guaranteed", default="auto"
        As in `GKMClassifier`; "auto" is 10 / l for the Newton solver at p = 2 (50 n / l with
        smoothing="rows"), and 0.01 otherwise.
    p, kernel, gamma, graph, n_neighbors, radius, graph_gamma, neighbors
        As in `GKMClassifier`.
    laplacian, laplacian_degree, solver, n_landmarks, landmarks, smoothing, tol
        As in `GKMClassifier`.
    steps_per_row, reservoir_size, half_life, budget, budget_rule
        As in `GKMClassifier`.
    edge_sampling, step, max_iter, precision, random_state, n_jobs, verbose, callback
        As in `GKMClassifier`.
    fit_intercept : bool, default=True
        Add 1 to the kernel, and learn f around the median of the known targets.
    loss : {"epsilon_insensitive", "l1"} or Loss, default="epsilon_insensitive"
        Loss of the known targets; `graphkm.losses.EpsilonInsensitive` sets another epsilon
        than 0.1.
    unlabeled : float or None, default=None
        A mark of unknown targets beside NaN, None and NA, which always count as unknown.

    Attributes
    ----------
    support_, support_vectors_, dual_coef_, intercept_, objective_, C_, guarantee_, kernel_
        As in `GKMClassifier`.
    transduction_ : ndarray of shape (n_samples,)
        Targets of the training rows, predicted when asked for from X as it is then; given
        targets are kept.
    n_iter_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from graphkm import GKMRegressor
    >>> X = np.linspace(0, 6, 121)[:, None]
    >>> y = np.where(np.arange(121) % 10 == 0, np.sin(X.ravel()), np.nan)
    >>> reg = GKMRegressor(C=10, random_state=0).fit(X, y)
    >>> bool(np.abs(reg.predict(X) - np.sin(X.ravel())).max() < 0.3)
    True
    """

    def __init__(
        self,
        C: float | str = "auto",
        C_graph: float | str = "auto",
        *,
        loss: str | Loss = "epsilon_insensitive",
        p: float = 2,
        kernel: str | Kernel | Callable[[Any, Any], Any] = "rbf",
        gamma: float | str = "spread",
        graph: str = "knn",
        n_neighbors: int | str = "auto",
        radius: float | None = None,
        graph_gamma: float | str | None = "auto",
        neighbors: str = "auto",
        laplacian: str = "auto",
        laplacian_degree: int | str = "auto",
        solver: str = "auto",
        n_landmarks: int | str = "auto",
        landmarks: str = "uniform",
        smoothing: str = "auto",
        tol: float = 1e-6,
        edge_sampling: str = "uniform",
        step: str = "implicit",
        max_iter: int | str = "auto",
        steps_per_row: float | str = "auto",
        reservoir_size: int = 2000,
        half_life: float | None = None,
        budget: int | None = None,
        budget_rule: str = "auto",
        fit_intercept: bool = True,
        unlabeled: float | None = None,
        precision: str = "single",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[Progress], Any] | None = None,
    ) -> None:
        super().__init__(
            C,
            C_graph,
            loss=loss,
            p=p,
            kernel=kernel,
            gamma=gamma,
            graph=graph,
            n_neighbors=n_neighbors,
            radius=radius,
            graph_gamma=graph_gamma,
            neighbors=neighbors,
            laplacian=laplacian,
            laplacian_degree=laplacian_degree,
            solver=solver,
            n_landmarks=n_landmarks,
            landmarks=landmarks,
            smoothing=smoothing,
            tol=tol,
            edge_sampling=edge_sampling,
            step=step,
            max_iter=max_iter,
            steps_per_row=steps_per_row,
            reservoir_size=reservoir_size,
            half_life=half_life,
            budget=budget,
            budget_rule=budget_rule,
            fit_intercept=fit_intercept,
            unlabeled=unlabeled,
            precision=precision,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
            callback=callback,
        )

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, affinity: Any = None) -> Self:
        """Learn from rows with and without a target.

        Parameters
        ----------
        X : array, frame or CSR matrix of shape (n_samples, n_features)
            All rows; kernel values between them for kernel="precomputed".
        y : array-like of shape (n_samples,)
            Targets; NaN, None or NA where unknown.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of C per row; those of rows without a target have no effect.
        affinity : sparse matrix of shape (n_samples, n_samples), optional
            Edge weights for graph="precomputed".

        Returns
        -------
        self
        """
        return self._solve(self._encode(X, y, sample_weight), affinity=affinity)

    @available_if(can_stream)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from the next rows of a stream: see `StreamingGKM`.

        With an intercept, f is learnt around the median target of the first chunk that holds
        one.

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
            coded = self._encode_more(rows, y, sample_weight)
            return self._learn_more(rows, *coded, resolve_loss(self.loss, "regression"))

    def _encode(self, X: Any, y: Any, sample_weight: Any) -> Problem:
        """Check all that was passed, and take the targets about their median."""
        check_parameters(self)
        loss = resolve_loss(self.loss, "regression")
        X = self._validate_rows(X, reset=True)
        labeled, known = self._known_targets(y)
        self._check_labels(X, labeled)
        weights = self._validate_weights(sample_weight, X, labeled)
        self._origin = float(np.median(known)) if self.fit_intercept else 0.0
        return Problem(X, labeled, known, (known - self._origin)[:, None], weights, loss)

    def _solve(self, problem: Problem, **given: Any) -> Self:
        self._fit(problem, **given)
        self.intercept_ = self.intercept_ + self._origin
        self._given = (np.flatnonzero(problem.labeled), problem.known)
        return self

    @staticmethod
    def _default_costs(newton: bool, smoothing: str, n: int, n_labeled: int) -> tuple[float, float]:
        """Return C and C_graph; `newton`, at p = 2, has C in units of the smoothed kernel.

        At any other p a graph as strong as that would flatten f.
        """
        if not newton:
            return 1.0, 0.01
        return (10.0, 50.0 * n / n_labeled) if smoothing == "rows" else (10.0, 10.0 / n_labeled)
