"""Labels of all kinds in partitions, against the local estimator."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression

import graphkm
from dask_rows import cut, moons
from graphkm.exchange import load_model, save_model
from graphkm.graphs import Anchors
from graphkm.graphs.anchors import drawn_rows
from graphkm.kernel_ridge import KernelRidgeClassifierCV, KernelRidgeCV

pytest.importorskip("dask", reason="dask is not installed: pip install 'graphkm[dask]'")
pytest.importorskip("distributed", reason="distributed is not installed")

import dask.array as da
import dask.dataframe as dd
import pandas as pd

from graphkm.dask import SemiSupervisedClassifier, SemiSupervisedRegressor
from graphkm.dask.part_fit import fit_parts
from graphkm.dask.runner import Runner

pytestmark = pytest.mark.xdist_group("dask")
ABOUT = {"graph": Anchors(150), "random_state": 0}
MACHINE = KernelRidgeClassifierCV(random_state=0, n_jobs=1)


def three_moons(n=2000, n_labeled=600):
    """Moons and a third class between them, some rows labelled."""
    X, y, _ = moons(n, n_labeled)
    middle = (np.abs(X[:, 0] - 0.5) < 0.3) & (np.abs(X[:, 1] - 0.25) < 0.3)
    return X, np.where(middle & (y >= 0), 2, y)


def assert_same(model, wanted, X):
    """The weights of the members, and what they say together."""
    weights = [{each.name: each.weight for each in own.members_} for own in (model, wanted)]
    assert weights[0] == pytest.approx(weights[1], abs=1e-6)
    assert model.best_score_ == pytest.approx(wanted.best_score_, abs=1e-9)
    home = model.to_local()
    if hasattr(wanted, "classes_"):
        np.testing.assert_array_equal(home.predict(X), wanted.predict(X))
        np.testing.assert_allclose(home.predict_proba(X), wanted.predict_proba(X), atol=1e-6)
    else:
        size = np.std(wanted.predict(X))
        np.testing.assert_allclose(home.predict(X), wanted.predict(X), atol=1e-6 * size)


@pytest.mark.long
@pytest.mark.parametrize("rows", [2000, 700, 31])
def test_three_classes(rows):
    X, y = three_moons()
    wanted = graphkm.SemiSupervisedClassifier(LogisticRegression(), **ABOUT).fit(X, y)
    model = SemiSupervisedClassifier(LogisticRegression(), **ABOUT)
    model.fit(*cut(X, y, rows, labels=900))
    assert_same(model, wanted, X)
    scores = model.decision_function(da.from_array(X, chunks=(rows, 2)))
    assert scores.shape == (2000, 3)
    np.testing.assert_allclose(scores.compute(), wanted.decision_function(X), atol=1e-4)


@pytest.mark.long
def test_copies_in_other_partitions_are_held_out_together():
    """Every label is copied, and contradicted by some copies; the copies lie far away."""
    X, y = three_moons(500, 500)
    rng = np.random.default_rng(0)
    again = rng.permutation(500)
    X, y = np.vstack([X, X[again]]), np.append(y, np.where(rng.random(500) < 0.2, 0, y[again]))
    wanted = graphkm.SemiSupervisedClassifier(MACHINE, **ABOUT).fit(X, y)
    model = SemiSupervisedClassifier(MACHINE, **ABOUT).fit(*cut(X, y, 170, labels=400))
    assert_same(model, wanted, X)


@pytest.mark.long
def test_quantities_weights_and_workers(client):
    X, y, _ = moons(1200, 150)
    y = np.where(y >= 0, 1e4 + np.sin(4 * X[:, 0]), np.nan)
    weight = np.random.default_rng(0).random(len(y)) * (np.arange(len(y)) % 7 > 0)
    machine = KernelRidgeCV(random_state=0, n_jobs=1)
    wanted = graphkm.SemiSupervisedRegressor(machine, **ABOUT).fit(X, y, weight)
    model = SemiSupervisedRegressor(machine, **ABOUT)
    model.fit(*cut(X, y, 450), da.from_array(weight, chunks=300))
    assert_same(model, wanted, X)


@pytest.mark.long
def test_frames_with_texts_as_labels_and_empty_partitions(tmp_path):
    X, y, _ = moons(1500, 400)
    names = np.array(["no", "yes"], dtype=object)
    labels = pd.Series(np.where(y >= 0, names[y], None), dtype=object)
    frame = pd.DataFrame(X.astype(np.float32), columns=["a", "b"])
    wanted = graphkm.SemiSupervisedClassifier(MACHINE, **ABOUT).fit(frame, labels.to_numpy())
    rows = dd.from_pandas(frame, npartitions=4)
    rows = dd.concat(
        [rows.partitions[:1], rows[rows["a"] > 99].partitions[:1], rows.partitions[1:]]
    )
    model = SemiSupervisedClassifier(MACHINE, **ABOUT)
    model.fit(rows, dd.from_pandas(labels, npartitions=3))
    home = model.to_local()
    np.testing.assert_array_equal(home.predict(frame), wanted.predict(frame))
    np.testing.assert_allclose(home.predict_proba(frame), wanted.predict_proba(frame), atol=1e-5)
    assert home.feature_names_in_.tolist() == ["a", "b"]
    save_model(home, tmp_path / "model.gkm")
    again = load_model(tmp_path / "model.gkm")
    np.testing.assert_array_equal(again.predict(frame), home.predict(frame))


class ByName(ClassifierMixin, BaseEstimator):
    """Looks at the column "a" of frames, and takes nothing else."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.middle_ = X["a"].mean()
        return self

    def predict_proba(self, X):
        found = 1 / (1 + np.exp(self.middle_ - X["a"].to_numpy()))
        return np.column_stack([1 - found, found])


@pytest.mark.long
def test_models_see_the_names_of_columns():
    X, y, _ = moons(600, 80)
    frame, labels = pd.DataFrame(X, columns=["b", "a"]), pd.Series(y)
    wanted = graphkm.SemiSupervisedClassifier(ByName(), **ABOUT).fit(frame, y)
    model = SemiSupervisedClassifier(ByName(), **ABOUT)
    rows = dd.from_pandas(frame, npartitions=3)
    model.fit(rows, dd.from_pandas(labels, npartitions=2))
    assert_same(model, wanted, frame)
    shares = model.predict_proba(rows).compute()
    np.testing.assert_allclose(shares, wanted.predict_proba(frame), atol=1e-6)


@pytest.mark.long
def test_sparse_rows():
    X, y, _ = moons(1500, 300)
    X = np.where(X > 0.3, X, 0.0)
    sparse = da.from_array(X, chunks=(400, -1)).map_blocks(sp.csr_array)
    wanted = graphkm.SemiSupervisedClassifier(MACHINE, **ABOUT).fit(sp.csr_array(X), y)
    model = SemiSupervisedClassifier(MACHINE, **ABOUT).fit(sparse, da.from_array(y, chunks=400))
    np.testing.assert_array_equal(model.to_local().predict(X), wanted.predict(X))


@pytest.mark.long
def test_the_memory_of_labelled_rows():
    X, y = three_moons(2000, 900)
    model = SemiSupervisedClassifier(LogisticRegression(), label_memory="10 kB", **ABOUT)
    message = r"900 labelled rows take 14.06 kiB.*label_memory allows 9.77 kiB.*from 625 labelled"
    with pytest.warns(UserWarning, match=message):
        model.fit(*cut(X, y))
    # The local estimator learns the same from these labels and all rows.
    some = np.flatnonzero(y != -1)[drawn_rows(900, 625, 1)]
    left = np.full_like(y, -1)
    left[some] = y[some]
    wanted = graphkm.SemiSupervisedClassifier(LogisticRegression(), **ABOUT).fit(X, left)
    assert model.best_score_ == pytest.approx(wanted.best_score_)
    np.testing.assert_allclose(model.to_local().predict_proba(X), wanted.predict_proba(X))
    with pytest.warns(UserWarning, match=message):  # other partitions, the same rows
        other = clone(model).fit(*cut(X, y, 700))
    assert other.best_score_ == pytest.approx(wanted.best_score_)
    model.set_params(label_memory="15 kiB").fit(*cut(X, y))


def test_a_draw_of_labels_loses_no_class_silently():
    X, y = three_moons(2000, 900)
    y[:2] = 7  # a class of two rows
    model = SemiSupervisedClassifier(LogisticRegression(), label_memory="1 kB", **ABOUT)
    with (
        pytest.warns(UserWarning, match="drawn at random"),
        pytest.raises(ValueError, match=r"none of the class 7 \(1 of 4 classes"),
    ):
        model.fit(*cut(X, y))


def test_two_labels_of_each_class():
    X, _, truth = moons()
    y = np.full(len(X), -1)
    for label in (0, 1):
        y[np.flatnonzero(truth == label)[:2]] = label
    wanted = graphkm.SemiSupervisedClassifier(LogisticRegression(), **ABOUT).fit(X, y)
    model = SemiSupervisedClassifier(LogisticRegression(), **ABOUT).fit(*cut(X, y))
    np.testing.assert_allclose(
        model.to_local().predict_proba(X), wanted.predict_proba(X), atol=1e-6
    )
    assert np.isnan(model.best_score_) == np.isnan(wanted.best_score_)


def halves(part, about):
    """Read a part of rows for `fit_parts`."""
    X, y = about
    return X[part], y[part]


@pytest.mark.long
def test_labelled_rows_of_files_take_a_share_of_a_workers_memory(monkeypatch):
    """A 64th of it, or 2 GiB where there is no limit."""
    X, y, _ = moons(2000, 900)
    parts, lengths = [slice(0, 1000), slice(1000, 2000)], [1000, 1000]
    rows = (y != -1).sum() * X[:1].nbytes

    def fitted(memory):
        runner = Runner()
        monkeypatch.setattr(Runner, "worker_memory", lambda self: memory)
        model = graphkm.SemiSupervisedClassifier(LogisticRegression(), n_jobs=1, **ABOUT)
        return fit_parts(model, halves, parts, lengths, runner, (X, y))

    every = fitted(None)
    assert fitted(64 * rows).best_score_ == every.best_score_
    with pytest.warns(UserWarning, match="learn from 899 labelled rows"):
        fitted(64 * rows - 1)
