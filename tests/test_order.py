"""The order of rows from which folds are drawn: it follows from what the rows hold."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_moons
from sklearn.model_selection import StratifiedKFold

from graphkm import SemiSupervisedClassifier
from graphkm._util.order import rows_in_order
from graphkm.judge.folds import most_folds
from graphkm.neighbours.distinct import copies_in_order

X = np.random.default_rng(0).normal(size=(50, 4))


def test_rows_go_from_the_middle_outwards():
    away = np.linalg.norm(X - X.mean(axis=0), axis=1)
    np.testing.assert_array_equal(rows_in_order(X), np.argsort(away))


@pytest.mark.parametrize(
    "other",
    [
        X[:, ::-1],
        np.hstack([X, X]),
        1000 * X,
        X + 7,
        sp.csr_array(X),
        np.asfortranarray(X),
        X.astype(np.float32),
    ],
    ids=["columns", "twice", "units", "shift", "sparse", "Fortran", "float32"],
)
def test_what_says_nothing_new_keeps_the_order(other):
    np.testing.assert_array_equal(rows_in_order(other), rows_in_order(X))


def test_rows_that_only_differ_in_which_column_is_one():
    """Their lengths are all the same; the columns' shares tell them apart."""
    rows = np.eye(4)[[0, 1, 1, 2, 2, 2, 3, 3, 3, 3]]
    permuted = np.random.default_rng(1).permutation(10)
    for kind in (np.asarray, sp.csr_array):
        again = rows[permuted][rows_in_order(kind(rows[permuted]))]
        np.testing.assert_array_equal(again, rows[rows_in_order(kind(rows))])


def test_huge_and_tiny_rows():
    for size in (1e200, 1e-200):
        assert sorted(rows_in_order(size * X)) == list(range(50))


def test_folds_hold_the_same_rows_in_any_order():
    y, permuted = np.arange(50) % 3, np.random.default_rng(1).permutation(50)

    def folds(rows, known):
        split = StratifiedKFold(5, shuffle=True, random_state=0)
        copies = copies_in_order(rows)
        found = most_folds(known, 5, lambda _: lambda n: split if n == 5 else None, copies)
        for train, test in found:
            assert sorted([*train, *test]) == list(range(50))
        return {frozenset(rows[test, 0].tolist()) for _, test in found}

    assert folds(X, y) == folds(X[permuted], y[permuted])


@pytest.mark.long
def test_the_judge_does_not_see_the_order_of_rows():
    rows, truth = make_moons(150, noise=0.3, random_state=0)
    y, permuted = (
        np.where(np.arange(150) < 40, truth, -1),
        np.random.default_rng(1).permutation(150),
    )
    one = SemiSupervisedClassifier(random_state=0, n_jobs=1).fit(rows, y)
    other = SemiSupervisedClassifier(random_state=0, n_jobs=1)
    other.fit(rows[permuted], y[permuted])
    lost, same = ({each.name: each.log_loss for each in model.members_} for model in (one, other))
    assert same == pytest.approx(lost, rel=1e-4)
    assert other.best_score_ == one.best_score_
