"""The front door for quantities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils import check_consistent_length

from ..estimators.array_kinds import own_names
from ..estimators.given_rows import require_labels, weights_to_score
from ..estimators.targets import known_targets
from ..judge.folds import Splitter
from ..judge.mixture import Verdict, judge_quantities, r_squared
from ..members import Known, Member
from ..members.of_all_rows import check_kind
from .base import SemiSupervised
from .odds import labels_only, odds_of
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
    mixture_, transduction_, n_features_in_, feature_names_in_
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

    def _encode(
        self, y: Any, rows: Any, counts: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[Any]]:
        mask, known = known_targets(y, self.unlabeled)
        check_consistent_length(rows, mask)
        labeled = np.flatnonzero(mask & counts)
        require_labels(labeled, len(mask), self.unlabeled)
        return labeled, known[counts[mask]]

    def _splitter(self, known: NDArray[Any], seed: int) -> Splitter:
        from sklearn.model_selection import KFold  # slow to import

        return lambda n: KFold(n, shuffle=True, random_state=seed) if n <= len(known) else None

    def _judge(self, members: Sequence[Member], known: Known) -> Verdict:
        held = np.array([member.held[:, 0] for member in members])
        odds = odds_of(members, known)
        without = [member.without for member in members]
        about = (known.y, known.weights, odds, known.folds)
        return judge_quantities(held, *about, without, labels_only(members))

    def _prior(self, known: Known) -> NDArray[np.float64]:
        return np.atleast_1d(np.average(known.y, weights=known.weights))

    def _answers(self, found: NDArray[np.float64]) -> NDArray[Any]:
        return found[:, 0].copy()

    def score(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        affinity: Any = None,
        ids: Any = None,
    ) -> float:
        """Return R^2 on the rows of (X, y) that have a target."""
        labeled, targets = known_targets(y, self.unlabeled)
        weights = weights_to_score(targets if unmeasured(X) else X, labeled, sample_weight)
        ones = np.ones(len(targets))
        found = self.predict(X, affinity, ids)[labeled]
        return r_squared(found, targets, ones if weights is None else weights)
