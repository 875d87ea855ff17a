"""The front door for quantities, for Dask collections."""

from __future__ import annotations

from typing import Any

from sklearn.base import RegressorMixin

from .. import semi
from ..estimators.array_kinds import own_names
from ..estimators.nested_parameters import Composed
from .base import Distributed


@own_names
class SemiSupervisedRegressor(Distributed, RegressorMixin, Composed):
    """A regressor that learns from few targets and many rows without one, which lie in partitions.

    It gives the result of `graphkm.SemiSupervisedRegressor` with ``graph=Anchors(...)``, up to
    rounding.

    Parameters
    ----------
    estimator, cv
        As in `graphkm.SemiSupervisedRegressor`. Models that learn from unlabelled rows are refused.
    graph, views, label_memory, random_state, verbose
        As in `SemiSupervisedClassifier`.
    unlabeled : default=None
        The mark of rows without a target in y, beside NaN, None and NA; None means that nothing
        else marks them.

    Attributes
    ----------
    members_, best_score_, unlabeled_gain_
        As in `graphkm.SemiSupervisedRegressor`.
    transduction_
        Targets of the training rows, after a fit with an affinity alone.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from graphkm.dask import SemiSupervisedRegressor
    >>> t = np.linspace(0, 6, 300)
    >>> X = da.from_array(np.column_stack([np.cos(t), np.sin(t), t / 6]), chunks=(100, 3))
    >>> y = da.from_array(np.where(np.arange(300) % 10 == 0, t, np.nan), chunks=100)
    >>> model = SemiSupervisedRegressor(random_state=0).fit(X, y)
    >>> print(f"{abs(model.predict(X) - t).max().compute():.1f}")
    0.0
    """

    def __init__(
        self,
        estimator: Any = "auto",
        *,
        graph: Any = "auto",
        views: Any = None,
        unlabeled: Any = None,
        cv: Any = None,
        label_memory: int | str = "2 GiB",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            estimator,
            graph=graph,
            views=views,
            unlabeled=unlabeled,
            cv=cv,
            label_memory=label_memory,
            random_state=random_state,
            verbose=verbose,
        )

    def _local_kind(self) -> Any:
        return semi.SemiSupervisedRegressor
