"""The views of a front door in a file: how each is made of rows, and what its members say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from ..semi.mixed import Mixed
from ..semi.mixed_views import MixedViews
from ..semi.views import View, ViewColumns
from .codec import State
from .state_fields import is_number
from .state_machines import check_matrix, require

_OF_VIEW = {"name", "encoder", "chosen", "width", "names", "share", "mixture"}


def views_state(model: Any, mixture_state: Callable[[Any, Mixed], State]) -> list[State]:
    """Return what a file holds of every view; of one that does not count, only how it is made.

    Parameters
    ----------
    model : estimator
        The front door.
    mixture_state : callable
        Returns the state of one view's mixture.
    """
    mixed = model.mixture_
    return [
        {
            "name": name,
            "encoder": view.encoder,
            "chosen": plain_choice(name, view.chosen),
            "width": int(view.columns.n_features_in_),
            "names": getattr(view.columns, "feature_names_in_", None),
            "share": mixed.shares.get(name),
            "mixture": mixture_state(model, mixed.views[name]) if name in mixed.views else None,
        }
        for name, view in model.views_.items()
    ]


def plain_choice(name: str, chosen: Any) -> Any:
    """Return the columns that a view is given: None, a name, a number, or a list of them."""
    found = chosen.tolist() if isinstance(chosen, np.ndarray | np.generic) else chosen
    if not _is_choice(found):
        raise ValueError(
            f"The columns of the view {name!r} cannot be saved: pass a name, a position, or a list "
            f"of them, got {chosen!r}."
        )
    return found


def _is_choice(chosen: Any) -> bool:
    if type(chosen) is list:
        return bool(chosen) and all(type(each) in (int, str) for each in chosen)
    return chosen is None or type(chosen) in (int, str)


def restored_views(
    model: Any,
    state: Any,
    width_of: Callable[[Any], int],
    restored_mixture: Callable[[Any, State], Mixed],
) -> tuple[dict[str, View], MixedViews]:
    """Return the views from `views_state`, and their mixture; raise ValueError if they do not fit.

    Parameters
    ----------
    model : estimator
        Its parameters, features and classes are set.
    state : list of dict
        From a file.
    width_of : callable
        Returns how many columns a fitted encoder makes.
    restored_mixture : callable
        Takes a model with the features of one view, and a state, and returns the view's mixture.
    """
    require(type(state) is list and state, "it has no views")
    views, mixtures, shares = {}, {}, {}
    for each in state:
        require(type(each) is dict and set(each) == _OF_VIEW, "a view is not complete")
        name, share = each["name"], each["share"]
        require(type(name) is str and name and name not in views, "a view has no name of its own")
        views[name] = _restored_view(each, width_of)
        require((share is None) == (each["mixture"] is None), f"the view {name!r} has no share")
        if share is not None:
            own = with_features(model, each["width"])
            mixtures[name], shares[name] = restored_mixture(own, each["mixture"]), share
            check_weight("the share of a view", share, mixtures[name])
    total: Any = sum(shares.values())
    require(np.abs(total - 1.0).max() <= 1e-9, f"the shares of its views add up to {total}")
    kinds = {each.kind for each in mixtures.values()}
    require(len(kinds) == 1, "its views predict different things")
    width = sum(view.columns.n_features_in_ for view in views.values())
    require(width == model.n_features_in_, f"its views have {width} columns")
    (kind,) = kinds
    classes = model.classes_ if kind == "classes" else None
    return views, MixedViews(mixtures, shares, classes, kind)


def check_weight(what: str, value: Any, mixed: Mixed) -> None:
    """Raise unless this is a number of 0 or more; with several columns, one for each."""
    if mixed.by_column:
        check_matrix(what, value, (len(mixed.prior),))
        require((value >= 0).all(), f"{what} is below 0")
    else:
        require(is_number(value) and value >= 0, f"{what} is {str(value)[:40]}")


def _restored_view(state: State, width_of: Callable[[Any], int]) -> View:
    encoder, width, names = state["encoder"], state["width"], state["names"]
    require(type(width) is int and 0 < width < 2**48, f"a view has {str(width)[:40]} columns")
    require(_is_choice(state["chosen"]), "a view is made of no columns")
    require(encoder is None or width_of(encoder) == width, "an encoder makes other columns")
    columns = ViewColumns()
    columns.n_features_in_ = width
    if names is not None:
        require(isinstance(names, np.ndarray) and names.shape == (width,), "a view has other names")
        require(all(type(each) is str for each in names), "a view has other names")
        columns.feature_names_in_ = names
    return View(encoder, state["chosen"], columns)


def with_features(model: Any, width: int) -> Any:
    """Return a model of the same parameters and classes whose rows have another width."""
    own = type(model)(**model.get_params(deep=False))
    own.n_features_in_ = width
    if is_classifier(model):
        own.classes_ = model.classes_
    return own
