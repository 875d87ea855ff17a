"""Reading LIBSVM text: `graphkm.io.read_libsvm` against scikit-learn's `load_svmlight_file`.

Measured: W8A, COD-RNA and IJCNN1, decompressed into memory beforehand, CPU time, the two in turns,
minimum of five runs (two with --quick). Both must return the same bits.
"""

from __future__ import annotations

import argparse
import bz2
import io
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file

from _common import Figure, data_file, in_turns, script
from graphkm.io import read_libsvm

TARGET = 3.0
SETS = {"W8A": "w8a", "COD-RNA": "cod-rna", "IJCNN1": "ijcnn1"}


def same_bits(ours: tuple[Any, Any], theirs: tuple[Any, Any]) -> bool:
    (X, y), (X_other, y_other) = ours, theirs
    pairs = ((X.data, X_other.data), (y, y_other))
    return (
        all(a.tobytes() == b.tobytes() for a, b in pairs)
        and np.array_equal(X.indices, X_other.indices)
        and np.array_equal(X.indptr, X_other.indptr)
    )


def run(arguments: argparse.Namespace) -> list[Figure]:
    figures = []
    for name, stem in SETS.items():
        with bz2.open(data_file(f"{stem}.libsvm.bz2")) as file:
            text = file.read()
        ours = lambda text=text: read_libsvm(io.BytesIO(text), zero_based=False)  # noqa: E731
        theirs = lambda text=text: load_svmlight_file(io.BytesIO(text), zero_based=False)  # noqa: E731
        if not same_bits(ours(), theirs()):
            raise AssertionError(f"the two readers disagree on {name}")
        times = in_turns([ours, theirs], 2 if arguments.quick else 5)
        rates = [len(text) / taken / 1e6 for taken in times]
        print(f"{name}, {len(text) / 1e6:.1f} MB: {rates[0]:.0f} and {rates[1]:.1f} MB per CPU s")
        figures.append(
            Figure(f"LIBSVM text, {name}: scikit-learn / ours", times[1] / times[0], "x", TARGET)
        )
    return figures


if __name__ == "__main__":
    script(run)
