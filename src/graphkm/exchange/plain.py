"""The parts of a model that other programs need: kernel, centres, coefficients, scaling."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from ..kernels import Kernel, Linear, Polynomial, SquaredExponential
from ..machines import KernelRidgeClassifierCV, KernelRidgeCV
from ..machines.calibration import Calibration
from .models import CORRECTED, MODELS, check_steps
from .pairwise import PairwiseClassifier
from .preparations import SCALERS

_LANDMARKS = 1000  # of a model that stands for one with a field


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


def plain_model(model: Any, program: str) -> PlainModel:
    """Return the parts of a fitted model; raise ValueError if the program cannot use them."""
    check_is_fitted(model, msg="%(name)s is not fitted; call fit or partial_fit before writing it.")
    scale, shift = None, None
    if isinstance(model, Pipeline):
        check_steps(model)
        scale, shift = _affine(model, program)
        model = model.steps[-1][1]
    if isinstance(model, CORRECTED):
        raise ValueError(
            f"A {type(model).__name__} cannot be written for {program}: it adds a field over its "
            f"training rows, and {program} has no form for that. Write its estimator_, which "
            "leaves the field out, or fit a GKMClassifier or GKMRegressor (graphkm train without "
            "--model)."
        )
    if type(model) not in MODELS or isinstance(model, PairwiseClassifier):
        raise ValueError(f"A {type(model).__name__} cannot be written for {program}.")
    model = getattr(model, "best_estimator_", model)
    if getattr(model, "field_", None) is not None:
        model = _on_landmarks(model, program)
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
    classes = getattr(model, "classes_", None)
    calibration = getattr(model, "calibration_", None)
    parts = kernel, centres, coefficients, model.intercept_, classes, scale, shift
    return PlainModel(*parts, calibration)


def _on_landmarks(model: Any, program: str) -> Any:
    """Return a machine on landmarks that predicts nearly what a model with a field does."""
    rows, classes = model.field_.nodes.points, is_classifier(model)
    predicted = model.predict(rows)
    kernel, gamma = model.kernel_, getattr(model.kernel_, "gamma", None)
    if gamma is not None:
        kernel = kernel.with_params(gamma=None)
    kind = KernelRidgeClassifierCV if classes else KernelRidgeCV
    machine = kind(
        None if gamma is None else [gamma], kernel=kernel, n_landmarks=_LANDMARKS, random_state=0
    ).fit(rows, predicted)
    if classes:
        wanted = model.predict_proba(rows)
        keeps = getattr(model, "class_weight", None) is None
        machine.calibration_ = Calibration.imitating(machine.shares(rows), wanted, keeps=keeps)
    agreement = float(machine.score(rows, predicted))
    lost = f"decides otherwise on {100 * (1 - agreement):.1f} % of the training rows"
    if not classes:
        lost = f"has an R^2 of {agreement:.3f} with them on the training rows"
    warnings.warn(
        f"{program} has no form for a field. What is written has {_LANDMARKS:,} landmarks at most, "
        f"fitted to the model's {'decisions' if classes else 'predictions'}; it {lost}.",
        UserWarning,
        stacklevel=4,
    )
    return machine


def _affine(pipeline: Pipeline, program: str) -> tuple[Any, Any]:
    """Return a and b such that the scalers of a pipeline together compute x a + b."""
    scale, shift = None, None
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
        a, b = _scaled_by(step)
        scale = a if scale is None else scale * a
        shift = b if shift is None else shift * a + b
    return scale, shift


def _scaled_by(scaler: StandardScaler | MinMaxScaler | MaxAbsScaler) -> tuple[Any, Any]:
    """Return a and b such that a scaler computes x a + b."""
    d = scaler.n_features_in_
    if isinstance(scaler, MinMaxScaler):
        return scaler.scale_, scaler.min_
    if isinstance(scaler, MaxAbsScaler):
        return 1.0 / scaler.scale_, np.zeros(d)
    a = np.ones(d) if scaler.scale_ is None else 1.0 / scaler.scale_
    mean = scaler.mean_ if scaler.with_mean and scaler.mean_ is not None else np.zeros(d)
    return a, -mean * a
