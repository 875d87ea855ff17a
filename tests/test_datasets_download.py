"""Downloads from a home that misbehaves: a right file under its name, or none and a clear word."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from graphkm.datasets import DamagedFileError, DatasetError
from graphkm.datasets.catalog import PublicFile
from graphkm.datasets.reading import content_digest, libsvm
from graphkm.datasets.storage import exclusive, obtain
from home_server import Home, serve

pytest.importorskip("pooch")
pytest.importorskip("filelock")

_RNG = np.random.default_rng(0)
X = _RNG.normal(size=(400, 3)).round(3)
Y = _RNG.integers(0, 2, 400)


def text(X=X, y=Y):
    lines = (
        f"{label} " + " ".join(f"{k}:{v}" for k, v in enumerate(row, 1))
        for row, label in zip(X, y, strict=True)
    )
    return ("\n".join(lines) + "\n").encode()


GOOD = text()
ALTERED = GOOD.replace(b"1:", b"2:", 1)
assert ALTERED != GOOD
HALF = len(GOOD) // 2


def public_file(url, sha256=None):
    from scipy.sparse import csr_matrix

    digest = content_digest({"X": csr_matrix(X), "y": Y})
    return PublicFile("tiny", url, libsvm(3), digest, sha256=sha256)


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """Do not wait between attempts, nor ask a proxy for what is on this machine."""
    monkeypatch.setattr("pooch.core.time.sleep", lambda seconds: None)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def fetch(home, folder, **options):
    with serve(home) as url:
        return obtain(public_file(url, **options), folder)


def test_downloads_once(tmp_path):
    home = Home(GOOD)
    with serve(home) as url:
        for _ in range(2):
            arrays = obtain(public_file(url), tmp_path / "new" / "folder")
            np.testing.assert_array_equal(arrays["X"].toarray(), X)
            np.testing.assert_array_equal(arrays["y"], Y)
    assert home.n_requests == 1
    assert names(tmp_path / "new" / "folder") == ["tiny"]
    assert (tmp_path / "new" / "folder" / "tiny").read_bytes() == GOOD


def test_dropped_connection_starts_over(tmp_path):
    home = Home(GOOD, ["cut"])
    fetch(home, tmp_path)
    assert home.n_requests == 2
    assert (tmp_path / "tiny").read_bytes() == GOOD
    assert names(tmp_path) == ["tiny"]


def test_busy_server_is_asked_again(tmp_path):
    home = Home(GOOD, [503, 429])
    fetch(home, tmp_path)
    assert home.n_requests == 3


def test_a_server_that_stays_broken(tmp_path):
    home = Home(GOOD, ["cut", 500, 500, 500])
    with pytest.raises(DatasetError, match="could not be downloaded") as caught:
        fetch(home, tmp_path)
    assert not isinstance(caught.value, DamagedFileError)
    assert home.n_requests == 4
    assert names(tmp_path) == []
    fetch(Home(GOOD), tmp_path)
    assert names(tmp_path) == ["tiny"]


@pytest.mark.parametrize("wrong", [ALTERED, GOOD[:HALF], b"<html>We have moved.</html>"])
def test_other_file_is_refused_and_removed(tmp_path, wrong):
    home = Home(GOOD, 10 * [wrong])
    with pytest.raises(DamagedFileError, match="is not the expected file") as caught:
        fetch(home, tmp_path)
    assert "Place the file tiny from http://127.0.0.1" in str(caught.value)
    assert home.n_requests == 2
    assert names(tmp_path) == []


def test_file_that_was_altered_on_its_way_once(tmp_path):
    home = Home(GOOD, [ALTERED])
    fetch(home, tmp_path)
    assert home.n_requests == 2
    assert (tmp_path / "tiny").read_bytes() == GOOD


def test_known_bytes_are_compared(tmp_path):
    fetch(Home(GOOD), tmp_path / "same", sha256=hashlib.sha256(GOOD).hexdigest())
    assert names(tmp_path / "same") == ["tiny"]
    with pytest.raises(DamagedFileError, match="does not match the known hash"):
        fetch(Home(GOOD), tmp_path / "other", sha256=hashlib.sha256(ALTERED).hexdigest())
    assert names(tmp_path / "other") == []


def test_missing_file_says_what_to_do(tmp_path):
    home = Home(GOOD, 10 * [404])
    with pytest.raises(DatasetError, match="404") as caught:
        fetch(home, tmp_path)
    message = str(caught.value)
    assert "Place the file tiny from http://127.0.0.1" in message
    assert str(tmp_path) in message
    assert "GRAPHKM_DATA" in message
    assert home.n_requests == 1  # asking again would not help
    assert names(tmp_path) == []


def test_no_network_says_what_to_do(tmp_path):
    with serve(Home(GOOD)) as url:
        pass  # nobody listens there any more
    with pytest.raises(DatasetError, match=r"Place the file tiny from .* or set GRAPHKM_DATA"):
        obtain(public_file(url), tmp_path)
    assert names(tmp_path) == []


def test_progress_bar_on_a_terminal(tmp_path, monkeypatch, capsys):
    fetch(Home(GOOD), tmp_path / "quiet")
    assert "100%" not in capsys.readouterr().err
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    fetch(Home(GOOD), tmp_path / "shown")
    shown = capsys.readouterr().err
    assert "tiny" in shown
    assert "100%" in shown


# ------------------------------------------------------------------- folders


def test_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DatasetError, match=r"could not be written .* Place the file tiny"):
        fetch(Home(GOOD), tmp_path / "file" / "folder")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root writes anywhere")
def test_read_only_folder(tmp_path):
    tmp_path.chmod(0o500)
    home = Home(GOOD)
    try:
        with pytest.raises(DatasetError, match="could not be written"):
            fetch(home, tmp_path)
    finally:
        tmp_path.chmod(0o700)
    assert home.n_requests == 0
    assert names(tmp_path) == []


# ----------------------------------------------------------------- processes

_CHILD = """
import sys
from contextlib import contextmanager
from pathlib import Path
sys.path.insert(0, {tests!r})
import pooch, requests, test_datasets_download as here
print("ready", flush=True)
here.obtain(here.public_file({url!r}), Path({folder!r}))
print("done", flush=True)
"""


@contextmanager
def child(url, folder):
    code = _CHILD.format(tests=str(Path(__file__).parent), url=url, folder=str(folder))
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    with process:
        try:
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


def wait_for_half(home, *processes):
    """Wait until half of the file is sent, or one of those who may ask for it is gone."""
    while not home.half_sent.wait(0.05):
        assert all(process.poll() is None for process in processes)


@pytest.mark.long
@pytest.mark.slow
def test_two_processes_download_once(tmp_path):
    home = Home(GOOD, ["stall"])
    with serve(home) as url, child(url, tmp_path) as one, child(url, tmp_path) as two:
        wait_for_half(home, one, two)
        home.asked_twice.wait(2)  # time enough for the other one, if nothing held it back
        home.go.set()
        assert [process.communicate()[0] for process in (one, two)] == 2 * ["done\n"]
    assert home.n_requests == 1
    assert names(tmp_path) == ["tiny"]


@pytest.mark.long
@pytest.mark.xdist_group("signals")
def test_killed_process_leaves_neither_the_name_nor_a_lock(tmp_path):
    home = Home(GOOD, ["stall"])
    with serve(home) as url:
        with child(url, tmp_path) as process:
            wait_for_half(home, process)  # leaving kills it
        home.go.set()
        assert not (tmp_path / "tiny").exists()
        obtain(public_file(url), tmp_path)  # would wait for ever, if the lock outlived its holder
    assert (tmp_path / "tiny").read_bytes() == GOOD
    assert not (tmp_path / "tiny.lock").exists()


def test_lock_lets_one_in_at_a_time_though_its_file_is_removed(tmp_path):
    def enter(_):
        for _ in range(50):
            with exclusive(tmp_path / "lock"):
                (tmp_path / "inside").touch(exist_ok=False)
                (tmp_path / "inside").unlink()

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(enter, range(8)))
    assert names(tmp_path) == []
