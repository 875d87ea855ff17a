"""Judging candidates by leave-one-out in closed form: a grid costs little more than one fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._threads import blas_threads_for
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
        self._labels = Labels(problem.targets, problem.weights, known)
        random = np.random.default_rng(seed)
        self._halves = None
        few = len(problem.known) <= _MANY
        if classes and few and np.bincount(problem.known).min() >= ENOUGH:
            self._halves = split_in_halves(problem.known, random)
        unlabeled = np.flatnonzero(~problem.labeled)
        size = min(_OTHERS, len(unlabeled))
        self.others = np.sort(random.choice(unlabeled, size, replace=False))
        self._best: dict[bool, tuple[float, Any, float]] = {}  # with and without a graph

    @property
    def can_judge(self) -> bool:
        """Whether enough labels of classes can be left out."""
        return len(judged_rows(self._labels)) >= FEWEST

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

    def held_out_scores(self) -> dict[bool, float]:
        """Return R^2 on held-out targets of the best candidates with and without a graph.

        Candidates are compared by the squared loss. These scores use the model's own loss, which
        may be another.
        """
        scores, n_labeled = {}, len(self._labels.targets)
        with blas_threads_for(n_labeled, n_labeled):
            for graph, (_, phi, C) in self._best.items():
                found = hold_out(phi, self._labels, C, self._problem.loss)
                scores[graph] = judge_values(found, self._labels).score
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
