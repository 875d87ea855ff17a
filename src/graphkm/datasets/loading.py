"""From the files of a data set to X, y and their description: `fetch_dataset`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import Bunch

from .catalog import CATALOG, Dataset
from .reading import Arrays
from .storage import Folder, data_folder, obtain

_SUBSETS = {"train": ("train",), "test": ("test",), "all": ("train", "test")}
_COVTYPE_COLUMNS = (
    "Elevation", "Aspect", "Slope", "Horizontal_Distance_To_Hydrology",
    "Vertical_Distance_To_Hydrology", "Horizontal_Distance_To_Roadways", "Hillshade_9am",
    "Hillshade_Noon", "Hillshade_3pm", "Horizontal_Distance_To_Fire_Points",
    *(f"Wilderness_Area{k}" for k in range(1, 5)), *(f"Soil_Type{k}" for k in range(1, 41)),
)  # fmt: skip
_LODGEPOLE_PINE = 1  # class 2 of the files


def fetch_dataset(
    name: str,
    *,
    subset: str | None = None,
    scaled: bool | None = None,
    n_labels: int | None = None,
    classes: Sequence[int] | None = None,
    binary: bool | None = None,
    data_home: Folder = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
) -> Any:
    """Return a data set by its name, and download it if it is not in the data folder.

    A file in the data folder is never downloaded again, and never overwritten. All data is
    compared with a digest.

    Parameters
    ----------
    name : str
        One of the names of `list_datasets`.
    subset : {"train", "test", "all"}, optional
        Which rows to return, for a1a and svmguide1 (default "train", as in the paper), and for
        usps and mnist (default "all": training rows first).
    scaled : bool, optional
        For australian, cod_rna, svmguide1 (to [-1, 1]) and covtype (to [0, 1]): whether each
        column is scaled to that range by the extremes of the training rows. Default True.
    n_labels : {10, 100}, optional
        For the sets of the book (ssl_digit1, ssl_g241c, ssl_text, ssl_usps): which official
        splits to return. Default 100.
    classes : sequence of int, optional
        For coil20 and uspst: return only rows of these classes, which become 0, 1, ...
    binary : bool, optional
        For covtype: class 2, Lodgepole Pine, against the rest, as in the paper. Default True.
    data_home : path, optional
        The data folder. Default: the folder in the environment variable GRAPHKM_DATA, else
        ``graphkm`` in the user's cache folder.
    download_if_missing : bool, default=True
        If False, a file that is missing from the data folder is an error.
    return_X_y : bool, default=False
        Return (data, target) instead of the Bunch.

    Returns
    -------
    Bunch, or (X, y)
        ``data``: CSR rows in float64 for a1a, mushrooms, ssl_text, w5a and w8a; dense float32 for
        mnist and covtype; dense float64 for all others. ``target``: int64 codes 0, 1, ..., so that
        -1 is free to mark hidden labels. ``target_names``: their meaning, or the labels of the
        files. ``feature_names``: names or None. ``splits``: for every official split an array of
        its labelled rows, counted from 0; None if there are no splits. ``DESCR``: a description.

    Examples
    --------
    >>> from graphkm.datasets import fetch_dataset
    >>> X, y = fetch_dataset("g50c", return_X_y=True)  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (550, 50)
    >>> fetch_dataset("iris")
    Traceback (most recent call last):
    ValueError: name='iris' is no data set of graphkm. list_datasets() names them all.
    """
    if name not in CATALOG:
        raise ValueError(
            f"name={name!r} is no data set of graphkm. list_datasets() names them all."
        )
    dataset = CATALOG[name]
    for option, value, applies in (
        ("subset", subset, "test" in dataset.parts),
        ("scaled", scaled, dataset.scale is not None),
        ("n_labels", n_labels, bool(dataset.splits)),
        ("classes", classes, name in ("coil20", "uspst")),
        ("binary", binary, name == "covtype"),
    ):
        if value is not None and not applies:
            raise ValueError(f"{option}={value!r} does not apply to {name}; leave it out.")
    if dataset.splits:
        n_labels = 100 if n_labels is None else n_labels
        if n_labels not in dataset.splits:
            known = " or ".join(map(str, dataset.splits))
            raise ValueError(f"n_labels={n_labels!r}: {name} has official splits of {known}.")
    bunch = load(
        dataset,
        subset=subset or ("all" if name in ("usps", "mnist") else "train"),
        scaled=scaled is not False,
        n_labels=None if return_X_y else n_labels,
        data_home=data_home,
        download_if_missing=download_if_missing,
    )
    if name == "covtype":
        bunch = _covtype(bunch, binary is not False)
    if classes is not None:
        bunch = select_classes(bunch, classes)
    return (bunch.data, bunch.target) if return_X_y else bunch


def _covtype(bunch: Bunch, binary: bool) -> Bunch:
    bunch.feature_names = list(_COVTYPE_COLUMNS)
    if binary:
        bunch.target = (bunch.target == _LODGEPOLE_PINE).astype(np.int64)
        bunch.target_names = ["other", bunch.target_names[_LODGEPOLE_PINE]]
        bunch.DESCR += "\nThe task is the second of the seven classes against all others."
    return bunch


def load(
    dataset: Dataset,
    *,
    subset: str = "train",
    scaled: bool = True,
    n_labels: int | None = None,
    data_home: Folder = None,
    download_if_missing: bool = True,
) -> Bunch:
    """Return a data set as the Bunch that `fetch_dataset` describes, with the same options.

    `n_labels` is for sets with official splits in files of their own. None leaves these out.
    """
    if subset not in _SUBSETS:
        raise ValueError(f"subset={subset!r} is none of {', '.join(map(repr, _SUBSETS))}.")
    get = partial(obtain, folder=data_folder(data_home), download_if_missing=download_if_missing)

    def read(part: str) -> Arrays:
        arrays: dict[str, Any] = {}
        for file in dataset.parts[part]:
            arrays.update(get(file))
        return arrays

    wanted = [read(part) for part in _SUBSETS[subset]]
    X = _features(dataset, [arrays["X"] for arrays in wanted])
    if scaled and dataset.scale is not None:
        # Test rows are scaled by the extremes of the training rows.
        train = X if subset == "train" else _features(dataset, [read("train")["X"]])
        X = _to_range(X, train, dataset.scale)
    lists = wanted[0] if n_labels is None else get(dataset.splits[n_labels])
    return Bunch(
        data=X.astype(dataset.dtype, copy=False),
        target=_codes(dataset, np.concatenate([arrays["y"] for arrays in wanted])),
        feature_names=None,
        target_names=list(dataset.target_names),
        splits=_zero_based(lists),
        DESCR=_describe(dataset, scaled=scaled),
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
            "splits": None,  # they hold numbers of all rows
        }
    )


def _describe(dataset: Dataset, *, scaled: bool) -> str:
    kind = "CSR rows" if dataset.sparse else "a dense array"
    size = (
        f"{dataset.rows} rows in all, {dataset.features} features, {len(dataset.labels)} classes; "
        f"{kind} of {dataset.dtype}."
    )
    lines = [f"{dataset.name}: {dataset.about}", size]
    if dataset.scale is not None and scaled:
        low, high = dataset.scale
        lines.append(f"Columns are scaled to [{low}, {high}] by the training rows' extremes.")
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
