"""Clusters whose workers are lost: the same result, or an error, and never an endless wait."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from dask_rows import PROCESSES, cut, moons
from graphkm.graphs import Anchors

dask = pytest.importorskip("dask", reason="dask is not installed: pip install 'graphkm[dask]'")
pytest.importorskip("distributed", reason="distributed is not installed")

from distributed import Client, LocalCluster  # noqa: E402

from graphkm.dask import SemiSupervisedClassifier  # noqa: E402
from graphkm.dask.passes import Passes  # noqa: E402

pytestmark = [pytest.mark.xdist_group("dask"), pytest.mark.slow]


def killing(block, folder, reads):
    """Return a block; the read with a certain number ends its process, once."""
    (folder / f"read-{os.getpid()}-{time.monotonic_ns()}").touch()
    if len(list(folder.glob("read-*"))) >= reads:
        try:
            (folder / "killed").touch(exist_ok=False)
        except FileExistsError:  # another process may have come first
            return block
        os.kill(os.getpid(), signal.SIGKILL)
    return block


def assert_identical(model, wanted):
    found, expected = model.to_local().mixture_, wanted.to_local().mixture_
    np.testing.assert_array_equal(found.values, expected.values)
    np.testing.assert_array_equal(found.nodes.points, expected.nodes.points)
    assert [each.weight for each in model.members_] == [each.weight for each in wanted.members_]
    assert model.best_score_ == wanted.best_score_


@pytest.mark.parametrize("reads", [2, 7, 12, 17])
def test_a_worker_killed_in_any_pass_changes_nothing(tmp_path, reads):
    """Five partitions are read in four passes; the cluster has processes that come back."""
    X, y, _ = moons(2000)
    rows, labels = cut(X, y, 400)
    model = SemiSupervisedClassifier(LogisticRegression(), graph=Anchors(80), random_state=0)
    wanted = clone(model).fit(rows, labels)
    with (
        LocalCluster(n_workers=2, silence_logs=50, **PROCESSES) as started,
        Client(started),
    ):
        mortal = rows.map_blocks(killing, folder=tmp_path, reads=reads, meta=np.empty((0, 0)))
        model.fit(mortal, labels)
    assert (tmp_path / "killed").exists()
    assert_identical(model, wanted)


def resting(block):
    time.sleep(30)
    return block


def test_a_cluster_without_workers_is_an_error_and_no_wait():
    X, y, _ = moons()
    rows, labels = cut(X, y)
    with (
        LocalCluster(n_workers=1, silence_logs=50, **PROCESSES) as started,
        Client(started),
        dask.config.set({"graphkm.worker-timeout": "2s"}),
    ):
        closing = threading.Timer(3.0, started.scale, [0])
        closing.start()
        slow = rows.map_blocks(resting, meta=np.empty((0, 0)))
        with pytest.raises(RuntimeError, match="no worker for 2 seconds"):
            SemiSupervisedClassifier(LogisticRegression(), graph=Anchors(80)).fit(slow, labels)
        closing.join()


@pytest.fixture
def mortals():
    """Two workers that nobody starts again, and a client; the first value kills them all."""
    with (
        LocalCluster(n_workers=0, silence_logs=50, dashboard_address=":0") as started,
        Client(started) as client,
        dask.config.set({"graphkm.worker-timeout": "2s"}),
    ):
        command = [sys.executable, "-m", "distributed.cli.dask_worker", "--no-nanny"]
        command += ["--nthreads", "1", "--no-dashboard", started.scheduler_address]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        workers = [subprocess.Popen(command, **quiet) for _ in range(2)]
        try:
            client.wait_for_workers(2, timeout=60)

            def kill():
                for worker in workers:
                    worker.send_signal(signal.SIGKILL)
                    worker.wait()

            yield kill, client
        finally:
            for worker in workers:
                worker.kill()
                worker.wait()


@pytest.mark.parametrize("fetch", [1, 2])
def test_all_workers_killed_while_results_are_fetched(mortals, fetch, monkeypatch):
    """Tasks are done, and their results are lost before they are here, at every fetch of a fit."""
    kill, _ = mortals
    gather, calls = Client.gather, []

    def lost(self, futures, *args, **kwargs):
        calls.append(len(futures))
        if len(calls) == fetch:
            kill()
        return gather(self, futures, *args, **kwargs)

    monkeypatch.setattr(Client, "gather", lost)
    X, y, _ = moons()
    rows, labels = cut(X, y)
    start = time.monotonic()
    with pytest.raises(RuntimeError, match="no worker for 2 seconds"):
        SemiSupervisedClassifier(LogisticRegression(), graph=Anchors(80)).fit(rows, labels)
    assert len(calls) == fetch
    assert time.monotonic() - start < 60  # an end at all; Dask alone would wait for ever
    for thread in threading.enumerate():
        if thread.name == "graphkm-fetch":
            thread.join(30)
            assert not thread.is_alive()


def test_all_workers_killed_between_passes(mortals, monkeypatch):
    kill, _ = mortals
    X, y, _ = moons(2000, 900)
    moved = Passes._moved

    def last(self, points):
        kill()
        return moved(self, points)

    monkeypatch.setattr(Passes, "_moved", last)
    with pytest.raises(RuntimeError, match="no worker for 2 seconds"):
        SemiSupervisedClassifier(LogisticRegression(), graph=Anchors(80)).fit(*cut(X, y))


def test_a_worker_killed_with_many_labels_changes_nothing(tmp_path):
    """The labelled rows that it held are found again."""
    X, y, _ = moons(2000, 900)
    rows, labels = cut(X, y, 400)
    model = SemiSupervisedClassifier(LogisticRegression(), graph=Anchors(80), random_state=0)
    wanted = clone(model).fit(rows, labels)
    with (
        LocalCluster(n_workers=2, silence_logs=50, **PROCESSES) as started,
        Client(started),
    ):
        mortal = rows.map_blocks(killing, folder=tmp_path, reads=19, meta=np.empty((0, 0)))
        model.fit(mortal, labels)
    assert (tmp_path / "killed").exists()
    assert_identical(model, wanted)
