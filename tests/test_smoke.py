"""What every built wheel must do, with nothing installed but pytest: `make release-check`."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pytest
from sklearn.base import clone

import graphkm
from graphkm import GKMClassifier, GKMClassifierCV, GKMRegressor, _native
from graphkm.baselines import TransductiveSVC
from graphkm.datasets import hide_labels, make_two_moons
from graphkm.exchange import load_model
from graphkm.io import read_libsvm
from graphkm.online import train


@pytest.fixture(scope="module")
def moons():
    X, truth = make_two_moons(300, noise=0.1, random_state=0)
    return X, truth, hide_labels(truth, n_per_class=4, random_state=0)


def test_the_version_is_that_of_the_installed_package():
    assert graphkm.__version__.count(".") == 2


def test_the_labelling_page_is_in_the_wheel():
    names = {path.name for path in (files("graphkm.app") / "static").iterdir()}
    assert {"index.html", "page.css", "page.js", "map.js", "icon.png"} <= names


def test_compiled_loops_for_this_machine():
    assert _native.instruction_set() in ("avx512", "avx2", "neon", "portable")


def test_files_that_come_with_the_package():
    assert files("graphkm").joinpath("py.typed").is_file()


@pytest.mark.parametrize(
    "model",
    [
        GKMClassifier(random_state=0),
        GKMClassifier(solver="sgd", random_state=0),
        GKMClassifierCV(random_state=0),
        TransductiveSVC(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_few_labels(model, moons):
    X, truth, y = moons
    model = clone(model).fit(X, y)  # parameters of tests stay alive
    assert model.score(X, truth) > 0.8


def test_a_stream_and_its_checkpoint(tmp_path, moons):
    X, truth, _ = moons
    chunks = [(X[i : i + 100], truth[i : i + 100]) for i in (0, 100, 200)]
    model = train(
        chunks, GKMClassifier(random_state=0), classes=[0, 1], checkpoint=tmp_path / "model"
    )
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict(X), model.predict(X))
    assert model.score(X, truth) > 0.8


def test_regression(moons):
    X, _, _ = moons
    assert GKMRegressor(random_state=0).fit(X, X[:, 0]).score(X, X[:, 0]) > 0.9


def test_a_file(tmp_path):
    (tmp_path / "a.libsvm").write_text("1 1:0.5 3:2\n-1 2:1e-3\n")
    X, y = read_libsvm(tmp_path / "a.libsvm")
    assert X.toarray().tolist() == [[0.5, 0, 2], [0, 0.001, 0]]
    assert y.tolist() == [1, -1]
