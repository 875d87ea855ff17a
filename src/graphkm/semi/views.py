"""Several views of the same rows: words, vectors, columns of a table.

Encoders make them of texts, images or frames; or a dict holds them. Members learn from one view
each, and the judge weighs them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse, vstack
from sklearn.base import BaseEstimator, clone

from ..embed import ImageEmbedder, TextEmbedder, Words
from ..estimators.given_rows import rows_as_numbers
from ..neighbours.distinct import Copies, copies_in_order

_LOOKED_AT = 20  # items that tell a list of texts from other lists


class Views(dict[str, Any]):
    """The same rows in several views, by name."""

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows, and that of the columns of all views."""
        return self.first.shape[0], sum(each.shape[1] for each in self.values())

    @property
    def first(self) -> Any:
        """The first view."""
        return next(iter(self.values()))

    def __len__(self) -> int:
        """Return the number of rows, which is what scikit-learn's checks compare."""
        return int(self.first.shape[0]) if super().__len__() else 0

    def copy(self) -> Views:
        """Return a copy that has rows of its own."""
        made = {
            name: each.clone() if hasattr(each, "clone") else each.copy()
            for name, each in self.items()
        }
        return Views(made)


class ViewColumns(BaseEstimator):
    """The columns of one view: how many, and their names."""

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse rows are fine."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


@dataclass(frozen=True)
class View:
    """How one view is made.

    Parameters
    ----------
    encoder : transformer or None
        Makes rows of what it is given; None where rows are given.
    chosen : str, int, list or None
        The columns that it is given; None for all there is.
    columns : ViewColumns
        The columns that it makes.
    """

    encoder: Any
    chosen: Any
    columns: ViewColumns

    def fitted(self, X: Any) -> tuple[View, Any]:
        """Return the view with a fitted encoder, and the rows."""
        given = chosen_columns(X, self.chosen)
        if self.encoder is None:
            return self, given
        encoder = clone(self.encoder)
        made = encoder.fit_transform(given)
        return View(encoder, self.chosen, self.columns), made

    def of(self, X: Any) -> Any:
        """Return the rows of any other X."""
        given = chosen_columns(X, self.chosen)
        return given if self.encoder is None else self.encoder.transform(given)

    def numbers(self, rows: Any, *, reset: bool) -> Any:
        """Return the rows as numbers, checked."""
        return rows_as_numbers(self.columns, rows, reset=reset)

    @property
    def alike(self) -> bool:
        """Whether all its columns share one unit."""
        return isinstance(self.encoder, TextEmbedder | ImageEmbedder | Words)

    @property
    def reads_texts(self) -> bool:
        """Whether its rows are made of texts."""
        return isinstance(self.encoder, TextEmbedder | Words)


def asked_views(views: Any, X: Any) -> dict[str, View] | None:
    """Return the views that a user asked for, not yet fitted; None for plain rows.

    Parameters
    ----------
    views : mapping or None
        Encoders by name, or pairs of an encoder and the columns that it gets.
    X : any
        Rows, texts, or a dict of views.
    """
    if views is not None:
        if not isinstance(views, Mapping) or not views:
            raise ValueError(
                "views must be a dict of encoders, or of pairs (encoder, columns), such as "
                f"{{'words': (Words(), 'review')}}; got {views!r}."
            )
        return {str(name): _view(str(name), each) for name, each in views.items()}
    if isinstance(X, Mapping) and not hasattr(X, "shape"):  # scipy has a matrix that is a dict
        if not X:
            raise ValueError("X is an empty dict; pass rows, or a dict of views of the same rows.")
        return {str(name): View(None, name, ViewColumns()) for name in X}
    if are_texts(X):
        own = {"vectors": TextEmbedder(), "words": Words()}
        return {name: View(each, None, ViewColumns()) for name, each in own.items()}
    return None


def _view(name: str, asked: Any) -> View:
    encoder, chosen = asked if isinstance(asked, tuple) and len(asked) == 2 else (asked, None)
    if encoder is not None and (isinstance(encoder, type) or not hasattr(encoder, "transform")):
        raise ValueError(
            f"The view {name!r} has the encoder {encoder!r}, which has no transform; pass a "
            "transformer such as TextEmbedder(), a pair of it and its columns, or (None, columns)."
        )
    return View(encoder, chosen, ViewColumns())


def are_texts(X: Any) -> bool:
    """Return whether X is a list, a 1-D array or a Series of texts.

    Examples
    --------
    >>> are_texts(["a text", None]), are_texts([["a", "b"]]), are_texts([1.0, 2.0])
    (True, False, False)
    """
    if isinstance(X, str | bytes | Mapping) or hasattr(X, "columns"):
        return False
    if hasattr(X, "ndim") or hasattr(X, "shape"):
        if len(getattr(X, "shape", ())) != 1:
            return False
        X = np.asarray(X[:_LOOKED_AT] if isinstance(X, np.ndarray) else X, dtype=object)
    elif not isinstance(X, list | tuple):
        return False
    some = [each for each in X[:_LOOKED_AT] if isinstance(each, str)]
    rest = [each for each in X[:_LOOKED_AT] if not isinstance(each, str)]
    return bool(some) and all(each is None or each != each for each in rest)


def fit_views(asked: dict[str, View], X: Any) -> tuple[dict[str, View], Views]:
    """Fit the encoders, and return them with the rows that they make."""
    fitted, rows = {}, Views()
    for name, view in asked.items():
        fitted[name], rows[name] = view.fitted(X)
    _check_lengths(rows)
    return fitted, rows


def see(views: dict[str, View], X: Any, wanted: Iterable[str]) -> Views:
    """Return other rows in the same views: in those that are wanted."""
    if isinstance(X, Views):  # rows of the fit, which are encoded already
        return X
    if isinstance(X, Mapping):
        missing = [view.chosen for view in views.values() if _lacks(X, view.chosen)]
        if missing:
            raise ValueError(
                f"X lacks the view {missing[0]!r}, which the model has learnt from; it has "
                f"{', '.join(map(repr, X))}."
            )
    rows = Views({name: views[name].of(X) for name in wanted})
    _check_lengths(rows)
    return rows


def _lacks(X: Mapping[Any, Any], chosen: Any) -> bool:
    return isinstance(chosen, str) and chosen not in X


def _check_lengths(rows: Views) -> None:
    lengths = {name: each.shape[0] for name, each in rows.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name!r} has {n:,}" for name, n in lengths.items())
        raise ValueError(f"The views have different numbers of rows: {told}.")


def chosen_columns(X: Any, chosen: Any) -> Any:
    """Return some columns of a frame, an array or a dict; all of X for None."""
    if chosen is None:
        return X
    if hasattr(X, "columns") or isinstance(X, Mapping):
        found = X[chosen]
    elif getattr(X, "ndim", 0) == 2:
        found = X[:, chosen]
    else:
        raise ValueError(
            f"A view takes the columns {chosen!r}, but X is a {type(X).__name__} without columns; "
            "pass a frame, or a dict."
        )
    if isinstance(found, list) and found and not isinstance(found[0], str):
        return np.asarray(found)
    return found


def as_given(X: Any, rows: Any) -> Any:
    """Return what models see: frames as they were given, and other rows as numbers."""
    if isinstance(X, Views):
        return Views({name: as_given(each, rows[name]) for name, each in X.items()})
    return X if X is None or hasattr(X, "columns") else rows


def unmeasured(X: Any) -> bool:
    """Return whether the length of X is not its number of rows: of None, and of a dict of views."""
    return X is None or (isinstance(X, Mapping) and not hasattr(X, "shape"))


def copies_of(rows: Any) -> Copies:
    """Return which rows are equal in all views, sorted by what they hold."""
    if not isinstance(rows, Views):
        return copies_in_order(rows)
    places = np.column_stack([copies_in_order(each).place for each in rows.values()])
    _, first, place = np.unique(places, axis=0, return_index=True, return_inverse=True)
    return Copies(first.astype(np.int64), place.ravel().astype(np.int64))


def below(rows: Any, more: Any) -> Any:
    """Return rows with more rows below them; both are arrays, or CSR."""
    return vstack([rows, more], format="csr") if issparse(rows) else np.vstack([rows, more])


def rows_of_names(view: View, texts: list[str]) -> NDArray[Any] | Any:
    """Return the rows that a view makes of texts."""
    return view.numbers(view.encoder.transform(texts), reset=False)
