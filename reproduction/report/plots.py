"""The figures, as SVG."""

from __future__ import annotations

import io
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from ..cells import OBJECTIVES
from ..experiments import COMPARED, GROWING, RIVALS, SHARES
from ..ledger import Row
from ..methods import LOSSES, METHODS, POWERS
from ..paper import unlabeled_values
from ..sets import PAPER_SETS
from .results import Results

INK = "#5a6372"  # that of figures.mplstyle
COLORS = ("#3b7dd8", "#d9662b", "#2e9e6b", "#a855c7", "#c9a227", "#d64d75", "#4aa3b5", "#8a8f98",
          "#6b6fd6")  # fmt: skip
_OURS = "gkm-hinge-p1"


def all_plots(results: Results) -> dict[str, str]:
    """Return an SVG for every figure that has results."""
    made = (_graph, _convergence, _unlabeled, _accuracy, _time)
    figures = {make.__name__.removeprefix("_"): make(results) for make in made}
    return {name: _svg(figure) for name, figure in figures.items() if figure is not None}


def _pyplot() -> Any:
    try:
        import matplotlib
    except ImportError as error:
        raise ImportError('Plots need matplotlib: run pip install "graphkm[plot]".') from error
    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.style.use(Path(__file__).with_name("figures.mplstyle"))
    return pyplot


def _svg(figure: Any) -> str:
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    _pyplot().close(figure)
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def _graph(results: Results) -> Any:
    """Figure 1."""
    edges = results.tables["graph"]
    if not edges:
        return None
    figure = _pyplot().figure(figsize=(6.5, 5))
    axes = figure.add_subplot(projection="3d")
    from mpl_toolkits.mplot3d.art3d import Line3DCollection

    ends = np.array([[[e[f"{side}{c}"] for c in "xzy"] for side in "uv"] for e in edges])
    weights = np.array([e["weight"] for e in edges])
    shades = np.clip((weights - weights.min()) / max(np.ptp(weights), 1e-9), 0.1, 1.0)
    axes.add_collection3d(Line3DCollection(ends, colors=INK, linewidths=0.8, alpha=shades))
    points = {tuple(end): e[f"{side}_class"] for e, pair in zip(edges, ends, strict=True)
              for side, end in zip("uv", pair, strict=True)}  # fmt: skip
    colors = [COLORS[int(label)] for label in points.values()]
    axes.scatter(*np.array(list(points)).T, c=colors, s=14, depthshade=False)
    axes.set(xticklabels=[], yticklabels=[], zticklabels=[])
    axes.view_init(18, -72)
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        axis.set_pane_color((0.5, 0.5, 0.5, 0.04))
    return figure


def _convergence(results: Results) -> Any:
    """Figure 2."""
    rows = results.tables["convergence"]
    if not rows:
        return None
    figure, axes = _pyplot().subplots(2, 4, figsize=(12, 6.0), sharex=True)
    for column, (objective, loss) in zip(axes.T, product(OBJECTIVES, LOSSES), strict=True):
        for p, color in zip(POWERS, COLORS, strict=False):
            place = (objective, f"gkm-{loss}-p{p}")
            curve = [row for row in rows if (row["objective"], row["method"]) == place]
            if curve:
                _curves(column, curve, p, color)
        column[0].set(title=f"{objective}: {loss} loss", xscale="log", yscale="log")
        column[1].set(xlabel="steps T")
    axes[0, 0].set_ylabel(r"(J($\overline{w}_{T+1}$) - J($w^*$)) T")
    axes[1, 0].set_ylabel("test accuracy, %")
    axes[0, 3].plot([], [], color=INK, linestyle=":", label="2G², the theorem's bound")
    axes[0, 3].legend(loc="best", fontsize=8)
    figure.tight_layout()
    return figure


def _curves(axes: Any, curve: list[Row], p: int, color: str) -> None:
    steps = np.array([row["steps"] for row in curve])
    for place, name, factor in zip(axes, ("gap", "accuracy"), (steps, 1.0), strict=True):
        mean = factor * np.array([row[name] for row in curve])
        deviation = factor * np.array([row[f"{name}_sd"] for row in curve])
        place.plot(steps, mean, color=color, marker="o", markersize=3, label=f"p = {p}")
        low = np.maximum(mean - deviation, mean / 10)  # the axis is logarithmic
        place.fill_between(steps, low, mean + deviation, color=color, alpha=0.18, linewidth=0)
    axes[0].axhline(curve[0]["bound"], color=color, linestyle=":", linewidth=1.3)


def _unlabeled(results: Results) -> Any:
    """Figure 3."""
    shares = SHARES[::-1]
    names = [name for name in PAPER_SETS if results.spread(name, _OURS, 50)]
    if not names:
        return None
    columns = min(4, len(names))
    rows = -(-len(names) // columns)
    figure, axes = _pyplot().subplots(rows, columns, sharex=True, squeeze=False,
                                      figsize=(2.45 * columns, 2.0 * rows))  # fmt: skip
    for place in axes.flat[len(names) :]:
        place.axis("off")
    for name, place in zip(names, axes.flat, strict=False):
        for measure, label, color in (("accuracy", "accuracy", COLORS[0]), ("f1", "F1", COLORS[1])):
            ours = [_mean(results, name, _OURS, share, measure) for share in shares]
            printed = [unlabeled_values().get((name, share, measure), np.nan) for share in shares]
            place.plot(shares, ours, color=color, marker="o", markersize=3, label=f"{label}, ours")
            place.plot(shares, printed, color=color, linestyle="--", linewidth=1, alpha=0.8,
                       label=f"{label}, paper")  # fmt: skip
        place.set_title(name)
        place.set_xticks(shares)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=4, bbox_to_anchor=(0.5, 1.0),
                  fontsize=9)  # fmt: skip
    figure.tight_layout()
    return figure


def _mean(results: Results, name: str, method: str, share: int, measure: str = "accuracy") -> float:
    spread = results.spread(name, method, share, measure=measure)
    return np.nan if spread is None else spread.mean


def _accuracy(results: Results) -> Any:
    """Draw the accuracies of Table 5."""
    names = [name for name in PAPER_SETS if results.spread(name, _OURS, 90)]
    if not names:
        return None
    figure, axes = _pyplot().subplots(figsize=(8, 0.52 * len(names) + 1.4))
    for k, (method, marker) in enumerate(zip(COMPARED, "oDs^vP*Xh", strict=True)):
        values = [_mean(results, name, method, 90) for name in names]
        places = np.arange(len(names)) + 0.07 * (k - 4)
        axes.scatter(values, places, color=COLORS[k], marker=marker, s=32, alpha=0.85,
                     label=METHODS[method].title, linewidths=0)  # fmt: skip
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlabel("test accuracy with 90 % of the labels hidden, %")
    axes.legend(loc="lower center", ncols=3, bbox_to_anchor=(0.45, 1.0), fontsize=9)
    return figure


def _time(results: Results) -> Any:
    """Draw the costs on more and more rows."""
    names = [name for name in GROWING if results.costs(name, _OURS)]
    if not names:
        return None
    figure, axes = _pyplot().subplots(2, len(names), figsize=(3 * len(names), 5.4), squeeze=False,
                                      sharex="col", sharey="row")  # fmt: skip
    for column, name in zip(axes.T, names, strict=True):
        for method, color in zip((_OURS, *RIVALS), COLORS, strict=False):
            line = [row for row in results.costs(name, method) if row["status"] == "ok"]
            for place, cost in zip(column, ("cpu_seconds", "memory_mb"), strict=True):
                place.plot([row["rows"] for row in line], [row[cost] for row in line], color=color,
                           marker="o", markersize=3, linewidth=1.2,
                           label=METHODS[method].title)  # fmt: skip
        column[0].set(title=name, xscale="log", yscale="log")
        column[1].set(xscale="log", yscale="log", xlabel="training rows")
    axes[0, 0].set_ylabel("CPU seconds")
    axes[1, 0].set_ylabel("memory, MB")
    axes[0, 0].legend(loc="upper left", fontsize=8)
    figure.tight_layout()
    return figure
