"""Sets of rows: made or drawn from clusters and manifolds, tables, and images.

No set is rescaled beyond what is said here, and all methods see the same features:

===========  =========================================================================
moons        1,000 points of `make_moons(noise=0.15)` as they are; equal classes
g50c         as in its file (50 Gaussian features of one scale), official splits of 50
uspst        pixels in [-1, 1] as in its file, official splits of 50
digit1       as in its file (241 features of one scale), official splits of 10 and 100
usps         the same; its two classes are of 300 and 1,200 rows
g241c        the same
text         as in its file: sparse rows of norm 1, official splits of 10 and 100
coil20       pixels in [0, 1] as in its file, random splits with equal classes
mnist        pixels / 255, all 70,000 rows, random splits with equal classes
mnist-4000   4,000 of its training images, the same kind of splits
usps-4000    4,000 of all ten digits of USPS, the same
===========  =========================================================================

Tables are as in their files, svmguide1 with columns of unit spread and covtype between 0 and 1.
Labels are drawn at random, at least two of every class. australian, svmguide2 and svmguide3 have
all rows, the others 2,000; a1a, mushrooms and w8a are sparse.
"""

from __future__ import annotations

import gzip
import lzma
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.io import loadmat
from scipy.sparse import vstack
from sklearn.datasets import make_moons

from _common import data_file, load_libsvm

from .cells import Cell, drawn, equal

_ROWS = 2000  # of tables


def _mat(name: str) -> dict[str, Any]:
    with lzma.open(data_file(name)) as file:
        return loadmat(file)


def _rows_and_codes(data: dict[str, Any]) -> tuple[Any, np.ndarray]:
    X, y = data["X"], np.unique(np.asarray(data["y"]).ravel(), return_inverse=True)[1]
    return (X.tocsr() if hasattr(X, "tocsr") else np.asarray(X, float)), y


def _official(lists: dict[str, Any]) -> list[np.ndarray]:
    return [np.sort(row.astype(int)) - 1 for row in np.atleast_2d(lists["idxLabs"])]


def _ssl_book(name: str, file: str) -> list[Cell]:
    X, y = _rows_and_codes(_mat(f"ssl-book/{file}.mat.xz"))
    lists = {n: _mat(f"ssl-book/{file}_splits_labeled{n}.mat.xz") for n in (10, 100)}
    return [Cell(name, n, X, y, _official(lists[n])) for n in lists]


def _lds(name: str) -> list[Cell]:
    data = _mat(f"{name}_lds.mat.xz")
    X, y = _rows_and_codes(data)
    splits = _official(data)
    return [Cell(name, len(splits[0]), X, y, splits)]


def _per_class(
    name: str, X: Any, y: np.ndarray, counts: tuple[int, ...], n_splits: int
) -> list[Cell]:
    n_classes = len(np.unique(y))
    return [Cell(name, n_classes * c, X, y, equal(y, c, n_splits)) for c in counts]


def _coil20() -> list[Cell]:
    data = loadmat(data_file("coil20.mat"))
    y = data["Y"].ravel().astype(int) - 1
    return _per_class("coil20", np.asarray(data["X"], float), y, (2, 4, 6, 8, 10), 10)


def _idx(name: str) -> np.ndarray:
    with gzip.open(data_file(f"mnist/mnist-{name}-ubyte.gz")) as file:
        raw = file.read()
    shape = np.frombuffer(raw, ">i4", count=raw[3], offset=4)
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * raw[3]).reshape(shape)


def _mnist() -> list[Cell]:
    images = np.concatenate([_idx("train-images-idx3"), _idx("t10k-images-idx3")])
    y = np.concatenate([_idx("train-labels-idx1"), _idx("t10k-labels-idx1")]).astype(int)
    X = images.reshape(len(images), -1).astype(np.float32) / 255
    return _per_class("mnist", X, y, (1, 5, 10, 50), 3)


def _moons() -> list[Cell]:
    X, y = make_moons(1000, noise=0.15, random_state=0)
    return _per_class("moons", X, y, (2, 5), 10)


def _images(name: str) -> list[Cell]:
    from images import read

    images, y = read(name)
    X = images.reshape(len(images), -1).astype(np.float32)
    return [Cell(f"{name}-4000", 50, X, y, equal(y, 5, 10))]


def _some(X: Any, y: np.ndarray, n: int = _ROWS) -> tuple[Any, np.ndarray]:
    rows = np.sort(np.random.default_rng(0).permutation(X.shape[0])[:n])
    return X[rows], np.unique(y[rows], return_inverse=True)[1]


def _cells(name: str, X: Any, y: np.ndarray, counts: tuple[int, ...] = (50, 200)) -> list[Cell]:
    return [Cell(name, n, X, y, [drawn(y, n, seed) for seed in range(10)]) for n in counts]


def _table(name: str, *files: str, d: int, sparse: bool = False) -> list[Cell]:
    parts = [load_libsvm(f"{file}.libsvm.bz2", d) for file in files]
    X, y = vstack([X for X, _ in parts], format="csr"), np.concatenate([y for _, y in parts])
    X, y = _some(X, y)
    return _cells(name, X if sparse else X.toarray(), y)


def _svmguide1() -> list[Cell]:
    X, y = load_libsvm("svmguide1.libsvm.bz2", 4)
    X, y = _some(X, y)
    X = X.toarray()
    return _cells("svmguide1", (X - X.mean(axis=0)) / X.std(axis=0), y)


def _covtype() -> list[Cell]:
    from table_sets import covtype

    return _cells("covtype", *_some(*covtype(7)), counts=(200,))


# From quick to slow.
SETS: dict[str, Callable[[], list[Cell]]] = {
    "moons": _moons,
    "g50c": lambda: _lds("g50c"),
    "uspst": lambda: _lds("uspst"),
    "digit1": lambda: _ssl_book("digit1", "set1_digit1"),
    "usps": lambda: _ssl_book("usps", "set2_usps"),
    "g241c": lambda: _ssl_book("g241c", "set5_g241c"),
    "text": lambda: _ssl_book("text", "set9_text"),
    "australian": lambda: _table("australian", "australian_scale", d=14),
    "svmguide1": _svmguide1,
    "svmguide2": lambda: _table("svmguide2", "svmguide2", d=20),
    "svmguide3": lambda: _table("svmguide3", "svmguide3", d=22),
    "a1a": lambda: _table("a1a", "a1a", "a1a.t", d=123, sparse=True),
    "mushrooms": lambda: _table("mushrooms", "mushrooms", d=112, sparse=True),
    "w8a": lambda: _table("w8a", "w8a", d=300, sparse=True),
    "ijcnn1": lambda: _table("ijcnn1", "ijcnn1", d=22),
    "cod-rna": lambda: _table("cod-rna", "cod-rna_scale", d=8),
    "covtype": _covtype,
    "coil20": _coil20,
    "mnist-4000": lambda: _images("mnist"),
    "usps-4000": lambda: _images("usps"),
    "mnist": _mnist,
}
