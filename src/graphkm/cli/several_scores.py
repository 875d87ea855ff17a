"""How good a model of several labels or quantities is, where they are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .output import percent, print_table

Array = NDArray[np.float64]

_SHOWN = 30  # lines of a printed table


def judge_labels(
    names: Sequence[str], truth: Array, predicted: Array, shares: Array, thresholds: Array
) -> dict[str, Any]:
    """Return the scores of several labels. Labels that are not known do not count.

    Parameters
    ----------
    names : list of str
        Names of the labels.
    truth, predicted, shares : ndarray of shape (n, n_labels)
        Labels, 0 or 1, NaN where one is not known; what the model says; and its probabilities.
    thresholds : ndarray of shape (n_labels,)
        The probabilities above which the model says that a row has a label.

    Examples
    --------
    >>> truth, said = np.array([[1.0, 0.0], [1.0, np.nan]]), np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> found = judge_labels(["a", "b"], truth, said, said, np.full(2, 0.5))
    >>> round(found["micro_f1"], 3), found["all_right"], found["rows_with_all_labels"]
    (0.667, 1.0, 1)
    """
    known = ~np.isnan(truth)
    has, said = known & (truth == 1), known & (predicted == 1)
    both = has & said
    whole = known.all(axis=1)
    labels = [
        {"label": name, "known": int(known[:, k].sum()), "having": int(has[:, k].sum())}
        | {"threshold": float(thresholds[k])}
        | _precision(both[:, k], said[:, k], has[:, k])
        for k, name in enumerate(names)
    ]
    right = (predicted == truth)[whole].all(axis=1)
    return {
        "macro_f1": float(np.mean([each["f1"] for each in labels])),
        "micro_f1": _precision(both, said, has)["f1"],
        "all_right": float(right.mean()) if len(right) else float("nan"),
        "rows_with_all_labels": len(right),
        "ranking_loss": ranking_loss(truth, shares),
        "labels": labels,
    }


def _precision(both: Any, said: Any, has: Any) -> dict[str, float]:
    """Return precision, recall and F1; 0 where there is nothing to divide by."""
    hits, told, true = float(both.sum()), float(said.sum()), float(has.sum())
    return {
        "precision": hits / max(told, 1.0),
        "recall": hits / max(true, 1.0),
        "f1": 2.0 * hits / max(told + true, 1.0),
    }


def ranking_loss(truth: Array, shares: Array) -> float:
    """Return the mean share of pairs of a row's labels in the wrong order, as scikit-learn does.

    A pair has a label that the row has, and one that it has not. It is wrong unless the first is
    more likely.

    Examples
    --------
    >>> ranking_loss(np.array([[1.0, 0.0, 0.0]]), np.array([[0.5, 0.7, 0.1]]))
    0.5
    """
    losses = []
    for row, share in zip(truth, shares, strict=True):
        wrong = share[row == 1][:, None] <= share[row == 0]
        losses.append(float(wrong.mean()) if wrong.size else 0.0)
    return float(np.mean(losses))


def judge_quantities(names: Sequence[str], truth: Array, predicted: Array) -> dict[str, Any]:
    """Return the scores of several quantities, where they are known."""
    targets = []
    for k, name in enumerate(names):
        known = ~np.isnan(truth[:, k])
        true, errors = truth[known, k], (truth - predicted)[known, k]
        spread = np.square(true - true.mean()).sum() if len(true) else 0.0
        targets.append(
            {
                "target": name,
                "known": len(true),
                "r2": 1.0 - float(np.square(errors).sum() / spread) if spread else float("nan"),
                "mean_absolute_error": _mean(np.abs(errors)),
                "root_mean_squared_error": _mean(np.square(errors)) ** 0.5,
            }
        )
    told = [each["r2"] for each in targets if each["r2"] == each["r2"]]
    return {"r2": float(np.mean(told)) if told else float("nan"), "targets": targets}


def _mean(values: Array) -> float:
    return float(values.mean()) if len(values) else float("nan")


def several_lines(scores: Mapping[str, Any]) -> dict[str, str]:
    """Return the scores of all labels or quantities together, for people."""
    if "targets" in scores:
        return {"R^2": f"{scores['r2']:.4f} (mean over the columns)"}
    n = scores["rows_with_all_labels"]
    right = f"{percent(scores['all_right'])} of the {n:,} rows whose labels are all known"
    return {
        "macro F1": f"{scores['macro_f1']:.4f} (mean over the labels)",
        "micro F1": f"{scores['micro_f1']:.4f} (all labels together)",
        "all labels right": right if n else "not measured: no row knows all labels",
        "ranking loss": f"{scores['ranking_loss']:.4f}",
    }


def print_several(scores: Mapping[str, Any]) -> None:
    """Print a line for each label or quantity.

    Examples
    --------
    >>> one = {"label": "a", "known": 9, "having": 2, "threshold": 0.5}
    >>> print_several({"labels": [one | {"precision": 1.0, "recall": 0.5, "f1": 2 / 3}]})
    label  rows  have it  threshold  precision  recall      F1
    a         9        2     0.5000     1.0000  0.5000  0.6667
    """
    if "targets" in scores:
        names = ["target", "rows", "R^2", "mean absolute error", "root mean squared error"]
        lines, keys = scores["targets"], ["r2", "mean_absolute_error", "root_mean_squared_error"]
        begin = ["target", "known"]
    else:
        names = ["label", "rows", "have it", "threshold", "precision", "recall", "F1"]
        lines, keys = scores["labels"], ["threshold", "precision", "recall", "f1"]
        begin = ["label", "known", "having"]
    table = [
        [*(str(each[key]) for key in begin), *(f"{each[key]:.4f}" for key in keys)]
        for each in lines[:_SHOWN]
    ]
    print_table([names, *table], justify="right")
    if len(lines) > _SHOWN:
        print(f"({len(lines)} columns: --json has them all)")
