"""Options to estimators. Each parameter is checked before data are read."""

from __future__ import annotations

import ast
import difflib
import sys
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from .. import baselines, gkm, semi
from ..gkm.base import BaseGKM
from ..gkm.plan import check_parameters
from ..graphs import KNN, Anchors, Bipartite, Epsilon, Full, resolve_nodes
from ..kernels import resolve_kernel
from ..losses import resolve_loss
from ..smoothness import IteratedLaplacian, Power
from ..solvers import SGD, Newton, RowNewton, Sums
from .fit_options import PARAMETERS, FitOptions
from .options import Method, Task, UsageError

SEARCH = "search"  # --method gkm --search

_CLASSES: dict[tuple[str, str], Any] = {
    ("mixture", "classify"): semi.SemiSupervisedClassifier,
    ("mixture", "regress"): semi.SemiSupervisedRegressor,
    ("gkm", "classify"): gkm.GKMClassifier,
    ("gkm", "regress"): gkm.GKMRegressor,
    (SEARCH, "classify"): gkm.GKMClassifierCV,
    (SEARCH, "regress"): gkm.GKMRegressorCV,
    ("lapsvm", "classify"): baselines.LaplacianSVC,
    ("lapsvm", "regress"): baselines.LaplacianRegressor,
    ("tsvm", "classify"): baselines.TransductiveSVC,
}
_OWN = ("unlabeled", "verbose", "callback")  # set by the command line itself
_ALWAYS = ("random_state", "n_jobs")  # ignored by estimators that have no such parameter


def make_estimator(method: str, task: str, options: FitOptions) -> Any:
    """Return the estimator of a method, or of `SEARCH`, with the parameters that were given."""
    kind = _class(method, task)
    given = _given(options)
    given |= _assignments(options, given)
    if "probability" in own_names(kind):  # so that `predict --proba` works for every classifier
        given.setdefault("probability", (True, "probability"))
    verbose = {"verbose": int(sys.stderr.isatty())} if "verbose" in own_names(kind) else {}
    try:
        if method != SEARCH:
            return kind(**_parameters(kind, given), **verbose, unlabeled=None)
        _refuse_searched(given)
        own = {name: given.pop(name)[0] for name in own_names(kind) if name in given}
        inner = _class("gkm", task)
        model = inner(**_parameters(inner, given), unlabeled=None)
        return kind(model, **own, **verbose)
    except ValueError as error:
        raise UsageError(str(error)) from error


def _refuse_searched(given: dict[str, tuple[Any, str]]) -> None:
    """Raise if a value was given for a parameter that the search chooses."""
    for name in ("C", "C_graph", "gamma"):
        if name in given and given[name][0] != "auto":
            value, flag = given[name]
            raise UsageError(
                f"{flag}: --search chooses {name}; leave it out, or pass --set {name}s=[{value!r}] "
                "for this value alone."
            )


def own_names(kind: Any) -> list[str]:
    """Return the parameters of a class of estimators, without the estimator inside."""
    return [name for name in kind().get_params(deep=False) if name != "estimator"]


def _parameters(kind: Any, given: dict[str, tuple[Any, str]]) -> dict[str, Any]:
    """Return constructor parameters, with the parameters of parts put into their parts.

    The command line does not name the part: ``tol`` goes to the solver.
    """
    names, fields = own_names(kind), _part_of(kind)
    parameters: dict[str, Any] = {}
    parts: dict[str, dict[str, Any]] = {}
    for name, (value, flag) in given.items():
        if name in names:
            parameters[name] = value
        elif name in fields:
            parts.setdefault(fields[name], {})[name] = value
        elif flag.startswith("--") and name not in _ALWAYS:
            _refuse_unknown(kind, name, flag)
    if parameters.get("graph") == "epsilon":  # which needs a parameter of its own
        parts.setdefault("graph", {})
    for part, values in parts.items():
        parameters[part] = _PARTS[part](parameters.get(part), values)
    return parameters


def _part_of(kind: Any) -> dict[str, str]:
    """Return the part that each parameter of a part belongs to, of a class of estimators."""
    names = own_names(kind)
    return {name: part for part, of in _FIELDS.items() if part in names for name in of}


def _graph(name: Any, values: dict[str, Any]) -> Any:
    kinds = {"knn": KNN, "epsilon": Epsilon, "full": Full, "bipartite": Bipartite}
    kinds |= {"anchors": Anchors}
    kind = kinds.get(name or "knn")
    if kind is Epsilon and "radius" not in values:
        raise UsageError("--graph epsilon needs a distance: pass --set radius=NUMBER.")
    return name if kind is None else _made_part(kind, values, f"--graph {name or 'knn'}")


def _smoothness(name: Any, values: dict[str, Any]) -> Any:
    """Return the smoothness. p = 2 alone is the default: it leaves the degree to the data."""
    if values.get("p", 2) != 2:
        return _made_part(Power, values, f"the smoothness with p={values['p']:g}")
    others = {name: value for name, value in values.items() if name != "p"}
    return _made_part(IteratedLaplacian, others, "the smoothness") if others else "auto"


def _solver(name: Any, values: dict[str, Any]) -> Any:
    kinds = {"newton": Newton, "row_newton": RowNewton, "sgd": SGD, "sums": Sums}
    if name not in (None, "auto"):
        return _made_part(kinds[name], values, f"--solver {name}") if name in kinds else name
    able = [each for each, kind in kinds.items() if set(values) <= fields_of(kind)]
    if "sgd" in able and "newton" in able:
        raise UsageError(f"{', '.join(values)}: name the solver as well: --solver newton or sgd.")
    return kinds[able[0]](**values) if able else _made_part(SGD, values, "--solver sgd")


def _made_part(kind: Any, values: dict[str, Any], whose: str) -> Any:
    """Return a part with these values; raise UsageError if it has no such parameters."""
    names = fields_of(kind)
    for name in values:
        if name not in names:
            known = ", ".join(sorted(names)) or "none"
            raise UsageError(f"{name} is no parameter of {whose}, which has {known}.")
    return kind(**values)


def fields_of(kind: Any) -> set[str]:
    """Return the names of the parameters of a part."""
    return {field.name for field in fields(kind)}


_PARTS: dict[str, Callable[..., Any]]
_PARTS = {"graph": _graph, "smoothness": _smoothness, "solver": _solver}
_FIELDS = {
    "graph": fields_of(KNN) | fields_of(Epsilon) | fields_of(Anchors),
    "smoothness": fields_of(Power) | fields_of(IteratedLaplacian),
    "solver": fields_of(Newton) | fields_of(SGD) | fields_of(Sums),
}


def check_options(method: str, task: Task, options: FitOptions) -> None:
    """Raise for wrong parameters as the estimator would, but before data are read."""
    guess = "regress" if task is Task.regress else "classify"
    estimator = make_estimator(method, guess, options)
    if method == Method.mixture:
        return _check_nodes(estimator.graph)
    try:
        _check_lists(estimator)
        estimator = getattr(estimator, "estimator", estimator)
        resolve_kernel(estimator.kernel)
        if isinstance(estimator, BaseGKM):
            _check_loss(estimator.loss, task)
            check_parameters(estimator)
    except ValueError as error:
        raise UsageError(str(error)) from error


def _check_nodes(graph: Any) -> None:
    """Raise for a graph that the mixture does not know."""
    try:
        if graph not in (None, "auto"):
            resolve_nodes(graph)
    except ValueError as error:
        raise UsageError(f"{error} Other graphs belong to --method gkm.") from error


def _check_lists(search: Any) -> None:
    """Raise if the values to try are not a list, or an empty one."""
    for name in ("Cs", "C_graphs", "gammas", "graphs"):
        given = getattr(search, name, None)
        if given is not None and not (isinstance(given, list | tuple) and given):
            raise ValueError(f"--set {name}={given}: pass a list of values, like {name}=[1,10].")


def _check_loss(loss: Any, task: Task) -> None:
    """Raise if there is no such loss for the task, or for any task if the task is not known."""
    tasks = {Task.classify: ("classification",), Task.regress: ("regression",)}
    wrong = []
    for each in (possible := tasks.get(task, ("classification", "regression"))):
        try:
            resolve_loss(loss, each)
        except ValueError as error:
            wrong.append(error)
    if len(wrong) == len(possible):
        raise wrong[0]


def parameter_names() -> set[str]:
    """Return the parameters of all estimators and of their parts."""
    names = {name for kind in _CLASSES.values() for name in kind().get_params(deep=False)}
    return names.union(*_FIELDS.values())


def _class(method: str, task: str) -> Any:
    if (method, task) not in _CLASSES:
        raise UsageError(f"--method {method} knows classes only, and the task is to {task}.")
    return _CLASSES[method, task]


def _given(options: FitOptions) -> dict[str, tuple[Any, str]]:
    """Return the parameters that options give, each as its value and the option."""
    return {
        PARAMETERS.get(name, name): (_value(value), f"--{name.replace('_', '-')}")
        for name, value in vars(options).items()
        if name != "set" and value is not None
    }


def _assignments(options: FitOptions, given: Any) -> dict[str, tuple[Any, str]]:
    """Return the parameters that --set gives, each as its value and the text."""
    found = {}
    for text in options.set or ():
        name, value = _assignment(text)
        if name in given or name in found:
            raise UsageError(f"--set {text}: {name} has an option of its own, which was given too.")
        found[name] = (value, f"--set {text}")
    return found


def _refuse_unknown(kind: Any, name: str, given: str) -> None:
    """Raise UsageError for a parameter that an estimator does not have, and say which has it."""
    names = [*own_names(kind), *_part_of(kind)]
    others = [
        "gkm --search" if method == SEARCH else method
        for (method, task), other in _CLASSES.items()
        if task == "classify" and (name in own_names(other) or name in _part_of(other))
    ]
    lacks = f"{given}: {kind.__name__} has no parameter {name}."
    if any(_CLASSES.get((each, "regress")) is kind for each in others):
        raise UsageError(f"{given} is for classes, and the labels are quantities.")
    if others:
        listed = " or ".join([*filter(None, [", ".join(others[:-1])]), others[-1]])
        raise UsageError(f"{lacks} It belongs to --method {listed}.")
    names = [known for known in names if known not in _OWN]
    near = difflib.get_close_matches(name, names, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    raise UsageError(f"{lacks}{hint} It has {', '.join(names)}.")


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


def _value(given: Any) -> Any:
    try:
        return ast.literal_eval(given) if isinstance(given, str) else given
    except (ValueError, SyntaxError):
        return given
