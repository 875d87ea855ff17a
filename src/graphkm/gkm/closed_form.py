"""Judging candidates by leave-one-out in closed form: a grid costs little more than one fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._util.threads import blas_threads_for
from ..judge.folds import FEWEST, calibration_folds
from ..neighbours.distinct import copies_in_order
from ..solvers.refits import refit_scores
from .base import Problem
from .candidates import Family
from .criterion import (
    Judgement,
    Labels,
    hold_out,
    judge_classes,
    judge_values,
    judged_rows,
    leave_one_out,
)


class ClosedForm:
    """Judges candidates of p = 2 by the squared loss, whose held-out scores have a closed form.

    Parameters
    ----------
    problem : Problem
        All of the data.
    classes : bool
        Whether targets are classes.
    """

    def __init__(self, problem: Problem, *, classes: bool) -> None:
        self._loss = problem.loss
        known = problem.known if classes else None
        copies = copies_in_order(problem.X[problem.labeled])
        self._labels = Labels(problem.targets, problem.weights, known, copies)
        self._best: dict[bool, tuple[float, Any, float]] = {}  # with and without a graph

    @property
    def can_judge(self) -> bool:
        """Whether enough labels of classes can be left out; copies of a row count once."""
        rows, copies = judged_rows(self._labels), self._labels.copies
        return len(rows if copies is None else np.unique(copies.place[rows])) >= FEWEST

    def judge(self, family: Family) -> list[Judgement]:
        """Return the judgement of every candidate."""
        labels, phi = self._labels, family.phi
        assert phi is not None
        judge = judge_values if labels.codes is None else judge_classes
        with blas_threads_for(len(phi), len(phi)):
            judged = [judge(each, labels) for each in leave_one_out(phi, labels, family.Cs)]
        graph = family.parameters["C_graph"] > 0
        for C, judgement in zip(family.Cs.tolist(), judged, strict=True):
            if graph not in self._best or judgement.loss < self._best[graph][0]:
                self._best[graph] = (judgement.loss, phi, C)
        return judged

    def judge_fits(self, family: Family) -> list[Judgement]:
        """Return the judgement of every candidate of classes by fits with the model's own loss.

        The closed form is for the squared loss, which may have another best C. With that C a model
        with the hinge loss may predict a single class.
        """
        labels, phi = self._labels, family.phi
        assert labels.codes is not None and phi is not None
        folds = calibration_folds(labels.codes, labels.weights, labels.copies)
        held = labels.at(np.concatenate([test for _, test in folds]))
        scores = (
            refit_scores(phi, labels.targets, C * labels.weights, self._loss, folds)
            for C in family.Cs.tolist()
        )
        return [judge_classes(each, held) for each in scores]

    def held_out_scores(self) -> dict[bool, float]:
        """Return R^2 on held-out targets of the best candidates with and without a graph.

        Candidates are compared by the squared loss. These scores use the model's own loss, which
        may be another.
        """
        scores, labels, n_labeled = {}, self._labels, len(self._labels.targets)
        with blas_threads_for(n_labeled, n_labeled):
            for graph, (_, phi, C) in self._best.items():
                scores[graph] = judge_values(hold_out(phi, labels, C, self._loss), labels).score
        return scores
