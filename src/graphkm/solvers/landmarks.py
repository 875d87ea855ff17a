"""Which rows stand for all of them: the landmarks whose kernels span the solution."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpstrf

from ..expansion import KernelExpansion
from ..objective import Objective

RULES = ("uniform", "kmeans++", "greedy")

_CANDIDATES = 3  # rows per landmark among which "kmeans++" and "greedy" choose
_ROUND = 32  # landmarks drawn before distances are brought up to date


def choose_landmarks(
    objective: Objective, count: int, rule: str, random: np.random.Generator, n_threads: int = 1
) -> NDArray[np.int64]:
    """Return the sorted rows of X that become landmarks.

    Labelled rows come first, up to half of the count. If all of them are landmarks, the
    solution without a graph is exact. The rule fills the rest. "uniform" draws rows uniformly.
    "kmeans++" draws them in proportion to their squared distance, in feature space, from the
    landmarks so far. "greedy" takes the row whose kernel is farthest from their span, which is the
    order of a pivoted Cholesky factorisation. The last two look at a uniform sample of rows.

    Parameters
    ----------
    objective : Objective
        Its X, labelled rows and kernel.
    count : int
        Number of landmarks; all rows are taken if there are not more than that.
    rule : {"uniform", "kmeans++", "greedy"}
        How they are chosen.
    random : numpy.random.Generator
        Source of all randomness.
    n_threads : int, default=1
        For kernel values.

    Returns
    -------
    ndarray of int of shape (min(count, n),)
    """
    n = objective.X.shape[0]
    if count >= n:
        return np.arange(n)
    room = max(1, count // 2) if len(objective.labeled) < n else count
    seeds = objective.labeled
    if len(seeds) > room:
        seeds = random.choice(seeds, room, replace=False)
    others = np.setdiff1d(np.arange(n), seeds)
    wanted = count - len(seeds)
    if rule != "uniform":
        size = min(len(others), _CANDIDATES * count)
        others = np.sort(random.choice(others, size, replace=False))
    pick: Callable[..., NDArray[np.int64]] = {
        "uniform": _uniform,
        "kmeans++": _spread,
        "greedy": _unexplained,
    }[rule]
    kernels = objective.expansion(np.float64, n_threads)
    chosen = pick(kernels, seeds, others, wanted, random)
    return np.sort(np.concatenate([seeds, chosen]))


def _uniform(
    kernels: KernelExpansion, seeds: Any, others: Any, count: int, random: np.random.Generator
) -> NDArray[np.int64]:
    return random.choice(others, count, replace=False)


def _spread(
    kernels: KernelExpansion, seeds: Any, others: Any, count: int, random: np.random.Generator
) -> NDArray[np.int64]:
    """Draw rows in proportion to their squared distance from the nearest landmark."""
    own = kernels.diagonal(others)
    distance = np.full(len(others), np.inf)
    chosen = np.zeros(len(others), bool)
    nearest = seeds
    while (left := count - int(chosen.sum())) > 0:
        for start in range(0, len(nearest), _ROUND):
            part = nearest[start : start + _ROUND]
            squared = own[:, None] + kernels.diagonal(part) - 2 * kernels.between(others, part)
            np.minimum(distance, squared.min(axis=1), out=distance)
        distance = np.where(chosen, 0.0, np.maximum(distance, 0.0))
        # Rows that coincide with landmarks are drawn last, only to reach the number.
        weight = np.where(chosen, 0.0, distance + 1e-12 * (distance.max() + 1e-300))
        drawn = random.choice(
            len(others), min(left, _ROUND), replace=False, p=weight / weight.sum()
        )
        chosen[drawn] = True
        nearest = others[drawn]
    return others[chosen]


def _unexplained(
    kernels: KernelExpansion, seeds: Any, others: Any, count: int, random: np.random.Generator
) -> NDArray[np.int64]:
    """Return the first pivots of the kernel matrix that are not landmarks already."""
    rows = np.concatenate([seeds, others])
    _, pivots, _, _ = dpstrf(kernels.between(rows, rows), tol=0.0, lower=1)
    order = rows[pivots - 1]
    return order[~np.isin(order, seeds)][:count]
