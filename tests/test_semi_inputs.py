"""The front door with data that are odd, scarce or repeated, and with models that fail."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_array, csr_matrix
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_moons
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, ShuffleSplit, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_info, threadpool_limits

from graphkm import KNN, Anchors, SemiSupervisedClassifier, SemiSupervisedRegressor
from graphkm.model_selection import LabeledStratifiedKFold
from graphkm.positive import PositiveUnlabeledClassifier

X, TRUTH = make_moons(120, noise=0.2, random_state=0)
MANY = np.where(np.arange(120) < 60, TRUTH, -1)  # enough for corrections
FEW = np.where(np.arange(120) < 20, TRUTH, -1)
QUICK = SemiSupervisedClassifier(LogisticRegression(), random_state=0)


# ------------------------------------------------------------------ frames


@pytest.mark.long
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


@pytest.mark.long
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_says_the_same_as_its_numbers(library):
    frame = pytest.importorskip(library).DataFrame({"a": X[:, 0], "b": X[:, 1]})
    tree = DecisionTreeClassifier(max_depth=1, random_state=0)
    model = SemiSupervisedClassifier(tree, random_state=0).fit(frame, FEW)
    plain = clone(model).fit(X, FEW)
    assert list(model.feature_names_in_) == ["a", "b"]
    np.testing.assert_array_equal(model.predict_proba(frame), plain.predict_proba(X))
    np.testing.assert_array_equal(model.transduction_, plain.transduction_)


@pytest.mark.dear
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_texts_belong_before_the_model(library):
    frame = pytest.importorskip(library).DataFrame(
        {"word": np.array(["no", "yes"])[TRUTH], "a": X[:, 0], "b": X[:, 1]}
    )
    to_numbers = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["word"]), (StandardScaler(), ["a", "b"])
    )
    inside = SemiSupervisedClassifier(make_pipeline(to_numbers, LogisticRegression()))
    with pytest.raises(ValueError, match=r"\(word\).*make_pipeline\(preparation, SemiSup"):
        inside.fit(frame, FEW)
    before = make_pipeline(to_numbers, clone(QUICK)).fit(frame, FEW)
    assert before.score(frame, TRUTH) == 1.0  # the word is the answer


def test_missing_values_of_rows():
    holes = X.copy()
    holes[3, 1] = np.nan
    frame = pd.DataFrame(holes, columns=["a", "b"])
    model = SemiSupervisedClassifier(HistGradientBoostingClassifier())
    with pytest.raises(ValueError, match=r"1 of its columns \(1\).*SimpleImputer"):
        model.fit(holes, FEW)
    with pytest.raises(ValueError, match=r"1 values .*1 of its columns \(b\)"):
        model.fit(frame, FEW)
    with pytest.raises(ValueError, match=r"3 of its columns \(1, 3, 5\)"):
        model.fit(np.hstack([holes] * 3), FEW)
    named = clone(QUICK).fit(pd.DataFrame(X, columns=["a", "b"]), FEW)
    with pytest.raises(ValueError, match=r"\(b\)"):
        named.predict(frame)


# ------------------------------------------------------------------ other kinds of rows


@pytest.mark.long
@pytest.mark.parametrize("graph", [KNN(), Anchors(n_anchors=40)])
def test_sparse_rows(graph):
    model = clone(QUICK).set_params(graph=graph)
    sparse, dense = (clone(model).fit(rows, MANY) for rows in (csr_matrix(X), X))
    for rows in (csr_matrix(X + 0.02), coo_array(X + 0.02)):
        np.testing.assert_allclose(
            sparse.predict_proba(rows), dense.predict_proba(X + 0.02), atol=1e-5
        )


@pytest.mark.long
def test_float32_rows():
    one, other = clone(QUICK).fit(X, MANY), clone(QUICK).fit(X.astype(np.float32), MANY)
    np.testing.assert_allclose(other.predict_proba(X), one.predict_proba(X), atol=1e-3)


@pytest.mark.long
@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_units_of_rows(unit):
    scaled = make_pipeline(StandardScaler(), LogisticRegression())
    model = SemiSupervisedClassifier(scaled, random_state=0)
    one, other = clone(model).fit(X, MANY), clone(model).fit(unit * X, MANY)
    np.testing.assert_allclose(other.predict_proba(unit * X), one.predict_proba(X), atol=1e-4)


@pytest.mark.parametrize("graph", ["knn", "anchors"])
@pytest.mark.parametrize(
    "rows",
    [np.array([[0.0], [1.0]]), np.ones((40, 2)), np.repeat(np.eye(4), 700, axis=0)],
    ids=["two rows", "identical", "one-hot"],
)
def test_rows_without_distances(rows, graph):
    truth = np.arange(len(rows)) % 2
    truth[300:] = -1
    model = clone(QUICK).set_params(graph=graph).fit(rows, truth)
    assert np.isfinite(model.predict_proba(rows)).all()
    assert np.isfinite(model.predict_proba(rows + 3)).all()


def test_labels_of_copies_are_not_many():
    """A label is not held out while a copy of its row shows it, and then fields have no folds."""
    model = SemiSupervisedClassifier(None, graph="anchors", random_state=0)
    with pytest.raises(ValueError, match="40 labels of 1 different rows are too few"):
        model.fit(np.ones((40, 2)), np.arange(40) % 2)


def test_rows_whose_squares_overflow():
    with pytest.raises(ValueError, match="StandardScaler"):
        clone(QUICK).set_params(estimator=KNeighborsClassifier()).fit(1e200 * X, FEW)


def test_one_row():
    with pytest.raises(ValueError, match="1 sample"):
        SemiSupervisedRegressor().fit([[1.0]], [1.0])


def test_targets_of_three_dimensions():
    with pytest.raises(ValueError, match="dim 3"):
        SemiSupervisedRegressor().fit(X, np.dstack([X, X]))


# ------------------------------------------------------------------ labels and weights


@pytest.mark.long
@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, "?"])
def test_text_and_missing_labels(missing):
    names = np.array(["in", "outside"], dtype=object)
    text = names[TRUTH]
    text[20:] = missing
    model = clone(QUICK).set_params(unlabeled="?").fit(X, text)
    plain = clone(QUICK).fit(X, FEW)
    np.testing.assert_array_equal(model.predict(X), names[plain.predict(X)])
    np.testing.assert_array_equal(model.transduction_, names[plain.transduction_])
    assert model.score(X, text) == plain.score(X, FEW)


@pytest.mark.long
def test_minus_one_and_one_are_ambiguous():
    with pytest.raises(ValueError, match="unlabeled=None"):
        clone(QUICK).fit(X, 2 * TRUTH - 1)
    found = clone(QUICK).set_params(unlabeled=None).fit(X, 2 * TRUTH - 1)
    assert found.classes_.tolist() == [-1, 1]


@pytest.mark.parametrize(
    "weights", [-np.ones(120), np.zeros(120), np.full(120, np.nan), np.arange(120) >= 60]
)
def test_bad_weights(weights):
    with pytest.raises(ValueError, match=r"(?i)sample.weight"):
        clone(QUICK).fit(X, MANY, sample_weight=weights)


@pytest.mark.long
def test_a_target_of_weight_zero_is_no_target():
    weights = np.ones(120)
    weights[::7] = 0
    targets = np.where(MANY < 0, np.nan, X[:, 0])
    wrong = np.where((weights == 0) & (MANY >= 0), 9.0, targets)
    one, other = (
        SemiSupervisedRegressor(Ridge(), random_state=0).fit(X, each, sample_weight=weights)
        for each in (targets, wrong)
    )
    np.testing.assert_allclose(one.predict(X), other.predict(X), atol=1e-5)
    assert one.best_score_ == other.best_score_


@pytest.mark.long
@pytest.mark.parametrize("graph", ["knn", "anchors", None])
@pytest.mark.parametrize(
    "estimator", [LinearRegression(), pytest.param("auto", marks=pytest.mark.long)]
)
def test_units_of_targets(estimator, graph):
    y = np.where(MANY < 0, np.nan, np.sin(2 * X[:, 0]) + X[:, 1])
    model = SemiSupervisedRegressor(estimator, graph=graph, random_state=0)
    one, other = (clone(model).fit(X, each) for each in (y, 1e4 * y + 1e6))
    np.testing.assert_allclose(
        (other.predict(X) - 1e6) / 1e4, one.predict(X), atol=2e-3 * np.nanstd(y)
    )


# ------------------------------------------------------------------ rare classes


@pytest.mark.dear
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


@pytest.mark.long
def test_copies_of_labelled_rows_do_not_show_labels_to_a_forest():
    """Twenty points without signal, each six times: a bag holds copies of what it holds out."""
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(20, 4)), np.arange(20) % 2
    forest = RandomForestClassifier(30, oob_score=True, random_state=0)
    model = SemiSupervisedClassifier(forest, graph=None, random_state=0)
    model.fit(np.repeat(rows, 6, axis=0), np.repeat(labels, 6))
    assert model.members_[0].held_out_by == "out-of-fold"
    assert model.best_score_ < 0.8


@pytest.mark.long
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


HALVES = [(np.arange(30), np.arange(30, 60)), (np.arange(30, 60), np.arange(30))]


@pytest.mark.parametrize(
    "cv", [3, StratifiedKFold(3), LabeledStratifiedKFold(3, random_state=0), HALVES]
)
def test_folds_of_every_kind(cv):
    model = clone(QUICK).set_params(cv=cv).fit(X, MANY)
    assert model.score(X, TRUTH) > 0.85


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
        ({"estimator": LinearRegression()}, "predict_proba nor decision_function|no classifier"),
        ({"cv": ShuffleSplit(3, random_state=0)}, "never holds out"),
        ({"cv": 1}, ">= 2"),
        ({"cv": "five"}, "cv"),
        ({"cv": []}, "never holds out 20 of the 20"),
        ({"cv": [(np.arange(20), np.arange(20))]}, "trains on rows that it holds out"),
        ({"cv": [(np.arange(10), np.array([-1]))]}, "count the labelled rows only"),
        ({"cv": [(np.arange(10), np.arange(10, 30))]}, "names row 29"),
    ],
)
def test_what_is_wrong_is_said(options, words):
    with pytest.raises(ValueError, match=words):
        clone(QUICK).set_params(**options).fit(X, FEW)


class Picky(ClassifierMixin, BaseEstimator):
    """Needs this many rows."""

    def __init__(self, rows=0):
        self.rows = rows

    def fit(self, X, y):
        if len(y) < self.rows:
            raise ValueError(f"{len(y)} rows are too few.")
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))


def test_a_model_that_fails_on_folds():
    """Ten folds of 60 labels leave 54 of them."""
    model = clone(QUICK).set_params(estimator=Picky(54)).fit(X, MANY)
    assert "out-of-fold" in {each.held_out_by for each in model.members_}
    with pytest.raises(ValueError, match=r"10 folds .* 54 rows are too few"):
        clone(QUICK).set_params(estimator=Picky(55)).fit(X, MANY)
    with pytest.raises(ValueError, match="60 rows are too few") as caught:
        clone(QUICK).set_params(estimator=Picky(61)).fit(X, MANY)
    assert "folds" not in str(caught.value)


# ------------------------------------------------------------------ parameters and threads


@pytest.mark.long
def test_a_grid_search_reaches_into_the_model_and_the_graph():
    grid = {"estimator__C": [0.1, 1.0], "graph__n_neighbors": [3, 8]}
    search = GridSearchCV(clone(QUICK).set_params(graph=KNN()), grid, cv=2).fit(X, TRUTH)
    best = search.best_estimator_
    assert search.best_params_["estimator__C"] == best.estimator.C
    assert best.graph == KNN(n_neighbors=search.best_params_["graph__n_neighbors"])


@pytest.mark.long
@pytest.mark.parametrize("graph", ["knn", Anchors(n_anchors=40)])
def test_clone_pickle_and_pipeline(graph):
    model = clone(SemiSupervisedClassifier(SVC(), graph=graph, random_state=0))
    expected = model.fit(X, MANY).predict_proba(X + 0.01)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X + 0.01), expected)
    pipe = make_pipeline(StandardScaler(), clone(model)).fit(X, MANY)
    assert pipe.predict(X).shape == (120,)


@pytest.mark.long
@pytest.mark.parametrize("graph", ["knn", "anchors"])
def test_the_same_seed_gives_the_same_bits_for_any_number_of_threads(graph):
    rows, truth = make_moons(1500, noise=0.2, random_state=0)
    y = np.where(np.arange(1500) < 60, truth, -1)
    one, other = (
        SemiSupervisedClassifier(graph=graph, random_state=3, n_jobs=n_jobs).fit(rows, y)
        for n_jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))


@pytest.mark.long
def test_a_grid_search_can_set_the_neighbours():
    search = GridSearchCV(
        clone(QUICK).set_params(graph=KNN(4)), {"graph__n_neighbors": [3, 5]}, cv=2
    )
    assert search.fit(X, TRUTH).best_params_["graph__n_neighbors"] in (3, 5)


QUANTITY, BESIDE = (np.where(MANY < 0, np.nan, each) for each in (X[:, 0] * X[:, 1], X[:, 0] > 0))
ONE = np.where(MANY == 1, 1, -1)
PIPE, LINE = (make_pipeline(StandardScaler(), each) for each in (LogisticRegression(), Ridge()))


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (SemiSupervisedClassifier(PIPE), MANY),
        (SemiSupervisedClassifier(CalibratedClassifierCV(LogisticRegression())), MANY),
        (SemiSupervisedClassifier(PIPE), np.column_stack([BESIDE, 1.0 - BESIDE])),
        (SemiSupervisedRegressor(LINE), QUANTITY),
        (SemiSupervisedRegressor(LINE), np.column_stack([QUANTITY, BESIDE])),
        (PositiveUnlabeledClassifier(SemiSupervisedClassifier(PIPE, graph=None)), ONE),
    ],
)
@pytest.mark.filterwarnings("ignore::graphkm.positive.DrawnAtRandomWarning")
def test_weights_reach_the_models_whether_or_not_metadata_are_routed(model, y):
    model, said = clone(model).set_params(random_state=0), []
    for weights, routed in ((None, False), (MANY + 2, False), (MANY + 2, True)):
        with config_context(enable_metadata_routing=routed):
            model.fit(X, y, sample_weight=weights)
            said.append(getattr(model, "predict_proba", model.predict)(X))
    assert (said[0] != said[1]).any()
    np.testing.assert_array_equal(*said[1:])


def test_weights_that_are_routed_to_the_front_door_reach_it():
    weights = MANY + 2
    wanted = clone(QUICK).fit(X, MANY, sample_weight=weights).predict_proba(X)
    with config_context(enable_metadata_routing=True):
        asks = clone(QUICK).set_fit_request(sample_weight=True)
        piped = make_pipeline(FunctionTransformer(), asks).fit(X, MANY, sample_weight=weights)
        np.testing.assert_array_equal(piped.predict_proba(X), wanted)


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


@pytest.mark.long
def test_odd_rows_leave_no_warnings():
    for rows in (np.ones((120, 2)), X * 1e-30, X * 1e30, (10 * X).astype(int), X[:, :1]):
        for model, y in (
            (QUICK, MANY),
            (SemiSupervisedRegressor(Ridge()), np.where(MANY < 0, np.nan, X[:, 0])),
        ):
            assert np.isfinite(clone(model).fit(rows, y).mixture_.at(rows, rows)).all()
    frame = pd.DataFrame(X).astype("Float64").rename(columns=str)
    assert clone(QUICK).fit(frame, MANY).score(frame, TRUTH) > 0.9
