"""The state of a fitted kernel machine, with what the fit remembers, and checks of such a state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import is_classifier

from ..estimators.calibration import GRID, Calibration
from ..estimators.transduction import kept_transduced, set_transduced
from ..expansion import KernelExpansion
from ..gkm import Plan
from ..kernels import Kernel
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
_F = {"kernel", "X", "offset", "constant", "dtype", "shift", "rows", "coefficients"}
_MEMORIES = ("calibration", "transduced")
_OF_CALIBRATION = {"slope", "offsets", "floor", "keeps", "curves"}
_COLUMNS = 2**22  # the most columns of a precomputed kernel: no memory holds a larger square matrix
_THREADS = 2**12


def machine_state(model: Any) -> State:
    """Return everything that a fitted model needs to predict."""
    return present(model, ATTRIBUTES) | {"f": model.expansion_.state()} | memory_state(model)


def n_functions(model: Any) -> int:
    """Return a model's number of functions f: one per class, but one for two classes."""
    k = len(model.classes_) if is_classifier(model) else 1
    return 1 if k == 2 else k


def restore_machine(model: Any, state: State, count: Callable[[Any], int] = n_functions) -> None:
    """Give a new model the state from `machine_state`; raise ValueError if it is inconsistent."""
    f, remembered = state.pop("f"), take_memory(state)
    set_attributes(model, state)
    restore_memory(model, remembered)
    require(isinstance(f, dict) and set(f) == _F, "it has no function f")
    _check_expansion(model, count(model), **f)
    model.set_expansion(KernelExpansion.from_state(f, model.n_threads()))


def present(model: Any, names: Any) -> State:
    """Return the attributes of these names that a model has."""
    return {name: vars(model)[name] for name in names if name in vars(model)}


def require(holds: Any, what: str) -> None:
    """Raise ValueError unless a condition holds."""
    if not holds:
        raise ValueError(what)


def set_attributes(model: Any, state: State, least: int = 1, in_order: bool = True) -> None:
    """Check and set the attributes besides f; a model has `least` features or more.

    Classes are `in_order`, unless they are names of several labels.
    """
    for name, value in state.items():
        require(name in ATTRIBUTES, f"{type(model).__name__} has no {name}")
        fits = isinstance(value, ATTRIBUTES[name]) and not isinstance(value, bool)
        require(fits, f"{name} is {str(value)[:40]}")
        setattr(model, name, value)
    d = state["n_features_in_"]
    require(least <= d < 2**48, f"n_features_in_ is {d}")
    names = state.get("feature_names_in_")
    named = names is None or (names.dtype == object and names.shape == (d,))
    require(named, "there are not as many names as features")
    require(np.isfinite(state.get("origin_", 0.0)), "the origin of its targets is not finite")
    require(0 < state.get("spread_", 1.0) < np.inf, "the spread of its targets is not above 0")
    require(model.n_threads() <= _THREADS, f"n_jobs is {model.n_jobs}")
    if is_classifier(model):
        check_classes(state["classes_"] if in_order else np.sort(state["classes_"]))


def check_classes(classes: NDArray[Any]) -> None:
    """Raise unless these are different classes in their order."""
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


def check_kernel(kernel: Any) -> None:
    """Raise unless this is a kernel with its gamma."""
    known = isinstance(kernel, Kernel)
    require(known and getattr(kernel, "gamma", 1.0) is not None, f"its kernel is {kernel}")


def check_shift(shift: Any, rows: Any) -> None:
    """Raise unless this is None, or what was subtracted from dense rows."""
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
    check_kernel(kernel)
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
    check_shift(shift, X)
    support = model.support_
    require(support.shape == (m,) and support.dtype.kind == "i", "support_ does not fit")


# ------------------------------------------------------------------ what a fit remembers


def memory_state(model: Any) -> State:
    """Return what a model remembers: its calibration and its transduction, if it has them."""
    found: State = {}
    # A stream holds labels out when it is asked to.
    calibration = vars(model).get("calibration_")
    if calibration is not None and not hasattr(model, "stream_"):
        found["calibration"] = {
            name: getattr(calibration, name) for name in sorted(_OF_CALIBRATION)
        }
    known = kept_transduced(model)
    if known is not None:
        found["transduced"] = known
    return found


def take_memory(state: State) -> State:
    """Take from a state what `memory_state` has put there."""
    return {name: state.pop(name) for name in _MEMORIES if name in state}


def restore_memory(model: Any, remembered: State) -> None:
    """Give a model what it remembered; raise ValueError if that does not fit."""
    calibration, transduced = (remembered.get(name) for name in _MEMORIES)
    if calibration is not None:
        model.calibration_ = _restored(model, calibration)
    if transduced is not None:
        _check_transduced(model, transduced)
        set_transduced(model, transduced)


def _restored(model: Any, state: Any) -> Calibration:
    require(is_classifier(model), "its targets have probabilities")
    require(
        type(state) is dict and set(state) == _OF_CALIBRATION, "its probabilities are not complete"
    )
    k, slope, curves = len(model.classes_), state["slope"], state["curves"]
    known = type(slope) is float and np.isfinite(slope) and slope > 0
    require(known, f"the slope of its probabilities is {slope}")
    require(type(state["keeps"]) is bool, "its probabilities do not tell which class wins")
    for name in ("offsets", "floor"):
        check_matrix(f"the {name} of its probabilities", state[name], (k,))
    floor = state["floor"]
    require((floor >= 0).all() and floor.sum() <= 1.0 + 1e-9, "its least probabilities are wrong")
    if curves is not None:
        check_matrix("the curves of its probabilities", curves, (k, len(GRID)))
        rising = (np.diff(curves, axis=1) >= 0).all() and (curves >= 0).all()
        require(rising and (curves[:, 0] + curves[:, -1] > 0).all(), "its curves do not rise")
    return Calibration(**state)


def _check_transduced(model: Any, found: Any) -> None:
    require(type(found) is np.ndarray and found.ndim in (1, 2), "its training rows have no labels")
    if found.ndim == 2 and is_classifier(model):
        shape = (len(found), len(model.classes_))
        known = found.dtype == np.uint8 and found.shape == shape and (found <= 1).all()
        require(known, "a training row has none of its labels")
    elif is_classifier(model):
        known = found.dtype.kind == "u" and (found < len(model.classes_)).all()
        require(known, "a training row has none of its classes")
    else:
        check_matrix("the targets of its training rows", found, found.shape)
