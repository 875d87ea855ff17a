"""What it costs to begin: importing the package, and a small fit.

    python benchmarks/small_costs.py [--quick]

`import graphkm` in fresh processes that have imported scikit-learn's `sklearn.svm` just before
(and, for comparison, no more than `sklearn`), wall time, minimum of several processes; and
`GKMClassifier().fit` with its defaults (Newton's solver) and with the stochastic one on G50C
(550 x 50, the first official split's 50 labels; synthetic data of the same shape where the set is
absent), wall time, minimum of many. What threads cost is in `threads.py`.
"""

from __future__ import annotations

import compileall
import lzma
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
from typing import Any

import numpy as np

import graphkm
from _common import Figure, SkipError, data_file, script, seconds
from graphkm import GKMClassifier, _native

IMPORT_TARGET, FIT_TARGET = 50.0, 20.0  # milliseconds

# What is imported is a copy as pip installs it: with byte code, without an editable install's hook.
_PROGRAM = """
import sys, time
sys.meta_path = [f for f in sys.meta_path if not type(f).__name__.startswith("ScikitBuild")]
start = time.perf_counter()
import {first}
middle, cpu = time.perf_counter(), time.process_time()
import graphkm
print(middle - start, time.perf_counter() - middle, time.process_time() - cpu)
"""


def import_milliseconds(first: str, repeats: int) -> list[float]:
    """Return the wall time of importing `first`, that of graphkm after it, and its CPU time."""
    command = [sys.executable, "-c", _PROGRAM.format(first=first)]
    times = []
    with tempfile.TemporaryDirectory() as folder:
        package = pathlib.Path(folder) / "graphkm"
        shutil.copytree(pathlib.Path(graphkm.__file__).parent, package)
        shutil.copy(_native.__file__, package)
        compileall.compile_dir(package, quiet=1)
        environment = os.environ | {"PYTHONPATH": folder}
        for _ in range(repeats):
            answer = subprocess.run(
                command, env=environment, capture_output=True, text=True, check=True
            ).stdout
            times.append([1e3 * float(number) for number in answer.split()])
    return np.min(times, axis=0).tolist()


def g50c() -> tuple[np.ndarray, np.ndarray, str]:
    """Return rows, labels with all but 50 hidden, and the name."""
    from scipy.io import loadmat

    try:
        with lzma.open(data_file("g50c_lds.mat.xz")) as file:
            data = loadmat(file)
    except SkipError:
        rng = np.random.default_rng(0)
        truth = rng.integers(2, size=550)
        X = rng.standard_normal((550, 50)) + 0.23 * (2 * truth[:, None] - 1)
        y = np.where(np.arange(550) < 50, truth, -1)
        return X, y, "synthetic G50C"
    known = data["idxLabs"][0].ravel().astype(int) - 1
    y = np.full(550, -1)
    y[known] = (data["y"].ravel()[known] > 0).astype(int)
    return np.ascontiguousarray(data["X"], np.float64), y, "G50C"


def start(quick: bool) -> list[Figure]:
    repeats = 3 if quick else 15
    figures = []
    for first, target in (("sklearn.svm", IMPORT_TARGET), ("sklearn", None)):
        before, added, cpu = import_milliseconds(first, repeats)
        print(f"import {first}: {before:.0f} ms; graphkm after it: {added:.1f} ms, CPU {cpu:.1f}")
        name = f"import graphkm after {first}"
        figures.append(Figure(name, added, "ms", target, at_least=False))
    X, y, name = g50c()
    stochastic = {"solver": "sgd", "C": 1.0, "C_graph": 0.1, "gamma": "scale"}
    for what, options, target in (("", {}, None), (", sgd", stochastic, FIT_TARGET)):
        model = GKMClassifier(random_state=0, **options)
        times = [_time_fit(model, X, y) for _ in range(10 * repeats)]
        print(f"fit of {name}{what}: median {1e3 * np.median(times):.1f} ms, {model.n_iter_} steps")
        fit = 1e3 * min(times)
        figures.append(Figure(f"fit of {name}{what}", fit, "ms", target, at_least=False))
    return figures


def _time_fit(model: GKMClassifier, X: Any, y: np.ndarray) -> float:
    return seconds(lambda: model.fit(X, y), time.perf_counter)


if __name__ == "__main__":
    script(lambda arguments: start(arguments.quick))
