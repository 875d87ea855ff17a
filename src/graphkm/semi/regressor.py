"""The front door for quantities."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils import check_consistent_length

from ..estimators.array_kinds import own_names
from ..estimators.given_rows import require_labels, weights_to_score
from ..estimators.targets import known_targets
from ..judge.columns import r_squared
from ..judge.mixture import Verdict
from ..members import Known
from ..members.of_all_rows import check_kind
from .base import SemiSupervised
from .label_tables import is_table, table_of
from .target import Target
from .training import Training
from .views import unmeasured


@own_names
class SemiSupervisedRegressor(RegressorMixin, SemiSupervised):
    """A regressor that learns from few targets and many rows without one.

    It is to quantities what `SemiSupervisedClassifier` is to classes. Each member is a normal
    distribution around its prediction. Held-out targets decide how much each member counts. A
    prediction is the mean of the mixture.

    Parameters
    ----------
    estimator : "auto", regressor, list of regressors or None, default="auto"
        The models of the labelled rows. "auto" takes kernel ridge, ridge regression, a forest,
        extra trees and boosting; only the first two for wide sparse rows. None takes no model.
        Models that you pass learn y as it is; all other members learn it in units of its spread.
    graph, views, unlabeled, cv, random_state, n_jobs, verbose
        As in `SemiSupervisedClassifier`. By default only NaN and the like mark unknown targets.

    Attributes
    ----------
    members_ : MemberTable
        Name, weight, held-out R^2 and log loss of every member; it prints as a table.
    best_score_ : float
        R^2 of the mixture on held-out targets. The weights for the targets of one fold come from
        the other folds.
    unlabeled_gain_ : float
        `best_score_` minus that of a mixture of the members that did not see unlabelled rows.
    held_out_, told_ : ndarray of shape (n_labeled,) or (n_labeled, n_columns)
        Quantities of the labelled rows: from fits that did not see them, and as given.
    labeled_, told_weights_, evidence_, mixture_, transduction_, n_features_in_, feature_names_in_
        As in `SemiSupervisedClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from graphkm import SemiSupervisedRegressor
    >>> X = np.linspace(0, 6, 200)[:, None]
    >>> y = np.where(np.arange(200) % 10 == 0, np.sin(X[:, 0]), np.nan)
    >>> model = SemiSupervisedRegressor(random_state=0).fit(X, y)
    >>> print(f"{model.score(X, np.sin(X[:, 0])):.2f}")
    1.00
    """

    def __init__(
        self,
        estimator: Any = "auto",
        *,
        graph: Any = "auto",
        views: Any = None,
        unlabeled: Any = None,
        cv: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            estimator,
            graph=graph,
            views=views,
            unlabeled=unlabeled,
            cv=cv,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )

    def _check_model(self, model: Any) -> None:
        check_kind(model, classes=False)

    def _encode(self, y: Any, rows: Any, counts: NDArray[np.bool_]) -> Target:
        values = self._table(y)
        check_consistent_length(rows, values)
        labeled = np.flatnonzero(~np.isnan(values).all(axis=1) & counts)
        require_labels(labeled, len(values), self.unlabeled)
        return Target(labeled, values[labeled], "quantities")

    def _finish(
        self, verdict: Verdict, training: Training, looked_at: Training, known: Known
    ) -> None:
        self.mixture_ = replace(self.mixture_, units=known.units)

    def _table(self, y: Any) -> NDArray[np.float64]:
        """Return targets with a column for each quantity, NaN where one is not known."""
        if is_table(y):
            return table_of(y, self.unlabeled).values
        mask, known = known_targets(y, self.unlabeled)
        values = np.full((len(mask), 1), np.nan)
        values[mask, 0] = known
        return values

    def _answers(self, found: NDArray[np.float64]) -> NDArray[Any]:
        return found[:, 0].copy() if found.shape[1] == 1 else found

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that a row may have several targets."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def score(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        affinity: Any = None,
        ids: Any = None,
    ) -> float:
        """Return R^2 on the rows of (X, y) that have a target."""
        targets = self._table(y)
        labeled = np.asarray(~np.isnan(targets).all(axis=1))
        weights = weights_to_score(targets if unmeasured(X) else X, labeled, sample_weight)
        found = self._mixed(X, affinity, ids)[labeled]
        told = ~np.isnan(targets[labeled])
        cells = told * (1.0 if weights is None else weights[:, None])
        return r_squared(found, np.where(told, targets[labeled], 0.0), cells)
