"""Every fitted estimator of the library as one file, with the scaling that comes before it."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from .._container import ModelFileError, read_container
from ..gkm import GKMClassifier, GKMClassifierCV, GKMRegressor, GKMRegressorCV
from ..machines import LaplacianRegressor, LaplacianSVC, TransductiveSVC, saving
from ..machines.encoding import Kind, State
from ..machines.saving import Saved, kind_of
from .pairwise import PairwiseClassifier

MODELS: tuple[type[Saved], ...] = (
    GKMClassifier,
    GKMRegressor,
    GKMClassifierCV,
    GKMRegressorCV,
    LaplacianSVC,
    LaplacianRegressor,
    TransductiveSVC,
    PairwiseClassifier,
)
SCALERS: dict[type, tuple[str, ...]] = {
    StandardScaler: ("mean_", "var_", "scale_"),
    MinMaxScaler: ("min_", "scale_", "data_min_", "data_max_", "data_range_"),
    MaxAbsScaler: ("max_abs_", "scale_"),
}
_SEEN = ("n_features_in_", "feature_names_in_", "n_samples_seen_")


def save_model(
    model: Any, path: str | os.PathLike[str], note: dict[str, Any] | None = None
) -> None:
    """Write a fitted model to one file that holds numbers and texts, and no code.

    The file is written whole or not at all, and what it replaces stays as PATH.previous. A model
    that learns by `partial_fit` goes on from it where it stopped.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this library, or a `sklearn.pipeline.Pipeline` of StandardScaler,
        MinMaxScaler or MaxAbsScaler with one at its end.
    path : path
        Where to; a ModelFileError says why it could not be written.
    note : dict, optional
        Anything that JSON can hold, for `read_note`.

    Examples
    --------
    >>> import tempfile
    >>> from graphkm import GKMClassifier
    >>> X, y = np.array([[0.0], [0.1], [0.9], [1.0]]), np.array(["a", "", "", "b"])
    >>> model = GKMClassifier(unlabeled="", n_neighbors=2).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(model, f"{folder}/model.gkm", note={"trained on": "four rows"})
    ...     load_model(f"{folder}/model.gkm").predict(X).tolist()
    ...     read_note(f"{folder}/model.gkm")
    ['a', 'a', 'b', 'b']
    {'trained on': 'four rows'}
    """
    if isinstance(model, Pipeline):
        check_steps(model)
    elif type(model) not in MODELS:
        known = ", ".join(cls.__name__ for cls in MODELS)
        raise ValueError(
            f"A {type(model).__name__} cannot be saved: files hold {known}, and pipelines of a "
            "scaler and one of them. joblib.dump keeps any estimator, for readers who trust you."
        )
    saving.save_model(model, path, _checked_note(note), _KINDS)


def load_model(path: str | os.PathLike[str]) -> Any:
    """Return the model of a file: it predicts as the one that was saved, bit for bit.

    Nothing in the file is executed, whoever wrote it.

    Parameters
    ----------
    path : path
        What `save_model`, a model's `save` or `graphkm.online.train` wrote; a ModelFileError says
        what is wrong with it.

    Returns
    -------
    estimator
    """
    return load_with_note(path)[0]


def load_with_note(path: str | os.PathLike[str]) -> tuple[Any, dict[str, Any]]:
    """Return the model and the note of a file that is read once: it may be a pipe."""
    model, note = saving.load_model(path, _KINDS)
    return model, _as_note(path, note)


def read_note(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the note that was saved with a model, empty if there was none.

    Parameters
    ----------
    path : path
        As in `load_model`.

    Returns
    -------
    dict
    """
    return _as_note(path, read_container(path)[0].get("note"))


def _as_note(path: str | os.PathLike[str], note: Any) -> dict[str, Any]:
    if not isinstance(note, dict):
        raise ModelFileError(f"{os.fspath(path)} holds no model of graphkm: it has no note.")
    return note


def _checked_note(note: dict[str, Any] | None) -> dict[str, Any]:
    try:
        kept = json.loads(json.dumps({} if note is None else note))
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"note={note!r} cannot be saved as JSON: {error}.") from error
    if not isinstance(kept, dict):
        raise ValueError(f"note must be a dict or None, got {note!r}.")
    return kept


def check_steps(pipeline: Pipeline) -> None:
    """Raise unless these are scalers and a model, which `memory` has nothing to do with."""
    *before, (_, last) = pipeline.steps
    for name, step in before:
        if type(step) not in SCALERS and not (step is None or step == "passthrough"):
            known = ", ".join(cls.__name__ for cls in SCALERS)
            raise ValueError(
                f"The pipeline's step {name!r}, a {type(step).__name__}, cannot be saved: there "
                f"can be {known} and 'passthrough' before a model. Apply other steps to the data "
                "yourself, and save the last step."
            )
    if type(last) not in MODELS:
        raise ValueError(
            f"The pipeline ends with {last!r}; only one with a model of this library at its end "
            "can be saved."
        )
    if pipeline.memory is not None:
        raise ValueError(
            "A pipeline's memory is a folder of this machine and cannot be saved; "
            "set_params(memory=None) before."
        )


def _restore_pipeline(pipeline: Pipeline, state: State) -> None:
    """Check a pipeline that was read: its steps, and that each takes what the last one gives."""
    for step in pipeline.steps:
        if type(step) is not tuple or len(step) != 2 or type(step[0]) is not str:
            raise ValueError("a pipeline has a step without a name")
    check_steps(pipeline)
    widths = {step.n_features_in_ for _, step in pipeline.steps if hasattr(step, "n_features_in_")}
    if len(widths) != 1 or state:
        raise ValueError("a pipeline's steps do not fit together")


def _scaler(cls: type, names: tuple[str, ...]) -> Kind:
    """Return how a scaler is stored."""

    def state(scaler: Any) -> State:
        return {name: vars(scaler)[name] for name in (*names, *_SEEN) if name in vars(scaler)}

    def restore(scaler: Any, state: State) -> None:
        width = state["n_features_in_"]
        for name, value in state.items():
            plain = type(value) in (int, float) or (name in names and value is None)
            array = isinstance(value, np.ndarray) and value.shape == (width,)
            text = name == "feature_names_in_"
            if not (plain or array) or (array and (value.dtype.kind in "if") is text):
                raise ValueError(f"{name} of a {cls.__name__} does not fit")
            setattr(scaler, name, value)
        if not set(names) <= set(state) or type(width) is not int:
            raise ValueError(f"a {cls.__name__} is not complete")

    return Kind(cls, state, restore)


_KINDS = {
    **{cls.__name__: kind_of(cls) for cls in MODELS},
    **{cls.__name__: _scaler(cls, names) for cls, names in SCALERS.items()},
    "Pipeline": Kind(Pipeline, lambda pipeline: {}, _restore_pipeline),
}
