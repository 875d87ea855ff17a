"""Bad input: what the error or warning says, and that it comes before the work."""

from __future__ import annotations

import re
import tracemalloc

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

import graphkm._util.memory as memory
from graphkm import Epsilon, GKMClassifier, GKMRegressor
from graphkm.graphs import Affinity
from graphkm.kernels import Linear, Polynomial, SquaredExponential
from graphkm.losses import L1, Hinge
from graphkm.solvers import DivergenceError


def words(*needed):
    """Return a pattern for a message that holds all of these, in any order."""
    return "".join(f"(?=[\\s\\S]*{re.escape(word)})" for word in needed)


# ---------------------------------------------------------------------- parameters

BAD_PARAMETERS = [
    ("C", 0, ["C must", "> 0", "got 0"]),
    ("C", -1.0, ["C must", "> 0", "got -1.0"]),
    ("C", np.inf, ["C must", "finite", "got inf"]),
    ("C", "big", ["C must", "'auto'", "number", "got 'big'"]),
    ("C", True, ["C must", "number", "got True"]),
    ("C_graph", -0.5, ["C_graph must", "'guaranteed'", ">= 0", "got -0.5"]),
    ("C_graph", "strong", ["C_graph must", "'auto'", "'guaranteed'", "got 'strong'"]),
    ("C_graph", None, ["C_graph must", "got None"]),
    ("p", 0.5, ["p must", ">= 1", "got 0.5"]),
    ("p", np.nan, ["p must", ">= 1", "got nan"]),
    ("p", np.inf, ["p must", "finite", "got inf"]),
    ("normalized", "no", ["normalized must", "True or False", "got 'no'"]),
    ("degree", 1.5, ["degree must", "'auto'", "whole", "got 1.5"]),
    ("gamma", 0, ["gamma must", "'scale'", "'auto'", "> 0", "got 0"]),
    ("gamma", -1.0, ["gamma must", "> 0", "got -1.0"]),
    ("gamma", None, ["gamma must", "'scale'", "got None"]),
    ("gamma", "wide", ["gamma must", "'spread'", "'scale'", "got 'wide'"]),
    ("gamma", np.array([1.0, 2.0]), ["gamma must", "number", "array([1., 2.])"]),
    ("n_neighbors", 0, ["n_neighbors must", ">= 1", "got 0"]),
    ("n_neighbors", 2.5, ["n_neighbors must", "whole", "got 2.5"]),
    ("weights", -1.0, ["weights must", "'local'", "'kernel'", ">= 0", "got -1.0"]),
    ("weights", "wide", ["weights must", "'auto'", "'local'", "got 'wide'"]),
    ("search", "fast", ["search must", "'exact'", "'approximate'", "got 'fast'"]),
    ("graph", "kNN", ["graph must", "'knn'", "'bipartite'", "got 'kNN'"]),
    ("graph", None, ["graph must", "'knn'", "got None"]),
    ("edge_sampling", "random", ["edge_sampling must", "'uniform'", "'weight'", "got 'random'"]),
    ("step", "proximal", ["step must", "'explicit'", "'implicit'", "got 'proximal'"]),
    ("precision", "half", ["precision must", "'single'", "'double'", "got 'half'"]),
    ("max_iter", 0, ["max_iter must", "'auto'", ">= 1", "got 0"]),
    ("max_iter", 10.0, ["max_iter must", "whole", "got 10.0"]),
    ("max_iter", "many", ["max_iter must", "'auto'", "got 'many'"]),
    ("fit_intercept", "no", ["fit_intercept must", "True or False", "got 'no'"]),
    ("fit_intercept", 2, ["fit_intercept must", "True or False", "got 2"]),
    ("n_jobs", 0, ["n_jobs must", "None", "got 0"]),
    ("n_jobs", 1.5, ["n_jobs must", "whole", "got 1.5"]),
    ("n_jobs", "all", ["n_jobs must", "None", "got 'all'"]),
    ("callback", "print", ["callback must", "function", "got 'print'"]),
    ("kernel", "rfb", ["kernel='rfb'", "'rbf'", "'precomputed'", "function"]),
    ("kernel", Linear, ["Linear", "is not a kernel", "Kernel object"]),
    ("kernel", 3, ["kernel=3", "'rbf'"]),
    ("random_state", "x", ["'x' cannot be used to seed"]),
]


@pytest.mark.parametrize(("name", "value", "message"), BAD_PARAMETERS)
def test_bad_parameter(name, value, message, classifier, regressor, two):
    for make in (classifier, regressor):
        with pytest.raises(ValueError, match=words(*message)):
            make(**{name: value}).fit(two.X, two.y)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("smoothness", 0.5, ["smoothness must", ">= 1", "Power", "got 0.5"]),
        ("smoothness", np.nan, ["smoothness must", "finite", "IteratedLaplacian", "got nan"]),
        ("smoothness", "rough", ["smoothness must", "'auto'", "got 'rough'"]),
        ("smoothness", None, ["smoothness must", "'auto'", "got None"]),
        ("solver", "cg", ["solver must", "'newton'", "'sgd'", "SGD(...)", "got 'cg'"]),
        ("solver", None, ["solver must", "'newton'", "RowNewton(...)", "got None"]),
    ],
)
def test_what_stands_for_no_part(name, value, message, two):
    for kind in (GKMClassifier, GKMRegressor):
        with pytest.raises(ValueError, match=words(*message)):
            kind(**{name: value}).fit(two.X, two.y)


@pytest.mark.parametrize("name", ["C", "C_graph", "gamma", "graph", "smoothness", "solver", "loss"])
def test_estimators_check_nothing_before_fit(name):
    """As scikit-learn asks; parts check themselves when they are made."""
    for kind in (GKMClassifier, GKMRegressor):
        kind(**{name: "?"}).set_params(**{name: -1})


@pytest.mark.parametrize("radius", [-1.0, 0, None, np.nan])
def test_bad_radius(radius):
    with pytest.raises(ValueError, match=words("radius must", "> 0", f"got {radius}")):
        Epsilon(radius=radius)


def test_loss_of_the_other_task(classifier, regressor, two):
    for loss in ("l1", L1(), "hing", None):
        with pytest.raises(ValueError, match=words(repr(loss), "classification", "'logistic'")):
            classifier(loss=loss).fit(two.X, two.y)
    for loss in ("hinge", Hinge()):
        with pytest.raises(ValueError, match=words(repr(loss), "regression", "'l1'")):
            regressor(loss=loss).fit(two.X, two.y)


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ({0: -1.0}, ["class_weight", ">= 0", "-1.0"]),
        ({0: np.nan}, ["class_weight", "finite", "nan"]),
        ({0: 0.0, 1: 0.0}, ["class_weight", "0 for every labelled row"]),
        ("balance", ["class_weight", "'balanced'", "'balance'"]),
        ({7: 2.0}, ["class_weight", "[0, 1]"]),
    ],
)
def test_bad_class_weight(class_weight, message, classifier, two):
    with pytest.raises(ValueError, match=words(*message)):
        classifier(class_weight=class_weight).fit(two.X, two.y)


# ---------------------------------------------------------------------- labels


@pytest.mark.parametrize(
    "spell",
    [
        lambda y: y,
        lambda y: y.astype(float),
        lambda y: y.tolist(),
        lambda y: [None, *y.tolist()[1:]],
        lambda y: pd.Series(y),
        lambda y: pd.Series(y, dtype="Int64"),
    ],
)
def test_labels_minus_and_plus_one_are_ambiguous(spell, classifier, two):
    y = spell(2 * two.truth - 1)
    message = words("-1 and 1", "unlabeled=None", "NaN", "unlabeled=0", "unlabelled")
    with pytest.raises(ValueError, match=message):
        classifier().fit(two.X, y)
    assert classifier(unlabeled=None).fit(two.X, y).classes_.tolist() == [-1, 1]


@pytest.mark.parametrize(
    ("y", "marker"), [(np.full(80, -1), -1), (np.full(80, np.nan), -1), (["?"] * 80, "?")]
)
def test_no_labelled_row(y, marker, classifier, two):
    message = words("None of the 80 rows is labelled", f"unlabeled={marker!r}", "Label some rows")
    with pytest.raises(ValueError, match=message):
        classifier(unlabeled=marker).fit(two.X, y)


def test_no_known_target(regressor, curve):
    with pytest.raises(ValueError, match="None of the 80 rows is labelled"):
        regressor().fit(curve.X, np.full(80, np.nan))


@pytest.mark.parametrize("label", [0, 7, "cat"])
def test_one_class(label, classifier, two):
    y = [label if c >= 0 else None for c in two.y]
    with pytest.raises(ValueError, match=words("one class", repr(label), "another class")):
        classifier().fit(two.X, y)


def test_mixed_labels(classifier, two):
    y = ["cat" if c else 5 for c in two.truth]
    with pytest.raises(ValueError, match=words("mixes", "int, str", "all labels as text")):
        classifier().fit(two.X, y)


def test_continuous_labels(classifier, curve):
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        classifier().fit(curve.X, curve.y)


def test_infinite_labels(classifier, regressor, two):
    y = np.where(two.truth, np.inf, 0.0)
    for make in (classifier, regressor):
        with pytest.raises(ValueError, match=words("y contains infinity", "NaN")):
            make().fit(two.X, y)


def test_text_is_no_target(regressor, two):
    with pytest.raises(ValueError, match=words("numbers for regression", "'high'")):
        regressor().fit(two.X, ["high"] * 80)


def test_missing_y(classifier, two):
    with pytest.raises(ValueError, match="requires y"):
        classifier().fit(two.X, None)


def test_two_columns_of_y(classifier, two):
    with pytest.raises(ValueError, match=words("1d array", "(80, 2)")):
        classifier().fit(two.X, np.column_stack([two.y, two.y]))


@pytest.mark.parametrize("length", [79, 81, 0])
def test_wrong_length(length, classifier, regressor, two):
    y = np.resize(two.truth, length)
    message = words("inconsistent", "80", str(length))
    for make in (classifier, regressor):
        with pytest.raises(ValueError, match=message):
            make().fit(two.X, y)
        fitted = make().fit(two.X, two.truth)
        with pytest.raises(ValueError, match=message):
            fitted.score(two.X, y)
        with pytest.raises(ValueError, match=message):
            fitted.score(two.X, two.truth, sample_weight=np.ones(length))


def test_nothing_to_score(classifier, regressor, two):
    for make in (classifier, regressor):
        fitted = make(unlabeled=-1).fit(two.X, two.y)
        with pytest.raises(ValueError, match="None of the rows to score is labelled"):
            fitted.score(two.X, np.full(80, -1))


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.ones(79), ["(79,)", "(80,)"]),
        (np.full(80, -1.0), ["Negative", "sample_weight"]),
        (np.full(80, np.nan), ["sample_weight", "NaN"]),
        (np.r_[np.zeros(24), np.ones(56)], ["sample_weight", "0 for every labelled row"]),
    ],
)
def test_bad_sample_weight(weight, message, classifier, two):
    with pytest.raises(ValueError, match=words(*message)):
        classifier().fit(two.X, two.y, sample_weight=weight)


# ---------------------------------------------------------------------- rows


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(("value", "name"), [(np.nan, "NaN"), (np.inf, "infinity")])
def test_missing_or_infinite_features(value, name, storage, classifier, regressor, two):
    X = two.X.copy()
    X[3, 1] = value
    for make in (classifier, regressor):
        with pytest.raises(ValueError, match=words("Input X", name)):
            make().fit(storage(X), two.y)
        fitted = make().fit(two.X, two.y)
        with pytest.raises(ValueError, match=words("Input X", name)):
            fitted.predict(storage(X))


def test_other_features_in_predict(classifier, two):
    clf = classifier().fit(two.X, two.y)
    with pytest.raises(ValueError, match=words("3 features", "expecting 4 features")):
        clf.predict(two.X[:, :3])
    frame = pd.DataFrame(two.X, columns=["a", "b", "c", "d"])
    named = classifier().fit(frame, two.y)
    with pytest.raises(ValueError, match=words("feature names", "order")):
        named.predict(frame[["b", "a", "c", "d"]])
    with pytest.raises(ValueError, match=words("feature names", "unseen", "e")):
        named.predict(frame.rename(columns={"d": "e"}))
    with pytest.raises(ValueError, match=words("1D array", "2D array")):
        clf.predict(two.X[0])


def test_not_fitted(classifier, regressor, two):
    for make in (classifier, regressor):
        for use in (lambda e: e.predict(two.X), lambda e: e.transduction_):
            with pytest.raises(NotFittedError, match="not fitted yet"):
                use(make())


@pytest.mark.parametrize("precision", ["single", "double"])
def test_features_whose_squares_overflow(precision, classifier, two):
    largest = {"single": 1e25, "double": 1e200}[precision]
    clf = classifier(precision=precision, gamma="scale")
    message = ["overflow", f"{largest:.0e}", "Scale the features"]
    X = two.X / np.abs(two.X).max() * largest
    with pytest.raises(ValueError, match=words(*message)) as error:
        clf.fit(X, two.y)
    assert ("precision='double'" in str(error.value)) == (precision == "single")
    fitted = classifier(precision=precision).fit(two.X, two.y)
    with pytest.raises(ValueError, match=words(*message)):
        fitted.predict(X)


@pytest.mark.parametrize(
    "kernel",
    [Polynomial(degree=30, gamma=10.0), SquaredExponential(gamma=0.5, sigma_f=1e25)],
)
def test_kernel_values_that_overflow(kernel, classifier, two):
    with pytest.raises(ValueError, match=words(type(kernel).__name__, "overflow", "Scale")):
        classifier(kernel=kernel).fit(two.X, two.y)


# ---------------------------------------------------------------------- sparse indices


def wide_indices(X):
    """Return CSR rows whose indices are 64-bit integers."""
    rows = sp.csr_array(X)
    rows.indices, rows.indptr = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
    return rows


@pytest.mark.parametrize("graph", ["knn", "full"])
def test_sixty_four_bit_indices_are_narrowed(graph, classifier, two):
    wide = wide_indices(two.X)
    clf = classifier(graph=graph).fit(wide, two.y)
    same = classifier(graph=graph).fit(sp.csr_array(two.X), two.y)
    assert wide.indices.dtype == np.int64  # the caller's matrix is left alone
    np.testing.assert_array_equal(clf.decision_function(wide), same.decision_function(two.X))


def test_more_columns_than_indices_count(classifier):
    X = sp.csr_array(([1.0, 2.0, 3.0], ([0, 1, 2], [5, 2**31 + 3, 7])), shape=(3, 2**31 + 8))
    with pytest.raises(ValueError, match=words("2,147,483,656 columns", "32-bit", "hash")):
        classifier().fit(X, [0, 1, 0])


def test_duplicate_entries_are_summed(classifier, two):
    twice = sp.csr_array(
        (np.repeat(two.X / 2, 2), np.repeat(np.tile(np.arange(4), 80), 2), np.arange(0, 641, 8)),
        shape=two.X.shape,
    )
    assert not twice.has_canonical_format
    np.testing.assert_allclose(twice.toarray(), two.X)
    before = twice.data.copy()
    clf = classifier(precision="double").fit(twice, two.y)
    same = classifier(precision="double").fit(sp.csr_array(two.X), two.y)
    np.testing.assert_array_equal(twice.data, before)
    np.testing.assert_allclose(
        clf.decision_function(two.X), same.decision_function(two.X), atol=1e-9
    )


def test_a_million_columns(classifier, two):
    X = sp.random_array((80, 2**20), density=1e-5, format="csr", rng=0)
    tracemalloc.start()
    try:
        clf = classifier(gamma=0.1, graph="bipartite").fit(X, two.y)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert np.isfinite(clf.decision_function(X)).all()
    assert peak < 100 * 2**20  # 80 dense rows would be 640 MB


# ---------------------------------------------------------------------- bandwidths


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", SquaredExponential(gamma=1e9)])
def test_gamma_that_underflows_every_value(kernel, storage, classifier, two):
    message = words("gamma=1e+09", "underflow", "smaller gamma", "gamma='scale'", "scale the")
    with pytest.raises(ValueError, match=message):
        classifier(kernel=kernel, gamma=1e9).fit(storage(two.X), two.y)


def test_gamma_is_fine_if_some_rows_are_close(classifier, two):
    """Pairs of close rows tell something about each other, however far the pairs are."""
    X = np.repeat(two.X[:40], 2, axis=0)
    X[1::2] += 1e-5
    clf = classifier(gamma=1e8, graph="full", precision="double").fit(X, two.y)
    assert np.isfinite(clf.decision_function(X)).all()


def test_equal_rows_do_not_hide_an_underflow(classifier, two):
    X = np.repeat(two.X[:40], 2, axis=0)
    with pytest.raises(ValueError, match="underflow"):
        classifier(gamma=1e9).fit(X, two.y)


@pytest.mark.parametrize("graph", ["knn", "full", "bipartite"])
def test_graph_gamma_that_underflows_every_weight(graph, classifier, two):
    with pytest.raises(ValueError, match=words("weights=1e+09", "underflow", "smaller")):
        classifier(graph=graph, weights=1e9).fit(two.X, two.y)


def test_far_outlier_in_single_precision(classifier, two):
    X = np.vstack([two.X, np.full((1, 4), 1e4)])
    y = np.append(two.y, -1)
    clf = classifier(graph="bipartite")
    with pytest.warns(
        UserWarning, match=words("float32", "Scale the features", "precision='double'")
    ):
        clf.fit(X, y)
    assert np.isfinite(clf.decision_function(X)).all()
    classifier(graph="bipartite", precision="double").fit(X, y)  # without a warning


@pytest.mark.parametrize("X", [np.ones((80, 4)), np.zeros((80, 4)), np.full((80, 4), 1e-200)])
def test_constant_features(X, classifier, two):
    clf = classifier(gamma="scale").fit(X, two.y)
    assert np.isfinite(clf.decision_function(X)).all()


# ---------------------------------------------------------------------- graphs


def test_epsilon_graph_without_radius(classifier, two):
    with pytest.raises(ValueError, match=words("'epsilon'", "Epsilon(radius=...)")):
        GKMClassifier(graph="epsilon").fit(two.X, two.y)
    with pytest.raises(TypeError, match="radius"):
        Epsilon()


def test_epsilon_graph_without_edges(classifier, two):
    with pytest.raises(ValueError, match=words("radius=1e-06", "distance", "larger radius")):
        classifier(graph="epsilon", radius=1e-6).fit(two.X, two.y)


def replaced(W, i, j, value):
    W = W.copy()
    W[i, j] = value
    return W


ONES = np.ones((80, 80))
BAD_AFFINITIES = {
    "shape": (np.ones((79, 80)), ["(79, 80)", "(80, 80) is needed"]),
    "negative": (replaced(ONES, 3, 50, -0.25), ["negative", "-0.25, from 3 to 50", ">= 0"]),
    "NaN": (replaced(ONES, 3, 50, np.nan), ["not finite", "nan, from 3 to 50"]),
    "infinite": (sp.csr_array(replaced(ONES, 3, 50, np.inf)), ["not finite", "inf, from 3 to 50"]),
    "diagonal": (np.eye(80), ["none of the 56 unlabelled", "positive entries"]),
    "empty": (sp.csr_array((80, 80)), ["none of the 56 unlabelled"]),
    "labelled only": (
        np.pad(np.ones((24, 24)), (0, 56)),
        ["none of the 56 unlabelled", "positive entries"],
    ),
}


@pytest.mark.parametrize("name", BAD_AFFINITIES)
def test_bad_affinity(name, classifier, two):
    affinity, message = BAD_AFFINITIES[name]
    with pytest.raises(ValueError, match=words(*message)):
        classifier().fit(two.X, two.y, affinity=affinity)


def test_affinity_of_text(classifier, two):
    with pytest.raises(TypeError, match=words("affinity", "real numbers")):
        classifier().fit(two.X, two.y, affinity=np.full((80, 80), "x"))


def test_affinity_that_is_missing(two):
    with pytest.raises(ValueError, match=words("graph=Affinity()", "fit(X, y, affinity=...)")):
        GKMClassifier(graph=Affinity()).fit(two.X, two.y)


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_components_without_labels(loss, classifier, three):
    """A group of rows far from the rest, all unlabelled, has only the kernel to go by."""
    X = np.vstack([three.X, three.X[:20] + 30])
    y = np.append(three.y, np.full(20, -1))
    clf = classifier(loss=loss)
    with pytest.warns(UserWarning, match=words("connected components", "20 of 110", "neighbours")):
        clf.fit(X, y)
    assert np.isfinite(clf.decision_function(X)).all()
    assert np.isin(clf.transduction_, [0, 1, 2]).all()
    if loss == "logistic":
        P = clf.predict_proba(X)
        assert np.isfinite(P).all()
        np.testing.assert_allclose(P.sum(axis=1), 1)


def test_more_neighbours_than_rows(classifier, two):
    many = classifier(n_neighbors=1000).fit(two.X, two.y)
    all_others = classifier(n_neighbors=79).fit(two.X, two.y)
    np.testing.assert_array_equal(many.dual_coef_, all_others.dual_coef_)


def test_divergence_names_the_way_out(classifier, two):
    clf = classifier(step="explicit", C_graph=1e6, max_iter=5000)
    message = words("diverged", "No guarantee", "step='implicit'", "C_graph='guaranteed'")
    with pytest.raises(DivergenceError, match=message):
        clf.fit(two.X, two.y)
    assert not hasattr(clf, "dual_coef_")


# ---------------------------------------------------------------------- kernels


def test_precomputed_kernel_that_is_not_square(classifier, two):
    with pytest.raises(ValueError, match=words("precomputed", "square", "(80, 4)")):
        classifier(kernel="precomputed", C_graph=0).fit(two.X, two.y)


def test_precomputed_kernel_needs_an_affinity(classifier, two):
    message = words("graph=KNN(", "fit(X, y, affinity=...)", "C_graph=0")
    with pytest.raises(ValueError, match=message):
        classifier(kernel="precomputed").fit(two.X @ two.X.T, two.y)


def test_precomputed_kernel_with_too_few_columns_in_predict(classifier, two):
    K = two.X @ two.X.T
    clf = classifier(kernel="precomputed", C_graph=0).fit(K, two.y)
    with pytest.raises(ValueError, match=words("79 features", "80 features")):
        clf.predict(K[:, :79])


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda X, Y: np.ones(3), ["shape (3,)", "must return a matrix"]),
        (lambda X, Y: np.full((len(X), len(Y)), np.nan), ["NaN", "must return numbers"]),
    ],
)
def test_bad_kernel_function(function, message, classifier, two):
    with pytest.raises(ValueError, match=words(*message)):
        classifier(kernel=function).fit(two.X, two.y)


def test_kernel_function_may_return_any_layout(classifier, two):
    plain = classifier(kernel=lambda X, Y: X @ Y.T).fit(two.X, two.y)
    other = classifier(kernel=lambda X, Y: np.asfortranarray(X @ Y.T)).fit(two.X, two.y)
    np.testing.assert_array_equal(plain.dual_coef_, other.dual_coef_)


# ---------------------------------------------------------------------- memory


@pytest.mark.parametrize(("n_features", "unit"), [(200, "MiB"), (1000, "GiB")])
def test_memory_is_estimated_before_it_is_taken(n_features, unit, classifier, monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 2**27)
    X = np.zeros((100_000, n_features), np.float32)
    y = np.arange(100_000) % 2
    clf = classifier(C_graph=0, max_iter=10**6)
    message = words(unit, "128.0 MiB", "centres", f"{n_features:,} features", "max_iter")
    tracemalloc.start()
    try:
        with pytest.raises(MemoryError, match=message):
            clf.fit(X, y)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 40 * 2**20


def test_memory_of_the_graph(classifier, monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 2**26)
    X = np.random.default_rng(0).normal(size=(20_000, 2)).astype(np.float32)
    y = np.full(20_000, -1)
    y[:4] = [0, 1, 0, 1]
    with pytest.raises(MemoryError, match=words("GiB", "64.0 MiB", "edges", "smaller radius")):
        classifier(graph="epsilon", radius=2.0, max_iter=10).fit(X, y)


def test_unknown_memory_is_not_refused(classifier, two, monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: None)
    assert classifier().fit(two.X, two.y).n_iter_ == 400
