"""Views of rows with texts or pictures: their encoders, and what summaries say of them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..embed import ImageEmbedder, TextEmbedder, Words
from ..io.kinds import IMAGE, TEXT
from ..tables.encoders import AUTO, Encoders, image_views, text_views
from .options import Method, UsageError

_EMBEDDERS = (TextEmbedder, ImageEmbedder)
COLUMNS = "columns"
"""The view of all columns that are neither texts nor pictures."""
WORDS = "words and pieces of words"


def check_encoders(method: str, n_encoded: int, encoder: str, where: str) -> None:
    """Raise for options that do not go with texts or pictures.

    Parameters
    ----------
    method : str
        The option --method.
    n_encoded : int
        How many columns of texts or pictures there are.
    encoder : str
        The option --encoder.
    where : str
        What texts and pictures come from: an option, or a folder.
    """
    if n_encoded and method != Method.mixture:
        raise UsageError(
            f"{where}: --method {method} learns from numbers, and only the mixture from texts and "
            "pictures. Leave --method out."
        )
    if encoder != AUTO and n_encoded != 1:
        why = "there are none; pass --text or --images" if not n_encoded else "pass one of them"
        raise UsageError(f"--encoder {encoder}: it makes vectors of texts or of pictures; {why}.")


def encoder_model(name: str) -> str:
    """Return the model that --encoder names; a path is made absolute, to be found again."""
    kind, sign, rest = name.partition(":")
    place = Path(rest if kind == "onnx" and sign else name).expanduser()
    if not place.exists():
        return name
    return f"{kind}:{place.absolute()}" if kind == "onnx" and sign else str(place.absolute())


def views_for(encoded: dict[int, str], model: str, others: Any) -> Encoders:
    """Return the views of rows: those of all other columns, if there are any, come first.

    Parameters
    ----------
    encoded : dict
        The kinds of the columns that encoders read, by their positions.
    model : str
        The option --encoder.
    others : pair of transformer and list of int
        What makes numbers of the other columns, and their positions.
    """
    views: Encoders = {COLUMNS: others} if others[1] else {}
    for k, kind in encoded.items():
        views |= (text_views if kind == TEXT else image_views)(encoder_model(model), k)
    shown = int(sys.stderr.isatty())
    for each, _ in views.values():
        if isinstance(each, _EMBEDDERS):
            each.set_params(verbose=shown)
    return views


def encoders_of(model: Any, names: Sequence[str]) -> dict[str, dict[str, str | None]]:
    """Return the encoders of a fitted model's texts and pictures, by view.

    Each has the name of its model, the hash, and the column that it reads; `names` are those of all
    features.
    """
    found: dict[str, dict[str, str | None]] = {}
    for name, view in getattr(model, "views_", {}).items():
        if isinstance(view.encoder, _EMBEDDERS):
            told = {"model": view.encoder.model_, "hash": view.encoder.hash_}
        elif isinstance(view.encoder, Words):
            told = {"model": WORDS, "hash": None}
        else:
            continue
        column = names[view.chosen] if isinstance(view.chosen, int) else view.chosen
        found[name] = told | {"column": column}
    return found


def silence(model: Any) -> None:
    """Take the bars of this terminal off the encoders of a fitted model."""
    for encoder in _all_encoders(model):
        if isinstance(encoder, _EMBEDDERS):
            encoder.set_params(verbose=0)


def _all_encoders(model: Any) -> Iterator[Any]:
    """Yield the encoders that were fitted, and those that they were copied from."""
    yield from (view.encoder for view in getattr(model, "views_", {}).values())
    for asked in (getattr(model, "views", None) or {}).values():
        yield asked[0] if isinstance(asked, tuple) else asked


def only_column(model: Any) -> tuple[str | None, str] | None:
    """Return the name of the only column that a model saved in Python reads, and its kind.

    The views then take all that they are given. None if the views of the model are not all made of
    one column of texts or of pictures.
    """
    views = model.views_
    chosen = {repr(view.chosen): view.chosen for view in views.values()}
    kinds = {_kind(view.encoder) for view in views.values()}
    (only, *more), (kind, *others) = chosen.values(), kinds
    if more or others or kind is None or isinstance(only, list):
        return None
    model.views_ = {name: replace(view, chosen=None) for name, view in views.items()}
    return (only if isinstance(only, str) else None), kind


def _kind(encoder: Any) -> str | None:
    if isinstance(encoder, TextEmbedder | Words):
        return TEXT
    return IMAGE if isinstance(encoder, ImageEmbedder) else None
