"""The rows of a fit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..judge.held_out import take_rows
from .mixed import Mixed


class Training(NamedTuple):
    """The rows of a fit, and which of them are labelled."""

    given: Any
    """As they were given: what models see. None where there are edges alone."""
    rows: Any
    """The same as numbers: what the graph sees."""
    labeled: NDArray[np.int64]
    """Which of them have labels."""
    links: Any = None
    """The rows of given graphs that each row is, for `Mixed.at`; None without given graphs."""

    def said(self, mixture: Mixed, some: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """Return what a mixture says of all rows, or of some."""
        if some is None:
            return mixture.at(self.given, self.rows, self.links)
        given = None if self.given is None else take_rows(self.given, some)
        links = None if self.links is None else self.links[some]
        return mixture.at(given, self.rows[some], links)

    def unlabelled(self, most: int) -> NDArray[np.int64]:
        """Return the rows without labels, or as many of them as wanted, drawn at random."""
        is_known = np.zeros(self.rows.shape[0], dtype=bool)
        is_known[self.labeled] = True
        found = np.flatnonzero(~is_known)
        if len(found) > most:
            found = np.sort(np.random.default_rng(0).choice(found, most, replace=False))
        return found
