"""How much memory is free, and a clear error before too much of it is asked for."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")
_NEGLIGIBLE = 2**25  # fewer bytes are not worth reading the system's files


def available_memory() -> int | None:
    """Return the bytes this process can still allocate, or None if that is unknown.

    On Linux it is the smaller of ``MemAvailable`` and what the control groups of the process
    (containers, job schedulers) leave of their limits.

    Examples
    --------
    >>> free = available_memory()
    >>> free is None or free > 0
    True
    """
    known = [free for free in (_system_memory(), *_cgroup_memory()) if free is not None]
    return max(0, min(known)) if known else None


def require_memory(n_bytes: int, what: str, advice: str) -> None:
    """Raise MemoryError if `n_bytes`, from 32 MiB on, exceed the available memory.

    Parameters
    ----------
    n_bytes : int
        The estimated need.
    what : str
        What needs it; begins the message.
    advice : str
        What to do instead; ends the message.

    Examples
    --------
    >>> require_memory(8, "a number", "Forget it.")
    """
    if n_bytes < _NEGLIGIBLE:
        return
    free = available_memory()
    if free is not None and n_bytes > free:
        raise MemoryError(
            f"{what} needs about {format_bytes(n_bytes)}, but only {format_bytes(free)} "
            f"of memory is available. {advice}"
        )


def format_bytes(n_bytes: int) -> str:
    """Return `n_bytes` in MiB, or in GiB from one GiB on.

    Examples
    --------
    >>> format_bytes(3 * 2**20), format_bytes(5 * 2**29)
    ('3.0 MiB', '2.5 GiB')
    """
    if n_bytes >= 2**30:
        return f"{n_bytes / 2**30:.1f} GiB"
    return f"{n_bytes / 2**20:.1f} MiB"


def _system_memory() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _cgroup_memory() -> Iterator[int | None]:
    for folder in _cgroup_folders("memory"):
        yield _left(folder, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
    for folder in _cgroup_folders(""):
        yield _left(folder, "memory.max", "memory.current", "inactive_file")


def _cgroup_folders(controller: str) -> Iterator[Path]:
    """Yield the group of this process and all groups above it: their limits hold too."""
    root = _CGROUP / controller
    yield root
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            folder = root / path.lstrip("/")
            yield from (f for f in (folder, *folder.parents) if f.is_relative_to(root))


def _left(folder: Path, limit: str, usage: str, cache: str) -> int | None:
    try:
        most = int((folder / limit).read_text())  # "max" when unlimited: a ValueError
        used = int((folder / usage).read_text())
    except (OSError, ValueError):
        return None
    try:
        stat = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
        used -= int(stat.get(cache, 0))  # file cache is given back on demand
    except (OSError, ValueError):
        pass
    return most - used
