"""The state of the front door's mixture of members, and checks of a state from a file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from ..graphs import resolve_nodes
from ..graphs.given_edges import Ids
from ..judge.held_out import HeldOut
from ..judge.units import Units
from ..members.member import Kind
from ..members.of_all_rows import OfAllRows
from ..members.per_column import PerColumn
from ..semi.labelled import HELD
from ..semi.mixed import Linked, Mixed, Part
from ..semi.mixed_views import AnyMixture, MixedViews
from ..semi.report import MemberReport, MemberTable
from .codec import State
from .state_encoders import width_of
from .state_fields import HOW, SEEN, check_inside, is_number, nodes_state, restored_nodes
from .state_machines import (
    check_classes,
    check_matrix,
    memory_state,
    present,
    require,
    restore_memory,
    set_attributes,
    take_memory,
)
from .state_views import check_weight, restored_views, views_state

_OWN = {"members", "best_score", "unlabeled_gain", "class_sizes", "thresholds", "order", "held"}
_OF_ROWS = {"kind", "models", "parts", "nodes", "values", "weight", "prior", "tilt", "linked"}
_OF_ROWS |= {"units"}
_OF_VIEWS = {"views", "tilt", "units"}  # in the place of the former if there are several views
_OF_MODEL = {"model", "all_rows", "how", "heat", "units"}
_OF_PART = {"model", "weight", "temperature", "field", "on_edges"}
_OF_LINKED = {"n", "names", "values", "weight", "distributions"}
_ROUNDING = 1e-3  # of shares in single precision, added up


def mixture_state(model: Any) -> State:
    """Return everything that the front door needs to predict, and its table of members."""
    mixed = model.mixture_
    own = {
        "members": [tuple(each) for each in model.members_],
        "best_score": float(model.best_score_),
        "unlabeled_gain": model.unlabeled_gain_,
        "class_sizes": getattr(model, "class_sizes_", None),
        "thresholds": getattr(model, "thresholds_", None),
        "order": getattr(model, "order_", None),
        "held": {name: getattr(model, name) for name in HELD}
        if hasattr(model, "held_out_")
        else None,
    }
    if isinstance(mixed, MixedViews):
        own |= {"views": views_state(model, _mixed_state), "tilt": mixed.tilt}
        own |= {"units": tuple(mixed.units)}
    else:
        own |= _mixed_state(model, mixed)
    return present(model, SEEN) | own | memory_state(model)


def _mixed_state(model: Any, mixed: Mixed) -> State:
    """Return what the mixture of plain rows, or of one view, needs to predict."""
    held = {id(part.model): part.model for part in mixed.parts}  # each model once
    places = {own: place for place, own in enumerate(held)}
    return {
        "kind": mixed.kind,
        "models": [_model_state(each) for each in held.values()],
        "parts": [
            {
                "model": places[id(part.model)],
                "weight": part.weight,
                "temperature": part.temperature,
                "field": part.field,
                "on_edges": part.on_edges,
            }
            for part in mixed.parts
        ],
        "nodes": None if mixed.nodes is None else nodes_state(mixed.nodes),
        "values": mixed.values,
        "weight": mixed.weight,
        "prior": mixed.prior,
        "tilt": mixed.tilt,
        "linked": _linked_state(model, mixed.linked),
        "units": tuple(mixed.units),
    }


def _linked_state(model: Any, linked: Linked | None) -> State | None:
    """Return what predictions by edges need; None if no graph was given."""
    if linked is None:
        return None
    return {
        "n": len(linked.ids),
        "names": linked.ids.names,
        "values": linked.values,
        "weight": linked.weight,
        "distributions": getattr(model, "label_distributions_", None),
    }


def models_in(mixed: AnyMixture) -> list[Any]:
    """Return the fitted models of a mixture, as they were made by their own libraries."""
    found = {id(part.model): part.model for part in mixed.parts}.values()
    every = [own for held in found for own in _columns_of(held)]
    models = [held.model for held in every if isinstance(held, HeldOut)]
    return [each.model if isinstance(each, OfAllRows) else each for each in models]


def _columns_of(held: HeldOut) -> list[HeldOut | float]:
    return held.model.columns if isinstance(held.model, PerColumn) else [held]


def restore_mixture(model: Any, state: State) -> None:
    """Give a new model the state from `mixture_state`; raise ValueError if it does not fit."""
    seen = {name: state.pop(name) for name in SEEN if name in state}
    set_attributes(model, seen, least=0, in_order=False)
    remembered = take_memory(state)
    by_views = "views" in state
    require(set(state) == _OWN | (_OF_VIEWS if by_views else _OF_ROWS), "it is not complete")
    _check_parameters(model)
    model.members_ = _restored_table(state["members"])
    for name in ("best_score", "unlabeled_gain"):
        require(type(state[name]) is float, f"its {name} is {str(state[name])[:40]}")
    model.best_score_, model.unlabeled_gain_ = state["best_score"], state["unlabeled_gain"]
    if by_views:
        model.views_, mixed = restored_views(model, state["views"], width_of, _restored_mixture)
        tilt, units = _restored_tilt(state["tilt"], mixed.classes), state["units"]
        model.mixture_ = replace(mixed, tilt=tilt, units=_restored_units(units, len(mixed.prior)))
        linked = next(_linked_in(each["mixture"] for each in state["views"]), None)
    else:
        model.mixture_ = _restored_mixture(model, state)
        linked = state["linked"]
    if model.mixture_.kind == "classes":
        check_classes(model.classes_)
        check_matrix("the sizes of its classes", state["class_sizes"], (len(model.classes_),))
        model.class_sizes_ = state["class_sizes"]
        order = model.order_ = state["order"]
        if order is not None:
            known = type(order) is np.ndarray and order.shape == model.classes_.shape
            known = known and np.array_equal(np.sort(order), model.classes_)
            require(known, "the order of its classes is none")
    if model.mixture_.kind == "labels":
        check_matrix("the thresholds of its labels", state["thresholds"], model.classes_.shape)
        model.thresholds_ = state["thresholds"]
    _restore_held(model, state["held"])
    by_edges = not model.mixture_.parts and model.mixture_.nodes is None
    by_edges = by_edges and model.mixture_.linked is not None
    require(model.n_features_in_ > 0 or by_edges, "it has no features")
    if linked is not None and linked["distributions"] is not None:
        model.label_distributions_ = linked["distributions"]
    restore_memory(model, remembered)


def _restore_held(model: Any, state: Any) -> None:
    """Give a model what its fit said of the labelled rows, if that is known."""
    if state is None:
        return
    require(type(state) is dict and set(state) == set(HELD), "its labelled rows are not complete")
    labeled, held, told, weights = (state[name] for name in HELD)
    require(type(labeled) is np.ndarray and labeled.dtype == np.int64, "its labelled rows are none")
    n, width = len(labeled), len(model.mixture_.prior)
    require(labeled.shape == (n,) and n > 0 and labeled.min() >= 0, "its labelled rows are none")
    single = model.mixture_.kind == "quantities" and width == 1
    check_matrix("the weights of its labels", weights, (n,))
    require((weights > 0).all(), "a label has no weight")
    for what, each in (("held-out answers", held), ("labels", told)):
        plain = np.where(np.isnan(each), 0.0, each) if type(each) is np.ndarray else each  # gaps
        check_matrix(f"its {what}", plain, (n,) if single else (n, width))
    for name, each in state.items():
        setattr(model, name, each)


def _linked_in(states: Iterator[State | None]) -> Iterator[State]:
    """Yield what is kept of given edges in the mixtures of several views."""
    yield from (each["linked"] for each in states if each is not None and each["linked"])


def _check_parameters(model: Any) -> None:
    """Raise unless the models and the graph are some that can be asked for."""
    asked = model.estimator
    for each in asked if isinstance(asked, list | tuple) else [asked]:
        known = each is None or each == "auto" or hasattr(each, "get_params")
        require(known, f"its estimator is {str(each)[:40]}")
    if model.graph is not None and model.graph != "auto":
        resolve_nodes(model.graph)  # ValueError if it is none
    require(model.views is None or type(model.views) is dict, "its encoders have no names")


def _restored_table(lines: Any) -> MemberTable:
    require(type(lines) is list and lines, "it has no members")
    table = MemberTable()
    for line in lines:
        require(type(line) is tuple and len(line) == len(MemberReport._fields), "a member is none")
        each = MemberReport(*line)
        numbers = (each.weight, each.score, each.log_loss, each.seconds)
        fits = type(each.name) is str and all(type(number) is float for number in numbers)
        fits = fits and type(each.unlabeled) is bool and each.held_out_by in HOW
        require(fits and 0 <= each.weight <= 1 + 1e-9, f"a member is {str(line)[:40]}")
        table.append(each)
    return table


# ------------------------------------------------------------------ the mixture


def _model_state(held: HeldOut) -> State:
    if isinstance(held.model, PerColumn):
        every = held.model.columns
        own = [_model_state(each) if isinstance(each, HeldOut) else each for each in every]
        return {"columns": own, "how": held.how}
    return {
        "model": held.model.model if isinstance(held.model, OfAllRows) else held.model,
        "all_rows": isinstance(held.model, OfAllRows),
        "how": held.how,
        "heat": held.heat,
        "units": tuple(held.units),
    }


def _restored_units(state: Any, width: int = 0) -> Units:
    """Return units: two numbers, or two arrays of a number for each of `width` columns."""
    fits = type(state) is tuple and len(state) == 2
    for each in state if fits else ():
        fits = fits and (is_number(each) or (type(each) is np.ndarray and each.shape == (width,)))
    fits = fits and bool(np.isfinite(state).all() and np.all(state[1] > 0))
    require(fits, "its quantities have no units")
    return Units(*state)


def _restored_tilt(tilt: Any, classes: NDArray[Any] | None) -> Any:
    if tilt is None:
        return None
    if classes is None:
        raise ValueError("its quantities have sizes of classes")
    check_matrix("what gives its classes their sizes", tilt, (len(classes),))
    return tilt


def _restored_mixture(model: Any, state: State) -> Mixed:
    require(type(state) is dict and set(state) >= _OF_ROWS, "a mixture is not complete")
    kinds: tuple[Kind, ...] = ("classes", "labels") if is_classifier(model) else ("quantities",)
    require(state["kind"] in kinds, f"it predicts {str(state['kind'])[:40]}")
    kind: Kind = state["kind"]
    classes = model.classes_ if kind == "classes" else None
    parts, weight, prior = state["parts"], state["weight"], state["prior"]
    require(type(prior) is np.ndarray and prior.ndim == 1 and len(prior) > 0, "it has no prior")
    width = len(model.classes_) if is_classifier(model) else len(prior)
    check_matrix("its prior", prior, (width,))
    require(classes is None or (prior >= 0).all(), "a class has a prior below 0")
    require(classes is None or abs(prior.sum() - 1.0) <= 1e-9, "its prior does not add up to 1")
    plain = Mixed([], None, None, 0.0, prior, classes, kind)
    require(type(parts) is list, "it is no mixture")
    check_weight("the weight of its nodes", weight, plain) if np.any(weight) else None
    require(type(state["models"]) is list, "it has no models")
    models = [_restored_model(model, each, plain) for each in state["models"]]
    parts = [_restored_part(models, part, plain) for part in parts]
    linked = _restored_linked(model, state["linked"], plain)
    total = weight + sum(part.weight for part in parts) + (linked.weight if linked else 0.0)
    # A view may say nothing of some labels.
    known = np.abs(total - 1.0) <= 1e-9
    known |= plain.by_column & (np.abs(total) <= 1e-9)
    require(np.all(known), f"the weights of its members add up to {total}")
    tilt, units = _restored_tilt(state["tilt"], classes), _restored_units(state["units"], width)
    require(linked is not None or not any(part.on_edges for part in parts), "it has no edges")
    for part in parts:
        if part.field is not None and part.on_edges and linked is not None:
            shape = (len(linked.ids), width)
            check_matrix("what is added to a model", part.field, shape, np.float32)
    values = state["values"]
    fields = [part.field for part in parts if part.field is not None and not part.on_edges]
    require((values is None) == (not np.any(weight)), "its members have no values")
    if state["nodes"] is None:
        require(values is None and not fields, "its members have no nodes")
        return Mixed(parts, None, None, weight, prior, classes, kind, tilt, linked, units)
    nodes = restored_nodes(model, state["nodes"])
    shape = (nodes.points.shape[0], width)
    for field in fields:
        check_matrix("what is added to a model", field, shape, np.float32)
    if values is not None:
        check_matrix("the values of its nodes", values, shape, np.float32)
    if values is not None and classes is not None:
        shares = (values >= 0).all() and np.abs(values.sum(axis=1) - weight).max() <= _ROUNDING
        require(shares, "the values of its nodes are no shares of classes")
    return Mixed(parts, nodes, values, weight, prior, classes, kind, tilt, linked, units)


def _restored_linked(model: Any, state: Any, mixed: Mixed) -> Linked | None:
    if state is None:
        return None
    require(type(state) is dict and set(state) == _OF_LINKED, "its edges are not complete")
    n, names, values, weight = (state[name] for name in ("n", "names", "values", "weight"))
    require(type(n) is int and n > 0, f"it knows {str(n)[:40]} rows")
    require(names is None or type(names) is np.ndarray, "its rows have no ids")
    if np.any(weight):
        check_weight("the weight of its edges", weight, mixed)
    require(np.max(weight) <= 1 + 1e-9, "its edges have no weight")
    require((values is None) == (not np.any(weight)), "its edges have no values")
    width = len(mixed.prior)
    if values is not None:
        check_matrix("the values of its rows", values, (n, width), np.float32)
    if state["distributions"] is not None:
        require(is_classifier(model), "its quantities have probabilities")
        check_matrix("the probabilities of its rows", state["distributions"], (n, width))
    return Linked(Ids(n, names), values, weight)


def _restored_part(models: list[HeldOut], state: Any, mixed: Mixed) -> Part:
    require(type(state) is dict and set(state) == _OF_PART, "a member is not complete")
    place = state["model"]
    require(type(place) is int and 0 <= place < len(models), "a member has no model")
    check_weight("the weight of a member", state["weight"], mixed)
    if mixed.kind == "labels":
        shape = (2, len(mixed.prior))
        check_matrix("the temperatures of a member", state["temperature"], shape)
        require((state["temperature"][0] > 0).all(), "a temperature is not above 0")
    else:
        check_weight("the temperature of a member", state["temperature"], mixed)
    require(np.any(state["weight"]), "a member has no weight")
    require(mixed.by_column or state["temperature"] > 0, "a temperature is not above 0")
    require(type(state["on_edges"]) is bool, "a member has no place")
    kept = (state[name] for name in ("weight", "temperature", "field", "on_edges"))
    return Part(models[place], *kept)


def _restored_model(model: Any, state: Any, mixed: Mixed) -> HeldOut:
    """Return a model, or one for each column."""
    if not mixed.by_column:
        return _restored_single(model, state, mixed.classes)
    require(type(state) is dict and set(state) == {"columns", "how"}, "a model is not complete")
    columns, width = state["columns"], len(mixed.prior)
    require(type(columns) is list and len(columns) == width, "a model has other columns")
    require(state["how"] in HOW, f"a member is judged {str(state['how'])[:40]}")
    classes = np.arange(2) if mixed.kind == "labels" else None
    made = [each if is_number(each) else _restored_single(model, each, classes) for each in columns]
    return HeldOut(PerColumn(made, mixed.kind), np.empty((0, 0)), state["how"])


def _restored_single(model: Any, state: Any, classes: NDArray[Any] | None) -> HeldOut:
    require(type(state) is dict and set(state) == _OF_MODEL, "a model is not complete")
    inside, heat = state["model"], state["heat"]
    require(type(state["all_rows"]) is bool, "a member has no rows")
    require(state["how"] in HOW, f"a member is judged {str(state['how'])[:40]}")
    require(heat is None or (is_number(heat) and heat > 0), f"the heat of a member is {heat}")
    if state["all_rows"]:  # it was fitted to class numbers
        check_inside(model, inside, None if classes is None else np.arange(len(classes)))
        inside = OfAllRows(inside, classes)
    else:
        check_inside(model, inside, classes)
    return HeldOut(inside, np.empty((0, 0)), state["how"], heat, _restored_units(state["units"]))
