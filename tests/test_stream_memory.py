"""Memory over an endless stream: what is allocated does not grow with the rows seen.

Two caches that fill slowly and are bounded are kept out of the measurement: CPython's of attribute
names, which is emptied, and NumPy's of small buffers, which is filled first.
"""

from __future__ import annotations

import ctypes
import gc
import os
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

from graphkm import SGD, GKMClassifier, Sums

CHUNKS, ROWS = 30, 200
LABELED = np.arange(ROWS) % 25 < 8  # 64 rows, which is a block of sums: none of them waits
# What empties the cache of attribute names, since Python 3.13 and before.
forget_names = getattr(sys, "_clear_internal_caches", None) or sys._clear_type_cache


def endless(kind, half_life):
    """Yield after every `CHUNKS` chunks, with nothing left over but the model."""
    solver = Sums(40, half_life)
    if kind == "sgd":
        solver = SGD(budget=40, reservoir_size=50, steps_per_row=0.2, half_life=half_life)
    model = GKMClassifier(gamma=0.5, random_state=0, n_jobs=1, solver=solver)
    rng = np.random.default_rng(0)
    while True:
        for _ in range(CHUNKS):
            X = rng.normal(size=(ROWS, 3))
            y = np.where(LABELED, (X[:, 0] > 0).astype(int), -1)
            model.partial_fit(X, y, classes=[0, 1])
        model.predict(X)
        del X, y
        gc.collect()
        forget_names()
        yield model


class Mallinfo(ctypes.Structure):
    """glibc's account of its heap: ten numbers."""

    _fields_ = [("numbers", ctypes.c_size_t * 10)]


def in_use():
    """Return the bytes that malloc has given away, compiled code's among them."""
    libc = ctypes.CDLL(None)
    libc.mallinfo2.restype = Mallinfo
    numbers = libc.mallinfo2().numbers
    return numbers[4] + numbers[7]  # in mappings of their own, and in arenas


def main(kind, half_life, measure):
    """Print what is in use after more and more chunks."""
    filling = [np.empty(size, np.uint8) for size in range(1024) for _ in range(8)]
    del filling
    stream = endless(kind, half_life)
    next(stream)  # the reservoirs and the budget are full
    if measure == "traced":
        tracemalloc.start()
    for _ in range(4):
        model = next(stream)
        print(tracemalloc.get_traced_memory()[0] if measure == "traced" else in_use())
    assert len(model.stream_.W if kind == "sgd" else model.stream_.landmarks) == 40


def measured(*arguments):
    """Measure in a process of its own, where nothing else runs."""
    # Without the cache per thread, whose free blocks count as in use.
    environment = os.environ | {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}
    command = [sys.executable, __file__, *map(str, arguments)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    sizes = np.array(run.stdout.split(), int)
    assert len(sizes) == 4
    return sizes


@pytest.mark.long
@pytest.mark.parametrize("half_life", [0, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["sgd", "sums"])
def test_python_and_numpy_keep_nothing_of_a_chunk(kind, half_life):
    # What every chunk leaves behind shows every time: less than one number of every chunk.
    assert min(np.diff(measured(kind, half_life, "traced"))) < 8 * CHUNKS


@pytest.mark.long
@pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "mallinfo2"),
    reason="needs the malloc of glibc 2.33 or later",
)
@pytest.mark.parametrize("kind", ["sgd", "sums"])
def test_compiled_code_keeps_nothing_of_a_chunk(kind):
    assert np.diff(measured(kind, 0, "malloc")[-3:]).sum() < 2 * 8 * CHUNKS


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]) or None, sys.argv[3])
