"""The table of models: how each is stored and restored."""

from __future__ import annotations

from functools import partial
from math import comb
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from ..gkm import (
    GKMClassifier,
    GKMClassifierCV,
    GKMRegressor,
    GKMRegressorCV,
    GraphCorrectedClassifier,
    GraphCorrectedRegressor,
)
from ..machines import (
    KernelRidgeClassifierCV,
    KernelRidgeCV,
    LaplacianRegressor,
    LaplacianSVC,
    TransductiveSVC,
)
from .codec import Kind, State
from .fields import corrected_state, restore_corrected
from .gkm import gkm_state, restore_gkm
from .machines import machine_state, restore_machine
from .pairwise import PairwiseClassifier

SCALERS: dict[type, tuple[str, ...]] = {
    StandardScaler: ("mean_", "var_", "scale_"),
    MinMaxScaler: ("min_", "scale_", "data_min_", "data_max_", "data_range_"),
    MaxAbsScaler: ("max_abs_", "scale_"),
}
_SEEN = ("n_features_in_", "feature_names_in_", "n_samples_seen_")


def _search_state(search: Any) -> State:
    return {
        "candidates": search.cv_results_["params"],
        "losses": search.cv_results_["criterion"],
        "scores": search.cv_results_["mean_test_score"],
        "best_score": search.best_score_,
        "unlabeled_gain": search.unlabeled_gain_,
        "model": search.best_estimator_,
    }


def _restore_search(chosen: type, search: Any, state: State) -> None:
    """Restore a search whose model is of the class `chosen`."""
    model, candidates = state["model"], state["candidates"]
    search.searched()  # ValueError if it is no estimator
    if type(model) is not chosen or not hasattr(model, "expansion_"):
        raise ValueError(f"the model chosen is not a fitted {chosen.__name__}")
    if getattr(model, "corrected_", None) is not None:
        search.take_field(model)
        return
    if any(state[name].shape != (len(candidates),) for name in ("losses", "scores")):
        raise ValueError("there are not as many scores as candidates")
    own = state["best_score"], state["unlabeled_gain"]
    if any(type(value) is not float for value in own):
        raise ValueError("its own score is not a number")
    search.set_results(candidates, state["losses"], state["scores"])
    search.best_score_, search.unlabeled_gain_ = own
    search.set_model(model)


def _pairwise_state(model: PairwiseClassifier) -> State:
    return machine_state(model) | {"votes_order_": model.votes_order_}


def _restore_pairwise(model: PairwiseClassifier, state: State) -> None:
    order = state.pop("votes_order_")
    restore_machine(model, state, lambda model: comb(len(model.classes_), 2))
    if not np.array_equal(np.sort(order), np.arange(len(model.classes_))):
        raise ValueError("votes_order_ is not an order of the classes")
    model.votes_order_ = order


def _scaler_state(scaler: Any) -> State:
    names = (*SCALERS[type(scaler)], *_SEEN)
    return {name: vars(scaler)[name] for name in names if name in vars(scaler)}


def _restore_scaler(scaler: Any, state: State) -> None:
    kind, names, width = type(scaler).__name__, SCALERS[type(scaler)], state["n_features_in_"]
    for name, value in state.items():
        plain = type(value) in (int, float) or (name in names and value is None)
        array = isinstance(value, np.ndarray) and value.shape == (width,)
        text = name == "feature_names_in_"
        if not (plain or array) or (array and (value.dtype.kind in "if") is text):
            raise ValueError(f"{name} of a {kind} does not fit")
        setattr(scaler, name, value)
    if not set(names) <= set(state) or type(width) is not int:
        raise ValueError(f"a {kind} is not complete")


class ForeignModelError(ValueError):
    """A model of another library has no plain form, so that it cannot be saved safely."""


def check_storable(model: Any) -> None:
    """Raise unless the model is one of `MODELS`, or a pipeline of scalers and one of them."""
    if isinstance(model, Pipeline):
        check_steps(model)
        model = model.steps[-1][1]
    if type(model) not in MODELS:
        known = ", ".join(cls.__name__ for cls in MODELS)
        raise ForeignModelError(
            f"A {type(model).__name__} cannot be saved: files hold {known}, and pipelines of a "
            "scaler and one of them. joblib.dump keeps any estimator, for readers who trust you."
        )
    if isinstance(model, CORRECTED) and hasattr(model, "estimator_"):
        _check_corrected(model)


def _check_corrected(model: Any) -> None:
    """Raise unless the estimator inside a corrected model can be saved."""
    inside = model.estimator_
    last = inside.steps[-1][1] if isinstance(inside, Pipeline) else inside
    if type(last) not in MODELS:
        raise ForeignModelError(
            f"This {type(model).__name__} cannot be saved: the {type(last).__name__} inside has "
            "no plain form in a model file, which holds no code. skops.io.dump or joblib.dump "
            "keep it, for readers who trust you; with estimator=None or another model of this "
            "library inside it can be saved."
        )
    check_storable(inside)


def check_steps(pipeline: Pipeline) -> None:
    """Raise unless the steps are scalers and a model, without a cache."""
    *before, (_, last) = pipeline.steps
    for name, step in before:
        if type(step) not in SCALERS and not (step is None or step == "passthrough"):
            known = ", ".join(cls.__name__ for cls in SCALERS)
            raise ValueError(
                f"The pipeline's step {name!r}, a {type(step).__name__}, cannot be saved: only "
                f"{known} and 'passthrough' can stand before a model. Apply other steps to the "
                "data yourself, and save the last step."
            )
    if type(last) not in MODELS:
        raise ValueError(
            f"The pipeline ends with {last!r}; only one with a model of this library at its end "
            "can be saved."
        )
    if pipeline.memory is not None:
        raise ValueError(
            "A pipeline's memory is a folder of this machine and cannot be saved; call "
            "set_params(memory=None) first."
        )


def _restore_pipeline(pipeline: Pipeline, state: State) -> None:
    """Check the steps of a pipeline, which are its parameters: all take the same features."""
    for step in pipeline.steps:
        if type(step) is not tuple or len(step) != 2 or type(step[0]) is not str:
            raise ValueError("a pipeline has a step without a name")
    check_steps(pipeline)
    widths = {step.n_features_in_ for _, step in pipeline.steps if hasattr(step, "n_features_in_")}
    if len(widths) != 1 or state:
        raise ValueError("the steps of a pipeline do not fit together")


CORRECTED = (GraphCorrectedClassifier, GraphCorrectedRegressor)
_MODELS = (
    Kind(GKMClassifier, gkm_state, restore_gkm),
    Kind(GKMRegressor, gkm_state, restore_gkm),
    Kind(GKMClassifierCV, _search_state, partial(_restore_search, GKMClassifier)),
    Kind(GKMRegressorCV, _search_state, partial(_restore_search, GKMRegressor)),
    Kind(LaplacianSVC, machine_state, restore_machine),
    Kind(LaplacianRegressor, machine_state, restore_machine),
    Kind(TransductiveSVC, machine_state, restore_machine),
    Kind(KernelRidgeClassifierCV, machine_state, restore_machine),
    Kind(KernelRidgeCV, machine_state, restore_machine),
    *(Kind(cls, corrected_state, restore_corrected) for cls in CORRECTED),
    Kind(PairwiseClassifier, _pairwise_state, _restore_pairwise),
)
MODELS: tuple[type, ...] = tuple(kind.cls for kind in _MODELS)
KINDS = {
    kind.cls.__name__: kind
    for kind in (
        *_MODELS,
        *(Kind(cls, _scaler_state, _restore_scaler) for cls in SCALERS),
        Kind(Pipeline, lambda pipeline: {}, _restore_pipeline),
    )
}
