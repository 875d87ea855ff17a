"""What threads of BLAS cost: fits as a user runs them, and with OPENBLAS_NUM_THREADS=1.

    python benchmarks/threads.py [--quick]

Each fit has two fresh processes: one without variables that limit threads, and then one with that
variable; first alone, and then beside two processes that never rest. A smaller fit loads what is
loaded late before the clocks start. A forest of 200 trees in the same process tells how fast the
machine was.
"""

import os
import subprocess
import sys
import time

import numpy as np

from _common import Figure, script

FITS = {  # rows, columns, classes and labels
    "front door, 4,000 x 84, 100 labels": (4000, 84, 2, 100),
    "front door, 4,000 x 40, 11 classes, 200 labels": (4000, 40, 11, 200),
    "front door, 4,000 x 5, 300 labels": (4000, 5, 3, 300),
    "front door, 200 x 10, 20 labels": (200, 10, 2, 20),
    "GKMClassifier(), 2,000 x 20, 100 labels": (2000, 20, 2, 100),
    "search, 2,000 x 20, 100 labels": (2000, 20, 2, 100),
}


def measure(name):
    """Print CPU and wall seconds of a fit, and of a forest."""
    from sklearn.datasets import make_classification
    from sklearn.ensemble import RandomForestClassifier

    import graphkm as gkm

    kinds = {"f": gkm.SemiSupervisedClassifier, "G": gkm.GKMClassifier, "s": gkm.GKMClassifierCV}
    model, forest = kinds[name[0]](random_state=0), RandomForestClassifier(200, random_state=0)
    n, d, k, labels = FITS[name]
    X, truth = make_classification(
        n, d, n_informative=min(d, 8), n_redundant=0, n_classes=k, random_state=0
    )
    y, few = np.where(np.arange(n) < labels, truth, -1), slice(labels + 30)
    model.fit(X[few], y[few])
    for work in (lambda: model.fit(X, y), lambda: forest.fit(X[:labels], y[:labels]).predict(X)):
        cpu, wall = time.process_time(), time.perf_counter()
        work()
        print(time.process_time() - cpu, time.perf_counter() - wall)


def run(arguments):
    """Print the seconds of every fit, and return how much more CPU time it takes as it comes."""
    free = {name: value for name, value in os.environ.items() if "_NUM_THREADS" not in name}
    figures = []
    for name in list(FITS)[3:5] if arguments.quick else FITS:
        for busy in (0, 2):
            others = [
                subprocess.Popen([sys.executable, "-c", "while 1: pass"]) for _ in range(busy)
            ]
            command, found = [sys.executable, __file__, "--fit", name], []
            try:
                for environment in (free, free | {"OPENBLAS_NUM_THREADS": "1"}):
                    text = subprocess.check_output(command, env=environment, text=True)
                    found.append([float(number) for number in text.split()])
            finally:
                for other in others:
                    other.kill()
            print(
                f"{name}, {busy} busy: CPU, wall (forest)",
                *("{:.1f} {:.1f} ({:.1f} {:.1f})".format(*each) for each in found),
                sep="; ",
            )
            ratio = found[0][0] / found[1][0]
            figures.append(
                Figure(f"{name}, {busy} busy: CPU ratio", ratio, "", 1.3, at_least=False)
            )
    return figures


if __name__ == "__main__":
    measure(sys.argv[2]) if sys.argv[1:2] == ["--fit"] else script(run)
