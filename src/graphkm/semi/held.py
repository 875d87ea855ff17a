"""What a fit said of its labelled rows without having seen their labels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..judge.sizes import tilted
from ..members.member import Kind
from .answers import Answering
from .ordered import nearest_class

Array = NDArray[np.float64]


class Held(NamedTuple):
    """The labelled rows of a fit."""

    rows: NDArray[np.int64]
    """Their numbers among all rows of the fit."""
    said: Array
    """Probabilities or quantities of shape (l, n_columns), as `predict_proba` would give them."""
    told: Array
    """What the labels say, in the same shape: shares of classes, labels, or quantities."""
    weights: Array
    """Weights of the labels."""
    kind: Kind


def held_of(model: Any) -> Held:
    """Return what a fitted front door knows of its labelled rows.

    Held-out probabilities are changed to meet the sizes of classes, as predictions are. So both
    can be compared.

    Parameters
    ----------
    model : SemiSupervisedClassifier or SemiSupervisedRegressor
        A fitted model, or one that was read from a file.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from graphkm import SemiSupervisedClassifier
    >>> X, y = make_moons(100, random_state=0)
    >>> y[20:] = -1
    >>> held = held_of(SemiSupervisedClassifier(random_state=0).fit(X, y))
    >>> held.said.shape, held.told[0].tolist(), held.kind
    ((20, 2), [1.0, 0.0], 'classes')
    """
    if not hasattr(model, "told_") or hasattr(model, "to_local"):
        require_answering(model, "holds no labels out")
        check_is_fitted(model, "mixture_")
        raise ValueError(
            "The model has too few labels to hold any out, so nothing is known of its errors. "
            "Label two different rows of a class, or more."
        )
    n, mixture = len(model.labeled_), model.mixture_
    said, told = (each.reshape(n, -1) for each in (model.held_out_, model.told_))
    if mixture.tilt is not None:
        said = tilted(said, mixture.tilt)
    return Held(model.labeled_, said, told, model.told_weights_, mixture.kind)


def require_answering(model: Any, lacks: str) -> None:
    """Raise if a model is no front door in this process; `lacks` says what it has not."""
    if isinstance(model, Answering):
        return
    if hasattr(model, "to_local"):
        raise TypeError(
            f"A {type(model).__name__} of graphkm.dask {lacks} in this process; pass "
            "model.to_local()."
        )
    raise TypeError(
        f"{type(model).__name__} {lacks}; pass a SemiSupervisedClassifier or a "
        "SemiSupervisedRegressor."
    )


def held_answers(model: Any, held: Held) -> Array:
    """Return what `predict` would have said of labelled rows by their held-out probabilities.

    Parameters
    ----------
    model : SemiSupervisedClassifier or SemiSupervisedRegressor
        A fitted model.
    held : Held
        What `held_of` says of it.

    Returns
    -------
    ndarray of shape (l, n_columns)
        The class of each row has 1, and others 0; labels are 0 or 1; quantities are what they are.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from graphkm import SemiSupervisedClassifier
    >>> X, y = make_moons(100, random_state=0)
    >>> y[20:] = -1
    >>> model = SemiSupervisedClassifier(random_state=0).fit(X, y)
    >>> float(held_answers(model, held_of(model)).sum(axis=1).min())
    1.0
    """
    said = held.said
    if held.kind == "quantities":
        return said
    if held.kind == "labels":
        return np.where(np.isnan(said), np.nan, said > model.thresholds_)
    order = getattr(model, "order_", None)
    if order is None:
        best = said.argmax(axis=1)
    else:
        places = np.searchsorted(model.classes_, order)
        best = places[nearest_class(said[:, places])]
    return np.asarray(np.eye(said.shape[1])[best])
