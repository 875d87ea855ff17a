"""The candidates of a model search, and their judgement with everything shared that can be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from .._threads import blas_threads_for
from ..graphs import NEIGHBORS, Graph, build_graph, default_neighbors, neighbour_graph
from ..graphs.laplacian import laplacian_matrix
from ..graphs.search import nearest
from ..kernels import Kernel, resolve_gamma
from ..objective import Objective
from ..smoothness import Smoothness
from ..solvers.graph_kernel import GraphKernel, graph_form
from ..solvers.landmark_features import LandmarkFeatures
from ..solvers.newton import Newton
from ..solvers.row_newton import RowKernel
from .base import BaseGKM, Neighbours, Problem
from .criterion import (
    ENOUGH,
    GAIN,
    STEP,
    Judgement,
    Labels,
    disagreement,
    hold_out,
    judge_classes,
    judge_values,
    leave_one_out,
    share_divergence,
    split_in_halves,
)
from .settings import make_resources, make_solver, resolve_settings

_LAST = 4  # steps down the list at which candidates without a graph stand
_OTHERS = 2000  # unlabelled rows on which fits are compared


# What is tried where nothing is given: C in units of one over the mean kernel value of the
# labelled rows, C_graph of one over their number, gamma of the data's own.
_COSTS = (10.0, 100.0)  # softer ones let the hinge loss call everything one class
_COSTS_ALONE = (10.0, 100.0, 1.0, 1000.0, 0.1)
_STRENGTHS = (1e5, 1e7, 1e3)
_ROWS = 100  # below so many rows these are too strong, all of them
_STRENGTHS_OF_ROWS = (50.0, 500.0, 5.0)  # times the number of rows
_WIDTHS = (1.0,)
_WIDTHS_ALONE = (1.0, 3.0, 1.0 / 3.0, 10.0)
_GRAPHS = ((6, 2), (12, 4), (50, 8), (4, 1), (2, 1))
_GRAPHS_OF_ROWS = ((6, 1), (12, 1), (3, 1))


@dataclass(frozen=True)
class Grid:
    """What is tried. Where nothing is given, values in the units of the data.

    Order matters where candidates are judged alike: the first one wins.
    """

    Cs: Sequence[float] | None
    C_graphs: Sequence[float] | None
    gammas: Sequence[float | str] | None
    graphs: Sequence[tuple[int, int]] | None

    def costs(self, scale: float, *, alone: bool = False) -> NDArray[np.float64]:
        """Return the values of C for labelled points of this mean kernel value."""
        if self.Cs is not None:
            return np.asarray(self.Cs, dtype=np.float64)
        return np.asarray(_COSTS_ALONE if alone else _COSTS) / scale

    def strengths(self, n: int, n_labeled: int, *, rows: bool = False) -> list[float]:
        """Return the values of C_graph but 0, which is always tried."""
        if self.C_graphs is not None:
            return [float(value) for value in self.C_graphs if value > 0]
        if rows:
            return [value * n / n_labeled for value in _STRENGTHS_OF_ROWS]
        share = min(1.0, n / _ROWS) ** 3
        return [share * value / n_labeled for value in _STRENGTHS]

    def widths(self, kernel: Kernel, X: Any, *, alone: bool = False) -> list[float | None]:
        """Return the values of gamma; None for a kernel that has none."""
        if kernel.with_gamma(1.0) is kernel:
            return [None]
        if self.gammas is not None:
            return [resolve_gamma(gamma, X) for gamma in self.gammas]  # type: ignore[arg-type]
        spread = resolve_gamma("spread", X)
        return [factor * spread for factor in (_WIDTHS_ALONE if alone else _WIDTHS)]

    def graph_kinds(self, n: int, *, neighbours: bool, rows: bool = False) -> list[tuple[int, int]]:
        """Return pairs of a number of neighbours and a degree of the Laplacian."""
        given = self.graphs
        if given is None:
            usual = _GRAPHS_OF_ROWS if rows else _GRAPHS
            share = default_neighbors(n) / NEIGHBORS
            given = [(max(1, round(share * k)), degree) for k, degree in usual]
        if not neighbours:  # the graph is what it is; only the degree varies
            return [(1, degree) for degree in dict.fromkeys(degree for _, degree in given)]
        return list(dict.fromkeys((min(int(k), n - 1), int(degree)) for k, degree in given))


class ClosedForm:
    """Judges all candidates of a p = 2 problem by closed-form leave-one-out.

    One pass over the data per gamma and graph; each C_graph then costs one factorisation, and
    each C next to nothing. While labels take turns at being left out, edges between labelled
    rows are kept: a row that is left out is an unlabelled one.
    """

    def __init__(self, template: BaseGKM, problem: Problem, grid: Grid, affinity: Any) -> None:
        self._template = template
        self._problem = problem
        self._grid = grid
        self._affinity = affinity
        self._labeled = np.flatnonzero(problem.labeled)
        classes = is_classifier(template)
        self._labels = Labels(problem.targets, problem.weights, problem.known if classes else None)
        random = np.random.default_rng(template.random_state)
        self._halves = None
        if classes and np.bincount(problem.known).min() >= ENOUGH:
            self._halves = split_in_halves(problem.known, random)
        unlabeled = np.flatnonzero(~problem.labeled)
        size = min(_OTHERS, len(unlabeled))
        self._others = np.sort(random.choice(unlabeled, size, replace=False))
        self._settings = resolve_settings(template, len(problem.labeled), len(self._labeled))
        self._rows = self._settings.smoothing == "rows"
        self._phi: NDArray[np.float64] | None = None  # of the candidates judged last
        self._best: dict[bool, tuple[float, Any, float]] = {}  # with and without a graph

    def held_out_scores(self) -> dict[bool, float]:
        """Return R^2 on held-out targets of the best candidates with and without a graph.

        Candidates are compared by the squared loss. This is the score of the model itself, whose
        loss may be another.
        """
        scores = {}
        with self._few_threads():
            for graph, (_, phi, C) in self._best.items():
                found = hold_out(phi, self._labels, C, self._problem.loss)
                scores[graph] = judge_values(found, self._labels).score
        return scores

    def __iter__(self) -> Iterator[tuple[dict[str, Any], Judgement]]:
        """Yield every candidate's parameters and its judgement."""
        template, grid, X = self._template, self._grid, self._problem.X
        kernel = template._open_kernel()
        if self.has_graphs:
            for gamma in grid.widths(kernel, X):
                judge = self._of_rows if self._rows else self._of_landmarks
                yield from judge(self._objective(kernel, gamma), gamma, self.kinds())
        for step, gamma in enumerate(grid.widths(kernel, X, alone=True)):
            yield from self._alone(kernel, gamma, _LAST + step)

    @property
    def has_graphs(self) -> bool:
        """Whether any candidate has a graph."""
        return len(self._others) > 0 and len(self.strengths()) > 0

    def strengths(self) -> list[float]:
        """Return the values of C_graph but 0."""
        n, n_labeled = self._problem.X.shape[0], len(self._labeled)
        return self._grid.strengths(n, n_labeled, rows=self._rows)

    def kinds(self) -> list[tuple[int, int]]:
        """Return pairs of a number of neighbours and a degree of the Laplacian."""
        n, knn = self._problem.X.shape[0], self._template.graph == "knn"
        return self._grid.graph_kinds(n, neighbours=knn, rows=self._rows)

    @cached_property
    def neighbours(self) -> Neighbours | None:
        """The nearest rows of every row, searched for once, for all candidates and fits."""
        template = self._template
        if template.graph != "knn" or not self.has_graphs:
            return None
        return nearest(
            self._problem.X,
            max(k for k, _ in self.kinds()),
            template._n_threads(),
            template.neighbors,  # type: ignore[arg-type]  # checked
            squared=True,
            verbose=bool(template.verbose),
        )

    def _of_landmarks(
        self, objective: Objective, gamma: float | None, kinds: Iterable[tuple[int, int]]
    ) -> Iterator[tuple[dict[str, Any], Judgement]]:
        """Judge candidates whose graph smooths the function of the landmarks."""
        solver = make_solver(self._template, self._settings, objective.kernel)
        assert isinstance(solver, Newton)
        features = solver.features(objective, make_resources(self._template))
        labeled = features.kernels_at(self._labeled)
        others = features.kernels_at(self._others)
        for step, (k, degree) in enumerate(kinds):
            problem = replace(objective, graph=self._graph(k, objective.kernel), degree=degree)
            form = graph_form(problem, features, self._template.verbose)
            for steps, C_graph, factor in self._factors(problem, step):
                smoothed = GraphKernel(features.gram, labeled, form, factor)
                costs = self._grid.costs(smoothed.scale)
                reached = smoothed.at(others)
                with self._few_threads():
                    judged = self._judge(smoothed.phi, reached, costs)
                yield from self._named(steps, k, degree, C_graph, gamma, costs, judged)

    def _of_rows(
        self, objective: Objective, gamma: float | None, kinds: Iterable[tuple[int, int]]
    ) -> Iterator[tuple[dict[str, Any], Judgement]]:
        """Judge candidates whose graph smooths the rows' own scores."""
        for step, (k, degree) in enumerate(kinds):
            graph = self._graph(k, objective.kernel)
            matrix = laplacian_matrix(graph, normalized=objective.normalized)
            for steps, C_graph, factor in self._factors(replace(objective, graph=graph), step):
                with self._few_threads():
                    kernel = RowKernel(matrix, degree, 2.0 * factor, self._labeled)
                    costs = self._grid.costs(kernel.scale)
                    judged = self._judge(kernel.phi, kernel.at(self._others), costs)
                yield from self._named(steps, k, degree, C_graph, gamma, costs, judged)

    def _factors(self, objective: Objective, steps: int) -> Iterator[tuple[int, float, float]]:
        """Yield every C_graph after its place in the list, and what it makes of the graph."""
        for more, C_graph in enumerate(self.strengths()):
            factor = replace(objective, C_graph=np.array([C_graph])).graph_factor[0]
            yield steps + more, C_graph, float(factor)

    def _alone(
        self, kernel: Kernel, gamma: float | None, steps: int
    ) -> Iterator[tuple[dict[str, Any], Judgement]]:
        """Judge candidates without a graph: they need the labelled rows only."""
        objective = self._objective(kernel, gamma)
        n_threads = self._template._n_threads()
        with self._few_threads():
            features = LandmarkFeatures(objective, self._labeled, 1e-12, n_threads)
            labeled = features.kernels_at(self._labeled)
            smoothed = GraphKernel(features.gram, labeled, None, 0.0)
            costs = self._grid.costs(smoothed.scale, alone=True)
            others = smoothed.at(features.kernels_at(self._others))
            judged = self._judge(smoothed.phi, others, costs)
        yield from self._named(steps, None, None, 0.0, gamma, costs, judged)

    def _few_threads(self) -> AbstractContextManager[Any]:
        """Return the context of work on matrices between labelled rows."""
        return blas_threads_for(len(self._labeled), len(self._labeled))

    def _judge(
        self, phi: NDArray[np.float64], others: NDArray[np.float64], Cs: NDArray[np.float64]
    ) -> list[Judgement]:
        self._phi = phi
        scores = leave_one_out(phi, self._labels, Cs)
        if self._labels.codes is None:
            return [judge_values(each, self._labels) for each in scores]
        shares: Sequence[float | None] = [None] * len(Cs)
        if self._halves is not None and len(others):
            shares = disagreement(phi, others, self._labels, Cs, self._halves).tolist()
        divergence = np.zeros(len(Cs))
        if len(others):
            divergence = share_divergence(phi, others, self._labels, Cs)
        return [
            judge_classes(each, self._labels, share, apart)
            for each, share, apart in zip(scores, shares, divergence.tolist(), strict=True)
        ]

    def _named(
        self,
        steps: int,
        k: int | None,
        degree: int | None,
        C_graph: float,
        gamma: float | None,
        Cs: NDArray[np.float64],
        judged: list[Judgement],
    ) -> Iterator[tuple[dict[str, Any], Judgement]]:
        """Yield candidates as parameters of the estimator, with what was said of them."""
        known = {
            "n_neighbors": k if self.neighbours is not None else None,
            "laplacian_degree": degree,
            "C_graph": C_graph,
            "gamma": gamma,
        }
        shared = {name: value for name, value in known.items() if value is not None}
        for more, (C, judgement) in enumerate(zip(Cs.tolist(), judged, strict=True)):
            price = STEP * (steps + more) + 0.5 * GAIN * len(self._labeled) * (C_graph > 0)
            if self._labels.codes is None:  # losses of another scale
                price = 0.0
            loss = judgement.loss + price
            if (C_graph > 0) not in self._best or loss < self._best[C_graph > 0][0]:
                self._best[C_graph > 0] = (loss, self._phi, C)
            yield {**shared, "C": C}, judgement._replace(loss=loss)

    def _objective(self, kernel: Kernel, gamma: float | None) -> Objective:
        problem = self._problem
        return Objective(
            X=problem.X,
            labeled=self._labeled,
            targets=problem.targets,
            weights=problem.weights,
            kernel=kernel if gamma is None else kernel.with_gamma(gamma),
            offset=float(self._template.fit_intercept),
            loss=problem.loss,
            smoothness=Smoothness(2),
            C=np.ones(problem.targets.shape[1]),
            C_graph=np.ones(problem.targets.shape[1]),
            normalized=self._settings.normalized,
        )

    def _graph(self, k: int, kernel: Kernel) -> Graph:
        X, template = self._problem.X, self._template
        nobody = np.zeros(X.shape[0], dtype=bool)
        gamma = self._settings.graph_gamma
        if gamma is None:
            own = kernel.euclidean_gamma
            gamma = resolve_gamma("spread", X) if own is None else own
        if self.neighbours is not None:
            near, d2 = self.neighbours
            return neighbour_graph(near[:, :k], d2[:, :k], nobody, gamma)  # type: ignore[arg-type]
        return build_graph(
            template.graph,
            X,
            self._problem.labeled if template.graph == "bipartite" else nobody,
            gamma=gamma,
            radius=template.radius,
            affinity=self._affinity,
            n_jobs=template._n_threads(),
        )
