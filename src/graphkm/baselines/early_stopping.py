"""Stop when decisions have settled, though the objective still falls."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..estimators.classes import winning_class
from .laplacian_cg import ConjugateGradients

TOLERATED = 0.015
"""Largest share of decisions that may change between two checks (Melacci and Belkin)."""

INTERVAL = 15
"""Steps between two checks. The paper's number grows with n, so its cost grows faster than n^2."""


class EarlyStopping:
    """Stop when decisions no longer change, or validation errors no longer fall.

    Parameters
    ----------
    unlabeled : ndarray of int
        The unlabelled rows.
    validation_error : callable, optional
        Returns the error on a validation set, given a and b. If it is passed, it alone decides:
        the first check with no lower error stops.
    """

    def __init__(
        self,
        unlabeled: NDArray[np.int64],
        validation_error: Callable[[NDArray[np.float64], NDArray[np.float64]], float] | None = None,
    ) -> None:
        self._unlabeled = unlabeled
        self._validation_error = validation_error
        self._decisions: NDArray[np.int64] | None = None
        self._error = np.inf

    def __call__(self, state: ConjugateGradients) -> bool:
        """Return whether to stop."""
        if state.n_iter % INTERVAL:
            return False
        if self._validation_error is not None:
            lowest, self._error = self._error, self._validation_error(state.a, state.b)
            return self._error >= lowest
        before, self._decisions = self._decisions, winning_class(state.scores[self._unlabeled])
        if before is None or len(self._unlabeled) == 0:
            return False
        return bool(np.mean(before != self._decisions) <= TOLERATED)
