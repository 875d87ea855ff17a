"""A training run in a process of its own, for the tests that kill it.

python streaming_job.py CHECKPOINT EVERY PAUSE [sums]
"""

from __future__ import annotations

import sys
import time

import numpy as np

from flat import gkm_classifier
from graphkm import GKMClassifier, Sums
from graphkm.online import train

N_CHUNKS, ROWS = 40, 50


def chunks(pause=0.0):
    for i in range(N_CHUNKS):
        rng = np.random.default_rng(i)
        X = rng.normal(size=(ROWS, 3))
        y = np.where(rng.random(ROWS) < 0.2, (X[:, 0] > 0).astype(int), -1)
        X += 6.0 * (2 * i >= N_CHUNKS)  # a drift
        time.sleep(pause)
        yield X, y


def model(**changes):
    settings = {"gamma": 0.5, "reservoir_size": 40, "steps_per_row": 1.0, "half_life": 300.0}
    return gkm_classifier(random_state=0, **(settings | changes))


def by_sums(**changes):
    """Return a model whose landmarks are fixed, and replaced, on the way."""
    solver = Sums(**({"n_landmarks": 30, "half_life": 300.0} | changes))
    return GKMClassifier(gamma=0.5, solver=solver, random_state=0)


if __name__ == "__main__":
    path, every, pause = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    print("begun", flush=True)
    made = by_sums() if sys.argv[4:] == ["sums"] else model()
    train(chunks(pause), made, classes=[0, 1], checkpoint=path, every=every)
