"""The work of fields that follow clusters has no jump where there are more rows."""

from __future__ import annotations

import numpy as np
import pytest
from graphkm.gkm.clusters import cluster_features
from sklearn.datasets import make_moons
from sklearn.linear_model import LogisticRegression

from graphkm import GraphCorrectedClassifier
from graphkm.graphs import KNN
from graphkm.members.features import LANDMARKS, MOST
from graphkm.solvers import spectrum
from graphkm.solvers.field import FieldSystem


@pytest.fixture
def work(monkeypatch):
    """Return a function from a number of rows to the entries of matrices that are decomposed, the
    largest matrix of all pairs, and the columns of linear systems."""
    pairs, entries, columns = [0], [], []
    solve = FieldSystem.inverse

    def vectors(similarity, m):
        n = similarity.shape[0]
        sparse = hasattr(similarity, "nnz")
        pairs.append(0 if sparse else n)
        entries.append(similarity.nnz if sparse else n * n)
        return np.eye(n, m)

    def inverse(system, nodes, eps):
        found = solve(system, nodes, eps)
        columns.append(found.size)
        return found

    monkeypatch.setattr(spectrum, "leading_vectors", vectors)
    monkeypatch.setattr(FieldSystem, "inverse", inverse)

    def count(n):
        for each in (pairs, entries, columns):
            each.clear()
        X, _ = make_moons(n, noise=0.1, random_state=0)
        for _ in cluster_features(KNN().nodes(X, np.arange(12))):
            pass
        return sum(entries), max(pairs), sum(columns)

    return count


@pytest.mark.parametrize("n", [LANDMARKS, MOST])
def test_work_has_no_jump_up_and_all_pairs_are_few(work, n):
    entries, pairs, columns = work(n)
    more, more_pairs, more_columns = work(n + 1)
    assert pairs == more_pairs == LANDMARKS
    assert more <= 1.01 * entries and more_columns <= 1.01 * columns
    assert entries <= 2 * more


def test_between_the_steps_work_grows_with_the_rows(work):
    """All pairs are those of landmarks, and linear systems are as many."""
    entries, _, columns = work(LANDMARKS + 1)
    more, _, more_columns = work(MOST)
    assert more <= MOST / LANDMARKS * entries
    assert more_columns <= MOST / LANDMARKS * columns


@pytest.mark.long
@pytest.mark.parametrize("n", [LANDMARKS, MOST])
def test_one_row_more_hardly_changes_decisions(n):
    X, truth = make_moons(n + 1, noise=0.15, random_state=0)
    y = np.where(np.arange(n + 1) < 60, truth, -1)
    model = GraphCorrectedClassifier(LogisticRegression(), random_state=0)
    said = [model.fit(X[:k], y[:k]).predict(X) for k in (n, n + 1)]
    assert np.mean(said[0] == said[1]) > 0.98
    assert min(np.mean(each == truth) for each in said) > 0.97
