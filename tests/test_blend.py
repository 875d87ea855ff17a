"""Fields that follow clusters, and how they are added to a model, against literal computations."""

from __future__ import annotations

import warnings

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from graphkm.gkm.blend import Blend
from graphkm.gkm.clusters import FITS, ClusterFits, cluster_features
from graphkm.gkm.correction import FLOW, Correction, Known
from sklearn.datasets import make_blobs, make_moons
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from graphkm import GKMClassifierCV, GraphCorrectedClassifier
from graphkm.graphs import KNN, Anchors
from graphkm.machines.checks import GraphWarning
from graphkm.members.features import LARGEST, MOST, Features
from graphkm.solvers.field import FieldSystem
from graphkm.solvers.spectrum import KernelSpectrum, leading_vectors

CS = (0.01, 1.0, 10.0, 100.0)
KINDS = ("neighbours", "kernel", "near")


def squares(known):
    """Return a loss of two classes in one column: the squared error, and whether it is wrong."""

    def loss(columns, rows):
        wrong = (columns[:, 0] > 0.5) != (known[rows, 0] > 0.5)
        return np.square(columns - known[rows]).sum(axis=1) + wrong, wrong.astype(float)

    return loss


@pytest.fixture(scope="module")
def two_moons():
    X, truth = make_moons(160, noise=0.1, random_state=0)
    labeled = np.random.default_rng(0).permutation(160)[:24]
    graph = KNN().nodes(X, labeled)
    targets = truth[labeled].astype(float)[:, None]
    weights = np.random.default_rng(1).random(24) + 0.5
    said = np.clip(targets + np.random.default_rng(2).normal(scale=0.4, size=(24, 1)), 0, 1)
    return graph, labeled, weights / weights.mean(), targets, said


class TestVectors:
    @pytest.mark.parametrize("n", [60, 700])  # both sides of what is computed whole
    @pytest.mark.parametrize("kind", ["sparse", "dense"])
    def test_they_span_what_numpy_finds(self, n, kind):
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

    def test_no_more_than_there_are(self):
        assert leading_vectors(np.eye(4), 9).shape == (4, 4)

    def test_the_graph_of_all_pairs(self):
        X = np.random.default_rng(0).normal(size=(30, 3))
        W = rbf_kernel(X, gamma=0.7)
        S = W / np.sqrt(np.outer(W.sum(axis=1), W.sum(axis=1)))
        wanted = np.linalg.eigh(S)[1][:, -3:]
        found = KernelSpectrum(X, 0.7, 3).vectors
        np.testing.assert_allclose(found @ found.T, wanted @ wanted.T, atol=1e-9)

    @pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
    def test_all_pairs_at_other_rows(self, storage):
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


class TestFits:
    def test_held_out_outputs_are_those_of_fits_without_the_row(self):
        rng = np.random.default_rng(0)
        features = [rng.normal(size=(15, 4)), rng.normal(size=(15, 20))]
        weights, targets = rng.random(15) + 0.2, rng.random((15, 2))
        fits = ClusterFits(features, weights, targets)
        assert fits.held_out.shape == (2 * FITS, 15, 2)
        for place, found in enumerate(fits.held_out):
            phi, C = features[place // FITS], CS[place % FITS]
            said, means = np.zeros((15, 2)), np.zeros((15, 2))
            for i in range(15):
                rest = np.arange(15) != i
                mean = np.average(targets[rest], axis=0, weights=weights[rest])
                ridge = Ridge(alpha=1 / C, fit_intercept=False, solver="cholesky")
                ridge.fit(phi[rest], targets[rest] - mean, sample_weight=weights[rest])
                said[i], means[i] = ridge.predict(phi[i : i + 1])[0], mean
            left = targets - means
            size = (weights @ (said * left).sum(axis=1)) / (weights @ np.square(said).sum(axis=1))
            wanted = means + max(1.0, size) * said
            np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-8)

    def test_other_rows(self):
        rng = np.random.default_rng(1)
        features, weights = [rng.normal(size=(12, 3))], rng.random(12) + 0.2
        targets, others = rng.random((12, 1)), rng.normal(size=(5, 3))
        fits = ClusterFits(features, weights, targets)
        mean = np.average(targets, axis=0, weights=weights)
        for place, C in enumerate(CS):
            ridge = Ridge(alpha=1 / C, fit_intercept=False, solver="cholesky")
            ridge.fit(features[0], targets - mean, sample_weight=weights)
            wanted = ridge.predict(others).reshape(5, 1)
            sizes = (fits.at([others])[place] - mean) / wanted
            np.testing.assert_allclose(sizes, sizes[0, 0], rtol=1e-6)
            assert sizes[0, 0] >= 1 - 1e-9
        shares = np.array([0.0, 0.5, 0.0, 0.2])
        added = np.tensordot(shares, fits.at([others]) - mean, axes=1)
        every = [Features("near", features[0], others.__matmul__)]
        np.testing.assert_allclose(fits.blended(every, shares), added, rtol=1e-9)

    def test_values_at_the_nodes_are_those_of_the_features(self, two_moons):
        graph, *_ = two_moons
        found = list(cluster_features(graph))
        assert list(dict.fromkeys(each.kind for each in found)) == list(KINDS)
        for each in found:
            v = np.random.default_rng(0).normal(size=(each.phi.shape[1], 2))
            at_rows = graph.rows @ each.values(v)
            np.testing.assert_allclose(at_rows, each.phi @ v, atol=2e-2)
            assert 0.2 < np.square(each.phi).sum(axis=1).mean() < 5

    def test_what_fades_is_the_inverse_of_the_laplacian(self, two_moons):
        """(eps + L)^(-1), divided by the roots of the degrees, up to a factor."""
        graph, labeled, *_ = two_moons
        found = [each for each in cluster_features(graph) if each.kind == "near"]
        k = round(1.2 * graph.nodes.n_neighbors)
        own = KNN(n_neighbors=k).nodes(graph.nodes.points)
        laplacian = np.eye(160) - own.similarity.toarray()
        for each, eps in zip(found[-3:], (0.1, 0.01, 0.001), strict=True):
            wanted = own.scale[:, None] * np.linalg.inv(eps * np.eye(160) + laplacian) * own.scale
            wanted = wanted[np.ix_(labeled, labeled)]
            wanted = wanted / np.diag(wanted).mean()
            np.testing.assert_allclose(each.phi @ each.phi.T, wanted, atol=5e-3)


class TestBlend:
    def folds(self, n=24, k=4):
        place = np.random.default_rng(3).permutation(n) % k
        return [(np.flatnonzero(place != f), np.flatnonzero(place == f)) for f in range(k)]

    def test_shares_minimise_the_squared_error_over_the_simplex(self, two_moons):
        graph, _, weights, targets, said = two_moons
        blend = Blend(Known(graph, weights, targets, said, 0.5))
        judged = blend.judge(self.folds(), squares(targets))
        chosen = judged.candidates[-1]
        shares = np.array([chosen.estimator_weight, *chosen.field.values()])
        assert shares.sum() == pytest.approx(1.0) and shares.min() >= 0
        # The averages are those whose fields the other candidates are.
        every = list(cluster_features(graph))
        fits = ClusterFits([each.phi for each in every], weights, targets)
        kinds = np.repeat([each.kind for each in every], FITS)
        loss = squares(targets)
        lost = np.array([loss(each, np.arange(24))[0] @ weights for each in fits.held_out])
        parts = [said]
        for kind in KINDS:
            own = kinds == kind
            share = np.exp((lost[own].min() - lost[own]) / 0.3)
            share[share < 0.01] = 0
            parts.append(np.tensordot(share / share.sum(), fits.held_out[own], axes=1))
        mean = np.average(targets, axis=0, weights=weights)
        spread = np.average(np.square(targets - mean).sum(axis=1), weights=weights)
        w = cp.Variable(4, nonneg=True)
        left = sum(w[i] * (part - mean).ravel() for i, part in enumerate(parts))
        error = cp.sum(cp.multiply(weights, cp.square(left - (targets - mean).ravel())))
        price = spread * cp.sum_squares(w - np.array([1.0, 0.0, 0.0, 0.0]))
        cp.Problem(cp.Minimize(error + price), [cp.sum(w) == 1]).solve(solver="CLARABEL")
        np.testing.assert_allclose(shares, w.value, atol=2e-4)

    def test_what_is_said_of_a_fold_does_not_depend_on_its_labels(self, two_moons):
        graph, _, weights, targets, said = two_moons
        folds = self.folds()
        test = folds[1][1]
        outputs = []
        for flipped in (False, True):
            known = targets.copy()
            known[test] = 1 - known[test] if flipped else known[test]
            about = Known(graph, weights, known, said, 0.5)
            judged = Blend(about).judge(folds, squares(known))
            place = np.isin(judged.rows, test)
            outputs.append(np.array([each[place] for each in judged.outputs]))
        np.testing.assert_allclose(outputs[0], outputs[1], atol=1e-12)

    def test_weights_count_in_proportion(self, two_moons):
        graph, _, weights, targets, said = two_moons
        results = []
        for factor in (1.0, 1e-3, 1e4):
            blend = Blend(Known(graph, factor * weights, targets, said, 0.5))
            judged = blend.judge(self.folds(), squares(targets))
            results.append(blend.fit(judged.candidates[-1]).values)
        np.testing.assert_allclose(results[1], results[0], atol=1e-6)
        np.testing.assert_allclose(results[2], results[0], atol=1e-6)


class TestFlow:
    @pytest.mark.parametrize("n_anchors", [None, 40])
    def test_it_is_the_inverse_of_the_laplacian(self, two_moons, n_anchors):
        """scale (eps + L)^(-1) scale Z'S (y - mean), enlarged so that it fits the labels best."""
        rows, labeled, weights, targets, said = two_moons
        X = rows.nodes.points
        part = KNN() if n_anchors is None else Anchors(n_anchors=n_anchors)
        graph = part.nodes(X, labeled)
        system = FieldSystem(graph.similarity, tol=1e-6)
        known = Known(graph, weights, targets, said, 0.5)
        correction = Correction(known, system, [])
        field = correction.flow()
        z = graph.rows.toarray()
        flow = weights[:, None] * (targets - np.average(targets, axis=0, weights=weights))
        T = (1 + FLOW) * np.eye(len(graph.scale)) - graph.similarity.toarray()
        C = field.strength.C
        scaled = z * graph.scale
        if C:
            T += C * scaled.T @ (weights[:, None] * scaled)
        wanted = graph.scale[:, None] * np.linalg.solve(T, (C or 1.0) * scaled.T @ flow)
        told = z @ wanted
        size = (told * flow).sum() / (weights[:, None] * told**2).sum()
        np.testing.assert_allclose(field.values, size * wanted, rtol=2e-3, atol=1e-5)

    @pytest.mark.parametrize("factor", [1e-3, 1e4])
    def test_the_unit_of_weights_does_not_matter(self, factor):
        X, truth = make_moons(200, noise=0.1, random_state=0)
        y = np.where(np.arange(200) < 6, truth, -1)
        with pytest.warns(GraphWarning, match="flows"):
            one = GraphCorrectedClassifier(random_state=0).fit(X, y)
        with pytest.warns(GraphWarning, match="flows"):
            two = GraphCorrectedClassifier(random_state=0).fit(X, y, np.full(200, factor))
        np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X), atol=1e-4)

    @pytest.mark.parametrize("options", [{"epsilons": [0.5]}, {"Cs": [2.0, 9.0]}, {"degree": 2}])
    def test_what_is_asked_for_is_kept(self, options):
        X, truth = make_moons(200, noise=0.1, random_state=0)
        y = np.where(np.arange(200) < 6, truth, -1)
        with pytest.warns(GraphWarning, match="has C="):
            model = GraphCorrectedClassifier(random_state=0, **options).fit(X, y)
        assert model.estimator_weight_ == 1.0
        assert model.best_params_["eps"] in (0.01, 0.5)

    def test_labels_are_followed_even_in_tiny_graphs(self):
        for seed in range(10):
            rng = np.random.default_rng(seed)
            X, y = rng.normal(size=(12, 2)), np.full(12, -1)
            y[:6] = [0, 0, 0, 1, 1, 1]
            with pytest.warns(GraphWarning, match="flows from the labels"):
                model = GraphCorrectedClassifier(random_state=0).fit(X, y)
            assert (model.predict(X[:6]) == y[:6]).mean() >= 5 / 6

    def test_one_label_per_class_goes_around_the_moons(self):
        """A source that fades would leave the ends of the moons to the nearest label."""
        X, truth = make_moons(600, noise=0.05, random_state=0)
        scores = []
        for seed in range(5):
            rng = np.random.default_rng(seed)
            y = np.full(600, -1)
            for label in (0, 1):
                y[rng.choice(np.flatnonzero(truth == label))] = label
            scores.append(GKMClassifierCV(random_state=0).fit(X, y).score(X, truth))
        assert np.mean(scores) > 0.95

    @pytest.mark.parametrize("labels", [11, 12])
    def test_both_sides_of_four_labels_per_class(self, labels):
        X, blob = make_blobs(300, centers=3, cluster_std=0.5, random_state=0)
        y = np.full(300, -1)
        for i in range(labels):
            y[np.flatnonzero(blob == i % 3)[i // 3]] = i % 3
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            model = GraphCorrectedClassifier(random_state=0).fit(X, y)
        flows = any("flows from the labels" in str(each.message) for each in told)
        assert flows == np.isnan(model.best_score_) == (labels == 11)
        assert np.mean(model.transduction_ == blob) > 0.98

    def test_many_classes_with_one_label_each_are_not_judged(self):
        """Folds would leave out whole classes."""
        X, blob = make_blobs(300, centers=12, cluster_std=0.5, random_state=0)
        y = np.full(300, -1)
        for c in range(12):
            y[np.flatnonzero(blob == c)[: 2 if c < 3 else 1]] = c
        with pytest.warns(GraphWarning, match="15 labelled rows are too few .* takes 48 whose"):
            model = GraphCorrectedClassifier(random_state=0).fit(X, y)
        assert np.isnan(model.best_score_)


class TestModels:
    @pytest.mark.long
    @pytest.mark.parametrize(("labels", "least"), [(10, 0.08), (40, 0.02)])
    def test_clouds_in_many_dimensions(self, labels, least):
        """Neighbours are found by chance there, and a kernel machine needs many more labels."""
        gains = []
        for seed in range(4):
            rng = np.random.default_rng(seed)
            truth = rng.permutation(np.arange(600) % 2)
            X = rng.normal(size=(600, 100))
            X[:, 0] += np.where(truth, 1.7, -1.7)
            y = np.where(np.arange(600) < labels, truth, -1)
            model = GraphCorrectedClassifier(random_state=0).fit(X[:500], y[:500])
            alone = SVC().fit(X[:labels], truth[:labels])
            gains.append(model.score(X[500:], truth[500:]) - alone.score(X[500:], truth[500:]))
        assert np.mean(gains) > least

    @pytest.mark.long
    @pytest.mark.parametrize("n", [MOST, MOST + 1])
    def test_both_sides_of_the_largest_number_of_nodes(self, n):
        """Beyond it there are no eigenvectors of nearest neighbours."""
        X, truth = make_moons(n, noise=0.1, random_state=0)
        y = np.where(np.arange(n) < 60, truth, -1)
        model = GraphCorrectedClassifier(LogisticRegression(), random_state=0).fit(X, y)
        assert "kernel" in model.best_params_ and "near" in model.best_params_
        assert ("neighbours" in model.best_params_) == (n == MOST)
        assert np.mean(model.transduction_ == truth) > 0.97

    @pytest.mark.slow
    def test_many_clouds_in_many_dimensions(self):
        """Landmarks tell clouds apart as all rows do. One draw of 30 labels says little."""
        gains, n = [], MOST + 501
        for seed in range(4):
            rng = np.random.default_rng(seed)
            truth = rng.permutation(np.arange(n) % 2)
            X = rng.normal(size=(n, 60))
            X[:, 0] += np.where(truth, 1.7, -1.7)
            y = np.where(np.arange(n) < 30, truth, -1)
            model = GraphCorrectedClassifier(random_state=0).fit(X[:-500], y[:-500])
            alone = SVC().fit(X[:30], truth[:30])
            gains.append(model.score(X[-500:], truth[-500:]) - alone.score(X[-500:], truth[-500:]))
        assert np.mean(gains) > 0.03

    @pytest.mark.long
    def test_both_sides_of_the_reach_of_labels(self):
        """Beyond it, fields have a strength."""
        n = MOST + 100
        X, truth = make_moons(n, noise=0.1, random_state=0)
        for labels in (LARGEST, LARGEST + 1):
            y = np.where(np.arange(n) < labels, truth, -1)
            model = GraphCorrectedClassifier(LogisticRegression(), random_state=0).fit(X, y)
            assert ("near" in model.best_params_) == (labels == LARGEST)
            assert np.mean(model.transduction_ == truth) > 0.98

    @pytest.mark.slow
    def test_the_claim_is_honest(self):
        """Labels without any rule cannot be guessed, and no gain is claimed."""
        claims = []
        for seed in range(20):
            rng = np.random.default_rng(seed)
            X, truth = rng.normal(size=(200, 3)), rng.integers(2, size=200)
            y = np.where(np.arange(200) < 30, truth, -1)
            found = GraphCorrectedClassifier(LogisticRegression(), random_state=0).fit(X, y)
            claims.append(found.cv_results_["mean_test_score"])
        alone, *_, together = np.mean(claims, axis=0)
        assert together - alone < 0.04
