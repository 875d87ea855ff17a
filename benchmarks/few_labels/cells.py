"""The data: sets, numbers of labels, and which rows are labelled in every split.

No set is rescaled beyond what is said here, and all methods see the same features:

=========  ===========================================================================
digit1     as in its file (241 features of one scale), official splits of 10 and 100
usps       the same; its two classes are of 300 and 1,200 rows
g241c      the same
text       as in its file: sparse rows of norm 1, official splits of 10 and 100
g50c       as in its file (50 Gaussian features of one scale), official splits of 50
uspst      pixels in [-1, 1] as in its file, official splits of 50
coil20     pixels in [0, 1] as in its file, random splits with equal classes
mnist      pixels / 255, all 70,000 rows, random splits with equal classes
moons      1,000 points of `make_moons(noise=0.15)` as they are, the same kind of splits
=========  ===========================================================================

Tables without clusters, as in their files; labels are drawn at random, at least two of every class:
australian and svmguide3 with all rows, a1a, mushrooms (sparse), ijcnn1 and cod-rna with 2,000.
"""

from __future__ import annotations

import gzip
import lzma
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.io import loadmat
from scipy.sparse import vstack
from sklearn.datasets import make_moons

from _common import data_file, load_libsvm

_ROWS = 2000  # of tables


@dataclass(frozen=True)
class Cell:
    """A set with its labelled rows: one array of row numbers per split."""

    name: str
    n_labels: int
    X: Any
    y: np.ndarray
    splits: list[np.ndarray]

    def partly(self, split: int) -> np.ndarray:
        """Return the labels of a split, -1 where they are hidden."""
        y = np.full(len(self.y), -1)
        y[self.splits[split]] = self.y[self.splits[split]]
        return y


def _mat(name: str) -> dict[str, Any]:
    with lzma.open(data_file(name)) as file:
        return loadmat(file)


def _rows_and_codes(data: dict[str, Any]) -> tuple[Any, np.ndarray]:
    X, y = data["X"], np.unique(np.asarray(data["y"]).ravel(), return_inverse=True)[1]
    return (X.tocsr() if hasattr(X, "tocsr") else np.asarray(X, float)), y


def _official(lists: dict[str, Any]) -> list[np.ndarray]:
    return [np.sort(row.astype(int)) - 1 for row in np.atleast_2d(lists["idxLabs"])]


def _equal(y: np.ndarray, per_class: int, n_splits: int) -> list[np.ndarray]:
    """Return random splits with so many rows of every class; the seed is the split's number."""
    splits = []
    for seed in range(n_splits):
        rng = np.random.default_rng(seed)
        chosen = [rng.choice(np.flatnonzero(y == c), per_class, False) for c in np.unique(y)]
        splits.append(np.sort(np.concatenate(chosen)))
    return splits


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
    return [Cell(name, n_classes * c, X, y, _equal(y, c, n_splits)) for c in counts]


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


def _table(name: str, *files: str, d: int, sparse: bool = False) -> list[Cell]:
    parts = [load_libsvm(f"{file}.libsvm.bz2", d) for file in files]
    X, y = vstack([X for X, _ in parts], format="csr"), np.concatenate([y for _, y in parts])
    rows = np.sort(np.random.default_rng(0).permutation(X.shape[0])[:_ROWS])
    X, y = X[rows], np.unique(y[rows], return_inverse=True)[1]
    splits = {n: [_drawn(y, n, seed) for seed in range(10)] for n in (50, 200)}
    return [Cell(name, n, X if sparse else X.toarray(), y, splits[n]) for n in splits]


def _drawn(y: np.ndarray, n: int, seed: int) -> np.ndarray:
    """Return rows drawn at random, at least two of every class; the seed is the split's number."""
    rng = np.random.default_rng(seed)
    some = [rng.choice(np.flatnonzero(y == c), 2, replace=False) for c in np.unique(y)]
    chosen = np.concatenate(some)
    others = rng.permutation(np.setdiff1d(np.arange(len(y)), chosen))
    return np.sort(np.concatenate([chosen, others[: n - len(chosen)]]))


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
    "svmguide3": lambda: _table("svmguide3", "svmguide3", d=22),
    "a1a": lambda: _table("a1a", "a1a", "a1a.t", d=123, sparse=True),
    "mushrooms": lambda: _table("mushrooms", "mushrooms", d=112, sparse=True),
    "ijcnn1": lambda: _table("ijcnn1", "ijcnn1", d=22),
    "cod-rna": lambda: _table("cod-rna", "cod-rna_scale", d=8),
    "coil20": _coil20,
    "mnist": _mnist,
}
