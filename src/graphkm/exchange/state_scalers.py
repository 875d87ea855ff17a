"""The scalers before a model: what `fit` found is stored as it is."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from .codec import Kind, State

SCALERS: dict[type, tuple[str, ...]] = {
    StandardScaler: ("mean_", "var_", "scale_"),
    MinMaxScaler: ("min_", "scale_", "data_min_", "data_max_", "data_range_"),
    MaxAbsScaler: ("max_abs_", "scale_"),
}
_SEEN = ("n_features_in_", "feature_names_in_", "n_samples_seen_")


def _scaler_state(scaler: Any) -> State:
    names = (*SCALERS[type(scaler)], *_SEEN)
    return {name: vars(scaler)[name] for name in names if name in vars(scaler)}


def _restore_scaler(scaler: Any, state: State) -> None:
    kind, names, width = type(scaler).__name__, SCALERS[type(scaler)], state["n_features_in_"]
    for name, value in state.items():
        plain = type(value) in (int, float) or (name in names and value is None)
        array = isinstance(value, np.ndarray) and value.shape == (width,)
        text = name == "feature_names_in_"
        if not (plain or array) or (array and (value.dtype.kind in "if") is text):
            raise ValueError(f"{name} of a {kind} does not fit")
        setattr(scaler, name, value)
    if not set(names) <= set(state) or type(width) is not int:
        raise ValueError(f"a {kind} is not complete")


SCALINGS = tuple(Kind(cls, _scaler_state, _restore_scaler) for cls in SCALERS)
