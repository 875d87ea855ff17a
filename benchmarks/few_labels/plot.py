"""One picture of the accuracy table: cells down, accuracy across, a mark per method."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

# Okabe and Ito's colours, told apart also by those who do not see red and green; and shapes.
STYLE = {
    "SVC": ("#000000", "s"),
    "LogisticRegression": ("#777777", "d"),
    "RandomForest": ("#777777", "h"),
    "HistGradientBoosting": ("#777777", ">"),
    "LabelSpreading": ("#0072B2", "o"),
    "Laplace learning": ("#56B4E9", "^"),
    "Poisson learning": ("#009E73", "v"),
    "SelfTraining": ("#E69F00", "D"),
    "tri-training": ("#CC79A7", "P"),
    "TransductiveSVC": ("#F0E442", "p"),
    "SemiSupervisedClassifier": ("#D55E00", "*"),
    "GKMClassifier": ("#D55E00", "X"),
    "GKMClassifierCV": ("#D55E00", "<"),
}


def draw(accuracy: pd.DataFrame, file: Path) -> None:
    """Draw mean accuracies, cells x methods."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    cells = len(accuracy)
    figure, axes = plt.subplots(figsize=(9, 1.6 + 0.36 * cells), layout="constrained")
    down = np.arange(cells)
    axes.hlines(down, 0, 100, color="#dddddd", linewidth=0.8, zorder=1)
    for i, method in enumerate(accuracy.columns):
        colour, shape = STYLE[method]
        # A little apart, so that equal values do not hide each other.
        shift = 0.07 * (i - (len(accuracy.columns) - 1) / 2)
        size = 110 if shape == "*" else 42
        axes.scatter(
            100 * accuracy[method],
            down + shift,
            s=size,
            c=colour,
            marker=shape,
            label=method,
            edgecolors="white",
            linewidths=0.5,
            zorder=2,
        )
    lowest = 100 * np.nanmin(accuracy.to_numpy())
    axes.set_xlim(max(0, 5 * np.floor(lowest / 5) - 2), 101)
    axes.set_ylim(cells - 0.4, -0.6)
    axes.set_yticks(down, accuracy.index)
    axes.set_xlabel("accuracy on the unlabelled rows, % (mean over splits)")
    axes.set_ylabel("set, number of labels")
    axes.set_title("Few labels: accuracy of methods tuned on the labelled rows")
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    figure.legend(loc="outside lower center", ncols=4, frameon=False)
    figure.savefig(file, dpi=150)
    plt.close(figure)
