"""A block of stochastic steps: compiled for the library's own losses, in NumPy for any other."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._native import run_block as run_compiled
from ..losses import Loss
from ..smoothness import Smoothness

Vector = NDArray[np.float64]

_CUTS = np.arange(1, 128) / 128  # shares at which a bracket is cut: a round finds seven bits
_ROUNDS = 20
_PRECISE = 1e-14


def run_block(*, loss: Loss, p: float, implicit: bool, n_threads: int = 1, **block: Any) -> bool:
    """Take the steps of one block, one after another on its own small kernel matrix.

    Parameters
    ----------
    loss : Loss
        Of the labelled points. A loss without compiled code takes longer.
    p : float
        Exponent of the edges' smoothness.
    implicit : bool
        Whether a step minimises its terms exactly or follows their gradients.
    n_threads : int, default=1
        Threads of compiled code.
    **block
        The arrays and numbers of `native/block.hpp`, under the same names. `scores`, `change`,
        `weighted`, `norm` and `objective` are changed.

    Returns
    -------
    bool
        False if a score or the norm stopped being finite.
    """
    if loss.native_code is not None:
        return run_compiled(
            loss=loss.native_code,
            parameter=loss.parameter,
            p=p,
            implicit=implicit,
            n_threads=n_threads,
            **block,
        )
    with np.errstate(over="ignore", invalid="ignore"):
        return _run(loss, Smoothness(p), implicit, **block)


def _run(
    loss: Loss,
    smoothness: Smoothness,
    implicit: bool,
    *,
    gram: NDArray[Any],
    scores: Vector,
    change: Vector,
    weighted: Vector,
    norm: Vector,
    objective: Vector,
    first_step: int,
    harmonic: float,
    label: NDArray[np.int32],
    target: Vector,
    label_weight: Vector,
    u: NDArray[np.int32],
    v: NDArray[np.int32],
    edge_weight: Vector,
    C: Vector,
    C_graph: Vector,
) -> bool:
    """Take the steps of `run_block` in native/block.hpp, all outputs at once."""
    K = gram.astype(np.float64)

    def move(point: int, delta: Vector) -> None:
        norm[:] += delta * (2.0 * scores[:, point] + delta * K[point, point])
        change[:, point] += delta
        weighted[:, point] += delta * harmonic
        scores[:] += delta[:, None] * K[point]

    for step, (i, a, b) in enumerate(zip(label, u, v, strict=True)):
        t, y, c = first_step + step, target[step], C * label_weight[step]
        e = C_graph * edge_weight[step] * (a >= 0)
        now = 1.0 / (t * (t - 1.0)) if t > 1 else 0.0
        after = 1.0 / (t * (t + 1.0))
        f, gap = scores[:, i] * now, (scores[:, a] - scores[:, b]) * now * (a >= 0)
        if not (np.isfinite(f).all() and np.isfinite(gap).all()):
            return False
        objective[:, step] = 0.5 * norm * now**2 + c * loss.value(y, f) + e * smoothness.value(gap)
        if implicit:
            rate = 2.0 / (t + 1.0)
            f, k = scores[:, i] * after, K[i, i]
            slope = partial(loss.gradient, y[:, None])
            move(i, _proximal(slope, f, k, rate * c) / after)
            gap, k = (scores[:, a] - scores[:, b]) * after, K[a, a] - 2.0 * K[a, b] + K[b, b]
            at_edge = _edge_step(smoothness, gap, max(0.0, k), rate * e) / after
        else:
            at_edge = -2.0 * t * e * smoothness.gradient(gap)
            move(i, -2.0 * t * c * loss.gradient(y, f))
        if e.any():
            move(a, at_edge)
            move(b, -at_edge)
        harmonic += 1.0 / t
    return bool(np.isfinite(norm).all())


def _edge_step(smoothness: Smoothness, gap: Vector, k: float, c: Vector) -> Vector:
    """Return the root of `_proximal` for the smoothness of an edge."""
    if smoothness.p == 2:
        return -2.0 * c * gap / (1.0 + 2.0 * c * k)
    return _proximal(smoothness.gradient, gap, k, c)


def _proximal(gradient: Callable[[Vector], Vector], f: Vector, k: float, c: Vector) -> Vector:
    """Return the root a of a + c gradient(f + a k) for every output.

    This sum increases with a. Its sign changes between a = 0 and the step for k = 0.

    Examples
    --------
    >>> _proximal(np.sign, np.array([3.0, 0.5]), 1.0, np.ones(2))
    array([-1. , -0.5])
    """
    full = -c * gradient(f[:, None])[:, 0]
    low, high = np.zeros_like(full), np.ones_like(full)  # shares of the full step
    for _ in range(_ROUNDS):
        share = low[:, None] + (high - low)[:, None] * _CUTS
        step = share * full[:, None]
        ahead = -c[:, None] * gradient(f[:, None] + step * k)  # where the step wants to go
        below = np.cumprod(np.abs(step) < ahead * np.sign(full)[:, None], axis=1).sum(axis=1)
        edges = np.concatenate([low[:, None], share, high[:, None]], axis=1)
        rows = np.arange(len(full))
        low, high = edges[rows, below], edges[rows, below + 1]
        if (high - low <= _PRECISE * high).all():
            break
    return high * full
