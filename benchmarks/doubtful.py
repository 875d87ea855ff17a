"""Labels that look wrong: how well wrong labels are found, and what a fit without them gains.

    python benchmarks/doubtful.py [--draws 5] [--first 0] [--sets usps,coil20] [--jobs 2] [--store]

Six sets of up to 1,500 rows (`class_sets.py`) have 200 or 300 labels. A tenth of them is made
wrong: at random, or "similar": each goes to the class that its class is most often taken for by ten
nearest neighbours with all true labels. With two classes both are the same.

The measure is average precision. "doubtful_labels" is that of the library, and "probability" ranks
labels by their held-out probability. "cleanlab" is confident learning with the same held-out
probabilities, and "cleanlab, forest" with those of a forest of 200 trees in five folds: labels that
`find_label_issues` finds come first, then all others, both by `get_label_quality_scores`. Where
cleanlab is not installed these columns are empty. "wrong" is the estimate of how many labels are
wrong, in percent, and "inside" the share of draws in which the interval has the true number.

"accuracy" is that on the unlabelled rows by their true labels, in percent: of the first fit, and
the gain of a fit with doubtful labels weighed down, in points. "said" is the gain by held-out
labels that `refit_with_doubts` tells.
"""

from __future__ import annotations

import argparse
import warnings
from functools import partial
from typing import Any

import numpy as np

from _common import Figure, script, store, stored, table
from _processes import forked
from class_sets import drawn
from graphkm import SemiSupervisedClassifier
from graphkm.inspection import doubtful_labels, refit_with_doubts
from graphkm.semi.held import held_of

LABELS = {"usps": 300, "mnist": 300, "coil20": 300, "ag_news": 200, "svmguide2": 200}
LABELS |= {"mushrooms": 200}
KINDS = ("random", "similar")
WAYS = ("doubtful_labels", "probability", "cleanlab", "cleanlab, forest")
MEASURES = ("wrong", "inside", "accuracy", "gain", "said")


def taken_for(X: Any, y: np.ndarray) -> np.ndarray:
    """Return for each class the one that it is most often taken for."""
    from sklearn.model_selection import cross_val_predict
    from sklearn.neighbors import KNeighborsClassifier

    model = KNeighborsClassifier(10)
    shares = cross_val_predict(model, X, y, cv=5, method="predict_proba")
    counts = np.zeros((shares.shape[1],) * 2)
    np.add.at(counts, y, shares)
    np.fill_diagonal(counts, -1.0)
    return counts.argmax(axis=1)


def spoilt(X: Any, y: np.ndarray, labeled: np.ndarray, kind: str, seed: int) -> np.ndarray:
    """Return the labels of the labelled rows, a tenth of them wrong."""
    rng, given = np.random.default_rng(seed), y[labeled]
    wrong = rng.permutation(len(given))[: round(0.1 * len(given))]
    k = int(y.max()) + 1
    if kind == "random":
        given[wrong] = (given[wrong] + rng.integers(1, k, len(wrong))) % k
    else:
        given[wrong] = taken_for(X, y)[given[wrong]]
    return given


def of_forest(X: Any, given: np.ndarray, k: int) -> np.ndarray:
    """Return out-of-fold probabilities of a forest."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import StratifiedKFold

    shares = np.zeros((len(given), k))
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(given, given):
        forest = RandomForestClassifier(200, random_state=0).fit(X[train], given[train])
        shares[np.ix_(test, forest.classes_)] = forest.predict_proba(X[test])
    return shares


def confident(given: np.ndarray, shares: np.ndarray) -> np.ndarray | None:
    """Return the scores of confident learning, the most doubtful highest; None without cleanlab."""
    try:
        from cleanlab.filter import find_label_issues
        from cleanlab.rank import get_label_quality_scores
    except ImportError:
        return None
    issues = find_label_issues(given, shares, n_jobs=1)
    return np.asarray(issues + 1.0 - get_label_quality_scores(given, shares))


def measured(name: str, kind: str, seed: int) -> dict[str, Any]:
    """Return the figures of one draw."""
    from sklearn.metrics import average_precision_score

    warnings.simplefilter("ignore")
    X, y = drawn(name, seed)
    n, rng = LABELS[name], np.random.default_rng(seed)
    labeled = np.sort(rng.permutation(len(y))[:n])
    given = spoilt(X, y, labeled, kind, seed + 1)
    told = np.full(len(y), -1)
    told[labeled] = given
    model = SemiSupervisedClassifier(random_state=seed, n_jobs=1).fit(X, told)
    found, held, wrong = doubtful_labels(model), held_of(model), given != y[labeled]
    codes = np.searchsorted(model.classes_, given)
    scores: dict[str, Any] = {
        "doubtful_labels": found.doubts,
        "probability": -held.said[np.arange(n), codes],
        "cleanlab": confident(codes, held.said),
        "cleanlab, forest": confident(codes, of_forest(X[labeled], codes, held.said.shape[1])),
    }
    again, others = refit_with_doubts(model, X, told), np.setdiff1d(np.arange(len(y)), labeled)
    before, after = (np.mean(each.predict(X[others]) == y[others]) for each in (model, again.model))
    about = found.estimate
    return {
        way: 100 * float(average_precision_score(wrong, each))
        for way, each in scores.items()
        if each is not None
    } | {
        "wrong": 100 * about.number / n,
        "inside": 100.0 * (about.low <= wrong.sum() <= about.high),
        "accuracy": 100 * float(before),
        "gain": 100 * float(after - before),
        "said": 100 * again.gain,
    }


def number(value: Any) -> float:
    """Return a figure; NaN for one that was not measured."""
    return float("nan") if value == "" else float(value)


def summary(rows: list[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Return the heads and lines of the table: means over draws, and over all sets at the end."""
    columns = (*WAYS, *MEASURES)
    lines, means = [], []
    for name, kind in dict.fromkeys((row["set"], row["kind"]) for row in rows):
        own = [row for row in rows if (row["set"], row["kind"]) == (name, kind)]
        means.append([np.mean([number(row[each]) for row in own]) for each in columns])
        lines.append([name, kind, *(f"{value:.1f}" for value in means[-1])])
    lines.append(["mean", "", *(f"{value:.1f}" for value in np.mean(means, axis=0))])
    return ["set", "wrong labels", *columns], lines


def run(arguments: argparse.Namespace) -> list[Figure]:
    draws = range(arguments.first, arguments.first + (1 if arguments.quick else arguments.draws))
    sets = ["svmguide2"] if arguments.quick else arguments.sets.split(",")
    about = [(name, kind, seed) for name in sets for kind in KINDS for seed in draws]
    rows = []
    for place, answer in forked([partial(measured, *each) for each in about], arguments.jobs):
        print(about[place], answer.get("status", ""), answer.get("doubtful_labels"), flush=True)
        if "doubtful_labels" in answer:
            own = {each: answer.get(each, "") for each in (*WAYS, *MEASURES)}
            rows.append(dict(zip(("set", "kind", "seed"), about[place], strict=True)) | own)
    if arguments.store:
        store("doubtful", rows, ("set", "kind", "seed"))
        rows = stored("doubtful")
    print("\n" + table(*summary(rows)))
    means = {way: [number(row[way]) for row in rows] for way in (*WAYS, "gain")}
    return [Figure(f"doubtful: {way}", float(np.mean(each)), "%") for way, each in means.items()]


if __name__ == "__main__":
    script(
        run,
        draws={"type": int, "default": 5, "help": "draws of rows and labels"},
        first={"type": int, "default": 0, "help": "the first seed"},
        sets={"default": ",".join(LABELS), "help": "sets, separated by commas"},
        jobs={"type": int, "default": 1, "help": "draws at once"},
        store={"action": "store_true", "help": "put the figures into benchmarks/results"},
    )
