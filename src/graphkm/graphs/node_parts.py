"""Anchors as a part of an estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._util.parameters import check_count
from .anchors import AnchorNodes
from .nodes import NodeGraph
from .part_kinds import NodesPart

_ANCHORS = 20_000  # most anchors of "auto": on MNIST they classify as well as nodes at all rows


@dataclass(frozen=True)
class Anchors(NodesPart):
    """Nodes of a field that are means of rows, fewer than there are rows.

    Every move of the anchors costs one pass over the rows, and joining them costs one more. A pass
    reads the rows in blocks, and keeps only sums.

    Parameters
    ----------
    n_anchors : int or "auto", default="auto"
        How many anchors; no more than rows. "auto" is a third of the rows, 20,000 at most.
    passes : int, default=2
        How often anchors move to the means of the rows nearest to them. They start as rows that
        are drawn at random.

    Examples
    --------
    >>> import numpy as np
    >>> nodes = Anchors(n_anchors=3).nodes(np.arange(9.0)[:, None]).nodes
    >>> nodes.points.shape
    (3, 1)
    """

    n_anchors: int | str = "auto"
    passes: int = 2

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        check_count("n_anchors", self.n_anchors, words=("auto",))
        check_count("passes", self.passes, least=0)

    def nodes(
        self,
        X: Any,
        kept: NDArray[np.int64] | None = None,
        *,
        seed: int = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> NodeGraph:
        """Return the anchors of these rows."""
        m = self.count(X.shape[0])
        return AnchorNodes.graph(X, m, passes=self.passes, seed=seed, kept=kept, n_jobs=n_jobs)

    def count(self, n: int) -> int:
        """Return how many anchors n rows have."""
        if self.n_anchors == "auto":
            return min(_ANCHORS, max(1, n // 3))
        return min(int(self.n_anchors), n)
