"""Progress bars: shown when asked for, and free when not."""

from __future__ import annotations

import subprocess
import sys

import pytest

from graphkm._util.progress import progress_bar

_SILENT = """
import sys
import graphkm, graphkm.datasets, graphkm.online
from graphkm._util.progress import progress_bar
with progress_bar(0, total=3, unit="row") as bar:
    bar.update(2)
    bar.set_postfix(centres=1, refresh=False)
    bar.set_postfix_str("words", refresh=False)
    bar.total = bar.n
    bar.refresh()
assert "tqdm" not in sys.modules
"""


@pytest.mark.long
def test_a_silent_bar_takes_everything_and_does_not_import_tqdm():
    done = subprocess.run([sys.executable, "-c", _SILENT], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_bar_is_shown_on_standard_error(capsys):
    with progress_bar(1, total=3, unit="row", desc="reading") as bar:
        bar.update(3)
    out, err = capsys.readouterr()
    assert out == ""
    assert "reading: 100%" in err and "3/3" in err
