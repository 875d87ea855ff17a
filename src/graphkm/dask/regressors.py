"""The regressors for Dask collections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.base import BaseEstimator, RegressorMixin

from .. import gkm
from ..gkm.anchored import anchored_model
from ..kernels import Kernel
from ..machines.namespaces import own_names
from .base import Distributed


@own_names
class GraphCorrectedRegressor(Distributed, RegressorMixin, BaseEstimator):
    """A regressor corrected over a graph of all rows, which lie in the partitions of a cluster.

    As `GraphCorrectedClassifier`, for quantities.

    Parameters
    ----------
    estimator : regressor, optional
        Any regressor. None is `graphkm.machines.KernelRidgeCV`, the library's own machine.
    n_anchors, passes, label_memory, random_state
        As in `GraphCorrectedClassifier`.
    Cs, epsilons, degree, cv, scoring, unlabeled
        As in `graphkm.GraphCorrectedRegressor`.

    Attributes
    ----------
    estimator_, field_, estimator_weight_, unlabeled_gain_, best_score_, best_params_
        As in `graphkm.GraphCorrectedRegressor`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from graphkm.dask import GraphCorrectedRegressor
    >>> t = np.linspace(0, 6, 300)
    >>> X = da.from_array(np.column_stack([np.cos(t), np.sin(t), t / 6]), chunks=(100, 3))
    >>> y = da.from_array(np.where(np.arange(300) % 10 == 0, t, np.nan), chunks=100)
    >>> model = GraphCorrectedRegressor(random_state=0).fit(X, y)
    >>> print(f"{abs(model.predict(X) - t).max().compute():.2f}")
    0.06
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_anchors: int | str = "auto",
        passes: int = 2,
        Cs: Sequence[float] | None = None,
        epsilons: Sequence[float] | None = None,
        degree: int = 1,
        cv: Any = None,
        scoring: Any = None,
        unlabeled: Any = None,
        label_memory: int | str = "2 GiB",
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_anchors = n_anchors
        self.passes = passes
        self.Cs = Cs
        self.epsilons = epsilons
        self.degree = degree
        self.cv = cv
        self.scoring = scoring
        self.unlabeled = unlabeled
        self.label_memory = label_memory
        self.random_state = random_state

    def local_models(self) -> list[Any]:
        """Return the local estimator with the same parameters, unfitted."""
        return [gkm.GraphCorrectedRegressor(self.estimator, **self._corrected_parameters())]


@own_names
class GKMRegressor(Distributed, RegressorMixin, BaseEstimator):
    """A kernel machine on the targets, and a field over all rows, which lie in partitions.

    As `graphkm.GKMRegressor` with ``graph=Anchors(n_anchors, passes)``, and with the same result up
    to rounding. Its parameters, the strength of the field, and whether there is one at all are
    chosen on held-out targets. `to_local` returns a `graphkm.GraphCorrectedRegressor`.

    Parameters
    ----------
    kernel, gamma, n_landmarks
        As in `GKMClassifier`.
    n_anchors, passes, scoring, label_memory, random_state
        As in `GraphCorrectedRegressor`.
    unlabeled : default=None
        As in `graphkm.GraphCorrectedRegressor`.

    Attributes
    ----------
    estimator_, field_, estimator_weight_, unlabeled_gain_, best_score_, best_params_
        As in `GraphCorrectedRegressor`.
    n_features_in_, feature_names_in_
        As in scikit-learn.
    """

    def __init__(
        self,
        *,
        kernel: str | Kernel | Any = "rbf",
        gamma: float | None = None,
        n_landmarks: int | str = "auto",
        n_anchors: int | str = "auto",
        passes: int = 2,
        scoring: Any = None,
        unlabeled: Any = None,
        label_memory: int | str = "2 GiB",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.n_landmarks = n_landmarks
        self.n_anchors = n_anchors
        self.passes = passes
        self.scoring = scoring
        self.unlabeled = unlabeled
        self.label_memory = label_memory
        self.random_state = random_state

    def local_models(self) -> list[Any]:
        """Return the local estimator with the same parameters, unfitted."""
        model = anchored_model(
            False,
            kernel=self.kernel,
            gamma=self.gamma,
            n_landmarks=self.n_landmarks,
            **self._field_parameters(),
        )
        return [model]
