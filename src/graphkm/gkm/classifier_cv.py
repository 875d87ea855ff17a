"""Classification with parameters chosen from the labelled rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..kernels import Kernel
from ..losses import Loss
from .classifier import GKMClassifier
from .search_cv import SearchMixin


def _has_probabilities(search: Any) -> bool:
    return hasattr(GKMClassifier(loss=search.loss), "predict_proba")


class GKMClassifierCV(SearchMixin, ClassifierMixin, BaseEstimator):
    """`GKMClassifier` with its parameters chosen from the labelled rows.

    Every candidate sees all rows; labels alone are held out. For p = 2 they are held out one
    at a time, in closed form, and a whole grid costs little more than its passes over the
    data: one per gamma and graph. Candidates without a graph (C_graph = 0) always take part,
    so that "the unlabelled rows do not help here" is a possible answer.

    The criterion counts errors, averaged over rows and over classes. With five labels or more
    in every class, what errors leave open is decided by agreement: fits on random halves of
    the labels should say the same of the unlabelled rows. With fewer, it is decided by the
    squared error of the held-out scores. Candidates under which a class all but vanishes from
    the unlabelled rows lose. A graph must cut the held-out error by about a twentieth to be
    preferred to none, and a small price is paid for every step down the lists of values, which
    are in order of preference: it decides among a handful of labels. A row that is its class's
    only one is passed over; if fewer than eight remain, the first candidate is taken: a graph
    of 6 neighbours.

    Parameters
    ----------
    Cs : list of float, optional
        Values of C. By default 10 and 100 (without a graph from 0.1 to 1000) in units of 1 / k,
        where k is the mean kernel value of the labelled rows with the graph inside the kernel
        (for p other than 2, without it).
    C_graphs : list of float, optional
        Values of C_graph; 0 is always tried too. By default 1e3, 1e5 and 1e7 divided by the
        number of labelled rows; where smoothing is that of rows, 5, 50 and 500 times the
        number of rows divided by that of labelled rows.
    gammas : list of float or str, optional
        Values of gamma. By default "spread" with a graph, and a third, one, three and ten
        times that without.
    graphs : list of (int, int), optional
        Pairs of n_neighbors and laplacian_degree. By default (6, 2), (12, 4), (50, 8), (4, 1)
        and (2, 1); where smoothing is that of rows, (6, 1), (12, 1) and (3, 1).
    cv : int or splitter, optional
        Fit on folds, for any p and with the loss itself, instead of closed-form
        leave-one-out: slower. Rows of a fold stay in the fit without their labels; candidates
        are judged by the mean score, with sample_weight, of the labels held out. An integer is
        the number of folds of a `graphkm.model_selection.LabeledStratifiedKFold`. For p other
        than 2 None means 5.
    loss, p, kernel, graph, radius, graph_gamma, neighbors, laplacian, n_landmarks
        As in `GKMClassifier`.
    landmarks, smoothing, tol, max_iter, fit_intercept, class_weight, unlabeled, precision
        As in `GKMClassifier`.
    random_state, n_jobs
        As in `GKMClassifier`.
    verbose : int, default=0
        Whether progress is shown.

    Attributes
    ----------
    best_estimator_ : GKMClassifier
        Fitted with the parameters chosen.
    best_params_, best_index_, cv_results_
        As in `sklearn.model_selection.GridSearchCV`; `criterion` is what was minimised.
    best_score_ : float
        Held-out accuracy of the choice; NaN if no row could be held out.
    unlabeled_gain_ : float
        Held-out accuracy of the choice, less that of the best candidate without a graph: what
        the unlabelled rows are thought to have bought.
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
    >>> bool(search.score(X, truth) > 0.95)
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
        loss: str | Loss = "hinge",
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
        fit_intercept: bool = False,
        class_weight: dict[Any, float] | str | None = "balanced",
        unlabeled: Any = -1,
        precision: str = "single",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self._keep(locals())

    def _new_template(self) -> GKMClassifier:
        return GKMClassifier()

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the chosen model's f(x)."""
        check_is_fitted(self, "best_estimator_")
        return np.asarray(self.best_estimator_.decision_function(X))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the chosen model's probabilities; for loss="logistic"."""
        check_is_fitted(self, "best_estimator_")
        return np.asarray(self.best_estimator_.predict_proba(X))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithms of the chosen model's probabilities; for loss="logistic"."""
        check_is_fitted(self, "best_estimator_")
        return np.asarray(self.best_estimator_.predict_log_proba(X))
