"""The README's example runs, and prints about what the README says it prints."""

import contextlib
import io
import pathlib
import re

import pytest

README = pathlib.Path(__file__).parents[1] / "README.md"


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
