"""How good predictions are, on labelled rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .printing import percent
from .rows import label_text, label_values

_SHOWN = 12  # classes up to which a confusion matrix is printed


def judge(task: str, truth: NDArray[Any], predicted: NDArray[Any]) -> dict[str, Any]:
    """Return the scores of predictions.

    Examples
    --------
    >>> found = judge("classify", np.array(["a", "b", "b"]), np.array(["a", "b", "a"]))
    >>> found["confusion"], round(found["balanced_accuracy"], 2)
    ([[1, 0], [1, 1]], 0.75)
    """
    from sklearn import metrics

    if task == "regress":
        return {
            "r2": metrics.r2_score(truth, predicted) if len(truth) > 1 else float("nan"),
            "mean_absolute_error": metrics.mean_absolute_error(truth, predicted),
            "root_mean_squared_error": float(np.sqrt(np.mean((truth - predicted) ** 2))),
        }
    classes, codes = np.unique(np.concatenate([truth, predicted]), return_inverse=True)
    n, k = len(truth), len(classes)
    confusion = np.bincount(k * codes[:n] + codes[n:], minlength=k * k).reshape(k, k)
    there = confusion.sum(axis=1) > 0
    recalls = confusion.diagonal()[there] / confusion.sum(axis=1)[there]
    return {
        "accuracy": float(np.mean(truth == predicted)),
        "balanced_accuracy": float(recalls.mean()),
        "macro_f1": float(metrics.f1_score(truth, predicted, average="macro", zero_division=0)),
        "classes": label_values(classes),
        "confusion": confusion.tolist(),
    }


def score_lines(task: str, scores: Mapping[str, Any]) -> dict[str, str]:
    """Return the scores in words."""
    if task == "regress":
        return {
            "R^2": f"{scores['r2']:.4f}",
            "mean absolute error": f"{scores['mean_absolute_error']:.6g}",
            "root mean squared error": f"{scores['root_mean_squared_error']:.6g}",
        }
    return {
        "accuracy": percent(scores["accuracy"]),
        "balanced accuracy": f"{percent(scores['balanced_accuracy'])} (mean over the classes)",
        "macro F1": f"{scores['macro_f1']:.4f}",
    }


def confusion_lines(classes: Sequence[Any], confusion: Sequence[Sequence[int]]) -> list[str]:
    r"""Return a table of true against predicted classes.

    Examples
    --------
    >>> print("\n".join(confusion_lines(["a", "b"], [[1, 0], [1, 1]])))
    true \ predicted  a  b
    a                 1  0
    b                 1  1
    """
    if len(classes) > _SHOWN:
        return [f"({len(classes)} classes: --json has the confusion matrix)"]
    names = [label_text(value) for value in classes]
    cells = [["true \\ predicted", *names]]
    cells += [[name, *map(str, row)] for name, row in zip(names, confusion, strict=True)]
    widths = [max(len(row[k]) for row in cells) for k in range(len(cells[0]))]
    return [
        "  ".join(
            [
                row[0].ljust(widths[0]),
                *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True)),
            ]
        )
        for row in cells
    ]
