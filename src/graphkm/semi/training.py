"""The rows of a fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from .._util.warnings import quiet
from ..estimators.data_checks import canonical_csr
from ..judge.held_out import take_rows
from ..members.along_edges import Edges
from .mixed_views import AnyMixture


@dataclass(frozen=True)
class Training:
    """The rows of a fit, and which of them are labelled.

    Parameters
    ----------
    given : array, frame, CSR matrix or None
        As they were given: what models see. None where there are edges alone.
    rows : ndarray or CSR
        The same as numbers: what the graph sees.
    labeled : ndarray of int
        Which of them have labels.
    links : CSR array or None
        The rows of given graphs that each row is, for `Mixed.at`; None without given graphs.
    """

    given: Any
    rows: Any
    labeled: NDArray[np.int64]
    links: Any = None

    @classmethod
    def of_nodes(cls, points: Any, like: Any) -> Training:
        """Return nodes that stand for all rows; models see them as a frame if rows are one."""
        return cls(_like(points, like), points, np.empty(0, np.int64))

    def said(
        self, mixture: AnyMixture, some: NDArray[np.int64] | None = None
    ) -> NDArray[np.float64]:
        """Return what a mixture says of all rows, or of some."""
        with quiet("X does not have valid feature names"):  # nodes have none
            if some is None:
                return mixture.at(self.given, self.rows, self.links)
            given = None if self.given is None else take_rows(self.given, some)
            links = None if self.links is None else self.links[some]
            return mixture.at(given, take_rows(self.rows, some), links)

    def unlabelled(self, most: int) -> NDArray[np.int64]:
        """Return the rows without labels, or as many of them as wanted, drawn at random."""
        is_known = np.zeros(self.rows.shape[0], dtype=bool)
        is_known[self.labeled] = True
        found = np.flatnonzero(~is_known)
        if len(found) > most:
            found = np.sort(np.random.default_rng(0).choice(found, most, replace=False))
        return found


class Elsewhere(Protocol):
    """All rows of a fit and their given graphs, which lie elsewhere."""

    @property
    def numbers(self) -> NDArray[np.int64]:
        """The numbers of the labelled rows among all rows."""

    def edges(self, labeled: NDArray[np.int64]) -> Edges:
        """Return what members of given graphs see; `labeled` are `numbers` in another order."""

    def training(self, given: Any, labeled: NDArray[np.int64]) -> Training:
        """Return all rows; `given` are the labelled ones, or None where there are edges alone."""


def _like(points: Any, like: Any) -> Any:
    """Return nodes as frames where rows are frames."""
    if isinstance(points, dict):
        return type(points)({name: _like(each, like[name]) for name, each in points.items()})
    if issparse(points):  # means of rows may have 64-bit indices, which forests refuse
        return canonical_csr(points)
    if not hasattr(like, "columns"):
        return points
    named = enumerate(list(like.columns))
    return type(like)({name: points[:, place] for place, name in named})
