"""What the labelling page saves: a model of the labels so far, as `graphkm train` would."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .options import TableOptions

if TYPE_CHECKING:
    from ..app.material import Material


def saver(
    rows: Material, files: TableOptions, path: Path, *, regression: bool, several: bool
) -> Callable[[dict[int, str]], str]:
    """Return a function that writes a model of the labels so far, and tells of it.

    Parameters
    ----------
    rows : Material
        What is labelled.
    files : TableOptions
        How its file was read.
    path : Path
        The file of the model; one that is there stays as PATH.previous.
    regression, several : bool
        Whether labels are quantities, or names of several labels.
    """
    target = _quantities if regression else _several if several else _classes

    def save(labels: dict[int, str]) -> str:
        from scipy.sparse import issparse

        from .estimators import make_estimator
        from .fit_options import FitOptions
        from .folder_rows import FILE
        from .gains import gain_sentence
        from .learning_rows import Rows
        from .model_files import FileNote, last_step, write_model
        from .options import Method, Scale
        from .preparing import fit_prepared
        from .views import encoders_of

        if len(labels) < 2:
            raise ValueError(_TOO_FEW)
        y, about = target(labels, len(rows))
        known, sparse = list(labels), issparse(rows.X)
        numbered = rows.header is None and rows.label.isdecimal()  # columns without names
        note = FileNote(
            task="regress" if regression else "classify",
            format=rows.format,
            columns=None if sparse or rows.header is None else list(rows.names),
            n_features=rows.X.shape[1],
            label=None if sparse else int(rows.label) if numbered else rows.label,
            labels="number" if y.dtype.kind == "f" and not several else "text",
            unlabeled=files.unlabeled,
            zero_based=rows.zero_based,
            sparse=sparse,
            n_rows=len(rows),
            n_labeled=len(known),
            kinds=list(rows.kinds),
            missing="impute" if rows.kinds else "error",
            left_out=rows.left_out,
            id=FILE if rows.format == "folder" else files.id,
            method=Method.mixture.value,
            **about,
        )
        estimator = make_estimator(note.method, note.task, FitOptions())
        learnt = Rows(rows.X, y, note)
        fitted, chosen = fit_prepared(estimator, Scale.auto, learnt, encoder=rows.encoder)
        note = replace(note, scale=chosen, encoders=encoders_of(fitted, list(rows.names)))
        before = path.exists()
        write_model(fitted, path, note)
        kept = f" The one before it is {path.name}.previous." * before
        found = last_step(fitted)
        heaviest = f" Its heaviest member is {found.members_[0].name}."
        gain = gain_sentence(found, len(known) == len(rows))
        holds = f"{path} holds a model of {len(known):,} labels and {len(rows):,} rows."
        return f"{holds} {gain}{heaviest}{kept}"

    return save


_TOO_FEW = "a model needs at least two labels, of two classes; answer more rows."


def _quantities(labels: dict[int, str], n: int) -> tuple[NDArray[Any], dict[str, Any]]:
    """Return a quantity for each of n rows, NaN where it is not known."""
    y = np.full(n, np.nan)
    y[list(labels)] = [float(label) for label in labels.values()]
    return y, {}


def _classes(labels: dict[int, str], n: int) -> tuple[NDArray[Any], dict[str, Any]]:
    """Return a class for each of n rows, as numbers if all are whole numbers."""
    from .row_ids import is_whole

    if len(set(labels.values())) < 2:
        raise ValueError(_TOO_FEW)
    if all(map(is_whole, labels.values())):
        return _quantities(labels, n)
    y = np.full(n, None, dtype=object)
    y[list(labels)] = list(labels.values())
    return y, {}


def _several(labels: dict[int, str], n: int) -> tuple[NDArray[Any], dict[str, Any]]:
    """Return a column for each of several labels, and what the model file says of them."""
    from ..app.targets import SEPARATOR
    from ..tables.several_labels import split_names, table_of_names

    lists = [split_names(label, SEPARATOR) or [] for label in labels.values()]
    names = sorted({name for each in lists for name in each})
    if len(names) < 2:
        raise ValueError("a model of several labels needs rows with two of them; answer more rows.")
    y = np.full((n, len(names)), np.nan)
    y[list(labels)] = table_of_names(labels.values(), SEPARATOR, names)
    return y, {"targets": names, "separator": SEPARATOR}
