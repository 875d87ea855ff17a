"""What class_weight says: factors of the labels' weights, and classes that do not count."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import compute_class_weight

ClassWeight = dict[Any, float] | str | None


def labels_that_weigh(class_weight: ClassWeight, labels: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which labels have a class whose weight is not 0.

    A label of weight 0 counts for nothing, whether its row or its class has this weight.

    Examples
    --------
    >>> labels_that_weigh({"c": 0.0}, np.array(["a", "c", "b"]))
    array([ True, False,  True])
    >>> labels_that_weigh("balanced", np.array(["a", "c"]))
    array([ True,  True])
    """
    if not isinstance(class_weight, Mapping) or all(class_weight.values()):
        return np.ones(len(labels), dtype=bool)
    return np.array([class_weight.get(label, 1) != 0 for label in labels.tolist()], dtype=bool)


def class_factors(
    class_weight: ClassWeight, classes: NDArray[Any], labels: NDArray[Any]
) -> NDArray[np.float64]:
    """Return the factor of every class; `class_weight` may name further classes of weight 0.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        The parameter.
    classes : ndarray
        All classes.
    labels : ndarray
        The labels that count; "balanced" counts them.

    Examples
    --------
    >>> class_factors({"a": 2.0, "c": 0.0}, np.array(["a", "b"]), np.array(["a", "b"]))
    array([2., 1.])
    """
    used = class_weight
    if isinstance(class_weight, Mapping):
        here = set(classes.tolist())
        used = {label: w for label, w in class_weight.items() if w != 0 or label in here}
    factors = np.asarray(compute_class_weight(used, classes=classes, y=labels), dtype=np.float64)
    if not (np.isfinite(factors) & (factors >= 0)).all():
        raise ValueError(f"class_weight must hold finite numbers >= 0, got {class_weight!r}.")
    return factors
