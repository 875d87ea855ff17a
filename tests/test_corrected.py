"""Models corrected over a graph: how they are held out, judged and used."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    BaggingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_predict,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from graphkm import GraphCorrectedClassifier, GraphCorrectedRegressor
from graphkm.graphs import KNN, Anchors
from graphkm.judge.held_out import CHOSEN, class_shares, hold_out_classes, hold_out_values
from graphkm.machines.checks import GraphWarning
from graphkm.model_selection import LabeledStratifiedKFold


def rings(n=300, labels=60, seed=0, classes=2):
    """Return rings around each other, which no straight line separates: X, y, truth."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % classes
    angle = rng.uniform(0, 2 * np.pi, n)
    radius = 1.0 + truth + rng.normal(scale=0.1, size=n)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    return X, np.where(np.arange(n) < labels, truth, -1), truth


def wave(n=300, labels=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, size=(n, 2))
    truth = np.sin(2 * X[:, 0]) + X[:, 1]
    return X, np.where(np.arange(n) < labels, truth, np.nan), truth


def corrected(estimator=None, **changes):
    estimator = LogisticRegression() if estimator is None else estimator
    return GraphCorrectedClassifier(estimator, **({"random_state": 0} | changes))


class TestHeldOut:
    @pytest.mark.parametrize("classes", [2, 3])
    def test_out_of_fold_is_cross_val_predict(self, classes):
        X, _, y = rings(90, classes=classes)
        folds = list(StratifiedKFold(4).split(X, y))
        for model in (LogisticRegression(), make_pipeline(StandardScaler(), LogisticRegression())):
            held = hold_out_classes(model, X, y, None, folds, np.unique(y))
            expected = cross_val_predict(model, X, y, cv=folds, method="predict_proba")
            assert held.how == "out-of-fold" and held.heat is None
            np.testing.assert_allclose(held.values, expected)
            alone = clone(model).fit(X, y).predict_proba(X)
            np.testing.assert_allclose(class_shares(held, X, np.unique(y)), alone)

    @pytest.mark.parametrize("classes", [2, 3])
    def test_scores_become_shares_by_the_best_heat(self, classes):
        X, _, y = rings(90, classes=classes)
        folds = list(StratifiedKFold(4).split(X, y))
        held = hold_out_classes(LinearSVC(), X, y, None, folds, np.unique(y))
        scores = cross_val_predict(LinearSVC(), X, y, cv=folds, method="decision_function")
        if classes == 2:
            scores = np.column_stack([-scores / 2, scores / 2])

        def shares(heat):
            e = np.exp(heat * (scores - scores.max(axis=1, keepdims=True)))
            return e / e.sum(axis=1, keepdims=True)

        def cost(heat):
            return -np.log(shares(heat)[np.arange(90), y]).mean()

        np.testing.assert_allclose(held.values, shares(held.heat))
        # Heats are searched for between e^-3 and e^4 over the mean size of the scores.
        tried = np.exp(np.linspace(-3, 4, 50)) / np.abs(scores).mean()
        assert cost(held.heat) <= min(map(cost, tried)) + 1e-4

    def test_regression_is_cross_val_predict(self):
        X, _, y = wave(80)
        folds = list(KFold(4).split(X))
        held = hold_out_values(Ridge(), X, y, None, folds)
        np.testing.assert_allclose(held.values[:, 0], cross_val_predict(Ridge(), X, y, cv=folds))

    def test_a_forest_has_its_bag_if_every_row_was_left_out(self, monkeypatch):
        X, _, y = rings(60)
        monkeypatch.setattr("graphkm.judge.held_out.BAG", len(y))
        folds = list(StratifiedKFold(3).split(X, y))
        many, few = (RandomForestClassifier(n, random_state=0) for n in (60, 3))
        held = hold_out_classes(many, X, y, None, folds, np.unique(y))
        assert held.how == "out-of-bag"
        bag = clone(many).set_params(oob_score=True).fit(X, y).oob_decision_function_
        np.testing.assert_allclose(held.values, bag)
        held = hold_out_classes(few, X, y, None, folds, np.unique(y))
        assert held.how == "out-of-fold" and held.model.oob_score is False
        expected = cross_val_predict(few, X, y, cv=folds, method="predict_proba")
        np.testing.assert_allclose(held.values, expected)

    @pytest.mark.parametrize("oob_score", [False, True])
    def test_few_labels_make_no_bag(self, oob_score):
        X, _, y = rings(60)
        forest = RandomForestClassifier(60, oob_score=oob_score, random_state=0)
        folds = list(StratifiedKFold(3).split(X, y))
        assert hold_out_classes(forest, X, y, None, folds, np.unique(y)).how == "out-of-fold"

    def test_the_bag_of_a_regressor(self, monkeypatch):
        X, _, y = wave(60)
        monkeypatch.setattr("graphkm.judge.held_out.BAG", len(y))
        folds = list(KFold(3).split(X))
        how = [
            hold_out_values(RandomForestRegressor(n, random_state=0), X, y, None, folds).how
            for n in (60, 3)
        ]
        assert how == ["out-of-bag", "out-of-fold"]

    @pytest.mark.parametrize(
        "estimator",
        [
            BaggingClassifier(random_state=0, warm_start=True),
            RandomForestClassifier(9, bootstrap=False, random_state=0),
            make_pipeline(StandardScaler(), RandomForestClassifier(9, random_state=0)),
        ],
    )
    def test_no_bag(self, estimator):
        X, y, _ = rings(60, 40)
        assert corrected(estimator).fit(X, y).held_out_by_ == "out-of-fold"

    @pytest.mark.long
    def test_own_machine_leaves_one_out(self):
        X, y, _ = rings()
        assert GraphCorrectedClassifier().fit(X, y).held_out_by_ == "out-of-fold"
        X, y, _ = rings(CHOSEN + 100, CHOSEN)
        assert GraphCorrectedClassifier().fit(X, y).held_out_by_ == "leave-one-out"

    def test_weights_reach_the_last_step_of_a_pipeline(self):
        X, _, y = rings(90)
        weights = np.random.default_rng(0).integers(1, 4, 90).astype(float)
        folds = list(StratifiedKFold(3).split(X, y))
        pipe = make_pipeline(StandardScaler(), LogisticRegression())
        held = hold_out_classes(pipe, X, y, weights, folds, np.unique(y))
        for train, test in folds:
            part = clone(pipe).fit(
                X[train], y[train], logisticregression__sample_weight=weights[train]
            )
            np.testing.assert_allclose(held.values[test], part.predict_proba(X[test]))

    def test_weights_that_the_estimator_cannot_use(self):
        X, y, _ = rings()
        with pytest.raises(ValueError, match="takes none") as caught:
            corrected(KNeighborsClassifier()).fit(X, y, sample_weight=np.ones(len(y)))
        assert "folds" not in str(caught.value)

    def test_a_class_missing_in_a_fold(self):
        X, _, y = rings(60, classes=3)
        y = np.array(["a", "b", "c"])[y]
        folds = [(np.flatnonzero(y != "b"), np.flatnonzero(y == "b"))]
        folds += [(np.flatnonzero(y != "x")[::2], np.flatnonzero(y != "b"))]
        for model in (LogisticRegression(), LinearSVC()):
            held = hold_out_classes(model, X, y, None, folds, np.unique(y))
            assert held.values.shape == (60, 3) and np.isfinite(held.values).all()
            assert (held.values[y == "b"].argmax(axis=1) != 1).all()


def literal_choice(X, y, folds, held, Cs, epsilons, weights=None):
    """Return all candidates' losses and the choice, with a dense refit of each field."""
    labeled = np.flatnonzero(y >= 0)
    K = y.max() + 1
    T = np.eye(K)[y[labeled]]
    s = np.ones(len(labeled)) if weights is None else weights[labeled]
    s = s / s.mean()  # C is in units of the weights
    L = KNN().nodes(X).laplacian.toarray().astype(float)
    candidates, lost, wrong = [(1.0, 0.0, None)], [], []
    candidates += [
        (share, C, eps)
        for C in Cs
        for eps in sorted(epsilons, reverse=True)
        for share in (1.0, 0.0)
    ]
    for share, C, eps in candidates:
        base = share * held + (1 - share) / K
        outputs = base.copy()
        for train, test in folds:
            if eps is None:
                continue
            at = labeled[train]
            A = eps * np.eye(len(X)) + L
            A[at, at] += C * s[train]
            b = np.zeros((len(X), K))
            b[at] = C * s[train, None] * (T - base)[train]
            outputs[test] += np.linalg.solve(A, b)[labeled[test]]
        away, wanted = outputs - 1 / K, T - 1 / K
        factor = max(0.0, (away * wanted).sum() / (away**2).sum())
        squares = ((factor * away - wanted) ** 2).sum(axis=1)
        wrong.append(s @ (outputs.argmax(axis=1) != y[labeled]))
        lost.append((outputs.argmax(axis=1) != y[labeled]) + 0.5 * squares)
    lost = np.array(lost)
    means = np.average(lost, axis=1, weights=s)
    best = 0
    for i, (share, _, _) in enumerate(candidates):
        gain = lost[0] - lost[i]
        mean = np.average(gain, weights=s)
        error = np.sqrt((s**2 * (gain - mean) ** 2).sum()) / s.sum()
        needed = max(0.0, 1.25 * error - 0.002) if share else 2.25 * error
        sure = mean > needed and wrong[i] <= wrong[0]
        if sure and (best == 0 or means[i] < means[best]):
            best = i
    return means, best


class TestChoice:
    @pytest.mark.parametrize("classes", [2, 3])
    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize(
        "estimator", [LogisticRegression(), DecisionTreeClassifier(random_state=0)]
    )
    def test_strength_is_chosen_on_hidden_labels(self, classes, weighted, estimator):
        X, y, _ = rings(150, 50, classes=classes)
        cv = StratifiedKFold(4)
        weights = np.random.default_rng(1).integers(1, 4, 150).astype(float) if weighted else None
        model = corrected(estimator, cv=cv, Cs=[0.3, 5.0], epsilons=[0.02, 0.3])
        model.fit(X, y, sample_weight=weights)
        known = y[:50]
        folds = list(cv.split(X[:50], known))
        held = np.empty((50, classes))
        for train, test in folds:
            w = None if weights is None else weights[train]
            part = clone(estimator).fit(X[train], known[train], sample_weight=w)
            held[test] = part.predict_proba(X[test])
        means, best = literal_choice(X, y, folds, held, [0.3, 5.0], [0.02, 0.3], weights)
        np.testing.assert_allclose(model.cv_results_["criterion"], means, atol=5e-3)
        assert model.best_index_ == best

    def test_the_sum_of_both_decides(self):
        X, y, _ = rings(labels=7)
        tree = DecisionTreeClassifier(max_depth=1, random_state=0)
        model = corrected(tree, Cs=[3.0], epsilons=[0.01]).fit(X, y)
        new = rings(seed=5)[0]
        share = model.estimator_.predict_proba(new)[:, 1] + model.field_(new)[:, 0]
        np.testing.assert_array_equal(model.predict(new), share > 0.5)
        np.testing.assert_allclose(model.decision_function(new), 5 * (2 * share - 1))
        assert (model.predict(new) != model.estimator_.predict(new)).any()

    def test_a_field_helps_on_rings(self):
        X, y, truth = rings()
        model = corrected().fit(X, y)
        alone = LogisticRegression().fit(X[:60], y[:60])
        hidden = slice(60, None)
        assert model.score(X[hidden], truth[hidden]) > alone.score(X[hidden], truth[hidden]) + 0.3
        assert model.unlabeled_gain_ > 0.3
        np.testing.assert_array_equal(model.transduction_[:60], truth[:60])

    def test_no_field_leaves_the_estimator_as_it_is(self):
        """A tree that is sure and right of every held-out label leaves a field nothing to win."""
        y = np.arange(60) % 2
        X = np.column_stack([y + np.linspace(0.0, 0.2, 60), np.sin(np.arange(60.0))])
        tree = DecisionTreeClassifier(random_state=0)
        np.testing.assert_array_equal(cross_val_predict(tree, X, y), y)
        model = corrected(tree).fit(X, y)
        assert (model.cv_results_["criterion"][0], model.best_score_) == (0.0, 1.0)
        assert model.field_ is None and model.unlabeled_gain_ == 0
        np.testing.assert_array_equal(model.predict(X), model.estimator_.predict(X))
        np.testing.assert_allclose(model.predict_proba(X), model.estimator_.predict_proba(X))

    @pytest.mark.long
    @pytest.mark.parametrize("labels", [50, pytest.param(200, marks=pytest.mark.slow)])
    def test_noise_is_safe(self, labels):
        lost = []
        for seed in range(10):
            rng = np.random.default_rng(seed)
            X = rng.normal(size=(600, 8))
            truth = (X[:, 0] + rng.normal(scale=0.7, size=600) > 0).astype(int)
            model = corrected(random_state=seed).fit(
                X[:400], np.where(np.arange(400) < labels, truth[:400], -1)
            )
            rest = slice(labels, None)
            lost.append(
                model.estimator_.score(X[rest], truth[rest]) - model.score(X[rest], truth[rest])
            )
        assert np.mean(lost) <= 0.005

    @pytest.mark.long
    @pytest.mark.parametrize("labels", [50, pytest.param(200, marks=pytest.mark.slow)])
    def test_labels_without_any_rule_are_safe(self, labels):
        lost = []
        for seed in range(10):
            rng = np.random.default_rng(seed)
            X, truth = rng.normal(size=(600, 8)), rng.integers(2, size=600)
            model = corrected(random_state=seed).fit(
                X[:400], np.where(np.arange(400) < labels, truth[:400], -1)
            )
            rest = slice(labels, None)
            lost.append(
                model.estimator_.score(X[rest], truth[rest]) - model.score(X[rest], truth[rest])
            )
        assert np.mean(lost) <= 0.005

    @pytest.mark.parametrize(
        "scoring",
        ["balanced_accuracy", "neg_log_loss", "roc_auc", lambda model, X, y: model.score(X, y)],
    )
    def test_scoring(self, scoring):
        X, y, truth = rings()
        model = corrected(scoring=scoring).fit(X, y)
        results = model.cv_results_
        assert model.score(X, truth) > 0.8
        assert model.best_score_ == results["mean_test_score"][model.best_index_]
        best = np.argmax(results["mean_test_score"])
        assert results["rank_test_score"][best] == 1

    def test_scoring_with_many_labels_judges_every_fold(self):
        X, y, _ = rings(4000, 4000)
        model = corrected(scoring="balanced_accuracy", cv=2, Cs=[3.0], epsilons=[0.5])
        assert model.fit(X, y).field_ is not None
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            X, y, _ = rings(7000, 7000)
            assert model.fit(X, y).unlabeled_gain_ > 0.3

    def test_probabilities_are_judged_as_they_are_given(self):
        """A field far from its labels is small; stretched, it is sure."""
        X, y, truth = rings(600, 40)
        model = corrected(scoring="neg_log_loss", epsilons=[0.5], Cs=[0.3]).fit(X, y)
        assert model.field_ is not None
        assert np.log(model.predict_proba(X)[np.arange(600), truth]).mean() > np.log(0.6)

    @pytest.mark.parametrize(
        "cv",
        [
            3,
            StratifiedKFold(3),
            LabeledStratifiedKFold(3, random_state=0),
            [(np.arange(30), np.arange(30, 60)), (np.arange(30, 60), np.arange(30))],
        ],
    )
    def test_cv(self, cv):
        X, y, truth = rings()
        assert corrected(cv=cv).fit(X, y).score(X, truth) > 0.85

    @pytest.mark.parametrize(
        ("cv", "why"),
        [
            (ShuffleSplit(3, random_state=0), "never holds out"),
            (1, ">= 2"),
            ("five", "cv"),
            ([(np.arange(30), np.arange(30, 99)), (np.arange(30, 60), np.arange(30))], "labelled"),
        ],
    )
    def test_bad_cv(self, cv, why):
        X, y, _ = rings()
        with pytest.raises(ValueError, match=why):
            corrected(cv=cv).fit(X, y)


class TestScikitLearn:
    @pytest.mark.long
    def test_grid_search_reaches_into_both(self):
        X, _, truth = rings(120)
        grid = {"estimator__C": [0.1, 1.0], "graph__n_neighbors": [3, 8]}
        search = GridSearchCV(corrected(), grid, cv=2).fit(X, truth)
        best = search.best_estimator_
        assert search.best_params_["estimator__C"] == best.estimator_.C
        assert best.graph == KNN(n_neighbors=search.best_params_["graph__n_neighbors"])

    @pytest.mark.parametrize("graph", ["knn", Anchors(n_anchors=60)])
    def test_clone_pickle_and_pipeline(self, graph):
        X, y, _ = rings()
        model = clone(corrected(SVC(), graph=graph))
        expected = model.fit(X, y).predict_proba(X + 0.01)
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.predict_proba(X + 0.01), expected)
        pipe = make_pipeline(StandardScaler(), clone(model)).fit(X, y)
        assert pipe.predict(X).shape == (300,)

    @pytest.mark.parametrize("library", ["pandas", "polars"])
    def test_frames(self, library):
        X, y, _ = rings()
        named = pytest.importorskip(library).DataFrame({"a": X[:, 0], "b": X[:, 1]})
        model = corrected(DecisionTreeClassifier(max_depth=3, random_state=0)).fit(named, y)
        assert (
            list(model.feature_names_in_) == list(model.estimator_.feature_names_in_) == ["a", "b"]
        )
        plain = clone(model).fit(X, y)
        np.testing.assert_array_equal(model.predict_proba(named), plain.predict_proba(X))
        np.testing.assert_array_equal(model.transduction_, plain.transduction_)

    @pytest.mark.parametrize("graph", [KNN(), Anchors(n_anchors=60)])
    def test_sparse_rows(self, graph):
        X, y, _ = rings()
        sparse, dense = (corrected(graph=graph).fit(rows, y) for rows in (sp.csr_matrix(X), X))
        for rows in (sp.csr_matrix(X + 0.02), sp.coo_array(X + 0.02)):
            np.testing.assert_allclose(
                sparse.predict_proba(rows), dense.predict_proba(X + 0.02), atol=1e-5
            )

    @pytest.mark.long
    @pytest.mark.parametrize("n_jobs", [1, 2])
    @pytest.mark.parametrize("graph", ["knn", "anchors"])
    def test_same_seed_same_bits(self, graph, n_jobs):
        X, y, _ = rings(1500, classes=3)
        one = GraphCorrectedClassifier(graph=graph, random_state=3, n_jobs=1).fit(X, y)
        other = GraphCorrectedClassifier(graph=graph, random_state=3, n_jobs=n_jobs).fit(X, y)
        new = rings(seed=1)[0]
        np.testing.assert_array_equal(one.predict_proba(new), other.predict_proba(new))

    @pytest.mark.parametrize("unit", [1e-6, 1e6])
    def test_units_of_rows(self, unit):
        X, y, _ = rings()
        scaled = make_pipeline(StandardScaler(), LogisticRegression())
        one, other = corrected(scaled).fit(X, y), corrected(scaled).fit(unit * X, y)
        np.testing.assert_allclose(other.predict_proba(unit * X), one.predict_proba(X), atol=1e-4)

    def test_float32_rows(self):
        X, y, _ = rings()
        one, other = corrected().fit(X, y), corrected().fit(X.astype(np.float32), y)
        np.testing.assert_allclose(other.predict_proba(X), one.predict_proba(X), atol=1e-3)


class TestLabels:
    @pytest.mark.long
    @pytest.mark.parametrize("missing", [None, np.nan, pd.NA, "?"])
    def test_text_and_missing_labels(self, missing):
        X, y, truth = rings()
        names = np.array(["in", "outside"], dtype=object)
        text = names[truth]
        text[60:] = missing
        model = corrected(unlabeled="?").fit(X, text)
        plain = corrected().fit(X, y)
        np.testing.assert_array_equal(model.predict(X), names[plain.predict(X)])
        np.testing.assert_array_equal(model.transduction_, names[plain.transduction_])
        assert model.score(X, text) == 1.0

    def test_minus_one_and_one_are_ambiguous(self):
        X, _, truth = rings()
        with pytest.raises(ValueError, match="unlabeled=None"):
            corrected().fit(X, 2 * truth - 1)
        assert corrected(unlabeled=None).fit(X, 2 * truth - 1).classes_.tolist() == [-1, 1]

    @pytest.mark.long
    def test_rows_of_weight_zero_do_not_count(self):
        X, y, truth = rings()
        weights = np.ones(300)
        weights[::7] = 0
        wrong = np.where(weights == 0, 1 - truth, truth)
        labels = [np.where(y < 0, -1, each) for each in (truth, wrong)]
        models = [corrected().fit(X, each, sample_weight=weights) for each in labels]
        models.append(corrected().fit(X, np.where(weights == 0, -1, labels[0])))
        for other in models[1:]:
            np.testing.assert_allclose(
                other.predict_proba(X), models[0].predict_proba(X), atol=1e-5
            )
            assert other.best_score_ == models[0].best_score_
        targets = np.where(y < 0, np.nan, X[:, 0])
        other = np.where(weights == 0, 9.0, targets)
        other[60:] = np.nan
        models = [
            GraphCorrectedRegressor(Ridge(), random_state=0).fit(X, each, sample_weight=weights)
            for each in (targets, other)
        ]
        np.testing.assert_allclose(*(m.predict(X) for m in models), atol=1e-5)

    @pytest.mark.parametrize(
        "weights", [-np.ones(300), np.zeros(300), np.full(300, np.nan), np.arange(300) >= 60]
    )
    def test_bad_weights(self, weights):
        X, y, _ = rings()
        with pytest.raises(ValueError, match=r"(?i)sample.weight"):
            corrected().fit(X, y, sample_weight=weights)


class TestRegression:
    def test_units_of_targets(self):
        X, y, _ = wave()
        for estimator, graph in ((None, "knn"), (LinearRegression(), "knn"), (None, "anchors")):
            one, other = (
                GraphCorrectedRegressor(estimator, graph=graph, random_state=0).fit(X, each)
                for each in (y, 1e4 * y + 1e6)
            )
            assert other.best_params_ == pytest.approx(one.best_params_, nan_ok=True)
            np.testing.assert_allclose(other.predict(X), 1e4 * one.predict(X) + 1e6, rtol=1e-5)

    def test_a_field_helps(self):
        X, y, truth = wave(labels=150)
        model = GraphCorrectedRegressor(LinearRegression(), random_state=0).fit(X, y)
        assert model.score(X, truth) > model.estimator_.score(X, truth) + 0.1
        assert model.unlabeled_gain_ > 0.05
        np.testing.assert_array_equal(model.transduction_[:150], truth[:150])

    @pytest.mark.parametrize("estimator", [None, Ridge()])
    def test_constant_targets(self, estimator):
        X, y, _ = wave()
        model = GraphCorrectedRegressor(estimator, random_state=0).fit(X, y * 0 + 7)
        np.testing.assert_allclose(model.predict(X + 5), 7.0)

    @pytest.mark.parametrize("labels", [1, 2, 3])
    @pytest.mark.parametrize("estimator", [None, Ridge()])
    def test_few_targets(self, estimator, labels):
        X, y, _ = wave(labels=labels)
        with pytest.warns(GraphWarning, match=f"{labels} labelled rows"):
            model = GraphCorrectedRegressor(estimator, random_state=0).fit(X, y)
        assert np.isfinite(model.predict(X)).all() and np.isnan(model.unlabeled_gain_)
        assert np.isfinite(model.field_.values).all()

    def test_three_columns_of_targets(self):
        X, _, _ = wave()
        with pytest.raises(ValueError, match="1d"):
            GraphCorrectedRegressor().fit(X, np.column_stack([X, X[:, 0]]))

    def test_no_regressor(self):
        X, y, _ = wave()
        with pytest.raises(ValueError, match="must be a regressor"):
            GraphCorrectedRegressor(SVC()).fit(X, y)


class Picky(ClassifierMixin, BaseEstimator):
    """Needs this many rows."""

    def __init__(self, rows=0):
        self.rows = rows

    def fit(self, X, y):
        if len(y) < self.rows:
            raise ValueError(f"{len(y)} rows are too few.")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))


class TestBadInput:
    def test_neither_probabilities_nor_scores(self):
        X, y, _ = rings()
        with pytest.raises(ValueError, match="predict_proba nor decision_function"):
            corrected(LinearRegression()).fit(X, y)

    def test_an_estimator_that_fails_on_folds(self):
        X, y, _ = rings()
        assert corrected(Picky(54)).fit(X, y).held_out_by_ == "out-of-fold"
        with pytest.raises(ValueError, match=r"2 folds .* 30 rows are too few"):
            corrected(Picky(55)).fit(X, y)
        with pytest.raises(ValueError, match="59 rows are too few") as caught:
            corrected(Picky(60)).fit(X[:100], np.where(np.arange(100) < 59, y[:100], -1))
        assert "folds" not in str(caught.value)

    def test_a_single_label_of_a_class(self):
        X, y, _ = rings()
        y[(y == 1) & (np.arange(300) > 1)] = -1
        with pytest.raises(ValueError, match="Label more rows of every class"):
            corrected().fit(X, y)
        assert np.isfinite(GraphCorrectedClassifier().fit(X, y).predict_proba(X)).all()

    @pytest.mark.parametrize("estimator", [None, LogisticRegression(), SVC()])
    @pytest.mark.parametrize("labels", [2, 7])
    def test_too_few_labels_to_judge(self, estimator, labels):
        X, y, truth = rings(300, labels)
        with pytest.warns(GraphWarning, match=r"flows from the labels with eps=0.003"):
            model = GraphCorrectedClassifier(estimator, random_state=0).fit(X, y)
        assert model.best_params_ == {"estimator_weight": 0.0, "C": 0.0, "eps": 0.003}
        assert np.isnan(model.unlabeled_gain_) and model.field_.values.any()
        assert (model.transduction_[:labels] == truth[:labels]).all()
        one = clone(model).set_params(Cs=[2.0], epsilons=[0.2]).fit(X, y)  # no warning
        assert one.best_params_["C"] == 2.0

    def test_a_single_class(self):
        X, y, _ = rings()
        with pytest.raises(ValueError, match="only one class"):
            corrected().fit(X, np.where(y == 0, 0, -1))
        with pytest.raises(ValueError, match="None of the 300 rows"):
            corrected().fit(X, np.full(300, -1))

    @pytest.mark.parametrize("graph", ["knn", "anchors"])
    @pytest.mark.parametrize("estimator", [None, LogisticRegression()])
    @pytest.mark.parametrize(
        "X",
        [np.array([[0.0], [1.0]]), np.ones((40, 2)), np.repeat(np.eye(4), 700, axis=0)],
        ids=["two rows", "identical", "one-hot"],
    )
    def test_rows_without_distances(self, X, estimator, graph):
        truth = np.arange(len(X)) % 2
        truth[300:] = -1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GraphWarning)
            model = GraphCorrectedClassifier(estimator, graph=graph).fit(X, truth)
        assert np.isfinite(model.predict_proba(X)).all()
        assert np.isfinite(model.predict_proba(X + 3)).all()

    def test_missing_values_of_rows(self):
        X, y, _ = rings()
        X[3, 1] = np.nan
        wide = np.hstack([X, X, X])
        model = corrected(HistGradientBoostingClassifier())
        with pytest.raises(ValueError, match=r"1 of its columns \(1\).*SimpleImputer"):
            model.fit(X, y)
        with pytest.raises(ValueError, match=r"1 values .*1 of its columns \(b\)"):
            model.fit(pd.DataFrame(X, columns=["a", "b"]), y)
        with pytest.raises(ValueError, match=r"3 of its columns \(1, 3, 5\)"):
            model.fit(wide, y)
        named = corrected().fit(pd.DataFrame(rings()[0], columns=["a", "b"]), y)
        with pytest.raises(ValueError, match=r"\(b\)"):
            named.predict(pd.DataFrame(X, columns=["a", "b"]))

    @pytest.mark.parametrize("library", ["pandas", "polars"])
    def test_texts_belong_before_the_model(self, library):
        frames = pytest.importorskip(library)
        X, y, truth = rings()
        frame = frames.DataFrame(
            {"word": np.array(["no", "yes"])[truth], "a": X[:, 0], "b": X[:, 1]}
        )
        to_numbers = make_column_transformer(
            (OneHotEncoder(sparse_output=False), ["word"]), (StandardScaler(), ["a", "b"])
        )
        inside = corrected(make_pipeline(to_numbers, LogisticRegression()))
        with pytest.raises(ValueError, match=r"\(word\).*make_pipeline\(preparation, GraphCor"):
            inside.fit(frame, y)
        before = make_pipeline(to_numbers, corrected(LogisticRegression())).fit(frame, y)
        assert before.score(frame, truth) == 1.0  # the word is the answer

    @pytest.mark.parametrize("graph", ["knn", "anchors"])
    @pytest.mark.parametrize("scale", [1e3, 1e9, 1e100, 1e150])
    def test_far_rows_are_the_estimators(self, graph, scale):
        X, y, _ = rings(labels=7)
        model = corrected(KNeighborsClassifier(2), graph=graph, Cs=[3.0], epsilons=[0.5]).fit(X, y)
        far = scale * X[:20]
        shares = model.estimator_.predict_proba(far)
        np.testing.assert_allclose(
            model.decision_function(far), 5 * (shares[:, 1] - shares[:, 0]), atol=250 / scale**2
        )

    @pytest.mark.parametrize("estimator", [None, LogisticRegression()])
    def test_ten_rows_all_labelled(self, estimator):
        X, _, truth = rings(10)
        model = GraphCorrectedClassifier(estimator, random_state=0).fit(X, truth)
        np.testing.assert_array_equal(model.transduction_, truth)

    @pytest.mark.filterwarnings("ignore:.*too few to judge")
    def test_two_hundred_classes(self):
        rng = np.random.default_rng(0)
        truth = np.arange(1200) % 200
        X = rng.normal(size=(200, 5))[truth] + 0.05 * rng.normal(size=(1200, 5))
        y = np.where(np.arange(1200) < 400, truth, -1)
        model = GraphCorrectedClassifier(random_state=0).fit(X, y)
        assert model.predict_proba(X).shape == (1200, 200) and model.score(X, truth) > 0.9

    @pytest.mark.parametrize("wrong", [{"Cs": []}, {"Cs": [0]}, {"epsilons": [-1]}, {"degree": 0}])
    def test_bad_parameters(self, wrong):
        X, y, _ = rings()
        with pytest.raises(ValueError, match=next(iter(wrong))):
            corrected(**wrong).fit(X, y)

    def test_rows_whose_squares_overflow(self):
        X, y, _ = rings()
        with pytest.raises(ValueError, match="StandardScaler"):
            corrected(KNeighborsClassifier()).fit(1e200 * X, y)

    def test_one_row(self):
        with pytest.raises(ValueError, match="1 sample"):
            GraphCorrectedRegressor().fit([[1.0]], [1.0])
