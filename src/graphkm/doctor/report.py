"""The findings in words: a table of two columns, and what is broken."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .._util.memory import format_bytes


def lines(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the table: what it is about, and what was found."""
    return [
        ("graphkm", f"{facts['graphkm']['version']}, in {_short(facts['graphkm']['path'])}"),
        ("Python", f"{facts['python']} ({facts['implementation']}), {_short(facts['executable'])}"),
        ("system", facts["system"]),
        ("processor", _processor(facts)),
        ("compiled code", _compiled(facts["compiled"])),
        *(("BLAS" if k == 0 else "", text) for k, text in enumerate(_pools(facts["blas"]))),
        ("memory", _memory(facts["memory"])),
        *(("card" if k == 0 else "", text) for k, text in enumerate(_cards(facts))),
        *((name, _package(state)) for name, state in facts["needed"].items()),
        *((f"[{name}]", _extra(name, group)) for name, group in facts["extras"].items()),
        ("encoders", _encoders(facts["encoders"])),
        *_folders(facts["folders"]),
        ("variables", " ".join(f"{k}={v}" for k, v in facts["variables"].items()) or "none set"),
        ("self test", _fit(facts["fit"])),
    ]


def verdict(facts: dict[str, Any]) -> list[str]:
    """Return what is broken and what else there is to know; one line each."""
    said = [f"BROKEN: {each}." for each in facts["broken"]]
    said += [f"Note: {each}." for each in facts["notes"]]
    return said if facts["broken"] else [*said, "All that graphkm needs is here and works."]


def _processor(facts: dict[str, Any]) -> str:
    cores, usable = facts["cores"], facts["usable_cores"]
    fewer = f", {usable} of them for this process" if usable != cores else ""
    return f"{facts['processor']}, {cores} core{'s' * (cores > 1)}{fewer}"


def _compiled(told: dict[str, Any]) -> str:
    if "error" in told:
        return told["error"]
    others = [name for name in told["possible"] if name != told["used"]]
    return told["used"] + (f" (also here: {', '.join(others)})" if others else "")


def _pools(told: dict[str, Any]) -> Iterator[str]:
    if "error" in told:
        yield told["error"]
        return
    for pool in told["pools"]:
        threads = pool["num_threads"]
        known = [pool["internal_api"], pool["version"], pool["architecture"]]
        words = " ".join(each for each in known if each)
        yield f"{words}, {threads} thread{'s' * (threads > 1)} ({pool['user_api']})"


def _memory(told: dict[str, Any]) -> str:
    known = ((told["bytes"], ""), (told["free"], " free"))
    words = [format_bytes(size) + what for size, what in known if size is not None]
    return ", ".join(words) or "unknown"


def _cards(facts: dict[str, Any]) -> Iterator[str]:
    told = facts["cards"]
    if not told["cards"]:
        yield f"none: {told['why'] or 'the driver lists none'}"
    for each in told["cards"]:
        yield f"{each['name']}, {each.get('memory', '?')}, driver {each.get('driver', '?')}"
    if (card := facts.get("card")) and "error" not in card:
        works = "works" if card["works"] else "finds no card"
        yield f"CuPy {card['cupy']} {works}"


def _package(state: dict[str, Any]) -> str:
    wrong = f" - {state['wrong']}" if state["wrong"] else ""
    return f"{state['version'] or ''}{wrong} ({state['wanted']} is needed)".lstrip(" -")


def _extra(extra: str, group: dict[str, dict[str, Any]]) -> str:
    """Return the packages of an extra, and the command that brings those that are missing."""
    missing = [name for name, state in group.items() if not state["version"]]
    if missing:
        return f'missing {", ".join(missing)}: pip install "graphkm[{extra}]"'
    return ", ".join(
        f"{name} {state['version']}" + " (broken)" * bool(state["wrong"])
        for name, state in group.items()
    )


def _encoders(told: dict[str, Any]) -> str:
    if "error" in told:
        return told["error"]
    own = f"word pieces of {told['texts']} numbers" if told["texts"] else f"none: {told['why']}"
    more = ", ".join(told["libraries"])
    return own + (f"; also here: {more}" if more else "")


def _folders(told: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if "error" in told:
        yield "folders", told["error"]
        return
    for name, place in told.items():
        state = format_bytes(place["bytes"]) if place["exists"] else "not there yet"
        yield f"{name} in", f"{_short(place['path'])} ({state})"


def _fit(told: dict[str, Any]) -> str:
    if "error" in told:
        return told["error"]
    return (
        f"two moons, {told['points']} points, {told['labels']} labels: "
        f"{told['accuracy']:.0%} right, fitted in {told['seconds']:.1f} s "
        f"({told['cpu_seconds']:.1f} s of processor time)"
    )


def _short(path: str) -> str:
    """Return a path with ~ for the home folder: it may be sent to others."""
    home = str(Path.home())
    return f"~{path.removeprefix(home)}" if path.startswith(home) and len(home) > 1 else path
