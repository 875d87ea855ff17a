"""A limit on the number of centres: those that matter least are projected onto near ones.

A centre has a coefficient in W and one in its average. Both are projected in the same way. The
average decides how much a centre matters: W counts a fifth. If both counted alike, new rows, which
have large coefficients in W, would drive out the centres of the average again and again.

Wang, Crammer and Vucetic, "Breaking the curse of kernelization" (2012), also remove centres and
merge pairs of them. Later steps correct what W loses by that. No step corrects what its average
loses, so on a long stream the average decays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..backends import largest_columns, project_centres
from .centres import Centres

_OF_W = 0.2  # weight of W's coefficients beside those of its average
_NEAR = 8  # centres onto which one that leaves is projected
_LABELS = 16  # the objective of a stream counts at most so many labels for each centre


@dataclass(frozen=True)
class Budget:
    """The largest number of centres. The others are projected onto those that stay.

    Parameters
    ----------
    size : int
        The most centres.

    Examples
    --------
    >>> from graphkm.kernels import SquaredExponential
    >>> W = Centres(SquaredExponential(gamma=1.0), 1, 1,
    ...             offset=0.0, sparse=False, dtype=np.float64, n_threads=1)
    >>> a = np.array([[4.0], [1.0], [3.0]])
    >>> W.add(np.arange(3), np.array([[0.0], [0.1], [5.0]]), a, a)
    >>> Budget(2).enforce(W, harmonic=2.0)
    >>> W.ids, W.sums[:, 0].round(2)  # 4 + exp(-0.1^2)
    (array([0, 2]), array([4.99, 3.  ]))
    """

    size: int

    @property
    def n_labels(self) -> int:
        """The largest number of labels that count in a stream's objective.

        The more labels count, the larger is a step at a given t. If all labels counted, steps
        would never become smaller, and new rows would drive out all centres again and again.
        """
        return _LABELS * self.size

    def enforce(self, W: Centres, harmonic: float) -> None:
        """Bring W down to the budget; `harmonic` is the H_{T-1} of its average."""
        excess = len(W) - self.size
        if excess <= 0:
            return
        R = W.n_outputs
        A, B = W.sums[:, :R], W.sums[:, R:]
        # In units of T (T+1): w, and its average.
        both = np.hstack([A, 2.0 * (harmonic * A - B)])
        rows = W.rows
        squares = _OF_W**2 * (both[:, :R] ** 2) + both[:, R:] ** 2
        weight = squares.sum(axis=1) * (W.kernel.diagonal(rows) + W.offset)
        order = np.argsort(weight, kind="stable")
        out, stay = order[:excess], np.sort(order[excess:])
        kept = both[stay]
        _project(W, rows[out], both[out], rows[stay], kept)
        A = kept[:, :R]
        W.replace(W.ids[stay], rows[stay], np.hstack([A, harmonic * A - 0.5 * kept[:, R:]]))


def _project(
    W: Centres, leaving: Any, a: NDArray[np.float64], rows: Any, kept: NDArray[np.float64]
) -> None:
    """Project every centre that leaves: add to the coefficients `kept` of its nearest rows."""
    values = W.values(leaving, rows)
    near = np.empty((values.shape[0], min(_NEAR, values.shape[1])), np.int32)
    largest_columns(values, near)
    used, place = np.unique(near, return_inverse=True)
    share = kept[used]
    project_centres(
        values=np.take_along_axis(values, near.astype(np.int64), axis=1),
        place=np.ascontiguousarray(place.reshape(near.shape), np.int32),
        gram=W.values(rows[used], rows[used]),
        tolerance=100.0 * float(np.finfo(W.dtype).eps),
        leaving=a,
        kept=share,
    )
    kept[used] = share
