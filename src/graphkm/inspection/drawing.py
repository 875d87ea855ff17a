"""The picture of explanations: a bar for every label that counts."""

from __future__ import annotations

from typing import Any

from .explanation import Explanation, Explanations

_FOR, _AGAINST = "tab:blue", "tab:orange"  # two colours that colour-blind people tell apart


def draw(explanations: Explanations, most: int = 8) -> Any:
    """Return a matplotlib figure with one panel for each row."""
    from matplotlib.figure import Figure

    n = len(explanations)
    figure = Figure(figsize=(7, 0.6 + n * (0.9 + 0.28 * (most + 2))), layout="constrained")
    for axes, each in zip(figure.subplots(n, squeeze=False)[:, 0], explanations, strict=True):
        _panel(axes, each, most)
    return figure


def _panel(axes: Any, why: Explanation, most: int) -> None:
    top = why.strongest(most)
    bars = [(f"row {why.labeled[i]}: {why.labels[i]}", why.shares[i]) for i in top]
    rest = why.shares.sum() - why.shares[top].sum()
    if len(why.shares) > len(top):
        bars.append((f"{len(why.shares) - len(top)} other labels", rest))
    bars += list(why.others.items())
    names, values = [name for name, _ in bars], [float(value) for _, value in bars]
    places = range(len(bars))
    axes.barh(places, values, color=[_FOR if v >= 0 else _AGAINST for v in values])
    axes.set_yticks(list(places), names)
    axes.invert_yaxis()
    axes.axvline(0.0, color="black", linewidth=0.8)
    what = "quantity" if why.answer is None else f"P({why.answer})"
    axes.set_title(
        f"{what} = {why.value:.3f}, from {why.base:.3f} before labels count", fontsize=10
    )
    axes.set_xlabel("what it adds")
