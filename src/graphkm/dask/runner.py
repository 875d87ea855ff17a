"""Where tasks run, what they are called, and what happens if all workers are lost."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import wait as wait_in_process
from contextlib import suppress
from functools import partial
from threading import Thread
from typing import Any
from uuid import uuid4

import dask
import scipy.sparse as sp
from dask.base import compute
from dask.callbacks import Callback
from dask.delayed import Delayed, delayed
from dask.sizeof import sizeof
from dask.utils import parse_timedelta
from distributed import Client, default_client, wait

from .._util.progress import progress_bar

_TOGETHER = 8  # sums that one task adds
_LOOK = 1.0  # seconds between two looks at the workers
_PATIENCE = "60s"  # how long a fit waits if there is no worker
_ANY_SIZE = {"distributed.admin.large-graph-warning-threshold": "1 TiB"}  # of a shared value


def bytes_of_csr(array: Any) -> int:
    """Return what a CSR array weighs: Dask knows matrices only, and would move blocks to tables.

    Examples
    --------
    >>> sizeof(sp.csr_array([[0.0, 1.0, 2.0]])) >= 2 * 8 + 4 * 4
    True
    """
    return int(array.data.nbytes + array.indices.nbytes + array.indptr.nbytes)


sizeof.register(sp.csr_array, bytes_of_csr)


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

    Parameters
    ----------
    client : Client, optional
        The cluster; by default the one of the last client, or this process if there is none.
    shown : bool, default=False
        Whether a bar shows how many tasks of each pass are done.
    """

    def __init__(self, client: Client | None = None, *, shown: bool | int = False) -> None:
        self._client = cluster_client() if client is None else client
        self._token, self._count = uuid4().hex, 0
        self._shown, self._before, self._name = shown, 0, ""

    def task(self, name: str, function: Callable[..., Any], *args: Any) -> Delayed:
        """Return a task that Dask's dashboard shows by this name."""
        self._count += 1
        if self._count == self._before + 1:
            self._name = name.replace("-", " ")  # the first tasks name what is done together
        key = f"graphkm-{name}-{self._token}-{self._count}"
        return delayed(function, pure=False)(*args, dask_key_name=key)

    def share(self, value: Any) -> Delayed:
        """Return a value of this process as a task. Every worker of a cluster gets it once.

        The scheduler keeps what the value is made of. So workers that are lost can lose neither the
        value nor what was made of it.
        """
        name = f"shared-{uuid4().hex}"
        task = delayed(_held, pure=False)(_Held(value), dask_key_name=name)
        if self._client is None:
            return task
        with dask.config.set(_ANY_SIZE):
            futures = self._wait_for([task])
        # If one worker had it, tasks would go there, whatever else they need.
        self._watched(futures, partial(_copied, self._client, futures))
        return delayed(futures[0])

    def worker_memory(self) -> int | None:
        """Return the memory in bytes that every worker has; None where none is limited."""
        if self._client is None:
            return None
        workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
        return min((int(each["memory_limit"] or 0) for each in workers), default=0) or None

    def tree(self, name: str, add: Callable[..., Any], parts: Sequence[Delayed]) -> Delayed:
        """Return the sum of the parts. Which are added first depends on their number alone."""
        while len(parts) > 1:
            groups = [parts[i : i + _TOGETHER] for i in range(0, len(parts), _TOGETHER)]
            parts = [self.task(name, add, group) for group in groups]
        return parts[0]

    def keep(self, tasks: Sequence[Delayed]) -> list[Delayed]:
        """Compute tasks now, and return their results as tasks for others. They stay there."""
        if self._client is None:
            found = self._compute_here(tasks)
            return [self.task("kept", _held, _Held(value)) for value in found]
        return [delayed(future) for future in self._wait_for(tasks)]

    def bring(self, tasks: Sequence[Delayed]) -> list[Any]:
        """Compute tasks now, and return their results."""
        if self._client is None or not tasks:
            return self._compute_here(tasks)
        futures = self._wait_for(tasks)
        return list(self._watched(futures, partial(self._client.gather, futures)))

    def _compute_here(self, tasks: Sequence[Delayed]) -> list[Any]:
        """Compute tasks in this process."""
        with self._bar() as bar, Callback(posttask=lambda *_: bar.update(1)):
            return list(compute(*tasks))

    def _bar(self) -> Any:
        """Return a bar for the tasks that were made since the last one."""
        about = {"total": self._count - self._before, "desc": self._name, "unit": " tasks"}
        self._before = self._count
        return progress_bar(self._shown, **about, leave=False)

    def _wait_for(self, tasks: Sequence[Delayed]) -> list[Any]:
        """Return futures that are done; raise what a task raised."""
        assert self._client is not None
        futures = self._client.compute(list(tasks))
        self._watch(futures, lambda seconds: _are_done(futures, seconds))
        for future in futures:
            if future.status != "finished":
                future.result()  # raises what went wrong
        return list(futures)

    def _watched(self, futures: Sequence[Any], work: Callable[[], Any]) -> Any:
        """Return what comes of work with results of workers.

        Results that are lost meanwhile are computed again, which needs workers.
        """
        found: Future[Any] = Future()
        Thread(target=_fetch, args=(work, found), name="graphkm-fetch", daemon=True).start()

        def are_here(seconds: float) -> bool:
            here = bool(wait_in_process([found], timeout=seconds).done)
            if here:
                found.result()  # raises what went wrong
            return here

        self._watch(futures, are_here)
        return found.result()

    def _watch(self, futures: Sequence[Any], are_done: Callable[[float], bool]) -> None:
        """Look until they are done; give up if there is no worker for too long."""
        assert self._client is not None
        patience = parse_timedelta(dask.config.get("graphkm.worker-timeout", _PATIENCE))
        alone_since = None
        bar, n_before = self._bar(), self._n_done()
        try:
            while not are_done(_LOOK):
                if self._shown:
                    bar.update(min(self._n_done() - n_before, bar.total) - bar.n)
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
        finally:
            bar.__exit__(None, None, None)

    def _n_done(self) -> int:
        """Return how many tasks of graphkm the cluster has done so far; 0 if no bar tells it."""
        assert self._client is not None
        return int(self._client.run_on_scheduler(_count_done)) if self._shown else 0


def _count_done(dask_scheduler: Any) -> int:
    """Return how many tasks of graphkm a scheduler has seen done."""
    prefixes = dask_scheduler.task_prefixes.items()
    own = (prefix for name, prefix in prefixes if name.startswith("graphkm-"))
    return sum(prefix.state_counts["memory"] for prefix in own)


def _are_done(futures: Sequence[Any], seconds: float) -> bool:
    """Return whether futures of a cluster are done within some seconds."""
    try:
        wait(futures, timeout=seconds)
    except TimeoutError:
        return False
    return True


def _fetch(work: Callable[[], Any], found: Future[Any]) -> None:
    """Set what comes of work, or what went wrong."""
    try:
        found.set_result(work())
    except BaseException as error:
        found.set_exception(error)


def _copied(client: Client, futures: Sequence[Any]) -> None:
    """Copy results to all workers."""
    with suppress(ValueError):  # there is none: who needs the results waits for one
        client.replicate(futures)


class _Held:
    """A value in which Dask looks for no tasks."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _held(held: _Held) -> Any:
    return held.value
