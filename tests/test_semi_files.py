"""Files of the front door: the same bits come back, or a clear refusal."""

from __future__ import annotations

import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from file_fuzzing import damaged, resealed, with_other_header
from graphkm import (
    KNN,
    Anchors,
    GKMClassifier,
    GKMRegressor,
    KernelRidgeClassifierCV,
    KernelRidgeCV,
    SemiSupervisedClassifier,
    SemiSupervisedRegressor,
)
from graphkm.baselines import LaplacianSVC
from graphkm.exchange import ModelFileError, load_model, save_model, to_libsvm
from graphkm.exchange.container import read_container, write_container
from graphkm.exchange.files import load_with_note
from graphkm.exchange.skops_files import load_with_skops, save_with_skops
from graphkm.members.of_all_rows import OfAllRows
from graphkm.neighbours import index as search
from graphkm.semi.labelled import HELD

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 3))
SPARSE = csr_matrix(np.where(np.abs(X) > 0.4, X, 0))
SHOWN = np.arange(120) % 3 == 0
TWO = np.where(SHOWN, (X[:, 0] * X[:, 1] > 0).astype(int), -1)
LEVEL = np.digitize(X[:, 0], [-0.5, 0.5])
WORDS = np.where(SHOWN, np.array(["low", "mid", "top"])[LEVEL], "")
REAL = np.where(SHOWN, np.sin(2 * X[:, 0]) + X[:, 1], np.nan)
RIDGE, SMOOTH = KernelRidgeClassifierCV(alphas=[1.0]), KernelRidgeCV(alphas=[1.0])

MODELS = {
    "graph alone": (SemiSupervisedClassifier(None, graph=KNN(4), random_state=0), TWO),
    "kernel ridge": (SemiSupervisedClassifier(RIDGE, graph=None, random_state=0), TWO),
    "words": (SemiSupervisedClassifier(RIDGE, unlabeled="", cv=3, random_state=0), WORDS),
    "anchors": (SemiSupervisedClassifier(RIDGE, graph=Anchors(n_anchors=30), n_jobs=1), TWO),
    "of all rows": (
        SemiSupervisedClassifier(
            [LaplacianSVC(kernel="linear"), GKMClassifier(solver="newton")],
            graph=None,
            unlabeled="",
            cv=2,
        ),
        WORDS,
    ),
    "pipeline": (
        SemiSupervisedClassifier(make_pipeline(MinMaxScaler(), RIDGE), graph=None),
        TWO,
    ),
    "regressor": (SemiSupervisedRegressor(SMOOTH, graph=None, random_state=0), REAL),
    "regressor graph": (SemiSupervisedRegressor([SMOOTH, SMOOTH], random_state=0), REAL),
    "regressor of all rows": (
        SemiSupervisedRegressor(GKMRegressor(solver="newton"), graph=None, cv=2),
        REAL,
    ),
}


def assert_same(model, loaded, rows):
    for method in ("predict", "predict_proba", "decision_function"):
        if hasattr(model, method):
            one, two = getattr(model, method)(rows), getattr(loaded, method)(rows)
            assert one.dtype == two.dtype and one.tobytes() == two.tobytes()
    assert loaded.transduction_.tobytes() == model.transduction_.tobytes()
    assert loaded.transduction_.dtype == model.transduction_.dtype
    assert repr(loaded.members_) == repr(model.members_)
    assert type(loaded.members_) is type(model.members_) and len(model.members_) > 0
    np.testing.assert_equal([*loaded.members_], [*model.members_])
    for name in ("best_score_", "unlabeled_gain_"):
        np.testing.assert_equal(getattr(loaded, name), getattr(model, name))
    for name in HELD:
        np.testing.assert_equal(getattr(loaded, name, None), getattr(model, name, None))


@pytest.mark.long
@pytest.mark.parametrize("rows", [X, SPARSE, X.astype(np.float32)], ids=["dense", "csr", "single"])
@pytest.mark.parametrize("name", MODELS)
def test_everything_comes_back(tmp_path, name, rows):
    model, y = MODELS[name]
    if name == "pipeline" and rows is SPARSE:
        rows = X
    model = clone(model).fit(rows, y)
    save_model(model, tmp_path / "a")
    loaded = load_model(tmp_path / "a")
    assert_same(model, loaded, rows)
    new = rows[:50] + rows[50:100]
    assert loaded.predict(new).tobytes() == model.predict(new).tobytes()
    assert repr(loaded) == repr(model)
    save_model(loaded, tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.long
def test_models_and_nodes_of_every_kind_are_among_them():
    names = ("words", "of all rows", "pipeline")
    fitted = [clone(MODELS[name][0]).fit(X, MODELS[name][1]).mixture_ for name in names]
    assert any(mixed.nodes is None for mixed in fitted)
    assert any(mixed.nodes is not None and mixed.parts for mixed in fitted)
    inside = [part.model.model for mixed in fitted for part in mixed.parts]
    assert any(isinstance(each, OfAllRows) for each in inside)
    assert any(hasattr(each, "steps") for each in inside)


def test_few_labels_and_unknown_scores_come_back(tmp_path):
    y = np.where(np.arange(120) < 2, [0, 1] * 60, -1)
    model = SemiSupervisedClassifier(None, random_state=0).fit(X, y)
    assert np.isnan(model.unlabeled_gain_)
    save_model(model, tmp_path / "a")
    assert_same(model, load_model(tmp_path / "a"), X)


def test_names_of_columns_come_back(tmp_path, recwarn):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = SemiSupervisedClassifier(RIDGE, random_state=0).fit(frame, TWO)
    save_model(model, tmp_path / "a")
    loaded = load_model(tmp_path / "a")
    assert loaded.feature_names_in_.tolist() == ["a", "b", "c"]
    assert_same(model, loaded, frame)
    assert not [each for each in recwarn.list if "feature names" not in str(each.message)]


def test_behind_a_scaler(tmp_path):
    model = make_pipeline(StandardScaler(), SemiSupervisedClassifier(RIDGE)).fit(X, TWO)
    save_model(model, tmp_path / "a", note={"who": "me"})
    loaded, note = load_with_note(tmp_path / "a")
    assert loaded.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
    assert note == {"who": "me"}


@pytest.mark.long
def test_an_approximate_search_finds_the_same_again(tmp_path, monkeypatch):
    monkeypatch.setattr(search, "LARGE", 1000)
    many = rng.normal(size=(3000, 8))
    y = np.where(np.arange(3000) < 300, many[:, 0] * many[:, 1], np.nan)
    model = SemiSupervisedRegressor(SMOOTH, random_state=0).fit(many, y)
    save_model(model, tmp_path / "a")
    monkeypatch.setattr(search, "LARGE", 10_000)  # a file remembers how its rows were searched
    loaded = load_model(tmp_path / "a")
    state = loaded.mixture_.nodes.index.state()
    assert state["approximate"] is True and state["calibrations"][0][2] > 0
    new = rng.normal(size=(500, 8))
    assert loaded.predict(new).tobytes() == model.predict(new).tobytes()


def test_an_unfitted_model_is_refused(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        save_model(SemiSupervisedClassifier(), tmp_path / "a")


# ---------------------------------------------------------------- models of other libraries


@pytest.mark.long
@pytest.mark.parametrize(
    ("inside", "name"),
    [
        (RandomForestClassifier(5, random_state=0), "RandomForestClassifier"),
        ([RIDGE, HistGradientBoostingClassifier(max_iter=3)], "HistGradientBoostingClassifier"),
        (make_pipeline(StandardScaler(), LogisticRegression()), "LogisticRegression"),
    ],
)
@pytest.mark.parametrize("graph", ["auto", None])
def test_other_models_are_refused_by_name_and_pickled(tmp_path, inside, name, graph):
    model = SemiSupervisedClassifier(inside, graph=graph, random_state=0).fit(X, TWO)
    for whole in (model, make_pipeline(StandardScaler(), model).fit(X, TWO)):
        with pytest.raises(ValueError, match=f"the {name} inside.*skops.io.dump or joblib.dump"):
            save_model(whole, tmp_path / "a")
    assert not (tmp_path / "a").exists()
    assert_same(model, pickle.loads(pickle.dumps(model)), X)


@pytest.mark.long
def test_a_mixture_without_the_usual_forest_is_saved(tmp_path):
    t = np.linspace(0, 3 * np.pi, 200)
    curve = np.column_stack([t * np.cos(t), t * np.sin(t)])
    y = np.where(np.arange(200) % 20 == 0, t, np.nan)
    model = SemiSupervisedRegressor(random_state=0).fit(curve, y)
    assert all(isinstance(part.model.model, KernelRidgeCV) for part in model.mixture_.parts)
    save_model(model, tmp_path / "a")
    assert_same(model, load_model(tmp_path / "a"), curve)


@pytest.mark.long
@pytest.mark.parametrize("task", ["classes", "quantities"])
def test_skops_keeps_the_usual_members(tmp_path, task):
    pytest.importorskip("skops.io")
    if task == "classes":
        model = SemiSupervisedClassifier(graph=None, random_state=0).fit(X, TWO)
    else:
        model = SemiSupervisedRegressor(graph=None, random_state=0).fit(X, REAL)
    with pytest.raises(ValueError, match="inside has no plain form"):
        save_model(model, tmp_path / "a")
    save_with_skops(model, tmp_path / "a", {"who": "me"})
    loaded, note = load_with_skops(tmp_path / "a")
    assert_same(model, loaded, X)
    assert note == {"who": "me"}


def test_an_unfitted_model_in_a_skops_file_is_refused(tmp_path):
    pytest.importorskip("skops.io")
    save_with_skops(SemiSupervisedClassifier(), tmp_path / "a", {})
    with pytest.raises(ModelFileError, match="not a model of graphkm train"):
        load_with_skops(tmp_path / "a")


@pytest.mark.dear
@pytest.mark.parametrize("graph", ["auto", None])
def test_libsvm_has_no_form_for_a_mixture(tmp_path, graph):
    model = SemiSupervisedClassifier(RIDGE, graph=graph).fit(X, TWO)
    for whole in (model, make_pipeline(StandardScaler().fit(X), model)):
        with pytest.raises(ValueError, match=r"a mixture of members.*a KernelRidgeClassifierCV"):
            to_libsvm(whole, tmp_path / "a")
    to_libsvm(KernelRidgeClassifierCV().fit(X, model.predict(X)), tmp_path / "a")


def test_a_regressor_of_other_libraries_is_refused(tmp_path):
    with pytest.raises(ValueError, match="the Ridge inside"):
        save_model(SemiSupervisedRegressor(Ridge()).fit(X, REAL), tmp_path / "a")


# ---------------------------------------------------------------- damage


@pytest.fixture(scope="module")
def whole_file(tmp_path_factory):
    """Return the path of a file with nodes and a corrected model."""
    file = tmp_path_factory.mktemp("whole") / "a"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("graphkm.semi.member_list.MANY", 20)
        save_model(
            SemiSupervisedClassifier(RIDGE, unlabeled="", random_state=0).fit(X, WORDS), file
        )
    mixed = load_model(file).mixture_
    assert mixed.nodes is not None and any(part.field is not None for part in mixed.parts)
    assert len({id(part.model) for part in mixed.parts}) == 1 < len(mixed.parts)
    return file


@pytest.fixture
def parts(whole_file, tmp_path):
    """Return the path of a copy that may be damaged, its header and its arrays."""
    return Path(shutil.copy(whole_file, tmp_path)), *read_container(whole_file)


def damage_of(name, change):
    def damage(header, arrays):
        arrays[name] = change(arrays[name])

    return damage


def of_state(name, value):
    def damage(header, arrays):
        header["model"]["state"][name] = value

    return damage


def of_parameters(name, value):
    def damage(header, arrays):
        header["model"]["parameters"][name] = value

    return damage


def of_member(place, value):
    def damage(header, arrays):
        header["model"]["state"]["members"][0]["tuple"][place] = value

    return damage


def of_part(name, value):
    def damage(header, arrays):
        for pair in header["model"]["state"]["parts"][0]["dict"]:
            if pair[0] == name:
                pair[1] = value

    return damage


def of_model(name, value):
    def damage(header, arrays):
        for pair in header["model"]["state"]["models"][0]["dict"]:
            if pair[0] == name:
                pair[1] = value

    return damage


def of_field(change):
    def damage(header, arrays):
        name = next(name for name in arrays if name.endswith("/field"))
        arrays[name] = change(arrays[name])

    return damage


@pytest.mark.dear
@pytest.mark.parametrize(
    "damage",
    [
        damage_of("model/nodes/reach", lambda a: a[:-1]),
        damage_of("model/nodes/reach", lambda a: 0 * a),
        damage_of("model/nodes/index/rows", lambda a: a[:, :2]),
        damage_of("model/nodes/index/rows", lambda a: a[:0]),
        damage_of("model/values", lambda a: a.astype(float)),
        damage_of("model/values", lambda a: a[:, [0, 1]]),
        damage_of("model/values", lambda a: a * np.float32(np.nan)),
        damage_of("model/values", lambda a: 2 * a),
        damage_of("model/values", lambda a: a - np.float32(1)),
        damage_of("model/prior", lambda a: a[1:]),
        damage_of("model/prior", lambda a: a + 1),
        damage_of("model/prior", lambda a: a - [1, -1, 0]),
        damage_of("model/transduced", lambda a: a + np.uint8(3)),
        damage_of("model/transduced", lambda a: a.astype(float)),
        damage_of("model/models/0/model/f/coefficients", lambda a: a[:, :2]),
        damage_of("model/classes_", lambda a: a[::-1]),
        of_state("weight", 0.0),
        of_state("weight", float("nan")),
        of_state("best_score", "good"),
        of_state("unlabeled_gain", None),
        of_state("n_features_in_", 4),
        of_state("members", []),
        of_state("strange", 1),
        of_member(0, 1.0),
        of_member(1, -0.1),
        of_member(1, float("nan")),
        of_member(2, "good"),
        of_member(4, 1),
        of_member(5, "by magic"),
        of_part("weight", 0.0),
        of_part("weight", "heavy"),
        of_part("temperature", -1.0),
        of_part("temperature", float("inf")),
        of_part("model", 1.0),
        of_part("model", 1),  # there is one
        of_part("model", -1),
        of_part("field", 1.0),
        of_field(lambda a: a[:-1]),
        of_field(lambda a: a[:, :2]),
        of_field(lambda a: a.astype(float)),
        of_field(lambda a: a * np.float32(np.inf)),
        of_model("heat", 0.0),
        of_model("how", "by magic"),
        of_model("all_rows", True),  # its classes would be numbers
        of_model("all_rows", 0),
        of_model("model", 1.0),
        damage_of("model/held/labeled_", lambda a: a - 1000),
        damage_of("model/held/labeled_", lambda a: a.astype(float)),
        damage_of("model/held/held_out_", lambda a: a[:-1]),
        damage_of("model/held/told_", lambda a: a[:, :2]),
        damage_of("model/held/told_", lambda a: a + np.inf),
        damage_of("model/held/told_weights_", lambda a: -a),
        of_state("held", {"dict": []}),
        of_state("units", 1.0),
        of_state("units", {"tuple": [0.0, 0.0]}),
        of_model("units", {"tuple": [0.0]}),
        of_model("units", {"tuple": ["far", 1.0]}),
        of_parameters("graph", "web"),
        of_parameters("estimator", 3),
    ],
)
def test_what_does_not_fit_is_refused(parts, damage):
    path, header, arrays = parts
    damage(header, arrays)
    write_container(path, header, arrays)
    with pytest.raises(ModelFileError, match="holds no model"):
        load_model(path)


def test_a_file_with_a_member_of_another_kind_is_refused(parts):
    path, header, arrays = parts
    other = path.with_name("b")
    save_model(SemiSupervisedRegressor(SMOOTH, graph=None).fit(X, REAL), other)
    theirs, more = read_container(other)
    header["model"]["state"]["models"] = theirs["model"]["state"]["models"]
    arrays = {k: v for k, v in arrays.items() if not k.startswith("model/models/")}
    arrays |= {k: v for k, v in more.items() if k.startswith("model/models/")}
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


@pytest.mark.parametrize("seed", range(60))
def test_damage_is_refused_or_harmless(parts, seed):
    path, own = parts[0], np.random.default_rng(seed)
    content = path.read_bytes()
    if seed % 3 == 0:
        path.write_bytes(damaged(content, own))
    elif seed % 3 == 1:
        path.write_bytes(resealed(damaged(content[:-32], own) + bytes(32)))
    else:
        path.write_bytes(with_other_header(content, own))
    try:
        model = load_model(path)
    except ModelFileError as error:
        assert str(error)
        return
    shares = model.predict_proba(X)
    assert np.isfinite(shares).all() and shares.min() >= 0
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-3)
