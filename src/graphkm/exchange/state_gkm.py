"""The state of a `GKMClassifier` or `GKMRegressor`: f, its field, or a stream to be continued."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import is_classifier

from .._util.parameters import check_choice, check_count, check_number
from ..kernels import resolve_kernel
from ..losses import resolve_loss
from ..streams.schedule import Schedule
from ..streams.sgd import StreamSolver
from ..streams.sums import SumsStream, SumsStreamSolver
from .codec import State
from .state_fields import field_state, restored_field
from .state_machines import (
    check_kernel,
    check_matrix,
    check_rows,
    check_shift,
    machine_state,
    n_functions,
    present,
    require,
    restore_machine,
    set_attributes,
)
from .state_streams import check_sums_stream

_OF_STREAMS = ["n_features_in_", "feature_names_in_", "classes_", "origin_", "spread_"]
_OF_STREAMS += ["plan_", "stream_parameters_", "stream_shift_"]
_NOT_STORED = ("seed", "n_threads")  # fields of a stream's solver


def gkm_state(model: Any) -> State:
    """Return the state of a GKM model, which may be that of a stream to be continued."""
    if not hasattr(model, "stream_"):
        return machine_state(model) | _field_of(model)
    numbers, arrays = model.stream_.state()
    solver = {
        field.name: getattr(model.stream_.solver, field.name)
        for field in fields(model.stream_.solver)
        if field.name not in _NOT_STORED
    }
    solver["dtype"] = np.dtype(solver["dtype"])
    stream = {"solver": solver, "numbers": numbers, "arrays": arrays}
    if isinstance(model.stream_, SumsStream):
        stream["sums"] = True
    return present(model, _OF_STREAMS) | {"stream": stream}


def restore_gkm(model: Any, state: State) -> None:
    """Give a new model the state from `gkm_state`; raise ValueError if it is inconsistent."""
    if "stream" not in state:
        field = state.pop("field", None)
        restore_machine(model, state)
        model.field_ = restored_field(model, field)
        return
    stream = state.pop("stream")
    solver, numbers, arrays = (stream[name] for name in ("solver", "numbers", "arrays"))
    set_attributes(model, state)
    own, began = model.learning_parameters(), model.stream_parameters_
    fits = set(began) == set(own) and all(isinstance(text, str) for text in began.values())
    require(fits, "its stream began with other parameters")
    resolve_kernel(model.kernel)  # raises ValueError unless it is one
    sums = stream.get("sums", False)
    (check_sums_stream if sums else _check_stream)(model, solver, numbers, arrays)
    kind: Any = SumsStreamSolver if sums else StreamSolver
    seed = np.random.SeedSequence(0)  # unused: `restore` sets the generators' states
    restored = kind(**solver, seed=seed, n_threads=model.n_threads()).start()
    restored.restore(numbers, arrays)
    model.set_stream(restored)


def _field_of(model: Any) -> State:
    """Return what is added to f, if anything is."""
    return {} if model.field_ is None else {"field": field_state(model.field_)}


def _check_stream(model: Any, solver: Any, numbers: Any, arrays: Any) -> None:
    """Raise unless a stream's solver, counters, centres and kept rows fit together."""
    _check_solver(model, **solver)
    dtype, sparse, ids, kept = solver["dtype"], solver["sparse"], arrays["ids"], arrays["kept_ids"]
    for value in (ids, kept):
        require(value.ndim == 1 and value.dtype == np.int64, "its rows have no numbers")
    _check_counters(solver, numbers)
    d, outputs = solver["n_features"], solver["n_outputs"]
    check_matrix("its sums", arrays["sums"], (len(ids), 2 * outputs))
    check_matrix("its kept targets", arrays["kept_targets"], (len(kept), outputs))
    check_matrix("its kept weights", arrays["kept_weights"], (len(kept),))
    for name, n in (("rows", len(ids)), ("kept_rows", len(kept))):
        check_rows("its rows", arrays[name], n, d)
        right = issparse(arrays[name]) == sparse and arrays[name].dtype == dtype
        require(right, "its rows are of the wrong kind")
    check_shift(model.stream_shift_, arrays["rows"])
    labels, others = numbers["filled"]
    known = np.repeat([False, True], [others, labels])
    require(np.array_equal(arrays["kept_labeled"], known), "its reservoirs are out of order")
    require(arrays["kept_labeled"].dtype == bool, "its reservoirs are out of order")


def _check_solver(
    model: Any,
    *,
    kernel: Any,
    loss: Any,
    n_features: Any,
    n_outputs: Any,
    sparse: Any,
    step: Any,
    graph: Any,
    n_neighbors: Any,
    reservoir_size: Any,
    half_life: Any,
    steps_per_row: Any,
    budget: Any,
    dtype: Any,
    **numbers: Any,
) -> None:
    """Raise unless these are the fields of a StreamSolver for this model."""
    check_kernel(kernel)
    require(bool(kernel.has_rows), "its kernel has no rows")
    resolve_loss(loss, "classification" if is_classifier(model) else "regression")
    sizes = (model.n_features_in_, n_functions(model))
    require((n_features, n_outputs) == sizes and type(sparse) is bool, "its rows are others")
    least = {"offset": 0, "p": 1, "C": 0, "C_graph": 0, "graph_gamma": 0}
    require(set(numbers) == set(least), "its solver has other settings")
    for name, value in numbers.items():
        require(type(value) is float, f"its solver has {name}={value}")
        check_number(name, value, least=least[name], strictly=name == "C")
    check_choice("step", step, ("explicit", "implicit"))
    if numbers["C_graph"] > 0:
        check_choice("graph", graph, ("knn", "full", "bipartite"))
    check_count("n_neighbors", n_neighbors)
    check_count("reservoir_size", reservoir_size, least=2)
    check_number("steps_per_row", steps_per_row, least=0, words=("auto",))
    if half_life is not None:
        check_number("half_life", half_life, least=0, strictly=True)
    if budget is not None:
        check_count("budget", budget)
    require(isinstance(dtype, np.dtype), "its precision is missing")


def _check_counters(solver: State, numbers: Any) -> None:
    """Raise unless rows, labels, steps and kept rows add up."""
    n_rows, n_labels, n_iter, t = (numbers[name] for name in ("n_rows", "n_labels", "n_iter", "t"))
    plan = numbers["schedule"]
    both = (numbers["offered"], numbers["filled"])
    counts = [n_rows, n_labels, n_iter, t, plan["rows"], plan["labels"], plan["ahead"]]
    for value in (*counts, *both[0], *both[1]):
        require(type(value) is int and 0 <= value < 2**53, f"it has counted {value}")
    schedule = Schedule(solver["steps_per_row"], solver["half_life"])
    due = int(schedule.planned(np.array([plan["rows"]]))[0])
    require(
        both[0] == [n_labels, n_rows - n_labels]
        and all(f <= min(n, solver["reservoir_size"]) for n, f in zip(*both, strict=True))
        and plan["rows"] <= n_rows
        and plan["labels"] == n_labels
        and n_iter == n_labels + plan["ahead"] >= max(t, due),
        "its rows, labels and steps do not add up",
    )
    harmonic = numbers["harmonic"]
    require(type(harmonic) is float and 0 <= harmonic < 64, f"its harmonic number is {harmonic}")
