"""What the front door did, for people and for programs."""

from __future__ import annotations

import math
from typing import Any

from ..graphs import resolve_nodes
from ..semi import MemberTable

_SHOWN = 10  # members in the summary


def check_mixture(model: Any) -> None:
    """Raise ValueError for a graph that the front door does not know, before data are read."""
    if model.graph not in (None, "auto"):
        resolve_nodes(model.graph)


def mixture_lines(model: Any) -> dict[str, str | None]:
    """Return the lines of a summary that describe a mixture: its heaviest members, and its gain."""
    left = len(model.members_) - _SHOWN
    more = [f"and {left:,} more, none of them heavier"] if left > 0 else []
    table = repr(MemberTable(model.members_[:_SHOWN])).splitlines()
    return {"members": "\n".join([*table, *more]), "unlabelled rows": given(model)}


def mixture_facts(model: Any) -> dict[str, Any]:
    """Return the same for programs, with all members."""
    return {
        "members": [each._asdict() for each in model.members_],
        "best_score": model.best_score_,
        "unlabeled_gain": model.unlabeled_gain_,
    }


def given(model: Any) -> str:
    """Return a sentence on what the unlabelled rows gave on held-out labels."""
    gain, after = model.unlabeled_gain_, model.best_score_
    if not any(each.unlabeled for each in model.members_):
        return "No member has seen the unlabelled rows."
    if math.isnan(gain):
        return (
            "How much the unlabelled rows help is not known: there are too few labels to hold "
            "some out."
        )
    if hasattr(model, "classes_"):
        name, size = "accuracy", f" ({100 * gain:.1f} points)"
        before, now = f"{100 * (after - gain):.1f} %", f"{100 * after:.1f} %"
    else:
        name, size, before, now = "R^2", "", f"{after - gain:.4f}", f"{after:.4f}"
    if gain == 0:
        return f"The unlabelled rows did not change held-out {name}, {now}."
    verb = "raised" if gain > 0 else "lowered"
    return f"The unlabelled rows {verb} held-out {name} from {before} to {now}{size}."
