"""The page on coming from graphlearning: its code prints what it says, where that is installed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parent.parent / "docs" / "guide" / "moving.md"
if not PAGE.exists():  # tests of a source distribution
    pytest.skip("the documentation is not here", allow_module_level=True)


@pytest.mark.filterwarnings("ignore")  # those of the other package
def test_both_sides_print_what_the_page_says(capsys):
    pytest.importorskip("graphlearning")
    page = PAGE.read_text(encoding="utf-8").partition("## From graphlearning")[2]
    theirs, ours = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    known: dict = {}
    for code in (theirs, ours):
        exec(code, known)
        said = re.findall(r"^# (\d\.\d\d)$", code, re.MULTILINE)
        assert said and capsys.readouterr().out.split() == said


def test_the_names_on_the_page_are_there():
    gl = pytest.importorskip("graphlearning")
    page = PAGE.read_text(encoding="utf-8")
    names = set(
        re.findall(r"gl\.((?:ssl|weightmatrix|active_learning|trainsets|datasets)\.\w+)", page)
    )
    assert len(names) > 6
    for name in names:
        module, _, attribute = name.partition(".")
        assert hasattr(getattr(gl, module), attribute), name
