"""What a fit costs as rows are added, on both sides of the sizes where its fields change.

    python benchmarks/row_steps.py [--quick]

Rows of 20 columns, with 100 and with 600 labels: groups in 8 of the columns
(`make_classification`), and two moons with 18 columns of noise. Printed are the CPU seconds of
`GKMClassifierCV(random_state=0).fit` on one thread, and the accuracy on the rows without a label.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from sklearn.datasets import make_classification, make_moons

from _common import table
from graphkm import GKMClassifierCV

ROWS = (2000, 2001, 3000, 4000, 4001, 6000)
LABELS = (100, 600)
SETS = ("groups", "moons")


def drawn(name: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the first rows of a set that is the same for every number of rows."""
    most = max(ROWS)
    if name == "groups":
        X, y = make_classification(
            most, 20, n_informative=8, n_clusters_per_class=3, flip_y=0.02, random_state=0
        )
    else:
        X, y = make_moons(most, noise=0.15, random_state=0)
        X = np.hstack([X, 0.1 * np.random.default_rng(0).normal(size=(most, 18))])
    return X[:n], y[:n]


def measure(name: str, n: int, n_labels: int) -> list[str]:
    """Return the cells of a line."""
    X, truth = drawn(name, n)
    y = np.where(np.arange(n) < n_labels, truth, -1)
    start = time.process_time()
    model = GKMClassifierCV(random_state=0, n_jobs=1).fit(X, y)
    seconds = time.process_time() - start
    score = model.score(X[n_labels:], truth[n_labels:])
    return [name, str(n_labels), f"{n:,}", f"{seconds:.2f}", f"{score:.1%}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="4,000 and 4,001 rows alone")
    sizes = (4000, 4001) if parser.parse_args().quick else ROWS
    measure("moons", 500, 50)  # what is imported on the way does not count
    lines = [measure(name, n, k) for name in SETS for k in LABELS for n in sizes]
    print(table(["set", "labels", "rows", "CPU s", "hidden"], lines))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
