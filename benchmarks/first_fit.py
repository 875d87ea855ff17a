"""How long the first fit of a process takes on a card, beside the second.

    python benchmarks/first_fit.py [--store]

Every process fits `SemiSupervisedClassifier` twice to 20,000 rows of 20 columns. "new" starts with
an empty cache of compiled kernels, as on a machine that has never run a fit; "known" is the next
process on the same machine. The clock starts after the imports.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from typing import Any

from _common import Figure, SkipError, script, store
from graphkm.backends import DeviceError, backend_for

CHILD = """
import json, time
import numpy as np
import cupy
import graphkm
from graphkm import SemiSupervisedClassifier

rng = np.random.default_rng(0)
truth = rng.integers(0, 3, 20_000)
X = (2.0 * rng.normal(size=(3, 20))[truth] + rng.normal(size=(20_000, 20))).astype(np.float32)
y = np.where(np.arange(20_000) < 300, truth, -1)
start = time.perf_counter()
cupy.zeros(1).sum()
cupy.cuda.Device().synchronize()
times = [time.perf_counter() - start]
for _ in range(2):
    start = time.perf_counter()
    with graphkm.config_context(device="cuda"):
        SemiSupervisedClassifier(random_state=0).fit(X, y).predict(X)
    times.append(time.perf_counter() - start)
print(json.dumps(times))
"""


def summary(lines: list[dict[str, str]]) -> tuple[list[str], list[list[str]]]:
    """Return the heads and the lines of the page's table."""
    heads = ["process", "the card's own start", "first fit", "second fit"]
    keys = ("card", "first", "second")
    return heads, [[line["process"], *(f"{line[key]} s" for key in keys)] for line in lines]


def run(arguments: argparse.Namespace) -> list[Figure]:
    try:
        backend_for("cuda")
    except DeviceError as reason:
        raise SkipError(str(reason)) from None
    figures: list[Figure] = []
    lines: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        caches = {"CUPY_CACHE_DIR": f"{folder}/cupy", "CUDA_CACHE_PATH": f"{folder}/cuda"}
        for name in ("new", "known"):
            answer = json.loads(
                subprocess.run(
                    [sys.executable, "-c", CHILD],
                    env={**os.environ, **caches},
                    check=True,
                    capture_output=True,
                    text=True,
                ).stdout.splitlines()[-1]
            )
            card, first, second = answer
            print(f"{name}: card {card:.2f} s, first fit {first:.2f} s, second {second:.2f} s")
            line = {"process": name, "card": f"{card:.2f}", "first": f"{first:.2f}"}
            lines.append({**line, "second": f"{second:.2f}"})
            extra = first - second
            figures.append(Figure(f"{name}: first - second", extra, "s", 2.0, at_least=False))
    if arguments.store:
        store("first_fit", lines, ["process"])
    return figures


if __name__ == "__main__":
    script(run, store={"action": "store_true"})
