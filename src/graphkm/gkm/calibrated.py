"""Probabilities of `GKMClassifier`: how labels are held out after a fit, and in a stream."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..estimators.calibration import Calibration
from ..estimators.calibration_folds import calibration_folds
from ..estimators.classes import CodedLabels, KernelClassifier, winning_class
from ..graphs import KNN
from ..neighbours.distinct import distinct_rows
from ..neighbours.index import NeighbourIndex, Neighbours
from ..solvers import SGD, DivergenceError, Newton, RowNewton, Solution
from ..streams.sgd import StreamScores, StreamState
from .base import Problem
from .partial_fits import StreamingGKM
from .plan import Plan

_FEWER = 4  # steps of a stochastic fit without some labels: one of so many


class CalibratedGKM(KernelClassifier, StreamingGKM):
    """A classifier that holds labels out, and so learns how sure its scores are."""

    def _calibrate(
        self,
        problem: Problem,
        solution: Solution,
        affinity: Any,
        neighbours: Neighbours | None,
    ) -> None:
        """Set `calibration_`; a solver that knows its own refits is asked for them."""
        coded = CodedLabels(problem.labeled, problem.known, problem.targets, problem.weights)
        if solution.refits is None:
            plan = _shorter(self.plan_)

            def learn(fold: Any, part: CodedLabels) -> None:
                fold.set_params(verbose=0, callback=None)
                own = Problem(problem.X, *part, problem.loss)
                fold.fit_problem(own, plan, affinity=affinity, neighbours=neighbours)

            try:
                self.calibration_ = self._calibrated_by_fits(problem.X, coded, learn)
            except DivergenceError:  # with fewer steps; the model itself is fine
                self.calibration_ = Calibration.usual(len(self.classes_), len(coded.known))
            return
        copies = distinct_rows(problem.X[problem.labeled])
        folds = calibration_folds(coded.known, coded.weights, copies)
        held = np.concatenate([np.empty(0, np.int64), *(test for _, test in folds)])
        scores = solution.refits(folds) if folds else np.empty((0, coded.targets.shape[1]))
        self.calibration_ = self._calibrated(scores, coded.known[held], coded.weights[held])

    def _neighbours_for_folds(self, problem: Problem, plan: Plan) -> Neighbours | None:
        """Return the neighbours of all rows if fits to folds will need them again."""
        known = isinstance(plan.solver, Newton | RowNewton) and plan.smoothness.p == 2
        if not isinstance(plan.graph, KNN) or known:
            return None
        X, method = problem.X, plan.graph.search
        index = NeighbourIndex(X, method, self.n_threads(), bool(self.verbose))  # type: ignore[arg-type]
        return Neighbours.of(index, min(int(plan.graph.n_neighbors), X.shape[0] - 1))

    # ------------------------------------------------------------------ streams

    def __getattr__(self, name: str) -> Any:
        """Hold labels of a stream out when probabilities are asked for."""
        if name != "calibration_" or "stream_" not in self.__dict__:
            return super().__getattr__(name)
        self.calibration_ = self._calibrate_stream()
        return self.calibration_

    def _calibrate_stream(self) -> Calibration:
        """Return what kept labelled rows say of the model, each without its own part in it."""
        held = self._stream_scores()
        codes = winning_class(held.targets)
        return self._calibrated(held.scores, codes, held.weights)

    def _stream_scores(self) -> StreamScores:
        stream = self.stream_
        if not isinstance(stream, StreamState):
            return stream.held_out()
        known = stream.kept.labeled
        rows, ids = stream.kept.rows[known], stream.kept_ids[known]
        if self.stream_shift_ is not None:
            rows = rows.astype(np.float64) + self.stream_shift_
        scores = self._scores_at(rows)
        _, own, place = np.intersect1d(ids, self.support_, return_indices=True)
        kernel = self.kernel_.diagonal(rows[own]) + stream.solver.offset
        scores[own] -= kernel[:, None] * self.expansion_.coefficients[place]
        return StreamScores(scores, stream.kept.targets[known], stream.kept.weights[known])


def _shorter(plan: Plan) -> Plan:
    """Return the plan of a fit without some labels: of stochastic steps a quarter do."""
    if not isinstance(plan.solver, SGD):
        return plan
    steps = max(1, int(plan.solver.max_iter) // _FEWER)
    return replace(plan, solver=plan.solver.with_params(max_iter=steps))
