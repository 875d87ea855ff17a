"""All that is found, and what of it is broken."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path
from typing import Any

from . import machine
from .children import ask
from .requirements import Requirement, requirements

_GOOD = 0.9  # of the small fit: two moons are 100 % right where everything works


def examine() -> dict[str, Any]:
    """Return what is installed and how it works, as values that JSON can hold.

    "broken" lists what graphkm needs and what does not work; "notes" lists what a user may want to
    know, such as an extra that is installed but cannot be imported.
    """
    needed, extras = requirements()
    packages = {each.name: each for each in needed}
    packages |= {each.name: each for group in extras.values() for each in group}
    modules = [each.module for each in packages.values() if each.module and each.installed]
    imported = ask("importing", modules)
    trial = ask("trial", ("compiled", "blas", "folders", "encoders", "fit"))
    if packages["cupy-cuda13x"].installed:
        trial |= ask("trial", ("card",))
    facts = {
        "graphkm": {"version": metadata.version("graphkm"), "path": str(Path(__file__).parents[1])},
        **machine.system(),
        "memory": machine.memory(),
        "variables": machine.variables(),
        "needed": {each.name: _state(each, imported) for each in needed},
        "extras": {
            extra: {each.name: _state(each, imported) for each in group}
            for extra, group in extras.items()
        },
        "cards": machine.cards(),
        **trial,
    }
    return facts | {"broken": broken(facts), "notes": notes(facts)}


def _state(wanted: Requirement, imported: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return what is installed of a package, and what is wrong with it."""
    told = imported.get(wanted.module or "", {})
    wrong = told.get("error")
    if wanted.installed is None:
        wrong = "missing"
    elif wrong is None and not wanted.fits:
        wrong = f"{wanted.sign}{wanted.version} is needed"
    return {"version": wanted.installed, "wanted": f"{wanted.sign}{wanted.version}", "wrong": wrong}


def broken(facts: dict[str, Any]) -> list[str]:
    """Return what graphkm needs and what does not work, each with what to do."""
    found = []
    for name, state in facts["needed"].items():
        if state["wrong"]:
            do = f'pip install --upgrade --force-reinstall "{name}{state["wanted"]}"'
            version = f" {state['version']}" if state["version"] else ""
            found.append(f"{name}{version}: {state['wrong']}. Run {do}")
    if found:  # whatever follows fails for the same reason
        return found
    if wrong := facts["compiled"].get("error"):
        found.append(
            f"The compiled code cannot be used: {wrong}. Install graphkm anew: "
            "pip install --force-reinstall --no-deps graphkm"
        )
    fit = facts["fit"]
    if wrong := fit.get("error"):
        found.append(
            f"The self test failed: {wrong}. If this is about an instruction, set "
            "GRAPHKM_ISA=portable and try again"
        )
    elif fit["accuracy"] < _GOOD:
        found.append(
            f"The self test gives wrong answers: {fit['accuracy']:.0%} of two moons are right, "
            "and should be 100 %. Set GRAPHKM_ISA=portable and try again"
        )
    return found


def notes(facts: dict[str, Any]) -> list[str]:
    """Return what is not needed and does not work, each with what to do."""
    found = {}
    for extra, packages in facts["extras"].items():
        for name, state in packages.items():
            if state["wrong"] and state["version"]:  # missing ones are listed by extra
                found[name] = (
                    f"{name} {state['version']} cannot be used: {state['wrong']}. "
                    f'Run pip install --upgrade --force-reinstall "graphkm[{extra}]"'
                )
    cards = facts["cards"]["cards"]
    if cards and not facts["extras"]["cuda"]["cupy-cuda13x"]["version"]:
        found["card"] = (
            'There is a card, and CuPy is missing: pip install "graphkm[cuda]" for CUDA 13, or '
            "pip install cupy-cuda12x for CUDA 12"
        )
    if wrong := facts.get("card", {}).get("error"):
        found["card"] = f"CuPy cannot use a card: {wrong}"
    for name, place in facts["folders"].items():
        if isinstance(place, dict) and not place["writable"]:
            found[name] = f"Nothing can be written to {place['path']}"
    return list(found.values())
