"""Drawn data of many kinds: clusters, curves, and neither, where neighbours tell nothing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.datasets import make_blobs, make_circles, make_moons, make_swiss_roll

N = 1000
Made = tuple[np.ndarray, np.ndarray]


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31 - 1))


def _with_noise(X: np.ndarray, d: int, scale: float, rng: np.random.Generator) -> np.ndarray:
    return np.hstack([X, scale * rng.normal(size=(len(X), d))])


def _rotated(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return X @ np.linalg.qr(rng.normal(size=(X.shape[1], X.shape[1])))[0]


def blobs(rng: np.random.Generator) -> Made:
    X, group = make_blobs(N, 10, centers=8, cluster_std=2.0, random_state=_seed(rng))
    return X, group % 2


def moons(rng: np.random.Generator) -> Made:
    return make_moons(N, noise=0.15, random_state=_seed(rng))


def circles(rng: np.random.Generator) -> Made:
    return make_circles(N, noise=0.08, factor=0.6, random_state=_seed(rng))


def spirals(rng: np.random.Generator) -> Made:
    along, y = np.sqrt(rng.random(N)) * 3 * np.pi, rng.integers(2, size=N)
    angle = along + np.pi * y
    X = np.column_stack([along * np.cos(angle), along * np.sin(angle)])
    return X + 0.35 * rng.normal(size=X.shape), y


def rings(rng: np.random.Generator) -> Made:
    y, angle = rng.integers(3, size=N), rng.random(N) * 2 * np.pi
    X = (1 + y)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return _with_noise(X + 0.12 * rng.normal(size=X.shape), 4, 0.15, rng), y


def swiss_roll(rng: np.random.Generator) -> Made:
    X, along = make_swiss_roll(N, noise=0.3, random_state=_seed(rng))
    return X, np.digitize(along, np.quantile(along, [0.25, 0.5, 0.75]))


def clouds(rng: np.random.Generator) -> Made:
    y = rng.integers(2, size=N)
    X = rng.normal(size=(N, 100))
    X[:, :2] += np.where(y, 1, -1)[:, None] * [1.3, 1.0]
    return _rotated(X, rng), y


def four_clouds(rng: np.random.Generator) -> Made:
    group = rng.integers(4, size=N)
    return 0.33 * rng.normal(size=(4, 60))[group] + rng.normal(size=(N, 60)), group // 2


def linear(rng: np.random.Generator) -> Made:
    X = rng.normal(size=(N, 20))
    return X, (X @ rng.normal(size=20) + 0.5 * rng.normal(size=N) > 0).astype(int)


def noisy_labels(rng: np.random.Generator) -> Made:
    X = rng.normal(size=(N, 8))
    return X, (X[:, 0] + rng.normal(scale=0.7, size=N) > 0).astype(int)


def coin_tosses(rng: np.random.Generator) -> Made:
    X = rng.normal(size=(N, 5))
    return X, (rng.random(N) < np.where(X[:, 0] > 0, 0.75, 0.25)).astype(int)


def checkerboard(rng: np.random.Generator) -> Made:
    X = rng.random((N, 2)) * 4
    return X, X.astype(int).sum(axis=1) % 2


def xor(rng: np.random.Generator) -> Made:
    X = rng.normal(size=(N, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    return _rotated(_with_noise(X, 6, 0.5, rng), rng), y


def uneven(rng: np.random.Generator) -> Made:
    X = rng.normal(size=(N, 10))
    score = X @ rng.normal(size=10) + rng.normal(size=N)
    return X, (score > np.quantile(score, 0.85)).astype(int)


def one_hot(rng: np.random.Generator) -> Made:
    X = np.hstack([np.eye(k)[rng.integers(k, size=N)] for k in (3, 4, 5, 2, 6, 4, 3, 8)])
    score = X @ rng.normal(size=X.shape[1]) + 0.5 * rng.normal(size=N)
    return X, (score > np.median(score)).astype(int)


def friedman(rng: np.random.Generator) -> Made:
    X = rng.random((N, 10))
    score = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    score += 10 * X[:, 3] + 5 * X[:, 4] + rng.normal(size=N)
    return X, (score > np.median(score)).astype(int)


def misleading_blobs(rng: np.random.Generator) -> Made:
    """Every cluster is cut in two by the classes."""
    X, group = make_blobs(N, 6, centers=6, cluster_std=1.5, random_state=_seed(rng))
    score = (X - X.mean(axis=0)) @ rng.normal(size=6)
    middle = np.array([np.median(score[group == c]) for c in range(6)])
    return X, (score > middle[group]).astype(int)


CLUSTERED = ("blobs", "moons", "circles", "spirals", "rings", "swiss_roll", "clouds", "four_clouds")
MADE: dict[str, Callable[[np.random.Generator], Made]] = {
    make.__name__: make
    for make in (
        *(blobs, moons, circles, spirals, rings, swiss_roll, clouds, four_clouds),
        *(linear, noisy_labels, coin_tosses, checkerboard, xor, uneven, one_hot, friedman),
        misleading_blobs,
    )
}
