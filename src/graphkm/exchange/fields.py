"""The state of a model that is corrected over a graph, and checks of a state from a file."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_regressor

from ..graphs import AnchorNodes, NeighbourIndex, RowNodes, resolve_nodes
from ..graphs.approximate import DIRECTIONS
from ..graphs.nodes import Nodes
from ..machines.calibration import Calibration
from ..solvers.field import Field, Strength
from .codec import State
from .machines import (
    check_matrix,
    check_rows,
    memory_state,
    n_functions,
    present,
    require,
    restore_memory,
    set_attributes,
    take_memory,
)

SEEN = ("n_features_in_", "feature_names_in_", "classes_")
_NUMBERS = ("estimator_weight", "prior")
_EARLIER = ("labeled", "known", "rows")
HOW = ("leave-one-out", "out-of-bag", "out-of-fold", "prior")
_STATE = {"estimator", "field", "how", "heat", "scaling", *_NUMBERS}
_STATE |= {"candidates", "criterion", "scores", "ranks", "best", "n_held_out"}


def corrected_state(model: Any) -> State:
    """Return everything that a corrected model needs to predict."""
    state = model.fitted_state()
    state["field"] = field_state(state["field"])
    return present(model, SEEN) | state | memory_state(model)


def restore_corrected(model: Any, state: State) -> None:
    """Give a new model the state from `corrected_state`; raise ValueError if it does not fit."""
    set_attributes(model, {name: state.pop(name) for name in SEEN if name in state})
    earlier = {name: state.pop(name) for name in _EARLIER if name in state}
    remembered = take_memory(state)
    require(set(state) == _STATE, "it is not complete")
    resolve_nodes(model.graph)
    _check_estimator(model, state["estimator"])
    for name in _NUMBERS:
        require(is_number(state[name]), f"its {name} is {state[name]}")
    require(state["how"] in HOW, f"its held-out predictions are {state['how']}")
    require(state["heat"] is None or is_number(state["heat"]), f"its heat is {state['heat']}")
    state["field"] = restored_field(model, state["field"])
    _check_scaling(model, state["scaling"], state["field"])
    _check_results(state)
    model.set_fitted_state(state)
    if is_classifier(model):
        # Earlier versions took the scaling alone.
        alone = Calibration(1.0, *np.zeros((2, len(model.classes_))))
        model.calibration_ = None if state["scaling"] is None else alone
    restore_memory(model, remembered)
    if earlier:
        _label_rows(model, earlier)


def is_number(value: Any) -> bool:
    """Return whether a value from a file is a finite float."""
    return type(value) is float and bool(np.isfinite(value))


def _check_estimator(model: Any, estimator: Any) -> None:
    """Raise unless the model can be fitted again, and its estimator fits it."""
    require(model.estimator is None or hasattr(model.estimator, "get_params"), "it has no model")
    check_inside(model, estimator, getattr(model, "classes_", None))


def check_inside(model: Any, estimator: Any, classes: NDArray[Any] | None) -> None:
    """Raise unless a fitted estimator inside a model is of its kind, and fits its features.

    Parameters
    ----------
    model : estimator
        Its features are set.
    estimator : object
        From a file.
    classes : ndarray or None
        The labels that the estimator may know; None for quantities.
    """
    same = is_classifier if is_classifier(model) else is_regressor
    last = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
    require(same(last) and hasattr(last, "n_features_in_"), "its estimator is of another kind")
    require(estimator.n_features_in_ == model.n_features_in_, "its estimator has other features")
    if classes is not None:
        known = np.isin(estimator.classes_, classes)
        require(known.all(), "its estimator knows other classes")


def _check_scaling(model: Any, scaling: Any, field: Field | None) -> None:
    """Raise unless a slope and offsets are those of a classifier, which a field cannot lack."""
    if scaling is None:
        require(field is None or not is_classifier(model), "its probabilities are not scaled")
        return
    require(is_classifier(model), "its targets have probabilities")
    require(type(scaling) is tuple and len(scaling) == 2, "its probabilities have no slope")
    slope, offsets = scaling
    require(is_number(slope) and slope > 0, f"the slope of its probabilities is {slope}")
    check_matrix("the offsets of its probabilities", offsets, (len(model.classes_),))


# ------------------------------------------------------------------ the field


def field_state(field: Field | None) -> State | None:
    """Return everything that a field needs to predict; None without one."""
    if field is None:
        return None
    return nodes_state(field.nodes) | {
        "values": field.values,
        "strength": field.strength and tuple(field.strength),
        "objective": field.objective,
    }


def restored_field(model: Any, state: State | None) -> Field | None:
    """Return the field from `field_state`; raise ValueError if it does not fit the model."""
    if state is None:
        return None
    nodes = restored_nodes(model, state)
    shape = (nodes.points.shape[0], n_functions(model))
    check_matrix("the values of its field", state["values"], shape, np.float32)
    strength, objective = state["strength"], state["objective"]
    if strength is not None:
        strength = Strength(*strength)
        numbers = all(map(is_number, strength)) and strength.C >= 0 and strength.eps > 0
        require(numbers, f"its field has {strength}")
    fits = is_number(objective) if strength else type(objective) is float and np.isnan(objective)
    require(bool(fits), f"its objective is {objective}")
    return Field(nodes, state["values"], strength, objective)


def nodes_state(nodes: Nodes) -> State:
    """Return everything that nodes need to find their weights for a row."""
    assert isinstance(nodes, RowNodes | AnchorNodes)
    own: State = {}
    if isinstance(nodes, RowNodes):
        own = {"n_neighbors": nodes.n_neighbors, "sharpness": float(nodes.sharpness)}
    return own | {"reach": nodes.reach, "index": nodes.index.state()}


def restored_nodes(model: Any, state: State) -> RowNodes | AnchorNodes:
    """Return the nodes from `nodes_state`; raise ValueError if they do not fit the model."""
    index, reach = _restored_index(model, state["index"]), state["reach"]
    m = index.rows.shape[0]
    check_matrix("the reach of its nodes", reach, (m,))
    require((reach > 0).all(), "a node has no reach")
    if "n_neighbors" not in state:
        return AnchorNodes(index, reach)
    k, sharpness = state["n_neighbors"], state["sharpness"]
    require(type(k) is int and 0 < k <= m, f"its nodes have {k} neighbours")
    require(is_number(sharpness) and sharpness > 0, f"its sharpness is {sharpness}")
    return RowNodes(index, k, reach, sharpness)


def _restored_index(model: Any, state: State) -> NeighbourIndex:
    rows, calibrations = state["rows"], state["calibrations"]
    n, d = rows.shape[0], model.n_features_in_
    require(n > 0, "its field has no nodes")
    check_rows("its nodes", rows, n, d)
    dense = type(rows) is np.ndarray
    approximate = type(state["approximate"]) is bool and (dense or not state["approximate"])
    require(approximate, "its nodes cannot be searched")
    require(state["method"] in ("auto", "exact", "approximate"), "its search has no such name")
    require(type(calibrations) is list, "its search has no numbers")
    for known in calibrations:
        k, width, probes = known
        require(all(type(number) is int for number in known), "its search has no numbers")
        widths = (d, DIRECTIONS) if d > 2 * DIRECTIONS else (d,)
        require(0 < k < n and width in widths and 0 <= probes <= n, "its search has other numbers")
    return NeighbourIndex.from_state(state, model.n_threads())


# ------------------------------------------------------------------ labels and results


def _label_rows(model: Any, state: State) -> None:
    """Label the training rows, which files of earlier versions held instead of their labels."""
    require(set(state) == set(_EARLIER), "its rows and their labels are not complete")
    labeled, known, rows = (state[name] for name in _EARLIER)
    field = model.field_
    if rows is None:
        require(field is not None and isinstance(field.nodes, RowNodes), "its rows are missing")
        rows = field.nodes.points
    else:
        check_rows("its rows", rows, rows.shape[0], model.n_features_in_)
    _check_positions(labeled, rows.shape[0])
    require(type(known) is np.ndarray and known.shape == labeled.shape, "its labels do not fit")
    if is_classifier(model):
        require(np.isin(known, model.classes_).all(), "its labels are of other classes")
    else:
        check_matrix("its targets", known, labeled.shape)
    model.set_transduced(model.labelled(rows, labeled, known))


def _check_positions(labeled: NDArray[Any], n: int) -> None:
    whole = labeled.ndim == 1 and labeled.dtype == np.int64 and len(labeled) > 0
    require(whole and (np.diff(labeled) > 0).all(), "its labelled rows are out of order")
    require(labeled[0] >= 0 and labeled[-1] < n, "a labelled row is none of its rows")


def _check_results(state: State) -> None:
    candidates, best, count = state["candidates"], state["best"], state["n_held_out"]
    require(type(candidates) is list and len(candidates) > 0, "it has no candidates")
    for each in candidates:
        plain = type(each) is dict and "estimator_weight" in each
        plain = plain and all(type(k) is str and type(v) is float for k, v in each.items())
        require(plain, f"a candidate is {str(each)[:40]}")
    for name in ("criterion", "scores", "ranks"):
        values = state[name]
        fits = type(values) is np.ndarray and values.dtype == np.float64
        require(fits and values.shape == (len(candidates),), f"its {name} do not fit")
    require(type(best) is int and 0 <= best < len(candidates), f"it has no candidate {best}")
    # A model fitted by sums over labels keeps some of them only.
    fits = type(count) is int and 0 <= count < 2**53
    require(fits, f"{count} of its labels were held out")
