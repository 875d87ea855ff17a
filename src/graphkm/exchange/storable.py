"""The table of models: how each is stored and restored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import pairwise
from math import comb
from typing import Any

import numpy as np

from ..baselines import LaplacianRegressor, LaplacianSVC, TransductiveSVC
from ..gkm import GKMClassifier, GKMClassifierCV, GKMRegressor, GKMRegressorCV
from ..kernel_ridge import KernelRidgeClassifierCV, KernelRidgeCV
from ..members.named import LikeNames
from ..positive import PositiveUnlabeledClassifier
from ..semi import SemiSupervisedClassifier, SemiSupervisedRegressor
from .codec import Kind, Kinds, State
from .pairwise import PairwiseClassifier
from .state_encoders import ENCODERS
from .state_gkm import gkm_state, restore_gkm
from .state_machines import machine_state, restore_machine
from .state_mixtures import mixture_state, models_in, restore_mixture
from .state_names import names_state, restore_names
from .state_positive import positive_state, restore_positive


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
    if type(model) is not chosen or not hasattr(model, "kernel_"):
        raise ValueError(f"the model chosen is not a fitted {chosen.__name__}")
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


class ForeignModelError(ValueError):
    """A model of another library cannot be saved safely, because it has no plain form."""


def check_storable(model: Any) -> None:
    """Raise unless the model is one of `MODELS`, or a pipeline that ends with one of them."""
    if is_pipeline(model):
        check_steps(model)
        model = model.steps[-1][1]
    if type(model) not in MODELS:
        known = ", ".join(cls.__name__ for cls in MODELS)
        raise ForeignModelError(
            f"A {type(model).__name__} cannot be saved: files hold {known}, and pipelines of "
            "scalers, imputers, encoders and one of them. joblib.dump keeps any estimator, for "
            "readers who trust you."
        )
    for inside in _inside(model):
        last = inside.steps[-1][1] if is_pipeline(inside) else inside
        if type(last) not in MODELS:
            raise ForeignModelError(
                f"This {type(model).__name__} cannot be saved: the {type(last).__name__} inside "
                "has no plain form in a model file, which holds no code. skops.io.dump or "
                "joblib.dump keep it, for readers who trust you; with estimator=None or another "
                "model of this library inside it can be saved."
            )
        check_storable(inside)
    for name, view in getattr(model, "views_", {}).items():
        _check_view(name, view.encoder)


def _check_view(name: str, encoder: Any) -> None:
    """Raise unless the encoder of a view can be saved."""
    own = tuple(kind.cls for kind in ENCODERS)
    if encoder is None or isinstance(encoder, own):
        return
    for step in [each for _, each in encoder.steps] if is_pipeline(encoder) else [encoder]:
        if not (_is_preparation(step) or step is None or step == "passthrough"):
            raise ForeignModelError(
                f"The encoder of the view {name!r} cannot be saved: a {type(step).__name__} has no "
                f"plain form in a model file. {', '.join(cls.__name__ for cls in own)}, scalers, "
                "imputers, OneHotEncoder and ColumnTransformer have one."
            )


def _inside(model: Any) -> Iterator[Any]:
    """Yield the estimators inside a fitted model: those that it uses, and those that it was given.

    A mixture may leave out models that it was given.
    """
    if isinstance(model, MIXED) and hasattr(model, "mixture_"):
        yield from models_in(model.mixture_)
        asked = model.estimator
        given = asked if isinstance(asked, list | tuple) else [asked]
        yield from (each for each in given if hasattr(each, "get_params"))
    if isinstance(model, PositiveUnlabeledClassifier) and hasattr(model, "estimator_"):
        yield from (each for each in (model.estimator_, model.estimator) if each is not None)


def is_pipeline(model: Any) -> bool:
    """Return whether a model is a pipeline."""
    from sklearn.pipeline import Pipeline  # slow to import

    return isinstance(model, Pipeline)


def check_steps(pipeline: Any) -> None:
    """Raise unless the steps are preparations and a model, without a cache."""
    *before, (_, last) = pipeline.steps
    check_preparations(before)
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


def check_preparations(steps: list[tuple[str, Any]]) -> None:
    """Raise unless these steps before a model can be saved."""
    for name, step in steps:
        if not (_is_preparation(step) or step is None or step == "passthrough"):
            known = ", ".join(name for kinds in _of_scikit_learn() for name in kinds)
            raise ValueError(
                f"The pipeline's step {name!r}, a {type(step).__name__}, cannot be saved: only "
                f"{known} and 'passthrough' can stand before a model. Apply other steps to the "
                "data yourself, and save the last step."
            )


def _is_preparation(step: Any) -> bool:
    return any(type(step) is kind.cls for kinds in _of_scikit_learn() for kind in kinds.values())


def _width_after(step: Any) -> int:
    """Return the number of columns that a fitted step makes."""
    if type(step).__name__ in next(_of_scikit_learn()):
        return int(step.n_features_in_)
    from .state_preparations import output_width  # slow to import

    return output_width(step)


def _restore_pipeline(pipeline: Any, state: State) -> None:
    """Check the steps of a pipeline, which are its parameters: each takes what comes before."""
    for step in pipeline.steps:
        if type(step) is not tuple or len(step) != 2 or type(step[0]) is not str:
            raise ValueError("a pipeline has a step without a name")
    if type(pipeline.steps[-1][1]) in MODELS:
        check_steps(pipeline)
    else:  # one inside a ColumnTransformer
        check_preparations(pipeline.steps)
    fitted = [step for _, step in pipeline.steps if hasattr(step, "n_features_in_")]
    for before, after in pairwise(fitted):
        if _width_after(before) != after.n_features_in_:
            raise ValueError("the steps of a pipeline do not fit together")
    if not fitted or state:
        raise ValueError("the steps of a pipeline do not fit together")


MIXED = (SemiSupervisedClassifier, SemiSupervisedRegressor)
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
    *(Kind(cls, mixture_state, restore_mixture) for cls in MIXED),
    Kind(PositiveUnlabeledClassifier, positive_state, restore_positive),
    Kind(PairwiseClassifier, _pairwise_state, _restore_pairwise),
    Kind(LikeNames, names_state, restore_names),
)
MODELS: tuple[type, ...] = tuple(kind.cls for kind in _MODELS)


def _by_name(kinds: tuple[Kind, ...]) -> dict[str, Kind]:
    return {kind.cls.__name__: kind for kind in kinds}


def _of_scikit_learn() -> Iterator[dict[str, Kind]]:
    """Yield the scalers, and then the other preparations, whose import takes much longer."""
    from .state_scalers import SCALINGS

    yield _by_name(SCALINGS)
    from .state_preparations import PREPARATIONS

    yield _by_name(PREPARATIONS)


class _AllKinds(Mapping[str, Kind]):
    """All kinds by name; those of scikit-learn are imported when one of them is asked for."""

    def _tables(self) -> Iterator[dict[str, Kind]]:
        yield _by_name((*_MODELS, *ENCODERS))
        from sklearn.pipeline import Pipeline

        yield _by_name((Kind(Pipeline, lambda pipeline: {}, _restore_pipeline),))
        yield from _of_scikit_learn()

    def __getitem__(self, name: str) -> Kind:
        for table in self._tables():
            if name in table:
                return table[name]
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        for table in self._tables():
            yield from table

    def __len__(self) -> int:
        return sum(map(len, self._tables()))


KINDS: Kinds = _AllKinds()
