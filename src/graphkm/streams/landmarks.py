"""The landmarks of a stream: rows that it kept, replaced when new rows are far from them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpstrf

from ..backends import make_store
from ..kernels import Kernel
from ..ridge.factors import solve_raised
from ..solvers.centres import stack

Ints = NDArray[np.int64]

_PIVOT = {"f": 1e-7, "d": 1e-12}  # landmarks with a pivot below this share are dropped
_FAR = 0.95  # far: beyond this quantile of the distances from landmarks to their nearest others
_DRIFT = 0.15  # share of far rows that shows a drift, three times the usual; few rows need more
_ENOUGH = 20  # fewer rows cannot show a drift
_RIDGE = 1e-8  # share of K's diagonal: it bounds projections where landmarks are nearly equal


class Change(NamedTuple):
    """New landmarks, which of them are new, and their kernel with the old ones."""

    landmarks: LandmarkSet
    slots: Ints
    entering: NDArray[np.float64]


class LandmarkSet:
    """Rows whose kernels span f.

    Parameters
    ----------
    kernel : Kernel
        With its gamma filled in.
    offset : float
        Added to every kernel value.
    rows : ndarray or CSR
        The landmarks, as compiled code takes them.
    ids : ndarray of int
        Their numbers in the stream.
    n_threads : int
        For kernel values.
    """

    def __init__(self, kernel: Kernel, offset: float, rows: Any, ids: Ints, n_threads: int) -> None:
        self.kernel, self.offset, self.rows, self.ids = kernel, offset, rows, ids
        self._n_threads = n_threads
        self._store = self._store_of(rows, rows.dtype)
        self.gram: NDArray[np.float64] = self._double(rows)

    @classmethod
    def distinct(
        cls, kernel: Kernel, offset: float, rows: Any, ids: Ints, n_threads: int
    ) -> LandmarkSet:
        """Return landmarks: the rows that the others do not explain, in their order."""
        every = cls(kernel, offset, rows, ids, n_threads)
        if not len(ids):
            return every
        limit = _PIVOT[rows.dtype.char] * float(every.gram.diagonal().max())
        _, pivots, rank, _ = dpstrf(every.gram, tol=limit, lower=1)
        if rank == len(ids):
            return every
        stay = np.sort(pivots[: max(rank, 1)] - 1)
        return cls(kernel, offset, rows[stay], ids[stay], n_threads)

    def __len__(self) -> int:
        """Return the number of landmarks."""
        return len(self.ids)

    def values(self, rows: Any) -> NDArray[Any]:
        """Return the kernel between rows and the landmarks, offset included."""
        K = self._store.values(rows)
        return K + K.dtype.type(self.offset) if self.offset else K

    def renewed(self, rows: Any, ids: Ints) -> Change | None:
        """Return landmarks that follow a drift; None if the rows do not show one.

        A row is far if no landmark is as near to it, in feature space, as 95 % of the landmarks are
        to their nearest landmark, and a landmark if no row is. The data have drifted if more than
        15 % + 1 / sqrt(n) of the rows or of the landmarks are far, where n is the smaller number of
        the two. Far rows, and then others, take the places of landmarks that are
        nearest to no row.
        """
        fresh = np.flatnonzero(~np.isin(ids, self.ids))
        if len(fresh) < _ENOUGH or len(self) < _ENOUGH:
            return None
        own = self.gram.diagonal()
        between = own[:, None] + own - 2.0 * self.gram
        np.fill_diagonal(between, np.inf)
        usual = float(np.quantile(between.min(axis=1), _FAR))
        diagonal = self.kernel.diagonal(rows[fresh]) + self.offset
        away = diagonal[:, None] + own - 2.0 * self.values(rows[fresh])
        far, left = (away.min(axis=axis) > usual for axis in (1, 0))
        left &= len(fresh) >= len(self)  # fewer rows cannot be near all landmarks
        limit = _DRIFT + min(len(self), len(fresh)) ** -0.5
        if max(far.mean(), left.mean()) <= limit:
            return None
        idle = np.setdiff1d(np.arange(len(self)), away.argmin(axis=1))
        idle = idle[np.argsort(~left[idle], kind="stable")]
        count = min(max(far.sum(), left[idle].sum()), len(idle), len(fresh))
        slots = np.sort(idle[:count])
        enter = fresh[np.argsort(~far, kind="stable")[:count]]
        stay = np.setdiff1d(np.arange(len(self)), slots)
        order = np.argsort(np.concatenate([stay, slots]), kind="stable")
        new = LandmarkSet(
            self.kernel,
            self.offset,
            stack([self.rows[stay], rows[enter]])[order],
            np.concatenate([self.ids[stay], ids[enter]])[order],
            self._n_threads,
        )
        return Change(new, slots, self._double(rows[enter]).T)

    def projection(self, change: Change, n_features: int) -> NDArray[np.float64]:
        """Return T. A holds the first features of the old landmarks; A T is nearly that of the new.

        The kernel of a landmark that enters is replaced by the nearest function in the old span.
        """
        here = change.slots < n_features
        K = self.gram[:n_features, :n_features]
        T = np.eye(n_features)
        T[:, change.slots[here]] = solve_raised(K, change.entering[:n_features, here], _RIDGE)
        return T

    def _double(self, rows: Any) -> NDArray[np.float64]:
        """Return the kernel between rows and the landmarks in double precision, offset included."""
        store = self._store_of(self.rows.astype(np.float64), np.float64)
        return np.asarray(store.values(rows.astype(np.float64)) + self.offset, np.float64)

    def _store_of(self, rows: Any, dtype: Any) -> Any:
        store = make_store(
            self.kernel,
            rows.shape[1],
            1,
            sparse=not isinstance(rows, np.ndarray),
            dtype=np.dtype(dtype),
            n_threads=self._n_threads,
        )
        store.append(rows)
        return store
