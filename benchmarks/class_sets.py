"""Sets of classes for measurements that take many fits: up to 1,500 rows, drawn by a seed.

usps and mnist have pixels of ten digits, coil20 those of twenty objects; svmguide2 has three
classes and mushrooms two. Texts have the default vectors of `graphkm.embed.TextEmbedder`: ag_news
has four classes, and banking77 the first twenty of its 77.
"""

from __future__ import annotations

import csv
import io
import lzma
from functools import cache
from typing import Any

import numpy as np

from _common import data_file
from table_sets import SETS, codes

ROWS = 1500
BANKING = 20  # classes of banking77; with all 77 a class would have 20 rows


def _usps() -> tuple[Any, np.ndarray]:
    with np.load(data_file("usps.npz")) as data:
        X = np.vstack([data["X_train_x1000"], data["X_test_x1000"]]).astype(np.float32) / 1000
        return X, codes(np.concatenate([data["y_train"], data["y_test"]]))


def _texts(name: str, classes: int | None = None) -> tuple[Any, np.ndarray]:
    from graphkm.embed import TextEmbedder

    with lzma.open(data_file(f"texts/{name}.csv.xz")) as file:
        rows = list(csv.DictReader(io.TextIOWrapper(file, encoding="utf-8")))
    y = codes(np.array([row["label"] for row in rows]))
    kept = np.flatnonzero(y < (classes or len(y)))
    rng = np.random.default_rng(0)  # so many texts serve all draws
    kept = np.sort(rng.permutation(kept)[: 4 * ROWS])
    return np.asarray(TextEmbedder().fit_transform([rows[i]["text"] for i in kept])), y[kept]


@cache
def _whole(name: str) -> tuple[Any, np.ndarray]:
    if name == "usps":
        return _usps()
    if name in ("ag_news", "banking77"):
        return _texts(*{"ag_news": ("ag_news_test", None), "banking77": (name, BANKING)}[name])
    return SETS[name]()


def drawn(name: str, seed: int, rows: int = ROWS) -> tuple[Any, np.ndarray]:
    """Return some rows of a set, and the numbers of their classes."""
    X, y = _whole(name)
    chosen = np.random.default_rng(seed).permutation(len(y))[:rows]
    return X[chosen], codes(y[chosen])
