"""What a fitted kernel machine is made of, as its file holds it, and whether it fits together."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import is_classifier

from ..expansion import KernelExpansion
from ..kernels import Kernel
from ..losses import resolve_loss
from ..solvers.schedule import Schedule
from ..solvers.stream import StreamSolver, StreamState
from ..theory import Guarantee
from .encoding import State

# What fits and streams set beside the function itself; no model has all of them.
_ATTRIBUTES: dict[str, type | tuple[type, ...]] = {
    "n_features_in_": int,
    "feature_names_in_": np.ndarray,
    "classes_": np.ndarray,
    "support_": np.ndarray,
    "n_iter_": int,
    "objective_": float,
    "C_": float,
    "guarantee_": (Guarantee, type(None)),
    "solver_": str,
    "C_unlabeled_": float,
    "n_rounds_": int,
    "origin_": float,
    "spread_": float,
}
_STREAM = {
    "_stream_sparse": bool,
    "_stream_params": dict,
    "_stream_shift": (np.ndarray, type(None)),
}
_CHOSEN = ["p", "C", "C_graph", "graph", "graph_gamma", "n_neighbors", "step", "budget"]
_CHOSEN += ["reservoir_size", "half_life", "steps_per_row"]
_EXPANSION = ("kernel", "offset", "constant", "dtype", "_X", "_shift", "_rows", "_coefficients")
_COLUMNS = 2**22  # of a precomputed kernel, whose matrix is square: no memory holds as many
_THREADS = 2**12


def machine_state(model: Any) -> State:
    """Return all that predictions of a model made by `fit` need."""
    attributes = _present(model, _ATTRIBUTES)
    f = model._f.__getstate__()
    return attributes | {"f": {name: f[name] for name in _EXPANSION}}


def restore_machine(model: Any, state: State) -> None:
    """Make a new model the one that `machine_state` described; ValueError if it cannot be."""
    parts = state.pop("f")
    _set_attributes(model, state, _ATTRIBUTES)
    _require(isinstance(parts, dict) and set(parts) == set(_EXPANSION), "it has no function f")
    _check_expansion(model, **parts)
    f = object.__new__(KernelExpansion)
    sizes = {"n_outputs": parts["_coefficients"].shape[1], "_sparse": issparse(parts["_X"])}
    f.__setstate__(parts | sizes | {"n_threads": model._n_threads()})
    model._take(f)


def stream_state(model: Any) -> State:
    """Return all that a model needs to go on learning by `partial_fit`."""
    numbers, arrays = model._stream.state()
    solver = {f.name: getattr(model._stream.solver, f.name) for f in _solver_fields()}
    solver["dtype"] = np.dtype(solver["dtype"])
    names = ("n_features_in_", "feature_names_in_", "classes_", "origin_", "spread_")
    attributes = _present(model, [*names, *_STREAM])
    return attributes | {"solver": solver, "numbers": numbers, "arrays": arrays}


def restore_stream(model: Any, state: State) -> StreamState:
    """Return the stream that `stream_state` described, and set what else there was."""
    solver, numbers, arrays = (state.pop(name) for name in ("solver", "numbers", "arrays"))
    _set_attributes(model, state, _ATTRIBUTES | _STREAM)
    _check_stream(model, solver, numbers, arrays)
    seed = np.random.SeedSequence(0)  # the generators' states follow
    stream = StreamSolver(**solver, seed=seed, n_threads=model._n_threads()).start()
    stream.restore(numbers, arrays)
    return stream


def _solver_fields() -> list[Any]:
    return [f for f in fields(StreamSolver) if f.name not in ("seed", "n_threads")]


def _present(model: Any, names: Any) -> State:
    return {name: vars(model)[name] for name in names if name in vars(model)}


def _require(holds: Any, what: str) -> None:
    if not holds:
        raise ValueError(what)


def _set_attributes(model: Any, state: State, allowed: dict[str, Any]) -> None:
    """Set the attributes beside the function, each of its type."""
    for name, value in state.items():
        _require(name in allowed, f"{type(model).__name__} has no {name}")
        fits = isinstance(value, allowed[name]) and not (
            isinstance(value, bool) and allowed[name] is not bool
        )
        _require(fits, f"{name} is {str(value)[:40]}")
        setattr(model, name, value)
    d = state["n_features_in_"]
    _require(1 <= d < 2**48, f"n_features_in_ is {d}")
    names = state.get("feature_names_in_")
    named = names is None or (names.dtype == object and names.shape == (d,))
    _require(named, "there are not as many names as features")
    _require(np.isfinite(state.get("origin_", 0.0)), "the targets' origin is no number")
    _require(0 < state.get("spread_", 1.0) < np.inf, "the targets' spread is not above 0")
    _require(model._n_threads() <= _THREADS, f"n_jobs is {model.n_jobs}")
    if is_classifier(model):
        _check_classes(state["classes_"])


def _check_classes(classes: NDArray[Any]) -> None:
    ordered = classes.ndim == 1 and len(classes) > 1
    if ordered and classes.dtype.kind == "f":
        ordered = bool(np.isfinite(classes).all())
    _require(ordered and (classes[1:] > classes[:-1]).all(), "its classes are not in order")


def _check_matrix(name: str, value: Any, shape: tuple[int, ...]) -> None:
    """Raise unless these are finite numbers in double precision and of this shape."""
    _require(type(value) is np.ndarray and value.dtype == np.float64, f"{name} are no numbers")
    _require(value.shape == shape, f"{name} have the shape {value.shape}, not {shape}")
    _require(np.isfinite(value).all(), f"{name} are not all finite")


def _check_rows(name: str, rows: Any, n: int, d: int) -> None:
    """Raise unless these are n rows of d finite numbers."""
    array = type(rows) is np.ndarray
    _require(array or issparse(rows), f"{name} are no rows")
    _require(rows.dtype in (np.float32, np.float64), f"{name} are of {rows.dtype}")
    _require(rows.shape == (n, d), f"{name} have the shape {rows.shape}, not {(n, d)}")
    _require(np.isfinite(rows if array else rows.data).all(), f"{name} are not all finite")


def _check_kernel(kernel: Any) -> None:
    known = isinstance(kernel, Kernel)
    _require(known and getattr(kernel, "gamma", 1.0) is not None, f"its kernel is {kernel}")


def _check_shift(shift: Any, rows: Any) -> None:
    if shift is not None:
        fits = type(shift) is np.ndarray and shift.shape == rows.shape[1:]
        _require(fits and shift.dtype.kind == "f" and not issparse(rows), "its shift does not fit")
        _require(np.isfinite(shift).all(), "its shift is not finite")


def _check_expansion(
    model: Any,
    kernel: Any,
    offset: Any,
    constant: Any,
    dtype: Any,
    _X: Any,
    _shift: Any,
    _rows: Any,
    _coefficients: Any,
) -> None:
    """Raise unless centres, coefficients, classes and features fit together."""
    _check_kernel(kernel)
    _require(type(offset) is float and np.isfinite(offset), f"its offset is {offset}")
    _require(isinstance(dtype, np.dtype), "its precision is missing")
    _require(type(_rows) is np.ndarray and _rows.dtype == np.int64, "its centres have no numbers")
    m, outputs, d = len(_rows), model._n_outputs(), model.n_features_in_
    _check_matrix("its coefficients", _coefficients, (m, outputs))
    _check_matrix("its constants", constant, (outputs,))
    if not kernel.has_rows:
        _require(d <= _COLUMNS, f"a precomputed kernel of {d:,} columns")
        _check_rows("its centres", _X, d, 0)
        _require(len(np.unique(_rows)) == m, "a centre occurs twice")
        _require(m == 0 or 0 <= _rows.min() <= _rows.max() < d, "a centre is no column")
    else:
        _check_rows("its centres", _X, m, d)
        _require(np.array_equal(_rows, np.arange(m)), "its centres are out of order")
    _check_shift(_shift, _X)
    support = model.support_
    _require(support.shape == (m,) and support.dtype.kind == "i", "support_ does not fit")


def _check_stream(model: Any, solver: Any, numbers: Any, arrays: Any) -> None:
    """Raise unless a stream's solver, counters, centres and kept rows fit together."""
    _check_solver(model, solver)
    dtype, sparse, ids, kept = solver["dtype"], solver["sparse"], arrays["ids"], arrays["kept_ids"]
    for value in (ids, kept):
        _require(value.ndim == 1 and value.dtype == np.int64, "its rows have no numbers")
    _check_counters(solver, numbers)
    d, outputs = solver["n_features"], solver["n_outputs"]
    _check_matrix("its sums", arrays["sums"], (len(ids), 2 * outputs))
    _check_matrix("its kept targets", arrays["kept_targets"], (len(kept), outputs))
    _check_matrix("its kept weights", arrays["kept_weights"], (len(kept),))
    for name, n in (("rows", len(ids)), ("kept_rows", len(kept))):
        _check_rows("its rows", arrays[name], n, d)
        right = issparse(arrays[name]) == sparse and arrays[name].dtype == dtype
        _require(right, "its rows are of the wrong kind")
    _check_shift(model._stream_shift, arrays["rows"])
    labels, others = numbers["filled"]
    known = np.repeat([False, True], [others, labels])
    _require(np.array_equal(arrays["kept_labeled"], known), "its reservoirs are out of order")
    _require(arrays["kept_labeled"].dtype == bool, "its reservoirs are out of order")


def _check_solver(model: Any, solver: Any) -> None:
    names = {f.name for f in _solver_fields()}
    _require(isinstance(solver, dict) and set(solver) == names, "its solver has other settings")
    own = model._learning_parameters()
    params = model._stream_params
    fits = set(params) == set(own) and all(isinstance(text, str) for text in params.values())
    _require(fits, "its stream began with other parameters")
    found = tuple(solver[name] for name in ("n_features", "n_outputs", "sparse"))
    expected = (model.n_features_in_, model._n_outputs(), model._stream_sparse)
    _require(found == expected, "its solver is for other rows")
    _check_kernel(solver["kernel"])
    _require(solver["kernel"].has_rows, "its kernel has no rows")
    resolve_loss(solver["loss"], "classification" if is_classifier(model) else "regression")
    numbers = [solver[name] for name in ("offset", "p", "C", "C_graph", "graph_gamma")]
    for value in numbers:
        _require(type(value) is float and np.isfinite(value), f"its solver has {value}")
    from ..gkm.settings import check_parameters

    check_parameters(type(model)(**{name: solver[name] for name in _CHOSEN}))
    _require(isinstance(solver["dtype"], np.dtype), "its precision is missing")


def _check_counters(solver: State, numbers: Any) -> None:
    """Raise unless rows, labels, steps and kept rows add up."""
    n_rows, n_labels, n_iter, t = (numbers[name] for name in ("n_rows", "n_labels", "n_iter", "t"))
    plan = numbers["schedule"]
    both = (numbers["offered"], numbers["filled"])
    counts = [n_rows, n_labels, n_iter, t, plan["rows"], plan["labels"], plan["ahead"]]
    for value in (*counts, *both[0], *both[1]):
        _require(type(value) is int and 0 <= value < 2**53, f"it has counted {value}")
    schedule = Schedule(solver["steps_per_row"], solver["half_life"])
    due = int(schedule.planned(np.array([plan["rows"]]))[0])
    _require(
        both[0] == [n_labels, n_rows - n_labels]
        and all(f <= min(n, solver["reservoir_size"]) for n, f in zip(*both, strict=True))
        and plan["rows"] <= n_rows
        and plan["labels"] == n_labels
        and n_iter == n_labels + plan["ahead"] >= max(t, due),
        "its rows, labels and steps do not add up",
    )
    harmonic = numbers["harmonic"]
    _require(type(harmonic) is float and 0 <= harmonic < 64, f"its harmonic number is {harmonic}")
