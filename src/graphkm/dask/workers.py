"""Worker processes of this machine, or of a cluster, for work on the parts of files."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from dask.utils import parse_bytes
from distributed import Client, LocalCluster
from distributed.scheduler import KilledWorker

from .runner import Runner

_PATIENCE = "10s"  # for an answer of a scheduler


class LostWorkersError(RuntimeError):
    """Workers were stopped again and again by the same task."""


@contextmanager
def workers(
    n_workers: int | None, memory: str | None, scheduler: str | None, *, shown: bool
) -> Iterator[Runner]:
    """Yield what runs tasks on worker processes, which end with the block.

    Parameters
    ----------
    n_workers : int or None
        Processes of this machine, each with one thread; None is one for each core.
    memory : str or None
        What each of them may take, as in "2GB"; None shares the memory of the machine.
    scheduler : str or None
        The address of a running cluster, which is used instead.
    shown : bool
        Whether progress bars are shown.
    """
    try:
        if scheduler is not None:
            with _connected(scheduler) as client, _quiet():
                yield Runner(client, shown=shown)
            return
        limit = "auto" if memory is None else parse_bytes(memory)
        how: dict[str, Any] = {"threads_per_worker": 1, "processes": True, "memory_limit": limit}
        how |= {"dashboard_address": None, "silence_logs": logging.CRITICAL}
        with (
            LocalCluster(n_workers=n_workers, **how) as cluster,
            Client(cluster) as client,
            _quiet(),
        ):
            yield Runner(client, shown=shown)
    except KilledWorker as error:
        raise LostWorkersError(
            "A worker was stopped several times during the same work, most probably because it "
            "needed more memory than it has; pass a larger --worker-memory, or fewer --workers. "
            "Parquet is read by row groups, and compressed files are read whole: smaller ones "
            "need less memory."
        ) from error


def _connected(scheduler: str) -> Client:
    try:
        return Client(scheduler, timeout=_PATIENCE)
    except (OSError, ValueError) as error:
        raise ConnectionError(
            f"No scheduler of Dask answers at {scheduler} ({error}); start one with dask "
            "scheduler, and pass the address that it prints."
        ) from error


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence Dask's log here: lost workers are told by errors."""
    loggers = [logging.getLogger(name) for name in ("distributed", "distributed.client")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def each(
    runner: Runner, name: str, function: Callable[..., Any], items: Sequence[Any], *args: Any
) -> list[Any]:
    """Return what a function says of every item, as tasks of that name.

    Parameters
    ----------
    runner : Runner
        Runs the tasks.
    name : str
        What Dask's dashboard and the bar call them.
    function : callable
        Takes an item, and `args`.
    items : list
        What is worked on.
    *args
        The same for all: every worker gets them once.
    """
    shared = [runner.share(arg) for arg in args]
    return runner.bring([runner.task(name, function, item, *shared) for item in items])
