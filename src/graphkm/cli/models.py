"""Models: estimators from options, the scaler in front, the file they are kept in."""

from __future__ import annotations

import ast
import difflib
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse

import graphkm

from .errors import UsageError
from .file_note import FileNote
from .options import PARAMETERS, FitOptions, LearningOptions, Method, Scale

# -------------------------------------------------------------- estimators

_CLASSES = {
    ("gkm", "classify"): ("graphkm.estimators", "GKMClassifier"),
    ("gkm", "regress"): ("graphkm.estimators", "GKMRegressor"),
    ("lapsvm", "classify"): ("graphkm.baselines", "LaplacianSVC"),
    ("lapsvm", "regress"): ("graphkm.baselines", "LaplacianRegressor"),
    ("tsvm", "classify"): ("graphkm.baselines", "TransductiveSVC"),
    ("search", "classify"): ("graphkm.estimators", "GKMClassifierCV"),
    ("search", "regress"): ("graphkm.estimators", "GKMRegressorCV"),
}
_OWN = ("unlabeled", "verbose", "callback")  # set by the command line itself
_MANY_ROWS, _FEW_LABELS = 15_000, 500  # with more of both, sparse rows get no neighbours
_ALWAYS = ("seed", "threads")  # ignored by estimators that have no such parameter


def make_estimator(method: Method | str, task: str, options: LearningOptions, **more: Any) -> Any:
    """Return the estimator of a method with the parameters that were given."""
    kind = _class(str(method), task)
    parameters = _flags(kind, options) | more
    for text in options.set or ():
        name, value = _assignment(text)
        _refuse_unknown(kind, name, f"--set {text}")
        if name in parameters:
            raise UsageError(f"--set {text}: {name} has an option of its own, which was given too.")
        parameters[name] = value
    known = kind().get_params(deep=False)
    if "verbose" in known:
        parameters["verbose"] = int(sys.stderr.isatty())
    return kind(**parameters, unlabeled=None)


def check_estimator(estimator: Any) -> None:
    """Raise for parameters out of range, as the estimator would, but before data are read."""
    from ..estimators.base import BaseGKM
    from ..estimators.settings import check_parameters

    if isinstance(estimator, BaseGKM):
        try:
            check_parameters(estimator)
        except ValueError as error:
            raise UsageError(str(error)) from error


def parameter_names() -> set[str]:
    """Return the parameters of all estimators."""
    kinds = [_class(method, task) for method, task in _CLASSES]
    return {name for kind in kinds for name in kind().get_params(deep=False)}


def _class(method: str, task: str) -> Any:
    if (method, task) not in _CLASSES:
        raise UsageError(f"--method {method} knows classes only, and the task is to {task}.")
    module, name = _CLASSES[method, task]
    return getattr(import_module(module), name)


def _flags(kind: Any, options: LearningOptions) -> dict[str, Any]:
    """Return the parameters that options give, if the estimator has them."""
    known = kind().get_params(deep=False)
    parameters = {}
    for flag, value in vars(options).items():
        name = PARAMETERS.get(flag, flag)
        if flag == "set" or value is None or (flag in _ALWAYS and name not in known):
            continue
        _refuse_unknown(kind, name, f"--{flag.replace('_', '-')}")
        parameters[name] = _value(value) if isinstance(value, str) else value
    return parameters


def _refuse_unknown(kind: Any, name: str, given: str) -> None:
    names = [known for known in kind().get_params(deep=False) if known not in _OWN]
    if name in names:
        return
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
