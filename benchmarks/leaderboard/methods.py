"""The methods: what tables call them, where they come from, and which cells they can do.

A method is a function of a `Problem`. It returns a label for every row and the parameters it chose;
where rows have several labels, it returns probabilities and answers.
"""

from __future__ import annotations

import functools
import importlib.util
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import booster_methods as boosters
from . import graph_methods as graphs
from . import kernel_methods as kernels
from . import lamda_methods as lamda
from . import our_methods as own
from . import row_methods as rows
from . import self_labelling_methods as selves
from . import several_methods as several
from .cells import KINDS, Cell
from .problem import Problem
from .tuning import Answer

ROW_KINDS = tuple(KINDS)[:-1]
GROUPS = ("labels alone", "all rows", "this library")


@dataclass(frozen=True)
class Method:
    """A method of the board."""

    title: str
    run: Callable[[Problem], Any]
    group: str
    package: str = "scikit-learn"
    kinds: tuple[str, ...] = ROW_KINDS
    two_classes: bool = False  # whether it takes no more


_ALONE, _BOTH, _OWN = GROUPS
METHODS: dict[str, Method] = {
    "svc": Method("SVC", kernels.svc, _ALONE),
    "logistic": Method("LogisticRegression", rows.logistic, _ALONE),
    "forest": Method("RandomForest", rows.forest, _ALONE),
    "boosting": Method("HistGradientBoosting", rows.boosting, _ALONE),
    "xgboost": Method("XGBoost", boosters.xgboost, _ALONE, "xgboost"),
    "lightgbm": Method("LightGBM", boosters.lightgbm, _ALONE, "lightgbm"),
    "catboost": Method("CatBoost", boosters.catboost, _ALONE, "catboost"),
    "spreading": Method("LabelSpreading", graphs.spreading, _BOTH),
    "propagation": Method("LabelPropagation", graphs.propagation, _BOTH),
    "laplace": Method("Laplace learning", graphs.laplace, _BOTH, "graphlearning"),
    "poisson": Method("Poisson learning", graphs.poisson, _BOTH, "graphlearning"),
    "self_training": Method("SelfTraining", kernels.self_training, _BOTH),
    "tri_training": Method("tri-training", selves.tri_training, _BOTH, "sslearn"),
    "co_forest": Method("CoForest", selves.co_forest, _BOTH, "sslearn"),
    "democratic": Method("democratic co-learning", selves.democratic, _BOTH, "modssc"),
    "lamda_lapsvm": Method(
        "LAMDA-SSL's LapSVM", lamda.lapsvm, _BOTH, "LAMDA-SSL", two_classes=True
    ),
    "lamda_tsvm": Method("LAMDA-SSL's TSVM", lamda.tsvm, _BOTH, "LAMDA-SSL", two_classes=True),
    "sgc": Method("SGC", graphs.sgc, _BOTH, kinds=("graphs",)),
    "ours": Method("SemiSupervisedClassifier", own.ours, _OWN, "graphkm"),
    "ours_rows": Method(
        "SemiSupervisedClassifier, rows", own.ours_rows, _OWN, "graphkm", ("graphs", "texts")
    ),
    "ours_default": Method("GKMClassifier", own.ours_default, _OWN, "graphkm"),
    "ours_cv": Method("GKMClassifierCV", own.ours_cv, _OWN, "graphkm"),
    "lapsvm": Method("LaplacianSVC", own.lapsvm, _OWN, "graphkm"),
    "tsvm": Method("TransductiveSVC", kernels.tsvm, _OWN, "graphkm"),
}
# The same names, where rows have several labels.
SEVERAL: dict[str, Method] = {
    "logistic": Method("LogisticRegression", several.logistic, _ALONE),
    "forest": Method("RandomForest", several.forest, _ALONE),
    "svc": Method("SVC", several.svc, _ALONE),
    "chain": Method("ClassifierChain", several.chain, _ALONE),
    "ours": Method("SemiSupervisedClassifier", several.ours, _OWN, "graphkm"),
}
NAMES = {name: method.title for name, method in (METHODS | SEVERAL).items()}
SEARCHING = ("spreading", "propagation", "laplace", "poisson")
_GIVEN = ("edges", "texts", "names")


def methods_for(cell: Cell, wanted: dict[str, Method]) -> dict[str, Method]:
    """Return the methods that can do a cell."""
    if cell.y.ndim == 2:
        return {name: each for name, each in SEVERAL.items() if name in wanted or name == "chain"}
    two = cell.y.max() < 2
    return {
        name: each
        for name, each in wanted.items()
        if cell.kind in each.kinds and (two or not each.two_classes)
    }


def added(file: Path) -> tuple[str, Method]:
    """Return the name and the method of a file with a function `fit_predict`.

    It gets X, y with -1 for hidden labels and random_state, and returns a label for every row. It
    also gets `edges`, `texts` and `names` where its signature has them. TITLE and PACKAGE of the
    file, if there, are what tables call it and whose version is kept.
    """
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None or not file.exists():
        raise SystemExit(f"{file} is no Python file; --add takes one with a function fit_predict")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function = getattr(module, "fit_predict", None)
    if function is None:
        raise SystemExit(f"{file} has no function fit_predict(X, y, random_state)")
    if file.stem in METHODS:
        raise SystemExit(f"there is a method {file.stem!r} already; give the file another name")
    taken = [name for name in _GIVEN if name in inspect.signature(function).parameters]
    title, package = getattr(module, "TITLE", file.stem), getattr(module, "PACKAGE", "")
    run = functools.partial(_called, function, taken)
    return file.stem, Method(title, run, GROUPS[1], package)


def _called(function: Callable[..., Any], taken: list[str], problem: Problem) -> Answer:
    given = {name: getattr(problem, name) for name in taken}
    return function(problem.X, problem.y.copy(), problem.seed, **given), {}
