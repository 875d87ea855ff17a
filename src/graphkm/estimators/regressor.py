"""Regression from few targets and many rows without one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from ..kernels import Kernel
from ..losses import Loss, resolve_loss
from ..solvers import Progress
from .base import BaseGKM
from .labels import as_label_array, labeled_mask, missing_mask


class GKMRegressor(RegressorMixin, BaseGKM):
    """Kernel regression that is smooth over a graph of all rows, with or without a target.

    The objective is that of `GKMClassifier`, with a loss of the residual. With an intercept,
    f is learnt around the median of the known targets, so that the regularised constant has
    to carry only what is left.

    Parameters
    ----------
    C, C_graph, p, kernel, gamma, graph, n_neighbors, radius, graph_gamma, edge_sampling
        As in `GKMClassifier`.
    step, max_iter, fit_intercept, precision, random_state, n_jobs, verbose, callback
        As in `GKMClassifier`.
    loss : {"epsilon_insensitive", "l1"} or Loss, default="epsilon_insensitive"
        Loss of the known targets; `graphkm.losses.EpsilonInsensitive` sets another epsilon
        than 0.1.
    unlabeled : float or None, default=None
        A mark of unknown targets beside NaN, None and NA, which always count as unknown.

    Attributes
    ----------
    support_, support_vectors_, dual_coef_, intercept_, objective_, guarantee_, kernel_
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
        C: float = 1.0,
        C_graph: float | str = 0.01,
        *,
        loss: str | Loss = "epsilon_insensitive",
        p: float = 2,
        kernel: str | Kernel | Callable[[Any, Any], Any] = "rbf",
        gamma: float | str = "scale",
        graph: str = "knn",
        n_neighbors: int = 10,
        radius: float | None = None,
        graph_gamma: float | None = None,
        edge_sampling: str = "uniform",
        step: str = "implicit",
        max_iter: int | str = "auto",
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
            edge_sampling=edge_sampling,
            step=step,
            max_iter=max_iter,
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
        self._check_parameters()
        loss = resolve_loss(self.loss, "regression")
        X = self._validate_rows(X, reset=True)
        labeled, known = self._known_targets(y)
        self._check_labels(X, labeled)
        weights = self._validate_weights(sample_weight, X, labeled)
        self._origin = float(np.median(known)) if self.fit_intercept else 0.0
        self._fit(X, labeled, (known - self._origin)[:, None], weights, loss, affinity)
        self.intercept_ = self.intercept_ + self._origin
        self._given = (np.flatnonzero(labeled), known)
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the target of every row of X."""
        return self._scores(X)[:, 0] + self._origin

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the coefficient of determination on the rows of (X, y) with a target."""
        from sklearn.metrics import r2_score  # as RegressorMixin does: it is slow to import

        labeled, known = self._known_targets(y)
        weights = self._weights_to_score(X, labeled, sample_weight)
        return float(r2_score(known, self.predict(X)[labeled], sample_weight=weights))

    @property
    def transduction_(self) -> NDArray[np.float64]:
        """Targets of the training rows."""
        X = self._kept_rows()
        targets = self._f.scores(X)[:, 0] + self._origin
        rows, given = self._given
        targets[rows] = given
        return targets

    def _known_targets(self, y: Any) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        values = as_label_array(y)
        if values.dtype.kind not in "biuf":
            try:
                known = np.where(missing_mask(values), np.nan, values.astype(object))
                values = known.astype(np.float64)
            except (TypeError, ValueError) as error:
                raise ValueError(f"y must hold numbers for regression: {error}") from None
        labeled = labeled_mask(values, self.unlabeled)
        known = values[labeled].astype(np.float64)
        if not np.isfinite(known).all():
            raise ValueError("Input y contains infinity; mark unknown targets with NaN.")
        return labeled, known
