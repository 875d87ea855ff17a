"""How often sets of classes hold the truth, and how large they are, beside naive sets.

    python benchmarks/sets.py [--quick] [--draws 200] [--jobs 16] [--sets usps,g50c] [--out DIR]
    python benchmarks/sets.py --draws 200 --report --store && make tables          # the page

Up to 1,200 rows of a set are drawn, and some of them have a label, at random. "hidden" are the
other rows of the fit, and "new" are up to 1,000 rows that the fit has not seen. Every draw adds one
line to DIR/sets.jsonl at once, and what is there is not run again. Draws from 1,000 on are for
choices (`--first 1000`).

=============  =====================================================================
ours           `prediction_sets`: all classes with a probability that is large enough
by class       the same with `by_class=True`
naive          the likeliest classes, until their probabilities add up to the coverage
adaptive       the same, but labels choose the sum (Romano, Sesia and Candes, 2020)
regularised    the same, and every class beyond the first costs 0.1 (Angelopoulos et al., 2021)
=============  =====================================================================

The last two are random where the sum is met, as their authors have them. They are not part of the
library, and stand here for the choice of the score.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np

from _common import Figure, script, store, table
from _draws import OPTIONS, loaded, measure, order_of
from graphkm import SemiSupervisedClassifier
from graphkm.inspection import prediction_sets
from graphkm.inspection.conformal import reach
from graphkm.semi.held import held_of

CELLS = {"g50c": 50, "digit1": 50, "usps": 100, "coil20": 120, "svmguide1": 200, "covtype-7": 500}
COVERAGE = 0.9
SLACK = 1.5  # per cent
ROWS, NEW = 1200, 1000
METHODS = ("ours", "by class", "naive", "adaptive", "regularised")
WHERE = ("hidden", "new")
MEASURES = ("coverage", "size", "empty", "worst class")
KEYS = ("set", "labels", "rows", "method")


def drawn(name: str, draw: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the rows of a fit, those of them that are labelled, and new rows."""
    order = order_of(name, draw)
    rows = min(ROWS, 3 * len(order) // 4)
    return order[:rows], order[: CELLS[name]], order[rows : rows + NEW]


def naive(P: np.ndarray) -> np.ndarray:
    """Return the likeliest classes that have the coverage by their probabilities."""
    order = np.argsort(-P, axis=1, kind="stable")
    parts = np.take_along_axis(P, order, axis=1)
    inside = np.zeros(P.shape, bool)
    np.put_along_axis(inside, order, parts.cumsum(axis=1) - parts < COVERAGE, axis=1)
    return inside


def sums(P: np.ndarray, u: np.ndarray, price: float) -> np.ndarray:
    """Return the adaptive score of every class."""
    order = np.argsort(-P, axis=1, kind="stable")
    parts = np.take_along_axis(P, order, axis=1)
    found = np.empty_like(P)
    values = parts.cumsum(axis=1) - u[:, None] * parts + price * np.arange(P.shape[1])
    np.put_along_axis(found, order, values, axis=1)
    return found


def adaptive(held: Any, P: np.ndarray, price: float, rng: np.random.Generator) -> np.ndarray:
    codes = held.told.argmax(axis=1)
    own = sums(held.said, rng.random(len(codes)), price)[np.arange(len(codes)), codes]
    limit = reach(own, np.ones(len(own)), COVERAGE)
    return sums(P, rng.random(len(P)), price) <= limit


def measured(inside: np.ndarray, classes: np.ndarray, y: np.ndarray) -> list[float]:
    """Return coverage, mean size, share of empty sets, and coverage of the class covered least.

    A class without a label is in no set. Classes of fewer than 20 rows are left out of the last.
    """
    codes = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    hits = inside[np.arange(len(y)), codes] & (classes[codes] == y)
    sizes = inside.sum(axis=1)
    own = [hits[y == c].mean() for c in np.unique(y) if np.sum(y == c) >= 20]
    return [float(each) for each in (hits.mean(), sizes.mean(), np.mean(sizes == 0), min(own))]


def answered(name: str, draw: int) -> dict[str, Any]:
    """Return what is measured of one fit."""
    warnings.simplefilter("ignore")
    X, y = loaded(name)
    rows, labelled, new = drawn(name, draw)
    partly = np.where(np.isin(rows, labelled), y[rows], -1)
    model = SemiSupervisedClassifier(random_state=draw, n_jobs=1).fit(X[rows], partly)
    held, classes, rng = held_of(model), model.classes_, np.random.default_rng(draw)
    hidden, found = rows[partly < 0], {}
    for where, own in zip(WHERE, (hidden, new), strict=True):
        P = model.predict_proba(X[own])
        sets = {
            "ours": prediction_sets(model, X[own], COVERAGE).members,
            "by class": prediction_sets(model, X[own], COVERAGE, by_class=True).members,
            "naive": naive(P),
            "adaptive": adaptive(held, P, 0.0, rng),
            "regularised": adaptive(held, P, 0.1, rng),
        }
        for method, inside in sets.items():
            found[f"{where}, {method}"] = measured(inside, classes, y[own])
    return {"found": found, "accuracy": model.score(X[hidden], y[hidden])}


def run(arguments: argparse.Namespace) -> list[Figure]:
    return report(measure("sets", answered, list(CELLS), arguments), arguments.store)


def report(kept: dict[str, list[dict[str, Any]]], keep: bool) -> list[Figure]:
    """Print the means over draws, and return how far the coverage of ours is off."""
    cells, figures = [], []
    for name, own in kept.items():
        for where in WHERE if own else ():
            for method in METHODS:
                values = np.array([each["found"][f"{where}, {method}"] for each in own])
                numbers = dict(zip(MEASURES, values.mean(axis=0), strict=True))
                error = values[:, 0].std() / np.sqrt(len(own))
                cells.append(
                    dict(zip(KEYS, (name, CELLS[name], where, method), strict=True))
                    | {"draws": len(own)}
                    | {key: f"{100 * value:.2f}" for key, value in numbers.items()}
                    | {"size": f"{numbers['size']:.3f}", "error": f"{100 * error:.2f}"}
                )
            label = f"{name}, {CELLS[name]} labels, {where} rows: distance of coverage from 90 %"
            mean = np.mean([each["found"][f"{where}, ours"][0] for each in own])
            target = SLACK if where == "hidden" else None
            figures.append(Figure(label, 100 * abs(float(mean) - COVERAGE), "%", target, False))
    if cells:
        print(table(list(cells[0]), [list(each.values()) for each in cells]))
    if keep:
        store("sets", cells, KEYS)
    return figures


def summary(rows: list[dict[str, str]]) -> tuple[list[str], list[list[str]]]:
    """Return the heads and lines of the page's table."""
    found = {tuple(row[key] for key in KEYS): row for row in rows}
    lines = []
    for name, labels in dict.fromkeys(key[:2] for key in found):
        cell = {
            (where, method): found[name, labels, where, method]
            for where in WHERE
            for method in ("ours", "naive")
        }
        ours, naive = cell["hidden", "ours"], cell["hidden", "naive"]
        coverage = f"{ours['coverage']} +- {ours['error']}"
        figures = [coverage, ours["size"], naive["coverage"], naive["size"]]
        new = cell["new", "ours"]["coverage"]
        lines.append([name, labels, ours["draws"], *figures, new])
    heads = ["set", "labels", "draws", "coverage %", "size", "naive coverage %", "naive size"]
    return [*heads, "coverage of new rows %"], lines


if __name__ == "__main__":
    script(run, draws={"type": int, "default": 200}, **OPTIONS)
