"""The estimators among scikit-learn's tools: pipelines, searches, copies on disk."""

from __future__ import annotations

import copy
import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.inspection import permutation_importance
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from graphkm import GKMClassifier, GKMRegressor
from graphkm.kernels import Linear, SquaredExponential
from graphkm.losses import EpsilonInsensitive, SmoothHinge


def squared_linear(X, Y):
    return (X @ Y.T) ** 2


def test_pipeline_scales_the_features(classifier, two):
    X = two.X * [1.0, 100.0, 0.01, 5.0] + 10
    piped = make_pipeline(StandardScaler(), classifier()).fit(X, two.y)
    scaled = StandardScaler().fit_transform(X)
    by_hand = classifier().fit(scaled, two.y)
    np.testing.assert_array_equal(piped.decision_function(X), by_hand.decision_function(scaled))
    assert piped.score(X, two.truth) == by_hand.score(scaled, two.truth)


def test_pipeline_passes_weights_and_affinity(classifier, two):
    weight = np.random.default_rng(0).uniform(0.5, 2, 80)
    piped = make_pipeline(StandardScaler(), classifier())
    scaled = StandardScaler().fit_transform(two.X)
    piped.fit(
        two.X,
        two.y,
        gkmclassifier__sample_weight=weight,
        gkmclassifier__affinity=np.ones((80, 80)),
    )
    by_hand = classifier().fit(scaled, two.y, weight, affinity=np.ones((80, 80)))
    np.testing.assert_array_equal(piped[-1].dual_coef_, by_hand.dual_coef_)


def test_sparse_text_pipeline(classifier):
    cats = [f"the cat purrs {w}" for w in ("softly", "at night", "again", "and sleeps")]
    dogs = [f"a dog barks {w}" for w in ("loudly", "at noon", "again", "and runs")]
    y = np.array(["cat", "cat", None, None, "dog", "dog", None, None], dtype=object)
    piped = make_pipeline(TfidfVectorizer(), classifier(n_neighbors=3)).fit(cats + dogs, y)
    assert sp.issparse(piped[-1].support_vectors_)
    assert piped.predict(["purrs the cat", "barks a dog"]).tolist() == ["cat", "dog"]
    assert piped[-1].transduction_.tolist() == ["cat"] * 4 + ["dog"] * 4


@pytest.mark.long
def test_grid_search_over_a_pipeline_of_partly_labelled_rows(classifier, two):
    """Unlabelled rows are in every fold; the score is that of the labelled ones."""
    grid = {"gkmclassifier__C": [1e-3, 1.0], "gkmclassifier__gamma": [1e-4, 0.3]}
    piped = make_pipeline(StandardScaler(), classifier())
    search = GridSearchCV(piped, grid, cv=3, error_score="raise").fit(two.X, two.y)
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()
    scores = []  # one cell again, by hand
    for train, test in StratifiedKFold(3).split(two.X, two.y):
        scaler = StandardScaler().fit(two.X[train])
        clf = classifier(C=1.0, gamma=0.3).fit(scaler.transform(two.X[train]), two.y[train])
        shown = test[two.y[test] >= 0]
        scores.append(np.mean(clf.predict(scaler.transform(two.X[shown])) == two.y[shown]))
    cell = search.cv_results_["params"].index(
        {"gkmclassifier__C": 1.0, "gkmclassifier__gamma": 0.3}
    )
    assert search.cv_results_["mean_test_score"][cell] == pytest.approx(np.mean(scores))


def test_grid_search_over_objects(regressor, curve):
    grid = {
        "kernel": ["rbf", Linear(), SquaredExponential(sigma_f=2.0)],
        "loss": ["l1", EpsilonInsensitive(epsilon=0.2)],
    }
    folds = KFold(2, shuffle=True, random_state=0)
    search = GridSearchCV(regressor(), grid, cv=folds, error_score="raise").fit(curve.X, curve.y)
    assert len(search.cv_results_["params"]) == 6
    assert search.best_params_["kernel"] != Linear()


@pytest.mark.long
def test_parallel_grid_search_is_the_serial_one(classifier, two):
    grid = {"C": [0.1, 1.0], "C_graph": [0, 0.1]}
    serial = GridSearchCV(classifier(), grid, cv=2).fit(two.X, two.y)
    with joblib.parallel_config("threading", n_jobs=2):
        parallel = GridSearchCV(classifier(), grid, cv=2).fit(two.X, two.y)
    np.testing.assert_array_equal(
        serial.cv_results_["mean_test_score"], parallel.cv_results_["mean_test_score"]
    )


def test_cross_validation(classifier, regressor, two, curve):
    scores = cross_val_score(classifier(), two.X, two.truth, cv=4)
    assert scores.shape == (4,)
    assert scores.mean() > 0.7
    assert cross_val_score(regressor(C=10), curve.X, curve.truth, cv=4).mean() > 0.7
    P = cross_val_predict(
        classifier(loss="logistic"), two.X, two.truth, cv=4, method="predict_proba"
    )
    np.testing.assert_allclose(P.sum(axis=1), 1)


def test_pairwise_kernel_is_cut_in_both_directions_by_cross_validation(classifier, two):
    K = np.exp(-0.5 * ((two.X[:, None] - two.X[None]) ** 2).sum(axis=2))
    given = cross_val_score(classifier(kernel="precomputed", C_graph=0), K, two.truth, cv=4)
    named = cross_val_score(classifier(C_graph=0), two.X, two.truth, cv=4)
    np.testing.assert_array_equal(given, named)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_calibration_gives_a_hinge_probabilities(method, classifier, two):
    calibrated = CalibratedClassifierCV(classifier(), method=method, cv=3).fit(two.X, two.truth)
    P = calibrated.predict_proba(two.X)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    assert np.mean(P.argmax(axis=1) == two.truth) > 0.75


def test_other_meta_estimators(classifier, regressor, two, curve):
    vote = VotingClassifier([("a", classifier()), ("b", classifier(kernel="linear"))])
    assert vote.fit(two.X, two.truth).score(two.X, two.truth) > 0.75
    both = MultiOutputRegressor(regressor()).fit(curve.X, np.c_[curve.truth, -curve.truth])
    assert both.predict(curve.X).shape == (80, 2)
    clf = classifier().fit(two.X, two.y)
    importance = permutation_importance(clf, two.X, two.truth, n_repeats=3, random_state=0)
    assert importance.importances_mean[0] > importance.importances_mean[3]


COPIES = {
    "pickle": lambda model, path: pickle.loads(pickle.dumps(model)),
    "joblib": lambda model, path: joblib.load(joblib.dump(model, path / "model.joblib")[0]),
    "joblib, memory-mapped": lambda model, path: joblib.load(
        joblib.dump(model, path / "model.joblib")[0], mmap_mode="r"
    ),
    "deepcopy": lambda model, path: copy.deepcopy(model),
    "copy": lambda model, path: copy.copy(model),
}


@pytest.mark.parametrize("kernel", ["rbf", "poly", squared_linear])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("way", COPIES)
def test_copies_give_the_same_bits(way, storage, kernel, classifier, three, tmp_path):
    if callable(kernel) and storage is sp.csr_array:
        pytest.skip("this function is written for arrays")
    clf = classifier(kernel=kernel, loss=SmoothHinge(tau=0.3), C_graph=0.001, step="explicit")
    clf.fit(storage(three.X), three.y)
    other = COPIES[way](clf, tmp_path)
    new = storage(np.random.default_rng(1).normal(size=(50, 4)))
    np.testing.assert_array_equal(other.decision_function(new), clf.decision_function(new))
    np.testing.assert_array_equal(other.predict(new), clf.predict(new))
    np.testing.assert_array_equal(other.dual_coef_, clf.dual_coef_)
    np.testing.assert_array_equal(other.support_, clf.support_)
    assert other.get_params().keys() == clf.get_params().keys()
    assert other.guarantee_ == clf.guarantee_
    assert other.loss == clf.loss


def test_copies_of_other_models(classifier, regressor, two, curve):
    K = two.X @ two.X.T
    clf = classifier(kernel="precomputed", C_graph=0).fit(K, two.y)
    again = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(again.decision_function(K), clf.decision_function(K))
    reg = regressor().fit(curve.X, curve.y)
    again = pickle.loads(pickle.dumps(reg))
    np.testing.assert_array_equal(again.predict(curve.X), reg.predict(curve.X))


def test_a_saved_model_holds_its_centres_but_not_the_other_rows(classifier):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 20))
    y = np.full(20_000, -1)
    y[:100] = np.arange(100) % 2
    clf = classifier(C_graph=0, max_iter=500).fit(X, y)
    saved = pickle.dumps(clf)
    assert len(saved) < X.nbytes / 10
    other = pickle.loads(saved)
    np.testing.assert_array_equal(other.transduction_[100:], clf.predict(X)[100:])
    X[:] = 0.0  # what is known of the training rows does not follow them
    np.testing.assert_array_equal(clf.transduction_, other.transduction_)
    silent = classifier(C_graph=0, max_iter=500, transduce=False).fit(X + 1.0, y)
    assert not hasattr(silent, "transduction_")
    with pytest.raises(AttributeError, match="Call predict"):
        silent.transduction_  # noqa: B018


def test_a_copy_can_be_fitted_again(classifier, two):
    clf = pickle.loads(pickle.dumps(classifier().fit(two.X, two.y)))
    clf.fit(two.X[:, :2], two.y)
    expected = classifier().fit(two.X[:, :2], two.y).decision_function(two.X[:, :2])
    np.testing.assert_array_equal(clf.decision_function(two.X[:, :2]), expected)


def test_clone_is_not_fitted_and_equal(classifier, two):
    clf = classifier(kernel=squared_linear).fit(two.X, two.y)
    twin = clone(clf)
    assert twin.kernel is squared_linear
    assert twin.get_params() == clf.get_params()
    with pytest.raises(NotFittedError):
        twin.predict(two.X)


def test_fitting_again_forgets_the_first_fit(classifier, two, three):
    clf = classifier().fit(three.X, three.y)
    clf.fit(two.X[:, :2], two.y)
    assert clf.classes_.tolist() == [0, 1]
    assert clf.n_features_in_ == 2
    fresh = classifier().fit(two.X[:, :2], two.y)
    np.testing.assert_array_equal(clf.dual_coef_, fresh.dual_coef_)
    np.testing.assert_array_equal(clf.transduction_, fresh.transduction_)


def test_fit_changes_no_parameter_and_no_input(classifier, two):
    clf = classifier(C_graph="guaranteed", max_iter="auto", gamma="scale")
    before, X, y = clf.get_params(), two.X.copy(), two.y.copy()
    clf.fit(X, y)
    assert clf.get_params() == before
    np.testing.assert_array_equal(X, two.X)
    np.testing.assert_array_equal(y, two.y)


def test_representation():
    clf = GKMClassifier(C=2.5, kernel=SquaredExponential(gamma=0.5), unlabeled=None)
    text = repr(clf)
    assert text.startswith("GKMClassifier(C=2.5")
    assert "kernel=SquaredExponential(gamma=0.5, sigma_f=1.0)" in text
    assert "unlabeled=None" in text
    assert repr(GKMRegressor()) == "GKMRegressor()"
    assert "GKMClassifier" in clf._repr_html_()


def test_kinds():
    assert is_classifier(GKMClassifier())
    assert is_regressor(GKMRegressor())


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames(frame, classifier, two):
    data = frame({name: two.X[:, j] for j, name in enumerate("abcd")})
    clf = classifier().fit(data, two.y)
    assert clf.feature_names_in_.tolist() == list("abcd")
    expected = classifier().fit(two.X, two.y).decision_function(two.X)
    np.testing.assert_array_equal(clf.decision_function(data), expected)


def estimators():
    """Return all public estimators: those of the package, the machines, and those of Dask."""
    import graphkm
    import graphkm.baselines
    import graphkm.dask

    found = {}
    for home in (graphkm, graphkm.baselines, graphkm.dask):
        for name in home.__all__:
            kind = getattr(home, name)
            if isinstance(kind, type) and issubclass(kind, BaseEstimator):
                found[f"{home.__name__}.{name}"] = kind
    return found


@pytest.mark.parametrize("name", estimators())
def test_errors_name_the_class_that_was_called(name):
    kind, public = estimators()[name], name.rsplit(".", 1)[1]
    with pytest.raises(TypeError, match=rf"^{public}\.__init__\(\) got an unexpected"):
        kind(nonsense=1)
    for method in ("fit", "predict", "score"):
        with pytest.raises(TypeError, match=rf"^{public}\.{method}\(\) missing"):
            getattr(kind(), method)()
    assert clone(kind()).get_params().keys() == kind().get_params().keys()
