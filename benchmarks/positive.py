"""Learning from positive and unlabelled rows: digits, and papers that cite each other.

    python benchmarks/positive.py                       # Cora, three draws, and digits, one draw
    python benchmarks/positive.py --set mnist --rows 10000 --positives 500 --draws 3
    python benchmarks/positive.py --quick
    python benchmarks/positive.py --set cora --first 100 # draws that no page reports

MNIST: even digits are positive, 1,000 of them are labelled, and the other training images are
unlabelled; accuracy in % is that of the 10,000 test images. Cora: each of the seven classes in turn
is positive, with 60 labels; accuracy is that of the unlabelled rows. All methods have the same
estimator, and see the same sample of unlabelled rows.

- given, estimated: `PositiveUnlabeledClassifier`, with the true share of positives and without it.
- naive: unlabelled rows are negative rows.
- Elkan-Noto: the two-step method of 2008. The mean held-out score of positives is c, and unlabelled
  rows are positive with weight (1 - c) / c * g / (1 - g), and negative with the rest of 1.
- knows negatives: as many negative rows are labelled as positive ones.
- share: the estimated share of positives among all rows, its interval, and the true share.
"""

from __future__ import annotations

import argparse
import gzip
import time
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_digits

from _common import Figure, data_file, script, table
from given_graphs import read
from graphkm import PositiveUnlabeledClassifier, SemiSupervisedClassifier
from graphkm.positive import DrawnAtRandomWarning

SAMPLE = 2000
WAYS = ("given", "estimated", "naive", "Elkan-Noto", "knows negatives")


class Draw(NamedTuple):
    """Rows, which of them are positive, the labelled ones, and rows to test on if there are any."""

    name: str
    X: Any
    truth: np.ndarray
    labeled: np.ndarray
    test: tuple[Any, np.ndarray] | None = None
    edges: Any = None


def _mnist(part: str) -> tuple[np.ndarray, np.ndarray]:
    def bytes_of(name: str, skipped: int) -> np.ndarray:
        with gzip.open(data_file(f"mnist/mnist-{part}-{name}-ubyte.gz")) as file:
            return np.frombuffer(file.read(), np.uint8)[skipped:]

    pixels = bytes_of("images-idx3", 16).reshape(-1, 784)
    return (pixels / 255.0).astype(np.float32), bytes_of("labels-idx1", 8) % 2 == 0


def draws(arguments: argparse.Namespace) -> Iterator[Draw]:
    first = arguments.first
    seeds = range(first, first + arguments.draws)
    if arguments.quick:
        X, y = load_digits(return_X_y=True)
        even = y % 2 == 0
        rows = np.random.default_rng(first).permutation(len(X))[:400]
        X, even = X[rows], even[rows]
        yield Draw("digits", X, even, np.flatnonzero(even)[:60])
        return
    if arguments.set in ("cora", "both"):
        graph = read("cora")
        for seed in seeds:
            for label in map(int, arguments.classes.split(",")):
                rng = np.random.default_rng(seed)
                truth = graph.y == label
                labeled = rng.choice(np.flatnonzero(truth), 60, replace=False)
                yield Draw(f"cora {label}", graph.X, truth, labeled, edges=graph.edges)
    if arguments.set in ("mnist", "both"):
        (X, even), test = _mnist("train"), _mnist("t10k")
        for seed in seeds if arguments.set == "mnist" else seeds[:1]:
            rng = np.random.default_rng(seed)
            rows = rng.permutation(len(X))[: arguments.rows]
            places = np.flatnonzero(even[rows])
            labeled = rng.choice(places, arguments.positives, replace=False)
            yield Draw("mnist", X[rows], even[rows], labeled, test)


def _accuracy(draw: Draw, model: Any, rest: np.ndarray) -> float:
    """Return the accuracy on test rows, or on rows that no method has a label of."""
    if draw.test is not None:
        return 100.0 * float(np.mean((model.predict(draw.test[0]) == 1) == draw.test[1]))
    if draw.edges is not None:
        said = model.label_distributions_.copy()
        if hasattr(model, "held_out_"):  # not what it was told of unlabelled rows
            said[model.labeled_] = model.held_out_
        found = said.argmax(axis=1)
    else:
        found = model.predict(draw.X)
    return 100.0 * float(np.mean((found[rest] == 1) == draw.truth[rest]))


def _door() -> SemiSupervisedClassifier:
    return SemiSupervisedClassifier(random_state=0)


def measure(draw: Draw, seed: int, ways: list[str]) -> dict[str, Any]:
    rng, n = np.random.default_rng(seed), len(draw.truth)
    edges = {} if draw.edges is None else {"affinity": draw.edges}
    y = np.full(n, -1)
    y[draw.labeled] = 1
    unlabeled = np.flatnonzero(y == -1)
    sample = rng.choice(unlabeled, min(SAMPLE, len(unlabeled)), replace=False)
    other = rng.choice(np.flatnonzero(~draw.truth), len(draw.labeled), replace=False)
    rest = np.setdiff1d(unlabeled, other)
    against = y.copy()
    against[sample] = 0
    found: dict[str, Any] = {"share": "", "true share": f"{draw.truth.mean():.3f}"}

    def pu(prior: float | None) -> Any:
        return PositiveUnlabeledClassifier(class_prior=prior, random_state=0).fit(
            draw.X, y, **edges
        )

    for way in ways:
        start = time.perf_counter()
        if way in ("given", "estimated"):
            model = pu(draw.truth.mean() if way == "given" else None)
            if way == "estimated":
                low, high = model.class_prior_interval_
                found["share"] = f"{model.class_prior_:.3f} ({low:.3f} to {high:.3f})"
        elif way == "knows negatives":
            known = y.copy()
            known[other] = 0
            model = _door().fit(draw.X, known, **edges)
        else:
            naive = found.pop("fitted", None)
            if naive is None:
                naive = _door().set_params(class_sizes=None).fit(draw.X, against, **edges)
            found["fitted"] = model = naive
            if way == "Elkan-Noto":
                model = _two_step(draw, against, naive, edges)
        found[way] = _accuracy(draw, model, rest)
        print(f"  {way}: {found[way]:.2f}, {time.perf_counter() - start:.0f} s", flush=True)
    found.pop("fitted", None)
    return found


def _two_step(draw: Draw, against: np.ndarray, first: Any, edges: dict[str, Any]) -> Any:
    """Return the second model of Elkan and Noto: unlabelled rows have shares of both classes."""
    g = np.clip(first.held_out_[:, 1], 1e-6, 1.0 - 1e-6)
    codes = against[first.labeled_]
    c = g[codes == 1].mean()
    positive = np.where(codes == 1, 1.0, np.minimum(1.0, (1.0 - c) / c * g / (1.0 - g)))
    shares = np.full((len(against), 2), np.nan)
    shares[first.labeled_] = np.column_stack([1.0 - positive, positive])
    model = _door().set_params(class_sizes=None, targets="shares")
    return model.fit(draw.X, shares, **edges)


def run(arguments: argparse.Namespace) -> list[Figure]:
    warnings.simplefilter("ignore", DrawnAtRandomWarning)
    ways = arguments.ways.split(",")
    lines, found = [], []
    for number, draw in enumerate(draws(arguments)):
        print(f"{draw.name}, {len(draw.truth)} rows, {len(draw.labeled)} positives", flush=True)
        found.append((draw.name, measure(draw, arguments.first + number, ways)))
        heads = ["set", *ways, "share", "true share"]
        cells = [found[-1][1][head] for head in heads[1:]]
        shown = [cell if isinstance(cell, str) else f"{cell:.1f}" for cell in cells]
        lines.append([found[-1][0], *shown])
    print("\n" + table(heads, lines))
    figures = []
    for name in dict.fromkeys(name.split()[0] for name, _ in found):
        own = [each for full, each in found if full.startswith(name)]
        means = {way: float(np.mean([each[way] for each in own])) for way in ways}
        figures += [Figure(f"{name}, {way}", mean, "%") for way, mean in means.items()]
        if {"estimated", "knows negatives"} <= means.keys():
            behind = means["knows negatives"] - means["estimated"]
            figures.append(Figure(f"{name}, points behind", behind, "", 3.0, at_least=False))
    return figures


if __name__ == "__main__":
    script(
        run,
        set={"choices": ("cora", "mnist", "both"), "default": "both"},
        rows={"type": int, "default": 60_000, "help": "training images of MNIST"},
        positives={"type": int, "default": 1000, "help": "labelled images of MNIST"},
        draws={"type": int, "default": 3},
        classes={"default": "0,1,2,3,4,5,6", "help": "classes of Cora, separated by commas"},
        ways={"default": ",".join(WAYS), "help": "methods, separated by commas"},
        first={"type": int, "default": 0, "help": "the seed of the first draw"},
    )
