"""Processor, memory, cards, folders and variables, read without any package."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from .._util.memory import available_memory

_VARIABLES = re.compile(
    r"GRAPHKM_\w+|(OMP|OPENBLAS|MKL|BLIS|VECLIB_MAXIMUM)_(NUM_)?THREADS|CUDA_VISIBLE_DEVICES"
)
_SMI = ("nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader")


def system() -> dict[str, Any]:
    """Return Python, the operating system and the processor.

    Examples
    --------
    >>> system()["cores"] >= 1
    True
    """
    usable = getattr(os, "sched_getaffinity", None)  # Linux only
    return {
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "executable": sys.executable,
        "system": platform.platform(),
        "processor": _processor(),
        "cores": os.cpu_count() or 1,
        "usable_cores": len(usable(0)) if usable else os.cpu_count() or 1,
    }


def memory() -> dict[str, int | None]:
    """Return the bytes of memory, and how many of them are free."""
    try:
        whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # Windows
        whole = None
    return {"bytes": whole, "free": available_memory()}


def cards() -> dict[str, Any]:
    """Return the NVIDIA cards that the driver lists, or why there are none."""
    try:
        done = subprocess.run(_SMI, capture_output=True, text=True, timeout=30, check=False)
    except FileNotFoundError:
        return {"cards": [], "why": "there is no NVIDIA driver (nvidia-smi was not found)"}
    except (OSError, subprocess.TimeoutExpired) as error:
        return {"cards": [], "why": f"nvidia-smi did not answer: {error}"}
    if done.returncode:
        said = " ".join((done.stdout + done.stderr).split())
        return {"cards": [], "why": f"nvidia-smi failed: {said}"}
    found = [[cell.strip() for cell in line.split(",")] for line in done.stdout.splitlines()]
    keys = ("name", "driver", "memory")
    return {"cards": [dict(zip(keys, each, strict=False)) for each in found], "why": None}


def variables() -> dict[str, str]:
    """Return the variables of the environment that graphkm, BLAS or CUDA look at."""
    return {name: text for name, text in sorted(os.environ.items()) if _VARIABLES.fullmatch(name)}


def folder(path: Path) -> dict[str, Any]:
    """Return how large a folder is, and whether files can be written there.

    Examples
    --------
    >>> folder(Path("no", "such", "folder"))["bytes"]
    0
    """
    place = path
    while not place.exists() and place != place.parent:
        place = place.parent
    files = path.rglob("*") if path.is_dir() else ()
    return {
        "path": str(path),
        "exists": path.is_dir(),
        "bytes": sum(each.stat().st_size for each in files if each.is_file()),
        "writable": place.is_dir() and os.access(place, os.W_OK | os.X_OK),
    }


def _processor() -> str:
    try:
        told = Path("/proc/cpuinfo").read_text()
    except OSError:
        told = ""
    name = re.search(r"^model name\s*:\s*(.+)$", told, re.MULTILINE)
    return f"{name[1].strip()} ({platform.machine()})" if name else platform.machine()
