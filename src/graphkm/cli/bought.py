"""What the graph bought a corrected model, for people and for programs."""

from __future__ import annotations

import math
from typing import Any

_WORDS = {
    "forest": "the forest",
    "boosting": "the boosted trees",
    "svm": "the SVM",
    "logistic": "the logistic regression",
    "kernel": "the kernel machine",
}


def correction_lines(model: Any, method: str) -> dict[str, str | None]:
    """Return the lines of a summary that describe a correction."""
    inside, field = model.estimator_, model.field_
    used = "" if model.estimator_weight_ else ", but the field alone does better"
    if math.isnan(model.unlabeled_gain_) and not model.estimator_weight_:
        used = ", but left out: too few labels to judge it"
    own = model.best_params_.items()
    told = [pair for pair in own if pair[0] != "estimator_weight" and not math.isnan(pair[1])]
    shown = ", ".join(f"{name}={value:.3g}" for name, value in told)
    return {
        "estimator": f"{type(inside).__name__}, judged {model.held_out_by_}{used}",
        "field": None if field is None else f"{shown}, on {len(field.values):,} nodes",
        "graph": bought(model, method),
    }


def correction_facts(model: Any) -> dict[str, Any]:
    """Return the same for programs."""
    return {
        "best_params": model.best_params_,
        "best_score": model.best_score_,
        "unlabeled_gain": model.unlabeled_gain_,
        "labels_held_out": model.n_held_out_,
    }


def bought(model: Any, method: str) -> str:
    """Return a sentence on what the graph bought on held-out labels."""
    alone = _WORDS.get(method, f"the {type(model.estimator_).__name__}")
    gain, n = model.unlabeled_gain_, f"{model.n_held_out_:,} held-out labels"
    if math.isnan(gain):
        return "How much the graph helps is not known: there are too few labels to hold some out."
    if model.field_ is None:
        return f"The graph did not help on held-out labels; the model is {alone} alone."
    name, before, after, size = _scores(model)
    if gain <= 0:
        return (
            f"The graph made held-out predictions surer; their {name} went from {before} to "
            f"{after} ({n})."
        )
    return f"The graph raised held-out {name} from {before} to {after} ({size}{n})."


def _scores(model: Any) -> tuple[str, str, str, str]:
    """Return the score's name, its value without and with the graph, and the points between."""
    after, before = model.best_score_, model.best_score_ - model.unlabeled_gain_
    if model.scoring is None and hasattr(model, "classes_"):
        points = f"{100 * (after - before):.1f} points, "
        return "accuracy", f"{100 * before:.1f} %", f"{100 * after:.1f} %", points
    return str(model.scoring or "R^2"), f"{before:.4f}", f"{after:.4f}", ""
