"""Models: estimators from options, the scaler in front, the file they are kept in."""

from __future__ import annotations

import ast
import difflib
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse

import graphkm

from ..gkm.base import BaseGKM
from ..gkm.plan import check_parameters
from ..graphs import KNN, Bipartite, Epsilon, Full
from ..smoothness import IteratedLaplacian, Power
from ..solvers import SGD, Newton, RowNewton
from .file_note import FileNote
from .options import PARAMETERS, FitOptions, LearningOptions, Method, Scale, UsageError

# -------------------------------------------------------------- estimators

_CLASSES = {
    ("gkm", "classify"): ("graphkm.gkm", "GKMClassifier"),
    ("gkm", "regress"): ("graphkm.gkm", "GKMRegressor"),
    ("lapsvm", "classify"): ("graphkm.machines", "LaplacianSVC"),
    ("lapsvm", "regress"): ("graphkm.machines", "LaplacianRegressor"),
    ("tsvm", "classify"): ("graphkm.machines", "TransductiveSVC"),
    ("search", "classify"): ("graphkm.gkm", "GKMClassifierCV"),
    ("search", "regress"): ("graphkm.gkm", "GKMRegressorCV"),
}
_OWN = ("unlabeled", "verbose", "callback")  # set by the command line itself
_MANY_ROWS, _FEW_LABELS = 15_000, 500  # with more of both, sparse rows get no neighbours
_ALWAYS = ("random_state", "n_jobs")  # ignored by estimators that have no such parameter


def make_estimator(method: Method | str, task: str, options: LearningOptions, **more: Any) -> Any:
    """Return the estimator of a method with the parameters that were given."""
    kind = _class(str(method), task)
    given = {name: (value, flag) for name, value, flag in _flags(options)}
    given |= {name: (value, name) for name, value in more.items()}
    for text in options.set or ():
        name, value = _assignment(text)
        if name in given:
            raise UsageError(f"--set {text}: {name} has an option of its own, which was given too.")
        given[name] = (value, f"--set {text}")
    verbose = {"verbose": int(sys.stderr.isatty())} if "verbose" in _own_names(kind) else {}
    try:
        if method != "search":
            return kind(**_parameters(kind, given), **verbose, unlabeled=None)
        own = {name: given.pop(name)[0] for name in _own_names(kind) if name in given}
        inner, balanced = _class("gkm", task), {}
        if task == "classify":
            balanced = {"class_weight": ("balanced", "")}
        model = inner(**_parameters(inner, balanced | given), unlabeled=None)
        return kind(model, **own, **verbose)
    except ValueError as error:
        raise UsageError(str(error)) from error


def _own_names(kind: Any) -> list[str]:
    return [name for name in kind().get_params(deep=False) if name != "estimator"]


def _parameters(kind: Any, given: dict[str, tuple[Any, str]]) -> dict[str, Any]:
    """Return constructor parameters; what belongs to a part is put into it.

    ``tol`` is a parameter of solvers: the command line says it without the part's name.
    """
    names = _own_names(kind)
    fields = {n: part for part, of in _FIELDS.items() if part in names for n in of}
    parameters: dict[str, Any] = {}
    parts: dict[str, dict[str, Any]] = {}
    for name, (value, flag) in given.items():
        if name in names:
            parameters[name] = value
        elif name in fields:
            parts.setdefault(fields[name], {})[name] = value
        elif flag.startswith("--") and name not in _ALWAYS:
            _refuse_unknown(kind, name, flag, [*names, *fields])
    for part, values in parts.items():
        parameters[part] = _PARTS[part](parameters.get(part), values)
    return parameters


def _graph(name: Any, values: dict[str, Any]) -> Any:
    kinds = {"knn": KNN, "epsilon": Epsilon, "full": Full, "bipartite": Bipartite}
    kind = kinds.get(name or "knn")
    return name if kind is None else _made(kind, values, f"--graph {name or 'knn'}")


def _smoothness(name: Any, values: dict[str, Any]) -> Any:
    if set(values) == {"p"}:
        return values["p"]
    return _made(IteratedLaplacian if "degree" in values else Power, values, "the smoothness")


def _solver(name: Any, values: dict[str, Any]) -> Any:
    kinds = {"newton": Newton, "row_newton": RowNewton, "sgd": SGD}
    if name not in (None, "auto"):
        return _made(kinds[name], values, f"--solver {name}") if name in kinds else name
    able = [each for each, kind in kinds.items() if set(values) <= _fields(kind)]
    if "sgd" in able and "newton" in able:
        raise UsageError(f"{', '.join(values)}: name the solver as well: --solver newton or sgd.")
    return kinds[able[0]](**values) if able else _made(SGD, values, "--solver sgd")


def _made(kind: Any, values: dict[str, Any], whose: str) -> Any:
    for name in values:
        if name not in _fields(kind):
            raise UsageError(
                f"{name} is no parameter of {whose}, which has "
                f"{', '.join(sorted(_fields(kind))) or 'none'}."
            )
    return kind(**values)


def _fields(kind: Any) -> set[str]:
    return {field.name for field in fields(kind)}


_PARTS: dict[str, Callable[[Any, dict[str, Any]], Any]] = {
    "graph": _graph,
    "smoothness": _smoothness,
    "solver": _solver,
}
_FIELDS = {
    "graph": _fields(KNN) | _fields(Epsilon),
    "smoothness": _fields(Power) | _fields(IteratedLaplacian),
    "solver": _fields(Newton) | _fields(SGD),
}


def check_estimator(estimator: Any) -> None:
    """Raise for parameters out of range, as the estimator would, but before data are read."""
    estimator = getattr(estimator, "estimator", estimator)
    if isinstance(estimator, BaseGKM):
        try:
            check_parameters(estimator)
        except ValueError as error:
            raise UsageError(str(error)) from error


def parameter_names() -> set[str]:
    """Return the parameters of all estimators and of their parts."""
    kinds = [_class(method, task) for method, task in _CLASSES]
    names = {name for kind in kinds for name in kind().get_params(deep=False)}
    return names.union(*_FIELDS.values())


def _class(method: str, task: str) -> Any:
    if (method, task) not in _CLASSES:
        raise UsageError(f"--method {method} knows classes only, and the task is to {task}.")
    module, name = _CLASSES[method, task]
    return getattr(import_module(module), name)


def _flags(options: LearningOptions) -> Iterator[tuple[str, Any, str]]:
    """Yield the parameters that options give: name, value, and the option."""
    for flag, value in vars(options).items():
        if flag != "set" and value is not None:
            given = _value(value) if isinstance(value, str) else value
            yield PARAMETERS.get(flag, flag), given, f"--{flag.replace('_', '-')}"


def _refuse_unknown(kind: Any, name: str, given: str, names: list[str]) -> None:
    names = [known for known in names if known not in _OWN]
    near = difflib.get_close_matches(name, names, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    raise UsageError(
        f"{given}: {kind.__name__} has no parameter {name}.{hint} It has {', '.join(names)}."
    )


def _assignment(text: str) -> tuple[str, Any]:
    """Return name and value of ``NAME=VALUE``.

    Examples
    --------
    >>> _assignment("tol=1e-3"), _assignment("landmarks=greedy"), _assignment("radius=None")
    (('tol', 0.001), ('landmarks', 'greedy'), ('radius', None))
    """
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise UsageError(f"--set {text}: write --set NAME=VALUE, such as --set tol=1e-3.")
    return name.strip(), _value(value.strip())


def _value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def shown_parameters(estimator: Any) -> dict[str, Any]:
    """Return the parameters of an estimator that differ from their defaults."""
    defaults = type(estimator)().get_params(deep=False)
    return {
        name: value
        for name, value in estimator.get_params(deep=False).items()
        if name not in _OWN and repr(value) != repr(defaults[name])
    }


def graph_for(options: FitOptions, method: Method, X: Any, n_labeled: int) -> dict[str, str]:
    """Return the graph where none is asked for: "bipartite" if neighbours take long to find.

    Sparse rows have no approximate search for neighbours, and the exact one grows with the square
    of the rows.
    """
    given = {text.partition("=")[0] for text in options.set or ()}
    if options.graph is not None or method is not Method.gkm or "graph" in given:
        return {}
    long = issparse(X) and X.shape[0] > _MANY_ROWS and n_labeled > _FEW_LABELS
    return {"graph": "bipartite"} if long else {}


# ------------------------------------------------------------------ scalers


def choose_scale(scale: Scale, X: Any) -> str:
    """Return which scaling "auto" is for these rows; sparse ones must stay sparse.

    Examples
    --------
    >>> choose_scale(Scale.auto, np.ones((2, 2)))
    'standard'
    """
    if not issparse(X):
        return Scale.standard.value if scale is Scale.auto else scale.value
    if scale is Scale.auto:
        within = X.nnz == 0 or float(np.abs(X.data).max()) <= 1.0
        return (Scale.none if within else Scale.maxabs).value
    if scale in (Scale.standard, Scale.minmax):
        raise UsageError(
            f"--scale {scale.value} would fill the zeros of LIBSVM rows; pass --scale maxabs or "
            "none."
        )
    return scale.value


def make_scaler(scale: str) -> Any:
    """Return a scaler that has not been fitted; None for "none"."""
    if scale == "none":
        return None
    from sklearn import preprocessing

    names = {"standard": "StandardScaler", "minmax": "MinMaxScaler", "maxabs": "MaxAbsScaler"}
    return getattr(preprocessing, names[scale])()


def behind_scaler(scaler: Any, estimator: Any) -> Any:
    """Return the estimator behind a scaler, as one model."""
    if scaler is None:
        return estimator
    from sklearn.pipeline import Pipeline

    return Pipeline([("scaler", scaler), ("estimator", estimator)])


def fit_behind_scaler(estimator: Any, scale: Scale, X: Any, y: Any) -> tuple[Any, str]:
    """Return the fitted model, its scaler in front, and which scaler that is."""
    chosen = choose_scale(scale, X)
    return behind_scaler(make_scaler(chosen), estimator).fit(X, y), chosen


def last_step(model: Any) -> Any:
    """Return the estimator of a model, without its scaler."""
    return model[-1] if hasattr(model, "steps") else model


# ------------------------------------------------------------------- files


def write_model(model: Any, path: Path, note: FileNote) -> None:
    """Write a model and its note, all or nothing."""
    from ..exchange import save_model

    estimator = last_step(model)
    here = {"verbose": 0, "n_jobs": None}  # of this terminal and this machine
    estimator.set_params(**{k: v for k, v in here.items() if k in estimator.get_params()})
    note = replace(note, version=graphkm.__version__)
    save_model(model, path, note=note.as_json())


def read_model(path: Path) -> tuple[Any, FileNote]:
    """Return a model and its note."""
    from ..exchange.files import load_with_note

    model, found = load_with_note(path)
    return model, FileNote.from_json(found, model)


def described_model(model: Any, note: FileNote) -> dict[str, str | None]:
    """Return lines on a fitted model."""
    estimator = last_step(model)
    parameters = shown_parameters(estimator)
    settings = ", ".join(f"{k}={v}" for k, v in parameters.items() if k != "random_state")
    return {
        "method": type(estimator).__name__ + (f" with {settings}" if settings else ""),
        "scaling": note.scale,
    }
