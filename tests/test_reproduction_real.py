"""The experiments on the paper's own sets, where they are at hand."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from reproduction.cells import fits
from reproduction.ledger import Ledger
from reproduction.protocol import Protocol
from reproduction.runner import run_cells

_BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture
def data_folder(monkeypatch):
    folder = Path(os.environ.get("GRAPHKM_DATA", _BESIDE))
    if not (folder / "g50c_lds.mat.xz").exists():
        pytest.skip(f"{folder} lacks the sets; set GRAPHKM_DATA to the folder that has them")
    monkeypatch.setenv("GRAPHKM_DATA", str(folder))


@pytest.mark.long
@pytest.mark.usefixtures("data_folder")
def test_gkm_learns_the_small_sets(tmp_path):
    protocol = Protocol.named("quick")
    cells = [
        cell
        for cell in fits(
            ("uspst", "g50c", "svmguide3"), ("gkm-hinge-p1", "gkm-hinge-p2"), (80,), protocol
        )
        if (cell.part, cell.objective) == ("tenth", "released")
    ]
    assert run_cells(cells, protocol, tmp_path, jobs=2) == {}
    rows = [row for row in Ledger(tmp_path).rows() if row["kind"] == "fit"]
    assert all(row["status"] == "ok" for row in rows)
    sizes = {row["dataset"]: (row["n_train"], row["n_features"]) for row in rows}
    assert sizes == {"uspst": (540, 256), "g50c": (495, 50), "svmguide3": (1118, 22)}
    for name, least in {"uspst": 0.97, "g50c": 0.85, "svmguide3": 0.74}.items():
        found = [row["accuracy"] for row in rows if row["dataset"] == name]
        assert np.mean(found) > least, name
