"""Estimators that choose their own parameters, and tell what the unlabelled rows bought."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_regressor
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..kernels import Kernel, Precomputed
from ..losses import Loss
from .base import BaseGKM
from .classifier import GKMClassifier
from .parameters import check_count, check_number
from .regressor import GKMRegressor
from .search import ClosedForm, Folds, Grid, progress

_SEARCHED = ("Cs", "C_graphs", "gammas", "graphs", "cv")


class _SearchMixin:
    """Search, then one fit with what was found; predictions and scores are that fit's.

    It comes before scikit-learn's mixins, whose `score` would count unlabelled rows.
    """

    best_estimator_: Any
    get_params: Any
    cv: Any
    p: float
    kernel: Any
    random_state: Any
    verbose: int

    def _new_template(self) -> BaseGKM:
        raise NotImplementedError

    def _template(self) -> BaseGKM:
        own = {k: v for k, v in self.get_params(deep=False).items() if k not in _SEARCHED}
        # The search and the fit after it must see the same landmarks.
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        return self._new_template().set_params(**{**own, "random_state": int(seed)})

    def _fit(self, X: Any, y: Any, sample_weight: Any, affinity: Any) -> Self:
        template = self._template()
        grid = self._grid()
        closed = self.cv is None and self.p == 2
        if self.p == 2:
            template.set_params(solver="newton")  # the one that iterates the Laplacian
        problem = template._encode(X, y, sample_weight)
        kernel = template._resolve_kernel(problem.X, np.dtype(np.float64))
        wanted = not problem.labeled.all() and (grid.C_graphs is None or any(grid.C_graphs))
        template._check_graph(kernel, affinity, wanted=wanted)
        for name in ("classes_", "n_features_in_", "feature_names_in_"):
            if hasattr(template, name):
                setattr(self, name, getattr(template, name))
        search: ClosedForm | Folds
        if closed:
            search = ClosedForm(template, problem, grid, affinity)
        else:
            if affinity is not None or sample_weight is not None or isinstance(kernel, Precomputed):
                raise ValueError(
                    "Fits on folds (cv, or p other than 2) do not cut sample_weight, an affinity "
                    "or a precomputed kernel; leave them out, or pass cv=None and p=2."
                )
            search = Folds(template, grid, self._splitter(), problem.X, np.asarray(y))
            if is_regressor(template) and min(len(test) for _, test in search.splits) < 2:
                raise ValueError(
                    f"A fold of the {len(problem.targets)} known targets holds a single one, of "
                    "which there is no R^2; pass a smaller cv."
                )
        with progress(search, self.verbose) as candidates:
            self._choose(list(candidates))
        template.set_params(**self.best_params_)
        self.best_estimator_ = template._solve(
            problem, affinity=affinity, neighbours=search.neighbours
        )
        self.n_iter_ = template.n_iter_
        return self

    def _choose(self, judged: list[tuple[dict[str, Any], Any]]) -> None:
        losses = np.array([judgement.loss for _, judgement in judged])
        scores = np.array([judgement.score for _, judgement in judged])
        self.best_index_ = int(np.argmin(losses))
        self.best_params_ = judged[self.best_index_][0]
        self.best_score_ = float(scores[self.best_index_])
        alone = np.array([candidate["C_graph"] == 0 for candidate, _ in judged])
        without = int(np.flatnonzero(alone)[np.argmin(losses[alone])])
        self.unlabeled_gain_ = float(scores[self.best_index_] - scores[without])
        names = dict.fromkeys(name for candidate, _ in judged for name in candidate)
        self.cv_results_ = {
            f"param_{name}": np.ma.masked_invalid(
                [float(candidate.get(name, np.nan)) for candidate, _ in judged]
            )
            for name in names
        } | {
            "params": [candidate for candidate, _ in judged],
            "mean_test_score": scores,
            "criterion": losses,
            "rank_test_score": 1 + np.argsort(np.argsort(losses, kind="stable"), kind="stable"),
        }

    def _grid(self) -> Grid:
        values = {name: getattr(self, name) for name in _SEARCHED[:-1]}
        for name in ("Cs", "C_graphs"):
            if values[name] is not None:
                values[name] = [
                    check_number(name, value, least=0, strictly=name == "Cs")
                    for value in _listed(name, values[name])
                ]
        if values["gammas"] is not None:
            values["gammas"] = [
                check_number("gammas", v, least=0, strictly=True, words=("spread", "scale", "auto"))
                for v in _listed("gammas", values["gammas"])
            ]
        if values["graphs"] is not None:
            values["graphs"] = [_graph_kind(pair) for pair in _listed("graphs", values["graphs"])]
        return Grid(**values)

    def _splitter(self) -> Any:
        raise NotImplementedError

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the prediction of the chosen model for every row of X."""
        check_is_fitted(self, "best_estimator_")
        return np.asarray(self.best_estimator_.predict(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the chosen model's score on the labelled rows of (X, y)."""
        check_is_fitted(self, "best_estimator_")
        return float(self.best_estimator_.score(X, y, sample_weight))

    @property
    def transduction_(self) -> NDArray[Any]:
        """Labels or targets of the training rows."""
        check_is_fitted(self, "best_estimator_")
        return np.asarray(self.best_estimator_.transduction_)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what the estimator takes: what its model takes."""
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        model = self._new_template().set_params(kernel=self.kernel)
        tags.input_tags = model.__sklearn_tags__().input_tags
        tags.target_tags.required = True
        return tags


def _has_probabilities(search: Any) -> bool:
    return hasattr(GKMClassifier(loss=search.loss), "predict_proba")


def _listed(name: str, values: Any) -> list[Any]:
    listed = [] if isinstance(values, str) or not hasattr(values, "__iter__") else list(values)
    if not listed:
        raise ValueError(f"{name} must be None or a list of values to try, got {values!r}.")
    return listed


def _is_splitter(cv: Any) -> bool:
    return hasattr(cv, "split") and not isinstance(cv, str)  # which text has too


def _graph_kind(pair: Any) -> tuple[int, int]:
    if not hasattr(pair, "__len__") or len(pair) != 2:
        raise ValueError(
            f"graphs must hold pairs (n_neighbors, laplacian_degree), got {pair!r} among them."
        )
    return check_count("n_neighbors", pair[0]), check_count("laplacian_degree", pair[1])


class GKMClassifierCV(_SearchMixin, ClassifierMixin, BaseEstimator):
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
        where k is the mean kernel value of the labelled rows with the graph inside the kernel.
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
        leave-one-out: slower. An integer is the number of folds of a
        `graphkm.model_selection.LabeledStratifiedKFold`. For p other than 2 None means 5.
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
        self.Cs = Cs
        self.C_graphs = C_graphs
        self.gammas = gammas
        self.graphs = graphs
        self.cv = cv
        self.loss = loss
        self.p = p
        self.kernel = kernel
        self.graph = graph
        self.radius = radius
        self.graph_gamma = graph_gamma
        self.neighbors = neighbors
        self.laplacian = laplacian
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.smoothing = smoothing
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.unlabeled = unlabeled
        self.precision = precision
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _new_template(self) -> GKMClassifier:
        return GKMClassifier()

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, affinity: Any = None) -> Self:
        """Choose the parameters and learn with them.

        Parameters
        ----------
        X, y, sample_weight, affinity
            As in `GKMClassifier.fit`.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, affinity)

    def _splitter(self) -> Any:
        from .folds import LabeledStratifiedKFold  # slow to import

        if _is_splitter(self.cv):
            return self.cv
        n_splits = 5 if self.cv is None else check_count("cv", self.cv, least=2)
        return LabeledStratifiedKFold(n_splits, random_state=0, unlabeled=self.unlabeled)

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


class GKMRegressorCV(_SearchMixin, RegressorMixin, BaseEstimator):
    """`GKMRegressor` with its parameters chosen from the rows with a known target.

    As `GKMClassifierCV`; candidates are judged by the squared error of the targets held out,
    and `best_score_` and `unlabeled_gain_` are coefficients of determination.

    Parameters
    ----------
    Cs, C_graphs, gammas, graphs
        As in `GKMClassifierCV`.
    cv : int or splitter, optional
        Fit on folds instead of closed-form leave-one-out. A splitter must keep rows without a
        target out of its test folds; an integer does.
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
        self.Cs = Cs
        self.C_graphs = C_graphs
        self.gammas = gammas
        self.graphs = graphs
        self.cv = cv
        self.loss = loss
        self.p = p
        self.kernel = kernel
        self.graph = graph
        self.radius = radius
        self.graph_gamma = graph_gamma
        self.neighbors = neighbors
        self.laplacian = laplacian
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.smoothing = smoothing
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.unlabeled = unlabeled
        self.precision = precision
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _new_template(self) -> GKMRegressor:
        return GKMRegressor()

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, affinity: Any = None) -> Self:
        """Choose the parameters and learn with them.

        Parameters
        ----------
        X, y, sample_weight, affinity
            As in `GKMRegressor.fit`.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, affinity)

    def _splitter(self) -> Any:
        from .folds import LabeledKFold  # slow to import

        if _is_splitter(self.cv):
            return self.cv
        n_splits = 5 if self.cv is None else check_count("cv", self.cv, least=2)
        return LabeledKFold(n_splits, random_state=0, unlabeled=self.unlabeled)
