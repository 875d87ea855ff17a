"""The order of screening by several models, on the same searches.

    python benchmarks/screening_order.py [--sets ag_news_test,banking77] [--models linear,mixture]
        [--draws 1] [--classes 2] [--store]

Searches, batches and "WSS" are those of `screening.py`; each ends where 95 % of the relevant texts
are found, and no rule is looked at. The models, all on the vectors of `TextEmbedder`:

- "linear": logistic regression on the screened texts alone.
- "linear and graph": `SemiSupervisedClassifier` with this logistic regression as its only member
  of the labelled rows, beside the members on the graph of all texts.
- "mixture": `SemiSupervisedClassifier` with its defaults.

"CPU s" is the mean processor time of a fit with its scores of all texts.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from _common import Figure, script, store, table
from graphkm import SemiSupervisedClassifier
from screening import TARGET, Search, front, linear, searches


def linear_and_graph(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one = LogisticRegression(C=10.0, max_iter=300)
        model = SemiSupervisedClassifier(one, random_state=0).fit(X, y)
    return model.predict_proba(X)[:, 1]


MODELS = {"linear": linear, "linear and graph": linear_and_graph, "mixture": front}


def searched(search: Search) -> tuple[float, float, float]:
    """Return the work saved, the share of rows that was screened, and CPU seconds of a fit."""
    fits, start = 0, time.process_time()
    while search.recall(search.order) < TARGET:
        search.rank()
        fits += 1
    saved = search.saved()
    return saved, 1 - saved - (1 - TARGET), (time.process_time() - start) / fits


def summary(lines: list[dict[str, str]]) -> tuple[list[str], list[list[str]]]:
    """Return the heads and the lines of the page's table."""
    heads = ["texts", "model", "searches", "WSS at 95 %", "least", "screened", "CPU s"]
    keys = ("set", "model", "searches", "WSS", "least", "screened", "cpu_seconds")
    return heads, [[each[key] for key in keys] for each in lines]


def run(arguments: argparse.Namespace) -> list[Figure]:
    many = 1 if arguments.quick else arguments.classes
    figures = []
    for name in arguments.sets.split(","):
        every = searches(name, arguments.draws, many)
        for model in arguments.models.split(","):
            found = [searched(Search(X, r, seed, MODELS[model])) for X, r, seed in every]
            saved, screened, seconds = np.transpose(found)
            line: dict[str, Any] = {
                **{"set": name, "model": model, "searches": len(every)},
                **{"WSS": f"{100 * saved.mean():.1f}", "least": f"{100 * saved.min():.1f}"},
                **{"screened": f"{100 * screened.mean():.1f}"},
                "cpu_seconds": f"{seconds.mean():.2f}",
            }
            print(table(list(line), [[str(value) for value in line.values()]]), flush=True)
            if arguments.store:
                store("screening_order", [line], ("set", "model"))
            figures.append(Figure(f"{name}, {model}: WSS", 100 * saved.mean(), "%"))
    return figures


if __name__ == "__main__":
    script(
        run,
        sets={"default": "ag_news_test,banking77"},
        models={"default": ",".join(MODELS)},
        draws={"type": int, "default": 1},
        classes={"type": int, "default": None, "help": "the first so many classes"},
        store={"action": "store_true"},
    )
