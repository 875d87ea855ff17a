"""The parts of a model that other programs need: kernel, centres, coefficients, scaling."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from ..estimators.calibration import Calibration
from ..kernels import Kernel, Linear, Polynomial, SquaredExponential
from ..positive import PositiveUnlabeledClassifier
from .pairwise import PairwiseClassifier
from .storable import MIXED, MODELS, check_steps, is_pipeline


class PlainModel(NamedTuple):
    """f_c(x) = sum_j coefficients[j, c] k(x scale + shift, centres_j) + intercept[c]."""

    kernel: Kernel
    centres: Any  # dense or CSR, of shape (m, n_features); at least one
    coefficients: NDArray[np.float64]
    intercept: NDArray[np.float64]
    classes: NDArray[Any] | None  # None for a regressor
    scale: NDArray[np.float64] | None  # None if nothing is scaled
    shift: NDArray[np.float64] | None
    calibration: Calibration | None = None  # None if there are no probabilities


_WITHOUT_FORM = (PairwiseClassifier, PositiveUnlabeledClassifier)  # models in our files only


def plain_model(model: Any, program: str) -> PlainModel:
    """Return the parts of a fitted model; raise ValueError if the program cannot use them."""
    check_is_fitted(model, msg="%(name)s is not fitted; call fit or partial_fit before writing it.")
    scale, shift = None, None
    if is_pipeline(model):
        check_steps(model)
        scale, shift = _affine(model, program)
        model = model.steps[-1][1]
    if type(model) not in MODELS or isinstance(model, _WITHOUT_FORM):
        raise ValueError(f"A {type(model).__name__} cannot be written for {program}.")
    _refuse_mixture(model, program)
    model = getattr(model, "best_estimator_", model)
    _refuse_field(model, program)
    kernel, centres = model.kernel_, model.support_vectors_
    if not isinstance(kernel, SquaredExponential | Linear | Polynomial):
        raise ValueError(
            f"{program} has no kernel {kernel.name!r}; fit with kernel='rbf', 'linear' or 'poly', "
            "or use graphkm.exchange.save_model."
        )
    coefficients = model.dual_coef_.T * float(getattr(kernel, "sigma_f", 1.0)) ** 2
    if len(coefficients) == 0:  # f is a constant, but other programs need a centre
        centres = np.zeros((1, model.n_features_in_))
        coefficients = np.zeros((1, coefficients.shape[1]))
    calibration = getattr(model, "calibration_", None)
    parts = kernel, centres, coefficients, model.intercept_, getattr(model, "classes_", None)
    return PlainModel(*parts, scale, shift, calibration)


def _refuse_mixture(model: Any, program: str) -> None:
    """Raise if a model is a mixture of many."""
    if isinstance(model, MIXED):
        near = "KernelRidgeClassifierCV" if is_classifier(model) else "KernelRidgeCV"
        raise ValueError(
            f"This {type(model).__name__} is a mixture of members, and {program} has no form for "
            "that. graphkm.exchange.to_onnx has one; or write a "
            f"{near} that is fitted to the model's predictions for all rows and comes near it; or "
            "keep the model with graphkm.exchange.save_model, skops.io.dump or joblib.dump."
        )


def _refuse_field(model: Any, program: str) -> None:
    """Raise if a model adds a field to f."""
    if getattr(model, "field_", None) is not None:
        near = "KernelRidgeClassifierCV" if is_classifier(model) else "KernelRidgeCV"
        raise ValueError(
            f"This {type(model).__name__} adds a field over its training rows to f, and {program} "
            "has no form for that. Fit with the solver Newton() (graphkm train --method gkm "
            f"--solver newton), which has none; or write a {near} that is fitted to the model's "
            "predictions and comes near it."
        )


def scalers_of(pipeline: Any, program: str) -> list[Any]:
    """Return the scalers before a pipeline's last step; raise ValueError for any other step."""
    from .state_scalers import SCALERS  # slow to import

    found = []
    for name, step in pipeline.steps[:-1]:
        if step is None or step == "passthrough":
            continue
        if type(step) not in SCALERS:
            raise ValueError(
                f"{program} has no form for the step {name!r}, a {type(step).__name__}. Write the "
                "last step alone (model[-1]); it takes the rows that the steps before it make "
                "(model[:-1].transform(X))."
            )
        if getattr(step, "clip", False):
            raise ValueError(
                f"{program} cannot clip, which the step {name!r} does; fit with clip=False."
            )
        found.append(step)
    return found


def _affine(pipeline: Any, program: str) -> tuple[Any, Any]:
    """Return a and b such that the scalers of a pipeline together compute x a + b."""
    scale, shift = None, None
    for step in scalers_of(pipeline, program):
        a, b = _scaled_by(step)
        scale = a if scale is None else scale * a
        shift = b if shift is None else shift * a + b
    return scale, shift


def _scaled_by(scaler: Any) -> tuple[Any, Any]:
    """Return a and b such that a scaler computes x a + b."""
    from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler  # slow to import

    d = scaler.n_features_in_
    if isinstance(scaler, MinMaxScaler):
        return scaler.scale_, scaler.min_
    if isinstance(scaler, MaxAbsScaler):
        return 1.0 / scaler.scale_, np.zeros(d)
    a = np.ones(d) if scaler.scale_ is None else 1.0 / scaler.scale_
    mean = scaler.mean_ if scaler.with_mean and scaler.mean_ is not None else np.zeros(d)
    return a, -mean * a
