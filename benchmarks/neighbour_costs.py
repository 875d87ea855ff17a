"""What the neighbours of a fit cost: the compiled search, faiss one query at a time, and the limit.

    python benchmarks/neighbour_costs.py [--sets covtype,mnist,mixture] [--fit 100000] [--store]

The 10 nearest other rows of every row, in one thread. "compiled" is the library's search. "faiss"
is what the library did before: an inverted file of faiss with as many cells, whose number of probes
is chosen by the same rule from the same sample. scikit-learn's brute force finds the sample's true
neighbours, and NumPy computes distances. It needs the package faiss. Both run in turns `--rounds`
times, and the least CPU seconds of every step count. Recall is that of 1,000 rows that no choice
has seen.

Steps: "cells" (points, k-means, each row's cell), "calibration" (the sample's true neighbours, and
trials), "scan" (near cells and distances in them), "distances" (those of the candidates in double
precision, and their order).

The limit: all multiplications and additions of distances that the compiled search computes, at the
rate of sgemm on 2,048 x 2,048, measured in the same process.

`--fit 100000` also fits `SemiSupervisedClassifier()` to so many rows of COVTYPE, a tenth of their
labels known, and says which share of its CPU seconds the neighbours take. The fit has the compiled
search. The line of faiss is the same fit with the seconds of faiss's search in their place.
"""

from __future__ import annotations

import lzma
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import graphkm.neighbours.candidates as candidates
import graphkm.neighbours.cells as cells
from _common import Figure, SkipError, data_file, script, store, table
from graphkm import SemiSupervisedClassifier
from graphkm._util.threads import one_thread
from graphkm.neighbours.candidates import Queries, nearest_of
from graphkm.neighbours.exact import ExactSearch, FewQueries
from graphkm.neighbours.index import NeighbourIndex
from graphkm.neighbours.recall import recall as share_found
from neighbor_search import load

K, SAMPLE = 10, 1000
STEPS = ("cells", "calibration", "scan", "distances")
TITLES = {
    "covtype": "COVTYPE",
    "mnist": "MNIST",
    "mixture": "Gaussian mixture",
}


def rows_of(name: str, quick: bool) -> np.ndarray:
    """Return the rows of a set: nine tenths of COVTYPE, as in a fit that keeps rows for a test."""
    if name == "mixture":
        rng = np.random.default_rng(0)
        centres = 3 * rng.normal(size=(20, 20))
        X = centres[rng.integers(20, size=100_000)] + rng.normal(size=(100_000, 20))
        X = X.astype(np.float32)
    else:
        X = load(name)
    if name == "covtype":
        X = X[np.random.default_rng(0).permutation(len(X))[: round(0.9 * len(X))]]
    return np.ascontiguousarray(X[:15_000] if quick else X)


# ------------------------------------------------------------------- searches


class FaissCells(cells.Cells):
    """The same cells by faiss, which asks one query after another."""

    def __init__(self, rows: np.ndarray, width: int) -> None:
        import faiss

        self.width = width
        self._mean, self._size = cells.middle_and_size(rows)
        self._basis = None if width == rows.shape[1] else self._main_directions(rows)
        self.n_cells = int(np.sqrt(2 * len(rows)))
        faiss.omp_set_num_threads(1)
        self._index = faiss.IndexIVFFlat(faiss.IndexFlatL2(width), width, self.n_cells)
        self._index.cp.seed, self._index.cp.niter = 0, 10
        self._index.cp.min_points_per_centroid, self._index.cp.max_points_per_centroid = 1, 64
        points = self._points(rows)
        self._index.train(points)
        self._index.add(points)

    def __call__(self, queries: np.ndarray, k: int) -> np.ndarray:
        """Return candidates."""
        import faiss

        probes = faiss.SearchParametersIVF(nprobe=self.probes)
        wanted = k if self._basis is None else 3 * k
        return self._index.search(self._points(queries), wanted, params=probes)[1]

    def order(self, queries: Queries) -> None:
        """Return None: queries are asked as they come."""
        return None


def numpy_distances(X: np.ndarray, u: np.ndarray, v: np.ndarray, Y: np.ndarray) -> np.ndarray:
    out, step = np.empty(len(u)), max(1, 2**18 // X.shape[1])
    for start in range(0, len(u), step):
        part = slice(start, start + step)
        difference = np.subtract(X[u[part]], Y[v[part]], dtype=np.float64)
        out[part] = np.einsum("ij,ij->i", difference, difference)
    return out


WAYS: dict[str, tuple[type[cells.Cells], Any, Callable[..., np.ndarray]]] = {
    "faiss": (FaissCells, ExactSearch, numpy_distances),
    "compiled": (cells.Cells, FewQueries, candidates.squared_distances),
}


@contextmanager
def by(way: str) -> Iterator[None]:
    """Let the library search in this way."""
    names = ((cells, "Cells"), (cells, "FewQueries"), (candidates, "squared_distances"))
    before = [getattr(module, name) for module, name in names]
    try:
        for (module, name), value in zip(names, WAYS[way], strict=True):
            setattr(module, name, value)
        yield
    finally:
        for (module, name), value in zip(names, before, strict=True):
            setattr(module, name, value)


class Timed:
    """A search that counts its CPU seconds and the rows that it reads."""

    def __init__(self, search: cells.Cells) -> None:
        self.search, self.seconds = search, 0.0
        self.block, self.one_thread = search.block, search.one_thread

    def __call__(self, queries: np.ndarray, k: int) -> np.ndarray:
        """Return what the search finds."""
        start = time.process_time()
        found = self.search(queries, k)
        self.seconds += time.process_time() - start
        return found

    def order(self, queries: Queries) -> Any:
        """Return the order of the search."""
        return self.search.order(queries)


# -------------------------------------------------------------------- figures


def measured(X: np.ndarray, way: str) -> dict[str, Any]:
    """Return the CPU seconds of every step, what was chosen, and the neighbours' distances."""
    clock = time.process_time
    with by(way), one_thread():
        times, start = [], clock()
        built = cells.build_cells(X, cells.DIRECTIONS if X.shape[1] > 128 else X.shape[1])
        times.append(clock() - start)
        start = clock()
        chosen, found = cells.calibrate(X, K, {built.width: built})
        times.append(clock() - start)
        if found is None or chosen.width != built.width:
            raise SkipError("other cells were needed than the first ones")
        search, start = Timed(found), clock()
        d2 = nearest_of(search, X, Queries(X, np.arange(len(X))), K, 1)[1]
        times += [search.seconds, clock() - start - search.seconds]
    line = dict(zip(STEPS, times, strict=True))
    return line | {"probes": chosen.probes, "n_cells": found.n_cells, "d2": d2, "found": found}


def recall(X: np.ndarray, d2: np.ndarray) -> float:
    own = np.random.default_rng(100).permutation(len(X))[:SAMPLE]
    true = nearest_of(FewQueries(X), X, Queries(X[own], own), K, 1)[1]
    return share_found(d2[own], true)


def work_of(X: np.ndarray, found: cells.Cells) -> float:
    """Return the additions and multiplications of all distances that the search computes."""
    n, width, n_cells = len(X), found.width, found.n_cells
    sizes, read = np.bincount(found._cell, minlength=n_cells), 0.0
    for start in range(0, n, found.block):
        points = found._points(X[start : start + found.block])
        read += sizes[found._centres.nearest(points, None, found.probes)].sum()
    moves = cells._MOVES * min(n, cells._TRAINING * n_cells) * n_cells
    candidates_read = n * (K + 1) * (1 if width == X.shape[1] else 3)
    return 2.0 * (width * (moves + 2 * n * n_cells + read) + X.shape[1] * candidates_read)


def gemm_rate() -> float:
    """Return the arithmetic of sgemm per CPU second, in one thread."""
    A = np.random.default_rng(0).random((2048, 2048), dtype=np.float32)
    times = []
    with one_thread():
        for _ in range(8):
            start = time.process_time()
            A @ A
            times.append(time.process_time() - start)
    return 2 * 2048**3 / min(times)


def rounds(name: str, quick: bool, number: int) -> list[dict[str, Any]]:
    """Return a line for each way of searching a set."""
    X, found = rows_of(name, quick), {way: [] for way in WAYS}
    for _ in range(number):
        for way, lines in found.items():
            lines.append(measured(X, way))
            print(name, way, {step: round(lines[-1][step], 2) for step in STEPS}, flush=True)
    limit = work_of(X, found["compiled"][0]["found"]) / gemm_rate()
    shape = {"set": name, "rows": len(X), "columns": X.shape[1]}
    return [shape | _line(X, way, lines, limit) for way, lines in found.items()]


def _line(X: np.ndarray, way: str, lines: list[dict[str, Any]], limit: float) -> dict[str, Any]:
    least = {step: min(line[step] for line in lines) for step in STEPS}
    return {
        "search": way,
        "probes": lines[0]["probes"],
        "n_cells": lines[0]["n_cells"],
        "recall": f"{recall(X, lines[0]['d2']):.4f}",
        **{step: f"{seconds:.2f}" for step, seconds in least.items()},
        "cpu_seconds": f"{sum(least.values()):.2f}",
        "limit": f"{limit:.2f}" if way == "compiled" else "",
    }


def fitted(n: int) -> list[dict[str, Any]]:
    """Return the CPU seconds of a fit to n rows of COVTYPE, and of its neighbours in each way."""
    with lzma.open(data_file("covtype.csv.xz"), "rt") as file:
        y = np.loadtxt(file, delimiter=",", skiprows=1, usecols=54)
    X, rng = rows_of("covtype", False), np.random.default_rng(0)
    labels = (y[rng.permutation(len(y))[: len(X)]] == 2).astype(np.int64)[:n]
    X = np.ascontiguousarray(X[:n])
    labels[rng.permutation(len(X))[: round(0.9 * len(X))]] = -1
    spent, search = [], NeighbourIndex._nearest

    def counted(*arguments: Any) -> Any:
        start = time.process_time()
        found = search(*arguments)
        spent.append(time.process_time() - start)
        return found

    NeighbourIndex._nearest = counted  # type: ignore[method-assign]
    start = time.process_time()
    SemiSupervisedClassifier(random_state=0, n_jobs=1).fit(X, labels)
    fit, inside = time.process_time() - start, sum(spent)
    with by("faiss"), one_thread():
        NeighbourIndex(X, "approximate").neighbours(K)
    NeighbourIndex._nearest = search  # type: ignore[method-assign]
    took = {"faiss": spent[-1], "compiled": inside}
    return [
        {
            "rows": len(X),
            "search": way,
            "neighbours": f"{seconds:.2f}",
            "fit": f"{fit - inside + seconds:.2f}",
        }
        for way, seconds in took.items()
    ]


# --------------------------------------------------------------------- tables


def summary(lines: list[dict[str, str]]) -> tuple[list[str], list[list[str]]]:
    """Return the page's table: a line for each set and search."""
    out = []
    for line in lines:
        total, probes = float(line["cpu_seconds"]), f"{line['probes']} of {line['n_cells']}"
        steps = [f"{float(line[step]):.1f}" for step in STEPS]
        share = f"{float(line['limit']) / total:.0%}" if line["limit"] else ""
        size = f"{int(line['rows']):,} x {line['columns']}"
        out.append([f"{TITLES[line['set']]}, {size}", line["search"], probes, line["recall"]])
        out[-1] += [*steps, f"**{total:.1f}**", share]
    return ["set", "search", "cells read", "recall", *STEPS, "CPU s", "share of the limit"], out


def shares(lines: list[dict[str, str]]) -> tuple[list[str], list[list[str]]]:
    """Return the share of the neighbours in fits of COVTYPE."""
    out = []
    for line in lines:
        seconds, fit = float(line["neighbours"]), float(line["fit"])
        out.append([f"{int(line['rows']):,}", line["search"], f"{seconds:.1f}", f"{fit:.0f}"])
        out[-1].append(f"{seconds / fit:.0%}")
    return ["rows of COVTYPE", "search", "neighbours, CPU s", "fit, CPU s", "share"], out


def run(arguments: Any) -> list[Figure]:
    figures = []
    for name in filter(None, arguments.sets.split(",")):
        lines = rounds(name, arguments.quick, arguments.rounds)
        print("\n" + table(*summary(lines)), flush=True)
        if arguments.store:
            store("neighbour_costs", lines, ("set", "search"))
        before, after = (float(line["cpu_seconds"]) for line in lines)
        figures.append(Figure(f"neighbours of {name}: faiss over compiled", before / after, "x"))
    if arguments.fit:
        lines = fitted(arguments.fit)
        print("\n" + table(*shares(lines)), flush=True)
        if arguments.store:
            store("neighbour_shares", lines, ("rows", "search"))
    return figures


if __name__ == "__main__":
    script(
        run,
        sets={"default": ",".join(TITLES), "help": "data sets, separated by commas"},
        rounds={"type": int, "default": 1, "help": "how often each search runs"},
        fit={"type": int, "default": 0, "help": "also fit so many rows of COVTYPE"},
        store={"action": "store_true", "help": "put the results into the page's file"},
    )
