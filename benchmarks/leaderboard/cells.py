"""The cells: a set of data, a number of labels, and the rows that have them in every split.

`row_sets.py` and `other_sets.py` make them and say how every set is prepared; `sets.py` names all.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

KINDS = {
    "clusters and manifolds": (
        *("moons", "g50c", "uspst", "digit1", "usps", "g241c", "text", "coil20"),
    ),
    "tables": (
        *("australian", "svmguide1", "svmguide2", "svmguide3", "a1a", "mushrooms", "w8a"),
        *("ijcnn1", "cod-rna", "covtype"),
    ),
    "images": ("mnist-4000", "usps-4000", "mnist"),
    "graphs": ("texas", "cora", "film"),
    "texts": ("sst2", "ag_news", "banking77"),
    "several labels": ("emotions", "scene", "medical"),
}
KIND_OF = {name: kind for kind, names in KINDS.items() for name in names}
SHORT = {
    **{"moons": 4, "g50c": 50, "uspst": 50, "digit1": 10, "usps": 100, "g241c": 100, "text": 100},
    **{"coil20": 40},
    **{"australian": 50, "svmguide1": 50, "svmguide2": 50, "svmguide3": 50, "a1a": 50},
    **{"mushrooms": 50, "w8a": 50, "ijcnn1": 50, "cod-rna": 50, "covtype": 200},
    **{"mnist-4000": 50, "usps-4000": 50, "texas": 87, "cora": 140},
    **{"sst2": 16, "ag_news": 32, "banking77": 385, "emotions": 59, "scene": 241, "medical": 98},
}
"""The short form: of each set the number of labels of one cell. film and all of MNIST take long."""


@dataclass(frozen=True)
class Cell:
    """A set with its labelled rows: one array of row numbers per split.

    Several labels per row are a matrix of zeros and ones. The rows that count are those of `tests`,
    or all that are not labelled.
    """

    name: str
    n_labels: int
    X: Any
    y: np.ndarray
    splits: list[np.ndarray]
    tests: list[np.ndarray] | None = None
    edges: np.ndarray | None = None
    texts: Sequence[str] | None = None
    names: np.ndarray | None = None

    @property
    def kind(self) -> str:
        """Return what kind of set this is."""
        return KIND_OF[self.name]

    def partly(self, split: int) -> np.ndarray:
        """Return the labels of a split: -1, or NaN in a matrix, where they are hidden."""
        several = self.y.ndim == 2
        y = np.full(self.y.shape, np.nan if several else -1)
        y[self.splits[split]] = self.y[self.splits[split]]
        return y if several else y.astype(int)

    def tested(self, split: int) -> np.ndarray:
        """Return the rows that count."""
        if self.tests is not None:
            return self.tests[split]
        return np.setdiff1d(np.arange(len(self.y)), self.splits[split])

    def draw(self, split: int) -> str:
        """Return a sum of the labelled and the tested rows: equal sums, equal splits."""
        rows = np.concatenate([self.splits[split], [-1], self.tested(split)])
        return f"{zlib.crc32(rows.astype('<i8').tobytes()):08x}"


def equal(y: np.ndarray, per_class: int, n_splits: int) -> list[np.ndarray]:
    """Return random splits with so many rows of every class; the seed is the split's number."""
    splits = []
    for seed in range(n_splits):
        rng = np.random.default_rng(seed)
        chosen = [rng.choice(np.flatnonzero(y == c), per_class, False) for c in np.unique(y)]
        splits.append(np.sort(np.concatenate(chosen)))
    return splits


def drawn(y: np.ndarray, n: int, seed: int) -> np.ndarray:
    """Return rows drawn at random, at least two of every class; the seed is the split's number."""
    rng = np.random.default_rng(seed)
    some = [rng.choice(np.flatnonzero(y == c), 2, replace=False) for c in np.unique(y)]
    chosen = np.concatenate(some)
    others = rng.permutation(np.setdiff1d(np.arange(len(y)), chosen))
    return np.sort(np.concatenate([chosen, others[: n - len(chosen)]]))
