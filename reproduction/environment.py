"""The machine and the versions that results are made with."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

_PACKAGES = ("graphkm", "numpy", "scipy", "scikit-learn")


def environment() -> dict[str, Any]:
    """Return the processor's name, the number of cores, and versions.

    Examples
    --------
    >>> sorted(environment())
    ['cores', 'processor', 'versions']
    """
    versions = {"python": platform.python_version()} | {name: version(name) for name in _PACKAGES}
    return {"processor": processor(), "cores": os.cpu_count(), "versions": versions}


def processor() -> str:
    """Return the processor's name."""
    cpuinfo = Path("/proc/cpuinfo")
    text = cpuinfo.read_text() if cpuinfo.exists() else ""
    if shutil.which("lscpu"):
        text += subprocess.run(["lscpu"], capture_output=True, text=True, check=False).stdout
    for line in text.splitlines():
        key, _, value = line.partition(":")
        if key.strip().lower() == "model name":
            return value.strip()
    return platform.processor() or platform.machine()
