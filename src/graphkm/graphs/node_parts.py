"""Anchors as a part of an estimator."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._parameters import check_count
from .._parts import Combination, Sizes
from .anchors import AnchorNodes
from .base import Graph
from .nodes import NodeGraph
from .part_kinds import GraphPart, NodesPart

_ANCHORS = 20_000  # where "auto" stops: on MNIST they classify as well as nodes at all rows


@dataclass(frozen=True)
class Anchors(NodesPart, GraphPart):
    """Nodes of a field that are means of rows, fewer than there are rows.

    They cost one pass over the rows for each move, and one more that joins them. Passes look at
    blocks of rows, and keep sums only.

    Parameters
    ----------
    n_anchors : int or "auto", default="auto"
        Nodes, at most as many as there are rows. "auto" is a third of the rows, 20,000 at most.
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

    def planned(self, sizes: Sizes, X: Any) -> Self:
        """Return the part with the number of anchors, if that of the rows is known."""
        return replace(self, n_anchors=self.count(sizes.n_rows)) if sizes.n_rows else self

    def accepts(self, together: Combination) -> None:
        """Raise ValueError if the graph is used by a solver that has no field."""
        super().accepts(together)
        if together.C_graph != 0 and not together.solver.builds_graph:
            raise ValueError(
                f"graph={self!r} are nodes of a field, and solver="
                f"{type(together.solver).__name__}() has none; leave solver='auto', or pass "
                "graph='knn'."
            )

    def build(
        self,
        X: Any,
        labeled: ArrayLike,
        *,
        affinity: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> Graph:
        """Raise ValueError: anchors join no rows."""
        raise ValueError(f"graph={self!r} are nodes of a field, and join no rows; pass KNN().")
