"""The code of the README, the front page and the user guide prints what they say."""

import contextlib
import doctest
import io
import os
import pathlib
import re

import numpy as np
import pytest

from cli_runner import moons, run, write_csv

ROOT = pathlib.Path(__file__).parents[1]
README = ROOT / "README.md"
DATA = pathlib.Path(os.environ.get("GRAPHKM_DATA", ROOT.parent / "shared" / "data"))
PAGES = {
    page: page.read_text("utf-8")
    for folder in ("docs", "docs/guide")
    for page in sorted((ROOT / folder).glob("*.md"))
}
SESSIONS = [  # most pages are one; the page on tables begins a second one that needs a data set
    pytest.param(
        page,
        session,
        marks=[pytest.mark.slow] if 'fetch_dataset("a1a")' in session else [],
        id=page.stem if number == 0 else f"{page.stem}-{number}",
    )
    for page, text in PAGES.items()
    for number, session in enumerate(text.split("<!-- a new session -->"))
    if "```pycon" in session
]


class AboutEqual(doctest.OutputChecker):
    """Numbers with a point may differ a little, as rounding does between instruction sets."""

    NUMBER = re.compile(r"\d+\.\d+")

    def check_output(self, want, got, flags):
        if super().check_output(want, got, flags):
            return True
        wanted, printed = (list(map(float, self.NUMBER.findall(text))) for text in (want, got))
        same_words = self.NUMBER.sub("", want) == self.NUMBER.sub("", got)
        return same_words and printed == pytest.approx(wanted, abs=0.015)


def test_numbers_are_about_equal():
    assert AboutEqual().check_output("0.98 alone\n", "0.97 alone\n", 0)
    assert not AboutEqual().check_output("0.98 alone\n", "0.96 alone\n", 0)
    assert not AboutEqual().check_output("0.98 alone\n", "0.98\n", 0)
    assert not AboutEqual().check_output("0.98 0.9\n", "0.98\n", 0)


def test_the_example_prints_what_it_says():
    text = README.read_text(encoding="utf-8")
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL)[1]
    promised = re.findall(r"# ([\d.]+) ([\d.]+)$", code, re.M)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(code, {})
    scores, judged, *table = out.getvalue().splitlines()
    for line, numbers in zip((scores, judged), promised, strict=True):
        # Rounding differs between instruction sets, and with it a point or two near the boundary.
        assert [*map(float, line.split())] == pytest.approx([*map(float, numbers)], abs=0.01)
    alone, together = map(float, scores.split())
    assert together > alone
    shown = re.search(r"```text\n(.*?)\.\.\.", text, re.DOTALL)[1].splitlines()
    assert shown[0].split() == table[0].split()  # the width is that of the longest name
    for wanted, found in zip(shown[1:], table[1:], strict=False):
        assert AboutEqual().check_output(_without_time(wanted), _without_time(found), 0)


def _without_time(line):
    """Return a line of the table without its seconds."""
    return " ".join(line.split()[:-1])


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
    commands = [each for each in commands if each.split()[0] not in ("doctor", "demo")]
    assert [run(*command.split()) for command in commands] == [0, 0, 0]  # the others have tests
    predicted = [
        row.split(",")[0] for row in pathlib.Path("predictions.csv").read_text().split()[1:]
    ]
    assert np.mean(predicted == names) > 0.8


@pytest.mark.long
@pytest.mark.parametrize(("page", "text"), SESSIONS)
def test_the_code_of_the_pages(page, text, tmp_path, monkeypatch):
    if 'fetch_dataset("a1a")' in text and not (DATA / "a1a.libsvm.bz2").exists():
        pytest.skip("a1a is absent; set GRAPHKM_DATA to the folder of the benchmark sets")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GRAPHKM_DATA", str(DATA))
    blocks = re.findall(r"```pycon\n(.*?)```", text, re.DOTALL)
    session = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, page.stem, str(page), 0)
    report = io.StringIO()
    failed, attempted = doctest.DocTestRunner(AboutEqual()).run(session, out=report.write)
    assert attempted > 0
    assert failed == 0, report.getvalue()
