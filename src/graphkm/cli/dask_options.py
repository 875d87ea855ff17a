"""Options of commands that work on many files with worker processes."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import UsageError

if TYPE_CHECKING:
    from ..dask.runner import Runner

_worker_option = functools.partial(
    typer.Option, rich_help_panel="Files larger than memory, on worker processes"
)


@dataclass(frozen=True)
class DaskOptions:
    """Which workers read the files."""

    dask: Annotated[
        bool,
        _worker_option(
            "--dask",
            help="DATA is a folder or a pattern like 'rows/*.parquet' of CSV or Parquet files, "
            "which may be larger than memory; workers read them in parts.",
        ),
    ] = False
    workers: Annotated[
        int | None,
        _worker_option(
            min=1, help="Worker processes. Default: one for each core.", show_default=False
        ),
    ] = None
    worker_memory: Annotated[
        str | None,
        _worker_option(
            metavar="SIZE", help="The most that a worker may take, like 2GB. Default: its share."
        ),
    ] = None
    scheduler: Annotated[
        str | None,
        _worker_option(
            metavar="ADDRESS",
            help="The scheduler of a running Dask cluster, like tcp://host:8786, instead of own "
            "workers. It sees the same files.",
        ),
    ] = None

    def check(self) -> None:
        """Raise for options that do not go together."""
        given = {
            "--workers": self.workers,
            "--worker-memory": self.worker_memory,
            "--scheduler": self.scheduler,
        }
        used = [flag for flag, value in given.items() if value is not None]
        if used and not self.dask:
            raise UsageError(f"{used[0]} belongs to --dask, which makes worker processes read.")
        if self.scheduler is not None and len(used) > 1:
            raise UsageError(f"{used[0]}: the cluster of --scheduler has its own workers.")
        if self.worker_memory is not None:
            from dask.utils import parse_bytes

            try:
                parse_bytes(self.worker_memory)
            except ValueError:
                raise UsageError(
                    f"--worker-memory {self.worker_memory}: write a size like 2GB or 500MB."
                ) from None


@contextmanager
def runner_of(options: DaskOptions) -> Iterator[Runner]:
    """Yield what runs tasks on the workers that options ask for."""
    import sys

    from ..dask.workers import workers

    given = options.workers, options.worker_memory, options.scheduler
    with workers(*given, shown=sys.stderr.isatty()) as runner:
        yield runner


def refuse(*given: tuple[str, Any]) -> None:
    """Raise if an option is given that --dask does not know, each with its value."""
    for flag, value in given:
        if value:
            raise UsageError(
                f"{flag} does not go with --dask; use graphkm.dask or graphkm without --dask."
            )
