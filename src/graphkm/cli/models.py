"""Models: estimators made from options, their scalers, and their files."""

from __future__ import annotations

import ast
import difflib
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import graphkm

from .. import gkm, machines, semi
from ..exchange.files import load_with_note, save_model
from ..exchange.mixtures import models_in
from ..exchange.models import CORRECTED, MIXED, ForeignModelError
from ..exchange.skops_files import is_skops_file, load_with_skops, save_with_skops
from ..gkm.base import BaseGKM
from ..gkm.plan import check_parameters
from ..graphs import KNN, Anchors, Bipartite, Epsilon, Full
from ..io.kinds import NUMBER, WORD
from ..kernels import resolve_kernel
from ..losses import resolve_loss
from ..smoothness import IteratedLaplacian, Power
from ..solvers import SGD, Newton, RowNewton, Sums
from .bought import correction_facts, correction_lines
from .mixtures import check_mixture, mixture_facts, mixture_lines
from .options import PARAMETERS, LearningOptions, Method, Task, UsageError
from .preparing import prepared_kinds, taking_arrays

# -------------------------------------------------------------- estimators

_CLASSES = {
    ("gkm", "classify"): gkm.GKMClassifier,
    ("gkm", "regress"): gkm.GKMRegressor,
    ("lapsvm", "classify"): machines.LaplacianSVC,
    ("lapsvm", "regress"): machines.LaplacianRegressor,
    ("tsvm", "classify"): machines.TransductiveSVC,
    ("semi", "classify"): semi.SemiSupervisedClassifier,
    ("semi", "regress"): semi.SemiSupervisedRegressor,
    ("search", "classify"): gkm.GKMClassifierCV,
    ("search", "regress"): gkm.GKMRegressorCV,
}
_OWN = ("unlabeled", "verbose", "callback")  # set by the command line itself
_ALWAYS = ("random_state", "n_jobs")  # ignored by estimators that have no such parameter


def make_estimator(method: Method | str, task: str, options: LearningOptions, **more: Any) -> Any:
    """Return the estimator of a method with the parameters that were given."""
    kind = _class(str(method), task)
    given = given_options(options) | {name: (value, name) for name, value in more.items()}
    given |= assignments(options, given)
    if "probability" in own_names(kind):  # so that `predict --proba` works for every classifier
        given.setdefault("probability", (True, "probability"))
    verbose = {"verbose": int(sys.stderr.isatty())} if "verbose" in own_names(kind) else {}
    try:
        if method != "search":
            return kind(**_parameters(kind, given), **verbose, unlabeled=None)
        own = {name: given.pop(name)[0] for name in own_names(kind) if name in given}
        inner = _class("gkm", task)
        model = inner(**_parameters(inner, given), unlabeled=None)
        return kind(model, **own, **verbose)
    except ValueError as error:
        raise UsageError(str(error)) from error


def own_names(kind: Any) -> list[str]:
    """Return the parameters of a class of estimators, without the estimator inside."""
    return [name for name in kind().get_params(deep=False) if name != "estimator"]


def _parameters(kind: Any, given: dict[str, tuple[Any, str]]) -> dict[str, Any]:
    """Return constructor parameters, with the parameters of parts put into their parts.

    The command line does not name the part: ``tol`` goes to the solver.
    """
    names = own_names(kind)
    fields = {n: part for part, of in _FIELDS.items() if part in names for n in of}
    parameters: dict[str, Any] = {}
    parts: dict[str, dict[str, Any]] = {}
    for name, (value, flag) in given.items():
        if name in names:
            parameters[name] = value
        elif name in fields:
            parts.setdefault(fields[name], {})[name] = value
        elif flag.startswith("--") and name not in _ALWAYS:
            refuse_unknown(kind, name, flag, [*names, *fields])
    if parameters.get("graph") == "epsilon":  # which needs a parameter of its own
        parts.setdefault("graph", {})
    for part, values in parts.items():
        parameters[part] = _PARTS[part](parameters.get(part), values)
    return parameters


def _graph(name: Any, values: dict[str, Any]) -> Any:
    kinds = {"knn": KNN, "epsilon": Epsilon, "full": Full, "bipartite": Bipartite}
    kinds |= {"anchors": Anchors}
    kind = kinds.get(name or "knn")
    if kind is Epsilon and "radius" not in values:
        raise UsageError("--graph epsilon needs a distance: pass --set radius=NUMBER.")
    return name if kind is None else made_part(kind, values, f"--graph {name or 'knn'}")


def _smoothness(name: Any, values: dict[str, Any]) -> Any:
    """Return the smoothness. p = 2 alone is the default: it leaves the degree to the data."""
    if values.get("p", 2) != 2:
        return made_part(Power, values, f"the smoothness with p={values['p']:g}")
    others = {name: value for name, value in values.items() if name != "p"}
    return made_part(IteratedLaplacian, others, "the smoothness") if others else "auto"


def _solver(name: Any, values: dict[str, Any]) -> Any:
    kinds = {"newton": Newton, "row_newton": RowNewton, "sgd": SGD, "sums": Sums}
    if name not in (None, "auto"):
        return made_part(kinds[name], values, f"--solver {name}") if name in kinds else name
    able = [each for each, kind in kinds.items() if set(values) <= fields_of(kind)]
    if "sgd" in able and "newton" in able:
        raise UsageError(f"{', '.join(values)}: name the solver as well: --solver newton or sgd.")
    return kinds[able[0]](**values) if able else made_part(SGD, values, "--solver sgd")


def made_part(kind: Any, values: dict[str, Any], whose: str) -> Any:
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


def check_options(method: Method | str, task: Task, options: LearningOptions, **more: Any) -> None:
    """Raise for wrong parameters as the estimator would, but before data are read."""
    guess = "regress" if task is Task.regress else "classify"
    estimator = make_estimator(method, guess, options, **more)
    try:
        if isinstance(estimator, MIXED):
            return check_mixture(estimator)
        _check_lists(estimator)
        estimator = getattr(estimator, "estimator", estimator)
        resolve_kernel(estimator.kernel)
        if isinstance(estimator, BaseGKM):
            _check_loss(estimator.loss, task)
            check_parameters(estimator)
    except ValueError as error:
        raise UsageError(str(error)) from error


def _check_lists(search: Any) -> None:
    """Raise if a list of values to try is none, or empty."""
    for name in ("Cs", "C_graphs", "gammas", "graphs"):
        given = getattr(search, name, None)
        if given is not None and not (isinstance(given, list | tuple) and given):
            raise ValueError(f"--set {name}={given}: pass a list of values, like {name}=[1,10].")


def _check_loss(loss: Any, task: Task) -> None:
    """Raise if there is no such loss for the task, or for any task if that is not yet known."""
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


def given_options(options: LearningOptions) -> dict[str, tuple[Any, str]]:
    """Return the parameters that options give, each as its value and the option."""
    return {
        PARAMETERS.get(name, name): (_value(value), f"--{name.replace('_', '-')}")
        for name, value in vars(options).items()
        if name != "set" and value is not None
    }


def assignments(options: LearningOptions, given: Any) -> dict[str, tuple[Any, str]]:
    """Return the parameters that --set gives, each as its value and the text."""
    found = {}
    for text in options.set or ():
        name, value = _assignment(text)
        if name in given or name in found:
            raise UsageError(f"--set {text}: {name} has an option of its own, which was given too.")
        found[name] = (value, f"--set {text}")
    return found


def refuse_unknown(kind: Any, name: str, given: str, names: list[str]) -> None:
    """Raise UsageError for a parameter that an estimator does not have."""
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


def _value(given: Any) -> Any:
    try:
        return ast.literal_eval(given) if isinstance(given, str) else given
    except (ValueError, SyntaxError):
        return given


def shown_parameters(estimator: Any) -> dict[str, Any]:
    """Return the parameters of an estimator that differ from their defaults."""
    defaults = type(estimator)().get_params(deep=False)
    return {
        name: value
        for name, value in estimator.get_params(deep=False).items()
        if name not in _OWN and repr(value) != repr(defaults[name])
    }


# ------------------------------------------------------------------- files


def last_step(model: Any) -> Any:
    """Return the estimator of a model, without its scaler."""
    return model[-1] if hasattr(model, "steps") else model


@dataclass(frozen=True)
class FileNote:
    """What a model file says about the files its model was trained on."""

    task: str  # classify or regress
    format: str  # of the training file
    columns: list[str] | None  # names of the features in the model's order, if they have names
    n_features: int
    label: str | int | None  # the label's column: its name, or its number from 1; None for LIBSVM
    labels: str  # number or text
    unlabeled: str | None  # the option
    zero_based: bool  # whether indices of LIBSVM files count from 0
    sparse: bool
    scale: str = "none"
    method: str = "gkm"
    n_rows: int = 0
    n_labeled: int = 0
    dropped: list[int] = field(default_factory=list)  # indices of skipped LIBSVM features
    guessed: bool = False  # whether the label's column was a guess
    kinds: list[str] = field(default_factory=list)  # of the features; none: all plain numbers
    missing: str = "error"  # what becomes of a missing value: impute, drop or error
    left_out: dict[str, str] = field(default_factory=dict)  # columns of a table, and why
    id: str | None = None  # the column that identifies rows
    encoding: str | None = None  # of the training file, if it is CSV
    label_kind: str = NUMBER  # how labels are written that are numbers
    version: str = ""  # of graphkm

    @property
    def words(self) -> list[int]:
        """Positions of the features that are categories."""
        return [k for k, kind in enumerate(self.kinds) if kind == WORD]

    @property
    def plain(self) -> bool:
        """Whether rows consist of plain numbers, none of them missing."""
        return self.missing != "impute" and all(kind == NUMBER for kind in self.kinds)

    @classmethod
    def of_model(cls, model: Any, version: str) -> FileNote:
        """Return the note for a model saved in Python, whose file has none."""
        classes = getattr(model, "classes_", None)
        names = getattr(model, "feature_names_in_", None)
        kinds, missing = prepared_kinds(model)
        return cls(
            task="regress" if classes is None else "classify",
            format="unknown",
            columns=None if names is None else [str(name) for name in names],
            n_features=int(model.n_features_in_),
            label=None,
            labels="text" if classes is not None and classes.dtype.kind in "UO" else "number",
            unlabeled=None,
            zero_based=False,
            sparse=False,
            version=version,
            kinds=kinds,
            missing=missing,
        )


def write_model(model: Any, path: Path, note: FileNote) -> None:
    """Write a model and its note, all or nothing."""
    whole = last_step(model)
    local = {"verbose": 0, "n_jobs": None}  # choices of this terminal and machine are not kept
    whole.set_params(**{k: v for k, v in local.items() if k in whole.get_params()})
    members = models_in(whole.mixture_) if isinstance(whole, MIXED) else []
    for inside in (*(getattr(whole, name, None) for name in ("estimator", "estimator_")), *members):
        if "n_jobs" in getattr(inside, "get_params", dict)():
            inside.set_params(n_jobs=None)  # type: ignore[union-attr]
    told = {"command_line": asdict(replace(note, version=graphkm.__version__))}
    try:
        save_model(model, path, note=told)
    except ForeignModelError:
        save_with_skops(model, path, told)


def read_model(path: Path) -> tuple[Any, FileNote]:
    """Return a model and its note."""
    model, found = (load_with_skops if is_skops_file(path) else load_with_note)(path)
    if "command_line" not in found:  # saved in Python
        return taking_arrays(model), FileNote.of_model(model, str(found.get("version", "")))
    known = {k: v for k, v in found["command_line"].items() if k in fields_of(FileNote)}
    return model, FileNote(**known)


def described_model(model: Any, note: FileNote) -> dict[str, str | None]:
    """Return the lines of a summary that describe a fitted model."""
    estimator = last_step(model)
    parameters = shown_parameters(estimator)
    settings = ", ".join(f"{k}={v}" for k, v in parameters.items() if k != "random_state")
    lines: dict[str, str | None] = {
        "method": type(estimator).__name__ + (f" with {settings}" if settings else ""),
        "scaling": note.scale,
    }
    if isinstance(estimator, MIXED):
        return lines | mixture_lines(estimator)
    if isinstance(estimator, CORRECTED):
        return lines | correction_lines(estimator, note.method)
    return lines


def found_facts(model: Any) -> dict[str, Any]:
    """Return what a fit found out about the graph, for programs; nothing for other models."""
    estimator = last_step(model)
    if isinstance(estimator, MIXED):
        return mixture_facts(estimator)
    return correction_facts(estimator) if isinstance(estimator, CORRECTED) else {}
