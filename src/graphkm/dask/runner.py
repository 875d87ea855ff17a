"""Where tasks run, what they are called, and what happens if all workers are lost."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import wait as wait_in_process
from threading import Thread
from typing import Any
from uuid import uuid4

import dask
from dask.base import compute
from dask.delayed import Delayed, delayed
from dask.utils import parse_timedelta
from distributed import Client, default_client, wait

_TOGETHER = 8  # sums that one task adds
_LOOK = 1.0  # seconds between two looks at the workers
_PATIENCE = "60s"  # how long a fit waits if there is no worker


def cluster_client() -> Client | None:
    """Return the client on whose cluster Dask runs tasks, or None if they run in this process."""
    if dask.config.get("scheduler", None) not in (None, "distributed", "dask.distributed"):
        return None
    try:
        return default_client()
    except ValueError:
        return None


class Runner:
    """Runs the tasks of one fit, where Dask would run them.

    Results stay on the workers unless they are asked for. If a worker is lost, Dask computes its
    results again from the same graph of pure tasks. If all are lost, and none comes back within a
    minute (the setting ``graphkm.worker-timeout`` of Dask), an error is raised.
    """

    def __init__(self) -> None:
        self._client, self._token, self._count = cluster_client(), uuid4().hex, 0

    def task(self, name: str, function: Callable[..., Any], *args: Any) -> Delayed:
        """Return a task that Dask's dashboard shows by this name."""
        self._count += 1
        key = f"graphkm-{name}-{self._token}-{self._count}"
        return delayed(function, pure=False)(*args, dask_key_name=key)

    def share(self, value: Any) -> Delayed:
        """Return a value of this process as a task. Every worker of a cluster gets it once."""
        if self._client is None:
            return self.task("shared", _same, value)
        return delayed(self._client.scatter(value, broadcast=True, hash=False))

    def tree(self, name: str, add: Callable[..., Any], parts: Sequence[Delayed]) -> Delayed:
        """Return the sum of the parts. Which are added first depends on their number alone."""
        while len(parts) > 1:
            groups = [parts[i : i + _TOGETHER] for i in range(0, len(parts), _TOGETHER)]
            parts = [self.task(name, add, group) for group in groups]
        return parts[0]

    def keep(self, tasks: Sequence[Delayed]) -> list[Delayed]:
        """Compute tasks now, and return their results as tasks for others. They stay there."""
        if self._client is None:
            return [self.task("kept", _same, value) for value in compute(*tasks)]
        return [delayed(future) for future in self._wait_for(tasks)]

    def bring(self, tasks: Sequence[Delayed]) -> list[Any]:
        """Compute tasks now, and return their results."""
        if self._client is None or not tasks:
            return list(compute(*tasks))
        futures = self._wait_for(tasks)
        # Results that are lost on their way are computed again, which needs workers.
        found: Future[list[Any]] = Future()
        fetching = (self._client, futures, found)
        Thread(target=_fetch, args=fetching, name="graphkm-fetch", daemon=True).start()

        def are_here(seconds: float) -> bool:
            here = bool(wait_in_process([found], timeout=seconds).done)
            if here:
                found.result()  # raises what went wrong
            return here

        self._watch(futures, are_here)
        return found.result()

    def _wait_for(self, tasks: Sequence[Delayed]) -> list[Any]:
        """Return futures that are done; raise what a task raised."""
        assert self._client is not None
        futures = self._client.compute(list(tasks))
        self._watch(futures, lambda seconds: _are_done(futures, seconds))
        for future in futures:
            if future.status != "finished":
                future.result()  # raises what went wrong
        return list(futures)

    def _watch(self, futures: Sequence[Any], are_done: Callable[[float], bool]) -> None:
        """Look until they are done; give up if there is no worker for too long."""
        assert self._client is not None
        patience = parse_timedelta(dask.config.get("graphkm.worker-timeout", _PATIENCE))
        alone_since = None
        try:
            while not are_done(_LOOK):
                now = time.monotonic()
                alone_since = None if self._client.nthreads() else alone_since or now
                if alone_since is not None and now - alone_since >= patience:
                    raise RuntimeError(
                        f"The cluster has had no worker for {patience:g} seconds, and the fit "
                        "was given up. Look at the workers' logs: workers that need more "
                        "memory than they have are stopped. Smaller partitions need less."
                    )
        except BaseException:
            self._client.cancel(futures, force=True)
            raise


def _are_done(futures: Sequence[Any], seconds: float) -> bool:
    """Return whether futures of a cluster are done within some seconds."""
    try:
        wait(futures, timeout=seconds)
    except TimeoutError:
        return False
    return True


def _fetch(client: Client, futures: Sequence[Any], found: Future[list[Any]]) -> None:
    """Set the results of futures, or what went wrong."""
    try:
        found.set_result(list(client.gather(futures)))
    except BaseException as error:
        found.set_exception(error)


def _same(value: Any) -> Any:
    return value
