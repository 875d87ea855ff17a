"""Models of `graphkm train --model`: any model, corrected over a graph of all rows."""

from __future__ import annotations

from typing import Any

from scipy.sparse import issparse
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, SVR
from sklearn.utils import get_tags

from ..gkm import GraphCorrectedClassifier, GraphCorrectedRegressor
from ..graphs import KNN, Anchors
from ..machines import KernelRidgeClassifierCV, KernelRidgeCV
from .models import assignments, fields_of, given_options, made_part, own_names, refuse_unknown
from .options import FitOptions, Method, ModelKind, Task, UsageError

_BASES: dict[tuple[str, str], Any] = {
    ("forest", "classify"): RandomForestClassifier,
    ("forest", "regress"): RandomForestRegressor,
    ("boosting", "classify"): HistGradientBoostingClassifier,
    ("boosting", "regress"): HistGradientBoostingRegressor,
    ("svm", "classify"): SVC,
    ("svm", "regress"): SVR,
    ("logistic", "classify"): LogisticRegression,
    ("kernel", "classify"): KernelRidgeClassifierCV,
    ("kernel", "regress"): KernelRidgeCV,
}
_GRAPHS: dict[str, Any] = {"knn": KNN, "anchors": Anchors}
_OPTIONS = ("graph", "n_neighbors", "random_state", "n_jobs")  # that go with --model


def make_corrected(kind: ModelKind, task: str, options: FitOptions) -> Any:
    """Return the corrected model of a kind, with the parameters that were given."""
    if (kind.value, task) not in _BASES:
        raise UsageError(
            f"--model {kind.value} knows classes only, and the task is to {task}; pass --model "
            "kernel, forest, boosting or svm."
        )
    base = _BASES[kind.value, task]
    corrected = GraphCorrectedClassifier if task == "classify" else GraphCorrectedRegressor
    own, part, inner = _sorted_out(kind, corrected, base, options)
    if part or "graph" in own:
        own["graph"] = _graph(own.get("graph", "knn"), part)
    try:
        estimator = _base(kind, base, inner, options)
        return corrected(estimator, **own, unlabeled=None)
    except (TypeError, ValueError) as error:
        raise UsageError(str(error)) from error


def _sorted_out(
    kind: ModelKind, corrected: Any, base: Any, options: FitOptions
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Return the parameters of the corrected model, of its graph, and of the model inside."""
    names, inside = own_names(corrected), [*base().get_params(deep=False)]
    fields = set().union(*map(fields_of, _GRAPHS.values()))
    own: dict[str, Any] = {}
    part: dict[str, Any] = {}
    inner: dict[str, Any] = {}
    given = given_options(options)
    for name, (_, flag) in given.items():
        if name not in _OPTIONS:
            raise UsageError(
                f"{flag} does not go with --model {kind.value}, which has parameters of its own; "
                f"set those like --set {inside[0]}=VALUE."
            )
    for name, (value, flag) in (given | assignments(options, given)).items():
        home = own if name in names else part if name in fields else inner
        if home is inner and name not in inside:
            refuse_unknown(corrected, name, flag, [*names, *sorted(fields), *inside])
        home[name] = value
    return own, part, inner


def _graph(name: Any, values: dict[str, Any]) -> Any:
    if name not in _GRAPHS:
        raise UsageError(f"--graph {name} does not go with --model; pass --graph knn or anchors.")
    return made_part(_GRAPHS[name], values, f"--graph {name}") if values else name


def _base(kind: ModelKind, base: Any, inner: dict[str, Any], options: FitOptions) -> Any:
    """Return the model inside; None is the library's own kernel machine."""
    if kind is ModelKind.kernel and not inner:
        return None
    usual: dict[str, Any] = {"random_state": options.seed}
    if kind is ModelKind.forest:
        usual["n_jobs"] = options.threads or -1
    if kind is ModelKind.logistic:
        usual["max_iter"] = 1000
    known = base().get_params(deep=False)
    return base(**{name: value for name, value in usual.items() if name in known} | inner)


def check_corrected(kind: ModelKind, method: Method, task: Task, options: FitOptions) -> None:
    """Raise for options that do not go together, before data are read."""
    if method is not Method.gkm:
        raise UsageError(f"--method {method.value} and --model {kind.value}: pass only one.")
    make_corrected(kind, "regress" if task is Task.regress else "classify", options)


def check_sparse(kind: ModelKind, model: Any, X: Any) -> None:
    """Raise if rows are sparse and the model takes none."""
    if issparse(X) and not get_tags(model).input_tags.sparse:
        raise UsageError(
            f"--model {kind.value} takes no sparse rows, and LIBSVM files hold such; pass --model "
            "kernel, forest, svm or logistic, or write the rows as CSV."
        )
