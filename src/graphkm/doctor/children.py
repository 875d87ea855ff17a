"""Questions to other processes: one that crashes is an answer, too.

A broken package may end the process that imports it, and so may an instruction that the processor
does not know. So packages are imported, and models fitted, in a child. It answers one question
after another, a line of JSON for each. If it ends early, the question that it was at is answered by
how it ended, and another child gets the questions that are left.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

_MARK = "graphkm-doctor "
_PATIENCE = 120  # seconds: a card's first start and a cold disk take tens of seconds


def ask(module: str, questions: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the answers that a module of this package gives in a process of its own.

    Examples
    --------
    >>> ask("importing", ["json", "no_such_package"])["no_such_package"]
    {'error': "ModuleNotFoundError: No module named 'no_such_package'"}
    """
    answers: dict[str, dict[str, Any]] = {}
    while waiting := [each for each in questions if each not in answers]:
        told, end = _child(module, waiting)
        answers |= told
        for culprit in [each for each in waiting if each not in told][:1]:
            answers[culprit] = {"error": end}
    return answers


def answer(respond: Callable[[str], dict[str, Any]]) -> None:
    """Answer the questions of the command line; a module that `ask` runs calls this."""
    for question in sys.argv[1:]:
        try:
            told = respond(question)
        except BaseException as error:
            told = {"error": f"{type(error).__name__}: {error}"}
        print(_MARK + json.dumps([question, told]), flush=True)


def _child(module: str, questions: Sequence[str]) -> tuple[dict[str, dict[str, Any]], str]:
    """Return what a child answers, and how it ended."""
    # -P: a file numpy.py in the folder where the user happens to be is not NumPy.
    command = [sys.executable, "-P", "-W", "ignore", "-m", f"{__package__}.{module}", *questions]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_PATIENCE, check=False)
    except subprocess.TimeoutExpired as error:
        return _answers(error.stdout), f"no answer within {_PATIENCE} seconds"
    return _answers(done.stdout), _end(done.returncode, done.stderr)


def _answers(printed: bytes | None) -> dict[str, dict[str, Any]]:
    text = (printed or b"").decode("utf-8", "replace")
    lines = [line for line in text.splitlines() if line.startswith(_MARK)]
    return dict(json.loads(line.removeprefix(_MARK)) for line in lines)


def _end(code: int, said: bytes) -> str:
    if code < 0:
        try:
            return f"the process ended with {signal.Signals(-code).name}"
        except ValueError:
            return f"the process ended with signal {-code}"
    last = said.decode("utf-8", "replace").strip().splitlines()[-1:]
    return f"the process ended with exit code {code}" + "".join(f": {line}" for line in last)
