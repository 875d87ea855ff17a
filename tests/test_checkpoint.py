"""Checkpoints: everything comes back, nothing is half-written, damage is seen."""

from __future__ import annotations

import errno
import hashlib
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from flat import gkm_classifier
from graphkm import GKMClassifier, GKMRegressor, Sums
from graphkm._util import files as _files
from graphkm.exchange import ModelFileError, load_model, save_model
from graphkm.exchange.container import read_container, write_container
from graphkm.kernels import Polynomial, SquaredExponential
from graphkm.losses import EpsilonInsensitive, SmoothHinge
from graphkm.ridge.sums import add_rows, no_rows, solve

rng = np.random.default_rng(0)
X = rng.normal(size=(400, 3))
Y = np.where(rng.random(400) < 0.3, (X[:, 0] > 0).astype(int), -1)
HALF = slice(0, 200), slice(200, 400)


def started(**parameters):
    model = gkm_classifier(random_state=0, gamma=0.5, reservoir_size=50, **parameters)
    return model.partial_fit(X[HALF[0]], Y[HALF[0]])


def assert_same(one, two):
    for name in ("dual_coef_", "support_", "intercept_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    np.testing.assert_array_equal(one.predict(X), two.predict(X))


def go_on_alike(model, twin, rows=X, y=Y):
    assert_same(model, twin)
    for each in (model, twin):
        each.partial_fit(rows[HALF[1]], y[HALF[1]])
    assert_same(model, twin)


# ---------------------------------------------------------------- everything comes back


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"precision": "double", "graph": "full", "half_life": 30.0, "step": "explicit", "p": 1},
        {"kernel": Polynomial(degree=2, gamma=0.1), "fit_intercept": True},
        {"kernel": SquaredExponential(gamma=0.3, sigma_f=2.0), "loss": SmoothHinge(0.3)},
        {"kernel": "laplacian", "loss": "logistic", "class_weight": {0: 2.0, 1: np.float64(0.5)}},
        {"unlabeled": -1, "steps_per_row": np.float32(0.5), "C_graph": 0, "graph": "bipartite"},
    ],
)
def test_a_classifier_goes_on_from_its_file(tmp_path, parameters):
    model = started(**parameters)
    save_model(model, tmp_path / "a")
    loaded = load_model(tmp_path / "a")
    assert loaded.get_params() == model.get_params()
    go_on_alike(model, loaded)


@pytest.mark.parametrize("solver", ["sgd", "sums"])
def test_sparse_rows_texts_and_names(tmp_path, solver):
    rows = csr_array(X * (np.abs(X) > 0.5))
    words = np.array(["no", "yes", None], dtype=object)[Y]
    model = GKMClassifier(solver=solver, random_state=1).partial_fit(rows[HALF[0]], words[HALF[0]])
    save_model(model, tmp_path / "a")
    go_on_alike(model, load_model(tmp_path / "a"), rows, words)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    model = GKMClassifier(solver=solver, random_state=1).partial_fit(frame[:200], Y[:200])
    save_model(model, tmp_path / "a")
    loaded = load_model(tmp_path / "a")
    assert loaded.feature_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(model.predict(frame), loaded.predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        loaded.partial_fit(frame.rename(columns={"a": "z"}), Y)


def test_a_regressor_goes_on_about_its_origin(tmp_path):
    y = np.where(np.arange(400) % 3 == 0, 7 + X[:, 0], np.nan)
    model = GKMRegressor(random_state=0, loss=EpsilonInsensitive(0.05))
    save_model(model.partial_fit(X[HALF[0]], y[HALF[0]]), tmp_path / "a")
    go_on_alike(model, load_model(tmp_path / "a"), y=y)
    late = GKMRegressor(random_state=0).partial_fit(X[:9], np.full(9, np.nan))
    save_model(late, tmp_path / "b")
    go_on_alike(late, load_model(tmp_path / "b"), y=y)


def test_the_same_state_is_the_same_file(tmp_path):
    model = started()
    save_model(model, tmp_path / "a")
    save_model(load_model(tmp_path / "a"), tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_checkpoint_is_the_state_of_its_moment(tmp_path):
    model, twin = started(), started()
    save_model(model, tmp_path / "a")
    model.partial_fit(X[HALF[1]], Y[HALF[1]])
    assert_same(load_model(tmp_path / "a"), twin)


# ---------------------------------------------------------------- what cannot be saved


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ({"kernel": lambda a, b: a @ b.T}, "kernel"),
        ({"callback": print}, "callback"),
        ({"random_state": np.random.RandomState(0)}, "random_state"),
    ],
)
@pytest.mark.parametrize("solver", ["sgd", "sums"])
def test_functions_and_generators_are_refused(tmp_path, parameters, name, solver):
    model = gkm_classifier(**({"random_state": 0, "solver": solver} | parameters))
    model.partial_fit(X, Y)
    with pytest.raises(ValueError, match=f"{name}=.*cannot be saved"):
        save_model(model, tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


def test_nothing_learnt_is_nothing_to_save(tmp_path):
    with pytest.raises(ValueError, match="not fitted; call fit or partial_fit"):
        save_model(GKMClassifier(), tmp_path / "a")


# ---------------------------------------------------------------- damage


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    path = tmp_path_factory.mktemp("written") / "a"
    save_model(started(), path)
    return path.read_bytes()


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_no_truncated_file_is_read(tmp_path_factory, written, data):
    path = tmp_path_factory.mktemp("cut") / "a"
    path.write_bytes(written[: data.draw(st.integers(0, len(written) - 1))])
    with pytest.raises(ModelFileError, match="cannot be used") as error:
        load_model(path)
    assert str(path) in str(error.value)


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_no_changed_file_is_read(tmp_path_factory, written, data):
    path = tmp_path_factory.mktemp("changed") / "a"
    damaged = bytearray(written)
    damaged[data.draw(st.integers(0, len(written) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(bytes(damaged))
    with pytest.raises(ModelFileError):
        load_model(path)


def test_a_damaged_file_names_the_one_before(tmp_path, written):
    path = tmp_path / "a"
    model = started()
    save_model(model, path)
    save_model(model.partial_fit(X[HALF[1]], Y[HALF[1]]), path)
    assert (tmp_path / "a.previous").read_bytes() == written
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ModelFileError, match=r"the one before it is .*a\.previous"):
        load_model(path)
    assert_same(load_model(tmp_path / "a.previous"), started())


def resealed(written, version=None, old=b"", new=b""):
    body = bytearray(written[:-32].replace(old, new) if old else written[:-32])
    if version is not None:
        body[8:12] = version.to_bytes(4, "little")
    return bytes(body) + hashlib.sha256(body).digest()


def test_other_formats_and_unknown_contents(tmp_path, written):
    path = tmp_path / "a"
    path.write_bytes(resealed(written, version=3))
    with pytest.raises(ModelFileError, match=r"format 3.*update graphkm"):
        load_model(path)
    path.write_bytes(resealed(written, version=1))
    with pytest.raises(ModelFileError) as error:
        load_model(path)
    assert str(error.value) == (
        f"{path} was written by an older version of graphkm (format 1); fit and save the model "
        "again."
    )
    for old, new in ((b'"C_graph"', b'"C_grapX"'), (b'"Hinge"', b'"Hingf"')):
        path.write_bytes(resealed(written, old=old, new=new))
        with pytest.raises(ModelFileError, match="no model that this version"):
            load_model(path)
    with pytest.raises(FileNotFoundError):
        load_model(tmp_path / "missing")
    with pytest.raises(ModelFileError, match="could not be read"):
        load_model(tmp_path)


# ---------------------------------------------------------------- disks


@pytest.mark.parametrize("call", ["fdopen", "fsync", "replace", "link"])
def test_a_full_disk_leaves_what_was_there(tmp_path, monkeypatch, call):
    path = tmp_path / "a"
    model = started()
    save_model(model, path)
    before = path.read_bytes()

    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(_files.os, call, full)
    monkeypatch.setattr(_files.shutil, "copyfile", full)
    model.partial_fit(X[HALF[1]], Y[HALF[1]])
    with pytest.raises(ModelFileError, match="No space left") as error:
        save_model(model, path)
    assert error.value.errno == errno.ENOSPC and error.value.filename == str(path)
    assert "untouched" in str(error.value)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["a"]
    save_model(model, path)
    assert_same(load_model(path), model)


def run_python(text, *arguments, **options):
    command = [sys.executable, "-c", textwrap.dedent(text), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
def test_a_write_that_the_system_cuts_short(tmp_path):
    """A limit on the size of files: the system itself stops the write half-way."""
    path = tmp_path / "a"
    write_container(path, {}, {"x": np.arange(3)})
    answer = run_python(
        """
        import resource, sys
        import numpy as np
        from graphkm.exchange.container import ModelFileError, write_container
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        try:
            write_container(sys.argv[1], {}, {"x": np.zeros(10**6)})
        except ModelFileError as error:
            print(error)
        """,
        path,
    )
    assert "File too large" in answer.stdout and "untouched" in answer.stdout, answer.stderr
    assert read_container(path)[1]["x"].tolist() == [0, 1, 2]
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
def test_a_read_only_folder(tmp_path):
    """Permissions do not hold the superuser, who becomes somebody else first."""
    folder = tmp_path / "locked"
    folder.mkdir()
    write_container(folder / "a", {}, {"x": np.arange(3)})
    folder.chmod(0o555)
    text = """
        import os, sys
        import numpy as np
        from graphkm.exchange.container import ModelFileError, write_container
        if os.geteuid() == 0:
            os.setuid(65534)
        try:
            write_container(sys.argv[1], {}, {"x": np.zeros(3)})
        except ModelFileError as error:
            print(error)
        """
    for parent in (tmp_path, *tmp_path.parents[:2]):  # pytest's own folders are private
        parent.chmod(0o755)
    answer = run_python(text, folder / "a")
    folder.chmod(0o755)
    assert "Permission denied" in answer.stdout and "untouched" in answer.stdout, answer.stderr
    assert read_container(folder / "a")[1]["x"].tolist() == [0, 1, 2]


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(ModelFileError, match="folder that exists"):
        save_model(started(), tmp_path / "nowhere" / "a")


def test_arrays_of_objects_are_refused(tmp_path):
    with pytest.raises(TypeError, match="cannot be written"):
        write_container(tmp_path / "a", {}, {"x": np.array([None])})
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------- forged sums


def sums_stream(path):
    """Write a stream of sums, and return its header and arrays."""
    rows, labels = np.tile(X, (2, 1)), np.tile(Y, 2)
    stream = GKMClassifier(solver=Sums(n_landmarks=20), random_state=0)
    save_model(stream.partial_fit(rows, labels), path)
    return read_container(path)


def of_sums(name, change):
    def forge(header, arrays):
        arrays[f"model/stream/arrays/{name}"] = change(arrays[f"model/stream/arrays/{name}"])

    return forge


def of_numbers(part, name, value):
    def forge(header, arrays):
        stream = dict(header["model"]["state"]["stream"]["dict"])
        for pair in stream[part]["dict"]:
            if pair[0] == name:
                pair[1] = value

    return forge


@pytest.mark.parametrize(
    "forge",
    [
        *(
            of_sums(f"{sums}_columns", lambda a: np.full_like(a, 1.7e308))
            for sums in ("all", "half")
        ),
        *(of_sums(f"{sums}_columns", lambda a: -a) for sums in ("all", "half")),
        of_sums("all_columns", lambda a: np.random.default_rng(0).normal(size=a.shape)),
        of_sums("all_cross", lambda a: a * 1e3),
        of_sums("all_cross", lambda a: np.full_like(a, 1.7e308)),
        of_sums("half_squares", lambda a: -a),
        of_sums("landmarks", lambda a: np.full_like(a, 3e38)),
        of_numbers("numbers", "C", 1e-320),
        of_numbers("solver", "offset", 1.7e308),
    ],
)
def test_forged_sums_are_refused(tmp_path, forge):
    header, arrays = sums_stream(tmp_path / "a")
    forge(header, arrays)
    write_container(tmp_path / "a", header, arrays)
    with pytest.raises(ModelFileError, match="holds no model"):
        load_model(tmp_path / "a")


def test_sums_beyond_double_precision_are_an_error():
    A = np.full((30, 2), 1e154)
    sums = add_rows(no_rows(2, 1), A, np.ones((30, 1)), np.ones(30))
    with pytest.raises(ValueError, match="too large for double precision"):
        solve(sums, np.eye(2), 1.0)
