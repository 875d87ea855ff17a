"""Works of benchmarks in processes of their own: answers, failures, limits."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
if not BENCHMARKS.is_dir() or not hasattr(os, "fork"):
    pytest.skip("the benchmarks are not here, or nothing forks", allow_module_level=True)
sys.path.insert(0, str(BENCHMARKS))
try:
    from _processes import NO_FIT, OVER, alone, forked, limit_cpu
finally:
    sys.path.remove(str(BENCHMARKS))


def over_the_limit():
    limit_cpu(1)
    while True:
        pass


def without_memory():
    raise MemoryError


def test_every_work_has_its_answer_and_its_process():
    works = [lambda i=i: {"number": i, "pid": os.getpid()} for i in range(5)]
    found = dict(forked(works, jobs=2))
    assert {number: answer["number"] for number, answer in found.items()} == dict(
        enumerate(range(5))
    )
    assert len({answer["pid"] for answer in found.values()} - {os.getpid()}) == 5
    assert all(answer["status"] == "ok" and answer["peak_mb"] > 0 for answer in found.values())


@pytest.mark.long
def test_a_failure_is_an_answer():
    assert alone(lambda: {"x": 1 / 0})["status"] == "error: ZeroDivisionError: division by zero"
    assert alone(lambda: sys.exit(3))["status"] == "error: SystemExit: 3"
    assert alone(without_memory)["status"] == NO_FIT
    assert alone(over_the_limit)["status"] == OVER
    assert alone(lambda: os._exit(4))["status"] == "error: ended with code 4"


def test_nobody_is_left_behind(tmp_path):
    file = tmp_path / "pid"

    def first():
        while not (file.exists() and file.read_text()):
            pass
        return {}

    def second():
        file.write_text(str(os.getpid()))
        over_the_limit()

    running = forked([first, second], jobs=2)
    assert next(running)[0] == 0
    running.close()
    with pytest.raises(ProcessLookupError):
        os.kill(int(file.read_text()), 0)
