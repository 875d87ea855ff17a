"""The pages on versions and security say what the project's own files say."""

from __future__ import annotations

import re
import tomllib
from datetime import date
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "support.md"
if not PAGE.is_file():  # tests of a source distribution
    pytest.skip("the pages are not here", allow_module_level=True)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
ROWS = {
    name: (oldest, asked)
    for name, oldest, asked in re.findall(
        r"^\| ([\w-]+) \| ([\d.]+) \| ([\d.]+) \|$", PAGE.read_text("utf-8"), re.MULTILINE
    )
}
# First releases: those of python.org and pypi.org.
RELEASED = {
    "Python": {"3.11": date(2022, 10, 24), "3.12": date(2023, 10, 2), "3.13": date(2024, 10, 7)},
    "numpy": {"1.26": date(2023, 9, 16), "2.1": date(2024, 8, 18), "2.2": date(2024, 12, 8)},
    "scipy": {"1.12": date(2024, 1, 20), "1.14": date(2024, 6, 24), "1.15": date(2025, 1, 3)},
    "scikit-learn": {"1.5": date(2024, 5, 21), "1.6": date(2024, 12, 9)},
}


def test_the_page_has_the_lowest_versions():
    lowest = dict(text.split(">=") for text in PROJECT["dependencies"] if ";" not in text)
    lowest["Python"] = PROJECT["requires-python"].removeprefix(">=")
    assert {name: oldest for name, (oldest, _) in ROWS.items()} == {
        name: lowest[name] for name in RELEASED
    }


@pytest.mark.parametrize("name", RELEASED)
def test_the_page_counts_as_spec_0_does(name):
    """Three years for Python and two for the others, on the day of the table."""
    years = 3 if name == "Python" else 2
    day = date(2026, 11, 18)
    supported = [v for v, out in RELEASED[name].items() if out.replace(year=out.year + years) > day]
    oldest, asked = ROWS[name]
    assert supported[0] == asked

    def numbers(version):
        return tuple(map(int, version.split(".")))

    assert numbers(oldest) <= numbers(asked)


def test_the_lowest_python_is_tried_and_named():
    classifiers = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["classifiers"]))
    assert classifiers[0] == ROWS["Python"][0]
    config = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]
    assert config["mypy"]["python_version"] == ROWS["Python"][0]
    assert config["cibuildwheel"]["build"][0] == f"cp{ROWS['Python'][0].replace('.', '')}-*"


def test_the_page_on_security_names_what_exists():
    text = (ROOT / "SECURITY.md").read_text("utf-8")
    for name in re.findall(r"`(benchmarks/\w+\.py)`|\]\((\w+/[\w.]+)\)", text):
        assert (ROOT / "".join(name)).is_file(), name
    assert "@" not in text and "http" not in text  # no address that may not exist
