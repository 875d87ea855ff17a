"""From blocks of a data set to X, y and everything that is known of it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import Bunch

from .digest import Arrays
from .registry import Dataset
from .storage import data_folder, obtain

_SUBSETS = {"train": ("train",), "test": ("test",), "all": ("train", "test")}

Folder = str | os.PathLike[str] | None


def load(
    dataset: Dataset,
    *,
    subset: str = "train",
    scaled: bool = True,
    n_labels: int | None = None,
    data_home: Folder = None,
    download_if_missing: bool = True,
) -> Bunch:
    """Return a data set as the Bunch that the fetchers describe.

    Parameters
    ----------
    dataset : Dataset
        An entry of the catalogue.
    subset : {"train", "test", "all"}
        Which rows, of a set that comes in two parts; "all" has the training rows first.
    scaled : bool
        Bring columns to the range of the catalogue, where it has one.
    n_labels : int, optional
        Which official splits, of a set that has them in files of their own. Default: none.
    data_home, download_if_missing
        As in the fetchers.
    """
    if subset not in _SUBSETS:
        raise ValueError(f"subset={subset!r} is none of {', '.join(map(repr, _SUBSETS))}.")
    folder = data_folder(data_home)

    def read(part: str) -> Arrays:
        arrays: dict[str, Any] = {}
        for block in dataset.parts[part]:
            arrays.update(obtain(block, folder, download_if_missing=download_if_missing))
        return arrays

    wanted = [read(part) for part in _SUBSETS[subset]]
    X = _features(dataset, [arrays["X"] for arrays in wanted])
    if scaled and dataset.scale is not None:
        # The test rows are scaled as the training rows are.
        train = X if subset == "train" else _features(dataset, [read("train")["X"]])
        X = _to_range(X, train, dataset.scale)
    lists = wanted[0]
    if n_labels is not None:
        lists = obtain(dataset.splits[n_labels], folder, download_if_missing=download_if_missing)
    return Bunch(
        data=X.astype(dataset.dtype, copy=False),
        target=_codes(dataset, np.concatenate([arrays["y"] for arrays in wanted])),
        feature_names=None,
        target_names=list(dataset.target_names),
        splits=_zero_based(lists),
        DESCR=describe(dataset, scaled=scaled),
    )


def select_classes(bunch: Bunch, classes: Sequence[int]) -> Bunch:
    """Return only the rows of some classes, whose codes become 0, 1, ... in the order given."""
    known = range(len(bunch.target_names))
    chosen = list(classes)
    if len(chosen) < 2 or len(set(chosen)) < len(chosen) or not set(chosen) <= set(known):
        raise ValueError(
            f"classes={classes!r} must name at least two different classes among 0, ..., "
            f"{known[-1]}."
        )
    order = np.full(len(known), -1)
    order[chosen] = np.arange(len(chosen))
    codes = order[bunch.target]
    kept = codes >= 0
    return Bunch(
        **{
            **bunch,
            "data": bunch.data[kept],
            "target": codes[kept],
            "target_names": [bunch.target_names[k] for k in chosen],
            "splits": None,  # they number all rows
        }
    )


def describe(dataset: Dataset, *, scaled: bool) -> str:
    """Return a few lines of prose: what the rows are, their number, range and source."""
    kind = "CSR rows" if dataset.sparse else "a dense array"
    size = (
        f"{dataset.rows} rows in all, {dataset.features} features, {len(dataset.labels)} classes; "
        f"{kind} of {dataset.dtype}."
    )
    lines = [f"{dataset.name}: {dataset.about}", size]
    if dataset.scale is not None and scaled:
        low, high = dataset.scale
        lines.append(f"Columns are brought to [{low}, {high}] by the training rows' extremes.")
    return "\n".join([*lines, f"Source: {dataset.source}"])


def _features(dataset: Dataset, pieces: list[Any]) -> Any:
    if dataset.sparse:
        return sparse.vstack(pieces, format="csr") if len(pieces) > 1 else pieces[0]
    X = np.concatenate(pieces).astype(dataset.dtype)
    if dataset.unit != 1.0:
        X *= np.dtype(dataset.dtype).type(dataset.unit)
    return X


def _to_range(X: NDArray[Any], train: NDArray[Any], bounds: tuple[float, float]) -> NDArray[Any]:
    low, high = train.min(axis=0), train.max(axis=0)
    span = np.where(high > low, high - low, 1)
    scaled = X - low
    scaled *= (bounds[1] - bounds[0]) / span
    scaled += bounds[0]
    return scaled


def _codes(dataset: Dataset, y: NDArray[Any]) -> NDArray[np.int64]:
    return np.searchsorted(np.array(dataset.labels), y).astype(np.int64)


def _zero_based(lists: Arrays) -> list[NDArray[np.intp]] | None:
    if "labeled" not in lists:
        return None
    return [row.astype(np.intp) - 1 for row in np.atleast_2d(lists["labeled"])]
