"""None of these: rows of a class without labels among the rows of all others.

    python benchmarks/novelty.py [--draws 3] [--first 0] [--sets usps,coil20] [--jobs 2] [--store]

Of 1,500 rows of a set (`class_sets.py`) four fifths are those of the fit, and the others are new.
One class, another one in each draw, has no label; 200 rows of all other classes have one. The rows
of that class stay among the unlabelled ones and among the new ones. The measure is the area under
the ROC curve, in percent: how often a row of that class has a higher score than one of another
class. "fit" has the unlabelled rows of the fit, and "new" the new rows.

"novelty" is that of the library. Rivals: the distance to the nearest labelled row, one minus the
largest probability of the same model, and scikit-learn's LocalOutlierFactor(novelty=True), fitted
to the labelled rows or to all rows of the fit. "known" is the share of new rows of known classes
whose novelty is above 0.9, in percent: it should be 10.
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
from graphkm.inspection import novelty

SETS = ("usps", "coil20", "banking77", "mnist")
LABELS = 200
WAYS = ("novelty", "nearest label", "1 - largest", "LOF, labels", "LOF, all")


def scores_of(model: Any, X: Any, n_fit: int, labeled: np.ndarray) -> dict[str, np.ndarray]:
    """Return the scores of all rows, the oddest highest."""
    from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors

    nearest = NearestNeighbors(n_neighbors=1).fit(X[labeled])
    of_labels = LocalOutlierFactor(novelty=True).fit(X[labeled])
    of_all = LocalOutlierFactor(novelty=True).fit(X[:n_fit])
    return {
        "novelty": novelty(model, X, rows=X[:n_fit]),
        "nearest label": nearest.kneighbors(X)[0][:, 0],
        "1 - largest": 1 - model.predict_proba(X).max(axis=1),
        "LOF, labels": -of_labels.score_samples(X),
        "LOF, all": -of_all.score_samples(X),
    }


def measured(name: str, seed: int) -> dict[str, Any]:
    """Return the figures of one draw."""
    from sklearn.metrics import roc_auc_score

    warnings.simplefilter("ignore")
    X, y = drawn(name, seed)
    rng, n_fit = np.random.default_rng(seed), int(0.8 * len(y))
    novel = y == rng.permutation(int(y.max()) + 1)[0]
    labeled = rng.permutation(np.flatnonzero(~novel[:n_fit]))[:LABELS]
    told = np.full(n_fit, -1)
    told[labeled] = y[labeled]
    model = SemiSupervisedClassifier(random_state=seed, n_jobs=1).fit(X[:n_fit], told)
    found = scores_of(model, X, n_fit, np.sort(labeled))
    of_fit, new = np.flatnonzero(told < 0), np.arange(n_fit, len(y))
    areas = {
        f"{way}, {part}": 100 * float(roc_auc_score(novel[rows], found[way][rows]))
        for way in WAYS
        for part, rows in (("fit", of_fit), ("new", new))
    }
    return areas | {"known": 100 * float(np.mean(found["novelty"][new][~novel[new]] > 0.9))}


def summary(rows: list[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Return the heads and lines of the table: means over draws, and over all sets at the end."""
    columns = [*(f"{way}, {part}" for part in ("fit", "new") for way in WAYS), "known"]
    means = {
        name: [
            np.mean([float(row[each]) for row in rows if row["set"] == name]) for each in columns
        ]
        for name in dict.fromkeys(row["set"] for row in rows)
    }
    means["mean"] = list(np.mean(list(means.values()), axis=0))
    heads = ["set", *columns]
    return heads, [[name, *(f"{value:.1f}" for value in each)] for name, each in means.items()]


def run(arguments: argparse.Namespace) -> list[Figure]:
    draws = range(arguments.first, arguments.first + (1 if arguments.quick else arguments.draws))
    sets = ["usps"] if arguments.quick else arguments.sets.split(",")
    about = [(name, seed) for name in sets for seed in draws]
    rows = []
    for place, answer in forked([partial(measured, *each) for each in about], arguments.jobs):
        print(about[place], answer.get("status", ""), answer.get("novelty, fit"), flush=True)
        if "known" in answer:
            own = {
                each: value for each, value in answer.items() if each.count(",") or each == "known"
            }
            rows.append(dict(zip(("set", "seed"), about[place], strict=True)) | own)
    if arguments.store:
        store("novelty", rows, ("set", "seed"))
        rows = stored("novelty")
    heads, lines = summary(rows)
    print("\n" + table(heads, lines))
    return [
        Figure(f"novelty: {head}", float(value), "%")
        for head, value in zip(heads[1:], lines[-1][1:], strict=True)
    ]


if __name__ == "__main__":
    script(
        run,
        draws={"type": int, "default": 5, "help": "draws of rows and of the class without labels"},
        first={"type": int, "default": 0, "help": "the first seed"},
        sets={"default": ",".join(SETS), "help": "sets, separated by commas"},
        jobs={"type": int, "default": 1, "help": "draws at once"},
        store={"action": "store_true", "help": "put the figures into benchmarks/results"},
    )
