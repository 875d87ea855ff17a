"""Do the labels that speak most for an answer decide it? They are deleted, and a model refitted.

    python benchmarks/explain.py                  # four sets, two draws of 20 rows each
    python benchmarks/explain.py --quick

For every explained row, five labels are deleted, and a new model is fitted to the others: the five
that `explain` says speak most for the answer, the five labelled rows of the answer's class that are
nearest to the row, the five nearest of any class, and five at random. A figure is the share of rows
whose answer changes, in %. Labels decide an answer if it changes without them.
"""

from __future__ import annotations

import argparse
from functools import partial

import numpy as np

from _common import Figure, script, table
from _processes import forked
from graphkm import SemiSupervisedClassifier
from graphkm.inspection import explain
from ratchet.cells import _few_labels

SETS = {"digit1": (100, 40), "usps": (100, 40), "coil20": (120, 80), "australian": (50, 40)}
"""Which cell the rows come from, and how many labels are drawn."""

ROWS = 500  # of each set, drawn at random
DELETED = 5
WAYS = ("explained", "nearest of the class", "nearest", "random")


def drawn(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, labels with -1 where they are hidden, the truth, and the labelled rows."""
    n_labels, wanted = SETS[name]
    cell = _few_labels(name)[n_labels]
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(cell.y))[:ROWS]
    truth = np.unique(np.asarray(cell.y)[rows], return_inverse=True)[1]
    labeled = rng.permutation(len(rows))[:wanted]
    y = np.full(len(rows), -1)
    y[labeled] = truth[labeled]
    return np.asarray(cell.X)[rows], y, truth, np.sort(labeled)


def deleted(
    why: object, x: np.ndarray, X: np.ndarray, y: np.ndarray, rng: np.random.Generator
) -> dict:
    """Return the labels to delete, for each way of choosing them."""
    order = why.labeled[np.argsort(-why.shares, kind="stable")]
    near = why.labeled[np.argsort(((X[why.labeled] - x) ** 2).sum(axis=1), kind="stable")]
    chosen = order, near[y[near] == why.answer], near, rng.permutation(why.labeled)
    return {way: each[:DELETED] for way, each in zip(WAYS, chosen, strict=True)}


def answer_of(X: np.ndarray, y: np.ndarray, row: int) -> int:
    """Return the answer of a new fit; it is the only class that is left, if there is one."""
    left = np.unique(y[y >= 0])
    if len(left) == 1:
        return int(left[0])
    return int(SemiSupervisedClassifier(random_state=0).fit(X, y).predict(X[[row]])[0])


def measured(name: str, seed: int, n_rows: int) -> dict[str, float]:
    """Return the share of answers that change, for each way of deleting labels."""
    X, y, _, labeled = drawn(name, seed)
    model = SemiSupervisedClassifier(random_state=0).fit(X, y)
    rng = np.random.default_rng(seed)
    rows = rng.permutation(np.setdiff1d(np.arange(len(y)), labeled))[:n_rows]
    changes: dict[str, list[bool]] = {way: [] for way in WAYS}
    error = 0.0
    for row, why in zip(rows, explain(model, X[rows]), strict=True):
        error = max(error, abs(why.total - model.predict_proba(X[[row]]).max()))
        for way, gone in deleted(why, X[row], X, y, rng).items():
            left = y.copy()
            left[gone] = -1
            changes[way].append(answer_of(X, left, row) != why.answer)
    return {way: float(np.mean(each)) for way, each in changes.items()} | {"error": error}


def run(arguments: argparse.Namespace) -> list[Figure]:
    """Print the table."""
    draws, n_rows = (1, 2) if arguments.quick else (arguments.draws, arguments.rows)
    names = ["digit1"] if arguments.quick else arguments.sets.split(",")
    wanted = [(name, arguments.first + draw, n_rows) for name in names for draw in range(draws)]
    found: dict[str, list[dict[str, float]]] = {}
    for number, answer in forked((partial(measured, *each) for each in wanted), arguments.jobs):
        if answer["status"] != "ok":
            raise SystemExit(answer.get("traceback", answer["status"]))
        found.setdefault(wanted[number][0], []).append(answer)
    rows = [
        [name, *(f"{100 * np.mean([each[way] for each in own]):.1f}" for way in WAYS)]
        for name, own in found.items()
    ]
    means = [np.mean([[e[way] for e in own] for own in found.values()]) for way in WAYS]
    rows.append(["mean", *(f"{100 * mean:.1f}" for mean in means)])
    print(table(["answers that change, %", *WAYS], rows))
    print(f"largest error of the sums {max(e['error'] for own in found.values() for e in own):.1e}")
    return []


if __name__ == "__main__":
    script(
        run,
        draws={"type": int, "default": 2, "help": "draws of labels"},
        rows={"type": int, "default": 20, "help": "explained rows of each draw"},
        first={"type": int, "default": 0, "help": "the seed of the first draw"},
        sets={"default": ",".join(SETS), "help": "sets, separated by commas"},
        jobs={"type": int, "default": 1, "help": "processes; 1 by default"},
    )
