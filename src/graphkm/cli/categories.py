"""Categories of a file that its model does not know."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

_SHOWN = 3  # categories of a column that a note names


class UnknownCategories:
    """Counts the rows whose category in a column is none of those that the model knows.

    The model takes such a row for one without any category there. A gap is not counted.

    Parameters
    ----------
    model : estimator or Pipeline
        It knows categories if its first step encodes them.
    columns : list of str, optional
        Names of the features.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.compose import ColumnTransformer
    >>> from sklearn.pipeline import Pipeline
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> encoder = OneHotEncoder(handle_unknown="ignore").fit([["red"], ["blue"]])
    >>> made = ColumnTransformer([("words", encoder, [0])]).fit([["red"], ["blue"]])
    >>> found = UnknownCategories(Pipeline([("columns", made), ("model", None)]), ["colour"])
    >>> rows = [np.array([["red"], ["violet"]], dtype=object)]
    >>> len(list(found.passing((X,) for X in rows))), found.counts
    (1, {'colour': 1})
    >>> found.sentence("new.csv")
    "new.csv has categories that the model does not know: colour in 1 of 2 rows ('violet')."
    """

    def __init__(self, model: Any, columns: Sequence[str] | None = None) -> None:
        self._known = dict(_known_categories(model))
        self._names = {k: str(k + 1) if columns is None else columns[k] for k in self._known}
        self._found: dict[int, dict[Any, int]] = {k: {} for k in self._known}
        self._n_rows = 0

    def passing(self, pieces: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
        """Yield pieces, whose first parts are rows, as they are, and count."""
        for piece in pieces:
            self._n_rows += piece[0].shape[0]
            for k, known in self._known.items():
                found = self._found[k]
                for word in piece[0][:, k]:
                    if word == word and word not in known:
                        found[word] = found.get(word, 0) + 1
            yield piece

    @property
    def counts(self) -> dict[str, int]:
        """Rows with an unknown category, by the names of the columns that have any."""
        return {self._names[k]: sum(found.values()) for k, found in self._found.items() if found}

    def sentence(self, name: str) -> str | None:
        """Return what to tell about a file; None if the model knows all."""
        parts = []
        for k, found in self._found.items():
            count, n = sum(found.values()), self._n_rows
            words = ", ".join(map(repr, list(found)[:_SHOWN])) + ", ..." * (len(found) > _SHOWN)
            rows = f"all {n:,}" if count == n else f"{count:,} of {n:,}"
            parts += [f"{self._names[k]} in {rows} rows ({words})"] * bool(found)
        told = f"{name} has categories that the model does not know: {'; '.join(parts)}."
        return told if parts else None


def _known_categories(model: Any) -> Iterator[tuple[int, set[Any]]]:
    """Yield the position of every column that is encoded, and its categories."""
    for view in getattr(model, "views_", {}).values():
        if hasattr(view.encoder, "steps"):
            for k, categories in _known_categories(view.encoder):
                yield view.chosen[k], categories
    first = model.steps[0][1] if hasattr(model, "steps") else None
    for _, transformer, chosen in getattr(first, "transformers_", ()):
        last = transformer.steps[-1][1] if hasattr(transformer, "steps") else transformer
        if hasattr(last, "categories_"):
            for k, categories in zip(chosen, last.categories_, strict=True):
                yield int(k), set(categories.tolist())
