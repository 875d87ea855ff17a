"""What graphkm and its extras ask for, and what is installed of it, by the packages' metadata."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from importlib import metadata

_REQUIREMENT = re.compile(
    r"""(?P<name>[\w.-]+) (?:\[[^\]]*\])? \s*
    (?P<sign>>=|==)? \s* (?P<version>[\w.]*) \s* (?:; \s* (?P<marker>.*))?$""",
    re.VERBOSE,
)
_FOR_WORK = ("docs", "test", "dev")  # extras for work on the library itself
_MODULES = {"scikit-learn": "sklearn", "pillow": "PIL"}
_DATA_ONLY = ("wordllama",)  # it is never imported, and need not be importable
_CARDS = "cupy-cuda"  # there is one package for each version of CUDA


@dataclass(frozen=True)
class Requirement:
    """A package that is asked for, and the version of it that is installed.

    Examples
    --------
    >>> Requirement("numpy", ">=", "1.26", "2.4.6").fits, Requirement("rich", ">=", "13", None).fits
    (True, False)
    """

    name: str
    sign: str
    version: str
    installed: str | None

    @property
    def module(self) -> str | None:
        """The module to import; None if only its files are read."""
        if self.name in _DATA_ONLY:
            return None
        if self.name.startswith(_CARDS):
            return "cupy"
        return _MODULES.get(self.name, self.name)

    @property
    def fits(self) -> bool:
        """Whether the installed version is one of those asked for."""
        if self.installed is None:
            return False
        if self.sign == "==":
            return self.installed == self.version
        return numbers(self.installed) >= numbers(self.version)

    def __str__(self) -> str:
        """Return it as pip takes it."""
        return f"{self.name}{self.sign}{self.version}"


def numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, by which versions are compared.

    Examples
    --------
    >>> numbers("2.10.1rc1") > numbers("2.9")
    True
    """
    release = re.match(r"\d+(?:\.\d+)*", version)
    found = [int(each) for each in release[0].split(".")] if release else []
    while found and found[-1] == 0:  # 2.0 is 2
        found.pop()
    return tuple(found)


def requirements() -> tuple[list[Requirement], dict[str, list[Requirement]]]:
    """Return what graphkm needs, and what each of its extras adds by itself.

    Examples
    --------
    >>> needed, extras = requirements()
    >>> [each.name for each in needed]
    ['numpy', 'scipy', 'scikit-learn', 'threadpoolctl', 'tqdm']
    >>> [each.name for each in extras["app"]]  # the extras inside it have lines of their own
    ['starlette', 'uvicorn']
    """
    needed: dict[str, Requirement] = {}
    extras: dict[str, list[Requirement]] = {}
    for text in metadata.requires("graphkm") or ():
        found = _REQUIREMENT.match(text)
        if found is None or found["name"] == "graphkm":
            continue
        marker = found["marker"] or ""
        extra = re.search(r"""extra == ["']([\w-]+)["']""", marker)
        if not _is_for_this_system(marker) or (extra and extra[1] in _FOR_WORK):
            continue
        wanted = Requirement(
            found["name"], found["sign"] or "", found["version"], _installed(found["name"])
        )
        if extra:
            extras.setdefault(extra[1], []).append(wanted)
        else:
            # A line for one system comes after that for all, and asks for more.
            needed[wanted.name] = wanted
    return list(needed.values()), dict(sorted(extras.items()))


def _is_for_this_system(marker: str) -> bool:
    system = re.search(r"""sys_platform == ["'](\w+)["']""", marker)
    return system is None or system[1] == sys.platform


def _installed(name: str) -> str | None:
    """Return the version of an installed package; any version of CuPy for any CUDA counts."""
    names = (name, f"{_CARDS}12x", "cupy") if name.startswith(_CARDS) else (name,)
    for each in names:
        try:
            return metadata.version(each)
        except metadata.PackageNotFoundError:
            continue
    return None
