"""The front door with data that are odd, scarce or repeated, and with models that fail."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_moons
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_info, threadpool_limits

from graphkm import KNN, Anchors, SemiSupervisedClassifier, SemiSupervisedRegressor

X, TRUTH = make_moons(120, noise=0.2, random_state=0)
MANY = np.where(np.arange(120) < 60, TRUTH, -1)  # enough for corrections
FEW = np.where(np.arange(120) < 20, TRUTH, -1)
QUICK = SemiSupervisedClassifier(LogisticRegression(), random_state=0)


# ------------------------------------------------------------------ frames


@pytest.mark.parametrize("graph", ["knn", Anchors(20)])
@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_a_model_that_knows_columns_by_name_is_corrected(kind, graph):
    frames = pytest.importorskip(kind)
    frame = frames.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    by_name = make_column_transformer((StandardScaler(), ["a"]), ("passthrough", ["b"]))
    model = SemiSupervisedClassifier(
        make_pipeline(by_name, LogisticRegression()), graph=graph, random_state=0
    )
    model.fit(frame, MANY)
    assert any(each.name.startswith("correction") for each in model.members_)
    assert model.score(frame, TRUTH) > 0.9


# ------------------------------------------------------------------ rare classes


@pytest.mark.parametrize("estimator", [LogisticRegression(), LinearSVC(), None])
@pytest.mark.parametrize("labels", [12, 60])
def test_a_class_with_one_label(labels, estimator):
    y = np.where(np.arange(120) < labels, 0, -1)
    y[0] = 1
    model = SemiSupervisedClassifier(estimator, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1, atol=1e-6)
    assert model.best_score_ > 0.7


def test_one_target_has_no_score():
    model = SemiSupervisedRegressor(Ridge(), random_state=0)
    model.fit(X, np.where(np.arange(120) == 0, 3.0, np.nan))
    np.testing.assert_allclose(model.predict(X), 3.0)
    assert np.isnan(model.best_score_)


# ------------------------------------------------------------------ copies


def test_copies_of_labelled_rows_do_not_show_labels_to_a_forest():
    """Twenty points without signal, each six times: a bag holds copies of what it holds out."""
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(20, 4)), np.arange(20) % 2
    forest = RandomForestClassifier(30, oob_score=True, random_state=0)
    model = SemiSupervisedClassifier(forest, graph=None, random_state=0)
    model.fit(np.repeat(rows, 6, axis=0), np.repeat(labels, 6))
    assert model.members_[0].held_out_by == "out-of-fold"
    assert model.best_score_ < 0.8


def test_rounding_does_not_show_labels():
    """Every point has as many labels of each class: nobody can do better than half of them."""
    rows = np.repeat(X[:20], 6, axis=0)
    model = SemiSupervisedClassifier(None, random_state=0).fit(rows, np.arange(120) % 2)
    assert model.best_score_ == pytest.approx(0.5)
    assert min(each.log_loss for each in model.members_) == pytest.approx(np.log(2), abs=0.01)


# ------------------------------------------------------------------ the order of rows


def test_a_forest_does_not_see_the_order_of_rows():
    forest = RandomForestClassifier(10, random_state=0)
    model = SemiSupervisedClassifier(forest, graph=None, random_state=0)
    order = np.random.default_rng(1).permutation(120)
    one, other = clone(model).fit(X, FEW), clone(model).fit(X[order], FEW[order])
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=1e-12)
    np.testing.assert_array_equal(one.transduction_[order], other.transduction_)


def test_given_folds_count_the_labelled_rows_as_they_come():
    """One fold holds out all rows of one class: what is left is no task, and says nothing."""
    rows, y = X[::-1], np.where(np.arange(120) < 30, TRUTH[::-1], -1)
    first = TRUTH[::-1][:30] == 1
    halves = [(np.flatnonzero(~first), np.flatnonzero(first))]
    halves.append(halves[0][::-1])
    model = SemiSupervisedClassifier(LogisticRegression(), graph=None, cv=halves)
    masks = [(~first, first), (first, ~first)]
    for cv in (halves, masks):
        found = clone(model).set_params(cv=cv).fit(rows, y)
        assert found.members_[0].log_loss == pytest.approx(np.log(2))


# ------------------------------------------------------------------ errors for people


class NeedsTwenty(LogisticRegression):
    def fit(self, X, y, sample_weight=None):
        if len(y) < 20:
            raise ValueError("20 rows are needed.")
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"estimator": NeedsTwenty()},
            "'NeedsTwenty' could not be fitted to .* 20 rows are needed. Label",
        ),
        ({"estimator": KNeighborsClassifier(30)}, "could not be fitted to 10 folds"),
        ({"estimator": LogisticRegression}, "estimator must be 'auto', a model"),
        ({"estimator": 3}, "estimator must be 'auto', a model"),
        ({"estimator": ["auto", LogisticRegression()]}, "estimator must be 'auto', a model"),
        ({"cv": []}, "never holds out 20 of the 20"),
        ({"cv": [(np.arange(20), np.arange(20))]}, "trains on rows that it holds out"),
        ({"cv": [(np.arange(10), np.array([-1]))]}, "count the labelled rows only"),
        ({"cv": [(np.arange(10), np.arange(10, 30))]}, "names row 29"),
    ],
)
def test_what_is_wrong_is_said(options, words):
    with pytest.raises(ValueError, match=words):
        clone(QUICK).set_params(**options).fit(X, FEW)


# ------------------------------------------------------------------ parameters and threads


def test_a_grid_search_can_set_the_neighbours():
    search = GridSearchCV(
        clone(QUICK).set_params(graph=KNN(4)), {"graph__n_neighbors": [3, 5]}, cv=2
    )
    assert search.fit(X, TRUTH).best_params_["graph__n_neighbors"] in (3, 5)


class Counting(LogisticRegression):
    """Keeps the number of OpenMP's threads at its fit."""

    def fit(self, X, y, sample_weight=None):
        self.threads_ = [
            pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "openmp"
        ]
        return super().fit(X, y, sample_weight)


def test_models_of_few_labels_do_not_wait_for_threads():
    with threadpool_limits(2, user_api="openmp"):
        model = SemiSupervisedClassifier(Counting(), graph=None).fit(X, FEW)
    assert set(model.mixture_.parts[0].model.model.threads_) <= {1}


def test_odd_rows_leave_no_warnings():
    for rows in (np.ones((120, 2)), X * 1e-30, X * 1e30, (10 * X).astype(int), X[:, :1]):
        for model, y in (
            (QUICK, MANY),
            (SemiSupervisedRegressor(Ridge()), np.where(MANY < 0, np.nan, X[:, 0])),
        ):
            assert np.isfinite(clone(model).fit(rows, y).mixture_.at(rows, rows)).all()
    frame = pd.DataFrame(X).astype("Float64").rename(columns=str)
    assert clone(QUICK).fit(frame, MANY).score(frame, TRUTH) > 0.9
