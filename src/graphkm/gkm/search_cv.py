"""What estimators share that choose their own parameters: search, then one fit."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._parameters import check_count, check_number
from .._threads import blas_threads_for
from .base import BaseGKM
from .fold_search import Folds
from .search import ClosedForm, Grid
from .settings import resolve_settings

_SEARCHED = ("Cs", "C_graphs", "gammas", "graphs", "cv")


class SearchMixin:
    """Search, then one fit with what was found; predictions and scores are that fit's.

    It comes before scikit-learn's mixins, whose `score` would count unlabelled rows.
    """

    best_estimator_: Any
    get_params: Any
    cv: Any
    p: float
    kernel: Any
    unlabeled: Any
    random_state: Any
    verbose: int

    def _keep(self, given: Mapping[str, Any]) -> None:
        """Store the constructor's parameters as they were passed, which scikit-learn asks for.

        scikit-learn also wants every constructor to spell its parameters out; that they are all
        stored alike need not be.
        """
        for name in self._get_param_names():  # type: ignore[attr-defined]
            setattr(self, name, given[name])

    def _new_template(self) -> BaseGKM:
        raise NotImplementedError

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, affinity: Any = None) -> Self:
        """Choose the parameters and learn with them.

        Parameters
        ----------
        X, y, sample_weight, affinity
            As in the `fit` of `GKMClassifier` or `GKMRegressor`.

        Returns
        -------
        self
        """
        template = self._template()
        grid = self._grid()
        if self.p == 2:
            template.set_params(solver="newton")  # the one that iterates the Laplacian
        problem = template._encode(X, y, sample_weight)
        kernel = template._resolve_kernel(problem.X, np.dtype(np.float64))
        wanted = not problem.labeled.all() and (grid.C_graphs is None or any(grid.C_graphs))
        template._check_graph(kernel, affinity, wanted=wanted)
        search: ClosedForm | Folds
        if self.cv is None and self.p == 2:
            search = ClosedForm(template, problem, grid, affinity)
        else:
            splitter = self._splitter()
            search = Folds(template, problem, grid, splitter, y, sample_weight, affinity)
        n, n_labeled = len(problem.labeled), len(problem.targets)
        landmarks = resolve_settings(template, n, n_labeled).n_landmarks
        with blas_threads_for(n, landmarks), _progress(search, self.verbose) as candidates:
            judged = list(candidates)
        self.set_results(
            [candidate for candidate, _ in judged],
            np.array([judgement.loss for _, judgement in judged]),
            np.array([judgement.score for _, judgement in judged]),
        )
        if isinstance(search, ClosedForm) and not is_classifier(self):
            own = search.held_out_scores()
            self.best_score_ = own[self.best_params_["C_graph"] > 0]
            self.unlabeled_gain_ = self.best_score_ - own[False]
        template.set_params(**self.best_params_)
        self.set_model(template._solve(problem, affinity=affinity, neighbours=search.neighbours))
        return self

    def set_model(self, model: BaseGKM) -> None:
        """Set the chosen model, and what it knows."""
        self.best_estimator_ = model
        for name in ("classes_", "n_features_in_", "feature_names_in_", "n_iter_"):
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))

    def _template(self) -> BaseGKM:
        own = {k: v for k, v in self.get_params(deep=False).items() if k not in _SEARCHED}
        # The search and the fit after it must see the same landmarks.
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        return self._new_template().set_params(**{**own, "random_state": int(seed)})

    def set_results(
        self,
        candidates: list[dict[str, Any]],
        losses: NDArray[np.float64],
        scores: NDArray[np.float64],
    ) -> None:
        """Set what follows from the candidates and how each of them was judged."""
        self.best_index_ = int(np.argmin(losses))
        self.best_params_ = candidates[self.best_index_]
        self.best_score_ = float(scores[self.best_index_])
        alone = np.array([candidate["C_graph"] == 0 for candidate in candidates])
        without = int(np.flatnonzero(alone)[np.argmin(losses[alone])])
        self.unlabeled_gain_ = float(scores[self.best_index_] - scores[without])
        names = dict.fromkeys(name for candidate in candidates for name in candidate)
        self.cv_results_ = {
            f"param_{name}": np.ma.masked_invalid(
                [float(candidate.get(name, np.nan)) for candidate in candidates]
            )
            for name in names
        } | {
            "params": candidates,
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
        from ..model_selection import LabeledKFold, LabeledStratifiedKFold  # slow to import

        if hasattr(self.cv, "split") and not isinstance(self.cv, str):  # which text has too
            return self.cv
        n_splits = 5 if self.cv is None else check_count("cv", self.cv, least=2)
        kind = LabeledStratifiedKFold if is_classifier(self) else LabeledKFold
        return kind(n_splits, random_state=0, unlabeled=self.unlabeled)

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


def _listed(name: str, values: Any) -> list[Any]:
    listed = [] if isinstance(values, str) or not hasattr(values, "__iter__") else list(values)
    if not listed:
        raise ValueError(f"{name} must be None or a list of values to try, got {values!r}.")
    return listed


def _graph_kind(pair: Any) -> tuple[int, int]:
    if not hasattr(pair, "__len__") or len(pair) != 2:
        raise ValueError(
            f"graphs must hold pairs (n_neighbors, laplacian_degree), got {pair!r} among them."
        )
    return check_count("n_neighbors", pair[0]), check_count("laplacian_degree", pair[1])


def _progress(items: Any, verbose: int) -> Any:
    """Return the candidates with a progress bar around them, if wanted."""
    if not verbose:
        return nullcontext(items)
    from tqdm.auto import tqdm  # only those who want to see it wait for its import

    return tqdm(items, unit="candidate", desc="search")
