"""The map from the paper to the code: what it names is there, and nothing is missing."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from pkgutil import resolve_name

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "paper.md"
if not PAGE.is_file():  # tests of a source distribution
    pytest.skip("the page is not here", allow_module_level=True)
TEXT = PAGE.read_text("utf-8")
TESTS = re.findall(r"`(tests/\w+\.py)::(\w+)`", TEXT)
COMMANDS = re.findall(r"`python -m reproduction run (\w+)`", TEXT)


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`((?:graphkm|sklearn)\.[\w.]+)`", TEXT))))
def test_every_name_leads_to_an_object(name):
    resolve_name(name)


@cache
def functions_of(file):
    """Return the names of the functions of a file."""
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_test_exists():
    assert len(TESTS) > 40
    assert [test for test in TESTS if test[1] not in functions_of(test[0])] == []
    assert TEXT.count("::test_") == len(TESTS)


def test_every_command_runs_an_experiment_and_every_experiment_has_one():
    from reproduction.experiments import EXPERIMENTS

    assert set(COMMANDS) == set(EXPERIMENTS)


def test_everything_with_a_number_is_on_the_page():
    counts = {"Lemma {}": 4, "Theorem {}": 2, "Algorithm {}": 1, "Eq. ({})": 6, "line {}:": 5,
              "Table {}": 5, "Figure {}": 3}  # fmt: skip
    wanted = [kind.format(k + 1) for kind, count in counts.items() for k in range(count)]
    assert [each for each in wanted if each not in TEXT] == []


def test_tables_and_figures_have_commands():
    rows = re.findall(r"^\| (?:Table|Figure) \d.*$", TEXT, re.MULTILINE)
    assert len(rows) == 6
    assert all("`python -m reproduction run " in row for row in rows)
