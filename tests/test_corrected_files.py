"""Files of models that are corrected over a graph: the same bits come back, or a clear refusal."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from graphkm import (
    KNN,
    Anchors,
    GKMClassifier,
    GraphCorrectedClassifier,
    GraphCorrectedRegressor,
    KernelRidgeCV,
)
from graphkm.exchange import ModelFileError, load_model, save_model, to_libsvm, to_onnx
from graphkm.exchange.container import read_container, write_container
from graphkm.graphs import search
from graphkm.machines import LaplacianSVC

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 3))
SPARSE = csr_matrix(np.where(np.abs(X) > 0.4, X, 0))
SHOWN = np.arange(120) % 3 == 0
TWO = np.where(SHOWN, (X[:, 0] * X[:, 1] > 0).astype(int), -1)
WORDS = np.where(SHOWN, np.array(["low", "mid", "top"])[np.digitize(X[:, 0], [-0.5, 0.5])], "")
REAL = np.where(SHOWN, np.sin(4 * X[:, 0]) + X[:, 1], np.nan)
STRONG = {"Cs": [3.0], "epsilons": [0.1], "random_state": 0}

MODELS = {
    "kernel": (GraphCorrectedClassifier(random_state=0), TWO),
    "words": (GraphCorrectedClassifier(unlabeled="", random_state=0), WORDS),
    "anchors": (GraphCorrectedClassifier(graph=Anchors(n_anchors=30), random_state=0), TWO),
    "scores only": (GraphCorrectedClassifier(LaplacianSVC(kernel="linear"), **STRONG), TWO),
    "pipeline": (
        GraphCorrectedClassifier(make_pipeline(MinMaxScaler(), GKMClassifier()), **STRONG),
        TWO,
    ),
    "regressor": (GraphCorrectedRegressor(random_state=0), REAL),
    "regressor anchors": (
        GraphCorrectedRegressor(KernelRidgeCV(alphas=[1.0]), graph="anchors", degree=2, **STRONG),
        REAL,
    ),
    "parameters": (GraphCorrectedClassifier(graph=KNN(4, weights="local"), cv=3, n_jobs=1), TWO),
}


def few(y):
    """Return six labels of y, with which a field is taken without any judgement."""
    groups = [SHOWN] if y.dtype.kind == "f" else [y == label for label in np.unique(y[SHOWN])]
    kept = [np.flatnonzero(group)[: 6 // len(groups)] for group in groups]
    out = np.full_like(y, y[1])
    out[np.concatenate(kept)] = y[np.concatenate(kept)]
    return out


def assert_same(model, loaded, rows):
    for method in ("predict", "predict_proba", "decision_function"):
        if hasattr(model, method):
            one, two = getattr(model, method)(rows), getattr(loaded, method)(rows)
            assert one.dtype == two.dtype and one.tobytes() == two.tobytes()
    assert loaded.transduction_.tobytes() == model.transduction_.tobytes()
    assert loaded.transduction_.dtype == model.transduction_.dtype
    for name in ("best_index_", "estimator_weight_", "held_out_by_", "n_held_out_"):
        assert getattr(loaded, name) == getattr(model, name)
    for name in ("best_score_", "unlabeled_gain_"):
        np.testing.assert_equal(getattr(loaded, name), getattr(model, name))
    np.testing.assert_equal(loaded.best_params_, model.best_params_)
    assert set(loaded.cv_results_) == set(model.cv_results_)
    for name, values in model.cv_results_.items():
        np.testing.assert_equal(loaded.cv_results_[name], values)
    assert (loaded.field_ is None) == (model.field_ is None)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:.*too few to judge")
@pytest.mark.parametrize("rows", [X, SPARSE, X.astype(np.float32)], ids=["dense", "csr", "single"])
@pytest.mark.parametrize("labels", ["many", "few"])
@pytest.mark.parametrize("name", MODELS)
def test_everything_comes_back(tmp_path, name, labels, rows):
    model, y = MODELS[name]
    if name == "pipeline" and rows is SPARSE:
        rows = X
    model = clone(model).fit(rows, few(y) if labels == "few" else y)
    if labels == "few":
        assert model.field_ is not None and np.isnan(model.unlabeled_gain_)
    save_model(model, tmp_path / "a")
    loaded = load_model(tmp_path / "a")
    assert_same(model, loaded, rows)
    new = rows[:50] + rows[50:100]
    assert loaded.predict(new).tobytes() == model.predict(new).tobytes()
    assert repr(loaded) == repr(model)
    save_model(loaded, tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.long
def test_models_with_and_without_a_field_are_among_them():
    fields = [clone(model).fit(X, y).field_ for model, y in MODELS.values()]
    assert any(field is None for field in fields) and any(field is not None for field in fields)


def test_names_of_columns_come_back(tmp_path, recwarn):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    for graph in ("knn", Anchors(n_anchors=30)):
        model = GraphCorrectedRegressor(graph=graph, **STRONG).fit(frame, few(REAL))
        save_model(model, tmp_path / "a")
        loaded = load_model(tmp_path / "a")
        assert loaded.feature_names_in_.tolist() == ["a", "b", "c"]
        assert_same(model, loaded, frame)
        save_model(loaded, tmp_path / "a")
    assert not recwarn.list


def test_behind_a_scaler(tmp_path):
    model = make_pipeline(StandardScaler(), GraphCorrectedClassifier(**STRONG)).fit(X, TWO)
    save_model(model, tmp_path / "a")
    loaded = load_model(tmp_path / "a")
    assert loaded.decision_function(X).tobytes() == model.decision_function(X).tobytes()


def test_an_approximate_search_finds_the_same_again(tmp_path, monkeypatch):
    pytest.importorskip("faiss")
    monkeypatch.setattr(search, "LARGE", 1000)
    many = rng.normal(size=(3000, 8))
    y = np.where(np.arange(3000) < 300, many[:, 0] * many[:, 1], np.nan)
    model = GraphCorrectedRegressor(KernelRidgeCV(alphas=[1.0]), **STRONG).fit(many, y)
    save_model(model, tmp_path / "a")
    monkeypatch.setattr(search, "LARGE", 10_000)  # a file remembers how its rows were searched
    loaded = load_model(tmp_path / "a")
    assert model.field_ is not None
    assert loaded.field_.nodes.index.state()["approximate"] is True
    assert loaded.field_.nodes.index.state()["calibrations"][0][2] > 0
    new = rng.normal(size=(500, 8))
    assert loaded.predict(new).tobytes() == model.predict(new).tobytes()


@pytest.mark.parametrize(
    ("inside", "name"),
    [
        (RandomForestClassifier(5, random_state=0), "RandomForestClassifier"),
        (HistGradientBoostingClassifier(max_iter=3), "HistGradientBoostingClassifier"),
        (make_pipeline(StandardScaler(), LogisticRegression()), "LogisticRegression"),
    ],
)
def test_other_models_are_refused_by_name_and_pickled(tmp_path, inside, name):
    model = GraphCorrectedClassifier(inside, random_state=0).fit(X, TWO)
    for whole in (model, make_pipeline(StandardScaler(), model).fit(X, TWO)):
        with pytest.raises(ValueError, match=f"the {name} inside.*skops.io.dump or joblib.dump"):
            save_model(whole, tmp_path / "a")
    assert not (tmp_path / "a").exists()
    assert_same(model, pickle.loads(pickle.dumps(model)), X)


def test_an_unfitted_model_is_refused(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        save_model(GraphCorrectedClassifier(), tmp_path / "a")


@pytest.mark.parametrize("write", [lambda m, p: to_libsvm(m, p), lambda m, p: to_onnx(m, p)])
def test_other_programs_have_no_form_for_a_field(tmp_path, write):
    pytest.importorskip("onnx")
    model = GraphCorrectedClassifier(**STRONG).fit(X, few(TWO))
    assert model.field_ is not None
    for whole in (model, make_pipeline(StandardScaler().fit(X), model)):
        with pytest.raises(ValueError, match=r"adds a field.*Write its estimator_"):
            write(whole, tmp_path / "a")
    write(model.estimator_, tmp_path / "a")


@pytest.mark.parametrize("write", [lambda m, p: to_libsvm(m, p), lambda m, p: to_onnx(m, p)])
def test_other_models_inside_are_written_themselves(tmp_path, write):
    pytest.importorskip("onnx")
    inside = make_pipeline(StandardScaler(), GKMClassifier(solver="newton"))
    y = np.arange(60) % 2
    rows = X[:60] + 20.0 * y[:, None]
    # Nothing has a larger accuracy than a model that has every held-out label right.
    model = GraphCorrectedClassifier(inside, scoring="accuracy", random_state=0).fit(rows, y)
    assert model.cv_results_["mean_test_score"][0] == 1.0
    assert model.field_ is None
    with pytest.raises(ValueError, match=r"estimator_ predicts the same; write that"):
        write(model, tmp_path / "a")
    np.testing.assert_array_equal(model.estimator_.predict(rows), model.predict(rows))


# ---------------------------------------------------------------- damage


@pytest.fixture
def parts(tmp_path):
    """Return the path of a file, its header and its arrays."""
    save_model(GraphCorrectedRegressor(**STRONG).fit(X, few(REAL)), tmp_path / "a")
    header, arrays = read_container(tmp_path / "a")
    assert load_model(tmp_path / "a").field_ is not None
    return tmp_path / "a", header, arrays


def damage_of(name, change):
    def damage(header, arrays):
        arrays[name] = change(arrays[name])

    return damage


def of_state(name, value):
    def damage(header, arrays):
        header["model"]["state"][name] = value

    return damage


@pytest.mark.parametrize(
    "damage",
    [
        damage_of("model/field/reach", lambda a: a[:-1]),
        damage_of("model/field/reach", lambda a: 0 * a),
        damage_of("model/field/values", lambda a: a.astype(float)),
        damage_of("model/field/values", lambda a: a[:, [0, 0]]),
        damage_of("model/field/values", lambda a: a * np.float32(np.nan)),
        damage_of("model/field/index/rows", lambda a: a[:, :2]),
        damage_of("model/field/index/rows", lambda a: a[:0]),
        damage_of("model/transduced", lambda a: a * np.nan),
        damage_of("model/transduced", lambda a: a.astype(int)),
        of_state("calibration", 1.0),
        of_state("labeled", [1]),
        damage_of("model/scores", lambda a: a[1:]),
        of_state("best", 99),
        of_state("prior", float("inf")),
        of_state("scaling", 1.0),
        of_state("heat", "hot"),
        of_state("how", "by magic"),
        of_state("n_held_out", -1),
        of_state("n_features_in_", 4),
    ],
)
def test_what_does_not_fit_is_refused(parts, damage):
    path, header, arrays = parts
    damage(header, arrays)
    write_container(path, header, arrays)
    with pytest.raises(ModelFileError, match="holds no model"):
        load_model(path)


@pytest.mark.parametrize(
    "damage",
    [
        of_state("scaling", None),
        damage_of("model/scaling/1", lambda a: a[1:]),
        damage_of("model/scaling/1", lambda a: a + np.inf),
        damage_of("model/transduced", lambda a: a + np.uint8(2)),
        damage_of("model/transduced", lambda a: a.astype(float)),
        damage_of("model/calibration/offsets", lambda a: a[1:]),
        damage_of("model/calibration/floor", lambda a: a - 1),
        of_state("calibration", 1.0),
    ],
)
def test_probabilities_that_do_not_fit_are_refused(tmp_path, damage):
    save_model(GraphCorrectedClassifier(**STRONG).fit(X, few(TWO)), tmp_path / "a")
    header, arrays = read_container(tmp_path / "a")
    damage(header, arrays)
    write_container(tmp_path / "a", header, arrays)
    with pytest.raises(ModelFileError, match="holds no model"):
        load_model(tmp_path / "a")


def test_a_file_with_another_estimator_inside_is_refused(parts):
    path, header, arrays = parts
    other = path.with_name("b")
    save_model(GraphCorrectedClassifier(random_state=0).fit(X, TWO), other)
    theirs, more = read_container(other)
    inside = theirs["model"]["state"]["estimator"]
    header["model"]["state"]["estimator"] = inside
    arrays = {k: v for k, v in arrays.items() if not k.startswith("model/estimator/")}
    arrays |= {k: v for k, v in more.items() if k.startswith("model/estimator/")}
    write_container(path, header, arrays)
    with pytest.raises(ModelFileError, match="of another kind"):
        load_model(path)


def test_a_cut_file_is_refused(parts):
    path = parts[0]
    content = path.read_bytes()
    for size in (0, 20, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:size])
        with pytest.raises(ModelFileError):
            load_model(path)


def test_a_regressor_of_other_libraries_is_refused(tmp_path):
    with pytest.raises(ValueError, match="the Ridge inside"):
        save_model(GraphCorrectedRegressor(Ridge()).fit(X, REAL), tmp_path / "a")
