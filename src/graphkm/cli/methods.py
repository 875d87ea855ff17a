"""Estimators from options, checked before any file is read."""

from __future__ import annotations

import ast
import difflib
import sys
from typing import Any

from .errors import UsageError
from .options import FitOptions, LearningOptions, Method

_CLASSES = {
    ("gkm", "classify"): ("graphkm.gkm", "GKMClassifier"),
    ("gkm", "regress"): ("graphkm.gkm", "GKMRegressor"),
    ("lapsvm", "classify"): ("graphkm.machines", "LaplacianSVC"),
    ("lapsvm", "regress"): ("graphkm.machines", "LaplacianRegressor"),
    ("tsvm", "classify"): ("graphkm.machines", "TransductiveSVC"),
    ("search", "classify"): ("graphkm.gkm", "GKMClassifierCV"),
    ("search", "regress"): ("graphkm.gkm", "GKMRegressorCV"),
}
_PARAMETERS = {"seed": "random_state", "threads": "n_jobs", "neighbors": "n_neighbors"}
_OWN = ("unlabeled", "verbose", "callback")  # which the command line sets itself
_MANY_ROWS, _FEW_LABELS = 15_000, 500  # beyond both, no neighbours of sparse rows
_ALWAYS = ("seed", "threads")  # which estimators without them may ignore


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
    from ..gkm.base import BaseGKM
    from ..gkm.settings import check_parameters

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
    from importlib import import_module

    if (method, task) not in _CLASSES:
        raise UsageError(f"--method {method} knows classes only, and the task is to {task}.")
    module, name = _CLASSES[method, task]
    return getattr(import_module(module), name)


def _flags(kind: Any, options: LearningOptions) -> dict[str, Any]:
    """Return the parameters that options give, if the estimator has them."""
    known = kind().get_params(deep=False)
    parameters = {}
    for flag, value in vars(options).items():
        name = _PARAMETERS.get(flag, flag)
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
    """Return the graph where none is asked for: pairs instead of neighbours that take long to find.

    Sparse rows have no approximate search for neighbours, and the exact one grows with the square
    of the rows.
    """
    from scipy.sparse import issparse

    given = {text.partition("=")[0] for text in options.set or ()}
    if options.graph is not None or method is not Method.gkm or "graph" in given:
        return {}
    long = issparse(X) and X.shape[0] > _MANY_ROWS and n_labeled > _FEW_LABELS
    return {"graph": "bipartite"} if long else {}
