"""Rows in partitions: made on the workers, or read by them from a file."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np

from table_sets import SETS, split

CURVES, HARMONICS, NOISE = 40, 3, 0.5
POINTS = 4096  # of a curve, from which rows are drawn
NEW = 20_000


@cache
def curve_points(d: int) -> np.ndarray:
    """Return the points of all curves: making rows from a table costs less than their search."""
    shape = np.random.default_rng(0).normal(size=(CURVES, 2 * HARMONICS, d)) / np.sqrt(HARMONICS)
    t = 2 * np.pi * np.arange(POINTS) / POINTS
    waves = [wave(k * t) for k in range(1, HARMONICS + 1) for wave in (np.cos, np.sin)]
    return np.einsum("np,cnd->cpd", waves, shape).reshape(-1, d).astype(np.float32)


def drawn_curves(start: int, n: int) -> tuple[np.ndarray, np.random.Generator]:
    """Return the curves of some rows, and the generator that draws the rest of them."""
    rng = np.random.default_rng([1, start])
    return rng.integers(CURVES, size=n), rng


def made_rows(start: int, stop: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of curves by their numbers, and their classes."""
    curve, rng = drawn_curves(start, stop - start)
    X = rng.standard_normal((stop - start, d), dtype=np.float32)
    X *= np.float32(NOISE)
    X += curve_points(d)[curve * POINTS + rng.integers(POINTS, size=len(curve))]
    return X, curve % 2


def place_of(block_info: Any) -> tuple[int, int]:
    start, stop = block_info[None]["array-location"][0]
    return start, stop


def block_of_rows(d: int, block_info: Any = None) -> np.ndarray:
    return made_rows(*place_of(block_info), d)[0]


def block_of_labels(every: int, block_info: Any = None) -> np.ndarray:
    start, stop = place_of(block_info)
    curve, _ = drawn_curves(start, stop - start)
    return np.where(np.arange(start, stop) % every == 0, curve % 2, -1)


def block_of_file(path: str, block_info: Any = None) -> np.ndarray:
    start, stop = place_of(block_info)
    return np.array(np.load(path, mmap_mode="r")[start:stop])


def sizes(n: int, size: int) -> tuple[int, ...]:
    return tuple(min(size, n - start) for start in range(0, n, size))


class Made:
    """Rows made on the workers."""

    def __init__(self, n: int, d: int, n_labeled: int, size: int) -> None:
        chunks, every = sizes(n, size), max(1, n // n_labeled)
        self.rows = da.map_blocks(
            block_of_rows, d=d, chunks=(chunks, (d,)), dtype=np.float32, meta=np.empty((0, 0))
        )
        self.labels = da.map_blocks(
            block_of_labels, every=every, chunks=(chunks,), dtype=np.int64, meta=np.empty(0)
        )
        self.new, self.truth = made_rows(10**12, 10**12 + NEW, d)


class Stored:
    """A data set in a file, from which workers read their rows; nine tenths are for training."""

    def __init__(self, name: str, labels: str, size: int, folder: Path) -> None:
        X, y = SETS[name]()
        train, test, labeled = split(y, labels, seed=0)
        self.hidden, self.own = ~labeled, y[train]
        path = folder / "rows.npy"
        np.save(path, np.ascontiguousarray(X[train], dtype=np.float32))
        chunks = sizes(len(train), size)
        self.rows = da.map_blocks(
            block_of_file,
            path=str(path),
            chunks=(chunks, X.shape[1:]),
            dtype=np.float32,
            meta=np.empty((0, 0), np.float32),
        )
        self.labels = da.from_array(np.where(labeled, y[train], -1), chunks=(chunks,))
        self.new, self.truth = np.asarray(X[test], dtype=np.float32), y[test]


def gathered(data: Any, kept: np.ndarray) -> np.ndarray:
    """Return some rows, by their numbers in rising order, one partition after another."""
    found, low = [], 0
    for number, size in enumerate(data.rows.chunks[0]):
        own = kept[(kept >= low) & (kept < low + size)] - low
        found.append(np.asarray(data.rows.blocks[number].compute(scheduler="sync"))[own])
        low += size
    return np.concatenate(found)
