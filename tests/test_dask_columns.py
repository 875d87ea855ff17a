"""Labels with several columns in partitions, against the local estimator."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

import graphkm
from dask_rows import moons
from graphkm.graphs import Anchors

dask = pytest.importorskip("dask", reason="dask is not installed: pip install 'graphkm[dask]'")
pytest.importorskip("distributed", reason="distributed is not installed")

import dask.array as da  # noqa: E402
import dask.dataframe as dd  # noqa: E402
import pandas as pd  # noqa: E402

from graphkm.dask import SemiSupervisedClassifier, SemiSupervisedRegressor  # noqa: E402

pytestmark = pytest.mark.xdist_group("dask")
LINE = {"estimator": LogisticRegression(), "graph": Anchors(60), "random_state": 0}
SLOPE = {"estimator": LinearRegression(), "graph": Anchors(60), "random_state": 0}
NAMES = ["upper", "right", "high"]


def several_labels(n=600, n_labeled=120):
    """Return moons with three labels per row, of which some are not known."""
    X, y, truth = moons(n, n_labeled)
    whole = np.column_stack([truth, X[:, 0] > 0.5, X[:, 1] > 0.7]).astype(float)
    table = np.where(np.random.default_rng(0).random(whole.shape) < 0.2, np.nan, whole)
    table[y < 0] = np.nan
    return X, table, whole


def shares(n=600, n_labeled=90):
    """Return shares of three classes; rows of zeros are unlabelled."""
    X, y, truth = moons(n, n_labeled)
    table = np.column_stack([truth == 0, truth == 1, X[:, 1] > 0.7]).astype(float) + 0.1
    table = np.where((y >= 0)[:, None], table / table.sum(axis=1, keepdims=True), 0.0)
    table[np.flatnonzero(y >= 0)[::7]] *= 0.5  # the rest is unknown
    return X, table


def several_quantities(n=600, n_labeled=90):
    X, y, _ = moons(n, n_labeled)
    whole = np.column_stack([np.sin(3 * X[:, 0]), 1e3 + X @ [1.0, 2.0]])
    table = np.where((y >= 0)[:, None], whole, np.nan)
    table[np.flatnonzero(y >= 0)[:9], 0] = np.nan
    table[np.flatnonzero(y >= 0)[-9:], 1] = np.nan
    return X, table, whole


def cut(X, table, rows=170, labels=(200, 2)):
    return da.from_array(X, chunks=(rows, -1)), da.from_array(table, chunks=labels)


def lists_of(table, names=NAMES):
    """Return lists of names in place of 0 and 1; None if any is not known."""
    lists = np.empty(len(table), dtype=object)
    for place, line in enumerate(table):
        if not np.isnan(line).any():
            lists[place] = [n for n, has in zip(names, line, strict=True) if has]
    return lists


def weights_of(model):
    return {each.name: each.weight for each in model.members_}


def assert_same(model, wanted, X):
    """The members, what they say together, and what held-out labels said."""
    assert weights_of(model) == pytest.approx(weights_of(wanted), abs=1e-6)
    assert model.best_score_ == pytest.approx(wanted.best_score_)
    home = model.to_local()
    np.testing.assert_array_equal(home.labeled_, wanted.labeled_)
    np.testing.assert_allclose(home.held_out_, wanted.held_out_, atol=1e-6)
    if hasattr(wanted, "classes_"):
        assert model.classes_.tolist() == wanted.classes_.tolist()
        np.testing.assert_allclose(home.predict_proba(X), wanted.predict_proba(X), atol=1e-6)
    size = np.abs(wanted.predict(X)).max()
    np.testing.assert_allclose(home.predict(X), wanted.predict(X), atol=1e-6 * size)


# ------------------------------------------------------------------ the same as at home


@pytest.mark.long
@pytest.mark.parametrize(("rows", "labels"), [(600, (600, 3)), (170, (200, 2)), (97, (97, 1))])
def test_several_labels(rows, labels):
    X, table, _ = several_labels()
    wanted = graphkm.SemiSupervisedClassifier(**LINE, thresholds="f1").fit(X, table)
    model = SemiSupervisedClassifier(**LINE, thresholds="f1")
    there, given = cut(X, table, rows, labels)
    model.fit(there, given)
    assert_same(model, wanted, X)
    np.testing.assert_allclose(model.thresholds_, wanted.thresholds_, atol=1e-6)
    for method in ("predict", "predict_proba", "decision_function"):
        found = getattr(model, method)(there)
        assert found.chunks == (there.chunks[0], (3,))
        mine, other = found.compute(), getattr(wanted, method)(X)
        assert mine.dtype == found.dtype == other.dtype
        np.testing.assert_allclose(mine, other, atol=1e-5)


@pytest.mark.long
def test_two_labels_have_a_score_each():
    """Two columns of labels are no classes, of which one score would tell all."""
    X, table, _ = several_labels()
    wanted = graphkm.SemiSupervisedClassifier(**LINE).fit(X, table[:, :2])
    there, given = cut(X, table[:, :2])
    model = SemiSupervisedClassifier(**LINE).fit(there, given)
    found = model.decision_function(there).compute()
    assert found.shape == (600, 2)
    np.testing.assert_array_equal(found > 0, wanted.predict(X))


@pytest.mark.long
def test_weights():
    X, table, _ = several_labels()
    weight = np.random.default_rng(1).random(len(X)) * (np.arange(len(X)) % 5 > 0)
    wanted = graphkm.SemiSupervisedClassifier(**LINE).fit(X, table, weight)
    model = SemiSupervisedClassifier(**LINE)
    model.fit(*cut(X, table), da.from_array(weight, chunks=70))
    assert_same(model, wanted, X)


@pytest.mark.long
@pytest.mark.parametrize("targets", ["auto", "shares"])
def test_shares_of_classes(targets):
    """Partitions without a label hold nothing but zeros, which other kinds of y count as labels."""
    X, table = shares()
    order = np.argsort(table.sum(axis=1) == 0, kind="stable")
    X, table = X[order], table[order]
    wanted = graphkm.SemiSupervisedClassifier(**LINE).fit(X, table)
    model = SemiSupervisedClassifier(**LINE, targets=targets, label_memory=90 * 16)
    there, given = cut(X, table, 170, (60, 2))
    model.fit(there, given)
    assert_same(model, wanted, X)
    kept = model.transduction(there, given).compute()
    np.testing.assert_array_equal(kept, wanted.transduction_)


@pytest.mark.long
def test_several_quantities():
    X, table, _ = several_quantities()
    wanted = graphkm.SemiSupervisedRegressor(**SLOPE).fit(X, table)
    there, given = cut(X, table)
    model = SemiSupervisedRegressor(**SLOPE).fit(there, given)
    assert_same(model, wanted, X)
    found = model.predict(there)
    assert found.shape == (600, 2)
    np.testing.assert_allclose(found.compute(), wanted.predict(X), rtol=1e-6)
    kept = model.transduction(there, given).compute()
    np.testing.assert_array_equal(kept[~np.isnan(table)], table[~np.isnan(table)])
    np.testing.assert_allclose(kept, wanted.transduction_, rtol=1e-6)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["array", "series", "parquet"])
def test_every_partition_may_have_other_names(kind, tmp_path):
    X, _, whole = several_labels()
    whole[np.arange(len(X)) % 5 > 0] = np.nan
    order = np.argsort(X[:, 0], kind="stable")  # the first partitions have no row at the right
    X, lists = X[order], lists_of(whole[order])
    wanted = graphkm.SemiSupervisedClassifier(**LINE).fit(X, lists.tolist())
    if kind == "array":
        there, given = cut(X, lists, 170, 90)
    else:
        there = dd.from_pandas(pd.DataFrame(X, columns=["a", "b"]), npartitions=3)
        with dask.config.set({"dataframe.convert-string": False}):
            given = dd.from_pandas(pd.Series(lists, name="tags"), npartitions=4)
    if kind == "parquet":
        pytest.importorskip("pyarrow")
        pd.DataFrame({"tags": lists}).to_parquet(tmp_path / "tags.parquet", row_group_size=150)
        given = dd.read_parquet(tmp_path / "tags.parquet", split_row_groups=True)["tags"]
    model = SemiSupervisedClassifier(**LINE).fit(there, given)
    assert model.classes_.tolist() == sorted(NAMES)
    X = X if kind == "array" else pd.DataFrame(X, columns=["a", "b"])
    np.testing.assert_allclose(
        model.to_local().predict_proba(X), wanted.predict_proba(np.asarray(X)), atol=1e-6
    )
    assert model.score(there, given) == pytest.approx(wanted.score(np.asarray(X), lists))


@pytest.mark.long
def test_frames_keep_names_and_index():
    X, table, _ = several_labels()
    frame = pd.DataFrame(X, columns=["a", "b"], index=np.arange(600) + 5000)
    labels = pd.DataFrame(table, columns=NAMES, index=frame.index)
    wanted = graphkm.SemiSupervisedClassifier(**LINE).fit(frame, labels)
    there, given = dd.from_pandas(frame, npartitions=4), dd.from_pandas(labels, npartitions=3)
    model = SemiSupervisedClassifier(**LINE).fit(there, given)
    assert_same(model, wanted, frame)
    for method in ("predict", "predict_proba", "decision_function"):
        lazy = getattr(model, method)(there)
        assert list(lazy.columns) == NAMES and lazy.npartitions == 4
        found = lazy.compute()
        np.testing.assert_array_equal(found.index, frame.index)
        np.testing.assert_allclose(found, getattr(wanted, method)(frame), atol=1e-5)
    same = dd.from_pandas(labels[NAMES[::-1]], npartitions=4)  # names tell columns apart
    kept = model.transduction(there, same)
    assert list(kept.columns) == NAMES
    np.testing.assert_array_equal(kept.compute(), wanted.transduction_)


def test_frames_of_quantities_keep_names():
    X, table, _ = several_quantities()
    frame = pd.DataFrame(X, columns=["a", "b"])
    there = dd.from_pandas(frame, npartitions=4)
    given = dd.from_pandas(pd.DataFrame(table, columns=["wave", "plane"]), npartitions=4)
    model = SemiSupervisedRegressor(**SLOPE).fit(there, given)
    assert list(model.predict(there).columns) == ["wave", "plane"]
    kept = model.transduction(there, given).compute()
    np.testing.assert_array_equal(kept.to_numpy()[~np.isnan(table)], table[~np.isnan(table)])


@pytest.mark.long
def test_workers_do_not_matter(client):
    X, table, _ = several_labels()
    wanted = graphkm.SemiSupervisedClassifier(**LINE).fit(X, table)
    there, given = cut(X, table)
    model = SemiSupervisedClassifier(**LINE).fit(there, given)
    assert_same(model, wanted, X)
    kept = model.transduction(there, given).compute()
    np.testing.assert_array_equal(kept, wanted.transduction_)


@pytest.mark.long
def test_ordered_classes():
    X, y, _ = moons(600, 90)
    y = np.where((y >= 0) & (X[:, 1] > 0.7), 2, y)
    words = np.array(["low", "mid", "high", None], dtype=object)[y]
    labels = pd.Series(pd.Categorical(words, ["low", "mid", "high"], ordered=True))
    frame = pd.DataFrame(X, columns=["a", "b"])
    wanted = graphkm.SemiSupervisedClassifier(**LINE).fit(frame, labels)
    there = dd.from_pandas(frame, npartitions=3)
    for parts in (3, 2):  # cut as the rows are, and in another way
        model = SemiSupervisedClassifier(**LINE)
        model.fit(there, dd.from_pandas(labels, npartitions=parts))
        assert list(model.order_) == ["low", "mid", "high"]
        np.testing.assert_array_equal(model.predict(there).compute(), wanted.predict(frame))
    model = SemiSupervisedClassifier(**LINE, ordered=True).fit(*cut(X, y, 170, 200))
    assert list(model.order_) == [0, 1, 2]


# ------------------------------------------------------------------ scores


@pytest.mark.long
def test_scores_of_labels():
    X, table, whole = several_labels()
    model = SemiSupervisedClassifier(**LINE).fit(*cut(X, table))
    whole[::4, 1] = np.nan  # these rows do not count
    weight = np.random.default_rng(0).random(len(X))
    there, given = cut(X, whole)
    home = model.to_local()
    assert model.score(there, given) == pytest.approx(home.score(X, whole))
    weights = da.from_array(weight, chunks=300)
    assert model.score(there, given, weights) == pytest.approx(home.score(X, whole, weight))
    with pytest.raises(ValueError, match="None of the rows to score"):
        model.score(there, da.full((600, 3), np.nan, chunks=(300, 3)))


@pytest.mark.long
def test_scores_of_quantities():
    X, table, whole = several_quantities()
    model = SemiSupervisedRegressor(**SLOPE).fit(*cut(X, table))
    whole[::3, 1] = np.nan
    weight = np.random.default_rng(0).random(len(X)) * (np.arange(len(X)) % 5 > 0)
    there, given = cut(X, whole)
    home = model.to_local()
    assert model.score(there, given) == pytest.approx(home.score(X, whole))
    weights = da.from_array(weight, chunks=300)
    assert model.score(there, given, weights) == pytest.approx(home.score(X, whole, weight))
    whole[1:, 0] = np.nan  # one target has no spread, and the other column decides
    assert model.score(there, cut(X, whole)[1]) == pytest.approx(home.score(X, whole))


# ------------------------------------------------------------------ given graphs


@pytest.mark.long
def test_edges_and_several_labels():
    X, table, whole = several_labels(300, 90)
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, 300, (3600, 2))
    same = (whole[pairs[:, 0]] == whole[pairs[:, 1]]).all(axis=1)
    edges = pairs[same | (rng.random(3600) < 0.2)]  # all rows are joined: the model is unique
    there, given = cut(X, table, 120, (100, 2))
    for rows, dense in ((None, None), (there, X)):
        wanted = graphkm.SemiSupervisedClassifier("auto" if rows is None else LINE["estimator"])
        wanted.set_params(graph=Anchors(60), random_state=0).fit(dense, table, affinity=edges)
        model = SemiSupervisedClassifier(wanted.estimator, graph=Anchors(60), random_state=0)
        model.fit(rows, given, affinity=da.from_array(edges, chunks=(200, 2)))
        assert weights_of(model) == pytest.approx(weights_of(wanted), abs=1e-4)
        np.testing.assert_array_equal(model.transduction_, wanted.transduction_)
        found, other = model.label_distributions_, wanted.label_distributions_
        np.testing.assert_allclose(found, other, atol=1e-4)


# ------------------------------------------------------------------ errors


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: np.full_like(t, np.nan), "None of the 600 rows is labelled"),
        (lambda t: t * 2, "Row .* of y in Partition . has the shares .* add up to 1"),
        (lambda t: np.where(t == 1, np.inf, t), "contains infinity"),
        (lambda t: np.where(t == 1, "x", "y").astype(object), "must hold numbers"),
    ],
)
def test_what_a_pass_finds_is_said(change, message):
    X, table, _ = several_labels()
    with pytest.raises(ValueError, match=message):
        SemiSupervisedClassifier(**LINE).fit(*cut(X, change(table)))


def test_partitions_that_do_not_belong_together():
    X, _, _ = several_labels()
    mixed = np.empty(600, dtype=object)
    mixed[:300], mixed[300:] = "a", [("a", "b")] * 300
    with pytest.raises(ValueError, match="Some blocks of y have several columns or lists of names"):
        SemiSupervisedClassifier(**LINE).fit(*cut(X, mixed, 300, 300))
    with pytest.raises(ValueError, match="targets='labels' needs a column for each label"):
        SemiSupervisedClassifier(**LINE, targets="labels").fit(*cut(X, X[:, 0] > 0, 300, 300))


@pytest.mark.long
def test_columns_that_the_model_has_not_learnt():
    X, table, whole = several_labels()
    there, given = cut(X, table)
    model = SemiSupervisedClassifier(**LINE).fit(there, given)
    for call in (model.score, model.transduction):
        with pytest.raises(ValueError, match="y has 2 columns, and the model has learnt 3"):
            call(there, given[:, :2])
    classes = SemiSupervisedClassifier(**LINE).fit(there, da.from_array(table[:, 0], chunks=170))
    with pytest.raises(ValueError, match="shares of classes are 0 or more, and add up to 1"):
        classes.score(there, da.from_array(whole[:, :2], chunks=(170, 2)))
    quantities = SemiSupervisedRegressor(**SLOPE).fit(there, given)
    with pytest.raises(ValueError, match="y has 1 columns, and the model has learnt 3"):
        quantities.score(there, given[:, 0])
