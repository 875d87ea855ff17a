"""Probabilities of `GKMClassifier`: how labels are held out after a fit, and in a stream."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..estimators.calibration import Calibration
from ..estimators.classes import CodedLabels, KernelClassifier
from ..graphs import KNN
from ..judge.folds import calibration_folds
from ..neighbours.distinct import distinct_rows
from ..neighbours.index import NeighbourIndex, Neighbours
from ..solvers import SGD, DivergenceError, Newton, RowNewton, Solution
from ..streams.sgd import StreamScores, StreamState
from ..streams.sums import SumsStream
from .base import BaseGKM, Problem
from .plan import Plan

_FEWER = 4  # a stochastic fit without some labels takes a quarter of the steps


def calibration_of_fit(
    model: KernelClassifier,
    problem: Problem,
    solution: Solution,
    plan: Plan,
    neighbours: Neighbours | None,
) -> Calibration:
    """Return the calibration by held-out labels, from the solver's own refits if it has some.

    `plan` is the plan of the fit. `neighbours` are those of the kNN graph, which fits to folds use
    again.
    """
    coded = CodedLabels(problem.labeled, problem.known, problem.targets, problem.weights)
    if solution.refits is None:
        plan = _shorter(plan)

        def learn(fold: Any, part: CodedLabels) -> None:
            fold.set_params(verbose=0, callback=None)
            own = problem._replace(**part._asdict())
            fold.fit_problem(own, plan, neighbours=neighbours)

        try:
            return model.calibrated_by_fits(problem.X, coded, learn)
        except DivergenceError:  # with fewer steps; the model itself is fine
            return Calibration.usual(len(model.classes_), len(coded.known))
    copies = distinct_rows(problem.X[problem.labeled])
    folds = calibration_folds(coded.known, coded.weights, copies)
    held = np.concatenate([np.empty(0, np.int64), *(test for _, test in folds)])
    scores = solution.refits(folds) if folds else np.empty((0, coded.targets.shape[1]))
    return model.calibrated(scores, coded.known[held], coded.weights[held])


def neighbours_for_folds(
    problem: Problem, plan: Plan, n_threads: int, verbose: bool
) -> Neighbours | None:
    """Return the neighbours of all rows if fits to folds will need them again."""
    known = isinstance(plan.solver, Newton | RowNewton) and plan.smoothness.p == 2
    if not isinstance(plan.graph, KNN) or known:
        return None
    X, method = problem.X, plan.graph.search
    index = NeighbourIndex(X, method, n_threads, verbose)  # type: ignore[arg-type]
    return Neighbours.of(index, min(int(plan.graph.n_neighbors), X.shape[0] - 1))


def scores_in_stream(model: BaseGKM, stream: StreamState | SumsStream, shift: Any) -> StreamScores:
    """Return the scores of kept labelled rows, each without its own part in the model.

    `shift` was subtracted from the rows.
    """
    if not isinstance(stream, StreamState):
        return stream.held_out()
    known = stream.kept.labeled
    rows, ids = stream.kept.rows[known], stream.kept_ids[known]
    if shift is not None:
        rows = rows.astype(np.float64) + shift
    scores = model.scores_at(rows)
    _, own, place = np.intersect1d(ids, model.support_, return_indices=True)
    kernel = model.kernel_.diagonal(rows[own]) + stream.solver.offset
    scores[own] -= kernel[:, None] * model.expansion_.coefficients[place]
    return StreamScores(scores, stream.kept.targets[known], stream.kept.weights[known])


def _shorter(plan: Plan) -> Plan:
    """Return the plan of a fit without some labels: a quarter of the stochastic steps is enough."""
    if not isinstance(plan.solver, SGD):
        return plan
    steps = max(1, int(plan.solver.max_iter) // _FEWER)
    return replace(plan, solver=plan.solver.with_params(max_iter=steps))
