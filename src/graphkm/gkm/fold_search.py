"""Candidates judged by fits on folds: slower than the closed form, for any p and any loss."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_regressor

from ..expansion import KernelExpansion
from ..machines.labels import as_label_array
from .base import BaseGKM, Neighbours, Problem
from .criterion import Judgement
from .search import ClosedForm, Grid

Split = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Labelled rows whose labels are hidden from a fit, and those on which it is scored."""


class _Unjudged(ClosedForm):
    """The closed form's candidates without its judgement, which many labels make costly."""

    def _judge(self, phi: Any, others: Any, Cs: NDArray[np.float64]) -> list[Judgement]:
        return [Judgement(0.0, float("nan"))] * len(Cs)


class Folds:
    """Judges candidates by fits that do not see the labels of a fold.

    Rows of a fold stay where they are, without their labels: every fit sees all rows, and
    neither an affinity nor a precomputed kernel has to be cut. Weights count in fits and scores.

    For p = 2 the candidates are those of the closed form, in the same units. Any other p has no
    smoothed kernel to measure C by, and counts it in units of the plain kernel.

    Parameters
    ----------
    template : BaseGKM
        The estimator, with everything that is not searched.
    problem : Problem
        All of the data.
    grid : Grid
        What is tried.
    splitter : splitter
        Its `split` yields rows to train on and rows to test on.
    y, sample_weight, affinity
        As they were passed to `fit`.
    """

    def __init__(
        self,
        template: BaseGKM,
        problem: Problem,
        grid: Grid,
        splitter: Any,
        y: Any,
        sample_weight: Any = None,
        affinity: Any = None,
    ) -> None:
        self._template = template
        self._problem = problem
        self._grid = grid
        self._y = as_label_array(y)
        self._weight: NDArray[np.float64] | None = None
        if sample_weight is not None:  # a single number stands for all rows
            weight = np.asarray(sample_weight, dtype=np.float64)
            self._weight = np.broadcast_to(weight, problem.labeled.shape)
        self._affinity = affinity
        self._closed = _Unjudged(template, problem, grid, affinity)
        self._splits = self._usable(splitter.split(problem.X, self._y))

    @property
    def neighbours(self) -> Neighbours | None:
        """The nearest rows of every row, the same for every fold."""
        return self._closed.neighbours

    def __iter__(self) -> Iterator[tuple[dict[str, Any], Judgement]]:
        """Yield every candidate's parameters and its mean score over the folds."""
        for candidate in self._candidates():
            mean = float(np.mean([self._score(candidate, split) for split in self._splits]))
            yield candidate, Judgement(-mean, mean)

    def _usable(self, splits: Any) -> list[Split]:
        """Return the splits with what can be scored: labelled rows of a weight above 0."""
        usable = []
        labeled = np.flatnonzero(self._problem.labeled)
        for train, test in splits:
            test = np.intersect1d(test, labeled)
            if self._weight is not None:
                test = test[self._weight[test] > 0]
            if len(test) == 1 and is_regressor(self._template):
                raise ValueError(
                    f"A fold of the {len(labeled)} known targets holds a single one, of which "
                    "there is no R^2; pass a smaller cv."
                )
            if len(test):
                usable.append((np.setdiff1d(labeled, train), test))
        if not usable:
            raise ValueError(
                "No test fold of cv holds a labelled row of positive weight; label more rows, or "
                "pass another cv or sample_weight."
            )
        return usable

    def _score(self, candidate: dict[str, Any], split: Split) -> float:
        """Return the score on a fold of a fit to whom its labels are unknown."""
        hidden, test = split
        X, y = self._problem.X, self._y.astype(object)
        y[hidden] = None
        model: Any = clone(self._template).set_params(**candidate, verbose=0)
        problem = model._encode(X, y, self._weight)
        with warnings.catch_warnings():
            # Hiding labels may do that; the last fit, which sees them all, warns if it has to.
            warnings.filterwarnings("ignore", message=".*hold no labelled point")
            warnings.filterwarnings("ignore", message="The graph overrules the labels")
            model._solve(problem, affinity=self._affinity, neighbours=self.neighbours)
        weight = None if self._weight is None else self._weight[test]
        return float(model.score(X[test], self._y[test], weight))

    def _candidates(self) -> Iterator[dict[str, Any]]:
        if self._template.p != 2:
            return self._candidates_of_other_p()
        return (candidate for candidate, _ in self._closed)

    def _candidates_of_other_p(self) -> Iterator[dict[str, Any]]:
        sizes = dict.fromkeys(k for k, _ in self._closed.kinds())
        graphs = [{"n_neighbors": k, "laplacian_degree": 1} for k in sizes]
        if self._template.graph != "knn":  # the graph is what it is
            graphs = [{"laplacian_degree": 1}]
        if self._closed.has_graphs:
            widths = self._widths(alone=False)
            for (width, C), graph, C_graph in product(widths, graphs, self._closed.strengths()):
                yield {**graph, "C_graph": C_graph, **width, "C": C}
        for width, C in self._widths(alone=True):
            yield {"C_graph": 0.0, **width, "C": C}

    def _widths(self, *, alone: bool) -> Iterator[tuple[dict[str, float], float]]:
        """Yield every gamma, as a parameter, with every C in units of its kernel."""
        kernel = self._template._open_kernel()
        for gamma in self._grid.widths(kernel, self._problem.X, alone=alone):
            width = {} if gamma is None else {"gamma": gamma}
            for C in self._grid.costs(self._mean_kernel(gamma), alone=alone).tolist():
                yield width, C

    def _mean_kernel(self, gamma: float | None) -> float:
        """Return the mean over the labelled rows of k(x, x)."""
        kernel = self._template._open_kernel()
        if gamma is not None:
            kernel = kernel.with_gamma(gamma)
        offset = float(self._template.fit_intercept)
        f = KernelExpansion(kernel, self._problem.X, 1, offset=offset)
        return float(f.diagonal(np.flatnonzero(self._problem.labeled)).mean()) or 1.0
