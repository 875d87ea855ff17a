"""Answers of five simulated people: what soft labels are worth, and who is found reliable.

    python benchmarks/annotators.py [--draws 3] [--jobs 2] [--members auto]    # half an hour
    python benchmarks/annotators.py --quick                         # one set, one draw

Five annotators are right with probability 0.6, 0.6875, 0.775, 0.8625 and 0.95, and err in all ways
alike. Some rows of a set get 1.5 answers each on average, and the other rows have none. All ways
fit the same `SemiSupervisedClassifier`. Accuracy and log loss are those of the rows without
answers.

==============  ====================================================================================
vote            the most frequent answer is the label; ties are drawn
hard            the likeliest class of `DawidSkene` is the label
soft            the shares of `DawidSkene` are the labels
hard, model     the likeliest class of `AnnotatedClassifier` is the label
annotated       `AnnotatedClassifier`: shares that also follow from the model
truth           the true classes of the same rows
==============  ====================================================================================

Reliabilities are compared with the probabilities above ("truth"), and with the share of answers
that were in fact right ("own"): with few answers the two differ, whatever the method. By default
the front door has the members on the graph alone, which takes a fifth of the time.
"""

from __future__ import annotations

import argparse
import warnings
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from _common import Figure, script, table
from _processes import forked
from graphkm import SemiSupervisedClassifier
from graphkm.annotators import AnnotatedClassifier, DawidSkene
from leaderboard.row_sets import SETS

RIGHT = np.linspace(0.6, 0.95, 5)
ANSWERS = 1.5
CELLS = {"g50c": 150, "digits": 200, "uspst": 200, "coil20": 200}
LARGE = {"digits": 1000, "uspst": 1000}
WAYS = ("vote", "hard", "soft", "hard, model", "annotated", "truth")


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows and classes of a set."""
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        return X / 16, y
    cell = SETS[name]()[0]
    return np.asarray(cell.X), np.unique(cell.y, return_inverse=True)[1]


def asked(
    y: np.ndarray, n: int, rng: np.random.Generator
) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """Return n rows, and the answers to them: row, annotator, answer."""
    rows = np.sort(rng.choice(len(y), n, replace=False))
    times = int(ANSWERS) + (rng.random(n) < ANSWERS % 1)
    who = np.concatenate([rng.permutation(len(RIGHT))[:each] for each in times])
    where = np.repeat(rows, times)
    wrong = rng.random(len(where)) > RIGHT[who]
    k = y.max() + 1
    return rows, (where, who, (y[where] + wrong * rng.integers(1, k, len(where))) % k)


def voted(rows: np.ndarray, answers: tuple[np.ndarray, ...], rng: np.random.Generator) -> Any:
    """Return the most frequent answer to each row; ties are drawn."""
    votes = np.zeros((len(rows), answers[2].max() + 1))
    np.add.at(votes, (np.searchsorted(rows, answers[0]), answers[2]), 1.0)
    return (votes + rng.random(votes.shape) / 2).argmax(axis=1)


def errors(table_: Any, answers: tuple[np.ndarray, ...], y: np.ndarray) -> dict[str, list[float]]:
    """Return how far reliabilities are from the truth, and from the share of right answers."""
    said = {line.name: line.reliability for line in table_}
    found = np.array([said[j] for j in range(len(RIGHT))])
    where, who, what = answers
    own = np.array([np.mean(what[who == j] == y[where[who == j]]) for j in range(len(RIGHT))])
    return {"truth": np.abs(found - RIGHT).tolist(), "own": np.abs(found - own).tolist()}


def scored(model: Any, X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Return accuracy in percent and log loss; a class without a label has no column."""
    said = np.full((len(y), y.max() + 1), 1e-6)
    said[:, model.classes_] = np.maximum(model.predict_proba(X), 1e-6)
    true = said[np.arange(len(y)), y]
    return 100 * float(np.mean(said.argmax(axis=1) == y)), float(-np.log(true).mean())


def draw(name: str, n: int, seed: int, members: Any, ways: tuple[str, ...]) -> dict[str, Any]:
    """Return the scores of every way on one draw, and the errors of reliabilities."""
    warnings.simplefilter("ignore")
    X, y = load(name)
    rng = np.random.default_rng([seed, n])
    rows, answers = asked(y, n, rng)
    front = SemiSupervisedClassifier(members, random_state=0)
    alone = DawidSkene().fit(answers)
    both = AnnotatedClassifier(front).fit(X, answers)
    hard = {
        "vote": voted(rows, answers, rng),
        "hard": alone.predict(),
        "hard, model": both.classes_[both.shares_.argmax(axis=1)],
        "truth": y[rows],
    }
    new, found = np.setdiff1d(np.arange(len(y)), rows), {}
    for way in ways:
        if way == "annotated":
            model = both.estimator_
        elif way == "soft":
            model = AnnotatedClassifier(front, max_rounds=1).fit(X, answers).estimator_
        else:
            labels = np.full(len(y), -1)
            labels[rows] = hard[way]
            model = SemiSupervisedClassifier(members, random_state=0).fit(X, labels)
        found[way] = scored(model, X[new], y[new])
    of = {"alone": errors(alone.reliability_, answers, y)}
    of["annotated"] = errors(both.reliability_, answers, y)
    inside = [
        abs(line.reliability - RIGHT[line.name]) < 2 * line.error for line in both.reliability_
    ]
    return {"scores": found, "errors": of, "inside": float(np.mean(inside))}


def lines_of(found: dict[str, list[dict[str, Any]]], ways: tuple[str, ...]) -> list[list[str]]:
    """Return accuracy and log loss of every set and way."""
    lines = []
    for cell, draws in found.items():
        means = {way: np.mean([each["scores"][way] for each in draws], axis=0) for way in ways}
        lines.append([cell, *(f"{means[way][0]:.1f} / {means[way][1]:.2f}" for way in ways)])
    return lines


def error_lines(found: dict[str, list[dict[str, Any]]]) -> list[list[str]]:
    """Return mean and largest errors of reliabilities; the largest is a mean over draws."""
    lines = []
    for cell, draws in found.items():
        line = [cell]
        for way in ("alone", "annotated"):
            for against in ("truth", "own"):
                each = np.array([one["errors"][way][against] for one in draws])
                line.append(f"{each.mean():.3f} / {each.max(axis=1).mean():.3f}")
        lines.append([*line, f"{100 * np.mean([one['inside'] for one in draws]):.0f} %"])
    return lines


def run(arguments: argparse.Namespace) -> list[Figure]:
    members = None if arguments.members == "graph" else "auto"
    small = {"g50c": 150} if arguments.quick else CELLS
    large = {} if arguments.quick else LARGE
    seeds = range(1 if arguments.quick else arguments.draws)
    wanted = [
        *((name, n, seed, members, WAYS) for name, n in small.items() for seed in seeds),
        *((name, n, seed, members, ("annotated",)) for name, n in large.items() for seed in seeds),
    ]
    found: dict[str, list[dict[str, Any]]] = {f"{name}, {n} rows": [] for name, n in small.items()}
    more: dict[str, list[dict[str, Any]]] = {f"{name}, {n} rows": [] for name, n in large.items()}
    for number, answer in forked((partial(draw, *each) for each in wanted), arguments.jobs):
        if answer["status"] != "ok":
            raise SystemExit(answer.get("traceback", answer["status"]))
        name, n, *_, ways = wanted[number]
        (found if ways == WAYS else more)[f"{name}, {n} rows"].append(answer)
    every = [each["scores"] for draws in found.values() for each in draws]
    means = {way: np.mean([each[way] for each in every], axis=0) for way in WAYS}
    mean = ["mean", *(f"{means[way][0]:.1f} / {means[way][1]:.2f}" for way in WAYS)]
    print("\naccuracy in % / log loss\n" + table(["set", *WAYS], [*lines_of(found, WAYS), mean]))
    heads = ["alone, truth", "alone, own", "annotated, truth", "annotated, own", "within 2 errors"]
    rows = [*error_lines(found), *error_lines(more)]
    print("\nerrors of reliabilities, mean / largest of five\n" + table(["set", *heads], rows))
    figures = [
        Figure(
            f"accuracy, annotated minus {way}", means["annotated"][0] - means[way][0], "points", 0.0
        )
        for way in WAYS[:4]
    ]
    for name, draws in {**found, **more}.items():
        for against in ("truth", "own"):
            worst = np.mean([max(each["errors"]["annotated"][against]) for each in draws])
            label = f"largest error of reliabilities ({against}), {name}"
            figures.append(Figure(label, float(worst), "", 0.05, at_least=False))
    return figures


if __name__ == "__main__":
    script(
        run,
        draws={"type": int, "default": 3, "help": "draws of every set"},
        jobs={"type": int, "default": 1, "help": "draws at once; 1 by default"},
        members={"choices": ["graph", "auto"], "default": "graph", "help": "of the front door"},
    )
