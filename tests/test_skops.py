"""skops keeps our estimators too, with the reader's consent to their types."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from graphkm import GKMClassifier, GKMClassifierCV, GKMRegressor, GKMRegressorCV
from graphkm.kernels import Polynomial
from graphkm.machines import LaplacianRegressor, LaplacianSVC, TransductiveSVC

skops = pytest.importorskip("skops.io")

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
SHOWN = np.arange(60) % 3 == 0
THREE = np.where(SHOWN, np.digitize(X[:, 0], [-0.5, 0.5]), -1)
REAL = np.where(SHOWN, X[:, 0], np.nan)


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (GKMClassifier(random_state=0), THREE),
        (GKMClassifier(kernel=Polynomial(2, 0.5, 1.0), solver="sgd", random_state=0), THREE),
        (GKMClassifierCV(Cs=[1.0, 10.0]), THREE),
        (GKMRegressor(random_state=0), REAL),
        (GKMRegressorCV(Cs=[1.0, 10.0]), REAL),
        (LaplacianSVC(), THREE),
        (LaplacianRegressor(), REAL),
        (TransductiveSVC(), THREE),
        (make_pipeline(StandardScaler(with_mean=False), GKMClassifier(random_state=0)), THREE),
    ],
)
@pytest.mark.parametrize("rows", [X, csr_array(X)], ids=["dense", "sparse"])
def test_predictions_come_back(tmp_path, model, y, rows):
    model = clone(model).fit(rows, y)
    skops.dump(model, tmp_path / "model.skops")
    trusted = skops.get_untrusted_types(file=tmp_path / "model.skops")
    assert all(name.startswith(("graphkm.", "numpy.", "scipy.")) for name in trusted)
    loaded = skops.load(tmp_path / "model.skops", trusted=trusted)
    assert loaded.predict(rows).tobytes() == model.predict(rows).tobytes()


@pytest.mark.parametrize("solver", ["sgd", "sums"])
def test_a_stream_goes_on(tmp_path, solver):
    model = GKMClassifier(solver=solver, random_state=0)
    model.partial_fit(X[:30], THREE[:30], classes=[0, 1, 2])
    skops.dump(model, tmp_path / "model.skops")
    trusted = skops.get_untrusted_types(file=tmp_path / "model.skops")
    loaded = skops.load(tmp_path / "model.skops", trusted=trusted)
    for each in (model, loaded):
        each.partial_fit(X[30:], THREE[30:])
    assert loaded.predict(X).tobytes() == model.predict(X).tobytes()
