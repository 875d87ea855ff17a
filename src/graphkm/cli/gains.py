"""What held-out labels say of a model and of its unlabelled rows, for people and for programs."""

from __future__ import annotations

import math
from typing import Any

from ..io.kinds import number_text
from ..semi import MemberTable

_SHOWN = 10  # members in a summary
_TOO_FEW = "too few labels to hold some out"


def mixture_lines(model: Any, all_labeled: bool = False) -> dict[str, str | None]:
    """Return the lines of a summary that describe a mixture: heaviest members, score and gain."""
    left = len(model.members_) - _SHOWN
    more = [f"and {left:,} more, none of them heavier"] if left > 0 else []
    heaviest = (each._replace(seconds=math.nan) for each in model.members_[:_SHOWN])
    table = repr(MemberTable(heaviest)).splitlines()
    return {
        "members": "\n".join([*table, *more]),
        "class sizes": _sizes(model),
        "thresholds": _thresholds(model),
        "order": _order(model),
        "held-out score": _score(model, "each predicted by members that had not seen it"),
        "graph" if all_labeled else "unlabelled rows": gain_sentence(model, all_labeled),
    }


def mixture_facts(model: Any) -> dict[str, Any]:
    """Return the same for programs, with all members."""
    sizes = {} if _sizes(model) is None else {"class_sizes": model.class_sizes_.tolist()}
    return {"members": [each._asdict() for each in model.members_]} | sizes | _facts(model)


def _thresholds(model: Any) -> str | None:
    """Return the thresholds of several labels, unless all are one half."""
    found = getattr(model, "thresholds_", None)
    if found is None or all(each == 0.5 for each in found):
        return None
    told = [f"{name} {each:.2f}" for name, each in zip(model.classes_, found, strict=True)]
    return f"{', '.join(told[:_SHOWN])}{', ...' * (len(told) > _SHOWN)}"


def _order(model: Any) -> str | None:
    """Return the classes in their order, if they have one."""
    found = getattr(model, "order_", None)
    if found is None:
        return None
    numbers = found.dtype.kind == "f"
    return " < ".join(number_text(each) if numbers else str(each) for each in found.tolist())


def _sizes(model: Any) -> str | None:
    """Return the sizes that classes were brought to; None if nothing was changed."""
    if getattr(model.mixture_, "tilt", None) is None:
        return None
    shares = zip(model.classes_[:_SHOWN].tolist(), model.class_sizes_, strict=False)
    left = len(model.classes_) - _SHOWN
    more = f" and {left:,} more" if left > 0 else ""
    told = ", ".join(f"{name} {100 * share:.0f} %" for name, share in shares)
    why = "as given"
    if isinstance(model.class_sizes, str) and model.class_sizes == "auto":
        why = "estimated: about as many of every class are labelled"
    return f"{told}{more} ({why})"


def search_lines(search: Any) -> dict[str, str | None]:
    """Return the lines of a summary that describe a search: what was chosen, score and gain."""
    told = {name: value for name, value in _chosen(search).items() if value == value}  # NaN: unused
    return {
        "candidates": f"{len(search.cv_results_['params']):,}",
        "chosen": ", ".join(f"{name}={_short(value)}" for name, value in told.items()),
        "held-out score": _score(search, "the best of all candidates, so slightly optimistic"),
        "unlabelled rows": gain_sentence(search),
    }


def search_facts(search: Any) -> dict[str, Any]:
    """Return the same for programs."""
    candidates = {"candidates": len(search.cv_results_["params"]), "best_params": _chosen(search)}
    return candidates | _facts(search)


def gain_sentence(model: Any, all_labeled: bool = False) -> str:
    """Return a sentence on what the unlabelled rows and given edges gave on held-out labels.

    If all rows have labels, it is on what the graph of all rows gave.
    """
    gain, after = model.unlabeled_gain_, model.best_score_
    what, can = (
        ("the graph of all rows", "helps") if all_labeled else ("the unlabelled rows", "help")
    )
    if getattr(getattr(model, "mixture_", None), "linked", None) is not None:
        what, can = f"{what} and the edges", "help"
    if not _uses_graph(model):
        return f"The model does not use {what}."
    if math.isnan(gain):
        return f"How much {what} {can} is not known: there are {_TOO_FEW}."
    before, now = _in_units(model, after - gain), _in_units(model, after)
    name, size = "R^2", ""
    if hasattr(model, "classes_"):
        name, size = "accuracy", f" ({100 * gain:.1f} points)"
    if gain == 0:
        return f"{what.capitalize()} did not change held-out {name}, {now}."
    verb = "raised" if gain > 0 else "lowered"
    return f"{what.capitalize()} {verb} held-out {name} from {before} to {now}{size}."


def _uses_graph(model: Any) -> bool:
    """Return whether a member of a mixture, or the model of a search, has seen all rows."""
    if hasattr(model, "members_"):
        return any(each.unlabeled for each in model.members_)
    return model.best_estimator_.plan_.graph is not None


def _facts(model: Any) -> dict[str, Any]:
    return {"best_score": model.best_score_, "unlabeled_gain": model.unlabeled_gain_}


def _score(model: Any, how: str) -> str:
    if math.isnan(model.best_score_):
        return f"none: {_TOO_FEW}"
    name = "accuracy" if hasattr(model, "classes_") else "R^2"
    kind = getattr(getattr(model, "mixture_", None), "kind", None)
    name = "accuracy of single labels" if kind == "labels" else name
    return f"{name} {_in_units(model, model.best_score_)} on labels that were held out; {how}"


def _in_units(model: Any, score: float) -> str:
    return f"{100 * score:.1f} %" if hasattr(model, "classes_") else f"{score:.4f}"


def _chosen(search: Any) -> dict[str, Any]:
    """Return the parameters that were chosen, without the parts that they belong to."""
    return {name.rpartition("__")[2]: value for name, value in search.best_params_.items()}


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
