"""Damaged files are read or refused, and nothing else; `benchmarks/fuzz_files.py` tries 20,000."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from file_fuzzing import CASES, read_good_file, run_case

pytest.importorskip("pyarrow")
SCRIPT = Path(__file__).parent.parent / "benchmarks" / "fuzz_files.py"


@pytest.mark.long
@pytest.mark.parametrize("group", CASES)
def test_whole_files_are_accepted(group, tmp_path):
    read_good_file(group, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("group", CASES)
def test_some_damaged_files(group, tmp_path):
    fates = [run_case(group, index, tmp_path, seed=1)[1] for index in range(200)]
    assert set(fates) == {"accepted", "refused"}  # neither all harmless nor all fatal


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits and sizes of Linux")
def test_twenty_thousand_damaged_files():
    subprocess.run([sys.executable, str(SCRIPT), "--seed", "2"], check=True)
