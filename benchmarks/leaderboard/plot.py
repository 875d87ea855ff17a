"""The pictures of the leaderboard: ranks against time, and every cell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .methods import GROUPS
from .tables import ALONE, GROUP_OF, OURS

# Okabe and Ito's colours, told apart also by those who do not see red and green; and shapes.
STYLE = {
    GROUPS[0]: ("#555555", "s"),
    GROUPS[1]: ("#0072B2", "o"),
    GROUPS[2]: ("#D55E00", "*"),
}


# Places of a name beside its point, in points of print; the last is taken where none is free.
_BESIDE = (
    *((9, 3, "left"), (-9, 3, "right"), (9, -11, "left"), (-9, -11, "right")),
    *((0, 9, "center"), (0, -17, "center"), (9, 15, "left"), (9, -21, "left")),
)


def _axes(width: float, height: float) -> tuple[Any, Any]:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(width, height), layout="constrained")
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def ranks_and_costs(standings: pd.DataFrame, file: Path) -> None:
    """Draw the mean rank of every method with all cells against its CPU seconds."""
    figure, axes = _axes(9, 5.5)
    main = standings[standings["main"].astype(bool)]
    names = {}
    groups = [GROUP_OF.get(name, GROUPS[1]) for name in main.index]
    for group, (colour, shape) in STYLE.items():
        own = main[[each == group for each in groups]]
        size = 160 if shape == "*" else 50
        place = own["cpu_seconds"].astype(float), own["rank"].astype(float)
        axes.scatter(*place, s=size, c=colour, marker=shape, label=group, zorder=3)
        names |= {name: at for name, *at in zip(own.index, *place, strict=True)}
    axes.set_xscale("log")
    axes.margins(x=0.18, y=0.08)
    axes.invert_yaxis()
    axes.grid(color="#eeeeee")
    axes.set_xlabel("CPU seconds of a fit with its tuning, median over cells")
    axes.set_ylabel("mean rank (higher up is better)")
    cells = int(main["cells"].max())
    axes.set_title(f"{len(main)} methods on {cells} cells: rank and time")
    axes.xaxis.set_major_formatter("{x:g}")
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    figure.canvas.draw()  # names need the final scale
    _name(axes, names)
    figure.savefig(file, dpi=130)


def _name(axes: Any, names: dict[str, Any]) -> None:
    """Write a name beside each point, where it covers no other name and no other point."""
    points = {name: axes.transData.transform(at) for name, at in names.items()}
    boxes: list[Any] = []
    for name, at in names.items():
        others = [point for other, point in points.items() if other != name]
        for x, y, side in _BESIDE:
            text = axes.annotate(
                name, at, xytext=(x, y), textcoords="offset points", fontsize=9, ha=side
            )
            box = text.get_window_extent()
            free = axes.bbox.contains(*box.min) and axes.bbox.contains(*box.max)
            free = free and not any(box.overlaps(one) for one in boxes)
            if free and not any(box.contains(*point) for point in others):
                break
            if (x, y, side) != _BESIDE[-1]:
                text.remove()
        boxes.append(box)


def cells(accuracy: pd.DataFrame, file: Path) -> None:
    """Draw all accuracies of every cell, and stress the best of each group."""
    figure, axes = _axes(9, 1.8 + 0.27 * len(accuracy))
    down = np.arange(len(accuracy))
    axes.hlines(down, 0, 100, color="#eeeeee", linewidth=0.8, zorder=1)
    values = accuracy.to_numpy(dtype=float)
    every = np.repeat(down, values.shape[1])
    axes.scatter(values.ravel(), every, s=16, c="#bbbbbb", marker="|", label="a method", zorder=2)
    others = [name for name in accuracy if name not in (*ALONE, *OURS)]
    best = {
        "best of labels alone": (ALONE, 0),
        "best of the others that see unlabelled rows": (others, 1),
        OURS[0]: (OURS[:1], 2),
    }
    for label, (names, group) in best.items():
        best_of = accuracy.reindex(columns=names).max(axis=1)
        colour, shape = STYLE[GROUPS[group]]
        size = 120 if shape == "*" else 40
        axes.scatter(best_of, down, s=size, c=colour, marker=shape, label=label, zorder=3 + group)
    axes.set_xlim(max(0.0, 5 * np.floor(np.nanpercentile(values, 1) / 5) - 2), 101)
    axes.set_ylim(len(down) - 0.4, -0.6)
    axes.set_yticks(down, accuracy.index)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("accuracy of the unlabelled rows, %; the best of a group is known in hindsight")
    axes.set_title("Few labels: all methods on all cells")
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    figure.savefig(file, dpi=130)
