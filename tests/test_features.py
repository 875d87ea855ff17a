"""Eigenvectors of graphs and kernels that fade along them, against literal computations."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics.pairwise import rbf_kernel

from graphkm.fields import spectra as spectrum
from graphkm.fields.spectra import KernelSpectrum, leading_vectors
from graphkm.fields.system import FieldSystem
from graphkm.graphs import KNN
from graphkm.members import features
from graphkm.members.features import LANDMARKS, MOST, graph_features

KINDS = ["kernel", "neighbours", "near"]


# ------------------------------------------------------------------ eigenvectors


@pytest.mark.parametrize("n", [60, 700])  # both sides of what is computed whole
@pytest.mark.parametrize("kind", ["sparse", "dense"])
def test_they_span_what_numpy_finds(n, kind):
    X, _ = make_blobs(n, centers=5, cluster_std=2.0, random_state=0)
    W = rbf_kernel(X, gamma=0.05)
    W = np.where(W > 0.3, W, 0.0)
    scale = 1 / np.sqrt(W.sum(axis=1))
    S = scale[:, None] * W * scale
    values, vectors = np.linalg.eigh(S)
    m = 5
    assert values[-m] - values[-m - 1] > 1e-3  # else the space is not unique
    found = leading_vectors(sp.csr_array(S) if kind == "sparse" else S, m)
    wanted = vectors[:, -m:]
    np.testing.assert_allclose(found @ found.T, wanted @ wanted.T, atol=2e-3)


def test_no_more_than_there_are():
    assert leading_vectors(np.eye(4), 9).shape == (4, 4)


def test_the_graph_of_all_pairs():
    X = np.random.default_rng(0).normal(size=(30, 3))
    W = rbf_kernel(X, gamma=0.7)
    S = W / np.sqrt(np.outer(W.sum(axis=1), W.sum(axis=1)))
    wanted = np.linalg.eigh(S)[1][:, -3:]
    found = KernelSpectrum(X, 0.7, 3).vectors
    np.testing.assert_allclose(found @ found.T, wanted @ wanted.T, atol=1e-9)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_all_pairs_at_other_rows(storage):
    """u(x) = sum_j k(x, x_j) u_j / (value sqrt(d(x) d_j)), written out."""
    rng = np.random.default_rng(0)
    X, others = rng.normal(size=(30, 3)), rng.normal(size=(7, 3))
    found = KernelSpectrum(storage(X), 0.7, 3)
    W, to = rbf_kernel(X, gamma=0.7), rbf_kernel(others, X, gamma=0.7)
    degrees, own = W.sum(axis=1), to.sum(axis=1)
    S = W / np.sqrt(np.outer(degrees, degrees))
    u = found.vectors
    values = np.diag(u.T @ S @ u)
    wanted = to / np.sqrt(np.outer(own, degrees)) @ u / values
    np.testing.assert_allclose(found.at(storage(others)), wanted, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found.at(storage(X)), u, atol=1e-4)  # no other at its own rows
    far = found.at(storage(np.full((2, 3), 1e6)))
    assert np.isfinite(far).all()


# ------------------------------------------------------------------ features


@pytest.fixture(scope="module")
def two_moons():
    X, _ = make_moons(160, noise=0.1, random_state=0)
    labeled = np.random.default_rng(0).permutation(160)[:24]
    return KNN().nodes(X, labeled), labeled


def test_values_at_the_nodes_are_those_of_the_features(two_moons):
    graph, _ = two_moons
    found = list(graph_features(graph, 2))
    assert list(dict.fromkeys(each.kind for each in found)) == KINDS
    for each in found:
        v = np.random.default_rng(0).normal(size=(each.phi.shape[1], 2))
        at_rows = graph.rows @ each.values(v)
        np.testing.assert_allclose(at_rows, each.phi @ v, atol=2e-2)
        assert 0.2 < np.square(each.phi).sum(axis=1).mean() < 5


def test_what_fades_is_the_inverse_of_the_laplacian(two_moons):
    """(eps + L)^(-1), divided by the roots of the degrees, up to a factor."""
    graph, labeled = two_moons
    found = [each for each in graph_features(graph, 2) if each.kind == "near"]
    k = round(1.2 * graph.nodes.n_neighbors)
    own = KNN(n_neighbors=k).nodes(graph.nodes.points)
    laplacian = np.eye(160) - own.similarity.toarray()
    for each, eps in zip(found[-3:], (0.1, 0.01, 0.001), strict=True):
        wanted = own.scale[:, None] * np.linalg.inv(eps * np.eye(160) + laplacian) * own.scale
        wanted = wanted[np.ix_(labeled, labeled)]
        wanted = wanted / np.diag(wanted).mean()
        np.testing.assert_allclose(each.phi @ each.phi.T, wanted, atol=5e-3)


# ------------------------------------------------------------------ work


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

    for module in (spectrum, features):
        monkeypatch.setattr(module, "leading_vectors", vectors)
    monkeypatch.setattr(FieldSystem, "inverse", inverse)

    def count(n):
        for each in (pairs, entries, columns):
            each.clear()
        X, _ = make_moons(n, noise=0.1, random_state=0)
        for _ in graph_features(KNN().nodes(X, np.arange(12)), 2):
            pass
        return sum(entries), max(pairs), sum(columns)

    return count


@pytest.mark.long
@pytest.mark.parametrize("n", [LANDMARKS, MOST])
def test_work_has_no_jump_up_and_all_pairs_are_few(work, n):
    entries, pairs, columns = work(n)
    more, more_pairs, more_columns = work(n + 1)
    assert pairs == more_pairs == LANDMARKS
    assert more <= 1.01 * entries and more_columns <= 1.01 * columns
    assert entries <= 2 * more


@pytest.mark.long
def test_between_the_steps_work_grows_with_the_rows(work):
    """All pairs are those of landmarks, and linear systems are as many."""
    entries, _, columns = work(LANDMARKS + 1)
    more, _, more_columns = work(MOST)
    assert more <= MOST / LANDMARKS * entries
    assert more_columns <= MOST / LANDMARKS * columns
