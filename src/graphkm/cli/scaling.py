"""Scalers from options: fitted with the model, stored with it."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from .errors import UsageError
from .options import Scale


def choose_scale(scale: Scale, X: Any) -> str:
    """Return which scaling "auto" is for these rows; sparse ones must stay sparse.

    Examples
    --------
    >>> choose_scale(Scale.auto, np.ones((2, 2)))
    'standard'
    """
    if not issparse(X):
        return Scale.standard.value if scale is Scale.auto else scale.value
    if scale is Scale.auto:
        within = X.nnz == 0 or float(np.abs(X.data).max()) <= 1.0
        return (Scale.none if within else Scale.maxabs).value
    if scale in (Scale.standard, Scale.minmax):
        raise UsageError(
            f"--scale {scale.value} would fill the zeros of LIBSVM rows; pass --scale maxabs or "
            "none."
        )
    return scale.value


def make_scaler(scale: str) -> Any:
    """Return a scaler that has not been fitted; None for "none"."""
    if scale == "none":
        return None
    from sklearn import preprocessing

    names = {"standard": "StandardScaler", "minmax": "MinMaxScaler", "maxabs": "MaxAbsScaler"}
    return getattr(preprocessing, names[scale])()


def behind_scaler(scaler: Any, estimator: Any) -> Any:
    """Return the estimator behind a scaler, as one model."""
    if scaler is None:
        return estimator
    from sklearn.pipeline import Pipeline

    return Pipeline([("scaler", scaler), ("estimator", estimator)])


def last_step(model: Any) -> Any:
    """Return the estimator of a model, without its scaler."""
    return model[-1] if hasattr(model, "steps") else model
