"""Classes that have the sizes a person gave, or that unlabelled rows tell."""

import re

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_moons
from sklearn.linear_model import LogisticRegression

from graphkm import SemiSupervisedClassifier
from graphkm.exchange import load_model, save_model
from graphkm.graphs import Anchors
from graphkm.judge.sizes import (
    BEFORE,
    SLACK,
    checked_sizes,
    drawn_by_class,
    sizes_of_rows,
    tilt_to_sizes,
    tilted,
)


def _blobs(n=280, labels=15, seed=0, names=("a", "b", "c")):
    """Return overlapping blobs of sizes 4 : 2 : 1 and few labels, as many of each class."""
    sizes = [n * share // 7 for share in (4, 2, 1)]
    centres = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])
    X, code = make_blobs(sizes, centers=centres, cluster_std=1.1, random_state=seed)
    truth = np.array(names)[code]
    y = np.full(len(X), "", dtype=object)
    random = np.random.default_rng(seed)
    for k in range(3):
        rows = random.choice(np.flatnonzero(code == k), labels // 3, replace=False)
        y[rows] = truth[rows]
    return X, y, truth


def _shares(model, X):
    return dict(zip(model.classes_, model.predict_proba(X).mean(axis=0), strict=True))


SIZES = {"a": 4, "b": 2, "c": 1}


def _model(**more):
    """Return a model with one model of the labelled rows, and with all members on the graph."""
    return SemiSupervisedClassifier(LogisticRegression(), unlabeled="", random_state=0, **more)


@pytest.fixture(scope="module")
def sized():
    """Return blobs, and a fit with all usual models that was given their sizes."""
    X, y, _ = _blobs()
    model = SemiSupervisedClassifier(unlabeled="", random_state=0, class_sizes=SIZES)
    return X, y, model.fit(X, y)


def test_tilt_is_the_minimum_that_a_solver_of_convex_problems_finds():
    cp = pytest.importorskip("cvxpy")
    shares = np.random.default_rng(0).dirichlet([0.5, 1.0, 2.0, 0.3], 60)
    sizes = np.array([0.4, 0.3, 0.2, 0.1])
    b = cp.Variable(4)
    logs = np.log(np.maximum(shares, 1e-12))
    total = cp.sum([cp.log_sum_exp(row + b) for row in logs]) / len(logs)
    loss = total - sizes @ b + SLACK * sizes @ cp.abs(b)
    cp.Problem(cp.Minimize(loss)).solve(solver=cp.CLARABEL)
    assert tilt_to_sizes(shares, sizes) == pytest.approx(b.value, abs=1e-5)


@pytest.mark.parametrize("factor", [0.5, 0.95, 1.05, 2.0])
def test_classes_are_within_a_tenth_of_their_sizes(factor):
    shares = np.random.default_rng(1).dirichlet([1.0, 2.0, 3.0], 400)
    own = shares.mean(axis=0)
    sizes = own * [factor, 1.0, 1.0]
    sizes /= sizes.sum()
    tilt = tilt_to_sizes(shares, sizes)
    found = tilted(shares, tilt).mean(axis=0)
    assert (np.abs(found / sizes - 1.0) <= SLACK + 1e-5).all()
    if 0.9 < factor < 1.1:  # near enough: nothing is done
        assert not tilt.any()
    else:
        assert tilt.any()


@pytest.mark.long
def test_known_sizes_help_where_labels_say_the_wrong_ones():
    gains = []
    for seed in range(5):
        X, y, truth = _blobs(seed=seed)
        plain = _model(class_sizes=None).fit(X, y)
        sized = clone(plain).set_params(class_sizes=SIZES).fit(X, y)
        gains.append(np.mean(sized.predict(X) == truth) - np.mean(plain.predict(X) == truth))
        found = _shares(sized, X)
        for name, size in SIZES.items():
            assert found[name] == pytest.approx(size / 7, rel=SLACK + 1e-3)
    assert np.mean(gains) > 0.0
    assert min(gains) > -0.02


@pytest.mark.dear
@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e6])
def test_only_the_ratios_of_sizes_matter(scale):
    X, y, _ = _blobs(n=140)
    sizes = {name: size * scale for name, size in SIZES.items()}
    one, two = (_model(class_sizes=each).fit(X, y) for each in (SIZES, sizes))
    assert two.predict_proba(X) == pytest.approx(one.predict_proba(X), abs=1e-6)


@pytest.mark.long
def test_labels_give_the_sizes():
    X, y, truth = _blobs()
    y[:200] = truth[:200]
    known = y != ""
    model = _model(class_sizes="labels").fit(X, y)
    for name, share in _shares(model, X).items():
        assert share == pytest.approx(np.mean(y[known] == name), rel=SLACK + 1e-3)


def test_weights_count_in_the_labels_sizes():
    own = checked_sizes("labels", np.array(["a", "b"]), np.array([0.9, 0.1]))
    assert own.tolist() == [0.9, 0.1]


def test_without_sizes_nothing_changes():
    X, y, _ = _blobs()
    model = _model(class_sizes=None).fit(X, y)
    assert model.mixture_.tilt is None
    assert model.class_sizes_ == pytest.approx(np.full(3, 1 / 3))


# ------------------------------------------------------------------ estimated sizes


def test_estimated_sizes_are_the_most_likely_ones():
    cp = pytest.importorskip("cvxpy")
    shares = np.random.default_rng(0).dirichlet([2.0, 0.4, 0.8], 80)
    counts = np.full(3, 30.0)
    s = cp.Variable(3)
    means = shares.mean(axis=0)
    told = sum(shares[:, k].var() for k in range(3)) / sum(m * (1 - m) for m in means)
    rows = 90 * min(1.0, told / (1 - told) ** 2)
    seen = cp.sum(cp.log(shares @ s)) * min(1.0, rows / len(shares))
    cp.Problem(cp.Maximize(seen + BEFORE * cp.sum(cp.log(s))), [cp.sum(s) == 1]).solve()
    share = drawn_by_class(counts)
    expected = s.value**share / (s.value**share).sum()
    assert sizes_of_rows(shares, counts) == pytest.approx(expected, abs=1e-4)


def test_rows_that_tell_little_move_no_sizes():
    """Sixty labels of each class leave such an error in the odds; sure rows are believed."""
    rng = np.random.default_rng(0)
    counts = np.array([60.0, 60.0])
    for spread, most in ((0.1, 0.06), (2.0, 0.03)):
        truth = rng.random(4000) < 0.5
        odds = spread**2 / 2 * np.where(truth, 1, -1) + rng.normal(0, spread, 4000)
        for shift in (0.0, 1 / np.sqrt(30)):
            share = 1 / (1 + np.exp(-odds - shift))
            found = sizes_of_rows(np.column_stack([share, 1 - share]), counts)
            assert abs(found[0] - 0.5) < most + (0.1 if spread > 1 and shift else 0.0)
    rare = np.repeat([[0.99, 0.01], [0.01, 0.99]], [900, 100], axis=0)
    assert sizes_of_rows(rare, counts) == pytest.approx([0.9, 0.1], abs=0.04)


def test_how_likely_labels_by_class_are_is_a_count_of_all_labels():
    """Two classes: all numbers of labels are listed one by one."""
    n = 20
    every = np.arange(n + 1)
    wanted = np.exp(-np.abs(every - n / 2) - np.abs(n - every - n / 2))
    usual = (1 + np.exp(-1)) / (1 - np.exp(-1))  # the sum of exp(-|j|) over all j
    expected = wanted / usual / (wanted / usual + 1 / (n + 1))
    found = [drawn_by_class(np.array([i, n - i], float)) for i in every]
    assert found == pytest.approx(expected, rel=1e-9)


def test_labels_drawn_by_class_let_the_rows_tell_the_sizes():
    """The same number of each of three classes is labelled; their sizes are 4 : 2 : 1."""
    gains = []
    for seed in range(4):
        X, y, truth = _blobs(n=420, labels=60, seed=seed)
        auto = _model(graph=None).fit(X, y)
        none = clone(auto).set_params(class_sizes=None).fit(X, y)
        a, b, c = auto.class_sizes_
        assert 4 / 7 > a > 0.4 > b > c > 1 / 7  # sixty labels are not sure of it
        gains.append(np.mean(auto.predict(X) == truth) - np.mean(none.predict(X) == truth))
    assert np.mean(gains) > 0.0
    assert min(gains) > -0.01


def test_one_label_more_changes_little_and_many_more_end_it():
    X, y, truth = _blobs(labels=60)
    more = np.flatnonzero((y == "") & (truth == "a"))
    model = _model(graph=None)
    sizes = []
    for n in (0, 1, 40):
        own = y.copy()
        own[more[:n]] = "a"
        sizes.append(clone(model).fit(X, own).class_sizes_)
    assert sizes[1] == pytest.approx(sizes[0], abs=0.02)
    assert sizes[2] == pytest.approx(np.array([60, 20, 20]) / 100, abs=1e-3)


@pytest.mark.dear
@pytest.mark.parametrize("scale", [1.0, 10.0])
def test_weights_say_that_labels_stand_for_their_classes(scale):
    """Weights that make up for labels by class leave nothing to estimate."""
    X, y, _ = _blobs(labels=60)
    weights = np.select([y == "a", y == "b"], [4.0, 2.0], 1.0) * scale
    even = np.full(len(X), scale)
    model = _model(graph=None)
    assert clone(model).fit(X, y, weights).mixture_.tilt is None
    plain, same = (clone(model).fit(X, y, each).class_sizes_ for each in (None, even))
    assert same == pytest.approx(plain, abs=2e-3)  # forests with weights draw other thresholds


@pytest.mark.long
def test_sizes_are_estimated_on_anchors_of_sparse_rows():
    X, y, truth = _blobs(labels=60)
    rows = csr_array(np.maximum(X - X.min(axis=0), 0.0))
    model = SemiSupervisedClassifier(graph="anchors", unlabeled="", random_state=0).fit(rows, y)
    assert model.mixture_.tilt is not None
    assert np.mean(model.predict(rows) == truth) > 0.8


def test_all_rows_labelled_leave_nothing_to_estimate():
    X, truth = make_moons(40, noise=0.2, random_state=0)
    assert _model().fit(X, truth).mixture_.tilt is None


# ------------------------------------------------------------------ where sizes go


def test_given_labels_are_kept(sized):
    _, y, model = sized
    assert (model.transduction_[y != ""] == y[y != ""]).all()


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"a": 1, "b": 1}, "lacks the class 'c'"),
        ({"a": 1, "b": 1, "c": 1, "d": 2}, "has the class 'd', which no labelled row has"),
        ({"a": 1, "b": 0, "c": 1}, "size of class 'b' must be above 0; got 0"),
        ({"a": 1, "b": float("nan"), "c": 1}, "size of class 'b' must be above 0; got nan"),
        ({"a": 1, "b": True, "c": 1}, "must be above 0; got True"),
        ([0.5, 0.3, 0.2], "must be 'auto', 'labels', None or a mapping"),
        ("equal", "got 'equal'"),
    ],
)
def test_wrong_sizes_are_said_before_the_work(sizes, message):
    X, y, _ = _blobs()
    model = SemiSupervisedClassifier(unlabeled="", class_sizes=sizes)
    with pytest.raises(ValueError, match=re.escape(message)):
        model.fit(X, y)
    assert not hasattr(model, "mixture_")


@pytest.mark.parametrize(("size", "warns"), [(0.05, False), (0.04, True)])
def test_sizes_smaller_than_the_labels_are_said(size, warns):
    """Five of a hundred rows have the label b, so a size of four rows is wrong."""
    X, truth = make_moons(100, noise=0.2, random_state=0)
    y = np.where(np.arange(100) < 15, np.where(truth, "a", "b"), None)
    y[np.flatnonzero(y == "b")[5:]] = None
    model = SemiSupervisedClassifier(
        LogisticRegression(), graph=None, class_sizes={"a": 1 - size, "b": size}, random_state=0
    )
    if not warns:
        model.fit(X, y)
        return
    text = "class_sizes gives class 'b' 4 of 100 rows, but 5 rows have this label"
    with pytest.warns(UserWarning, match=text):
        model.fit(X, y)


def test_sizes_work_with_any_model_and_without_a_graph():
    X, y, _ = _blobs(labels=30)
    model = SemiSupervisedClassifier(
        LogisticRegression(), graph=None, unlabeled="", class_sizes=SIZES, random_state=0
    ).fit(X, y)
    assert _shares(model, X)["a"] == pytest.approx(4 / 7, rel=SLACK + 1e-3)


def test_blocks_have_the_sizes_on_their_anchors():
    X, y, _ = _blobs(labels=30)
    model = _model(graph=Anchors(100), class_sizes=SIZES)
    blocks = [(X[i : i + 100], y[i : i + 100]) for i in range(0, len(X), 100)]
    model.fit(blocks)
    assert _shares(model, X)["c"] == pytest.approx(1 / 7, rel=0.5)
    assert model.mixture_.tilt is not None


def test_a_file_keeps_the_sizes(tmp_path):
    X, truth = make_moons(200, noise=0.2, random_state=0)
    y = np.where(np.arange(200) < 20, truth, -1)
    model = SemiSupervisedClassifier(None, class_sizes={0: 3, 1: 1}, random_state=0).fit(X, y)
    save_model(model, tmp_path / "model.gkm")
    again = load_model(tmp_path / "model.gkm")
    assert again.class_sizes == {0: 3, 1: 1}
    assert again.class_sizes_ == pytest.approx([0.75, 0.25])
    assert again.predict_proba(X) == pytest.approx(model.predict_proba(X), abs=1e-12)


def test_dask_gives_the_same_classes_their_sizes():
    da = pytest.importorskip("dask.array")
    from graphkm.dask import SemiSupervisedClassifier as Distributed

    X, truth = make_moons(400, noise=0.2, random_state=0)
    y = np.where(np.arange(400) < 20, truth, -1)
    about = {
        "estimator": LogisticRegression(),
        "graph": Anchors(60),
        "class_sizes": {0: 3, 1: 1},
        "random_state": 0,
    }
    far = Distributed(**about).fit(da.from_array(X, chunks=(100, 2)), da.from_array(y, chunks=100))
    blocks = [(X[i : i + 100], y[i : i + 100]) for i in range(0, 400, 100)]
    near = SemiSupervisedClassifier(**about).fit(blocks)
    assert far.to_local().predict_proba(X) == pytest.approx(near.predict_proba(X), abs=1e-6)


def test_an_onnx_graph_keeps_the_sizes(sized):
    runtime = pytest.importorskip("onnxruntime")
    from graphkm.exchange import to_onnx

    X, _, model = sized
    session = runtime.InferenceSession(to_onnx(model).SerializeToString())
    rows = X[:100].astype(np.float32)
    (found,) = session.run(["probabilities"], {"X": rows})
    assert found == pytest.approx(model.predict_proba(rows.astype(np.float64)), abs=1e-5)
