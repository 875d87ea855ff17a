"""The exact nearest neighbours of all rows, which the graph methods share.

They do not depend on labels, so one search serves all candidates of a fit. On large sets it is
also kept in a file and serves all splits and methods; its time is then added to theirs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors

from .tuning import LARGE

MOST = 61  # a row itself and 60 others


class Search:
    """The `MOST` nearest neighbours of every row, itself first; searched for when asked for."""

    def __init__(self, X: Any, file: Path, on_borrowed: Callable[[float], None] | None = None):
        self.X = X
        self.on_borrowed = on_borrowed
        self.file = file if X.shape[0] > LARGE else None
        self.borrowed = {"seconds": 0.0, "cpu_seconds": 0.0}  # time spent by an earlier process
        self._found: tuple[np.ndarray, np.ndarray] | None = None

    def __call__(self) -> tuple[np.ndarray, np.ndarray]:
        """Return row numbers and distances."""
        if self._found is None:
            kept = self._read() if self.file else None
            self._found = kept or self._search()
        return self._found

    def _read(self) -> tuple[np.ndarray, np.ndarray] | None:
        if not self.file.exists():
            return None
        with np.load(self.file) as kept:
            self.borrowed = {key: float(kept[key]) for key in self.borrowed}
            if self.on_borrowed:
                self.on_borrowed(self.borrowed["cpu_seconds"])
            return kept["rows"], kept["distances"]

    def _search(self) -> tuple[np.ndarray, np.ndarray]:
        wall, cpu = time.perf_counter(), time.process_time()
        nearest = NearestNeighbors(algorithm="brute").fit(self.X)
        distances, rows = nearest.kneighbors(self.X, min(MOST, self.X.shape[0]))
        if self.file:
            part = self.file.with_suffix(".part.npz")
            np.savez(
                part,
                rows=rows.astype(np.int32),
                distances=distances.astype(np.float64),
                seconds=time.perf_counter() - wall,
                cpu_seconds=time.process_time() - cpu,
            )
            part.rename(self.file)  # so that no half file is ever read
        return rows, distances
