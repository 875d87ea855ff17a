"""Features from edges alone: which rows walks visit that start at a row.

A walk that starts at a row visits the rows around it, and two rows are alike if walks from both
visit the same rows.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..fields.kernel import ColumnsKernel
from ..fields.system import FieldSystem
from .features import EPSILONS, LARGEST, Features
from .member import Array

_SAMPLE = 128  # random signs, whose images tell how many rows a row's own walks visit


def surroundings(name: str, system: FieldSystem, labeled: NDArray[np.int64]) -> Iterator[Features]:
    """Yield kernels of rows by the rows that their walks visit: P P' / (|p_i| |p_j|).

    Parameters
    ----------
    name : str
        What the graph is called.
    system : FieldSystem
        The graph of all rows.
    labeled : ndarray of int
        The labelled rows.
    """
    rng, first = np.random.default_rng(0), np.unique(labeled, return_index=True)[1]
    marked = labeled[np.sort(first)]  # a row with several labels counts once
    if len(marked) > LARGEST:
        marked = np.sort(rng.permutation(marked)[:LARGEST])
    for eps in EPSILONS:
        columns = system.applied(system.inverse(marked, eps), eps)
        signs = rng.choice(np.array([-1.0, 1.0], np.float32), size=(len(columns), _SAMPLE))
        length = np.sqrt(np.square(system.applied(signs, eps)).mean(axis=1))
        columns /= length[:, None] * length[marked]
        kernel = ColumnsKernel(columns, marked)
        size = np.sqrt(kernel.scale)

        def values(v: Array, kernel: ColumnsKernel = kernel, size: float = size) -> Array:
            return kernel.values(v / size).astype(np.float64)

        yield Features(f"edges, {name}, eps={eps:g}", kernel.at(labeled) / size, values)
