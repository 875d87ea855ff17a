"""Damaged models and data files: what a file, a disk or an attacker may bring.

Case i of a seed is always the same file, whatever ran before it.
"""

from __future__ import annotations

import bz2
import functools
import gzip
import hashlib
import io
import json
import lzma
import struct
import tempfile
import warnings
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from flat import gkm_classifier, gkm_regressor
from graphkm import (
    KNN,
    Anchors,
    GKMClassifier,
    GKMClassifierCV,
    GKMRegressor,
    KernelRidgeClassifierCV,
    SemiSupervisedClassifier,
    SemiSupervisedRegressor,
    Sums,
)
from graphkm.baselines import LaplacianRegressor, LaplacianSVC, TransductiveSVC
from graphkm.exchange import ModelFileError, from_libsvm, load_model, save_model, to_libsvm
from graphkm.io import DataFileError, read_libsvm
from graphkm.online import read_stream
from graphkm.solvers.base import DivergenceError
from mutations import mutated

EXTREMES = [
    -1,
    0,
    1,
    2,
    3,
    7,
    2**31 - 1,
    2**31,
    2**32,
    2**53,
    2**62,
    2**63,
    2**64,
    10**30,
    -(2**63),
]
EXTREMES += [0.5, -0.0, 1e-308, 1e308, float("inf"), float("-inf"), float("nan"), True, None]
EXTREMES += ["", "x", "GKMRegressor", "Linear", [], {}, [[]], {"array": "model"}, {"dict": []}]
DTYPES = ["<f4", "<f8", "<i4", "<i8", "|b1", "|u1", "<U1", "<U9", "|O", "<c16", "f8", "<U0", "|V8"]
WORDS = [b"SV\n", b"nr_class ", b"total_sv ", b"rho ", b"label ", b"nr_sv ", b"rbf", b"polynomial"]
WORDS += [b"degree ", b"gamma ", b"coef0 ", b"c_svc", b"nu_svr", b"99999999999", b"-1", b"1e999"]
WORDS += [b"nan", b":", b"2147483647:1", b"\n", b" ", b"\x00", b"1000000000"]
TEXT = [b":", b" ", b"\n", b",", b'"', b"nan", b"inf", b"1e400", b"-", b"#", b"qid:1", b"0:1"]
TEXT += [b"2147483648:1", b"99999999999999999999", b"\x00", b"?", b"1_0", b"\xff", b"\r"]


# ---------------------------------------------------------------- files that are whole


def _for_a_table():
    """Return an imputer and a scaler for two columns, and an encoder for the third."""
    return make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), [0, 1]),
        (OneHotEncoder(handle_unknown="ignore"), [2]),
    )


@functools.cache
def good_models() -> list[bytes]:
    """Return small files of models of every kind."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(24, 3))
    sparse = csr_array(np.where(np.abs(X) > 0.5, X, 0))
    two = np.where(np.arange(24) % 2 == 0, X[:, 0] > 0, -1)
    words = np.array(["no", "so", "yes", ""])[
        np.where(two < 0, 3, np.digitize(X[:, 1], [-0.5, 0.5]))
    ]
    real = np.where(two < 0, np.nan, X[:, 0])
    small = {"n_neighbors": 3, "random_state": 0}
    stream = {**small, "reservoir_size": 6, "gamma": 0.5}
    models = [
        gkm_classifier(**small).fit(X, two),
        gkm_classifier(unlabeled="", **small).fit(sparse, words),
        GKMClassifier(kernel="precomputed", C_graph=0).fit(X @ X.T, two),
        gkm_regressor(solver="sgd", max_iter=20, **small).fit(X, real),
        gkm_regressor(solver="row_newton", **small).fit(X, real),
        GKMClassifierCV(Cs=[1.0], C_graphs=[0.0, 1.0]).fit(X, two),
        SemiSupervisedClassifier(None, random_state=0).fit(X[:14], two[:14]),
        SemiSupervisedRegressor(
            make_pipeline(StandardScaler(), LaplacianRegressor()), graph=Anchors(n_anchors=6)
        ).fit(X, real),
        SemiSupervisedClassifier(KernelRidgeClassifierCV(), unlabeled="").fit(sparse, words),
        SemiSupervisedClassifier(gkm_classifier(**small), graph=None).fit(X, two),
        SemiSupervisedRegressor(None, graph=Anchors(n_anchors=6)).fit(X, real),
        LaplacianSVC(graph=KNN(n_neighbors=3)).fit(X, two),
        TransductiveSVC(kernel="poly").fit(X, two),
        make_pipeline(StandardScaler(), gkm_classifier(**small)).fit(X, two),
        make_pipeline(_for_a_table(), gkm_classifier(**small)).fit(np.round(X), two),
        gkm_classifier(**stream).partial_fit(X, two, classes=[0, 1]),
        gkm_classifier(half_life=9.0, **stream).partial_fit(sparse, two, classes=[0, 1]),
        gkm_regressor(budget=5, **stream).partial_fit(X, real),
        GKMClassifier(solver=Sums(3), random_state=0).partial_fit(X, two, classes=[0, 1]),
        GKMClassifier(solver=Sums(9, 20.0), random_state=0).partial_fit(sparse, two, [0, 1]),
        GKMRegressor(solver=Sums(4), random_state=0).partial_fit(X, real),
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        return [save_model(model, path) or path.read_bytes() for model in models]


@functools.cache
def good_libsvm_models() -> list[bytes]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3))
    models = [
        GKMClassifier(graph=KNN(n_neighbors=3)).fit(
            X, np.where(np.arange(20) < 9, X[:, 0] > 0, -1) * 1
        ),
        GKMClassifier(kernel="poly", graph=KNN(n_neighbors=3)).fit(
            X, np.digitize(X[:, 0], [-0.4, 0.4])
        ),
        GKMRegressor(kernel="linear").fit(X, X[:, 0]),
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        return [to_libsvm(m, path) is not None and path.read_bytes() for m in models]


@functools.cache
def good_data() -> dict[str, bytes]:
    import pyarrow as pa
    from pyarrow import parquet

    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 3)).round(2)
    lines = [
        f"{i % 2} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(row)) for i, row in enumerate(X)
    ]
    rows = ["a,b,c,label", *(",".join(map(str, [*row, "cat"])) for row in X)]
    table = pa.table({**{f"x{j}": X[:, j] for j in range(3)}, "label": ["cat", "dog"] * 6})
    file = io.BytesIO()
    parquet.write_table(table, file)
    return {
        "libsvm": ("\n".join(lines) + "\n").encode(),
        "csv": ("\n".join(rows) + "\n").encode(),
        "parquet": file.getvalue(),
    }


# ---------------------------------------------------------------- damage


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """Return bytes with some flipped, cut off, cut out, repeated or replaced."""
    out = bytearray(content)
    kind = rng.integers(5)
    begin, end = sorted(rng.integers(0, len(out) + 1, 2).tolist())
    if kind == 0:
        for at in rng.integers(0, len(out), rng.integers(1, 9)):
            out[at] ^= 1 << int(rng.integers(8))
    elif kind == 1:
        del out[begin:]
    elif kind == 2:
        del out[begin : begin + int(rng.integers(1, 64))]
    elif kind == 3:
        out[begin:begin] = out[max(begin, end - 256) : end]
    else:
        out[begin : begin + 8] = rng.bytes(8)
    return bytes(out)


def resealed(content: bytes) -> bytes:
    """Return a model's bytes with the checksum that belongs to them."""
    body = content[:-32]
    return body + hashlib.sha256(body).digest()


def with_other_header(content: bytes, rng: np.random.Generator) -> bytes:
    """Return a model with some values of its header replaced, everything else in order."""
    size = struct.unpack_from("<Q", content, 12)[0]
    header = json.loads(content[20 : 20 + size])
    for _ in range(rng.integers(1, 4)):
        places = list(_places(header))
        if not places:  # the last step took all there was
            break
        part, key = places[rng.integers(len(places))]
        action = rng.integers(4)
        if action == 0 and isinstance(part, list):
            part.insert(key, part[key])
        elif action == 0:
            del part[key]
        elif action == 1:
            other, place = places[rng.integers(len(places))]
            part[key] = json.loads(json.dumps(other[place]))
        else:
            choices = DTYPES if part[key] in DTYPES else EXTREMES
            part[key] = choices[rng.integers(len(choices))]
    text = json.dumps(header).encode()
    start = struct.pack("<8sIQ", b"graphkm\n", 2, len(text))
    return resealed(start + text + content[20 + size :])


def _places(part):
    """Yield every list or dictionary of a header with each of its keys."""
    keys = range(len(part)) if isinstance(part, list) else list(part)
    for key in keys:
        yield part, key
        if isinstance(part[key], list | dict):
            yield from _places(part[key])


def model_case(index: int, seed: int = 0) -> tuple[str, bytes]:
    """Return what kind of file case `index` is, and its bytes."""
    rng = np.random.default_rng([seed, index, 0])
    if index % 5 == 4:
        texts = good_libsvm_models()
        text = texts[rng.integers(len(texts))]
        return "LIBSVM model", mutated(text, WORDS, rng) if rng.integers(2) else damaged(text, rng)
    files = good_models()
    content = files[rng.integers(len(files))]
    kind = rng.integers(4)
    if kind == 0:
        return "model", damaged(content, rng)
    if kind == 1:
        return "resealed model", resealed(damaged(content[:-32], rng) + bytes(32))
    return "model with another header", with_other_header(content, rng)


def data_case(index: int, seed: int = 0) -> tuple[str, bytes]:
    """Return the name that case `index` has, which tells its format, and its bytes."""
    rng = np.random.default_rng([seed, index, 1])
    kind = ("libsvm", "csv", "libsvm", "csv", "parquet")[index % 5]
    content = good_data()[kind]
    if kind == "parquet":
        return "parquet", damaged(content, rng)
    packing, pack = [("", bytes), (".gz", gzip.compress), (".bz2", bz2.compress)][index // 5 % 3]
    if packing == ".gz" and rng.integers(2):
        packing, pack = ".xz", lzma.compress
    before = bool(not packing or rng.integers(2))
    if before:
        content = mutated(content, TEXT, rng) if rng.integers(4) else damaged(content, rng)
    content = pack(content)
    return kind + packing, content if before else damaged(content, rng)


# ---------------------------------------------------------------- what becomes of it


def try_model(name: str, path: Path) -> str:
    """Return "accepted" or "refused"; anything else is an exception that must not be."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = from_libsvm(path) if name == "LIBSVM model" else load_model(path)
        except ModelFileError as error:
            assert str(error)
            return "refused"
        if model.n_features_in_ > 10_000:  # rows as wide as that are the user's own doing
            return "accepted"
        last = model.steps[-1][1] if hasattr(model, "steps") else model
        X = np.linspace(-1, 1, 4 * model.n_features_in_).reshape(4, -1)
        with np.errstate(all="ignore"):
            try:
                assert len(model.predict(X)) == 4
            except ValueError as error:  # of a sound scaler or encoder
                assert "overflow" in str(error) or "unknown categories" in str(error)
                return "refused"
            if hasattr(last, "stream_"):
                y = np.full(4, last.classes_[0]) if hasattr(last, "classes_") else np.zeros(4)
                try:
                    last.partial_fit(X, y)
                except (ValueError, DivergenceError):
                    return "accepted"  # parameters that a fit refuses are refused by the next one
        return "accepted"


def try_data(name: str, path: Path) -> str:
    """Return "accepted" or "refused", as `try_model`."""
    kind = name.split(".")[0]
    options = {"n_features": 3} if kind == "libsvm" else {}
    outcome = "accepted"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for on_bad_row in ("error", "skip"):
            try:
                for chunk in read_stream(path, format=kind, on_bad_row=on_bad_row, **options):
                    assert chunk.X.shape[0] == len(chunk.y)
                if kind == "libsvm":
                    read_libsvm(path)
            except DataFileError as error:
                assert str(error)
                outcome = "refused"
    return outcome


CASES = {"models": (model_case, try_model), "data": (data_case, try_data)}


def run_case(group: str, index: int, folder: Path, seed: int = 0) -> tuple[str, str]:
    """Return the kind of a case and what became of it."""
    make, check = CASES[group]
    name, content = make(index, seed)
    path = folder / "file"
    path.write_bytes(content)
    return name, check(name, path)


def read_good_file(group: str, folder: Path) -> None:
    """Read files that are whole, which must be accepted."""
    if group == "models":
        files = [("model", content) for content in good_models()]
        files += [("LIBSVM model", content) for content in good_libsvm_models()]
    else:
        files = list(good_data().items())
    for name, content in files:
        (folder / "file").write_bytes(content)
        assert CASES[group][1](name, folder / "file") == "accepted", name
