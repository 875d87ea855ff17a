"""Rows in partitions, and clusters, for the tests of `graphkm.dask`."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import make_moons

PROCESSES = {"processes": True, "threads_per_worker": 1, "dashboard_address": ":0"}


def moons(n=1200, n_labeled=40, seed=0):
    X, truth = make_moons(n, noise=0.12, random_state=seed)
    labeled = np.random.default_rng(seed).permutation(n)[:n_labeled]
    y = np.full(n, -1)
    y[labeled] = truth[labeled]
    return X, y, truth


def cut(X, y, rows=300, labels=None):
    import dask.array as da

    return da.from_array(X, chunks=(rows, -1)), da.from_array(y, chunks=labels or rows)
