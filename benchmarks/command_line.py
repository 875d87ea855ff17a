"""`graphkm train` on W8A from the shell, end to end: start-up, parsing, the fit, the model file.

Measured: LIBSVM text of 49,749 rows, packed with bz2 as it is published, with all labels and with
90 % of them hidden (``?``), `--method gkm` and default settings otherwise; wall and CPU seconds of
the whole process, minimum of three runs (one with --quick). Accuracy is that of `graphkm evaluate`
on every fifth row, which a model trained on the others has not seen.

And `graphkm predict` on a table of 1,000 rows, which is start-up above all; minimum of five runs.
"""

from __future__ import annotations

import argparse
import bz2
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_moons

from _common import Figure, data_file, script

TARGET = 10.0  # seconds
START_UP = 1.2  # seconds
FIFTH = 5
MACHINE = ("--method", "gkm")  # the kernel machine, whose figures earlier versions have


def graphkm(*arguments: Any) -> tuple[dict[str, Any], float, float]:
    """Run the command; return its JSON object, wall seconds and CPU seconds."""
    command = [sys.executable, "-m", "graphkm.cli", *map(str, arguments), "--json"]
    before, start = _children(), time.perf_counter()
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout), time.perf_counter() - start, _children() - before


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def hidden(lines: list[bytes], share: float) -> list[bytes]:
    """Return the lines with a share of the labels replaced by question marks."""
    out = list(lines)
    for k in np.random.default_rng(0).permutation(len(lines))[: round(share * len(lines))]:
        out[k] = b"? " + lines[k].split(b" ", 1)[1]
    return out


def write(path: Path, lines: list[bytes]) -> Path:
    path.write_bytes(bz2.compress(b"".join(lines)))
    return path


def accuracy(folder: Path, lines: list[bytes], share: float) -> float:
    """Return the accuracy on every fifth row of a model that has seen the others."""
    others = [line for k, line in enumerate(lines) if k % FIFTH]
    train = write(folder / "others.libsvm.bz2", hidden(others, share))
    test = write(folder / "test.libsvm.bz2", lines[::FIFTH])
    graphkm("train", train, folder / "model.gkm", *MACHINE)
    return graphkm("evaluate", folder / "model.gkm", test)[0]["accuracy"]


def predictions(folder: Path) -> list[Figure]:
    """Return the time of predictions for a table of 1,000 rows."""
    X, truth = make_moons(1600, noise=0.1, random_state=0)
    labels = np.where(np.arange(600) < 40, truth[:600].astype(str), "")
    few = [f"{x},{z},{label}" for (x, z), label in zip(X[:600].tolist(), labels, strict=True)]
    (folder / "few.csv").write_text("\n".join(["x,z,label", *few]))
    (folder / "new.csv").write_text("\n".join(["x,z", *(f"{x},{z}" for x, z in X[600:].tolist())]))
    model, new, out = (folder / name for name in ("moons.gkm", "new.csv", "out.csv"))
    graphkm("train", folder / "few.csv", model, *MACHINE)
    runs = [graphkm("predict", model, new, "--out", out)[1:] for _ in range(5)]
    wall, cpu = (min(taken) for taken in zip(*runs, strict=True))
    return [
        Figure("graphkm predict, 1,000 rows of a table: wall", wall, "s", START_UP, at_least=False),
        Figure("graphkm predict, 1,000 rows of a table: CPU", cpu, "s"),
    ]


def run(arguments: argparse.Namespace) -> list[Figure]:
    with bz2.open(data_file("w8a.libsvm.bz2")) as file:
        lines = file.read().splitlines(keepends=True)
    larger = max(np.mean([line.startswith(sign) for line in lines]) for sign in (b"-1", b"+1"))
    figures = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        figures += predictions(folder)
        for share, what in ((0.0, "all labels"), (0.9, "90 % hidden")):
            path = write(folder / "rows.libsvm.bz2", hidden(lines, share))
            repeats = range(1 if arguments.quick else 3)
            runs = [graphkm("train", path, folder / "model.gkm", *MACHINE)[1:] for _ in repeats]
            wall, cpu = (min(taken) for taken in zip(*runs, strict=True))
            right = 100 * accuracy(folder, lines, share)
            print(f"{what}: {right:.2f} % right ({100 * larger:.2f} % are of the larger class)")
            figures += [
                Figure(f"graphkm train, W8A, {what}: wall", wall, "s", TARGET, at_least=False),
                Figure(f"graphkm train, W8A, {what}: CPU", cpu, "s"),
                Figure(f"graphkm evaluate, W8A, {what}: accuracy", right, "%"),
            ]
    return figures


if __name__ == "__main__":
    script(run)
