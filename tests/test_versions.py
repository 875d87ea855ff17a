"""One version: that of pyproject.toml."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import graphkm

ROOT = Path(__file__).resolve().parent.parent
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def test_of_the_package():
    assert graphkm.__version__ == VERSION


def test_of_the_citation():
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited is not None and cited[1] == VERSION


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
