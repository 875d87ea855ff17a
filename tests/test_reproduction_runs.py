"""Cells in processes of their own: limits, interruptions, and going on afterwards."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from functools import partial
from multiprocessing import Pipe
from pathlib import Path

import pytest

from graphkm.datasets import DatasetError
from reproduction import runner as runner_module
from reproduction.cells import NO_FIT, OVER, Cell, fits, sizes_of
from reproduction.experiments import plan
from reproduction.ledger import Ledger
from reproduction.protocol import Protocol
from reproduction.runner import run_cells
from reproduction.sets import SETS, ExperimentSet

QUICK = Protocol.named("quick")
CELLS = [
    cell
    for cell in fits(("made_moons",), ("gkm-hinge-p1", "svm-all-labels"), (90,), QUICK)
    if cell.part == "tenth" and cell.objective != "printed"
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with the results of some cells."""
    folder = tmp_path_factory.mktemp("results")
    others = plan("graph", None, QUICK)
    assert run_cells([*CELLS, *others], QUICK, folder, jobs=2) == {}
    return folder


def rows_of(folder):
    return {row["key"]: row for row in Ledger(folder).rows()}


def test_every_cell_is_a_row_with_all_that_is_needed_to_judge_it(folder):
    rows = rows_of(folder)
    assert set(rows) >= {cell.key for cell in CELLS}
    row = rows["fit/made_moons/gkm-hinge-p1/90/0/tenth/released/0"]
    assert row["status"] == "ok" and row["accuracy"] > 0.7
    assert row["n_train"] == 360 and row["n_labeled"] == 36 and row["n_test"] == 40
    choice = rows["choice/made_moons/gkm-hinge-p1/90/0/tenth/released/0"]
    assert row["parameters"] == choice["parameters"]
    assert row["memory_mb"] > row["data_mb"] > 0
    assert row["environment"]["versions"]["numpy"]
    assert {"seed", "cpu_seconds", "wall_seconds", "f1", "n_support"} <= set(row)
    assert choice["best_on_test"] >= row["accuracy"]


def test_what_is_done_is_not_done_again(folder):
    before = (folder / "results.jsonl").read_bytes()
    told = []
    run_cells(CELLS, QUICK, folder, tell=lambda *news: told.append(news))
    assert told == [] and (folder / "results.jsonl").read_bytes() == before


def test_the_same_seed_gives_the_same_accuracy(folder, tmp_path):
    wanted = [cell for cell in CELLS if cell.run == 0 and cell.method == "gkm-hinge-p1"]
    run_cells(wanted, QUICK, tmp_path)
    for key, row in rows_of(tmp_path).items():
        for measure in ("accuracy", "f1", "parameters", "cv_accuracy"):
            assert row.get(measure) == rows_of(folder)[key].get(measure)


def test_an_error_is_a_row_and_is_tried_again(tmp_path):
    cell = Cell("fit", "made_moons", "self-knn", 90, 0)
    ledger = Ledger(tmp_path)
    ledger.append({"key": cell.key, "status": "error"})
    run_cells([cell, cell.needs(QUICK)], QUICK, tmp_path)
    assert rows_of(tmp_path)[cell.key]["status"] == "ok"


def test_too_slow_is_over_the_limit(tmp_path):
    brief = Protocol.named("full", cpu_limit=1.0, costs=tuple(2.0**k for k in range(-9, 9)))
    run_cells([Cell("choice", "made_g50c", "lapsvm", 90, 0)], brief, tmp_path)
    (row,) = rows_of(tmp_path).values()
    assert row["status"] == OVER


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are Linux's here")
def test_too_large_did_not_fit(tmp_path):
    small = Protocol.named("quick", memory_limit=3e7)
    run_cells([Cell("fit", "made_moons", "gkm-best", 90, 0)], small, tmp_path)
    (row,) = rows_of(tmp_path).values()
    assert row["status"] == NO_FIT


def test_a_set_that_cannot_be_had_leaves_the_others(tmp_path, monkeypatch):
    def missing():
        raise DatasetError("no such file.")

    monkeypatch.setitem(SETS, "g50c", ExperimentSet("g50c", 550, missing))
    cells = fits(("made_moons", "g50c"), ("self-knn",), (90,), QUICK)
    assert run_cells(cells, QUICK, tmp_path) == {"g50c": "no such file."}
    assert {row["dataset"] for row in rows_of(tmp_path).values()} == {"made_moons"}


def test_an_interrupted_run_goes_on(tmp_path, monkeypatch):
    told = []

    def interrupt(row, ended, total):
        told.append(row["key"])
        if len(told) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_cells(CELLS, QUICK, tmp_path, jobs=2, tell=interrupt)
    assert len(rows_of(tmp_path)) == 2
    told.clear()
    run_cells(CELLS, QUICK, tmp_path, tell=lambda row, *_: told.append(row["key"]))
    assert len(told) == len(CELLS) - 2
    assert not (tmp_path / "running.lock").exists()


@pytest.mark.long
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals")
@pytest.mark.xdist_group("signals")
def test_a_killed_run_goes_on(tmp_path):
    code = (
        "import sys\n"
        "from reproduction.cells import fits\n"
        "from reproduction.protocol import Protocol\n"
        "from reproduction.runner import run_cells\n"
        "P = Protocol.named('quick')\n"
        "cells = fits(('made_moons',), ('gkm-hinge-p1', 'svm-all-labels'), (90,), P)\n"
        "cells = [c for c in cells if c.part == 'tenth' and c.objective != 'printed']\n"
        "run_cells(cells, P, sys.argv[1])"
    )
    root = Path(__file__).resolve().parents[1]
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], cwd=root)
    path = tmp_path / "results.jsonl"
    while process.poll() is None and not (path.exists() and path.read_bytes().count(b"\n") >= 2):
        time.sleep(0.02)
    process.kill()
    process.wait()
    kept = {json.loads(line)["key"] for line in path.read_text().splitlines()}
    assert len(kept) >= 2
    told = []
    run_cells(CELLS, QUICK, tmp_path, tell=lambda row, *_: told.append(row["key"]))
    assert not kept & set(told)
    assert set(rows_of(tmp_path)) == {cell.key for cell in CELLS}


@pytest.mark.long
@pytest.mark.xdist_group("signals")
def test_a_process_that_hangs_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(runner_module, "_PATIENCE", 0.0)
    monkeypatch.setattr(runner_module, "_GRACE", 0.0)
    long = Protocol.named("full")
    run_cells([Cell("choice", "made_g50c", "lapsvm", 90, 0)], long, tmp_path)
    (row,) = rows_of(tmp_path).values()
    assert row["status"] == OVER and row["reason"] == "by the clock"


def test_growing_sets_have_more_and_more_rows_and_a_limit_stops_them(tmp_path, monkeypatch):
    def limited(data, cell, protocol, parameters):
        return {"status": OVER if cell.rows >= 2000 else "ok"}

    monkeypatch.setattr(runner_module, "Job", partial(_FakeJob, limited))
    monkeypatch.setitem(SETS, "w8a", ExperimentSet("w8a", 49749, lambda: ([0], [0])))
    cells = [c for c in plan("growth", ("w8a",), QUICK) if c.method == "self-knn"]
    assert {cell.rows for cell in cells if cell.hidden == 80} == {0, *sizes_of("w8a")}
    run_cells(cells, QUICK, tmp_path)
    ended = {(row["hidden"], row["rows"]): row["status"] for row in rows_of(tmp_path).values()}
    assert ended == {(h, n): OVER if n == 2000 else "ok" for h in (90, 80) for n in (0, 1000, 2000)}


class _FakeJob:
    """A job that ends at once, with what a function says."""

    def __init__(self, work, cell, *arguments):
        self.cell, (self.connection, theirs) = cell, Pipe(duplex=False)
        theirs.send(0)
        protocol, data, parameters = arguments
        self.answer = {"parameters": {}, **work(data, cell, protocol, parameters)}

    def result(self):
        return self.answer

    def stop(self):
        pass
