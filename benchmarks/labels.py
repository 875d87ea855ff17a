"""Several labels per row: the front door beside one-vs-rest models and a chain of classifiers.

    python benchmarks/labels.py [--draws 10] [--first 0] [--jobs 2] [--store]

Emotions, scene and medical (Mulan) have 6, 6 and 45 labels. A tenth or three tenths of the rows are
labelled, and in half of the cells every second label of these rows is hidden. Columns of emotions
and scene are brought to one scale; those of medical are words, and count as they are. The other
rows are scored: macro F1 over the labels that occur among them, and ranking loss.

Rivals see the known labels alone, label by label: logistic regression, a forest and an SVC. A chain
cannot leave labels out: where some are hidden, it gets those that logistic regression predicts.
"f1" is the front door with thresholds="f1", and "half" the same with thresholds of one half.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from _common import Figure, data_file, script, store, table
from _processes import forked
from graphkm import SemiSupervisedClassifier

SETS = ("emotions", "scene", "medical")
SHARES = (0.1, 0.3)
RIVALS = ("logistic", "forest", "SVC", "chain")
OURS = ("f1", "half")


def read(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and labels."""
    from sklearn.preprocessing import StandardScaler

    with np.load(data_file(f"multilabel/{name}.npz"), allow_pickle=True) as data:
        X, Y = data["X"].astype(float), data["Y"].astype(float)
    return (X if name == "medical" else StandardScaler().fit_transform(X)), Y


def drawn(Y: np.ndarray, share: float, hidden: bool, seed: int) -> np.ndarray:
    """Return labels of some rows, with NaN elsewhere."""
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(Y))[: round(share * len(Y))]
    y = np.full(Y.shape, np.nan)
    y[rows] = Y[rows]
    if hidden:
        y[rng.random(Y.shape) < 0.5] = np.nan
    return y


def models() -> dict[str, Callable[[], Any]]:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import SVC

    return {
        "logistic": lambda: LogisticRegression(max_iter=1000),
        "forest": lambda: RandomForestClassifier(100, random_state=0),
        "SVC": lambda: SVC(probability=True, random_state=0),
    }


def one_vs_rest(make: Callable[[], Any], X: Any, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return probabilities and answers of a model for each label."""
    shares, answers = np.zeros(y.shape), np.zeros(y.shape)
    for place, column in enumerate(y.T):
        told = np.flatnonzero(~np.isnan(column))
        if not len(told) or column[told].min() == column[told].max():
            shares[:, place] = answers[:, place] = column[told].mean() if len(told) else 0.0
            continue
        model = make().fit(X[told], column[told])
        shares[:, place], answers[:, place] = model.predict_proba(X)[:, 1], model.predict(X)
    return shares, answers


def chain(X: Any, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return probabilities and answers of a chain of logistic regressions."""
    from sklearn.multioutput import ClassifierChain

    make = models()["logistic"]
    rows = np.flatnonzero(~np.isnan(y).all(axis=1))
    full = np.where(np.isnan(y), one_vs_rest(make, X, y)[1], y)[rows]
    used = np.flatnonzero(full.min(axis=0) != full.max(axis=0))
    shares = np.tile(full.mean(axis=0), (len(y), 1))
    answers = np.round(shares)
    found = ClassifierChain(make(), order="random", random_state=0).fit(X[rows], full[:, used])
    shares[:, used], answers[:, used] = found.predict_proba(X), found.predict(X)
    return shares, answers


def measured(name: str, share: float, hidden: bool, seed: int, way: str) -> dict[str, float]:
    """Return macro F1, ranking loss and CPU seconds of one fit."""
    from sklearn.metrics import f1_score, label_ranking_loss

    warnings.simplefilter("ignore")
    X, Y = read(name)
    y = drawn(Y, share, hidden, seed)
    start = time.process_time()
    if way == "ours":
        model = SemiSupervisedClassifier(thresholds="f1", random_state=0, n_jobs=1).fit(X, y)
        shares = model.predict_proba(X)
        every = {"f1": shares > model.thresholds_, "half": shares > 0.5}
    else:
        shares, answers = chain(X, y) if way == "chain" else one_vs_rest(models()[way], X, y)
        every = {way: answers}
    spent = time.process_time() - start
    rest = np.isnan(y).all(axis=1)
    used = Y[rest].any(axis=0)
    about = {"average": "macro", "zero_division": 0}
    return {
        **{
            key: float(f1_score(Y[rest][:, used], found[rest][:, used].astype(int), **about))
            for key, found in every.items()
        },
        "ranking": float(label_ranking_loss(Y[rest], shares[rest])),
        "cpu": spent,
    }


def run(arguments: argparse.Namespace) -> list[Figure]:
    draws = range(arguments.first, arguments.first + (1 if arguments.quick else arguments.draws))
    sets = SETS[:1] if arguments.quick else arguments.sets
    cells = [(name, share, hidden) for name in sets for share in SHARES for hidden in (False, True)]
    ways = ("ours", *RIVALS)
    wanted = [(*cell, seed, way) for cell in reversed(cells) for seed in draws for way in ways]
    lines = []
    for number, answer in forked((partial(measured, *each) for each in wanted), arguments.jobs):
        if answer["status"] != "ok":
            raise SystemExit(answer.get("traceback", answer["status"]))
        name, share, hidden, seed, way = wanted[number]
        place = {"set": name, "share": f"{share:g}", "hidden": str(int(hidden)), "seed": str(seed)}
        for key in OURS if way == "ours" else (way,):
            figures = {"f1": answer[key], "ranking": answer["ranking"]}
            shown = {each: f"{value:.4f}" for each, value in figures.items()}
            lines.append(place | {"way": key} | shown | {"cpu": f"{answer['cpu']:.1f}"})
    lines.sort(
        key=lambda line: tuple(line[key] for key in ("set", "share", "hidden", "way", "seed"))
    )
    if arguments.store:
        store("labels", lines, ("set", "share", "hidden", "seed", "way"))
    for figure in ("f1", "ranking"):
        heads, rows = summary(lines, figure)
        print(table(heads, rows))
        print(f"at least {least_lead(rows, figure == 'ranking'):+.3f} ahead of the best rival\n")
    return []


def summary(lines: list[dict[str, str]], figure: str) -> tuple[list[str], list[list[str]]]:
    """Return a table with a line for each cell, and their mean."""
    ways = (*OURS, *RIVALS) if figure == "f1" else ("f1", *RIVALS)
    found: dict[str, dict[str, list[float]]] = {}
    for line in lines:
        cell = f"{line['set']}, {float(line['share']):.0%}" + ", half hidden" * int(line["hidden"])
        found.setdefault(cell, {}).setdefault(line["way"], []).append(float(line[figure]))
    means = {cell: [np.mean(own[way]) for way in ways] for cell, own in found.items()}
    means["mean"] = np.mean(list(means.values()), axis=0)
    rows = [[cell, *(f"{value:.3f}" for value in own)] for cell, own in means.items()]
    heads = {"f1": "ours, thresholds by F1" if figure == "f1" else "ours", "half": "ours, one half"}
    title = "macro F1" if figure == "f1" else "ranking loss"
    return [title, *(heads.get(way, way) for way in ways)], rows


def least_lead(rows: list[list[str]], smaller: bool) -> float:
    """Return how far the front door is ahead of the best rival in its worst cell."""
    own = np.array([line[1:] for line in rows[:-1]], dtype=float)
    best = own[:, -len(RIVALS) :]
    return float((best.min(axis=1) - own[:, 0] if smaller else own[:, 0] - best.max(axis=1)).min())


if __name__ == "__main__":
    script(
        run,
        draws={"type": int, "default": 10, "help": "draws of labels"},
        first={"type": int, "default": 0, "help": "the seed of the first draw"},
        sets={"nargs": "+", "default": SETS, "choices": SETS, "help": "some of the sets"},
        jobs={"type": int, "default": 1, "help": "fits at once; 1 by default"},
        store={"action": "store_true", "help": "keep the results"},
    )
