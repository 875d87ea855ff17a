"""Models, data, and changes of them that should leave a model as it is."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone, is_classifier
from sklearn.datasets import make_moons
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from graphkm import (
    SGD,
    Anchors,
    GKMClassifier,
    GKMClassifierCV,
    GKMRegressor,
    GKMRegressorCV,
    KernelRidgeClassifierCV,
    KernelRidgeCV,
    PositiveUnlabeledClassifier,
    RowNewton,
    SemiSupervisedClassifier,
    SemiSupervisedRegressor,
    Sums,
)
from graphkm.baselines import LaplacianRegressor, LaplacianSVC, TransductiveSVC
from graphkm.estimators.data_checks import GraphWarning
from graphkm.positive import DrawnAtRandomWarning

SEED: dict[str, Any] = {"random_state": 0, "n_jobs": 1}
SHORT: dict[str, Any] = {"Cs": [0.01, 0.1], "gammas": ["spread"], "graphs": [(6, 1)]}

CHEAP: dict[str, Any] = {
    "GKMClassifier(solver=Sums())": GKMClassifier(solver=Sums(), **SEED),
    "GKMRegressor": GKMRegressor(**SEED),
    "GKMRegressor(solver=SGD())": GKMRegressor(solver=SGD(), **SEED),
    "GKMRegressor(solver=Sums())": GKMRegressor(solver=Sums(), **SEED),
    "KernelRidgeClassifierCV": KernelRidgeClassifierCV(**SEED),
    "KernelRidgeCV": KernelRidgeCV(**SEED),
    "SemiSupervisedClassifier(...)": SemiSupervisedClassifier(LogisticRegression(), **SEED),
    "SemiSupervisedRegressor(...)": SemiSupervisedRegressor(Ridge(1e-6), **SEED),
    "SemiSupervisedClassifier(graph=Anchors())": SemiSupervisedClassifier(
        LogisticRegression(), graph=Anchors(40), **SEED
    ),
    "SemiSupervisedRegressor(graph=Anchors())": SemiSupervisedRegressor(
        Ridge(1e-6), graph=Anchors(40), **SEED
    ),
    "LaplacianSVC": LaplacianSVC(n_jobs=1),
    "LaplacianRegressor": LaplacianRegressor(n_jobs=1),
    "TransductiveSVC": TransductiveSVC(n_jobs=1),
}
"""Models whose fit to 120 rows takes a few hundredths of a second."""

COSTLY: dict[str, Any] = {
    "GKMClassifier": GKMClassifier(**SEED),
    "GKMClassifier(solver=SGD())": GKMClassifier(solver=SGD(), **SEED),
    "GKMClassifier(C=0.1, solver=RowNewton())": GKMClassifier(C=0.1, solver=RowNewton(), **SEED),
    "GKMClassifierCV": GKMClassifierCV(**SEED),
    "GKMClassifierCV(Cs=...)": GKMClassifierCV(**SHORT, **SEED),
    "GKMClassifierCV(Cs=..., cv=5)": GKMClassifierCV(**SHORT, C_graphs=[0.0, 1.0], cv=5, **SEED),
    "GKMRegressorCV": GKMRegressorCV(**SEED),
    "SemiSupervisedClassifier": SemiSupervisedClassifier(**SEED),
    "SemiSupervisedRegressor": SemiSupervisedRegressor(**SEED),
    "PositiveUnlabeledClassifier(...)": PositiveUnlabeledClassifier(
        KernelRidgeClassifierCV(**SEED), **SEED
    ),
}
"""Models that search, or choose on held-out labels."""

LARGE: dict[str, Any] = {
    "GKMClassifier, 3,000 rows": GKMClassifier(**SEED),
    "GKMClassifier, 4,500 rows": GKMClassifier(**SEED),
    "SemiSupervisedClassifier, 4,500 rows": SemiSupervisedClassifier(**SEED),
}
"""Models beyond the numbers of rows from which other methods are used."""

STREAMS = tuple(name for name in CHEAP | COSTLY if "SGD" in name or "Sums" in name)
"""Models of streams."""

MODELS = CHEAP | COSTLY | LARGE


class Run(NamedTuple):
    """A model, its rows with labels, weights, and new rows."""

    model: Any
    X: Any
    y: Any
    weight: np.ndarray
    new: Any
    back: Callable[[np.ndarray], np.ndarray] = np.asarray
    """Returns answers as they were named before a change."""
    scaled: bool = False
    """Whether rows are standardised."""

    def answers(self) -> np.ndarray:
        """Return what the fitted model says of the new rows."""
        model, about = clone(self.model), {"sample_weight": self.weight}
        if self.scaled:
            model = make_pipeline(StandardScaler(), model)
            about = {f"{model.steps[-1][0]}__sample_weight": self.weight}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GraphWarning)  # of models too simple for these data
            warnings.simplefilter("ignore", DrawnAtRandomWarning)
            model.fit(self.X, self.y, **about)
        return self.back(model.predict(self.new))

    def answers_of_stream(self, *sizes: int) -> np.ndarray:
        """Return the answers after chunks of these sizes, and of the last one to the end."""
        model, start = clone(self.model), 0
        classes = {"classes": np.unique(self.y[self.y >= 0])} if is_classifier(model) else {}
        while start < len(self.y):
            part = slice(start, start + sizes[0])
            model.partial_fit(
                self.X[part], self.y[part], sample_weight=self.weight[part], **classes
            )
            start, sizes = part.stop, sizes[1:] or sizes
        return self.back(model.predict(self.new))


def run_of(name: str, seed: int = 1) -> Run:
    """Return a model with data for it: three classes along bent curves, or a height above them."""
    n, n_labeled = {"3,000 rows": (3000, 100), "4,500 rows": (4500, 400)}.get(
        name.rpartition(", ")[2], (120, 40)
    )
    model, rng = MODELS[name], np.random.default_rng(seed)
    X, truth = make_moons(n + 400, noise=0.3, random_state=seed)
    third = rng.permutation(n + 400)[: (n + 400) // 2]
    X[third] += [3.0, 0.2]
    truth[third] = np.where(truth[third] == 1, 2, truth[third])
    values = np.sin(2 * X[:, 0]) + X[:, 1] + 0.4 * rng.normal(size=n + 400)
    X = np.column_stack([X / X.std(axis=0), rng.normal(size=n + 400)])
    weight = rng.uniform(0.5, 2.0, n)
    labeled = rng.permutation(n)[:n_labeled]
    X, new = X[:n], X[n:]
    y = truth[:n] if is_classifier(model) else values[:n]
    if isinstance(model, KernelRidgeClassifierCV | KernelRidgeCV):  # which know labelled rows only
        return Run(model, X[labeled], y[labeled], weight[labeled], new)
    hidden = np.full(n, -1 if is_classifier(model) else np.nan)
    hidden[labeled] = y[labeled]
    if isinstance(model, PositiveUnlabeledClassifier):
        hidden[hidden != 1] = -1
    return Run(model, X, hidden, weight, new)


def rows(run: Run) -> Run:
    """Rows in another order."""
    order = np.random.default_rng(9).permutation(len(run.y))
    return run._replace(X=run.X[order], y=run.y[order], weight=run.weight[order])


def columns(run: Run) -> Run:
    return run._replace(X=run.X[:, [2, 0, 1]], new=run.new[:, [2, 0, 1]])


def classes(run: Run) -> Run | None:
    """Texts, whose order is the reverse."""
    if not is_classifier(run.model):
        return None
    texts = {0: "walnut", 1: "oak", 2: "ash"}
    numbers = {text: number for number, text in texts.items()} | {"not oak": 0}
    y = np.array([texts.get(int(label)) for label in run.y], dtype=object)
    return run._replace(y=y, back=lambda found: np.array([numbers[each] for each in found]))


def targets(factor: float, shift: float = 0.0) -> Callable[[Run], Run | None]:
    """Return a change of the targets' units."""

    def change(run: Run) -> Run | None:
        if is_classifier(run.model):
            return None
        y, before = factor * run.y + shift, run.back
        return run._replace(y=y, back=lambda found: before((found - shift) / factor))

    return change


def twice(run: Run) -> Run:
    return run._replace(X=np.hstack([run.X, run.X]), new=np.hstack([run.new, run.new]))


def sparse(run: Run) -> Run:
    return run._replace(X=sp.csr_array(run.X), new=sp.csr_array(run.new))


def fortran(run: Run) -> Run:
    return run._replace(X=np.asfortranarray(run.X), new=np.asfortranarray(run.new))


def single(run: Run) -> Run:
    return run._replace(X=run.X.astype(np.float32), new=run.new.astype(np.float32))


def weights(run: Run) -> Run:
    return run._replace(weight=10 * run.weight)


def standardised(run: Run) -> Run:
    """Other units of the columns, inside a pipeline."""
    return run._replace(X=1000 * run.X, new=1000 * run.new, scaled=True)


def parameter(name: str, *values: Any) -> Callable[[Run], Run | None]:
    """Return a change of a parameter to the first value that it does not have."""

    def change(run: Run) -> Run | None:
        model = clone(run.model)
        if isinstance(model, GKMClassifierCV | GKMRegressorCV) and name not in model.get_params():
            usual = GKMClassifier() if is_classifier(model) else GKMRegressor()
            return run._replace(
                model=model.set_params(estimator=usual.set_params(**{name: values[0]}))
            )
        if name not in model.get_params():
            return None
        other = next(value for value in values if value != model.get_params()[name])
        return run._replace(model=model.set_params(**{name: other}))

    return change


CHANGES: dict[str, Callable[[Run], Run | None]] = {
    "rows in another order": rows,
    "columns in another order": columns,
    "classes with other names": classes,
    "targets in other units": targets(1e4),
    "targets far from zero": targets(100.0, 1e12),
    "targets with the other sign": targets(-1.0),
    "huge targets": targets(1e200),
    "tiny targets": targets(1e-200),
    "every column twice": twice,
    "sparse": sparse,
    "Fortran order": fortran,
    "float32": single,
    "sample weights times ten": weights,
    "columns in other units, standardised": standardised,
    "n_jobs": parameter("n_jobs", 2),
    "verbose": parameter("verbose", 1),
    "callback": parameter("callback", print),
    "precision": parameter("precision", "double", "single"),
}


def at_once(run: Run, exempt: Iterable[str]) -> Run:
    """Return the run after many changes, each of which should not matter."""
    for name in CHANGES:
        if name not in ("sparse", "Fortran order", "callback", "precision", *exempt):
            run = CHANGES[name](run) or run
    return run


def difference(one: np.ndarray, other: np.ndarray, classes: bool) -> float:
    """Return the share of new rows with another class, or with another value.

    A value is another one if it differs by more than a hundredth of the values' spread.
    """
    apart = one != other if classes else np.abs(one - other) > 0.01 * np.std(one)
    return float(np.mean(apart))
