"""Judging candidates by leave-one-out in closed form: a grid costs little more than one fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._order import rows_in_order
from .._threads import blas_threads_for
from ..graphs.distinct import copies_in_order
from ..machines.calibration_folds import calibration_folds
from ..solvers.refits import refit_scores
from .base import Problem
from .candidates import Family
from .criterion import (
    ENOUGH,
    FEWEST,
    GAIN,
    STEP,
    Judgement,
    Labels,
    disagreement,
    hold_out,
    judge_classes,
    judge_values,
    judged_rows,
    leave_one_out,
    share_divergence,
    split_in_halves,
)

_REACHES = 1.0 - 1e-9  # 1, up to rounding
_OTHERS = 2000  # unlabelled rows on which fits are compared
_MANY = 300  # labels; with more their errors say enough, and fits on halves of them take long


class ClosedForm:
    """Judges candidates of p = 2 by the squared loss, whose held-out scores have a closed form.

    Parameters
    ----------
    problem : Problem
        All of the data.
    classes : bool
        Whether targets are classes.
    seed : int
        Decides the halves of the labels, and the unlabelled rows on which fits are compared.
    """

    def __init__(self, problem: Problem, *, classes: bool, seed: int) -> None:
        self._problem = problem
        known = problem.known if classes else None
        copies = copies_in_order(problem.X[problem.labeled])
        self._labels = Labels(problem.targets, problem.weights, known, copies)
        random = np.random.default_rng(seed)
        self._order = rows_in_order(problem.X[problem.labeled])
        self._halves = None
        few = len(problem.known) <= _MANY
        if classes and few and np.bincount(problem.known).min() >= ENOUGH:
            self._halves = split_in_halves(problem.known, random, copies)
        unlabeled = np.flatnonzero(~problem.labeled)
        size = min(_OTHERS, len(unlabeled))
        if size < len(unlabeled):
            unlabeled = unlabeled[rows_in_order(problem.X[unlabeled])]
        self.others = np.sort(random.choice(unlabeled, size, replace=False))
        self._best: dict[bool, tuple[float, Any, float]] = {}  # with and without a graph

    @property
    def can_judge(self) -> bool:
        """Whether enough labels of classes can be left out; copies of a row count once."""
        rows, copies = judged_rows(self._labels), self._labels.copies
        return len(rows if copies is None else np.unique(copies.place[rows])) >= FEWEST

    def judge(self, family: Family) -> list[Judgement]:
        """Return the judgement of every candidate."""
        assert family.phi is not None and family.others is not None
        if not family.phi.shape[1]:  # a kernel of zeros: all say the same
            return [Judgement(0.0, float("nan")) for _ in family.Cs]
        n_labeled = len(self._labels.targets)
        others = family.others() if len(self.others) else np.empty((0, family.phi.shape[1]))
        with blas_threads_for(n_labeled, n_labeled):
            judged = self._judge(family.phi, others, family.Cs)
        graph = family.parameters["C_graph"] > 0
        priced = []
        for more, judgement in enumerate(judged):
            price = STEP * (family.steps + more) + 0.5 * GAIN * n_labeled * graph
            if self._labels.codes is None:  # in regression the loss has another scale
                price = 0.0
            loss = judgement.loss + price
            if graph not in self._best or loss < self._best[graph][0]:
                self._best[graph] = (loss, family.phi, float(family.Cs[more]))
            priced.append(judgement._replace(loss=loss))
        return priced

    def judge_fits(self, family: Family) -> list[Judgement]:
        """Return the judgement of every candidate of classes by fits with the model's own loss.

        The closed form is that of the squared loss, for which another C is best. At that C a model
        with the hinge loss may predict a single class. The part of a label in f at its own row is
        at most C k, times the slope of the loss; k is the kernel's mean value there. Where that is
        below 1, a label alone does not reach its own margin, and such a C is left out.
        """
        labels, phi, loss = self._labels, family.phi, self._problem.loss
        assert labels.codes is not None and phi is not None
        folds = calibration_folds(labels.codes, labels.weights, labels.copies)
        held = labels.at(np.concatenate([test for _, test in folds]))
        reach = loss.lipschitz * float(np.square(phi).sum()) / len(phi)
        judged = []
        for more, C in enumerate(family.Cs.tolist()):
            if C * reach < _REACHES:
                judged.append(Judgement(np.inf, float("nan")))
                continue
            scores = refit_scores(phi, labels.targets, C * labels.weights, loss, folds)
            judgement = judge_classes(scores, held)
            judged.append(judgement._replace(loss=judgement.loss + STEP * more))
        return judged

    def held_out_scores(self) -> dict[bool, float]:
        """Return R^2 on held-out targets of the best candidates with and without a graph.

        Candidates are compared by the squared loss. These scores use the model's own loss, which
        may be another.
        """
        scores, n_labeled = {}, len(self._labels.targets)
        labels = self._labels.at(self._order)
        with blas_threads_for(n_labeled, n_labeled):
            for graph, (_, phi, C) in self._best.items():
                found = hold_out(phi[self._order], labels, C, self._problem.loss)
                scores[graph] = judge_values(found, labels).score
        return scores

    def _judge(
        self, phi: NDArray[np.float64], others: NDArray[np.float64], Cs: NDArray[np.float64]
    ) -> list[Judgement]:
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
