"""At most so many centres: those that matter least leave, and what they said is kept by others.

Wang, Crammer and Vucetic, "Breaking the curse of kernelization" (2012), whose three ways are
these. Both sums of a centre, W's and its average's, move alike; how much a centre matters is
judged by both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..backends import largest_columns, merge_centres, project_centres
from ..kernels import Kernel, SquaredExponential
from .centres import Centres

Rule = Literal["merge", "project", "remove"]
RULES = ("auto", "merge", "project", "remove")
_NEAR = {"merge": 4, "project": 8}  # survivors looked at, for every centre that leaves


@dataclass(frozen=True)
class Budget:
    """The number of centres, and what happens to those beyond it.

    Parameters
    ----------
    size : int
        Centres at most.
    rule : {"merge", "project", "remove"}
        "merge" puts one centre between two, for squared exponentials of dense rows; "project"
        gives the nearest survivors the coefficients that come closest; "remove" forgets.

    Examples
    --------
    >>> from graphkm.kernels import SquaredExponential
    >>> W = Centres(SquaredExponential(gamma=1.0), 1, 1,
    ...             offset=0.0, sparse=False, dtype=np.float64, n_threads=1)
    >>> a = np.array([[4.0], [1.0], [3.0]])
    >>> W.add(np.arange(3), np.array([[0.0], [0.1], [5.0]]), a, a)
    >>> Budget(2, "project").enforce(W, harmonic=2.0)
    >>> W.ids, W.sums[:, 0].round(2)  # 4 + exp(-0.1^2)
    (array([0, 2]), array([4.99, 3.  ]))
    """

    size: int
    rule: Rule

    def enforce(self, W: Centres, harmonic: float) -> None:
        """Bring W down to the budget; `harmonic` is H_{T-1}, which its average counts with."""
        excess = len(W) - self.size
        if excess <= 0:
            return
        R = W.n_outputs
        A, B = W.sums[:, :R], W.sums[:, R:]
        # In units of T (T+1): w, and its average.
        both = np.hstack([A, 2.0 * (harmonic * A - B)])
        rows = W.rows
        weight = np.einsum("jc,jc->j", both, both) * (W.kernel.diagonal(rows) + W.offset)
        order = np.argsort(weight, kind="stable")
        out, stay = order[:excess], np.sort(order[excess:])
        kept, new_rows, ids = both[stay], rows[stay], W.ids[stay]
        if self.rule == "project":
            _project(W, rows[out], both[out], new_rows, kept)
        elif self.rule == "merge":
            ids[_merge(W, rows[out], both[out], new_rows, kept)] = -1
        A = kept[:, :R]
        W.replace(ids, new_rows, np.hstack([A, harmonic * A - 0.5 * kept[:, R:]]))


def resolve_rule(rule: str, kernel: Kernel, sparse: bool) -> Rule:
    """Return the rule; "auto" merges where that is possible and projects elsewhere.

    Examples
    --------
    >>> resolve_rule("auto", SquaredExponential(gamma=1.0), sparse=True)
    'project'
    """
    possible = isinstance(kernel, SquaredExponential) and not sparse
    if rule == "auto":
        return "merge" if possible else "project"
    if rule == "merge" and not possible:
        raise ValueError(
            "budget_rule='merge' puts centres between rows, which it can for kernel='rbf' and "
            "dense rows only; pass 'project' or 'auto'."
        )
    return rule  # type: ignore[return-value]


def _nearest(W: Centres, leaving: Any, rows: Any, k: int) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return the kernel of those that leave with those that stay, and the k nearest of these."""
    values = W.values(leaving, rows)
    near = np.empty((values.shape[0], min(k, values.shape[1])), np.int32)
    largest_columns(values, near)
    return values, near


def _project(
    W: Centres, leaving: Any, a: NDArray[np.float64], rows: Any, kept: NDArray[np.float64]
) -> None:
    """Add the projections of what leaves to `kept`."""
    values, near = _nearest(W, leaving, rows, _NEAR["project"])
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


def _merge(
    W: Centres, leaving: Any, a: NDArray[np.float64], rows: Any, kept: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Merge what leaves into `rows` and `kept`, and return which of these are new."""
    assert isinstance(W.kernel, SquaredExponential) and W.kernel.gamma is not None
    _, near = _nearest(W, leaving, rows, _NEAR["merge"])
    moved = np.zeros(len(rows), bool)
    merge_centres(
        near=near,
        leaving_rows=leaving,
        leaving=a,
        rows=rows,
        kept=kept,
        moved=moved,
        gamma=float(W.kernel.gamma),
        amplitude=float(W.kernel.sigma_f) ** 2,
        offset=W.offset,
    )
    return moved
