"""What a model says of labelled rows whose labels it has not seen, and of any other rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax
from sklearn import config_context
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from .._util.warnings import quiet
from ..neighbours.distinct import equal_items
from .folds import Folds
from .units import PLAIN, Units


class FoldError(Exception):
    """The estimator failed on a fold; its own error is the cause."""


BAG = 1000
"""With so many labels or more, a forest's out-of-bag predictions are used. A tree sees two thirds
of the labels, and a third of the trees predict a row. With fewer labels, this makes a forest look
worse than it is, and the field better."""

CHOSEN = 500
"""With so many labels or more, a machine's own leave-one-out predictions are used. They also chose
its parameters. With fewer labels, this makes it look better than it is, and the field worse."""


@dataclass
class HeldOut:
    """A model fitted to the labelled rows, and what it says of each of them without its label.

    Parameters
    ----------
    model : estimator
        Fitted to all labelled rows.
    values : ndarray of shape (l, n_columns)
        Class shares, or quantities, from fits that did not see the row's label.
    how : str
        Where they come from: "leave-one-out", "out-of-bag", "out-of-fold", or "prior" where no
        label can be held out.
    heat : float or None
        For models with scores only: shares are softmax(heat * scores).
    units : Units
        The units of `values`, in those of the model's own targets.
    """

    model: Any
    values: NDArray[np.float64]
    how: str
    heat: float | None = None
    units: Units = PLAIN

    def quantities(self, X: Any) -> NDArray[np.float64]:
        """Return what a regressor says of any rows, of shape (n, 1)."""
        found = np.asarray(self.model.predict(X), dtype=np.float64)
        return self.units.coded(found.reshape(-1, 1))


def take_rows(X: Any, rows: NDArray[np.int64]) -> Any:
    """Return some rows of an array, a sparse matrix, a frame, or a dict of them.

    Examples
    --------
    >>> take_rows(np.eye(3), np.array([2]))
    array([[0., 0., 1.]])
    """
    if isinstance(X, dict):
        return type(X)({name: take_rows(each, rows) for name, each in X.items()})
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def check_classifier(estimator: Any) -> None:
    """Raise if a classifier offers neither probabilities nor scores."""
    if not (hasattr(estimator, "predict_proba") or hasattr(estimator, "decision_function")):
        raise ValueError(
            f"estimator={estimator!r} has neither predict_proba nor decision_function, and its "
            "labels alone cannot be corrected; pass a classifier that has one of them."
        )


def hold_out_classes(
    estimator: Any, X: Any, y: NDArray[Any], weights: Any, folds: Folds, classes: NDArray[Any]
) -> HeldOut:
    """Fit a classifier, and return it with held-out class shares.

    Parameters
    ----------
    estimator : classifier
        It is cloned.
    X : array or frame
        The labelled rows.
    y : ndarray
        Their labels.
    weights : ndarray or None
        Their weights, if any were given.
    folds : list of (train, test)
        For classifiers without held-out predictions of their own, or with too few labels for them.
        Rows that no fold holds out have NaN.
    classes : ndarray
        All labels, sorted.
    """
    model = fitted_to(_with_bag(estimator, len(y)), X, y, weights)
    own = _own_values(model, X, len(y), "oob_decision_function_")
    if own is not None and (not folds or _are_enough(own, len(y))):
        return own
    model = model if _without_bag(estimator, model) else fitted_to(estimator, X, y, weights)
    sure = hasattr(model, "predict_proba")
    if not folds:
        equal = np.full((len(y), len(classes)), 1.0 / len(classes))
        return HeldOut(model, equal, "prior", None if sure else 1.0)
    scores = np.full((len(y), len(classes)), np.nan)
    try:
        for train, test in folds:
            with _failing_on_a_fold():
                part = fitted_to(estimator, *_part(X, y, weights, train))
                scores[test] = class_scores_of(part, take_rows(X, test), classes)
    except FoldError:
        if own is None:
            raise
        return own
    if sure:
        return HeldOut(model, scores, "out-of-fold")
    told = ~np.isnan(scores[:, 0])
    heat = _best_heat(scores[told], np.searchsorted(classes, y[told]))
    return HeldOut(model, softmax(heat * scores, axis=1), "out-of-fold", heat)


def hold_out_values(
    estimator: Any, X: Any, y: NDArray[np.float64], weights: Any, folds: Folds
) -> HeldOut:
    """Fit a regressor, and return it with held-out predictions; parameters as for classes."""
    model = fitted_to(_with_bag(estimator, len(y)), X, y, weights)
    own = _own_values(model, X, len(y), "oob_prediction_")
    if own is not None and (not folds or _are_enough(own, len(y))):
        return own
    model = model if _without_bag(estimator, model) else fitted_to(estimator, X, y, weights)
    if not folds:
        return HeldOut(model, np.full((len(y), 1), np.average(y, weights=weights)), "prior")
    values = np.full((len(y), 1), np.nan)
    for train, test in folds:
        with _failing_on_a_fold():
            part = fitted_to(estimator, *_part(X, y, weights, train))
            values[test, 0] = part.predict(take_rows(X, test))
    return HeldOut(model, values, "out-of-fold")


def class_shares(held: HeldOut, X: Any, classes: NDArray[Any]) -> NDArray[np.float64]:
    """Return the model's class shares at any rows, of shape (n, n_classes)."""
    scores = class_scores_of(held.model, X, classes)
    return scores if held.heat is None else softmax(held.heat * scores, axis=1)


def _own_values(model: Any, X: Any, n: int, of_bag: str) -> HeldOut | None:
    """Return held-out values that a fitted model has itself: leave-one-out or out-of-bag.

    Out-of-bag values do not count where rows have copies: a tree that has not seen a row may have
    seen a copy of it, and with the copy its label.
    """
    for name, how in (("held_out_", "leave-one-out"), (of_bag, "out-of-bag")):
        values = getattr(model, name, None)
        if values is not None and len(values) == n:
            if how == "out-of-bag" and len(equal_items(X).first) < n:
                continue
            columns = np.asarray(values, dtype=np.float64).reshape(n, -1)
            if _is_complete(columns, how):
                return HeldOut(model, columns, how)
    return None


def _are_enough(own: HeldOut, n: int) -> bool:
    """Return whether labels are enough for a model's own held-out values."""
    return n >= (BAG if own.how == "out-of-bag" else CHOSEN)


def _is_complete(values: NDArray[Any], how: str) -> bool:
    """Return whether every row has a prediction.

    A row that every tree has seen has no out-of-bag prediction: scikit-learn gives NaN, or zeros.
    """
    complete = np.isfinite(values).all(axis=1)
    return bool((complete & values.any(axis=1) if how == "out-of-bag" else complete).all())


def _with_bag(estimator: Any, n: int) -> Any:
    """Return a copy. If it draws rows with replacement, it keeps its out-of-bag predictions."""
    copy = clone(estimator)
    parameters = copy.get_params(deep=False)
    draws = parameters.get("bootstrap") is True and not parameters.get("warm_start")
    if draws and n >= BAG and parameters.get("oob_score") is False:
        copy.set_params(oob_score=True)
    return copy


def _without_bag(estimator: Any, model: Any) -> bool:
    """Return whether the fitted model has the parameters that were asked for."""
    asked = estimator.get_params(deep=False).get("oob_score")
    return bool(model.get_params(deep=False).get("oob_score") == asked)


def fitted_to(estimator: Any, X: Any, y: NDArray[Any], weights: Any) -> Any:
    """Return a fitted copy of an estimator."""
    model = clone(estimator)
    # With few trees, some rows have no out-of-bag prediction. Folds are used then.
    bag = ("Some inputs do not have OOB scores", "invalid value encountered", "R.2 score is not")
    # A fold may have few rows of each of many classes.
    ours = quiet(*bag, "The number of unique classes is greater than 50%")
    # Weights go to the last step, whether or not the person has metadata routed elsewhere.
    with ours, config_context(enable_metadata_routing=False):
        return model.fit(X, y, **_weights_named(model, weights))


@contextmanager
def _failing_on_a_fold() -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise FoldError from error


def _weights_named(model: Any, weights: Any) -> dict[str, Any]:
    """Return the weights, under the name by which the model's fit takes them."""
    if weights is None:
        return {}
    if hasattr(model, "steps"):  # a pipeline
        name, last = model.steps[-1]
        if has_fit_parameter(last, "sample_weight"):
            return {f"{name}__sample_weight": weights}
    elif has_fit_parameter(model, "sample_weight"):
        return {"sample_weight": weights}
    raise ValueError(
        f"sample_weight was passed, but fit of {type(model).__name__} takes none; leave it out, or "
        "pass another estimator."
    )


def _part(X: Any, y: NDArray[Any], weights: Any, rows: NDArray[np.int64]) -> tuple[Any, ...]:
    return take_rows(X, rows), y[rows], None if weights is None else weights[rows]


def class_scores_of(model: Any, X: Any, classes: NDArray[Any]) -> NDArray[np.float64]:
    """Return shares, probabilities or scores, with one column for each of all classes.

    A class that the model has not seen has probability 0, or the lowest score.
    """
    sure = hasattr(model, "predict_proba") or hasattr(model, "shares")
    if hasattr(model, "shares"):
        found = np.asarray(model.shares(X))
    else:
        found = np.asarray(model.predict_proba(X) if sure else model.decision_function(X))
    if found.ndim == 1:
        found = np.column_stack([-found / 2, found / 2])
    known = getattr(model, "classes_", classes)
    if found.shape[1] != len(known):
        raise ValueError(
            f"decision_function of {type(model).__name__} gives {found.shape[1]} columns for "
            f"{len(known)} classes; pass decision_function_shape='ovr', one column per class."
        )
    least = 0.0 if sure else float(found.min())
    out = np.full((found.shape[0], len(classes)), least)
    out[:, np.searchsorted(classes, known)] = found
    return out


def _best_heat(scores: NDArray[np.float64], codes: NDArray[np.int64]) -> float:
    """Return the heat at which softmax(heat * scores) fits held-out labels best."""
    size = float(np.abs(scores).mean()) or 1.0

    def cost(log_heat: float) -> float:
        logs = log_softmax(np.exp(log_heat) / size * scores, axis=1)
        return -float(logs[np.arange(len(codes)), codes].mean())

    found = minimize_scalar(cost, bounds=(-3.0, 4.0), method="bounded")
    return float(np.exp(found.x) / size)
