"""Members of a mixture as ONNX nodes, each held to the model itself."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn import ensemble, linear_model, tree
from sklearn.base import clone, is_classifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC, LinearSVR

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from graphkm import GKMClassifier, GKMRegressor, SemiSupervisedClassifier
from graphkm.baselines import LaplacianSVC
from graphkm.exchange.onnx_fields import add_far, add_field, add_reached
from graphkm.exchange.onnx_members import add_quantities, add_shares
from graphkm.exchange.onnx_trees import add_bag, add_boosted
from graphkm.graphs.anchors import FEW, AnchorNodes
from graphkm.graphs.nodes import RowNodes
from graphkm.judge.held_out import HeldOut, class_shares
from graphkm.kernel_ridge import KernelRidgeClassifierCV, KernelRidgeCV
from graphkm.members.of_all_rows import OfAllRows
from graphkm.neighbours.index import NeighbourIndex
from onnx_graphs import computed, rows_of

X, NEW = rows_of(200), np.vstack([rows_of(150, seed=1), 20 * rows_of(30, seed=2)])
F = X[:, 0] + X[:, 1] / 3 + np.random.default_rng(3).normal(size=200)
NAMES = np.array(["ape", "bee", "cat"])
FLAT = np.full_like(NEW, 1.0)
FOREST = ensemble.RandomForestClassifier(20, random_state=0)
BOOSTING = ensemble.HistGradientBoostingClassifier(max_iter=20, random_state=0)


def labels(k):
    return NAMES[np.digitize(F, [2.0] if k == 2 else [1.0, 3.0])]


def shares_of(held, classes, rows):
    return computed(lambda graph, start: add_shares(graph, start, held, classes), rows)


# ---------------------------------------------------------------- classifiers

CLASSIFIERS = {
    "logistic": linear_model.LogisticRegression(C=0.1),
    "scaled": make_pipeline(StandardScaler(), linear_model.LogisticRegression()),
    "without mean": make_pipeline(
        StandardScaler(with_mean=False), linear_model.LogisticRegression()
    ),
    "without intercept": linear_model.LogisticRegression(fit_intercept=False),
    "ridge": make_pipeline(MinMaxScaler((-1, 2)), linear_model.RidgeClassifier()),
    "linear svc": make_pipeline(MaxAbsScaler(), LinearSVC()),
    "tree": tree.DecisionTreeClassifier(max_depth=5, random_state=0),
    "forest": FOREST,
    "shallow forest": ensemble.RandomForestClassifier(20, max_depth=2, random_state=0),
    "extra trees": ensemble.ExtraTreesClassifier(20, max_features=0.5, random_state=0),
    "scaled forest": make_pipeline(StandardScaler(), FOREST),
    "boosting": BOOSTING,
    "scaled boosting": make_pipeline(StandardScaler(), "passthrough", BOOSTING),
    "kernel ridge": KernelRidgeClassifierCV(random_state=0),
    "linear kernel": KernelRidgeClassifierCV(kernel="linear", random_state=0),
    "scaled kernel ridge": make_pipeline(StandardScaler(), KernelRidgeClassifierCV(random_state=0)),
}


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_classifiers(kind, k):
    y = labels(k)
    model = clone(CLASSIFIERS[kind]).fit(X, y)
    heat = None if hasattr(model, "predict_proba") else 0.7
    held = HeldOut(model, np.empty((0, 0)), "out-of-fold", heat)
    wanted = class_shares(held, NEW, np.unique(y))
    np.testing.assert_allclose(shares_of(held, np.unique(y), NEW), wanted, atol=1e-6)


@pytest.mark.dear
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize(
    "model",
    [
        GKMClassifier(solver="newton", random_state=0),
        GKMClassifier(solver="sgd", random_state=0),
        LaplacianSVC(),
        LaplacianSVC(probability=True),
    ],
)
def test_machines_of_all_rows(model, k):
    classes, codes = np.unique(labels(k), return_inverse=True)
    rows = StandardScaler().fit_transform(X).astype(np.float32).astype(np.float64)
    model = clone(model).fit(rows, np.where(np.arange(200) < 60, codes, -1))
    held = HeldOut(OfAllRows(model, classes), np.empty((0, 0)), "out-of-fold")
    wanted = class_shares(held, rows, classes)
    np.testing.assert_allclose(shares_of(held, classes, rows), wanted, atol=1e-4)


def test_classes_that_a_model_has_not_seen():
    y = labels(3)
    model = FOREST.fit(X[y != "bee"], y[y != "bee"])
    held = HeldOut(model, np.empty((0, 0)), "out-of-fold")
    found = shares_of(held, NAMES, NEW)
    np.testing.assert_allclose(found, class_shares(held, NEW, NAMES), atol=1e-6)
    assert not found[:, 1].any()
    svc = make_pipeline(MaxAbsScaler(), LinearSVC()).fit(X[y != "bee"], y[y != "bee"])
    with pytest.raises(ValueError, match="knows 2 of 3 classes"):
        shares_of(HeldOut(svc, np.empty((0, 0)), "out-of-fold", 1.0), NAMES, NEW)


# ---------------------------------------------------------------- regressors

REGRESSORS = {
    "line": linear_model.LinearRegression(),
    "ridge": make_pipeline(StandardScaler(), linear_model.RidgeCV()),
    "lasso": linear_model.Lasso(0.01),
    "huber": make_pipeline(StandardScaler(), linear_model.HuberRegressor()),
    "linear svr": make_pipeline(StandardScaler(), LinearSVR()),
    "tree": tree.DecisionTreeRegressor(random_state=0),
    "forest": ensemble.RandomForestRegressor(20, random_state=0),
    "extra trees": ensemble.ExtraTreesRegressor(20, random_state=0),
    "boosting": ensemble.HistGradientBoostingRegressor(max_iter=20, random_state=0),
    "counts": ensemble.HistGradientBoostingRegressor(loss="poisson", max_iter=20),
    "kernel ridge": KernelRidgeCV(random_state=0),
}


@pytest.mark.parametrize("kind", REGRESSORS)
def test_regressors(kind):
    model = clone(REGRESSORS[kind]).fit(X, F + 1000.0)
    held = HeldOut(model, np.empty((0, 0)), "out-of-fold")
    found = computed(lambda graph, start: add_quantities(graph, start, held), NEW)
    np.testing.assert_allclose(found[:, 0], model.predict(NEW), rtol=1e-7, atol=2e-6)


def test_regressors_of_all_rows():
    rows = StandardScaler().fit_transform(X).astype(np.float32).astype(np.float64)
    model = GKMRegressor(random_state=0).fit(rows, np.where(np.arange(200) < 60, F, np.nan))
    held = HeldOut(OfAllRows(model, None), np.empty((0, 0)), "out-of-fold")
    found = computed(lambda graph, start: add_quantities(graph, start, held), rows)
    np.testing.assert_allclose(found[:, 0], model.predict(rows), atol=1e-4)


# ---------------------------------------------------------------- trees, exactly


def cuts_of(model):
    """Return all pairs of a column and a number at which trees of a bag cut."""
    trees = [each.tree_ for each in model.estimators_]
    feature = np.concatenate([each.feature for each in trees])
    return feature[feature >= 0], np.concatenate([each.threshold for each in trees])[feature >= 0]


@pytest.mark.parametrize("pure", [True, False])
def test_rows_on_a_cut_go_where_the_model_sends_them(pure):
    depth = None if pure else 3
    model = clone(FOREST).set_params(max_depth=depth).fit(np.round(X, 1), labels(3))
    column, cut = cuts_of(model)
    single = cut.astype(np.float32)
    rows = np.repeat(X[:1].astype(np.float32), 3 * len(cut), axis=0)
    for place, near in enumerate((np.nextafter(single, -9), single, np.nextafter(single, 9))):
        rows[np.arange(len(cut)) * 3 + place, column] = near
    found = computed(lambda graph, start: add_bag(graph, start, model), rows)
    np.testing.assert_allclose(found, model.predict_proba(rows), atol=1e-15 if pure else 1e-7)


def test_forests_behind_a_scaler_see_single_precision():
    step = np.spacing(np.float32(1000.0))
    rows = np.array([[0.0], [2.0]]).repeat(5, axis=0) * step
    model = make_pipeline(StandardScaler(with_std=False), FOREST).fit(rows, np.arange(10) // 5)
    model[0].mean_ = np.array([-1000.0])
    model[1].fit(model[0].transform(rows), np.arange(10) // 5)
    held = HeldOut(model, np.empty((0, 0)), "out-of-fold")
    new = np.linspace(0.0, 2.0, 41)[:, None] * step  # the cut is at 1, and 1.4 rounds to it
    new = new.astype(np.float32).astype(np.float64)
    wanted = model.predict_proba(new)
    assert (wanted[new[:, 0] < 1.45 * step, 0] > 0.5).all()
    np.testing.assert_allclose(shares_of(held, np.arange(2), new), wanted, atol=1e-7)


@pytest.mark.parametrize("bins", [3, 255])
def test_boosting_with_gaps(bins):
    rows, new = X.copy(), NEW.copy()
    rows[::3, 0] = rows[1::4, 3] = np.nan
    new[::2, 0] = new[1::3, 1] = np.nan
    model = clone(BOOSTING).set_params(max_bins=bins).fit(rows, labels(2))
    found = computed(lambda graph, start: add_boosted(graph, start, model), new)
    np.testing.assert_allclose(found, model.predict_proba(new), atol=1e-7)


@pytest.mark.parametrize("model", [FOREST, BOOSTING, REGRESSORS["forest"], REGRESSORS["boosting"]])
def test_trees_without_a_cut(model):
    y = np.repeat(["a", "b"], 100) if is_classifier(model) else np.repeat([1.0, 2.0], 100)
    model = clone(model).fit(np.zeros_like(X), y)
    add = add_boosted if hasattr(model, "n_iter_") else add_bag
    found = computed(lambda graph, start: add(graph, start, model), FLAT)
    wanted = model.predict_proba(FLAT) if is_classifier(model) else model.predict(FLAT)[:, None]
    np.testing.assert_allclose(found, wanted, atol=1e-7)


def test_categories_of_boosting_are_refused():
    rows = np.column_stack([np.arange(200) % 4, X])
    model = clone(BOOSTING).set_params(categorical_features=[0]).fit(rows, labels(2))
    with pytest.raises(ValueError, match=r"takes columns as categories.*categorical_features=None"):
        computed(lambda graph, start: add_boosted(graph, start, model), rows)


# ---------------------------------------------------------------- fields


def weights_of(nodes, rows):
    """Return z(x) by a field that is 1 at one node each, and how far rows are."""
    m = len(nodes.reach)
    z = computed(
        lambda graph, start: add_field(graph, add_reached(graph, start, nodes), np.eye(m)), rows
    )
    far = computed(lambda graph, start: add_far(graph, add_reached(graph, start, nodes)), rows)
    return z, far


NODES = {
    "rows": lambda: RowNodes.graph(NeighbourIndex(X), 7).nodes,
    "single precision": lambda: RowNodes.graph(NeighbourIndex(X.astype(np.float32)), 7).nodes,
    "sparse": lambda: RowNodes.graph(NeighbourIndex(csr_array(np.where(X > 1, X, 0))), 7).nodes,
    "all rows": lambda: RowNodes.graph(NeighbourIndex(X[:8]), 7).nodes,
    "one row": lambda: RowNodes.graph(NeighbourIndex(X[:1]), 1).nodes,
    "copies": lambda: RowNodes.graph(NeighbourIndex(np.repeat(X[:9], 5, axis=0)), 3).nodes,
    "anchors": lambda: AnchorNodes.at(X[:50]),
    "two anchors": lambda: AnchorNodes.at(X[:2]),
    "one anchor": lambda: AnchorNodes.at(X[:1]),
    "sharp anchors": lambda: AnchorNodes.at(rows_of(FEW + 50)),
}


@pytest.mark.parametrize("shift", [0.0, 2.0**13])
@pytest.mark.parametrize("kind", NODES)
def test_weights_of_nodes(kind, shift, monkeypatch):
    monkeypatch.setattr(f"{__name__}.X", np.round(X, 1) + shift if shift else X)
    nodes = NODES[kind]()
    new = np.vstack([X[:20], NEW + shift, X[:5] + 1e-3, 1e6 * NEW[:5]])
    new = new.astype(np.float32).astype(np.float64)
    wanted = nodes.weights(new).toarray()
    z, far = weights_of(nodes, new)
    if kind == "copies":  # any of the copies counts
        wanted, z = (each.reshape(len(new), 9, 5).sum(axis=2) for each in (wanted, z))
    np.testing.assert_allclose(z, wanted, atol=1e-9)
    np.testing.assert_allclose(far[:, 0], 1.0 - wanted.sum(axis=1), atol=1e-9)


# ---------------------------------------------------------------- what has no form


@pytest.mark.parametrize(
    ("model", "told"),
    [
        (SVC(), "holds a SVC.*estimator='auto'"),
        (make_pipeline(StandardScaler(), GaussianNB()), "holds a GaussianNB"),
        (make_pipeline(MinMaxScaler(clip=True), FOREST), "cannot clip"),
        (make_pipeline(ensemble.RandomTreesEmbedding(3), FOREST), "for the step"),
        (KernelRidgeClassifierCV(kernel="laplacian"), "no kernel 'laplacian'"),
    ],
)
def test_members_without_a_form(model, told):
    y = labels(2)
    held = HeldOut(clone(model).fit(X, y), np.empty((0, 0)), "out-of-fold")
    with pytest.raises(ValueError, match=told):
        shares_of(held, np.unique(y), NEW)


def test_a_mixture_in_a_mixture_has_no_form():
    classes, codes = np.unique(labels(2), return_inverse=True)
    ridge = KernelRidgeClassifierCV(random_state=0)
    inner = SemiSupervisedClassifier(ridge, graph=None, random_state=0).fit(X, codes)
    held = HeldOut(OfAllRows(inner, classes), np.empty((0, 0)), "out-of-fold")
    with pytest.raises(ValueError, match="holds a SemiSupervisedClassifier"):
        shares_of(held, classes, NEW)
