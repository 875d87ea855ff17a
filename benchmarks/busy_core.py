"""What a busy core costs: fits, alone and beside a process that never rests.

    python benchmarks/busy_core.py [--quick]

Wall time, and CPU time over wall time, of fits of the front door on 500 x 8 and 1,500 x 8 rows with
40 labels. "no limit" lets BLAS use all threads for small matrices too, whose threads then wait for
each other: that is what `graphkm._util.threads.blas_threads_for` prevents. Everything runs in
turns, but what else runs on the machine counts too: look at the ratios.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import Any

import numpy as np

from graphkm import SemiSupervisedClassifier
from graphkm._util import threads as _threads


def problem(n: int) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).normal(size=(n, 8))
    y = (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int)
    y[40:] = -1
    return X, y


@contextmanager
def busy_core(wanted: bool) -> Any:
    """Keep one core busy, if wanted."""
    other = subprocess.Popen([sys.executable, "-c", "while True: pass"]) if wanted else None
    try:
        yield
    finally:
        if other is not None:
            other.kill()
            other.wait()


def measure(n: int, limited: bool) -> tuple[float, float]:
    """Return wall seconds and CPU seconds of a fit."""
    usual, X_y = _threads._SMALL, problem(n)
    _threads._SMALL = usual if limited else -1
    try:
        wall, cpu = time.perf_counter(), time.process_time()
        SemiSupervisedClassifier(random_state=0).fit(*X_y)
        return time.perf_counter() - wall, time.process_time() - cpu
    finally:
        _threads._SMALL = usual


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="500 rows only")
    sizes = (500,) if parser.parse_args().quick else (500, 1500)
    measure(200, limited=True)  # what a first call loads
    for n in sizes:
        for limited in (True, False):
            for busy in (False, True):
                with busy_core(busy):
                    wall, cpu = measure(n, limited)
                print(
                    f"{n} rows, {'as it is' if limited else 'no limit'}, "
                    f"{'one core busy' if busy else 'nothing else':13}: "
                    f"{wall:.2f} s, CPU / wall {cpu / wall:.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
