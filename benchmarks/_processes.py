"""Works in forked processes, several at once, under limits of threads, CPU time and memory.

A process is forked after libraries and data are loaded. So it shares them, and the time of a work
does not include their loading. The parent must not have started threads of its own before.
"""

from __future__ import annotations

import json
import os
import resource
import selectors
import signal
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

OVER = "over the limit"
NO_FIT = "did not fit"
Work = Callable[[], dict[str, Any]]


def forked(
    works: Iterable[Work], jobs: int = 1, threads: int = 1
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number of every work and its answer as works end; `jobs` of them run at once.

    An answer has what the work returned, or "status" says how it failed; and "seconds",
    "cpu_seconds" and "peak_mb" of the process where the work does not tell its own.
    """
    waiting, running = enumerate(works), {}
    with selectors.DefaultSelector() as ready:
        try:
            while True:
                while len(running) < jobs and (next_one := next(waiting, None)) is not None:
                    number, work = next_one
                    pid, pipe = _start(work, threads)
                    running[pipe] = number, pid, time.perf_counter()
                    ready.register(pipe, selectors.EVENT_READ)
                if not running:
                    return
                for key, _ in ready.select():
                    pipe = key.fileobj
                    ready.unregister(pipe)
                    number, pid, start = running[pipe]
                    answer = _answer(pipe, pid, start)
                    del running[pipe]
                    yield number, answer
        finally:  # interrupted: leave nobody behind
            for pipe, (_, pid, _) in running.items():
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                pipe.close()


def alone(work: Work, threads: int = 1) -> dict[str, Any]:
    """Return the answer of one work."""
    return next(iter(forked([work], threads=threads)))[1]


def limit_cpu(seconds: float) -> None:
    """End this process after so many CPU seconds, without a core file."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (int(np.ceil(seconds)), hard))


def _start(work: Work, threads: int) -> tuple[int, Any]:
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        with open(writing, "w") as pipe, threadpool_limits(threads):
            json.dump(_outcome(work), pipe, default=_plain)
        os._exit(0)  # without the parent's clean-up
    os.close(writing)
    return pid, open(reading)


def _answer(pipe: Any, pid: int, start: float) -> dict[str, Any]:
    with pipe:
        text = pipe.read()
    _, code, used = os.wait4(pid, 0)
    answer: dict[str, Any] = {
        "seconds": time.perf_counter() - start,
        "cpu_seconds": used.ru_utime + used.ru_stime,
        "peak_mb": used.ru_maxrss / 1024,
    }
    return answer | (json.loads(text) if text and code == 0 else {"status": _how_it_ended(code)})


def _outcome(work: Work) -> dict[str, Any]:
    try:
        return {"status": "ok"} | work()
    except MemoryError:
        return {"status": NO_FIT}
    except BaseException as error:  # a rival's library may also call sys.exit
        return {
            "status": f"error: {type(error).__name__}: {error}"[:300],
            "traceback": traceback.format_exc()[-2000:],
        }


def _how_it_ended(code: int) -> str:
    if os.WIFSIGNALED(code):
        name = signal.Signals(os.WTERMSIG(code)).name
        return {"SIGXCPU": OVER, "SIGKILL": NO_FIT}.get(name, f"error: ended by {name}")
    return f"error: ended with code {os.waitstatus_to_exitcode(code)}"


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)
