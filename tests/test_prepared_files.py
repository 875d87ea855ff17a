"""Pipelines that prepare tables come back from model files: the same rows, the same predictions."""

from __future__ import annotations

import json
from contextlib import nullcontext

import numpy as np
import pytest
from scipy.sparse import issparse
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
)

from graphkm import GKMClassifier
from graphkm.exchange import ModelFileError, load_model, save_model, to_onnx
from graphkm.exchange.container import read_container, write_container

pd = pytest.importorskip("pandas")

pytestmark = pytest.mark.usefixtures("one_model")
rng = np.random.default_rng(0)
N = 80
FRAME = pd.DataFrame(
    {
        "size": rng.normal(10, 3, N),
        "colour": rng.choice(["red", "green", "blue"], N),
        "weight": np.where(rng.random(N) < 0.1, np.nan, rng.normal(5, 1, N)),
        "shape": np.where(rng.random(N) < 0.1, None, rng.choice(["round", "square"], N)),
        "other": rng.normal(size=N),
    }
).astype({"colour": object, "shape": object})
Y = np.where(np.arange(N) % 3 == 0, (FRAME["size"] > 10).astype(int), -1)


def numbers():
    return make_pipeline(SimpleImputer(strategy="median"), StandardScaler())


def words(**options):
    return make_pipeline(
        SimpleImputer(strategy="constant", fill_value="missing", missing_values=np.nan),
        OneHotEncoder(handle_unknown="ignore", **options),
    )


PREPARATIONS = {
    "names": ColumnTransformer(
        [("numbers", numbers(), ["size", "weight"]), ("words", words(), ["colour", "shape"])]
    ),
    "positions": ColumnTransformer(
        [("numbers", numbers(), [0, -3]), ("words", words(sparse_output=False), [1, 3])]
    ),
    "passthrough": make_column_transformer(
        (OneHotEncoder(drop="if_binary"), ["colour"]),
        ("passthrough", ["size"]),
        ("drop", ["shape", "weight"]),
        remainder="passthrough",
    ),
    "marked gaps": make_column_transformer(
        (SimpleImputer(add_indicator=True), ["weight", "other"]), (MinMaxScaler(), ["size"])
    ),
    "gaps as categories": make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["shape", "colour"]), (numbers(), ["size"])
    ),
    "dense": make_column_transformer((words(), ["colour"]), (numbers(), [0]), sparse_threshold=0),
}


@pytest.mark.dear
@pytest.mark.parametrize("name", PREPARATIONS)
def test_comes_back(tmp_path, name):
    model = make_pipeline(PREPARATIONS[name], GKMClassifier(random_state=0)).fit(FRAME, Y)
    save_model(model, tmp_path / "m.gkm")
    loaded = load_model(tmp_path / "m.gkm")
    new = FRAME.iloc[:, ::-1].assign(colour="violet" if name != "passthrough" else "red")
    for frame in (FRAME, new):
        before, after = (each[0].transform(frame) for each in (model, loaded))
        assert issparse(before) == issparse(after)
        before, after = (each.toarray() if issparse(each) else each for each in (before, after))
        np.testing.assert_array_equal(before, after)
        np.testing.assert_array_equal(
            model.decision_function(frame), loaded.decision_function(frame)
        )
    assert list(loaded[0].get_feature_names_out()) == list(model[0].get_feature_names_out())
    save_model(loaded, tmp_path / "again.gkm")  # a loaded model is as good as a fitted one
    assert (tmp_path / "again.gkm").read_bytes() == (tmp_path / "m.gkm").read_bytes()


def test_an_imputer_and_an_encoder_alone(tmp_path):
    rows = FRAME[["weight", "other"]].to_numpy()
    model = make_pipeline(SimpleImputer(), StandardScaler(), GKMClassifier(random_state=0))
    model.fit(rows, Y)
    save_model(model, tmp_path / "m.gkm")
    loaded = load_model(tmp_path / "m.gkm")
    np.testing.assert_array_equal(model.decision_function(rows), loaded.decision_function(rows))
    codes = rng.integers(0, 4, (N, 2))
    model = make_pipeline(OneHotEncoder(), GKMClassifier(C_graph=0)).fit(codes, Y)
    save_model(model, tmp_path / "m.gkm")
    loaded = load_model(tmp_path / "m.gkm")
    np.testing.assert_array_equal(model.decision_function(codes), loaded.decision_function(codes))


def test_a_column_without_values(tmp_path):
    rows = np.column_stack([FRAME["size"], np.full(N, np.nan)])
    for keep in (False, True):
        model = make_pipeline(
            SimpleImputer(keep_empty_features=keep), GKMClassifier(random_state=0)
        )
        with nullcontext() if keep else pytest.warns(UserWarning, match="Skipping features"):
            model.fit(rows, Y)
            save_model(model, tmp_path / "m.gkm")
            loaded = load_model(tmp_path / "m.gkm")
            again = loaded.decision_function(rows)
            np.testing.assert_array_equal(model.decision_function(rows), again)


@pytest.mark.dear
@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (make_column_transformer((OneHotEncoder(max_categories=2), ["colour"])), "max_categories"),
        (make_column_transformer((OrdinalEncoder(), ["colour"])), "a OrdinalEncoder, cannot"),
        (make_column_transformer((FunctionTransformer(), ["size"])), "a FunctionTransformer"),
        (make_column_transformer((StandardScaler(), slice(0, 1))), "names or of positions"),
        (make_column_transformer((StandardScaler(), ["size"]), remainder=MinMaxScaler()), "remai"),
    ],
)
def test_what_cannot_be_saved_says_so(tmp_path, step, reason):
    with np.errstate(all="ignore"):
        frame = FRAME.drop(columns=["shape", "weight"])
        if "remai" in reason:
            frame = frame.drop(columns="colour")
        model = make_pipeline(step, GKMClassifier(random_state=0)).fit(frame, Y)
    with pytest.raises(ValueError, match=reason):
        save_model(model, tmp_path / "m.gkm")
    assert not (tmp_path / "m.gkm").exists()


def test_other_formats_have_no_form_for_a_table(tmp_path):
    model = make_pipeline(PREPARATIONS["names"], GKMClassifier(random_state=0)).fit(FRAME, Y)
    with pytest.raises(ValueError, match="no form for the step 'columntransformer'"):
        to_onnx(model)


@pytest.mark.parametrize("gap", [None, np.nan, "both"])
def test_an_encoder_that_saw_gaps_comes_back(tmp_path, gap):
    gaps = [None, np.nan] if gap == "both" else [gap]
    column = np.array(["a", "b", *gaps] * 20, dtype=object)[:, None]
    encoder = OneHotEncoder(handle_unknown="ignore")
    model = make_pipeline(encoder, GKMClassifier(C_graph=0)).fit(column, Y[: len(column)])
    save_model(model, tmp_path / "m.gkm")
    loaded = load_model(tmp_path / "m.gkm")
    assert str(loaded[0].categories_) == str(model[0].categories_)
    new = np.array(["b", None, np.nan, "c"], dtype=object)[:, None]
    for rows in (column, new):
        before, after = (each[0].transform(rows).toarray() for each in (model, loaded))
        np.testing.assert_array_equal(before, after)
        np.testing.assert_array_equal(model.predict(rows), loaded.predict(rows))


def test_forged_categories_are_refused(tmp_path):
    model = make_pipeline(OneHotEncoder(), GKMClassifier(C_graph=0))
    model.fit(np.array(["a", "b"] * 20, dtype=object)[:, None], Y[:40])
    save_model(model, tmp_path / "m.gkm")
    header, arrays = read_container(tmp_path / "m.gkm")
    text = json.dumps(header)
    for wrong in ('[{"tuple": []}, "b"]', '"a"', "[]", '[["a"], "b"]'):
        forged = text.replace('["a", "b"]', wrong, 1)
        assert forged != text
        write_container(tmp_path / "f.gkm", json.loads(forged), arrays)
        with pytest.raises(ModelFileError, match="OneHotEncoder"):
            load_model(tmp_path / "f.gkm")
