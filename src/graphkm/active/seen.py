"""Rows as a model's graph sees them: numbers, of one view."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..estimators.given_rows import rows_as_numbers
from ..semi.mixed import Mixed
from ..semi.mixed_views import MixedViews
from ..semi.views import see


def main_view(mixture: MixedViews) -> str:
    """Return the name of the view that counts most, over all columns."""
    return max(mixture.views, key=lambda name: float(np.mean(mixture.shares[name])))


def main_mixture(model: Any) -> Mixed:
    """Return the mixture of a front door; of several views, that of the one that counts most."""
    mixture = model.mixture_
    if isinstance(mixture, MixedViews):
        return mixture.views[main_view(mixture)]
    assert isinstance(mixture, Mixed)
    return mixture


def seen_rows(model: Any, X: Any) -> Any:
    """Return rows as a front door's graph sees them; of several views, the one that counts most.

    Parameters
    ----------
    model : SemiSupervisedClassifier or SemiSupervisedRegressor
        A fitted model.
    X : array, frame, CSR matrix, texts or dict of views
        Rows, as for `predict`.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from graphkm import SemiSupervisedClassifier
    >>> X, y = make_moons(60, random_state=0)
    >>> model = SemiSupervisedClassifier(random_state=0).fit(X, y)
    >>> seen_rows(model, X.tolist()).shape
    (60, 2)
    """
    mixture = model.mixture_
    if not isinstance(mixture, MixedViews):
        return rows_as_numbers(model, X, reset=False)
    name = main_view(mixture)
    view = model.views_[name]
    return view.numbers(see(model.views_, X, [name])[name], reset=False)
