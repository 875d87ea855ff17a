"""The command in tests: called in this process, or as a process of its own; and small files."""

from __future__ import annotations

import csv
import os
import subprocess
import sys

import numpy as np
import pytest
import tqdm.auto  # noqa: F401 - it reads the command's settings of bars if that imports it first
from sklearn.datasets import dump_svmlight_file, make_moons

from graphkm.cli import main


def run(*arguments):
    """Run the command in this process; return its exit code."""
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    return end.value.code or 0


def wrong(capsys, *arguments):
    """Run a command that fails; return its exit code and the one line that it says."""
    code = run(*arguments)
    said = capsys.readouterr().err.splitlines()
    assert code and len(said) == 1 and said[0].startswith("graphkm: "), said
    return code, said[0]


def run_machine(*arguments):
    """As `run`, but `train` fits the kernel machine: for tests of files, whatever the model is."""
    machine = ("--method", "gkm") if arguments[0] == "train" and "--method" not in arguments else ()
    return run(*arguments, *machine)


def process(*arguments, stdin=None, folder=None, **environment):
    """Run the command as a process; return what it did, with texts."""
    return subprocess.run(
        [sys.executable, "-m", "graphkm.cli", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, **environment},
    )


def moons(n=300, n_labels=20, seed=0):
    """Return rows, labels "cat" and "dog" with "" where they are unknown, and all labels."""
    X, truth = make_moons(n, noise=0.1, random_state=seed)
    names = np.array(["cat", "dog"], dtype=object)[truth]
    y = names.copy()
    y[np.random.default_rng(seed).permutation(n)[n_labels:]] = ""
    return X, y, names


def write_csv(path, X, y=None, names=("x", "z"), label="label", delimiter=","):
    """Write a table whose numbers Python's float reads back bit for bit."""
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        if names is not None:
            writer.writerow([*names, *([] if y is None else [label])])
        for k, row in enumerate(X):
            writer.writerow([*map(repr, map(float, row)), *([] if y is None else [y[k]])])
    return path


def write_parquet(path, X, y=None, names=("x", "z"), label="label", **more):
    """Write a table; "" becomes null."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    columns = {name: X[:, k] for k, name in enumerate(names)} | more
    if y is not None:
        columns[label] = [None if value == "" else value for value in y]
    parquet.write_table(pa.table(columns), path)
    return path


def write_libsvm(path, X, y, unknown=0):
    """Write numbers by scikit-learn; rows without a label get `unknown`."""
    labels = np.array([unknown if value == "" else value for value in y], dtype=float)
    dump_svmlight_file(X, labels, str(path), zero_based=False)
    return path


def read_predictions(path):
    """Return the header and the rows of a file of predictions."""
    with open(path, newline="") as file:
        header, *rows = csv.reader(file)
    return header, rows
