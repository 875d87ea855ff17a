"""Files of models that see several views: encoders come back, or another model is refused."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from file_fuzzing import damaged, resealed, with_other_header
from graphkm import KernelRidgeClassifierCV, KernelRidgeCV, SemiSupervisedClassifier
from graphkm import SemiSupervisedRegressor as Regressor
from graphkm.embed import ImageEmbedder, TextEmbedder, Words
from graphkm.exchange import ModelFileError, load_model, save_model, to_onnx
from graphkm.exchange.container import read_container, write_container
from graphkm.exchange.skops_files import load_with_skops, save_with_skops

pytest.importorskip("tokenizers")
rng = np.random.default_rng(0)
SAID = ("the cat sat on my mat", "prices of stocks fall today", "every dog barks at night")
TEXTS = [f"{SAID[k % 3]} {'again ' * (k % 5)}{k}" for k in range(36)]
SIZE = rng.normal(size=36)
Y = np.array([["cat", "money", "dog"][k % 3] if k < 12 else "" for k in range(36)], dtype=object)
RIDGE = KernelRidgeClassifierCV(alphas=[1.0])
PLAIN = {"unlabeled": "", "random_state": 0, "n_jobs": 1}


def sides(texts):
    """Return vectors of texts: a model that is a function."""
    return np.array([[len(text), text.count(" ")] for text in texts], dtype=float)


def table():
    rows = np.empty((36, 3), dtype=object)
    rows[:, 0], rows[:, 1] = SIZE, TEXTS
    rows[:, 2] = np.array(["red", "blue"])[np.arange(36) % 2]
    rows[3, 0] = np.nan
    return rows


def columns():
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    return ColumnTransformer(
        [("numbers", numbers, [0]), ("words", OneHotEncoder(handle_unknown="ignore"), [1])]
    )


VIEWS = {
    "columns": (columns(), [0, 2]),
    "vectors": (TextEmbedder(), 1),
    "words": (Words(max_words=50), 1),
}


def assert_same(model, loaded, X):
    for method in ("predict", "predict_proba", "decision_function"):
        if hasattr(model, method):
            assert getattr(model, method)(X).tobytes() == getattr(loaded, method)(X).tobytes()
    assert loaded.transduction_.tobytes() == model.transduction_.tobytes()
    assert list(loaded.views_) == list(model.views_)


def again(model, X, folder):
    save_model(model, folder / "a")
    loaded = load_model(folder / "a")
    assert_same(model, loaded, X)
    save_model(loaded, folder / "b")
    assert (folder / "a").read_bytes() == (folder / "b").read_bytes()
    return loaded


@pytest.mark.long
def test_texts_come_back(tmp_path):
    model = SemiSupervisedClassifier(RIDGE, **PLAIN).fit(TEXTS, Y)
    loaded = again(model, TEXTS, tmp_path)
    assert repr(loaded) == repr(model)
    own, theirs = (each.views_["vectors"].encoder for each in (model, loaded))
    assert (own.model_, own.hash_) == (theirs.model_, theirs.hash_)
    assert (
        loaded.predict(["", None, "a cat"]).tolist() == model.predict(["", None, "a cat"]).tolist()
    )


@pytest.mark.long
def test_a_table_with_a_column_of_texts_comes_back(tmp_path):
    model = SemiSupervisedClassifier(RIDGE, views=VIEWS, **PLAIN).fit(table(), Y)
    loaded = again(model, table(), tmp_path)
    assert loaded.views_["columns"].chosen == [0, 2]


@pytest.mark.long
def test_given_views_come_back(tmp_path):
    X = {"size": SIZE[:, None], "more": rng.normal(size=(36, 4))}
    again(SemiSupervisedClassifier(None, **PLAIN).fit(X, Y), X, tmp_path)
    y = np.where(np.arange(36) < 20, SIZE, np.nan)
    again(Regressor(KernelRidgeCV(alphas=[1.0]), random_state=0).fit(X, y), X, tmp_path)


@pytest.mark.long
def test_sizes_of_classes_come_back(tmp_path):
    sizes = {"cat": 0.6, "money": 0.2, "dog": 0.2}
    model = SemiSupervisedClassifier(RIDGE, class_sizes=sizes, **PLAIN).fit(TEXTS, Y)
    assert model.mixture_.tilt is not None
    again(model, TEXTS, tmp_path)


def test_images_come_back(tmp_path):
    Image = pytest.importorskip("PIL.Image")
    paths = []
    for k in range(18):
        noise = rng.integers(0, 80, (12, 12), dtype=np.uint8)
        noise[:, : 4 * (k % 3 + 1)] += 150
        Image.fromarray(noise).save(tmp_path / f"{k}.png")
        paths.append(str(tmp_path / f"{k}.png"))
    views = {"pixels": ImageEmbedder("pixels", size=8), "gradients": ImageEmbedder("gradients")}
    model = SemiSupervisedClassifier(RIDGE, views=views, **PLAIN).fit(paths, Y[:18])
    again(model, paths, tmp_path)


def test_edges_beside_views_come_back(tmp_path):
    pairs = np.array([(k, k + 3) for k in range(33)])
    X = {"size": SIZE[:, None], "more": rng.normal(size=(36, 4))}
    model = SemiSupervisedClassifier(RIDGE, **PLAIN).fit(X, Y, affinity=pairs)
    loaded = again(model, X, tmp_path)
    new = {name: rows[:5] for name, rows in X.items()}
    links = np.array([(k, k) for k in range(5)])
    own = model.predict_proba(new, affinity=links)
    assert own.tobytes() == loaded.predict_proba(new, affinity=links).tobytes()


@pytest.mark.long
def test_the_usual_members_are_kept_by_skops(tmp_path):
    pytest.importorskip("skops.io")
    model = SemiSupervisedClassifier(views=VIEWS, **PLAIN).fit(table(), Y)
    save_with_skops(model, tmp_path / "a", {"who": "me"})
    loaded, note = load_with_skops(tmp_path / "a")
    assert_same(model, loaded, table())
    assert note == {"who": "me"}


# ---------------------------------------------------------------- models of the encoders


def test_settings_of_this_machine_stay_here(tmp_path):
    views = {"vectors": TextEmbedder(cache=tmp_path / "vectors", verbose=0), "words": Words()}
    model = SemiSupervisedClassifier(RIDGE, views=views, **PLAIN).fit(TEXTS, Y)
    save_model(model, tmp_path / "a")
    assert load_model(tmp_path / "a").views_["vectors"].encoder.cache == "auto"
    assert str(tmp_path).encode() not in (tmp_path / "a").read_bytes()


@pytest.mark.dear
@pytest.mark.parametrize("skops", [False, True])
def test_a_function_is_refused_with_advice(tmp_path, skops):
    views = {"vectors": TextEmbedder(sides, cache=None), "words": Words()}
    model = SemiSupervisedClassifier(RIDGE, views=views, **PLAIN).fit(TEXTS, Y)
    with pytest.raises(ValueError, match=r"function sides as its model.*by its name, its folder"):
        save_with_skops(model, tmp_path / "a", {}) if skops else save_model(model, tmp_path / "a")
    assert not (tmp_path / "a").exists()


def test_another_encoder_is_refused_by_name(tmp_path):
    views = {"tfidf": TfidfVectorizer(), "words": Words()}
    model = SemiSupervisedClassifier(RIDGE, views=views, **PLAIN).fit(TEXTS, Y)
    with pytest.raises(ValueError, match=r"view 'tfidf' cannot be saved: a TfidfVectorizer has no"):
        save_model(model, tmp_path / "a")


def test_columns_without_a_plain_form_are_refused(tmp_path):
    views = {"numbers": (StandardScaler(), slice(0, 1)), "words": (Words(), 1)}
    model = SemiSupervisedClassifier(RIDGE, views=views, **PLAIN).fit(table()[4:], Y[4:])
    with pytest.raises(ValueError, match=r"columns of the view 'numbers' cannot be saved"):
        save_model(model, tmp_path / "a")


@pytest.mark.dear
@pytest.mark.parametrize("skops", [False, True])
def test_a_model_of_another_hash_is_refused(tmp_path, skops):
    pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    from tiny_models import text_model

    text_model(tmp_path / "tiny")
    views = {"vectors": TextEmbedder(str(tmp_path / "tiny"), cache=None), "words": Words()}
    model = SemiSupervisedClassifier(RIDGE, views=views, **PLAIN).fit(TEXTS, Y)

    def loaded():
        return load_with_skops(tmp_path / "a")[0] if skops else load_model(tmp_path / "a")

    save_with_skops(model, tmp_path / "a", {}) if skops else save_model(model, tmp_path / "a")
    assert_same(model, loaded(), TEXTS)
    text_model(tmp_path / "tiny", pooled=True)
    told = model.views_["vectors"].encoder.hash_[:12]
    with pytest.raises(ValueError, match=rf"of hash {told}, but here .* has the hash .*Bring the"):
        loaded().predict(TEXTS)


def test_onnx_has_no_form_for_several_views():
    pytest.importorskip("onnx")
    model = SemiSupervisedClassifier(RIDGE, **PLAIN).fit(TEXTS, Y)
    with pytest.raises(ValueError, match=r"several views \(vectors, words\).*save_model"):
        to_onnx(model)


# ---------------------------------------------------------------- forged files


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return the file of a model with two views."""
    path = tmp_path_factory.mktemp("whole") / "a"
    views = {"vectors": TextEmbedder(), "words": Words(max_words=20, max_pieces=20)}
    model = SemiSupervisedClassifier(RIDGE, views=views, **PLAIN).fit(TEXTS, Y)
    assert set(model.mixture_.shares) == {"vectors", "words"}
    save_model(model, path)
    return path


def of_view(name, value, place=0):
    def damage(header, arrays):
        for pair in header["model"]["state"]["views"][place]["dict"]:
            if pair[0] == name:
                pair[1] = value

    return damage


def of_encoder(part, name, value, place=0):
    def damage(header, arrays):
        view = dict(map(tuple, header["model"]["state"]["views"][place]["dict"]))
        view["encoder"][part][name] = value

    return damage


def of_state(name, value):
    def damage(header, arrays):
        header["model"]["state"][name] = value

    return damage


def of_array(ending, change):
    def damage(header, arrays):
        (name,) = [name for name in arrays if name.endswith(ending)]
        arrays[name] = change(arrays[name])

    return damage


def twice(header, arrays):
    views = header["model"]["state"]["views"]
    for view in views:
        view["dict"][0][1] = "same"


@pytest.mark.dear
@pytest.mark.parametrize(
    "damage",
    [
        of_state("views", []),
        of_state("views", 3),
        of_state("tilt", 1.0),
        of_state("weight", 1.0),
        of_state("n_features_in_", 7),
        of_view("name", ""),
        of_view("name", 3),
        twice,
        of_view("share", None),
        of_view("share", 0.999),
        of_view("share", -1.0),
        of_view("share", float("nan")),
        of_view("share", "much"),
        of_view("mixture", None),
        of_view("mixture", {"dict": []}),
        of_view("mixture", 1),
        of_view("chosen", True),
        of_view("chosen", [[1]]),
        of_view("chosen", []),
        of_view("width", 255),
        of_view("width", "wide"),
        of_view("names", {"texts": ["a"]}),
        of_view("encoder", None, place=1),  # nothing refers to its arrays
        of_view("encoder", "auto"),
        of_view("encoder", {"unfitted": "TextEmbedder", "parameters": {}}),
        of_view("encoder", {"unfitted": "KernelRidgeCV", "parameters": {}}),
        of_encoder("parameters", "model", ""),
        of_encoder("parameters", "model", None),
        of_encoder("parameters", "cache", "/tmp/somewhere"),
        of_encoder("parameters", "strange", 1),
        of_encoder("parameters", "batch_size", -1),
        of_encoder("state", "hash_", "short"),
        of_encoder("state", "hash_", 3),
        of_encoder("state", "model_", ""),
        of_encoder("state", "n_features_out_", 255),
        of_encoder("state", "n_features_out_", -1),
        of_encoder("state", "n_features_out_", True),
        of_encoder("state", "words_", {"texts": ["cat", "cat"]}, place=1),
        of_encoder("state", "pieces_", None, place=1),
        of_array("word_idf_", lambda a: a[:-1]),
        of_array("word_idf_", lambda a: -a),
        of_array("piece_idf_", lambda a: a * np.nan),
    ],
)
def test_what_does_not_fit_is_refused(whole, tmp_path, damage):
    header, arrays = read_container(whole)
    damage(header, arrays)
    write_container(tmp_path / "a", header, arrays)
    with pytest.raises(ModelFileError, match="holds no model"):
        load_model(tmp_path / "a")


def test_a_skops_file_that_would_write_elsewhere_is_refused(tmp_path):
    pytest.importorskip("skops.io")
    model = SemiSupervisedClassifier(RIDGE, **PLAIN).fit(TEXTS, Y)
    model.views_["vectors"].encoder.cache = str(tmp_path / "b")
    save_with_skops(model, tmp_path / "a", {})
    with pytest.raises(ModelFileError, match="its vectors are kept at"):
        load_with_skops(tmp_path / "a")


@pytest.mark.parametrize("seed", range(60))
def test_damage_is_refused_or_harmless(whole, tmp_path, seed):
    own, content = np.random.default_rng(seed), whole.read_bytes()
    if seed % 3 == 0:
        content = damaged(content, own)
    elif seed % 3 == 1:
        content = resealed(damaged(content[:-32], own) + bytes(32))
    else:
        content = with_other_header(content, own)
    (tmp_path / "a").write_bytes(content)
    try:
        model = load_model(tmp_path / "a")
    except ModelFileError as error:
        assert str(error)
        return
    try:
        shares = model.predict_proba(TEXTS)
    except (ImportError, ValueError) as error:  # another model, or another hash
        assert "model" in str(error) or "view" in str(error) or "X" in str(error)
        return
    assert np.isfinite(shares).all() and shares.min() >= 0
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-3)
