"""How good probabilities are: Brier score and calibration error on rows that no fit has seen.

    python benchmarks/calibration.py [--quick] [--sets a1a,usps] [--draws 2] [--plot FILE.png]
    python benchmarks/calibration.py --store && make tables     # into the pages

Up to 2,000 rows of every development set (4,000 for "10%") are trained on, most of them without a
label; up to 2,000 others are tested. `CalibratedClassifierCV(SVC)` (sigmoid, five folds or as many
as labels allow) and `LogisticRegression` see the labelled rows alone. The Brier score is the mean
squared distance between probabilities and the truth, summed over classes. The calibration error is
the mean distance between the largest probability and the share of right labels, over ten bins. The
base rate's distance is half the sum of |mean probability - share of the class| over classes.
"""

from __future__ import annotations

import argparse
import itertools
import warnings
import zlib
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from _common import Figure, script, store, table
from fields.sets import SETS
from graphkm import GKMClassifier, GKMClassifierCV, SemiSupervisedClassifier

NAMES = ("australian", "svmguide1", "svmguide2", "svmguide3", "a1a", "ijcnn1", "usps", "uspst")
LABELS = ("50", "200", "10%")
ROWS, MORE, TEST = 2000, 4000, 2000
BINS = 10


def alone(model: Callable[[np.ndarray], Any]) -> Callable[[Any, np.ndarray, int], Any]:
    """Return a fit to the labelled rows alone."""
    return lambda X, y, seed: model(y[y >= 0]).fit(X[y >= 0], y[y >= 0])


def calibrated_svc(y: np.ndarray) -> Any:
    folds = int(min(5, np.bincount(y).min()))
    if folds < 2:  # a class with one label: nothing can be held out of it
        return CalibratedClassifierCV(SVC(random_state=0), cv=2, ensemble=False)
    return CalibratedClassifierCV(SVC(random_state=0), cv=folds)


MODELS: dict[str, Callable[[Any, np.ndarray, int], Any]] = {
    "SemiSupervisedClassifier": lambda X, y, seed: SemiSupervisedClassifier(random_state=seed).fit(
        X, y
    ),
    "GKMClassifier": lambda X, y, seed: GKMClassifier(random_state=seed).fit(X, y),
    "GKMClassifierCV": lambda X, y, seed: GKMClassifierCV(random_state=seed).fit(X, y),
    "balanced GKMClassifier": lambda X, y, seed: GKMClassifier(
        class_weight="balanced", random_state=seed
    ).fit(X, y),
    "CalibratedClassifierCV(SVC)": alone(calibrated_svc),
    "LogisticRegression": alone(lambda y: LogisticRegression(max_iter=1000)),
}


def drawn(name: str, labels: str, draw: int) -> tuple[Any, np.ndarray, Any, np.ndarray]:
    """Return rows to train on, labels with -1 where hidden, and rows to test with theirs."""
    X, y = SETS[name]()
    y = np.unique(y, return_inverse=True)[1]
    rng = np.random.default_rng([zlib.crc32(name.encode()), draw])
    order = rng.permutation(len(y))
    n = min(MORE if labels == "10%" else ROWS, 2 * len(y) // 3)
    train, test = order[:n], order[n : n + TEST]
    count = n // 10 if labels == "10%" else int(labels)
    first = [np.flatnonzero(y[train] == c)[:2] for c in np.unique(y)]  # two of every class
    known = np.concatenate(first)
    others = np.setdiff1d(np.arange(n), known)
    known = np.concatenate([known, others[: max(0, count - len(known))]])
    partly = np.where(np.isin(np.arange(n), known), y[train], -1)
    return X[train], partly, X[test], y[test]


def bins(P: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return rows, sums of the largest probability and right labels of every bin."""
    top = P.max(axis=1)
    place = np.minimum((BINS * top).astype(int), BINS - 1)
    parts = (np.ones(len(y)), top, P.argmax(axis=1) == y)
    return np.array([np.bincount(place, each, BINS) for each in parts])


def measured(P: np.ndarray, y: np.ndarray) -> dict[str, float]:
    k = P.shape[1]
    counts, sure, right = bins(P, y)
    shares = np.bincount(y, minlength=k) / len(y)
    return {
        "Brier": float(np.square(P - np.eye(k)[y]).sum(axis=1).mean()),
        "error": float(np.abs(sure - right).sum() / counts.sum()),
        "base rate": float(0.5 * np.abs(P.mean(axis=0) - shares).sum()),
        "accuracy": float(np.mean(P.argmax(axis=1) == y)),
        "extreme": float(min(P.min(), 1.0 - P.max())),
    }


def whole(model: Any, X: Any, n_classes: int) -> np.ndarray:
    """Return probabilities of all classes; a class without a label has none."""
    P = np.zeros((X.shape[0], n_classes))
    P[:, model.classes_] = model.predict_proba(X)
    return P


def run(arguments: argparse.Namespace) -> list[Figure]:
    warnings.simplefilter("ignore")
    names = arguments.sets.split(",") if arguments.sets else NAMES
    draws = 1 if arguments.quick else arguments.draws
    found: dict[tuple[str, str], list[dict[str, float]]] = defaultdict(list)
    curves: dict[tuple[str, str], np.ndarray] = defaultdict(lambda: np.zeros((3, BINS)))
    rows, lines = [], []
    for name, labels in itertools.product(names, ("50",) if arguments.quick else LABELS):
        cell = defaultdict(list)
        for draw in range(draws):
            X, y, X_test, y_test = drawn(name, labels, draw)
            if labels == "200" and len(y) < 400:
                continue
            for model, fit in MODELS.items():
                P = whole(fit(X, y, draw), X_test, int(y_test.max()) + 1)
                cell[model].append(measured(P, y_test))
                curves[labels, model] += bins(P, y_test)
        for model, each in cell.items():
            found[labels, model] += each
        if cell:
            brier = [np.mean([one["Brier"] for one in cell[model]]) for model in MODELS]
            error = [np.mean([one["error"] for one in cell[model]]) for model in MODELS]
            cells = [f"{b:.3f}, {e:.3f}" for b, e in zip(brier, error, strict=True)]
            rows.append([name, labels, *cells])
            lines += [
                {
                    "set": name,
                    "labels": labels,
                    "model": m,
                    "brier": f"{b:.3f}",
                    "error": f"{e:.3f}",
                }
                for m, b, e in zip(MODELS, brier, error, strict=True)
            ]
            print("|", " | ".join(rows[-1]), "|", flush=True)
    if arguments.store:
        store("calibration", lines, ("set", "labels", "model"))
    print("\nBrier score, calibration error (means of draws)\n")
    print(table(["set", "labels", *MODELS], rows))
    print("\nMeans over sets and draws; the last column is the most certain probability\n")
    means, figures = [], []
    for (labels, model), each in sorted(found.items()):
        mean = {key: float(np.mean([one[key] for one in each])) for key in each[0]}
        least = min(one["extreme"] for one in each)
        numbers = [f"{mean[key]:.4f}" for key in ("Brier", "error", "base rate")]
        accuracy = f"{100 * mean['accuracy']:.1f}"
        means.append([labels, model, *numbers, accuracy, f"{1 - least:.6f}"])
        figures.append(Figure(f"Brier score, {model}, {labels} labels", mean["Brier"]))
        figures.append(Figure(f"calibration error, {model}, {labels} labels", mean["error"]))
    heads = ["labels", "model", "Brier", "calibration error", "base rate", "accuracy %", "surest"]
    print(table(heads, means))
    if arguments.plot:
        plot(curves, arguments.plot)
    return figures


def plot(curves: dict[tuple[str, str], np.ndarray], path: str) -> None:
    """Draw the share of right labels against the largest probability, all test rows together."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    labels = [each for each in LABELS if any(key[0] == each for key in curves)]
    figure, axes = pyplot.subplots(1, len(labels), figsize=(4.2 * len(labels), 4.2), squeeze=False)
    for axis, count in zip(axes[0], labels, strict=True):
        axis.plot([0.2, 1], [0.2, 1], color="0.7", linewidth=1)
        for model in MODELS:
            counts, sure, right = curves[count, model]
            used = counts >= 50
            axis.plot(sure[used] / counts[used], right[used] / counts[used], "o-", label=model)
        axis.set(
            xlabel="largest probability", title=f"{count} labels", xlim=(0.2, 1), ylim=(0.2, 1)
        )
    axes[0, 0].set_ylabel("share of right labels")
    axes[0, 0].legend(fontsize=8, loc="upper left")
    figure.tight_layout()
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    script(
        run,
        sets={"help": "names, separated by commas"},
        draws={"type": int, "default": 2},
        plot={"help": "a PNG file for the reliability curves"},
        store={"action": "store_true", "help": "put the results into the pages' file"},
    )
