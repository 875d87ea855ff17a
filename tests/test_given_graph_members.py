"""Members on given graphs, against literal sums, and the odd cases of their rows and labels."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

import graphkm.members.along_edges as along_edges
import graphkm.members.averages as averages
from graphkm import SemiSupervisedClassifier, SemiSupervisedRegressor
from graphkm.fields.spectra import leading_subspace
from graphkm.fields.system import FieldSystem
from graphkm.graphs.given import GivenGraph
from graphkm.graphs.given_edges import Ids, weights_of
from graphkm.members.averages import unit_rows
from graphkm.members.communities import damped

pytestmark = pytest.mark.usefixtures("one_model")


def two_groups(n=120, seed=0, inside=0.15, outside=0.01):
    """Return classes, and edges that mostly join rows of one class."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    share = np.where(truth[:, None] == truth, inside, outside)
    return truth, np.argwhere(np.triu(rng.random((n, n)) < share, 1))


def few(truth, per_class=5):
    y = np.full(len(truth), -1)
    for c in np.unique(truth):
        y[np.flatnonzero(truth == c)[:per_class]] = c
    return y


def right(model, truth):
    return np.mean(model.transduction_ == truth)


# ------------------------------------------------------------------ literal sums


def test_a_damped_step_is_its_matrix():
    rng = np.random.default_rng(0)
    graph = GivenGraph("random", sp.random_array((50, 50), density=0.05, rng=rng))
    W = graph.joined.toarray().astype(np.float64)
    even = W.sum(axis=1) + W.sum(axis=1).mean()
    rows = rng.normal(size=(50, 3)).astype(np.float32)
    found = damped(graph, FieldSystem(graph.similarity))(rows)
    np.testing.assert_allclose(found, W / np.sqrt(np.outer(even, even)) @ rows, atol=1e-5)


@pytest.mark.parametrize("n", [5, 300])
def test_a_leading_subspace_is_that_of_the_eigenvectors(n):
    """Eigenvalues apart from the others: 1, -0.9 and 0.8, then none above 0.3."""
    rng = np.random.default_rng(0)
    base = np.linalg.qr(rng.normal(size=(n, n)))[0]
    values = np.r_[1.0, -0.9, 0.8, rng.uniform(-0.3, 0.3, n - 3)]
    matrix = (base * values) @ base.T
    found = leading_subspace(lambda rows: (matrix @ rows).astype(np.float32), n, 3)
    np.testing.assert_allclose(np.abs(found.T @ base[:, :3]), np.eye(3), atol=1e-3)


def test_far_averages_are_told_by_the_logistic_regression_of_scikit_learn():
    """Features of labelled rows and coefficients give the shares that the model itself gives."""
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(40, 30)).astype(np.float32)
    labeled, y = np.arange(12), np.arange(12) % 3
    features = averages.row_features("name", rows, labeled)
    line = LogisticRegression(C=10.0, max_iter=1000, tol=1e-8).fit(features.phi, y)
    size = np.sqrt(np.square(rows[labeled]).sum() / 12)
    same = LogisticRegression(C=10.0, max_iter=1000, tol=1e-8).fit(rows[labeled] / size, y)
    found = np.exp(averages._shares(features, line))
    np.testing.assert_allclose(found, same.predict_proba(rows / size), atol=2e-3)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("entries", [2**26, 1000])
def test_wide_rows_are_mixed_where_their_averages_would_be_large(storage, entries, monkeypatch):
    """Angles between rows stay about the same."""
    monkeypatch.setattr(averages, "_ENTRIES", entries)
    rows = np.random.default_rng(0).normal(size=(10, 400))
    rows[1] = rows[0] + 0.1 * rows[2]
    found = unit_rows(storage(rows), 5, 1024)
    assert found.shape == ((10, 400) if entries > 4000 else (10, 100))
    np.testing.assert_allclose(np.square(found).sum(axis=1), 1.0, rtol=1e-5)
    assert found[0] @ found[1] > 0.9 > 0.5 > abs(found[0] @ found[3])


@pytest.mark.parametrize(("n_labels", "width"), [(20, 30), (31, 20)])
def test_many_columns_and_labels_are_mixed(n_labels, width):
    rows = np.random.default_rng(0).normal(size=(40, 30))
    assert unit_rows(rows, n_labels, most=20).shape == (40, width)


# ------------------------------------------------------------------ communities


def test_communities_are_found_where_hardly_any_neighbour_is_labelled():
    rng = np.random.default_rng(0)
    n = 3000
    truth = rng.integers(0, 3, n)
    u, v = rng.integers(0, n, (2, 20 * n))
    kept = (truth[u] == truth[v]) | (rng.random(len(u)) < 0.3)
    model = SemiSupervisedClassifier(random_state=0)
    model.fit(None, few(truth, 4), affinity=np.column_stack([u, v])[kept])
    assert right(model, truth) > 0.9
    assert model.members_[0].name.startswith("communities")


# ------------------------------------------------------------------ odd rows and labels


@pytest.mark.parametrize(("room", "kinds"), [(0, {"edges"}), (-1, {"field"})])
def test_large_graphs_have_fields_and_others_surroundings(room, kinds, monkeypatch):
    """A kernel of the largest number of labels that count has room, or lacks one entry."""
    truth, pairs = two_groups()
    n_edges = GivenGraph("edges", weights_of(pairs, Ids(len(truth)))).n_edges
    monkeypatch.setattr(along_edges, "LARGEST", 8)
    monkeypatch.setattr(along_edges, "ENTRIES", max(len(truth), n_edges) * 8 + room)
    model = SemiSupervisedClassifier(random_state=0).fit(None, few(truth), affinity=pairs)
    names = {member.name for member in model.members_}
    assert {name.split(",")[0].split()[0] for name in names} - {"communities"} == kinds
    assert right(model, truth) > 0.9


def test_ten_rows():
    truth = np.array([0, 1] * 5)
    edges = [(i, i + 2) for i in range(8)]
    y = np.where(np.arange(10) < 4, truth, -1)
    model = SemiSupervisedClassifier(random_state=0).fit(None, y, affinity=edges)
    assert right(model, truth) == 1.0
    rows = np.random.default_rng(0).normal(size=(10, 2))
    assert right(SemiSupervisedClassifier(random_state=0).fit(rows, y, affinity=edges), truth) > 0.7


@pytest.mark.parametrize("value", [0.0, 1.0])
@pytest.mark.parametrize("kind", [SemiSupervisedClassifier, SemiSupervisedRegressor])
def test_rows_that_say_nothing_leave_the_edges(kind, value):
    truth, edges = two_groups()
    y = np.where(np.arange(120) < 30, truth, np.nan)
    model = kind(None, random_state=0).fit(np.full((120, 40), value), y, affinity=edges)
    assert np.mean(np.round(model.transduction_) == truth) > 0.9


@pytest.mark.parametrize("kind", [SemiSupervisedClassifier, SemiSupervisedRegressor])
def test_labelled_texts_without_words_whose_neighbours_have_none_either(kind):
    truth, edges = two_groups()
    words = np.random.default_rng(0).normal(size=(120, 40)) * (np.arange(120) >= 30)[:, None]
    y = np.where(np.arange(120) < 30, truth, np.nan)
    apart = edges[(edges >= 30).all(axis=1)]
    model = kind(None, random_state=0).fit(sp.csr_array(words), y, affinity=apart)
    assert np.isfinite(model.transduction_).all()


def test_two_rows_with_fewer_labels_than_columns():
    rows = np.ones((2, 3)) * [[1], [2]]
    model = SemiSupervisedClassifier(None, random_state=0).fit(rows, [0, 1], affinity=[(0, 1)])
    assert model.transduction_.tolist() == [0, 1]


def test_labelled_rows_without_edges_change_nothing_of_others():
    truth, edges = two_groups()
    y = few(truth)
    alone = np.flatnonzero(y >= 0)[:2]
    kept = edges[~np.isin(edges, alone).any(axis=1)]
    model = SemiSupervisedClassifier(random_state=0).fit(None, y, affinity=kept)
    assert right(model, truth) > 0.9
    assert (model.transduction_[alone] == truth[alone]).all()


def test_labels_of_weight_0_count_for_nothing():
    truth, edges = two_groups()
    y, weights = few(truth), np.ones(len(truth))
    wrong = np.flatnonzero(y < 0)[:20]
    lied = y.copy()
    lied[wrong] = 1 - truth[wrong]
    weights[wrong] = 0.0
    model = SemiSupervisedClassifier(random_state=0).fit(None, lied, weights, affinity=edges)
    plain = SemiSupervisedClassifier(random_state=0).fit(None, y, np.ones(120), affinity=edges)
    np.testing.assert_allclose(model.label_distributions_, plain.label_distributions_, atol=1e-9)


def test_frames_of_polars_have_a_column_of_ids():
    polars = pytest.importorskip("polars")
    truth, edges = two_groups()
    names = np.array([f"r{i}" for i in range(len(truth))])
    values = np.random.default_rng(0).normal(size=(len(truth), 2))
    rows = polars.DataFrame({"id": names, "a": values[:, 0], "b": values[:, 1]})
    links = polars.DataFrame({"source": names[edges[:, 0]], "target": names[edges[:, 1]]})
    model = SemiSupervisedClassifier(random_state=0).fit(rows, few(truth), affinity=links, ids="id")
    plain = SemiSupervisedClassifier(random_state=0).fit(values, few(truth), affinity=edges)
    np.testing.assert_allclose(model.label_distributions_, plain.label_distributions_, atol=1e-6)


@pytest.mark.long
@pytest.mark.parametrize("scale", [1e-4, 1e4])
def test_the_unit_of_a_quantity_does_not_matter(scale):
    truth, edges = two_groups()
    rng = np.random.default_rng(0)
    rows, y = rng.normal(size=(120, 3)), np.full(120, np.nan)
    target = truth + 0.1 * rng.normal(size=120)
    y[:30] = target[:30]
    model = SemiSupervisedRegressor(random_state=0).fit(rows, y, affinity=edges)
    other = SemiSupervisedRegressor(random_state=0).fit(rows, scale * y, affinity=edges)
    np.testing.assert_allclose(other.transduction_ / scale, model.transduction_, atol=1e-3)


@pytest.mark.dear
@pytest.mark.parametrize("n_jobs", [2, 8])
def test_threads_do_not_matter(n_jobs):
    truth, edges = two_groups()
    rows = np.random.default_rng(0).normal(size=(120, 3))
    found = [
        SemiSupervisedClassifier(random_state=0, n_jobs=n).fit(rows, few(truth), affinity=edges)
        for n in (1, n_jobs)
    ]
    one, many = (model.label_distributions_ for model in found)
    np.testing.assert_allclose(many, one, atol=1e-6)


def test_the_weights_unit_does_not_matter():
    truth, edges = two_groups()
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(edges))
    found = [
        SemiSupervisedClassifier(random_state=0).fit(
            None, few(truth), affinity=np.column_stack([edges, weights * scale])
        )
        for scale in (1.0, 10.0)
    ]
    one, ten = (model.label_distributions_ for model in found)
    np.testing.assert_allclose(ten, one, atol=1e-4)


@pytest.mark.long
def test_a_frame_and_its_values_are_the_same_rows():
    pandas = pytest.importorskip("pandas")
    truth, edges = two_groups()
    values = np.random.default_rng(0).normal(size=(120, 3)) + truth[:, None]
    rows = pandas.DataFrame(values, columns=list("abc"))
    for more in ({}, {"affinity": edges}):
        one = SemiSupervisedClassifier(random_state=0).fit(values, few(truth), **more)
        two = SemiSupervisedClassifier(random_state=0).fit(rows, few(truth), **more)
        np.testing.assert_array_equal(one.transduction_, two.transduction_)
        np.testing.assert_allclose(two.predict_proba(rows), one.predict_proba(values), atol=1e-9)
