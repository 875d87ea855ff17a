"""Members that are semi-supervised models themselves: they are fitted to all rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.base import clone, is_classifier
from sklearn.utils.validation import has_fit_parameter

from .._util.warnings import quiet
from ..judge.held_out import HeldOut, class_scores_of, take_rows
from .member import Array, Known

_MARK = -1  # marks unlabelled rows


def learns_from_all(model: Any) -> bool:
    """Return whether a model learns from unlabelled rows, as ours and scikit-learn's own do.

    Examples
    --------
    >>> from sklearn.semi_supervised import LabelSpreading
    >>> from sklearn.svm import SVC
    >>> learns_from_all(LabelSpreading()), learns_from_all(SVC())
    (True, False)
    """
    homes = (each.__module__ for each in type(model).__mro__)
    theirs = any(home.startswith("sklearn.semi_supervised") for home in homes)
    return theirs or "unlabeled" in model.get_params(deep=False)


class OfAllRows:
    """A model fitted to class numbers of all rows, which answers with the classes themselves.

    Parameters
    ----------
    model : estimator
        Fitted.
    classes : ndarray or None
        All labels; None for quantities.
    """

    def __init__(self, model: Any, classes: NDArray[Any] | None) -> None:
        self.model = model
        if classes is not None:
            self.classes_ = classes

    def predict(self, X: Any) -> NDArray[Any]:
        """Return quantities."""
        return np.asarray(self.model.predict(X))

    def shares(self, X: Any) -> Array:
        """Return one share for each of all classes; equal ones for rows that no label reaches."""
        k = len(self.classes_)
        with quiet("invalid value encountered"):  # label spreading divides 0 by 0 there
            found = class_scores_of(self.model, X, np.arange(k))
        if not hasattr(self.model, "predict_proba"):
            found = softmax(found, axis=1)  # the judge finds their temperature
        return np.where(np.isfinite(found).all(axis=1, keepdims=True), found, 1.0 / k)


def hold_out_of_all(model: Any, known: Known, X: Any, labeled: NDArray[np.int64]) -> HeldOut:
    """Fit a model to all rows, and return it with what it says of labels that were hidden.

    Parameters
    ----------
    model : estimator
        It is cloned.
    known : Known
        The labelled rows.
    X : array, frame or CSR matrix
        All rows.
    labeled : ndarray of int
        Which of them are labelled.
    """
    targets: NDArray[Any]
    values: NDArray[Any]
    classes, n = known.classes, X.shape[0]
    if classes is None:
        targets, values = np.full(n, np.nan), np.asarray(known.y[:, 0], dtype=np.float64)
    else:
        targets, values = np.full(n, _MARK), known.codes

    def fitted(places: NDArray[np.int64]) -> OfAllRows:
        own = clone(model)
        if classes is not None and "unlabeled" in own.get_params(deep=False):
            own.set_params(unlabeled=_MARK)
        y, options = targets.copy(), {}
        y[labeled[places]] = values[places]
        if known.given is not None and has_fit_parameter(own, "sample_weight"):
            weights = np.ones(n)
            weights[labeled] = known.given
            options["sample_weight"] = weights
        return OfAllRows(own.fit(X, y, **options), classes)

    how, units = "out-of-fold" if known.folds else "prior", known.units.column(0)
    usual = known.mean_targets if classes is None else known.usual
    found = HeldOut(
        fitted(np.arange(len(values))), np.tile(usual, (len(values), 1)), how, None, units
    )
    for train, test in known.judged_folds:
        part, rows = replace(found, model=fitted(train)), take_rows(known.rows, test)
        said = part.model.shares(rows) if classes is not None else part.quantities(rows)
        found.values[test] = said
    return found


def check_kind(model: Any, classes: bool) -> None:
    """Raise if a model is a classifier where quantities are asked for, or the other way round."""
    if is_classifier(model) != classes:
        wanted = "classifier" if classes else "regressor"
        raise ValueError(f"estimator={model!r} is no {wanted}; pass a {wanted}.")
