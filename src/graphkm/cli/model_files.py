"""Model files and the notes in them, and what summaries say of a model."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import graphkm

from ..exchange.files import load_with_note, save_model
from ..exchange.skops_files import is_skops_file, load_with_skops, save_with_skops
from ..exchange.state_mixtures import models_in
from ..exchange.storable import MIXED, ForeignModelError
from ..gkm import GKMClassifierCV, GKMRegressorCV
from ..io.kinds import IMAGE, NUMBER, TEXT, WORD
from ..members.ranked import Ranked
from ..semi import MemberTable
from .gains import mixture_facts, mixture_lines, search_facts, search_lines
from .preparing import behind, prepared_kinds, taking_arrays
from .views import encoders_of, only_column, silence

_OWN = ("unlabeled", "verbose", "callback", "views")  # set by the command line itself
FOLDER = "folder"
"""The format of a folder of pictures or text files."""
VIEWS = "views"
"""The format of rows that are no table: views of a model that was saved in Python."""
_SEARCHES = (GKMClassifierCV, GKMRegressorCV)


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
    label_kind: str = NUMBER  # how labels that are numbers are written
    edges: dict[str, int] = field(default_factory=dict)  # in the files of --edges, by graph
    # What makes vectors of texts and pictures: by view, the model's name and its hash.
    encoders: dict[str, dict[str, str | None]] = field(default_factory=dict)
    targets: list[str] = field(default_factory=list)  # names of several labels or quantities
    separator: str | None = None  # of their names, if one column holds them
    version: str = ""  # of graphkm

    @property
    def several(self) -> bool:
        """Whether a row has several labels or quantities."""
        return bool(self.targets)

    @property
    def label_columns(self) -> list[str]:
        """The columns of several labels, if each has a column of its own."""
        return [] if self.separator is not None else self.targets

    @property
    def words(self) -> list[int]:
        """Positions of the features that are categories."""
        return [k for k, kind in enumerate(self.kinds) if kind == WORD]

    @property
    def encoded(self) -> dict[int, str]:
        """The kinds of the features that encoders read, by their positions."""
        return {k: kind for k, kind in enumerate(self.kinds) if kind in (TEXT, IMAGE)}

    @property
    def plain(self) -> bool:
        """Whether rows consist of plain numbers, none of them missing."""
        return self.missing != "impute" and all(kind == NUMBER for kind in self.kinds)

    @classmethod
    def of_model(cls, model: Any, version: str) -> FileNote:
        """Return the note for a model saved in Python, whose file has none."""
        classes = getattr(model, "classes_", None)
        names = getattr(model, "feature_names_in_", None)
        n_features, (kinds, missing) = int(model.n_features_in_), prepared_kinds(model)
        format, only = "unknown", None
        if hasattr(model, "views_"):
            only = only_column(model)
            format = "unknown" if only else VIEWS
        if only is not None:
            names, kinds, n_features, missing = only[0] and [only[0]], [only[1]], 1, "impute"
        return cls(
            task="regress" if classes is None else "classify",
            format=format,
            method="unknown",
            columns=None if names is None else [str(name) for name in names],
            n_features=n_features,
            label=None,
            labels="text" if classes is not None and classes.dtype.kind in "UO" else "number",
            unlabeled=None,
            zero_based=False,
            sparse=False,
            version=version,
            kinds=kinds,
            missing=missing,
            encoders=encoders_of(model, names or ["1"]) if only else {},
            targets=_targets_of(model),
        )


def _targets_of(model: Any) -> list[str]:
    """Return the names of several labels; quantities of a model saved in Python have numbers."""
    mixed = getattr(last_step(model), "mixture_", None)
    if mixed is None or mixed.kind == "classes":
        return []
    if mixed.kind == "labels":
        return [str(name) for name in model.classes_]
    one = next(iter(mixed.views.values())) if hasattr(mixed, "views") else mixed
    width = len(one.prior)
    return [str(k + 1) for k in range(width)] if width > 1 else []


def write_model(model: Any, path: Path, note: FileNote) -> None:
    """Write a model and its note, all or nothing. The same model gives the same bytes.

    So the time of its fit, and the settings of this terminal and machine, are removed.
    """
    whole = last_step(model)
    local = {"verbose": 0, "n_jobs": None}
    whole.set_params(**{k: v for k, v in local.items() if k in whole.get_params()})
    if isinstance(whole, MIXED):
        silence(whole)
        for inside in models_in(whole.mixture_):
            own = inside.model if isinstance(inside, Ranked) else inside
            if "n_jobs" in own.get_params():
                own.set_params(n_jobs=None)
        whole.members_ = MemberTable(each._replace(seconds=math.nan) for each in whole.members_)
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
    known = {field.name for field in fields(FileNote)} & found["command_line"].keys()
    return model, FileNote(**{name: found["command_line"][name] for name in known})


def kept_model(model: Any) -> Any:
    """Return the model to write: the model itself, or a search's best model behind its steps."""
    found = last_step(model)
    if not isinstance(found, _SEARCHES):
        return model
    return behind(model.steps[:-1] if found is not model else [], found.best_estimator_)


def described_model(model: Any, note: FileNote) -> dict[str, str | None]:
    """Return the lines of a summary that describe a fitted model."""
    estimator = last_step(model)
    parameters = shown_parameters(estimator)
    if isinstance(estimator, _SEARCHES):
        parameters |= shown_parameters(parameters.pop("estimator", estimator.searched()))
    settings = ", ".join(f"{k}={v}" for k, v in parameters.items() if k != "random_state")
    lines: dict[str, str | None] = {
        "method": type(estimator).__name__ + (f" with {settings}" if settings else ""),
        "scaling": note.scale,
    }
    if isinstance(estimator, MIXED):
        return lines | mixture_lines(estimator, 0 < note.n_rows == note.n_labeled)
    return lines | search_lines(estimator) if isinstance(estimator, _SEARCHES) else lines


def found_facts(model: Any) -> dict[str, Any]:
    """Return what a fit found out about the graph, for programs; nothing for other models."""
    estimator = last_step(model)
    if isinstance(estimator, MIXED):
        return mixture_facts(estimator)
    return search_facts(estimator) if isinstance(estimator, _SEARCHES) else {}


def shown_parameters(estimator: Any) -> dict[str, Any]:
    """Return the parameters of an estimator that differ from their defaults."""
    defaults = type(estimator)().get_params(deep=False)
    return {
        name: value
        for name, value in estimator.get_params(deep=False).items()
        if name not in _OWN and repr(value) != repr(defaults[name])
    }
