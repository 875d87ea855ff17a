"""The figures, as SVG."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from ..experiments import COMPARISON, UNLABELED
from ..ledger import Row
from ..methods import LOSSES, METHODS, POWERS
from ..paper import unlabeled_values
from ..sets import SETS
from .results import Results

INK = "#5a6372"
"""The colour of text and axes: readable on light and on dark pages."""

COLORS = ("#3b7dd8", "#d9662b", "#2e9e6b", "#a855c7", "#c9a227", "#d64d75", "#4aa3b5", "#8a8f98",
          "#6b6fd6")  # fmt: skip


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

    matplotlib.rcParams.update({
        "text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": INK, "xtick.color": INK,
        "ytick.color": INK, "axes.titlecolor": INK, "font.size": 10, "svg.fonttype": "none",
        "svg.hashsalt": "graphkm", "axes.spines.top": False, "axes.spines.right": False,
        "axes.grid": True, "grid.alpha": 0.25, "grid.color": INK, "legend.frameon": False,
        "axes.titlesize": 11,
    })  # fmt: skip
    return pyplot


def _svg(figure: Any) -> str:
    buffer = io.StringIO()
    figure.savefig(
        buffer, format="svg", transparent=True, bbox_inches="tight", metadata={"Date": None}
    )
    _pyplot().close(figure)
    text = buffer.getvalue()
    return text[text.index("<svg") :]


# ------------------------------------------------------------------ figure 1


def _graph(results: Results) -> Any:
    rows = results.of_kind("graph")
    if not rows:
        return None
    points, edges = np.array(rows[-1]["points"]), np.array(rows[-1]["edges"])
    figure = _pyplot().figure(figsize=(6.5, 5))
    axes = figure.add_subplot(projection="3d")
    from mpl_toolkits.mplot3d.art3d import Line3DCollection

    lines = points[edges][:, :, [0, 2, 1]]
    axes.add_collection3d(Line3DCollection(lines, colors=INK, linewidths=0.5, alpha=0.6))
    colors = np.array(COLORS)[np.array(rows[-1]["classes"])]
    axes.scatter(points[:, 0], points[:, 2], points[:, 1], c=colors, s=14, depthshade=False)
    axes.set(xticklabels=[], yticklabels=[], zticklabels=[])
    axes.view_init(18, -72)
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        axis.set_pane_color((0.5, 0.5, 0.5, 0.04))
    return figure


# ------------------------------------------------------------------ figure 2


def _convergence(results: Results) -> Any:
    rows = {row["method"]: row for row in results.of_kind("convergence")}
    if not rows:
        return None
    figure, axes = _pyplot().subplots(2, len(LOSSES), figsize=(9, 6.4), sharex=True, sharey="row")
    for column, loss in enumerate(LOSSES):
        for p, color in zip(POWERS, COLORS, strict=False):
            if f"gkm-{loss}-p{p}" in rows:
                _curves(axes[:, column], rows[f"gkm-{loss}-p{p}"], p, color)
        axes[0, column].set(title=f"{loss} loss", xscale="log", yscale="log")
        axes[1, column].set(xlabel="steps T")
    axes[0, 0].set_ylabel(r"(J($\overline{w}_{T+1}$) - J($w^*$)) T")
    axes[1, 0].set_ylabel("test accuracy, %")
    axes[0, 1].plot([], [], color=INK, linestyle=":", label="2G², the theorem's bound")
    axes[0, 1].legend(loc="best", fontsize=9)
    return figure


def _curves(axes: Any, row: Row, p: int, color: str) -> None:
    steps = np.array(row["steps"])
    scaled = np.array(row["gaps"]) * steps
    accuracy = 100 * np.array(row["accuracies"])
    for place, values in zip(axes, (scaled, accuracy), strict=True):
        mean = values.mean(axis=0)
        deviation = values.std(axis=0, ddof=1) if len(values) > 1 else np.zeros_like(mean)
        place.plot(steps, mean, color=color, marker="o", markersize=3, label=f"p = {p}")
        low = np.maximum(mean - deviation, mean / 10)  # the axis is logarithmic
        place.fill_between(steps, low, mean + deviation, color=color, alpha=0.18, linewidth=0)
    axes[0].axhline(row["bound"], color=color, linestyle=":", linewidth=1.3)


# ------------------------------------------------------------------ figure 3


def _unlabeled(results: Results) -> Any:
    (method,) = UNLABELED.methods
    shares = sorted(UNLABELED.hidden)
    names = results.datasets(UNLABELED.methods, (50, 60, 70))
    if not names:
        return None
    columns = min(4, len(names))
    height = -(-len(names) // columns)
    figure, axes = _pyplot().subplots(
        height, columns, figsize=(2.45 * columns, 2.0 * height), sharex=True, squeeze=False
    )
    for place in axes.flat[len(names) :]:
        place.axis("off")
    for name, place in zip(names, axes.flat, strict=False):
        for measure, color in (("accuracy", COLORS[0]), ("f1", COLORS[1])):
            label = {"f1": "F1"}.get(measure, measure)
            ours = [_mean(results, name, method, share, measure) for share in shares]
            printed = [unlabeled_values().get((name, share, measure), np.nan) for share in shares]
            place.plot(shares, ours, color=color, marker="o", markersize=3, label=f"{label}, ours")
            place.plot(shares, printed, color=color, linestyle="--", linewidth=1, alpha=0.8,
                       label=f"{label}, paper")  # fmt: skip
        place.set_title(name)
        place.set_xticks(shares)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="lower center", ncols=4, bbox_to_anchor=(0.5, 1.0), fontsize=9
    )
    for place in axes[-1]:
        place.set_xlabel("labels hidden, %")
    figure.tight_layout()
    return figure


def _mean(results: Results, name: str, method: str, share: int, measure: str) -> float:
    summary = results.get(name, method, share)
    return np.nan if summary is None else summary.mean.get(measure, np.nan)


# ------------------------------------------------------------------- Table 5


def _compared(results: Results) -> list[str]:
    """Return the sets of Table 5 on which some method finished."""
    return [
        name
        for name in results.datasets(COMPARISON.methods, (90,))
        if any(_mean(results, name, m, 90, "accuracy") > 0 for m in COMPARISON.methods)
    ]


def _accuracy(results: Results) -> Any:
    names = _compared(results)
    if not names:
        return None
    figure, axes = _pyplot().subplots(figsize=(8, 0.52 * len(names) + 1.4))
    markers = "oDs^vP*Xh"
    for k, method in enumerate(COMPARISON.methods):
        values = [_mean(results, name, method, 90, "accuracy") for name in names]
        places = np.arange(len(names)) + 0.07 * (k - 4)
        axes.scatter(values, places, color=COLORS[k], marker=markers[k], s=32, alpha=0.85,
                     label=METHODS[method].title, linewidths=0)  # fmt: skip
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlabel("test accuracy with 90 % of the labels hidden, %")
    axes.legend(loc="lower center", ncols=3, bbox_to_anchor=(0.45, 1.0), fontsize=9)
    return figure


def _time(results: Results) -> Any:
    names = _compared(results)
    if not names:
        return None
    figure, axes = _pyplot().subplots(figsize=(8, 4.6))
    rows = np.array([SETS[name].rows for name in names])
    for k, method in enumerate(COMPARISON.methods):
        seconds = np.array([_mean(results, name, method, 90, "cpu_seconds") for name in names])
        known = seconds > 0
        axes.plot(rows[known], seconds[known], color=COLORS[k], marker="o", markersize=4,
                  linewidth=1.2, label=METHODS[method].title)  # fmt: skip
    axes.axhline(results.protocol.cpu_limit, color=INK, linestyle=":", linewidth=1.2)
    axes.text(rows.min(), results.protocol.cpu_limit, " the limit", va="bottom", fontsize=9)
    axes.set(xscale="log", yscale="log", xlabel="rows of the set", ylabel="training, CPU seconds")
    axes.legend(loc="upper left", ncols=1, bbox_to_anchor=(1.0, 1.0), fontsize=9)
    return figure
