"""One version and one list of requirements: those of pyproject.toml."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import graphkm

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
VERSION = PROJECT["version"]
OURS = ("docs", "test", "dev")  # extras for work on the library itself


def test_of_the_package():
    assert graphkm.__version__ == VERSION


def test_of_the_citation():
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited is not None and cited[1] == VERSION


def test_of_the_repository():
    """Where the repository has an address, the citation has the same."""
    cited = re.findall(r"^repository-code: (.+)$", (ROOT / "CITATION.cff").read_text(), re.M)
    assert cited == [url for name, url in PROJECT.get("urls", {}).items() if name == "Repository"]


def test_of_the_changelog():
    """The newest release is this version; a version that is not yet released has no heading."""
    text = (ROOT / "CHANGELOG.md").read_text()
    released = re.findall(r"^## (\d+\.\d+\.\d+)", text, re.MULTILINE)
    assert released[:1] in ([], [VERSION])
    assert "## Unreleased" in text or released


def test_of_the_workflows():
    """The release page and the workflows name the same version of cibuildwheel."""
    named = {
        version
        for path in (".github/workflows/wheels.yml", "docs/releasing.md")
        for version in re.findall(r"cibuildwheel==([\d.]+)", (ROOT / path).read_text())
    }
    assert len(named) == 1


def test_of_the_requirements_in_the_guide():
    page = (ROOT / "docs/guide/getting_started.md").read_text("utf-8")
    rows = re.findall(r"^\| (?:`(\w+)` )?\| [^|]+ \| ([^|]+) \|$", page, re.MULTILINE)
    listed = dict(rows)
    assert set(rows[0]) == {"", listed[""]} and len(listed) == len(rows)
    split = re.compile(r", (?![^\[]*\])")  # not inside brackets
    extras = {k: v for k, v in PROJECT["optional-dependencies"].items() if k not in OURS}
    assert {name: split.split(text) for name, text in rows if name} == extras
    assert listed[""] == ", ".join(PROJECT["dependencies"])


def test_of_the_extra_all():
    """It has every extra that users may need; the one for a card is asked for by name."""
    extras = PROJECT["optional-dependencies"]
    (all_of,) = extras["all"]
    assert all_of == f"graphkm[{','.join(sorted(set(extras) - {*OURS, 'all', 'cuda'}))}]"
