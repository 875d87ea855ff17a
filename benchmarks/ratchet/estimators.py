"""What is measured: our estimators as they come, and usual models of the labelled rows beside them.

To add or to remove an estimator, change a line of `ESTIMATORS`. Rivals are stored and not judged:
they are run by ``--update`` alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from graphkm import (
    GKMClassifier,
    GKMClassifierCV,
    GKMRegressor,
    GKMRegressorCV,
    SemiSupervisedClassifier,
    SemiSupervisedRegressor,
)

Fit = Callable[[Any, np.ndarray, int], Any]


@dataclass(frozen=True)
class Estimator:
    """A way to fit partly labelled rows with a seed."""

    name: str
    fit: Fit
    classes: bool = True
    rival: bool = False
    most_columns: float = np.inf  # it is left out where X has more


def _ours(kind: Any) -> Fit:
    return lambda X, y, seed: kind(random_state=seed, n_jobs=1).fit(X, y)


def _alone(make: Callable[[int, int], Any]) -> Fit:
    """Return a fit to the labelled rows alone; `make` gets the number of labels, and the seed."""

    def fit(X: Any, y: np.ndarray, seed: int) -> Any:
        known = ~np.isnan(y) if y.dtype.kind == "f" else y >= 0
        return make(int(known.sum()), seed).fit(X[known], y[known])

    return fit


class _Dense:
    """A model that takes no sparse rows."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: Any, y: np.ndarray) -> Any:
        self.model.fit(_dense(X), y)
        self.classes_ = getattr(self.model, "classes_", None)
        return self

    def predict(self, X: Any) -> np.ndarray:
        return self.model.predict(_dense(X))

    def predict_proba(self, X: Any) -> np.ndarray:
        return self.model.predict_proba(_dense(X))


def _dense(X: Any) -> Any:
    return X.toarray() if sp.issparse(X) else X


def _tuned_svc(X: Any, y: np.ndarray, seed: int) -> Any:
    """Return an SVC on the labelled rows, chosen by grid search; gammas in units of the spread."""
    rows, known = X[y >= 0], y[y >= 0]
    squares = rows.multiply(rows) if sp.issparse(rows) else np.square(rows, dtype=np.float64)
    spread = float((np.asarray(squares.mean(axis=0)) - np.square(rows.mean(axis=0))).sum())
    folds = int(min(5, np.bincount(known).min()))
    grid = {"gamma": np.array([0.3, 1, 3, 10, 30]) / spread, "C": [0.1, 1, 10, 100, 1000]}
    if folds < 2:
        return SVC(gamma=1 / spread).fit(rows, known)
    return GridSearchCV(SVC(cache_size=500), grid, cv=folds).fit(rows, known)


def _tuned_svr(_: int, __: int) -> Any:
    grid = {"gamma": ["scale", 0.01, 0.1], "C": [1.0, 10.0, 100.0]}
    return GridSearchCV(SVR(), grid, cv=5)


def _logistic(_: int, __: int) -> Any:
    return make_pipeline(StandardScaler(with_mean=False), LogisticRegression(max_iter=1000))


def _boosting(kind: Any) -> Fit:
    # The usual leaves of 20 rows learn nothing from 40 labels.
    return _alone(
        lambda n, seed: _Dense(
            kind(min_samples_leaf=int(np.clip(n // 20, 2, 20)), random_state=seed)
        )
    )


def _forest(kind: Any) -> Fit:
    return _alone(lambda _, seed: kind(random_state=seed))


ESTIMATORS = (
    Estimator("SemiSupervisedClassifier", _ours(SemiSupervisedClassifier)),
    Estimator("SemiSupervisedRegressor", _ours(SemiSupervisedRegressor), classes=False),
    Estimator("GKMClassifier", _ours(GKMClassifier)),
    Estimator("GKMClassifierCV", _ours(GKMClassifierCV)),
    Estimator("GKMRegressor", _ours(GKMRegressor), classes=False),
    Estimator("GKMRegressorCV", _ours(GKMRegressorCV), classes=False),
    Estimator("tuned SVC", _tuned_svc, rival=True),
    Estimator("logistic", _alone(_logistic), rival=True),
    Estimator("forest", _forest(RandomForestClassifier), rival=True),
    # The 11,960 columns of "text" would take a quarter of a minute a fit.
    Estimator("boosting", _boosting(HistGradientBoostingClassifier), rival=True, most_columns=2000),
    Estimator("tuned SVR", _alone(_tuned_svr), classes=False, rival=True),
    Estimator("ridge", _alone(lambda _, __: RidgeCV(np.logspace(-3, 3, 13))), False, rival=True),
    Estimator("forest", _forest(RandomForestRegressor), classes=False, rival=True),
    Estimator("boosting", _boosting(HistGradientBoostingRegressor), classes=False, rival=True),
)
