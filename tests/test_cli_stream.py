"""`graphkm stream`: the same model as by Python, honest accuracy, and what survives a kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from cli_runner import process, read_predictions, run, write_csv, write_libsvm
from graphkm import GKMClassifier, GKMRegressor, Sums
from graphkm.online import prequential, train

N, CHUNK = 600, 50
FLAGS = ("--chunk", CHUNK, "--every", 100, "--gamma", "0.5")


@pytest.fixture(scope="module")
def rows():
    """Return rows, and labels with NaN where they are unknown."""
    rng = np.random.default_rng(0)
    X = rng.normal(2, 3, (N, 3))
    y = np.where(rng.random(N) < 0.3, (X[:, 0] > X[:, 1]).astype(float), np.nan)
    return X, y


@pytest.fixture
def path(tmp_path, rows):
    """Return the rows as a file."""
    X, y = rows
    labels = ["" if np.isnan(value) else int(value) for value in y]
    return write_csv(tmp_path / "rows.csv", X, labels, list("abc"))


def chunks(X, y):
    return [(X[k : k + CHUNK], y[k : k + CHUNK]) for k in range(0, len(y), CHUNK)]


@pytest.fixture(params=["sgd", "sums"])
def solver(request):
    """Return the way a stream is learnt."""
    return request.param


@pytest.fixture
def flags(solver):
    """Return options with this solver."""
    return (*FLAGS, "--solver", solver)


def model(kind=GKMClassifier, **changes):
    return kind(gamma=0.5, unlabeled=None, random_state=0, **changes)


def scaled(X):
    return StandardScaler().fit(X[:CHUNK]).transform(X)


@pytest.mark.dear
def test_it_is_the_library_s_stream(tmp_path, path, rows, capsys, solver, flags):
    X, y = rows
    assert run("stream", path, tmp_path / "m.gkm", *flags, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    Z = scaled(X)
    expected = train(chunks(Z, y), model(solver=solver), classes=[0, 1])
    assert run("predict", tmp_path / "m.gkm", path, "--out", tmp_path / "out.csv") == 0
    _, lines = read_predictions(tmp_path / "out.csv")
    decided = [float(line[1]) for line in lines]
    np.testing.assert_array_equal(decided, expected.decision_function(Z))
    record = prequential(model(solver=solver), chunks(Z, y), classes=[0.0, 1.0])
    assert found["tested"] == record.n_tested.sum()
    assert found["prequential_accuracy"] == pytest.approx(record.cumulative_accuracy[-1])
    assert found["rows"] == N and found["labelled"] == np.isfinite(y).sum()
    assert found["classes"] == [0, 1]


@pytest.mark.dear
def test_libsvm_needs_no_width_where_a_file_can_be_read_twice(tmp_path, rows, solver, flags):
    X, y = rows
    labels = ["" if np.isnan(value) else int(value) + 1 for value in y]
    sparse = write_libsvm(tmp_path / "rows.libsvm", X, labels)
    flags = (*flags, "--unlabeled", "0", "--scale", "none")
    assert run("stream", sparse, tmp_path / "m.gkm", *flags) == 0
    expected = train(chunks(X, y), model(solver=solver), classes=[0, 1])
    assert run("predict", tmp_path / "m.gkm", sparse, "--out", tmp_path / "out.csv") == 0
    decided = [float(line[1]) for line in read_predictions(tmp_path / "out.csv")[1]]
    np.testing.assert_allclose(decided, expected.decision_function(X), rtol=1e-3, atol=1e-4)


def test_numbers(tmp_path, rows, capsys):
    X, _ = rows
    y = np.where(np.arange(N) % 3 == 0, X[:, 0] - 0.5 * X[:, 1] + 0.25, np.nan)
    labels = ["" if np.isnan(value) else repr(float(value)) for value in y]
    write_csv(tmp_path / "rows.csv", X, labels, list("abc"))
    arguments = ("stream", tmp_path / "rows.csv", tmp_path / "m.gkm", *FLAGS, "--json")
    assert run(*arguments) == 0
    found = json.loads(capsys.readouterr().out)
    expected = model(GKMRegressor)
    errors = []
    for k, (Z, t) in enumerate(chunks(scaled(X), y)):
        known = np.isfinite(t)
        if k:
            errors.extend(np.abs(expected.predict(Z[known]) - t[known]))
        expected.partial_fit(Z, t)
    assert found["task"] == "regress"
    assert found["prequential_mean_absolute_error"] == pytest.approx(np.mean(errors))


@pytest.mark.long
@pytest.mark.slow
def test_standard_input(tmp_path, path, flags):
    # Nothing in a pipe can be read twice: the classes are those of the first chunk, or named.
    flags = [*map(str, flags), "--scale", "none"]
    text = path.read_text()
    done = process("stream", "-", "a.gkm", *flags, stdin=text, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    named = [*flags, "--classes", "0,1"]
    done = process("stream", "-", "b.gkm", *named, stdin=text, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert run("stream", path, tmp_path / "c.gkm", *flags) == 0
    models = {(tmp_path / name).read_bytes() for name in ("a.gkm", "b.gkm", "c.gkm")}
    assert len(models) == 1
    one = "x,label\n" + "1,a\n" * 3 + "2,\n" * 60
    done = process("stream", "-", "d.gkm", *flags, stdin=one, folder=tmp_path)
    assert done.returncode == 1 and "--classes" in done.stderr
    done = process("stream", "-", "d.gkm", "--format", "libsvm", stdin="1 1:1", folder=tmp_path)
    assert done.returncode == 2 and "--features" in done.stderr


def interrupted(folder, path, flags, signal_number, wait_for):
    """Stop a stream in the middle, after its checkpoint `wait_for`; return it and what it said."""
    arguments = ["stream", "-", "m.gkm", "--classes", "0,1", *map(str, flags)]
    head, *lines = path.read_text().splitlines(keepends=True)
    with subprocess.Popen(
        [sys.executable, "-m", "graphkm.cli", *arguments],
        cwd=folder,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as job:
        job.stdin.write(head + "".join(lines[:330]))
        job.stdin.flush()
        while not (folder / wait_for).exists():
            assert job.poll() is None
            time.sleep(0.05)
        job.send_signal(signal_number)
        return arguments, job.wait(), job.stderr.read()


@pytest.mark.long
@pytest.mark.xdist_group("signals")
def test_a_killed_stream_goes_on_and_ends_with_the_same_bytes(tmp_path, path, flags):
    stopped = interrupted(tmp_path, path, flags, signal.SIGKILL, "m.gkm.checkpoint.previous")
    arguments, code, _ = stopped
    assert code == -signal.SIGKILL and not (tmp_path / "m.gkm").exists()
    done = process(*arguments, "--json", stdin=path.read_text(), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert 0 < found["resumed_at"] <= 330 and found["rows"] == N
    assert run("stream", path, tmp_path / "whole.gkm", *flags) == 0
    assert (tmp_path / "m.gkm").read_bytes() == (tmp_path / "whole.gkm").read_bytes()


@pytest.mark.long
@pytest.mark.xdist_group("signals")
def test_ctrl_c_says_how_to_go_on(tmp_path, path, flags):
    _, code, printed = interrupted(tmp_path, path, flags, signal.SIGINT, "m.gkm.checkpoint")
    assert code == 130
    assert "the same command goes on" in printed and "Traceback" not in printed


@pytest.mark.dear
def test_a_file_that_has_grown(tmp_path, path, capsys, flags):
    lines = path.read_text().splitlines(keepends=True)
    grown = tmp_path / "grown.csv"
    grown.write_text("".join(lines[:321]))
    assert run("stream", grown, tmp_path / "m.gkm", *flags) == 0
    grown.write_text("".join(lines))
    capsys.readouterr()
    assert run("stream", grown, tmp_path / "m.gkm", *flags, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["resumed_at"] == 320 and found["rows"] == N


@pytest.mark.dear
def test_other_settings_are_refused_unless_it_begins_anew(tmp_path, path, capsys, flags):
    arguments = ("stream", path, tmp_path / "m.gkm", *flags)
    assert run(*arguments) == 0
    for other, message in (
        (("--C", "3"), "was written with --C 'auto'"),
        (("--scale", "none"), "was begun with scale 'standard', which is 'none' now"),
        (("--unlabeled", "7"), "was begun with unlabeled None"),
    ):
        capsys.readouterr()
        assert run(*arguments, *other) == 2
        printed = capsys.readouterr().err
        assert "--restart" in printed, printed
        assert message.split(" 'auto'")[0] in printed, printed
    assert run(*arguments, "--C", "3", "--restart") == 0
    other = tmp_path / "other.csv"
    other.write_text("".join(path.read_text().splitlines(keepends=True)[:200]))
    assert run("stream", other, tmp_path / "m.gkm", *flags, "--C", "3") == 2
    assert "belongs to another stream" in capsys.readouterr().err
    os.unlink(tmp_path / "m.gkm.checkpoint.json")
    assert run(*arguments, "--C", "3") == 2


@pytest.mark.parametrize(("flags", "shift"), [((), 1), ((), 0), (("--features", "3"), 1)])
@pytest.mark.parametrize("name", ["a.libsvm", "a.txt"])
def test_libsvm_files_are_looked_through_for_their_width(tmp_path, name, flags, shift, capsys):
    rows = [f"{k % 2} {shift + k % 2}:1 {shift + 2}:{k}" for k in range(20)]
    (tmp_path / name).write_text("\n".join(rows))
    model = tmp_path / "m.gkm"
    assert run("stream", tmp_path / name, model, "--chunk", "10", *flags) == 0
    capsys.readouterr()
    assert run("info", model, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["n_features"] == 3 and found["zero_based"] == (shift == 0)


def test_a_stream_without_labels_is_refused(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("x,label\n" + "1,\n" * 10)
    assert run("stream", tmp_path / "a.csv", tmp_path / "m.gkm") == 1
    assert "none of its 10 rows has a label" in capsys.readouterr().err


@pytest.mark.dear
@pytest.mark.parametrize("flags", [("--solver", "sums", "--landmarks", 40), ("--landmarks", 40)])
def test_sums_over_landmarks(tmp_path, path, rows, flags):
    X, y = rows
    assert run("stream", path, tmp_path / "m.gkm", *FLAGS, *flags) == 0
    solver = Sums(40)
    expected = train(chunks(scaled(X), y), model().set_params(solver=solver), classes=[0, 1])
    assert run("predict", tmp_path / "m.gkm", path, "--out", tmp_path / "out.csv") == 0
    _, lines = read_predictions(tmp_path / "out.csv")
    assert [float(line[0]) for line in lines] == expected.predict(scaled(X)).tolist()
    assert run("stream", path, tmp_path / "m.gkm", *FLAGS, "--landmarks", 50) != 0
    assert run("stream", path, tmp_path / "m.gkm", *FLAGS, "--landmarks", 1) != 0
