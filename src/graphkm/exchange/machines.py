"""The state of a fitted kernel machine or a stream, and checks of a state from a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import is_classifier

from .._parameters import check_choice, check_count, check_number
from ..expansion import KernelExpansion
from ..gkm import GraphCorrectedClassifier, Plan
from ..kernels import Kernel, resolve_kernel
from ..losses import resolve_loss
from ..solvers.schedule import Schedule
from ..solvers.stream import StreamSolver
from ..theory import Guarantee
from .codec import State

# The attributes that fits and streams set besides f, and their types; no model has all of them.
ATTRIBUTES: dict[str, type | tuple[type, ...]] = {
    "n_features_in_": int,
    "feature_names_in_": np.ndarray,
    "classes_": np.ndarray,
    "support_": np.ndarray,
    "n_iter_": int,
    "objective_": float,
    "C_": float,
    "guarantee_": (Guarantee, type(None)),
    "plan_": Plan,
    "solver_": str,
    "gamma_": (float, type(None)),
    "alpha_": float,
    "best_score_": float,
    "C_unlabeled_": float,
    "n_rounds_": int,
    "origin_": float,
    "spread_": float,
    "stream_parameters_": dict,
    "stream_shift_": (np.ndarray, type(None)),
}
_OF_STREAMS = ["n_features_in_", "feature_names_in_", "classes_", "origin_", "spread_"]
_OF_STREAMS += ["plan_", "stream_parameters_", "stream_shift_"]
_F = {"kernel", "X", "offset", "constant", "dtype", "shift", "rows", "coefficients"}
_NOT_STORED = ("seed", "n_threads")  # fields of a StreamSolver
_COLUMNS = 2**22  # of a precomputed kernel, at most: a larger square matrix fits no memory
_THREADS = 2**12


def machine_state(model: Any) -> State:
    """Return everything that a fitted model needs to predict."""
    return present(model, ATTRIBUTES) | {"f": model.expansion_.state()}


def n_functions(model: Any) -> int:
    """Return a model's number of functions f: one per class, but one for two classes."""
    k = len(model.classes_) if is_classifier(model) else 1
    return 1 if k == 2 else k


def restore_machine(model: Any, state: State, count: Callable[[Any], int] = n_functions) -> None:
    """Give a new model the state from `machine_state`; raise ValueError if it is inconsistent."""
    f = state.pop("f")
    set_attributes(model, state)
    require(isinstance(f, dict) and set(f) == _F, "it has no function f")
    _check_expansion(model, count(model), **f)
    model.set_expansion(KernelExpansion.from_state(f, model.n_threads()))


def gkm_state(model: Any) -> State:
    """Return the state of a GKM model, which may be that of a stream to be continued."""
    if not hasattr(model, "stream_"):
        field = {} if model.corrected_ is None else {"corrected": model.corrected_}
        return machine_state(model) | field
    numbers, arrays = model.stream_.state()
    solver = {
        field.name: getattr(model.stream_.solver, field.name)
        for field in fields(StreamSolver)
        if field.name not in _NOT_STORED
    }
    solver["dtype"] = np.dtype(solver["dtype"])
    stream = {"solver": solver, "numbers": numbers, "arrays": arrays}
    return present(model, _OF_STREAMS) | {"stream": stream}


def restore_gkm(model: Any, state: State) -> None:
    """Give a new model the state from `gkm_state`; raise ValueError if it is inconsistent."""
    if "stream" not in state:
        corrected = state.pop("corrected", None)
        restore_machine(model, state)
        fits = corrected is None or (
            is_classifier(model)
            and type(corrected) is GraphCorrectedClassifier
            and getattr(corrected, "n_features_in_", None) == model.n_features_in_
            and np.array_equal(corrected.classes_, np.arange(len(model.classes_)))
        )
        require(fits, "its field belongs to another model")
        model.corrected_ = corrected
        return
    stream = state.pop("stream")
    solver, numbers, arrays = (stream[name] for name in ("solver", "numbers", "arrays"))
    set_attributes(model, state)
    _check_stream(model, solver, numbers, arrays)
    seed = np.random.SeedSequence(0)  # unused: `restore` sets the generators' states
    restored = StreamSolver(**solver, seed=seed, n_threads=model.n_threads()).start()
    restored.restore(numbers, arrays)
    model.set_stream(restored)


def present(model: Any, names: Any) -> State:
    """Return the attributes of these names that a model has."""
    return {name: vars(model)[name] for name in names if name in vars(model)}


def require(holds: Any, what: str) -> None:
    """Raise ValueError unless a condition holds."""
    if not holds:
        raise ValueError(what)


def set_attributes(model: Any, state: State) -> None:
    """Check and set the attributes besides f."""
    for name, value in state.items():
        require(name in ATTRIBUTES, f"{type(model).__name__} has no {name}")
        fits = isinstance(value, ATTRIBUTES[name]) and not isinstance(value, bool)
        require(fits, f"{name} is {str(value)[:40]}")
        setattr(model, name, value)
    d = state["n_features_in_"]
    require(1 <= d < 2**48, f"n_features_in_ is {d}")
    names = state.get("feature_names_in_")
    named = names is None or (names.dtype == object and names.shape == (d,))
    require(named, "there are not as many names as features")
    require(np.isfinite(state.get("origin_", 0.0)), "the origin of its targets is not finite")
    require(0 < state.get("spread_", 1.0) < np.inf, "the spread of its targets is not above 0")
    require(model.n_threads() <= _THREADS, f"n_jobs is {model.n_jobs}")
    if is_classifier(model):
        _check_classes(state["classes_"])


def _check_classes(classes: NDArray[Any]) -> None:
    ordered = classes.ndim == 1 and len(classes) > 1
    if ordered and classes.dtype.kind == "f":
        ordered = bool(np.isfinite(classes).all())
    require(ordered and (classes[1:] > classes[:-1]).all(), "its classes are not in order")


def check_matrix(name: str, value: Any, shape: tuple[int, ...], dtype: type = np.float64) -> None:
    """Raise unless this is an array of this shape and type with finite values."""
    require(type(value) is np.ndarray and value.dtype == dtype, f"{name} are not numbers")
    require(value.shape == shape, f"{name} have the shape {value.shape}, not {shape}")
    require(np.isfinite(value).all(), f"{name} are not all finite")


def check_rows(name: str, rows: Any, n: int, d: int) -> None:
    """Raise unless these are n rows of d finite numbers."""
    array = type(rows) is np.ndarray
    require(array or issparse(rows), f"{name} are no rows")
    require(rows.dtype in (np.float32, np.float64), f"{name} are of {rows.dtype}")
    require(rows.shape == (n, d), f"{name} have the shape {rows.shape}, not {(n, d)}")
    require(np.isfinite(rows if array else rows.data).all(), f"{name} are not all finite")


def _check_kernel(kernel: Any) -> None:
    known = isinstance(kernel, Kernel)
    require(known and getattr(kernel, "gamma", 1.0) is not None, f"its kernel is {kernel}")


def _check_shift(shift: Any, rows: Any) -> None:
    if shift is not None:
        fits = type(shift) is np.ndarray and shift.shape == rows.shape[1:]
        require(fits and shift.dtype.kind == "f" and not issparse(rows), "its shift does not fit")
        require(np.isfinite(shift).all(), "its shift is not finite")


def _check_expansion(
    model: Any,
    n_outputs: int,
    *,
    kernel: Any,
    X: Any,
    offset: Any,
    constant: Any,
    dtype: Any,
    shift: Any,
    rows: Any,
    coefficients: Any,
) -> None:
    """Raise unless centres, coefficients, classes and features fit together."""
    _check_kernel(kernel)
    require(type(offset) is float and np.isfinite(offset), f"its offset is {offset}")
    require(isinstance(dtype, np.dtype), "its precision is missing")
    require(type(rows) is np.ndarray and rows.dtype == np.int64, "its centres have no numbers")
    m, d = len(rows), model.n_features_in_
    check_matrix("its coefficients", coefficients, (m, n_outputs))
    check_matrix("its constants", constant, (n_outputs,))
    if not kernel.has_rows:
        require(d <= _COLUMNS, f"a precomputed kernel of {d:,} columns")
        check_rows("its centres", X, d, 0)
        require(len(np.unique(rows)) == m, "a centre occurs twice")
        require(m == 0 or 0 <= rows.min() <= rows.max() < d, "a centre is not a column")
    else:
        check_rows("its centres", X, m, d)
        require(np.array_equal(rows, np.arange(m)), "its centres are out of order")
    _check_shift(shift, X)
    support = model.support_
    require(support.shape == (m,) and support.dtype.kind == "i", "support_ does not fit")


def _check_stream(model: Any, solver: Any, numbers: Any, arrays: Any) -> None:
    """Raise unless a stream's solver, counters, centres and kept rows fit together."""
    own, began = model.learning_parameters(), model.stream_parameters_
    fits = set(began) == set(own) and all(isinstance(text, str) for text in began.values())
    require(fits, "its stream began with other parameters")
    resolve_kernel(model.kernel)  # raises ValueError unless it is one
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
    _check_shift(model.stream_shift_, arrays["rows"])
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
    _check_kernel(kernel)
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
