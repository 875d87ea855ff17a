"""The code of the cheat sheet and of the page for those who come from other packages runs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_moons
from typer.main import get_command

from graphkm.cli.app import app

GUIDE = Path(__file__).resolve().parent.parent / "docs" / "guide"
if not GUIDE.is_dir():  # tests of a source distribution
    pytest.skip("the pages are not here", allow_module_level=True)
SHEET, MOVING = ((GUIDE / name).read_text("utf-8") for name in ("cheat_sheet.md", "moving.md"))


def code(page):
    return re.findall(r"```python\n(.*?)```", page, re.DOTALL)


@pytest.mark.long
def test_every_line_of_python_runs(tmp_path, monkeypatch):
    pytest.importorskip("tokenizers")
    monkeypatch.chdir(tmp_path)
    X, truth = make_moons(120, noise=0.05, random_state=0)
    said = np.array(["the card was stolen", "the rate of the euro"], dtype=object)
    names = {
        "X": X[:100],
        "X_new": X[100:],
        "truth": truth[:100],
        "texts": [f"{said[k]} {k}" for k in truth[:40]],
        "topics": [("card", "rate")[k] if i < 20 else None for i, k in enumerate(truth[:40])],
        "edges": [(i, j) for i in range(99) for j in range(i + 1, 100) if truth[i] == truth[j]][
            ::9
        ],
        "prices": np.where(np.arange(100) < 40, X[:100, 0], np.nan),
    }
    blocks = code(SHEET)
    # 20 labels, so that a learning curve can be fitted
    blocks[0] = blocks[0].replace("n_per_class=5", "n_per_class=10, random_state=0")
    for block in blocks:
        exec(block, names)
    assert np.mean(names["model"].predict(X[100:]) == truth[100:]) > 0.9
    assert (tmp_path / "model.gkm").is_file()


def test_every_command_and_option_exists():
    commands = get_command(app).commands
    lines = re.findall(r"^\$ graphkm (.+)$", SHEET, re.MULTILINE)
    assert len(lines) == 11
    for line in lines:
        name, *words = shlex.split(line)
        known = {option for each in commands[name].params for option in each.opts}
        assert {word for word in words if word.startswith("-")} <= known, line


@pytest.mark.long
def test_both_sides_do_the_same_task():
    pytest.importorskip("graphlearning")
    names = {}
    for block in code(MOVING):
        exec(block, names)
    truth, hidden = names["truth"], np.arange(len(names["truth"])) >= 50
    for answer in ("theirs", "ours", "on_w"):
        assert np.mean(names[answer][hidden] == truth[hidden]) > 0.85, answer


def test_the_names_of_the_table_exist():
    """The right column names what is here; the left one what scikit-learn has."""
    import sklearn.semi_supervised as theirs

    import graphkm
    import graphkm.active
    import graphkm.datasets

    for name in ("LabelPropagation", "LabelSpreading", "SelfTrainingClassifier"):
        assert f"`{name}" in MOVING and hasattr(theirs, name)
    for full in re.findall(r"\{(?:class|func)\}`~?(graphkm[\w.]+)`", MOVING):
        module, _, name = full.rpartition(".")
        home = {"graphkm": graphkm, "graphkm.active": graphkm.active}.get(module, graphkm.datasets)
        assert hasattr(home, name), full
