"""How good probabilities are: Brier score and calibration error on rows that no fit has seen.

    python benchmarks/calibration.py [--quick] [--sets a1a,usps] [--draws 2] [--jobs 16]
    python benchmarks/calibration.py --plot docs/calibration.png --store && make tables   # the page

Up to 2,000 rows of every development set (4,000 for "10%") are trained on, most of them without a
label; up to 2,000 others are tested. `CalibratedClassifierCV(SVC)` (sigmoid, five folds or as many
as labels allow), `LogisticRegression`, `RandomForestClassifier` and boosting see the labelled rows
alone. Every fit runs in a process of its own on one thread, `--jobs` of them at once.

The Brier score is the mean squared distance between probabilities and the truth, summed over
classes. The calibration error is the mean distance between the largest probability and the share of
right labels, over ten bins. The base rate's distance is half the sum of |mean probability - share
of the class| over classes.
"""

from __future__ import annotations

import argparse
import itertools
import warnings
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC

from _common import Figure, script, store, table
from _processes import forked
from graphkm import GKMClassifier, GKMClassifierCV, SemiSupervisedClassifier
from table_sets import SETS

NAMES = ("australian", "svmguide1", "svmguide2", "svmguide3", "a1a", "ijcnn1", "usps", "uspst")
LABELS = ("50", "200", "10%")
ROWS, MORE, TEST = 2000, 4000, 2000
BINS = 10
KEYS = ("set", "labels", "model")
MEASURES = ("Brier", "error", "base rate", "accuracy")
Found = dict[tuple[str, str, str], list[dict[str, Any]]]  # set, labels, model: every draw
Fit = Callable[[Any, np.ndarray, int], Any]


def alone(model: Callable[[np.ndarray], Any]) -> Fit:
    """Return a fit to the labelled rows alone."""
    return lambda X, y, seed: model(y[y >= 0]).fit(X[y >= 0], y[y >= 0])


def calibrated_svc(y: np.ndarray) -> Any:
    folds = int(min(5, np.bincount(y).min()))
    if folds < 2:  # a class with one label: nothing can be held out of it
        return CalibratedClassifierCV(SVC(random_state=0), cv=2, ensemble=False)
    return CalibratedClassifierCV(SVC(random_state=0), cv=folds)


def ours(kind: Any) -> Fit:
    """Return a fit to all rows."""
    return lambda X, y, seed: kind(random_state=seed, n_jobs=1).fit(X, y)


def boosting(y: np.ndarray) -> Any:
    # The usual leaves of 20 rows learn nothing from 50 labels.
    leaf = int(np.clip(len(y) // 20, 2, 20))
    model = HistGradientBoostingClassifier(min_samples_leaf=leaf, random_state=0)
    return make_pipeline(FunctionTransformer(dense, accept_sparse=True), model)


def dense(X: Any) -> Any:
    return X.toarray() if sp.issparse(X) else X


MODELS: dict[str, Fit] = {
    "SemiSupervisedClassifier": ours(SemiSupervisedClassifier),
    "GKMClassifier": ours(GKMClassifier),
    "GKMClassifierCV": ours(GKMClassifierCV),
    "CalibratedClassifierCV(SVC)": alone(calibrated_svc),
    "LogisticRegression": alone(lambda y: LogisticRegression(max_iter=1000)),
    "RandomForest": alone(lambda y: RandomForestClassifier(random_state=0)),
    "HistGradientBoosting": alone(boosting),
}


@cache
def loaded(name: str) -> tuple[Any, np.ndarray]:
    """Return rows, and classes from 0."""
    X, y = SETS[name]()
    return X, np.unique(y, return_inverse=True)[1]


def drawn(name: str, labels: str, draw: int) -> tuple[Any, np.ndarray, Any, np.ndarray]:
    """Return rows to train on, labels with -1 where hidden, and rows to test with theirs."""
    X, y = loaded(name)
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


def tasks(names: list[str], kinds: tuple[str, ...], draws: int) -> Iterator[tuple[Any, ...]]:
    """Yield set, labels, draw and model of every fit; 200 labels need 400 rows."""
    for name, labels, draw, model in itertools.product(names, kinds, range(draws), MODELS):
        if labels != "200" or 2 * len(loaded(name)[1]) // 3 >= 400:
            yield name, labels, draw, model


def fitted(name: str, labels: str, draw: int, model: str) -> dict[str, Any]:
    """Return what is measured of one fit, and the bins of its probabilities."""
    warnings.simplefilter("ignore")
    X, y, X_test, y_test = drawn(name, labels, draw)
    P = whole(MODELS[model](X, y, draw), X_test, int(y_test.max()) + 1)
    return measured(P, y_test) | {"bins": bins(P, y_test).tolist()}


def run(arguments: argparse.Namespace) -> list[Figure]:
    names = arguments.sets.split(",") if arguments.sets else list(NAMES)
    kinds = ("50",) if arguments.quick else LABELS
    wanted = list(tasks(names, kinds, 1 if arguments.quick else arguments.draws))
    found: dict[tuple[str, str, str], list[dict[str, Any]]] = {
        task[:2] + task[3:]: [] for task in wanted
    }
    for number, answer in forked((partial(fitted, *task) for task in wanted), arguments.jobs):
        name, labels, draw, model = wanted[number]
        print(name, labels, draw, model, answer["status"], answer.get("Brier"), flush=True)
        if answer["status"] != "ok":
            raise SystemExit(answer.get("traceback", answer["status"]))
        found[name, labels, model].append(answer)
    if arguments.store:
        store("calibration", [line(key, own) for key, own in found.items()], KEYS)
    if arguments.plot:
        plot(found, arguments.plot)
    return figures(found)


def line(key: tuple[str, str, str], own: list[dict[str, Any]]) -> dict[str, str]:
    """Return the means of a cell's draws, as the pages' file has them."""
    mean = {name: float(np.mean([each[name] for each in own])) for name in MEASURES}
    return dict(zip(KEYS, key, strict=True)) | {
        "brier": f"{mean['Brier']:.3f}",
        "error": f"{mean['error']:.3f}",
        "base_rate": f"{mean['base rate']:.3f}",
        "accuracy": f"{100 * mean['accuracy']:.2f}",
    }


def figures(found: Found) -> list[Figure]:
    """Print the means over sets and draws, and return those of Brier score and error."""
    print("\nMeans over sets and draws; the last column is the most certain probability\n")
    means, answer = [], []
    for labels, model in dict.fromkeys((key[1], key[2]) for key in found):
        each = [one for key, own in found.items() if key[1:] == (labels, model) for one in own]
        mean = {name: float(np.mean([one[name] for one in each])) for name in MEASURES}
        least = min(one["extreme"] for one in each)
        numbers = [f"{mean[key]:.4f}" for key in ("Brier", "error", "base rate")]
        accuracy = f"{100 * mean['accuracy']:.1f}"
        means.append([labels, model, *numbers, accuracy, f"{1 - least:.6f}"])
        answer.append(Figure(f"Brier score, {model}, {labels} labels", mean["Brier"]))
        answer.append(Figure(f"calibration error, {model}, {labels} labels", mean["error"]))
    heads = ["labels", "model", "Brier", "calibration error", "base rate", "accuracy %", "surest"]
    print(table(heads, means))
    return answer


def plot(found: Found, path: str) -> None:
    """Draw the share of right labels against the largest probability, all test rows together."""
    curves: dict[tuple[str, str], np.ndarray] = defaultdict(lambda: np.zeros((3, BINS)))
    for (_, labels, model), own in found.items():
        curves[labels, model] += sum(np.array(each["bins"]) for each in own)
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    counted = [each for each in LABELS if any(key[0] == each for key in curves)]
    figure, axes = pyplot.subplots(
        1, len(counted), figsize=(4.2 * len(counted), 4.2), squeeze=False
    )
    for axis, count in zip(axes[0], counted, strict=True):
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
        jobs={"type": int, "default": 1, "help": "fits at once; 1 by default"},
        plot={"help": "a PNG file for the reliability curves"},
        store={"action": "store_true", "help": "put the results into the pages' file"},
    )
