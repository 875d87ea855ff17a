"""What the judge is asked for each kind of targets: folds, verdicts, and the answer of no one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..judge.columns import judge_labels, judge_quantities
from ..judge.folds import Splitter
from ..judge.mixture import Verdict, judge_classes
from ..members import Known, Member
from ..members.member import Kind
from .odds import labels_only, odds_of


def splitter_of(kind: Kind, seed: int, y: NDArray[Any]) -> Splitter:
    """Return what makes folds of labels: every fold has its share of every class or rare label."""
    from sklearn.model_selection import KFold  # slow to import

    if kind == "quantities":
        return lambda n: KFold(n, shuffle=True, random_state=seed) if n <= len(y) else None
    strata = y if kind == "classes" else rarest_label(y)
    most = np.unique(strata, return_counts=True)[1].max()
    return lambda n: _Strata(n, strata, seed) if n <= most else None


class _Strata:
    """Folds that have their share of every stratum, whatever labels they are drawn for."""

    def __init__(self, n_splits: int, strata: NDArray[Any], seed: int) -> None:
        self._about, self._strata = (n_splits, seed), strata

    def split(self, X: Any, y: Any = None) -> Any:
        """Return pairs of rows to train on, and of rows that are held out."""
        from sklearn.model_selection import StratifiedKFold  # slow to import

        n_splits, seed = self._about
        folds = StratifiedKFold(n_splits, shuffle=True, random_state=seed)
        return folds.split(X, self._strata)


def judge(members: Sequence[Member], known: Known) -> Verdict:
    """Return the weights of the members."""
    held = np.array([member.held for member in members])
    odds, without = odds_of(members, known), [member.without for member in members]
    rest = odds, known.folds, without, labels_only(members)
    if known.kind == "classes":
        sizes = np.array([member.size for member in members])
        return judge_classes(held, known.codes, known.weights, sizes, *rest)
    judged = judge_labels if known.kind == "labels" else judge_quantities
    return judged(held, known.targets, known.cells, *rest)


def prior_of(known: Known) -> NDArray[np.float64]:
    """Return the prediction for a row that is far from all others."""
    return known.usual if known.classes is not None else known.mean_targets


def rarest_label(y: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the rarest label that each row has; -1 for rows without any.

    Examples
    --------
    >>> rarest_label(np.array([[1.0, 1.0], [1.0, 0.0], [0.0, np.nan]]))
    array([ 1,  0, -1])
    """
    has = y == 1
    rare = np.argsort(has.sum(axis=0), kind="stable")
    first = has[:, rare].argmax(axis=1)
    return np.where(has.any(axis=1), rare[first], -1)
