"""Rows that encoders see in several views, inside partitions: as the local estimator sees them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.preprocessing import StandardScaler

import graphkm
from graphkm.embed import TextEmbedder
from graphkm.exchange import load_model, save_model
from graphkm.graphs import Anchors

dask = pytest.importorskip("dask", reason="dask is not installed: pip install 'graphkm[dask]'")
pytest.importorskip("distributed", reason="distributed is not installed")

import dask.dataframe as dd  # noqa: E402
import pandas as pd  # noqa: E402

from graphkm.dask import SemiSupervisedClassifier, SemiSupervisedRegressor  # noqa: E402
from graphkm.dask.runner import Runner  # noqa: E402
from graphkm.dask.workers import each  # noqa: E402

pytestmark = pytest.mark.xdist_group("dask")
WORDS = {0: ["kitten", "puppy", "paw", "leash"], 1: ["shares", "bonds", "broker", "profit"]}


def vectors(texts):
    """Count a few words: a model of texts."""
    every = [*WORDS[0], *WORDS[1]]
    return np.array([[1.0, *(text.count(word) for word in every)] for text in texts], np.float32)


def reviews(n=240):
    rng = np.random.default_rng(0)
    truth = np.arange(n) % 2
    said = [" ".join([*rng.choice(WORDS[k], 2).tolist(), "the"]) for k in truth.tolist()]
    said[17] = ""
    frame = pd.DataFrame({"said": said, "stars": rng.normal(size=n) + truth})
    return frame, np.where(np.arange(n) % 6 < 2, truth, -1), truth


def views_of(frame):
    scaler = StandardScaler().fit(frame[["stars"]])
    return {"columns": (scaler, ["stars"]), "vectors": (TextEmbedder(vectors), "said")}


def in_parts(frame, y):
    return dd.from_pandas(frame, npartitions=4), dd.from_pandas(pd.Series(y), npartitions=3)


@pytest.mark.long
def test_classes_of_texts_and_columns():
    frame, y, truth = reviews()
    about = {"graph": Anchors(50), "views": views_of(frame), "cv": 3, "random_state": 0}
    wanted = graphkm.SemiSupervisedClassifier(LogisticRegression(), **about).fit(frame, y)
    model = SemiSupervisedClassifier(LogisticRegression(), **about)
    rows, labels = in_parts(frame, y)
    model.fit(rows, labels)
    mine, other = ({m.name: m.weight for m in own.members_} for own in (model, wanted))
    assert mine == pytest.approx(other, abs=1e-9)
    assert {name.partition(":")[0] for name in mine} == {"columns", "vectors"}
    shares = model.predict_proba(rows).compute()
    np.testing.assert_allclose(shares, wanted.predict_proba(frame), atol=1e-9)
    assert model.score(rows, dd.from_pandas(pd.Series(truth), npartitions=4)) > 0.95
    kept = model.transduction(rows, dd.from_pandas(pd.Series(y), npartitions=4)).compute()
    assert (kept[y >= 0] == y[y >= 0]).all()


def test_quantities_of_texts_in_a_single_view():
    frame, y, truth = reviews()
    targets = np.where(y >= 0, truth + 0.5, np.nan)
    views = {"vectors": (TextEmbedder(vectors), "said")}
    about = {"graph": Anchors(50), "views": views, "cv": 3, "random_state": 0}
    wanted = graphkm.SemiSupervisedRegressor(LinearRegression(), **about).fit(frame, targets)
    rows, labels = in_parts(frame[["said"]], targets)
    model = SemiSupervisedRegressor(LinearRegression(), **about).fit(rows, labels)
    np.testing.assert_allclose(model.predict(rows).compute(), wanted.predict(frame), atol=1e-9)


@pytest.mark.long
def test_a_model_of_vectors_is_saved_with_its_encoder(tmp_path):
    frame, y, truth = reviews()
    views = {"vectors": (TextEmbedder(), "said")}
    model = SemiSupervisedClassifier(estimator=None, graph=Anchors(50), views=views, cv=3)
    model.fit(*in_parts(frame, y))
    save_model(model.to_local(), tmp_path / "texts.gkm")
    loaded = load_model(tmp_path / "texts.gkm")
    assert np.mean(loaded.predict(frame) == truth) > 0.95


@pytest.mark.long
def test_labelled_rows_of_all_views_share_the_memory():
    """Ten numbers of eight and nine of four bytes in a row: views are drawn together."""
    frame, y, _ = reviews()
    model = SemiSupervisedClassifier(
        LogisticRegression(), graph=Anchors(50), views=views_of(frame), cv=3, random_state=0
    )
    one = 8 + 9 * 4  # a number of the columns, and nine of the vectors
    model.set_params(label_memory=80 * one).fit(*in_parts(frame, y))
    model.set_params(label_memory=80 * one - 1)
    with pytest.warns(UserWarning, match="80 labelled rows take .* learn from 79 labelled"):
        model.fit(*in_parts(frame, y))


def test_encoders_that_learn_must_have_learnt():
    frame, y, _ = reviews()
    views = {"columns": (StandardScaler(), ["stars"])}
    model = SemiSupervisedClassifier(LogisticRegression(), graph=Anchors(50), views=views)
    with pytest.raises(ValueError, match="'columns' has an encoder that learns from rows"):
        model.fit(*in_parts(frame, y))
    with pytest.raises(ValueError, match="views must be a dict"):
        model.set_params(views=3).fit(*in_parts(frame, y))


class Loads:
    """An encoder whose model takes long to load: it counts how often that happens."""

    def __init__(self, folder):
        self.folder, self.model = folder, None

    def __getstate__(self):
        return {"folder": self.folder, "model": None}

    def transform(self, part):
        import os
        import time

        if self.model is None:
            self.model = object()
            (self.folder / f"{os.getpid()}-{time.monotonic_ns()}").touch()
        return part


def transformed(part, encoder):
    return encoder.transform(part)


@pytest.mark.slow
def test_a_worker_loads_an_encoder_once(client, tmp_path):
    """Twenty partitions, and each process has one file."""
    found = each(Runner(client), "see-rows", transformed, list(range(20)), Loads(tmp_path))
    assert found == list(range(20))
    pids = [path.name.partition("-")[0] for path in tmp_path.iterdir()]
    assert len(pids) == len(set(pids)) <= len(client.nthreads())
