"""The usual views of a column of texts or of pictures, for `views=` of the front door."""

from __future__ import annotations

from typing import Any

from ..embed import ImageEmbedder, TextEmbedder, Words

AUTO = "auto"
Encoders = dict[str, Any]
"""Encoders by the names of their views, or pairs of an encoder and the column that it gets."""


def text_views(model: Any = AUTO, column: Any = None) -> Encoders:
    """Return the views of a column of texts: vectors of a model, and words.

    Parameters
    ----------
    model : str, path or callable, default="auto"
        As in `TextEmbedder`.
    column : int, str or None, default=None
        The column of the texts; None if rows are texts alone.

    Examples
    --------
    >>> text_views("auto", 1)
    {'vectors': (TextEmbedder(), 1), 'words': (Words(), 1)}
    """
    return _of_column({"vectors": TextEmbedder(model), "words": Words()}, column)


def image_views(model: Any = AUTO, column: Any = None) -> Encoders:
    """Return the views of a column of pictures: pixels and gradients, or vectors of a model.

    Parameters
    ----------
    model : str, path or callable, default="auto"
        As in `ImageEmbedder`; "auto" has pixels and gradients as two views.
    column : int, str or None, default=None
        The column of the pictures' paths; None if rows are pictures alone.

    Examples
    --------
    >>> list(image_views()), list(image_views("timm:resnet18"))
    (['pixels', 'gradients'], ['vectors'])
    """
    if isinstance(model, str) and model == AUTO:
        return _of_column(
            {"pixels": ImageEmbedder("pixels"), "gradients": ImageEmbedder("gradients")}, column
        )
    return _of_column({"vectors": ImageEmbedder(model)}, column)


def _of_column(encoders: Encoders, column: Any) -> Encoders:
    if column is None:
        return encoders
    return {name: (encoder, column) for name, encoder in encoders.items()}
