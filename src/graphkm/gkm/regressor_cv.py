"""Regression with parameters chosen from the rows with a known target."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sklearn.base import BaseEstimator, RegressorMixin

from ..kernels import Kernel
from ..losses import Loss
from .regressor import GKMRegressor
from .search_cv import SearchMixin


class GKMRegressorCV(SearchMixin, RegressorMixin, BaseEstimator):
    """`GKMRegressor` with its parameters chosen from the rows with a known target.

    As `GKMClassifierCV`; candidates are judged by the squared error of the targets held out.
    `best_score_` and `unlabeled_gain_` are coefficients of determination of the model itself,
    with its own loss: without `cv` on ten folds of the known targets.

    Parameters
    ----------
    Cs, C_graphs, gammas, graphs
        As in `GKMClassifierCV`.
    cv : int or splitter, optional
        As in `GKMClassifierCV`; an integer is the number of folds of a
        `graphkm.model_selection.LabeledKFold`.
    loss, p, kernel, graph, radius, graph_gamma, neighbors, laplacian, n_landmarks
        As in `GKMRegressor`.
    landmarks, smoothing, tol, max_iter, fit_intercept, unlabeled, precision
        As in `GKMRegressor`.
    random_state, n_jobs, verbose
        As in `GKMRegressor`.

    Attributes
    ----------
    best_estimator_, best_params_, best_index_, best_score_, cv_results_, unlabeled_gain_
        As in `GKMClassifierCV`.
    n_iter_, n_features_in_, feature_names_in_, transduction_
        As in `GKMRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from graphkm import GKMRegressorCV
    >>> X = np.linspace(0, 6, 121)[:, None]
    >>> y = np.where(np.arange(121) % 10 == 0, np.sin(X.ravel()), np.nan)
    >>> search = GKMRegressorCV(random_state=0).fit(X, y)
    >>> bool(np.abs(search.predict(X) - np.sin(X.ravel())).max() < 0.3)
    True
    """

    def __init__(
        self,
        *,
        Cs: Sequence[float] | None = None,
        C_graphs: Sequence[float] | None = None,
        gammas: Sequence[float | str] | None = None,
        graphs: Sequence[tuple[int, int]] | None = None,
        cv: Any = None,
        loss: str | Loss = "epsilon_insensitive",
        p: float = 2,
        kernel: str | Kernel | Callable[[Any, Any], Any] = "rbf",
        graph: str = "knn",
        radius: float | None = None,
        graph_gamma: float | str | None = "auto",
        neighbors: str = "auto",
        laplacian: str = "auto",
        n_landmarks: int | str = "auto",
        landmarks: str = "uniform",
        smoothing: str = "auto",
        tol: float = 1e-6,
        max_iter: int | str = "auto",
        fit_intercept: bool = True,
        unlabeled: float | None = None,
        precision: str = "single",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self._keep(locals())

    def _new_template(self) -> GKMRegressor:
        return GKMRegressor()
