"""The state of a model that compares rows with the names of labels."""

from __future__ import annotations

import numpy as np

from ..members.named import LikeNames
from .codec import State
from .state_machines import check_matrix, require


def names_state(model: LikeNames) -> State:
    """Return what the model needs to predict."""
    return {"lines": model.lines_, "offsets": model.offsets_, "classes": model.classes_}


def restore_names(model: LikeNames, state: State) -> None:
    """Give a new model the state from `names_state`; raise ValueError if it does not fit."""
    require(set(state) == {"lines", "offsets", "classes"}, "names of labels are not complete")
    classes, lines = state["classes"], state["lines"]
    fits = type(classes) is np.ndarray and classes.ndim == 1 and len(classes) >= 2
    require(fits and type(lines) is np.ndarray and lines.ndim == 2, "names of labels do not fit")
    check_matrix("the lines of names", lines, (len(classes), lines.shape[1]))
    check_matrix("the offsets of names", state["offsets"], (len(classes),))
    require(len(np.unique(classes)) == len(classes), "two names are of one label")
    model.lines_, model.offsets_, model.classes_ = lines, state["offsets"], classes
    model.n_features_in_ = int(lines.shape[1])
