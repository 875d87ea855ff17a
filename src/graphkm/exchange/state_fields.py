"""The state of a field and of its nodes, and checks of a state from a file."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_regressor

from ..fields.system import Field, Strength
from ..graphs import AnchorNodes, RowNodes
from ..graphs.nodes import Nodes
from ..neighbours.cells import DIRECTIONS
from ..neighbours.index import NeighbourIndex
from .codec import State
from .state_machines import check_matrix, check_rows, n_functions, require

SEEN = ("n_features_in_", "feature_names_in_", "classes_")
HOW = ("leave-one-out", "out-of-bag", "out-of-fold", "prior")


def is_number(value: Any) -> bool:
    """Return whether a value from a file is a finite float."""
    return type(value) is float and bool(np.isfinite(value))


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
