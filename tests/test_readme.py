"""The code of the README and of the user guide runs, and prints what they say."""

import contextlib
import doctest
import io
import pathlib
import re
import subprocess
import sys

import pytest

from graphkm.datasets import make_two_moons

ROOT = pathlib.Path(__file__).parents[1]
README = ROOT / "README.md"
GUIDE = {page: page.read_text("utf-8") for page in sorted((ROOT / "docs/guide").glob("*.md"))}
PAGES_WITH_CODE = [page for page, text in GUIDE.items() if "```pycon" in text]


def test_the_example_prints_what_it_says():
    code = re.search(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)[1]
    promised = [float(number) for number in re.findall(r"# ([\d.]+) ([\d.]+)$", code, re.M)[0]]
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(code, {})
    printed = [float(number) for number in out.getvalue().split()]
    # Rounding differs between instruction sets, and with it a point or two near the boundary.
    assert printed == pytest.approx(promised, abs=0.01)
    assert printed[1] > printed[0]


def test_the_readmes_links_to_files_lead_somewhere():
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", README.read_text(encoding="utf-8"))
    local = [link for link in links if not link.startswith("http")]
    assert len(local) > 5
    assert [link for link in local if not (ROOT / link).exists()] == []


def test_the_commands_work(tmp_path):
    pytest.importorskip("typer")
    for name, seed, shown in (("rows", 0, 8), ("new_rows", 1, 40)):
        X, truth = make_two_moons(80, noise=0.1, random_state=seed)
        labels = [("left", "right")[k] if i < shown else "" for i, k in enumerate(truth)]
        rows = [f"{a},{b},{label}" for (a, b), label in zip(X, labels, strict=True)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["x,z,label", *rows]))
    commands = re.findall(r"^ +graphkm ([^#\n]+)", README.read_text(encoding="utf-8"), re.M)
    assert len(commands) == 3
    for command in commands:
        run = [sys.executable, "-c", "from graphkm.cli import main; main()", *command.split()]
        done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    predictions = (tmp_path / "predictions.csv").read_text().splitlines()
    assert len(predictions) == 81 and {"left", "right"} >= {
        p.split(",")[0] for p in predictions[1:]
    }


@pytest.mark.parametrize("page", PAGES_WITH_CODE, ids=lambda page: page.stem)
def test_the_code_of_the_guide(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```pycon\n(.*?)```", GUIDE[page], re.DOTALL)
    session = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, page.stem, str(page), 0)
    report = io.StringIO()
    failed, attempted = doctest.DocTestRunner().run(session, out=report.write)
    assert attempted > 0
    assert failed == 0, report.getvalue()
