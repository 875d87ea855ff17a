"""Many labels: sums over labelled rows in their partitions, against gathered rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

import graphkm
from dask_rows import cut, moons
from graphkm.exchange import load_model, save_model
from graphkm.graphs import Anchors
from graphkm.machines import KernelRidgeClassifierCV, KernelRidgeCV

dask = pytest.importorskip("dask", reason="dask is not installed: pip install 'graphkm[dask]'")
pytest.importorskip("distributed", reason="distributed is not installed")

import dask.array as da  # noqa: E402
import dask.dataframe as dd  # noqa: E402
import pandas as pd  # noqa: E402

from graphkm.dask import (  # noqa: E402
    GKMClassifier,
    GKMClassifierCV,
    GKMRegressor,
    GraphCorrectedClassifier,
)

pytestmark = pytest.mark.xdist_group("dask")
ABOUT = {"n_anchors": 150, "random_state": 0}


@pytest.fixture
def in_place(monkeypatch):
    """The rows must not be gathered."""

    def fail(*_):
        raise AssertionError("labelled rows were gathered")

    monkeypatch.setattr("graphkm.dask.passes.fit_model", fail)


IN_PLACE = pytest.mark.usefixtures("in_place")


def three_moons(n=2000, n_labeled=900):
    """Moons and a third class between them, some rows labelled."""
    X, y, _ = moons(n, n_labeled)
    middle = (np.abs(X[:, 0] - 0.5) < 0.3) & (np.abs(X[:, 1] - 0.25) < 0.3)
    return X, np.where(middle & (y >= 0), 2, y)


def local(machine, X, y, **more):
    kind = graphkm.GraphCorrectedClassifier
    if isinstance(machine, KernelRidgeCV):
        kind = graphkm.GraphCorrectedRegressor
    return kind(machine, graph=Anchors(150), random_state=0, n_jobs=1, **more).fit(X, y)


def assert_same(model, wanted, X):
    """The machine, its held-out predictions, the field and the decisions."""
    mine, other = model.estimator_, wanted.estimator_
    np.testing.assert_array_equal(mine.support_vectors_, other.support_vectors_)
    assert (mine.gamma_, mine.alpha_) == (other.gamma_, other.alpha_)
    size = np.abs(other.dual_coef_).max()
    np.testing.assert_allclose(mine.dual_coef_, other.dual_coef_, atol=1e-6 * size)
    np.testing.assert_allclose(mine.held_out_, other.held_out_, atol=1e-6 * other.held_out_.std())
    assert model.best_params_ == pytest.approx(wanted.best_params_, nan_ok=True)
    assert model.held_out_by_ == "leave-one-out"
    if wanted.field_ is not None:
        size = np.abs(wanted.field_.values).max()
        np.testing.assert_allclose(model.field_.values, wanted.field_.values, atol=1e-5 * size)
    np.testing.assert_allclose(
        np.asarray(model.to_local().predict(X), float), np.asarray(wanted.predict(X), float)
    )


@IN_PLACE
@pytest.mark.parametrize("rows", [2000, 700, 31])
def test_classes_are_those_of_gathered_rows(rows):
    """31 rows in a partition: more partitions than tasks that sum."""
    X, y = three_moons()
    machine = KernelRidgeClassifierCV(
        n_landmarks=120, class_weight="balanced", random_state=0, n_jobs=1
    )
    wanted = local(machine, X, y)
    model = GKMClassifier(n_landmarks=120, class_weight="balanced", **ABOUT)
    model.fit(*cut(X, y, rows, labels=900))
    assert wanted.field_ is not None
    assert_same(model, wanted, X)
    assert model.best_score_ == wanted.best_score_


@IN_PLACE
def test_copies_in_other_partitions_are_held_out_together():
    """Every label is copied, and contradicted by some copies; the copies lie far away."""
    X, y = three_moons(800, 800)
    rng = np.random.default_rng(0)
    again = rng.permutation(800)
    X, y = np.vstack([X, X[again]]), np.append(y, np.where(rng.random(800) < 0.2, 0, y[again]))
    machine = KernelRidgeClassifierCV(n_landmarks=120, random_state=0, n_jobs=1)
    wanted = local(machine, X, y)
    model = GKMClassifier(n_landmarks=120, **ABOUT).fit(*cut(X, y, 250, labels=400))
    assert_same(model, wanted, X)
    assert len(np.unique(model.estimator_.held_out_, axis=0)) <= 800


@IN_PLACE
def test_quantities_weights_and_workers(client):
    X, y, _ = moons(2000, 700)
    y = np.where(y >= 0, 1e4 + np.sin(4 * X[:, 0]), np.nan)
    weight = np.random.default_rng(0).random(len(y)) * (np.arange(len(y)) % 7 > 0)
    machine = KernelRidgeCV(n_landmarks=60, random_state=0, n_jobs=1)
    wanted = graphkm.GraphCorrectedRegressor(
        machine, graph=Anchors(150), random_state=0, n_jobs=1
    ).fit(X, y, weight)
    model = GKMRegressor(n_landmarks=60, **ABOUT)
    model.fit(*cut(X, y, 450), da.from_array(weight, chunks=300))
    assert_same(model, wanted, X)


@IN_PLACE
def test_frames_with_texts_as_labels_and_empty_partitions(tmp_path):
    X, y, _ = moons(1500, 600)
    names = np.array(["no", "yes"], dtype=object)
    labels = pd.Series(np.where(y >= 0, names[y], None), dtype=object)
    frame = pd.DataFrame(X.astype(np.float32), columns=["a", "b"])
    wanted = local(
        KernelRidgeClassifierCV(n_landmarks=50, random_state=0, n_jobs=1), frame, labels.to_numpy()
    )
    rows = dd.from_pandas(frame, npartitions=4)
    rows = dd.concat(
        [rows.partitions[:1], rows[rows["a"] > 99].partitions[:1], rows.partitions[1:]]
    )
    model = GKMClassifier(n_landmarks=50, **ABOUT)
    model.fit(rows, dd.from_pandas(labels, npartitions=3))
    home = model.to_local()
    np.testing.assert_array_equal(home.predict(frame), wanted.predict(frame))
    np.testing.assert_allclose(home.predict_proba(frame), wanted.predict_proba(frame), atol=1e-5)
    assert home.feature_names_in_.tolist() == ["a", "b"]
    # The model knows the landmarks alone, and keeps their labels.
    assert len(home.transduction_) == 600 and set(home.transduction_) == {"no", "yes"}
    save_model(home, tmp_path / "model.gkm")
    again = load_model(tmp_path / "model.gkm")
    np.testing.assert_array_equal(again.predict(frame), home.predict(frame))
    np.testing.assert_array_equal(again.transduction_, home.transduction_)


@IN_PLACE
def test_sparse_rows():
    X, y, _ = moons(1500, 600)
    X = np.where(X > 0.3, X, 0.0)
    sparse = da.from_array(X, chunks=(400, -1)).map_blocks(sp.csr_array)
    machine = KernelRidgeClassifierCV(n_landmarks=50, random_state=0, n_jobs=1)
    wanted = local(machine, sp.csr_array(X), y)
    model = GKMClassifier(n_landmarks=50, **ABOUT).fit(sparse, da.from_array(y, chunks=400))
    np.testing.assert_array_equal(model.to_local().predict(X), wanted.predict(X))


@IN_PLACE
def test_more_labels_than_choose_alpha():
    """Beyond 10,000 labels a sample chooses; kernel values are in single precision.

    There, sums by two threads of BLAS differ visibly from those by one.
    """
    X, y, _ = moons(13_000, 11_000)
    machine = KernelRidgeClassifierCV([3.0], n_landmarks=200, random_state=0, n_jobs=1)
    with threadpool_limits(1):
        wanted = local(machine, X, y)
        model = GKMClassifier(gamma=3.0, n_landmarks=200, **ABOUT).fit(*cut(X, y, 3000))
    mine, other = model.estimator_, wanted.estimator_
    np.testing.assert_array_equal(mine.support_vectors_, other.support_vectors_)
    assert mine.alpha_ == other.alpha_
    np.testing.assert_allclose(mine.held_out_, other.held_out_, atol=1e-4)
    assert np.mean(model.to_local().predict(X) == wanted.predict(X)) > 0.9995


@IN_PLACE
def test_a_search_with_many_labels():
    X, y = three_moons()
    estimator = GKMClassifier(n_landmarks=60)
    search = GKMClassifierCV(
        estimator, gammas=[1.0, 10.0], graphs=[(150, 1), (60, 1)], random_state=0
    ).fit(*cut(X, y, 500))
    assert len(search.cv_results_["params"]) == 2 + 4 * 16
    assert np.mean(search.to_local().predict(X)[y >= 0] == y[y >= 0]) > 0.9


def test_other_estimators_gather_their_rows():
    X, y = three_moons()
    model = GraphCorrectedClassifier(LogisticRegression(), label_memory="10 kB", **ABOUT)
    with pytest.raises(ValueError, match=r"900 labelled rows take 14.06 kiB.*own machine"):
        model.fit(*cut(X, y))
    model.set_params(label_memory="15 kiB").fit(*cut(X, y))


@pytest.mark.parametrize("n_landmarks", [50, 900])  # labels stay in partitions, or are gathered
def test_a_class_of_weight_zero_is_a_label_of_weight_zero(n_landmarks):
    X, y = three_moons()
    by_class, by_row = (
        GKMClassifier(n_landmarks=n_landmarks, class_weight=weight, **ABOUT)
        for weight in ({2: 0.0}, None)
    )
    rows, labels = cut(X, y)
    by_row.fit(rows, labels, (labels != 2).astype(float))
    by_class.fit(rows, labels)
    assert by_class.classes_.tolist() == by_row.classes_.tolist() == [0, 1]
    found, wanted = by_class.to_local(), by_row.to_local()
    np.testing.assert_allclose(found.decision_function(X), wanted.decision_function(X), atol=1e-6)


@IN_PLACE
def test_too_many_labels_for_one_worker():
    X, y = three_moons()
    model = GKMClassifier(n_landmarks=50, label_memory="10 kB", **ABOUT)
    with pytest.raises(ValueError, match="What is known of the 900 labels takes"):
        model.fit(*cut(X, y))
