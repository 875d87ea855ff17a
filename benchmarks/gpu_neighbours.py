"""Neighbours of large tables on an NVIDIA card: one-hot columns, sentence vectors, 20 million rows.

    python benchmarks/gpu_neighbours.py [--parts one_hot,vectors,noise,many] [--scale 1.0] [--store]

The 10 nearest other rows of every row, from NumPy's memory and back to it. A small search runs
before, so that kernels are compiled. A time is the least of `--rounds` runs of the clock. Recall is
the share of the true neighbours of 500 random rows that were found, by CuPy's products in double
precision; a row at the same distance may stand for another.

one_hot: 15 columns of 21 values, whose shares fall as 1, 1/2, 1/3, ... (Zipf), as 315 columns of
zeros and ones. vectors: unit vectors of 768 columns around 20,000 topics, whose covariance falls as
that of sentence vectors. noise: independent normal numbers, the hardest rows to tell apart. many:
20 million rows of 64 columns around 2,000 centres, in clusters of 16 dimensions each.

The rival is torch on the same card: products in TF32 and its topk, for 8,192 queries, scaled up to
all. It returns rounded distances, and does not know which neighbours it missed. The share of the
limit counts one product for each pair of rows that is compared, at 989e12 operations per second
(16 bits without sparsity, NVIDIA's data sheet of the H200).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import graphkm
from _common import Figure, SkipError, script, store
from graphkm.backends import DeviceError, backend_for
from graphkm.neighbours.index import NeighbourIndex
from graphkm.neighbours.recall import recall

K, SAMPLE, RIVAL = 10, 500, 8192
LIMIT = 989e12


def one_hot(scale: float) -> np.ndarray:
    rng = np.random.default_rng(0)
    n, columns, values = round(1_300_000 * scale), 15, 21
    shares = 1.0 / np.arange(1, values + 1)
    drawn = rng.choice(values, size=(n, columns), p=shares / shares.sum())
    X = np.zeros((n, columns * values), np.float32)
    X[np.arange(n)[:, None], np.arange(columns) * values + drawn] = 1.0
    return X


def vectors(scale: float) -> np.ndarray:
    rng = np.random.default_rng(0)
    n, d, topics = round(1_000_000 * scale), 768, 20_000
    spread = (1.0 / np.sqrt(1.0 + np.arange(d))).astype(np.float32)
    centres = rng.standard_normal((topics, d), np.float32) * spread
    X = np.empty((n, d), np.float32)
    for start in range(0, n, 100_000):
        part = X[start : start + 100_000]
        part[:] = centres[rng.integers(0, topics, len(part))]
        part += 0.7 * spread * rng.standard_normal(part.shape, np.float32)
        part /= np.linalg.norm(part, axis=1, keepdims=True)
    return X


def noise(scale: float) -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.standard_normal((round(1_000_000 * scale), 768), np.float32)


def many(scale: float) -> np.ndarray:
    rng = np.random.default_rng(0)
    n, d, clusters, within = round(20_000_000 * scale), 64, 2000, 16
    centres = 2.0 * rng.standard_normal((clusters, d), np.float32)
    maps = rng.standard_normal((clusters, within, d), np.float32) / 4.0
    cluster = np.sort(rng.integers(0, clusters, n))
    X = np.empty((n, d), np.float32)
    for c, part in enumerate(np.split(X, np.searchsorted(cluster, np.arange(1, clusters)))):
        part[:] = rng.standard_normal((len(part), within), np.float32) @ maps[c] + centres[c]
    X += 0.05 * rng.standard_normal((1, d), np.float32)
    return X[rng.permutation(n)]


PARTS: dict[str, tuple[Callable[[float], np.ndarray], float]] = {
    "one_hot": (one_hot, 15.0),
    "vectors": (vectors, 10.0),
    "noise": (noise, 30.0),
    "many": (many, 60.0),
}


TITLES = {
    "one_hot": "one-hot columns",
    "vectors": "sentence vectors",
    "noise": "noise",
    "many": "clusters",
}


def true_distances(X: np.ndarray, some: np.ndarray) -> np.ndarray:
    """Return squared distances of the nearest other rows, by products in double precision."""
    import cupy

    queries = cupy.asarray(X[some], np.float64)
    near = []
    for start in range(0, len(X), 2**18):
        rows = cupy.asarray(X[start : start + 2**18], np.float64)
        squares = cupy.square(rows).sum(axis=1) - 2.0 * queries @ rows.T
        squares += cupy.square(queries).sum(axis=1)[:, None]
        mine = np.flatnonzero((some >= start) & (some < start + len(rows)))
        squares[cupy.asarray(mine), cupy.asarray(some[mine] - start)] = np.inf
        near.append(cupy.partition(squares, K, axis=1)[:, :K])
    return np.sort(cupy.concatenate(near, axis=1).get(), axis=1)[:, :K]


def torch_seconds(X: np.ndarray) -> float | None:
    """Return what torch would take for all rows, from a part of them."""
    try:
        import torch
    except ImportError:
        return None
    torch.backends.cuda.matmul.allow_tf32 = True
    rows = torch.as_tensor(X, device="cuda")
    squares = (rows * rows).sum(1)
    m, size = min(RIVAL, len(X)), max(64, 2**31 // len(X))
    for _ in range(2):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for i in range(0, m, size):
            distances = torch.addmm(squares[None], rows[i : min(i + size, m)], rows.T, alpha=-2)
            distances.topk(K + 1, largest=False)
        torch.cuda.synchronize()
        taken = time.perf_counter() - start
    del rows, squares, distances
    torch.cuda.empty_cache()
    return taken * len(X) / m


def measured(name: str, scale: float, rounds: int) -> dict[str, Any]:
    make, target = PARTS[name]
    X = make(scale)
    some = np.sort(np.random.default_rng(2).choice(len(X), SAMPLE, replace=False))
    seconds, index = [], None
    with graphkm.config_context(device="cuda"):
        NeighbourIndex(X[:20_000]).neighbours(K)
        for _ in range(rounds):
            start = time.perf_counter()
            index = NeighbourIndex(X)
            _, d2 = index.neighbours(K)
            seconds.append(time.perf_counter() - start)
        probes = 0 if index is None or index._device is None else index._device.probes(K)
        index = None
    found = d2[some]
    del d2
    true = true_distances(X, some)
    n, d = X.shape
    pairs = float(n) * n if not probes else float("nan")
    rival = torch_seconds(X)
    return {
        "rows": name,
        "n": n,
        "d": d,
        "seconds": f"{min(seconds):.2f}",
        "target": target if scale == 1.0 else "",
        "recall": f"{recall(found, true):.5f}",
        "cells read": probes or "",
        "share of the limit": "" if probes else f"{pairs * d * 2 / min(seconds) / LIMIT:.3f}",
        "torch": "" if rival is None else f"{rival:.1f}",
    }


def summary(lines: list[dict[str, str]]) -> tuple[list[str], list[list[str]]]:
    """Return the heads and the lines of the page's table."""
    heads = ["rows", "seconds", "asked", "recall", "cells read", "share of the limit"]
    shown = []
    for line in lines:
        rows = f"{TITLES[line['rows']]}, {int(line['n']):,} x {line['d']}"
        measured = [line[key] for key in ("seconds", "target", "recall")]
        share = line["share of the limit"]
        about = [line["cells read"] or "all", f"{float(share):.0%}" if share else ""]
        shown.append([rows, *measured, *about, line["torch"]])
    return [*heads, "torch, seconds"], shown


def run(arguments: argparse.Namespace) -> list[Figure]:
    try:
        backend_for("cuda")
    except DeviceError as reason:
        raise SkipError(str(reason)) from None
    figures = []
    for name in arguments.parts.split(","):
        line = measured(name, 0.02 if arguments.quick else arguments.scale, arguments.rounds)
        print(line, flush=True)
        if arguments.store:
            store("gpu_neighbours", [line], ["rows", "n"])
        target = line["target"] or None
        figures.append(Figure(name, float(line["seconds"]), "s", target, at_least=False))
        figures.append(Figure(f"{name}: recall", float(line["recall"]), "", 0.97))
    return figures


if __name__ == "__main__":
    script(
        run,
        parts={"default": ",".join(PARTS)},
        scale={"type": float, "default": 1.0},
        rounds={"type": int, "default": 2},
        store={"action": "store_true"},
    )
