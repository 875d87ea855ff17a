"""The two kinds of parts: what makes a graph of rows, and what makes the nodes of a field."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._util.parts import Combination, Part, Sizes
from .base import Graph
from .nodes import NodeGraph


class GraphPart(Part, ABC):
    """What makes a graph of rows.

    To add one, subclass it as a frozen dataclass and write `build`.
    """

    listed: ClassVar[bool] = False
    """Whether the graph stores its edges, as a `ListedGraph` does. `RowNewton` needs that, and
    `Newton` is at its best with it."""

    needs_rows: ClassVar[bool] = True
    """Whether edges come from distances between rows, which kernel="precomputed" does not have."""

    stream_kind: ClassVar[str | None] = None
    """How ``partial_fit`` draws edges from kept rows: as "knn", "full" or "bipartite"; None if it
    cannot."""

    @abstractmethod
    def build(
        self,
        X: Any,
        labeled: ArrayLike,
        *,
        affinity: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> Graph:
        """Return the graph over the rows of X.

        Parameters
        ----------
        X : ndarray of float32 or float64, or CSR matrix, of shape (n_samples, n_features)
            The rows.
        labeled : ndarray of bool of shape (n_samples,)
            True where a row has a label. Two labelled rows share no edge.
        affinity : matrix, edges or graph, optional
            For `Affinity`, which needs it.
        n_jobs : int, optional
            Parallel searches.
        verbose : bool, default=False
            Show the progress of the search.
        """

    def planned(self, sizes: Sizes, X: Any) -> Self:
        """Return the part with every "auto" that depends on the rows filled in.

        Parameters
        ----------
        sizes : Sizes
            ``n_rows``, ``n_labeled``, and ``classes``: whether targets are classes.
        X : ndarray or CSR matrix of shape (n_samples, n_features)
            The rows, or the first chunk of a stream.
        """
        return self

    def weighted(self, gamma: float, *, local: bool) -> Self:
        """Return the part with its weights filled in.

        Parameters
        ----------
        gamma : float
            The bandwidth of the kernel.
        local : bool
            Whether "auto" prefers bandwidths that follow the distances around each row.
        """
        return self

    def accepts(self, together: Combination) -> None:
        """Raise ValueError if the graph does not go with the other parts.

        Parameters
        ----------
        together : Combination
            ``kernel``, ``graph``, ``smoothness``, ``solver``, ``C_graph``, and ``streaming``:
            whether rows come in chunks.
        """
        if together.C_graph == 0:
            return
        if not together.kernel.has_rows and self.needs_rows:
            raise ValueError(
                f"graph={self!r} measures distances between rows, and kernel='precomputed' has "
                "no rows; pass fit(X, y, affinity=...), or C_graph=0 to leave the graph out."
            )
        if together.streaming and self.stream_kind is None:
            raise ValueError(
                f"partial_fit cannot use graph={self!r}; pass KNN(), Full() or Bipartite(), "
                "whose edges can be drawn from rows that are kept."
            )


class NodesPart(Part, ABC):
    """Makes the nodes on which a field lives, from rows."""

    @abstractmethod
    def nodes(
        self,
        X: Any,
        kept: NDArray[np.int64] | None = None,
        *,
        seed: int = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> NodeGraph:
        """Return the nodes of the rows of X, and the graph that joins them.

        Parameters
        ----------
        X : ndarray of float32 or float64, or CSR matrix, of shape (n_samples, n_features)
            The rows, two at least.
        kept : ndarray of int, optional
            Rows whose weights are kept, in this order; None is all.
        seed : int, default=0
            Decides all draws.
        n_jobs : int, optional
            Parallel searches.
        verbose : bool, default=False
            Show the progress of the search.
        """
