"""Streams with clusters, drift, rare classes, many classes and sparse rows, for `stream.py`."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from _common import data_file, load_libsvm


class Stream(NamedTuple):
    """Rows in the order in which they come, their classes, and the share that has a label."""

    X: Any
    truth: np.ndarray
    share: float


def moons(n: int, rng: np.random.Generator) -> Stream:
    """Return two moons with noise, one label in a hundred."""
    from sklearn.datasets import make_moons

    X, truth = make_moons(n, noise=0.2, random_state=int(rng.integers(2**31)))
    return Stream(X.astype(np.float32), truth, 0.01)


def blobs(n: int, rng: np.random.Generator) -> Stream:
    """Return 200 small blobs in 20 dimensions, each of one of two classes."""
    centres, classes = 2 * rng.normal(size=(200, 20)), rng.integers(2, size=200)
    blob = rng.integers(200, size=n)
    X = centres[blob] + rng.normal(size=(n, 20))
    return Stream(X.astype(np.float32), classes[blob], 0.05)


def drift(n: int, rng: np.random.Generator) -> Stream:
    """Return rows that move: their mean goes from 0 to 4 in all four features."""
    Z = rng.normal(size=(n, 4))
    truth = (Z[:, 0] * Z[:, 1] + Z[:, 2] > 0).astype(np.int64)
    return Stream((Z + np.linspace(0, 4, n)[:, None]).astype(np.float32), truth, 0.1)


def rare(n: int, rng: np.random.Generator) -> Stream:
    """Return a class of 3 % of the rows."""
    X = rng.normal(size=(n, 4))
    score = X[:, 0] * X[:, 1] + X[:, 2]
    return Stream(X.astype(np.float32), (score > np.quantile(score, 0.97)).astype(np.int64), 0.1)


def mnist(n: int, rng: np.random.Generator) -> Stream:
    """Return digits, ten classes, one label in a hundred."""
    parts: list[list[np.ndarray]] = [[], []]
    for name in ("train", "t10k"):
        for found, kind, skip in zip(parts, ("images-idx3", "labels-idx1"), (16, 8), strict=True):
            with gzip.open(data_file(f"mnist/mnist-{name}-{kind}-ubyte.gz")) as file:
                found.append(np.frombuffer(file.read(), np.uint8, offset=skip))
    X, truth = (np.concatenate(found) for found in parts)
    rows = rng.permutation(len(truth))[:n]
    X = X.reshape(-1, 784)[rows].astype(np.float32) / 255
    return Stream(X, truth[rows].astype(np.int64), 0.01)


def w8a(n: int, rng: np.random.Generator) -> Stream:
    """Return sparse rows, of which 3 % are positive."""
    X, y = load_libsvm("w8a.libsvm.bz2", 300)
    rows = rng.permutation(len(y))[:n]
    return Stream(X[rows], (y[rows] > 0).astype(np.int64), 0.1)


STREAMS: dict[str, Callable[[int, np.random.Generator], Stream]] = {
    "moons": moons,
    "200 blobs, 20 features": blobs,
    "mean moves from 0 to 4": drift,
    "3 % positives": rare,
    "MNIST": mnist,
    "W8A": w8a,
}
"""What makes each stream."""
