"""The code of the README and of the user guide runs, and prints what they say."""

import contextlib
import doctest
import io
import pathlib
import re

import numpy as np
import pytest

from cli_runner import moons, run, write_csv

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


def test_the_commands_work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y, names = moons(100, 10)
    write_csv("rows.csv", X, y)
    write_csv("new_rows.csv", X + 0.01)
    commands = re.findall(r"^ +graphkm ([^#\n]+)", README.read_text(encoding="utf-8"), re.M)
    assert [run(*command.split()) for command in commands] == [0, 0, 0]
    predicted = [
        row.split(",")[0] for row in pathlib.Path("predictions.csv").read_text().split()[1:]
    ]
    assert np.mean(predicted == names) > 0.8


@pytest.mark.parametrize("page", PAGES_WITH_CODE, ids=lambda page: page.stem)
def test_the_code_of_the_guide(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```pycon\n(.*?)```", GUIDE[page], re.DOTALL)
    session = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, page.stem, str(page), 0)
    report = io.StringIO()
    failed, attempted = doctest.DocTestRunner().run(session, out=report.write)
    assert attempted > 0
    assert failed == 0, report.getvalue()
