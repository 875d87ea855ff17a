"""Screening texts for one class: work saved, and whether the rules stop too early.

    python benchmarks/screening.py [--sets ag_news_test,banking77] [--draws 3] [--store]
    python benchmarks/screening.py --sets ag_news_test --model front --draws 1 --classes 2 [--store]

A search is one class of a set of texts. Of ag_news_test 100 texts of the class and 1,900 others are
drawn; banking77 has all of its rows, about 1.3 % of each class, and one search for each. One
relevant text and nine others are known. Batches of 2 % of the rows follow, likely relevant ones
first. The model is logistic regression on the vectors of `TextEmbedder` ("linear"), or the front
door ("front"). "WSS" is the work saved over sampling at 95 % recall: the share of rows that need
not be screened, less 5 %.

Rules, looked at after every batch, with alpha = 5 % and the target 95 %:

- "ranked": the least p-value over last parts of the order (Callaghan and Mueller-Hansen).
- "one look": when the model expects that the target is reached, rows are drawn at random, and the
  hypergeometric test is looked at after every batch. It is made for one look.
- "bound": the same, with `graphkm.active.recall_so_far`, which may be looked at at any time.

"early" is the share of searches that stop before 95 % recall, "screened" the mean share of rows
screened at the stop, "recall" the mean recall there. "expected" is the model's own estimate,
found / (found + the sum of its probabilities at the other rows), when half of all rows are
screened: its mean absolute error.
"""

from __future__ import annotations

import argparse
import csv
import io
import lzma
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from _common import Figure, data_file, script, store, table
from graphkm import SemiSupervisedClassifier
from graphkm.active import ranked_p_value, recall_so_far
from graphkm.embed import TextEmbedder

TARGET, ALPHA, START, SHARE = 0.95, 0.05, 10, 0.02
SIZES = (100, 1900)
RULES = ("ranked", "one look", "bound")


def read(name: str) -> tuple[np.ndarray, np.ndarray]:
    with lzma.open(data_file(f"texts/{name}.csv.xz")) as file:
        rows = list(csv.DictReader(io.TextIOWrapper(file, encoding="utf-8")))
    vectors = TextEmbedder().fit_transform([row["text"] for row in rows])
    return np.asarray(vectors), np.array([row["label"] for row in rows])


def linear(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the probability of being relevant at every row; y has -1 where it is not known."""
    model = LogisticRegression(C=10.0, max_iter=300).fit(X[y >= 0], y[y >= 0])
    return model.predict_proba(X)[:, 1]


def front(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SemiSupervisedClassifier(random_state=0).fit(X, y)
    return model.predict_proba(X)[:, 1]


class Search:
    """One search, until all rows are screened or every rule has stopped."""

    def __init__(self, X: np.ndarray, relevant: np.ndarray, seed: int, model: Callable[..., Any]):
        self.X, self.relevant, self.model = X, relevant, model
        self.rng, n = np.random.default_rng(seed), len(relevant)
        first = self.rng.choice(np.flatnonzero(relevant), 1)
        others = self.rng.choice(np.flatnonzero(~relevant), START - 1, replace=False)
        self.order = np.concatenate([first, others])
        self.batch = max(1, round(SHARE * n))
        self.chances = np.zeros(n)
        self.stops: dict[str, np.ndarray] = {}

    @property
    def left(self) -> np.ndarray:
        """The rows that are not screened."""
        return np.setdiff1d(np.arange(len(self.relevant)), self.order)

    def recall(self, order: np.ndarray) -> float:
        """Return the share of relevant rows among some."""
        return float(self.relevant[order].sum() / self.relevant.sum())

    def rank(self) -> None:
        """Fit the model, and screen the next batch."""
        y = np.full(len(self.relevant), -1)
        y[self.order] = self.relevant[self.order]
        self.chances = self.model(self.X, y)
        left = self.left
        best = left[np.argsort(-self.chances[left], kind="stable")[: self.batch]]
        self.order = np.append(self.order, best)

    def draw(self) -> None:
        """Draw rows at random from here on, until both tests of random draws have stopped."""
        drawn = self.rng.permutation(self.left)
        n = len(self.relevant)
        for size in range(self.batch, len(drawn) + self.batch, self.batch):
            order = np.append(self.order, drawn[:size])
            many = len(order) - len(self.order)
            found = recall_so_far(self.relevant[order], n, drawn=many, target=TARGET, alpha=ALPHA)
            if found.p_value < ALPHA:
                self.stops.setdefault("one look", order)
            if found.enough:
                self.stops.setdefault("bound", order)
                break
        self.stops.setdefault("one look", order)

    def expected(self) -> float:
        """Return the recall by the model's own probabilities."""
        found, left = self.relevant[self.order].sum(), self.left
        return float(found / (found + self.chances[left].sum()))

    def saved(self) -> float:
        """Return the work that the order has saved; the target must be reached."""
        n, found = len(self.relevant), np.cumsum(self.relevant[self.order])
        reached = int(np.argmax(found >= TARGET * self.relevant.sum())) + 1
        return 1 - reached / n - (1 - TARGET)

    def run(self) -> dict[str, Any]:
        """Search, and return what the rules did."""
        n, told = len(self.relevant), 0.0
        wss = None
        while len(self.stops) < len(RULES) or wss is None:
            self.rank()
            if wss is None and self.recall(self.order) >= TARGET:
                wss = self.saved()
            if len(self.order) <= n // 2:
                told = self.expected() - self.recall(self.order)
            said = self.relevant[self.order]
            if "ranked" not in self.stops and ranked_p_value(said, n, TARGET) < ALPHA:
                self.stops["ranked"] = self.order
            if "bound" not in self.stops and self.expected() >= TARGET:
                self.draw()
        result: dict[str, Any] = {"wss": wss, "expected": told}
        for rule in RULES:
            order = self.stops[rule]
            result[f"{rule} recall"] = self.recall(order)
            result[f"{rule} screened"] = len(order) / n
        return result


def searches(name: str, draws: int, many: int | None) -> list[tuple[np.ndarray, np.ndarray, int]]:
    """Return rows, which of them are relevant, and a seed."""
    X, y = read(name)
    classes = np.unique(y)[:many]
    if name == "banking77":
        return [(X, y == c, seed) for seed, c in enumerate(classes)]
    found = []
    for c in classes:
        for seed in range(draws):
            rng = np.random.default_rng(seed)
            parts = [np.flatnonzero(y == c), np.flatnonzero(y != c)]
            rows = [rng.choice(p, m, replace=False) for p, m in zip(parts, SIZES, strict=True)]
            some = rng.permutation(np.concatenate(rows))
            found.append((X[some], y[some] == c, seed))
    return found


def per_rule(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a line for each rule."""
    lines = []
    for rule in RULES:
        recall = np.array([each[f"{rule} recall"] for each in results])
        lines.append(
            {
                "rule": rule,
                "searches": len(results),
                "early": f"{100 * (recall < TARGET).mean():.1f}",
                "recall": f"{100 * recall.mean():.1f}",
                "screened": f"{100 * np.mean([r[f'{rule} screened'] for r in results]):.1f}",
                "WSS": f"{100 * np.mean([r['wss'] for r in results]):.1f}",
                "expected": f"{100 * np.mean([abs(r['expected']) for r in results]):.1f}",
            }
        )
    return lines


def summary(results: list[dict[str, str]]) -> tuple[list[str], list[list[str]]]:
    """Return the heads and the lines of the page's table."""
    heads = ["texts", "model", "WSS at 95 %", "rule", "searches"]
    heads += ["stops early", "recall", "screened"]
    keys = ("set", "model", "WSS", "rule", "searches", "early", "recall", "screened")
    return heads, [[each[key] for key in keys] for each in results]


def run(arguments: argparse.Namespace) -> list[Figure]:
    draws = 1 if arguments.quick else arguments.draws
    many = 2 if arguments.quick else arguments.classes
    model = {"linear": linear, "front": front}[arguments.model]
    figures = []
    for name in arguments.sets.split(","):
        results = [
            Search(X, relevant, seed, model).run()
            for X, relevant, seed in searches(name, draws, many)
        ]
        lines = [{"set": name, "model": arguments.model, **line} for line in per_rule(results)]
        print(table(list(lines[0]), [list(line.values()) for line in lines]), flush=True)
        if arguments.store:
            store("screening", lines, ("set", "model", "rule"))
        early = float(lines[-1]["early"])
        figures.append(Figure(f"{name}, {arguments.model}: bound, early", early, "%", 5.0, False))
    return figures


if __name__ == "__main__":
    script(
        run,
        sets={"default": "ag_news_test,banking77"},
        draws={"type": int, "default": 3},
        model={"default": "linear", "choices": ("linear", "front")},
        classes={"type": int, "default": None, "help": "the first so many classes"},
        store={"action": "store_true"},
    )
