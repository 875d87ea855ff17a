"""Kernel products: fused against the best NumPy tiles, with a second thread, and of sparse rows.

    python benchmarks/products.py [--part dense,sparse] [--quick]

Dense: F = sum_j a_j exp(-gamma ||x_q - s_j||^2) for 4,096 queries and 16,384 centres in float32,
at five widths d. One thread, CPU time, the two in turns, minimum of several runs.

The NumPy side does as little per element as NumPy can: rows are scaled beforehand, so that one
sgemm gives the exponent, then comes exp in place and a matrix-vector product. Two forms compete:
"augmented" carries the norms in two more columns; "folded" puts exp(-gamma ||s||^2) into the
coefficients and exp(-gamma ||q||^2) into the result, which would overflow on spread-out data.
Form, row tile and column tile are tuned for every d, and the best stands. NumPy's exp has several
speeds that differ between identical processes (4.9 to 6.7 ns per element in 40 of them on a
Neoverse-N1), so the tuned pair runs in several fresh processes and each side's best counts.

At d = 300 the product is also set against sgemm alone, at sgemm's best size, counting 2d flops per
kernel evaluation (the exponential is not counted). Last, wall times with one and two threads: the
product's ratio over sgemm's own ratio in the same run.

Sparse: 4,096 queries x 16,384 centres of W8A (300 features, about 12 of them non-zero; synthetic
rows of that shape where the set is absent), as CSR and dense, float32, one thread, CPU time, the
two in turns, minimum of several runs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from functools import partial
from itertools import product as pairs
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from threadpoolctl import ThreadpoolController, threadpool_limits

from _common import Figure, SkipError, in_turns, load_libsvm, script, table
from graphkm.backends import make_store
from graphkm.kernels import SquaredExponential

WIDTHS = (8, 22, 54, 128, 300)
TARGETS = {8: 3.0, 22: 2.5, 54: 1.8, 128: 1.4}  # times the NumPy tiles
SGEMM_SHARE = 0.70  # of sgemm's flop rate, at d = 300
THREADS_SHARE = 0.90  # of sgemm's gain from a second thread
SPARSE_TARGET = 4.0  # times the dense product, for rows of W8A
WIDE, NONZEROS = 300, 12  # columns of W8A, and how many of a row are not 0
ROW_TILES = (32, 64, 128, 256, 1024)
COLUMN_TILES = (256, 1024, 4096, 16384)
SGEMM_SIZES = ((1024, 1024, 1024), (2048, 2048, 2048), (4096, 4096, 1024), (4096, 4096, 300))


@dataclass(frozen=True)
class Problem:
    """Queries, centres and coefficients of one product."""

    Q: Any  # rows, dense or CSR
    S: Any
    a: np.ndarray
    gamma: float

    @property
    def evaluations(self) -> int:
        """Kernel evaluations of the product."""
        return self.Q.shape[0] * self.S.shape[0]


def random_problem(n_queries: int, n_centres: int, d: int) -> Problem:
    rng = np.random.default_rng(d)
    rows = rng.standard_normal((n_queries + n_centres, d), dtype=np.float32)
    a = rng.standard_normal(n_centres).astype(np.float32)
    return Problem(rows[:n_queries], rows[n_queries:], a, gamma=0.5 / d)


def filled_store(problem: Problem, n_threads: int) -> Any:
    kernel, S = SquaredExponential(gamma=problem.gamma), problem.S
    sparse = not isinstance(S, np.ndarray)
    store = make_store(kernel, S.shape[1], 1, sparse=sparse, dtype=np.float32, n_threads=n_threads)
    store.append(S)
    store.set(np.arange(S.shape[0]), problem.a[:, None].astype(np.float64))
    return store


# --------------------------------------------------------------------- NumPy


@dataclass(frozen=True)
class Tiles:
    """Prescaled rows: the sum is out_scale * (exp(Q S') a)."""

    Q: np.ndarray
    S: np.ndarray
    a: np.ndarray
    out_scale: np.ndarray | None


def augmented(p: Problem) -> Tiles:
    root = np.float32(np.sqrt(2 * p.gamma))
    q2 = -p.gamma * np.einsum("ij,ij->i", p.Q, p.Q)[:, None]
    s2 = -p.gamma * np.einsum("ij,ij->i", p.S, p.S)[:, None]
    Q = np.hstack([root * p.Q, q2, np.ones_like(q2)]).astype(np.float32)
    return Tiles(Q, np.hstack([root * p.S, np.ones_like(s2), s2]).astype(np.float32), p.a, None)


def folded(p: Problem) -> Tiles:
    root = np.float32(np.sqrt(2 * p.gamma))
    q2 = np.exp(-p.gamma * np.einsum("ij,ij->i", p.Q, p.Q))
    s2 = np.exp(-p.gamma * np.einsum("ij,ij->i", p.S, p.S))
    return Tiles(root * p.Q, root * p.S, p.a * s2, q2)


FORMS = {"augmented": augmented, "folded": folded}
Choice = tuple[str, int, int]  # form, rows and columns of a tile


def numpy_product(tiles: Tiles, rows: int, columns: int, buffer: np.ndarray) -> np.ndarray:
    out = np.zeros(len(tiles.Q), np.float32)
    for i in range(0, len(tiles.Q), rows):
        Q = tiles.Q[i : i + rows]
        for j in range(0, len(tiles.S), columns):
            S = tiles.S[j : j + columns]
            tile = buffer[: len(Q) * len(S)].reshape(len(Q), len(S))
            np.matmul(Q, S.T, out=tile)
            np.exp(tile, out=tile)
            out[i : i + rows] += tile @ tiles.a[j : j + columns]
    return out if tiles.out_scale is None else out * tiles.out_scale


def best_tiles(problem: Problem, repeats: int) -> Choice:
    """Return the form and the tile of the fastest NumPy product.

    All tiles compete on 1,024 queries; the best of them, and taller ones, on all queries.
    """
    short = replace(problem, Q=problem.Q[:1024])
    order = ranked(short, list(pairs(FORMS, ROW_TILES, COLUMN_TILES)), repeats)
    taller = [(order[0][0], rows, columns) for rows in (2048, 4096) for columns in (1024, 4096)]
    return ranked(problem, order[:3] + taller, repeats)[0]


def ranked(problem: Problem, choices: list[Choice], repeats: int) -> list[Choice]:
    """Return forms and tile sizes from the fastest to the slowest."""
    prepared = {name: form(problem) for name, form in FORMS.items()}
    buffer = new_buffer()
    works = [partial(numpy_product, prepared[f], r, c, buffer) for f, r, c in choices]
    return [choices[k] for k in np.argsort(in_turns(works, repeats))]


def new_buffer() -> np.ndarray:
    return np.empty(max(ROW_TILES) * max(COLUMN_TILES), np.float32)


# --------------------------------------------------------------------- sgemm


class Sgemm:
    """C = A B' of one size, ready to call."""

    def __init__(self, n: int, m: int, k: int) -> None:
        rng = np.random.default_rng(0)
        self.A, self.B = (rng.standard_normal((rows, k), dtype=np.float32) for rows in (n, m))
        self.C = np.empty((n, m), np.float32)
        self.flops = 2.0 * n * m * k
        self.name = f"{n} x {m} x {k}"
        self._controller = ThreadpoolController()

    def __call__(self, n_threads: int = 1) -> None:
        """Multiply."""
        with self._controller.limit(limits=n_threads, user_api="blas"):
            np.matmul(self.A, self.B.T, out=self.C)


# --------------------------------------------------------------- the figures


def one_thread(size: tuple[int, int], repeats: int, processes: int) -> list[Figure]:
    problems = {d: random_problem(*size, d) for d in WIDTHS}
    choices = {d: best_tiles(problem, min(2, repeats)) for d, problem in problems.items()}
    answers = np.array([in_new_process(size, repeats, choices) for _ in range(processes)])
    rates = size[0] * size[1] / answers / 1e9  # [process][d][fused, NumPy]
    figures, rows = [], []
    for k, (d, choice) in enumerate(choices.items()):
        fused, tiled = rates[:, k].max(axis=0)
        target = TARGETS.get(d)
        figures.append(Figure(f"fused / NumPy tiles, d = {d}", fused / tiled, "x", target))
        spans = [f"{low:.3f} to {high:.3f}" for low, high in zip(*span(rates[:, k]), strict=True)]
        tile = "{} {} x {}".format(*choice)
        rows.append([d, *spans, tile, f"{fused / tiled:.2f}", target or ""])
    headers = ["d", "fused, 1e9/s", "NumPy, 1e9/s", "best NumPy tile", "ratio of best", "target"]
    print("\nevaluations per CPU second, one thread, float32, {:,} x {:,}".format(*size))
    print(f"slowest and fastest of {processes} processes")
    print(table(headers, rows))
    problem = problems[max(WIDTHS)]
    return [*figures, sgemm_share(problem, filled_store(problem, 1), repeats)]


def span(rates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return rates.min(axis=0), rates.max(axis=0)


def in_new_process(size: tuple[int, int], repeats: int, choices: dict[int, Choice]) -> Any:
    """Return the seconds of the fused and the NumPy product for every d."""
    request = json.dumps({"size": size, "repeats": repeats, "choices": choices})
    command = [sys.executable, __file__, "--worker", request]
    answer = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    return json.loads(answer.splitlines()[-1])


def work(size: tuple[int, int], repeats: int, choices: dict[str, Choice]) -> list[list[float]]:
    """Time both products for every d in this process."""
    times = []
    for d, (form, rows, columns) in choices.items():
        problem = random_problem(*size, int(d))
        fused = partial(filled_store(problem, 1).product, problem.Q)
        tiled = partial(numpy_product, FORMS[form](problem), rows, columns, new_buffer())
        check(fused()[:, 0], tiled())
        times.append(in_turns([fused, tiled], repeats))
    return times


def check(ours: np.ndarray, theirs: np.ndarray) -> None:
    error = np.abs(ours - theirs).max() / np.abs(theirs).max()
    if error > 1e-4:
        raise AssertionError(f"the two products differ by {error:.2g}")


def sgemm_share(problem: Problem, store: Any, repeats: int) -> Figure:
    d = problem.Q.shape[1]
    calls = [Sgemm(*size) for size in SGEMM_SIZES]
    fused, *times = in_turns([partial(store.product, problem.Q), *calls], repeats)
    rate, name = max((c.flops / taken, c.name) for c, taken in zip(calls, times, strict=True))
    fused_rate = 2.0 * d * problem.evaluations / fused
    print(f"\nd = {d}: fused {fused_rate / 1e9:.1f} Gflop/s; sgemm {rate / 1e9:.1f} at {name}")
    return Figure(f"fused flop rate / sgemm's best, d = {d}", fused_rate / rate, "", SGEMM_SHARE)


def two_threads(size: tuple[int, int], repeats: int) -> list[Figure]:
    """Wall times; sgemm's threads spin for a while after a call, hence the pauses."""
    figures, rows = [], []
    sgemm = Sgemm(2048, 2048, 2048)
    for d in WIDTHS:
        problem = random_problem(*size, d)
        stores = [filled_store(problem, n) for n in (1, 2)]
        works = [partial(store.product, problem.Q) for store in stores]
        works += [partial(sgemm, n_threads=n) for n in (1, 2)]
        times = in_turns(works, repeats, clock=time.perf_counter, pause=0.2)
        gains = times[0] / times[1], times[2] / times[3]
        name = f"two threads: gain / sgemm's gain, d = {d}"
        figures.append(Figure(name, gains[0] / gains[1], "", THREADS_SHARE))
        rows.append([d, *(f"{gain:.2f}" for gain in gains), f"{gains[0] / gains[1]:.2f}"])
    print("\nwall time with one thread / with two")
    print(table(["d", "fused", "sgemm", "fused / sgemm"], rows))
    print("where sgemm gains nothing the second core was busy, and the quotient says little")
    return figures


# -------------------------------------------------------------------- sparse


def sparse_rows(n: int) -> tuple[csr_array, str]:
    """Return n rows of W8A, shuffled, or of synthetic data; and their name."""
    rng = np.random.default_rng(0)
    try:
        X, _ = load_libsvm("w8a.libsvm.bz2", WIDE)
    except SkipError:
        columns = [np.sort(rng.choice(WIDE, NONZEROS, replace=False)) for _ in range(n)]
        indptr = NONZEROS * np.arange(n + 1)
        ones = np.ones(n * NONZEROS, np.float32)
        return narrow(csr_array((ones, np.concatenate(columns), indptr), (n, WIDE))), "synthetic"
    return narrow(csr_array(X)[rng.permutation(X.shape[0])[:n]]), "W8A"


def narrow(X: csr_array) -> csr_array:
    """Return X with the 32-bit indices that compiled code takes."""
    return csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), X.shape)


def sparse_product(size: tuple[int, int], repeats: int) -> list[Figure]:
    n_queries, n_centres = size
    X, name = sparse_rows(n_queries + n_centres)
    a = np.random.default_rng(1).standard_normal(n_centres)
    given = Problem(narrow(X[:n_queries]), narrow(X[n_queries:]), a, gamma=0.05)
    same = replace(given, Q=given.Q.toarray(), S=given.S.toarray())
    sparse, dense = (partial(filled_store(each, 1).product, each.Q) for each in (given, same))
    np.testing.assert_allclose(sparse(), dense(), atol=1e-4 * np.abs(a).sum() ** 0.5)
    rates = [given.evaluations / taken / 1e9 for taken in in_turns([sparse, dense], repeats)]
    print(f"\n{name}: {X.nnz / X.shape[0]:.1f} of {WIDE} features non-zero in {X.shape[0]:,} rows")
    print(f"evaluations per CPU second: CSR {rates[0]:.3f}e9, dense {rates[1]:.3f}e9")
    return [Figure(f"CSR / dense product, {name}", rates[0] / rates[1], "x", SPARSE_TARGET)]


def dense_products(size: tuple[int, int], quick: bool) -> list[Figure]:
    with threadpool_limits(1, user_api="blas"):
        figures = one_thread(size, 2 if quick else 3, 2 if quick else 6)
    return figures + two_threads(size, 2 if quick else 7)


def run(arguments: argparse.Namespace) -> list[Figure]:
    if arguments.worker:
        with threadpool_limits(1, user_api="blas"):
            print(json.dumps(work(**json.loads(arguments.worker))))
        return []
    size = (512, 2048) if arguments.quick else (4096, 16384)
    figures, parts = [], arguments.part.split(",")
    if "dense" in parts:
        figures += dense_products(size, arguments.quick)
    if "sparse" in parts:
        figures += sparse_product(size, 3 if arguments.quick else 7)
    return figures


if __name__ == "__main__":
    script(
        run,
        part={"default": "dense,sparse", "help": "dense, sparse"},
        worker={"help": argparse.SUPPRESS},
    )
