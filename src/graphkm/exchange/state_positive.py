"""The state of a classifier of positive and unlabelled rows, and checks of a state from a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..positive.answers import names_of_classes
from ..semi import SemiSupervisedClassifier
from .codec import State
from .state_fields import is_number
from .state_machines import check_matrix, require

_OWN = {"model", "shift", "positive", "share", "distributions"}


def positive_state(model: Any) -> State:
    """Return the model of the last round, and what turns its answers into probabilities."""
    return {
        "model": model.estimator_,
        "shift": model.shift_,
        "positive": model.positive_,
        "share": [model.class_prior_, *model.class_prior_interval_],
        "distributions": getattr(model, "label_distributions_", None),
    }


def restore_positive(model: Any, state: State) -> None:
    """Give a new model the state from `positive_state`; raise ValueError if it does not fit."""
    require(set(state) == _OWN, "it is not complete")
    inside, name, share = state["model"], state["positive"], state["share"]
    fitted = type(inside) is SemiSupervisedClassifier and hasattr(inside, "mixture_")
    require(fitted, "the model inside is no fitted SemiSupervisedClassifier")
    require(
        np.array_equal(inside.classes_, [0, 1]), "the model inside has other classes than 0 and 1"
    )
    require(inside.mixture_.kind == "classes", "the model inside has several labels per row")
    require(is_number(state["shift"]), "its shift is not a number")
    require(type(name) in (bool, int, float, str), f"its class is {str(name)[:40]}")
    shares = isinstance(share, list) and len(share) == 3 and all(map(is_number, share))
    require(shares and 0.0 <= share[1] <= share[0] <= share[2] <= 1.0, "its shares are wrong")
    model.estimator_, model.shift_, model.positive_ = inside, state["shift"], name
    model.class_prior_, model.class_prior_interval_ = share[0], (share[1], share[2])
    model.classes_ = names_of_classes(name)
    if state["distributions"] is not None:
        own = getattr(inside, "label_distributions_", np.empty((0, 2)))
        check_matrix("its probabilities", state["distributions"], own.shape)
        model.label_distributions_ = state["distributions"]
