"""Sets that have more than rows of one class: given graphs, texts, and several labels per row.

cora           the public split (20 of each of 7 classes, 1,000 test rows) is split 0; the others
               are draws of as many, and all other rows count
texas, film    the first three splits of Geom-GCN (Pei et al., 2020)
banking77, ag_news, sst2
               4,000 texts drawn with seed 0; rows are the vectors of the default encoder of
               `graphkm.embed`; equal classes
emotions, scene, medical
               a tenth of the rows and three tenths have all of their labels. Columns of the first
               two have one scale; those of medical are words, and count as they are
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import given_graphs
import labels
import texts

from .cells import Cell, equal

_TEXTS = 4000
_DRAWS = 10


def _graph(name: str) -> list[Cell]:
    graph = given_graphs.read(name)
    found = list(graph.splits.values())
    if name == "cora":
        found += [given_graphs.drawn(graph.y, seed) for seed in range(_DRAWS - 1)]
    splits, tests = [train for train, _ in found], [test for _, test in found]
    n = len(splits[0])
    X = graph.X.astype(float)
    return [Cell(name, n, X, graph.y, splits, tests=tests, edges=graph.edges)]


def _texts(name: str, file: str, counts: tuple[int, ...]) -> list[Cell]:
    from graphkm.embed import TextEmbedder

    every, classes = texts.read(file)
    rows = np.sort(np.random.default_rng(0).permutation(len(every))[:_TEXTS])
    some = [every[k] for k in rows]
    names, y = np.unique(classes[rows], return_inverse=True)
    X = np.asarray(TextEmbedder(cache=None).fit_transform(some), dtype=np.float32)
    about: dict[str, Any] = {"texts": some, "names": names}
    return [Cell(name, each * len(names), X, y, equal(y, each, _DRAWS), **about) for each in counts]


def _several(name: str) -> list[Cell]:
    X, Y = labels.read(name)
    cells = []
    for share in labels.SHARES:
        n = round(share * len(Y))
        splits = [
            np.sort(np.random.default_rng(seed).permutation(len(Y))[:n]) for seed in range(_DRAWS)
        ]
        cells.append(Cell(name, n, X, Y.astype(int), splits))
    return cells


SETS: dict[str, Callable[[], list[Cell]]] = {
    "texas": lambda: _graph("texas"),
    "cora": lambda: _graph("cora"),
    "film": lambda: _graph("film"),
    "sst2": lambda: _texts("sst2", "sst2", (8, 64)),
    "ag_news": lambda: _texts("ag_news", "ag_news_test", (8,)),
    "banking77": lambda: _texts("banking77", "banking77", (5,)),
    "emotions": lambda: _several("emotions"),
    "scene": lambda: _several("scene"),
    "medical": lambda: _several("medical"),
}
