"""The members of a model, its held-out score, and what the unlabelled rows gained."""

from __future__ import annotations

import math
from typing import Any

from .html import Markup, element, facts, table
from .subject import Subject, percent

_SHOWN = 20  # members in the table


def score_section(subject: Subject) -> list[Markup]:
    """Return the held-out score, and what it would be without the unlabelled rows."""
    model = subject.model
    score, gain = float(model.best_score_), float(model.unlabeled_gain_)
    shown = _plain if subject.kind == "quantities" else percent
    names = {"quantities": "R^2", "labels": "accuracy of single labels", "classes": "accuracy"}
    name = names[subject.kind]
    if math.isnan(score):
        told = "There are too few labels to hold some out, so the model is not judged."
        return [element("p", told)]
    lines: list[tuple[str, Any]] = [(f"held-out {name}", shown(score))]
    if not math.isnan(gain):
        lines.append(("without unlabelled rows", shown(score - gain)))
        lines.append(("gain from unlabelled rows", _gain(subject, gain)))
    if subject.held is not None:
        lines.append(("labels held out", f"{len(subject.held.rows):,}"))
    how = (
        "Each label was predicted by members and weights that had not seen it. The score says how "
        "good the model is on rows like the labelled ones."
    )
    return [facts(lines), element("p", how)]


def _plain(score: float) -> str:
    return f"{score:.4f}"


def _gain(subject: Subject, gain: float) -> str:
    if not any(each.unlabeled for each in subject.model.members_):
        return "none: the model does not use them"
    return f"{gain:+.4f}" if subject.kind == "quantities" else f"{100 * gain:+.1f} points"


def members_section(subject: Subject) -> list[Markup]:
    """Return the table of members, the heaviest first."""
    members = subject.model.members_
    lines = [
        [
            each.name,
            f"{each.weight:.3f}",
            f"{each.score:.3f}",
            f"{each.log_loss:.3f}",
            "all" if each.unlabeled else "labelled",
            each.held_out_by,
        ]
        for each in members[:_SHOWN]
    ]
    heads = ["member", "weight", "held-out score", "log loss", "learns from rows", "held out by"]
    made = [table("Members, the heaviest first", heads, lines, numbers=[1, 2, 3])]
    left = len(members) - _SHOWN
    return [*made, element("p", f"{left:,} more are not heavier.")] if left > 0 else made
