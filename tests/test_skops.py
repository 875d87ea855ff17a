"""skops keeps our estimators too, with the reader's consent to their types."""

from __future__ import annotations

import io
import json
import tracemalloc
import zipfile

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from graphkm import (
    GKMClassifier,
    GKMClassifierCV,
    GKMRegressor,
    GKMRegressorCV,
    SemiSupervisedClassifier,
)
from graphkm.baselines import LaplacianRegressor, LaplacianSVC, TransductiveSVC
from graphkm.exchange import ModelFileError, skops_files
from graphkm.kernels import Polynomial

skops = pytest.importorskip("skops.io")

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
SHOWN = np.arange(60) % 3 == 0
THREE = np.where(SHOWN, np.digitize(X[:, 0], [-0.5, 0.5]), -1)
REAL = np.where(SHOWN, X[:, 0], np.nan)


@pytest.mark.dear
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


def _bomb(kind):
    """Return a file of skops that is small, and unpacks to 20 MB of zeros."""
    if kind == "sparse":
        zeros = np.zeros(2_000_000, np.int32)
        many = csr_array((zeros.astype(float), zeros, [0, len(zeros)]), shape=(1, 1))
    else:
        many = np.zeros(2_500_000 if kind == "array" else 10_000)
    content = skops.dumps({"model": many, "note": {}}, compression=zipfile.ZIP_DEFLATED)
    if kind != "uses":
        return content
    read = zipfile.ZipFile(io.BytesIO(content))
    (name,) = set(read.namelist()) - {"schema.json"}
    schema = json.loads(read.read("schema.json"))
    array = schema["content"]["model"]
    schema["content"]["model"] = {
        "__class__": "list",
        "__module__": "builtins",
        "__loader__": "ListNode",
        "__id__": 1,
        "content": [array | {"__id__": number} for number in range(2, 252)],
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as write:
        write.writestr(name, read.read(name))
        write.writestr("schema.json", json.dumps(schema))
    return out.getvalue()


@pytest.mark.parametrize("kind", ["array", "sparse", "uses"])
def test_a_bomb_is_refused_before_it_is_unpacked(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(skops_files, "_HARMLESS", 2**16)
    content = _bomb(kind)
    assert len(content) < 60_000
    (tmp_path / "m.gkm").write_bytes(content)
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError, match=r"would unpack to [\d,]+, more than any model"):
            skops_files.load_with_skops(tmp_path / "m.gkm")
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.long
def test_models_that_compress_well_are_no_bombs(tmp_path, monkeypatch):
    monkeypatch.setattr(skops_files, "_HARMLESS", 2**16)
    forest = RandomForestClassifier(30, random_state=0)
    model = SemiSupervisedClassifier(forest, random_state=0).fit(X, THREE)
    skops_files.save_with_skops(model, tmp_path / "m.gkm", {})
    loaded, _ = skops_files.load_with_skops(tmp_path / "m.gkm")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
