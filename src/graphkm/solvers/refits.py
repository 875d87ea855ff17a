"""Scores of labelled rows by fits without their labels, from features of the labelled rows alone.

For p = 2 the graph is part of the features. So a fit to other labels needs neither the graph nor
the other rows, and costs little.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from .._util.threads import blas_threads_for
from ..losses import Loss
from .damped_newton import DampedNewton
from .terms import LabelTerms

Matrix = NDArray[np.float64]

Folds = Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]]
"""Positions among the labelled rows: those to train on, and those held out."""

Refits = Callable[[Folds], Matrix]
"""Returns the scores of all test rows, one fold after another, from fits without their labels."""

_TOL = 1e-3  # a few digits of the scores are enough
_STEPS = 200


def refit_scores(
    phi: Matrix, targets: Matrix, costs: NDArray[np.float64], loss: Loss, folds: Folds
) -> Matrix:
    """Return the scores of every fold's test rows from a fit to its training rows.

    The fit minimises 1/2 ||v||^2 + sum_i costs_i loss(y_i, <v, phi_i>), for each column of targets.

    Examples
    --------
    >>> from graphkm.losses import Hinge
    >>> phi, y = np.array([[-1.0], [1.0], [2.0]]), np.array([[-1.0], [1.0], [1.0]])
    >>> folds = [(np.array([0, 1]), np.array([2]))]
    >>> refit_scores(phi, y, np.ones(3), Hinge(), folds).round(2)
    array([[2.]])
    """
    found = []
    scale = float(np.abs(targets).mean()) or 1.0
    with blas_threads_for(*phi.shape):
        for train, test in folds:
            scores = np.empty((len(test), targets.shape[1]))
            for column, y in enumerate(targets[train].T):
                terms = LabelTerms(phi[train], y, costs[train], loss)
                fit = DampedNewton(terms, phi.shape[1], scale, _TOL)
                while not fit.done and fit.n_iter < _STEPS:
                    fit.step()
                scores[:, column] = phi[test] @ fit.v
            found.append(scores)
    return np.concatenate(found)
