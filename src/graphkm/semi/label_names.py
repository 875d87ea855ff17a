"""What labels are called: texts that are labelled rows of every view of texts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .sides import LabelNames
from .views import View

_WORD = re.compile(r"[^\W\d_]{3}")  # three letters in a row: shorter names are codes more often
_CUT = re.compile(r"[_\-./\s]+|(?<=[a-z])(?=[A-Z])")


def with_named(known: NDArray[Any], names: Any) -> NDArray[Any]:
    """Return the labels of rows, and those that only have a name."""
    if not isinstance(names, Mapping):
        return known
    more = [each for each in names if each not in set(known.tolist())]
    if not more or not len(known):
        return np.array(more) if more else known
    texts = [isinstance(each, str) for each in (*more, *known.tolist())]
    if any(texts) and not all(texts):
        raise ValueError(
            f"label_names names the label {more[0]!r}, which no row has; the rows' labels are like "
            f"{known.tolist()[0]!r}. Name labels as y has them: all texts, or all numbers."
        )
    return np.concatenate([known, np.array(more)])


def names_of(names: Any, classes: NDArray[Any], views: dict[str, View]) -> LabelNames | None:
    """Return the names of labels, and the labels; None if no view can use them.

    Parameters
    ----------
    names : "auto", mapping or None
        The parameter `label_names`.
    classes : ndarray
        The labels.
    views : dict of View
        The views.
    """
    if names is None:
        return None
    readers = [view for view in views.values() if view.reads_texts]
    if isinstance(names, str) and names == "auto":
        words = classes.dtype.kind in "UO" and all(is_word(each) for each in classes.tolist())
        return (
            ([spelt_out(each) for each in classes.tolist()], classes) if words and readers else None
        )
    if not isinstance(names, Mapping):
        raise ValueError(
            "label_names must be 'auto', None or a mapping from labels to their names, such as "
            f"{{1: 'spam', 0: 'a letter to me'}}; got {names!r}."
        )
    if not readers:
        raise ValueError(
            "label_names needs a view that is made of texts; pass texts, or views with a "
            "TextEmbedder or Words, or leave label_names out."
        )
    wrong = next((each for each in names.values() if not isinstance(each, str)), None)
    if wrong is not None:
        raise ValueError(f"label_names has the name {wrong!r}, which is no text.")
    labels = [each for each in classes.tolist() if each in names]
    return [names[each] for each in labels], np.array(labels, dtype=classes.dtype)


def is_word(label: Any) -> bool:
    """Return whether a label tells what it means: it has three letters in a row.

    Examples
    --------
    >>> is_word("card_arrival"), is_word("Sci/Tech"), is_word("A1"), is_word(3)
    (True, True, False, False)
    """
    return isinstance(label, str) and _WORD.search(label) is not None


def spelt_out(label: str) -> str:
    """Return a label as words.

    Examples
    --------
    >>> spelt_out("card_arrival"), spelt_out("Sci/Tech"), spelt_out("creditCard")
    ('card arrival', 'Sci Tech', 'credit Card')
    """
    return " ".join(part for part in _CUT.split(label) if part)
