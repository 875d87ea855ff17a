"""Clusters whose workers are lost: the same result, or an error, and never an endless wait."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from dask_rows import PROCESSES, cut, moons
from graphkm.graphs import Anchors
from graphkm.graphs.given_edges import Ids
from test_dask_edges import edges_of, groups, labels_of, rows_of

dask = pytest.importorskip("dask", reason="dask is not installed: pip install 'graphkm[dask]'")
pytest.importorskip("distributed", reason="distributed is not installed")

from distributed import Client, LocalCluster  # noqa: E402

from graphkm.dask import (  # noqa: E402
    SemiSupervisedClassifier,
    blocks,
    collections,
    edges,
    elsewhere,
    passes,
)
from graphkm.dask.edges import SpreadGraph  # noqa: E402
from graphkm.dask.passes import Passes  # noqa: E402
from graphkm.dask.runner import Runner  # noqa: E402

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


# ------------------------------------------------------------------ every task of a fit

IN_PASSES = [
    (collections, "count_rows"),
    (passes, "find_known"),
    (passes, "summary_of"),
    (passes, "some_labelled"),
    (passes, "first_anchors"),
    (passes, "sum_by_anchor"),
    (passes, "add_sums"),
    (passes, "move_anchors"),
    (passes, "nodes_at"),
    (passes, "join_anchors"),
    (passes, "add_tables"),
    (passes, "fit_model"),
]
OF_GRAPHS = [
    (edges, "list_edges"),
    (edges, "count_ends"),
    (edges, "split_edges"),
    (edges, "take_ways"),
    (edges, "join_edges"),
    (edges, "facts_of"),
    (blocks, "multiply"),
    (blocks, "multiply_back"),
]


def mortal(function, folder, deaths, *args):
    """Do a task; the calls with some numbers end their processes, each once."""
    (folder / f"call-{os.getpid()}-{time.monotonic_ns()}").touch()
    calls = len(list(folder.glob("call-*")))
    for death in deaths:
        mark = folder / f"killed-{death}"
        if calls >= death and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
    return function(*args)


def make_mortal(monkeypatch, where, name, folder, *deaths):
    function = partial(mortal, getattr(where, name), folder, deaths)
    monkeypatch.setattr(where, name, function)
    return [folder / f"killed-{death}" for death in deaths]


@pytest.fixture(scope="module")
def reborn():
    """Two workers that come back when they are killed."""
    with (
        LocalCluster(n_workers=2, silence_logs=50, **PROCESSES) as started,
        Client(started) as client,
    ):
        yield client


@pytest.mark.parametrize(("where", "name"), IN_PASSES)
def test_a_worker_killed_in_any_task_changes_nothing(where, name, reborn, monkeypatch, tmp_path):
    X, y, _ = moons(2000, 900)
    rows, labels = cut(X, y, 400)
    frame = rows.to_dask_dataframe(columns=["one", "two"])  # of unknown lengths
    model = SemiSupervisedClassifier(
        LogisticRegression(), graph=Anchors(80), random_state=0, label_memory="10 kB"
    )
    with dask.config.set(scheduler="sync"), pytest.warns(UserWarning, match="drawn at random"):
        wanted = clone(model).fit(frame, labels)
    (killed,) = make_mortal(monkeypatch, where, name, tmp_path, 1)
    with pytest.warns(UserWarning, match="drawn at random"):
        model.fit(frame, labels)
    assert killed.exists()
    assert_identical(model, wanted)


def products(pairs, n):
    """Return products of a given graph with a table, and of its transpose."""
    graph = SpreadGraph.of("given", edges_of(pairs), Ids(n, None), Runner())
    table = np.random.default_rng(0).normal(size=(n, 3)).astype(np.float32)
    out = np.empty_like(table)
    squares = graph.similarity.product(np.float32(1.0), 0.5, table, out)
    return [out, squares, graph.weights @ table, graph.weights.back @ table, graph.means @ table]


@pytest.mark.parametrize(("where", "name"), OF_GRAPHS)
def test_a_worker_killed_in_any_task_of_a_graph(where, name, reborn, monkeypatch, tmp_path):
    *_, pairs = groups()
    with dask.config.set(scheduler="sync"):
        wanted = products(pairs, 300)
    (killed,) = make_mortal(monkeypatch, where, name, tmp_path, 1)
    found = products(pairs, 300)
    assert killed.exists()
    for one, two in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, two)


def test_workers_killed_again_and_again_in_a_fit_with_edges(reborn, monkeypatch, tmp_path):
    """All workers lose what they have, one after another: rows, edges and tables are made again."""
    X, y, _, pairs = groups()
    given = (rows_of(X), labels_of(y)), {"affinity": edges_of(pairs)}
    model = SemiSupervisedClassifier(LogisticRegression(), graph=Anchors(60), random_state=0)
    with dask.config.set(scheduler="sync"):
        wanted = clone(model).fit(*given[0], **given[1])
    deaths = []
    for where, name, calls in (
        (elsewhere, "columns_of", (1,)),
        (elsewhere, "unit_part", (2,)),
        (elsewhere, "reach_anchors", (1,)),
        (elsewhere, "said_of", (1,)),
        (blocks, "multiply", (3, 40, 90)),
        (blocks, "multiply_back", (9,)),
    ):
        folder = tmp_path / name
        folder.mkdir()
        deaths += make_mortal(monkeypatch, where, name, folder, *calls)
    found = clone(model).fit(*given[0], **given[1])
    assert all(death.exists() for death in deaths)
    weights = [[each.weight for each in own.members_] for own in (found, wanted)]
    assert weights[0] == weights[1]
    np.testing.assert_array_equal(found.label_distributions_, wanted.label_distributions_)


def test_shared_values_outlive_all_workers_that_had_them(reborn, tmp_path):
    """A task kills one worker, and then, done again, the other; both had the value."""
    runner = Runner(reborn)
    shared = runner.share({"a": [1, 2]})
    look = partial(mortal, sorted, tmp_path, (1, 2))
    assert runner.bring([runner.task("look", look, shared)]) == [["a"]]
    assert len(list(tmp_path.glob("killed-*"))) == 2
