"""Estimators that choose their own parameters: a search, then one fit with the best ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from ..estimators.array_kinds import own_names
from .classifier import GKMClassifier
from .regressor import GKMRegressor
from .search import SearchMixin


@own_names
class GKMClassifierCV(SearchMixin, ClassifierMixin, BaseEstimator):
    """`GKMClassifier` chosen from the labelled rows.

    It searches for C, C_graph, gamma, the number of neighbours and the degree of the Laplacian.
    Every candidate sees all rows; only labels are held out. For p = 2 they are held out one at a
    time, in closed form. A whole grid then costs little more than its passes over the data, one per
    gamma and graph. Candidates without a graph (C_graph = 0) always take part.

    The criterion is the log loss of the held-out labels, at the temperature that suits the
    candidate's scores best, as in `SemiSupervisedClassifier`. The lists of values are in order of
    preference: of equal candidates the first is taken. A row that is the only one of its class is
    not held out. If fewer than eight labelled rows can be held out, the first candidate is taken:
    a graph of 6 neighbours.

    Parameters
    ----------
    estimator : GKMClassifier, optional
        Everything that is not searched. By default ``GKMClassifier()``.
    cv : int or splitter, optional
        Fit on folds instead of closed-form leave-one-out: slower, but for any p, and with the
        estimator's own loss. Rows of a fold stay in the fit without their labels. Candidates are
        judged by the mean score of the held-out labels, with sample_weight. An integer is the
        number of folds of a `graphkm.model_selection.LabeledStratifiedKFold`. For p other than 2,
        an estimator with the solver `SGD`, or a `scoring`, None means 5.
    scoring : str or callable, optional
        What is best, as in `sklearn.model_selection.GridSearchCV`: "balanced_accuracy", "f1",
        "roc_auc", "neg_log_loss" or any scorer. By default accuracy.
    random_state : int, RandomState or None, default=None
        Decides all draws; None takes the estimator's.
    n_jobs : int or None, default=None
        Threads; None takes the estimator's.

    Other Parameters
    ----------------
    Cs : list of float, optional
        Values of C. By default 10, 100, 1 and 1000 in units of 1 / k, where k is the mean value,
        over the labelled rows, of the kernel that includes the graph (for p other than 2, of the
        plain kernel).
    C_graphs : list of float, optional
        Values of C_graph; 0 is always tried too. By default the usual value of `GKMClassifier`,
        100 times that, and a hundredth of it.
    gammas : list of float or str, optional
        Values of gamma. By default "spread" with a graph, and a third, one, three and ten
        times that without.
    graphs : list of (int, int), optional
        Pairs of a number of neighbours and a degree of the Laplacian. By default (6, 2),
        (12, 4), (50, 8), (6, 1), (12, 1) and (2, 1); for `RowNewton` those of degree 1. If the
        estimator's smoothness is a `Power`, the degree is not used.
    verbose : int, default=0
        Whether progress is shown.

    Attributes
    ----------
    best_estimator_ : GKMClassifier
        Fitted with the parameters chosen.
    best_params_, best_index_, cv_results_
        As in `sklearn.model_selection.GridSearchCV`; `criterion` is what was minimised.
    best_score_ : float
        Held-out accuracy of the choice, or its `scoring`; NaN if no row could be held out. As the
        best of several scores it is a little too good.
    unlabeled_gain_ : float
        Held-out accuracy of the choice, minus that of the best candidate without a graph: the
        estimated benefit of the unlabelled rows. It may be too good, as `best_score_` is. That of
        `SemiSupervisedClassifier` is measured on labels that did not choose its weights.
    classes_, n_iter_, n_features_in_, feature_names_in_
        As in scikit-learn.
    transduction_ : ndarray of shape (n_samples,)
        Labels of the training rows.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from graphkm import GKMClassifierCV
    >>> X, truth = make_moons(300, noise=0.1, random_state=0)
    >>> y = np.full(300, -1)
    >>> y[:10] = truth[:10]
    >>> search = GKMClassifierCV(random_state=0).fit(X, y)
    >>> print(f"{search.score(X, truth):.2f}")
    0.98
    """

    _usual = GKMClassifier()

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the chosen model's f(x)."""
        check_is_fitted(self, "best_estimator_")
        return np.asarray(self.best_estimator_.decision_function(X))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the chosen model's probabilities, of shape (n, n_classes)."""
        check_is_fitted(self, "best_estimator_")
        return np.asarray(self.best_estimator_.predict_proba(X))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithms of the chosen model's probabilities."""
        check_is_fitted(self, "best_estimator_")
        return np.asarray(self.best_estimator_.predict_log_proba(X))


@own_names
class GKMRegressorCV(SearchMixin, RegressorMixin, BaseEstimator):
    """`GKMRegressor` with its parameters chosen from the rows with a known target.

    It works like `GKMClassifierCV`, but candidates are judged by the squared error of held-out
    targets. ``best_score_`` and ``unlabeled_gain_`` are coefficients of determination of fits with
    the estimator's own loss: without `cv`, on ten folds of the known targets.

    Parameters
    ----------
    estimator : GKMRegressor, optional
        Everything that is not searched. By default ``GKMRegressor()``.
    cv : int or splitter, optional
        As in `GKMClassifierCV`; an integer is the number of folds of a
        `graphkm.model_selection.LabeledKFold`.
    scoring : str or callable, optional
        As in `GridSearchCV`; by default R^2.
    random_state, n_jobs
        As in `GKMClassifierCV`.

    Other Parameters
    ----------------
    Cs, C_graphs, gammas, graphs, verbose
        As in `GKMClassifierCV`.

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
    >>> print(f"{np.abs(search.predict(X) - np.sin(X.ravel())).max():.2f}")
    0.08
    """

    _usual = GKMRegressor()
