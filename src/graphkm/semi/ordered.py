"""Classes that have an order: predictions that are never far off."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_HALF = 0.5 - 1e-12  # a half, up to rounding


def asked_order(asked: Any, y: Any, classes: NDArray[Any]) -> NDArray[Any] | None:
    """Return the classes in their order; None if they have none.

    Parameters
    ----------
    asked : "auto", bool or list
        The parameter `ordered`: "auto" looks whether y is an ordered categorical, True takes
        numbers as they are, and a list names the classes in their order. It may have more.
    y : any
        As it was given.
    classes : ndarray
        The classes.

    Examples
    --------
    >>> asked_order(["low", "high"], None, np.array(["high", "low"]))
    array(['low', 'high'], dtype='<U4')
    """
    if isinstance(asked, str):
        if asked != "auto":
            raise _wrong(asked)
        dtype: Any = getattr(y, "dtype", None)
        if not getattr(dtype, "ordered", False) or not hasattr(dtype, "categories"):
            return None
        asked = [each for each in dtype.categories.tolist() if each in classes.tolist()]
    if asked is None or asked is False:
        return None
    if asked is True:
        if classes.dtype.kind not in "biuf":
            raise ValueError(
                "ordered=True takes the order of numbers, and the classes are texts; pass them in "
                f"their order, such as ordered={classes.tolist()[:3]!r}."
            )
        return classes
    if not isinstance(asked, list | tuple | np.ndarray):
        raise _wrong(asked)
    listed, names = np.asarray(asked).tolist(), classes.tolist()
    kind: Any = {"U": str, "i": float, "u": float, "f": float}.get(classes.dtype.kind, object)
    try:  # the command line has numbers as texts
        levels = np.array(listed, dtype=kind).tolist()
    except (TypeError, ValueError):
        levels = []
    found = [each for each in levels if each in names]  # no row may have some of the levels
    if sorted(found) != sorted(names):
        raise ValueError(
            f"ordered names {listed!r}, and the classes are {names!r}; name each of them once."
        )
    return np.array(found, dtype=classes.dtype)


def _wrong(asked: Any) -> ValueError:
    return ValueError(
        "ordered must be 'auto', True, False or a list of the classes in their order; got "
        f"{asked!r}."
    )


def nearest_class(shares: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the class with the least expected distance: the median of every row.

    Parameters
    ----------
    shares : ndarray of shape (n, n_classes)
        Probabilities of the classes, in their order.

    Examples
    --------
    >>> nearest_class(np.array([[0.4, 0.25, 0.35]]))  # the first is most likely, but may be far off
    array([1])
    """
    return np.asarray((np.cumsum(shares, axis=1) >= _HALF).argmax(axis=1))
