"""Tables with a column of texts to material: texts are shown, and learnt from by their words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from ..io import DataFileError
from ..io.cells import joined_cells, texts
from ..io.columns import Columns, Head
from ..io.row_files import open_table
from ..tables.naming import check_names, find_column, label_column
from .material import Material, numbers_of
from .table_material import TableReading, given_labels

_WORDS = 100  # columns of numbers that texts become, at most
_FEATURES = 20_000  # words that count, at most: the most frequent ones


@dataclass(frozen=True)
class _AllColumns:
    """Chooses every column."""

    text: str

    def likely_label(self, width: int) -> str | None:
        """Return the name of the texts' column; if it has one, the first line holds names."""
        return None if self.text.lstrip("-").isdigit() else self.text

    def choose(self, head: Head) -> Columns:
        """Return the columns."""
        return Columns(head, tuple(range(head.width)), None)


def read_texts(path: Path, format: str, options: TableReading) -> Material:
    """Return the rows of a table whose column `options.text` is learnt from.

    A text in quotes may have several lines.
    """
    wanted = options.text or ""
    with open_table(path, format, encoding=options.encoding, advice="Fix it.") as opened:
        chosen, pieces = opened.cells(_AllColumns(wanted), **options.reading)
        read = list(pieces)
    head, n = chosen.head, sum(len(piece.places) for piece in read)
    names = list(head.names or (str(k + 1) for k in range(head.width)))
    text = find_column(head, wanted, "--text")
    label = label_column(head, options.label)
    check_names(str(path), names)
    if n < 2:
        raise DataFileError(f"{path}: it has {n} rows; two at least are needed.")
    cells = [texts(column) for column in joined_cells(read).columns.values()]
    columns = [(name, cells[k]) for k, name in enumerate(names) if k != label]
    given = np.full(n, None, dtype=object)
    if label is not None:
        given = given_labels(cells[label], options, path)
    X, words = _words(cells[text])
    return Material(
        X=X,
        names=words,
        shown=lambda row: [(name, column[row]) for name, column in columns],
        given=given,
        written=lambda row: [cells[text][row], *numbers_of(X, row)],
        header=[names[text], *words],
        label="label" if label is None else names[label],
        text=names[text],
        alike=True,
        format=format,
        notes=[f"The model learns from the words of {names[text]}."],
    )


def _words(texts: Sequence[str]) -> tuple[NDArray[np.float64], list[str]]:
    """Return texts as numbers, and names for these: leading components of the words' weights."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    try:
        weights = TfidfVectorizer(max_features=_FEATURES, sublinear_tf=True).fit_transform(texts)
    except ValueError as error:
        raise DataFileError(f"the texts hold no words to learn from: {error}") from error
    width = min(_WORDS, min(weights.shape) - 1)
    if width < 1 or not issparse(weights):
        found = np.asarray(weights.todense(), dtype=np.float64)
    else:
        found = np.asarray(TruncatedSVD(width, random_state=0).fit_transform(weights))
    return found, [f"words_{k + 1}" for k in range(found.shape[1])]
