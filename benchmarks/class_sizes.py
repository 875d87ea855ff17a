"""What a fit gains if it knows the sizes of the classes, and what it loses if they are wrong.

    python benchmarks/class_sizes.py --jobs 2     # 26 cells, three draws of each: about ten minutes
    python benchmarks/class_sizes.py --drawn      # sizes that are estimated, instead of given
    python benchmarks/class_sizes.py --quick      # four cells
    python benchmarks/class_sizes.py --sets usps text
    python benchmarks/class_sizes.py --mnist      # all of MNIST, seeds 0 to 4: some hours
    python benchmarks/class_sizes.py --cuts --seeds 100 105     # cuts with other prices and steps

The cells and draws are those of `judge.py`: no page reports these draws. "wrong" gives half of the
classes a fifth too much, and the others a fifth too little. `exact` moves the probabilities until
their mean for each class is its size. `within 10 %` and `within 20 %` stop when it is that near.
`counts` moves them until the number of rows predicted to be of each class is its size. `given` is a
fit that knows the sizes: a cut is one of its members, and probabilities are moved within 10 %.

With `--mnist` 1, 2 and 5 rows of each class are labelled, and accuracy is that of all other rows.

With `--drawn`, nobody knows the sizes. Labels are drawn twice: at random, and as many of each class
("by class"). "none" leaves the probabilities as they are. A number estimates the sizes, with so
many rows of every class for the labels' own shares: 5 is what `class_sizes="auto"` takes.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np

import graphkm.judge.sizes as sizes_of
from _common import table
from graphkm import SemiSupervisedClassifier
from judge import QUICK, draws
from leaderboard.cells import drawn, equal
from mnist_sizes import accuracies, cuts
from ratchet.cells import _DEVELOPMENT, _few_labels


def counted(shares: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return probabilities, moved until argmax gives the classes their sizes."""
    logs, b, best, least = np.log(shares + 1e-12), np.zeros(len(sizes)), None, np.inf
    for step in range(600):
        found = np.bincount((logs + b).argmax(axis=1), minlength=len(sizes)) / len(shares)
        if np.abs(found - sizes).max() < least:
            least, best = np.abs(found - sizes).max(), b.copy()
        b += 0.3 * (sizes - found) / sizes / (1 + step / 50)
    return logs + best


def moved(shares: np.ndarray, sizes: np.ndarray, slack: float) -> np.ndarray:
    """Return probabilities, moved until the mean of each class is its size, with some slack."""
    sizes_of.SLACK = slack
    return sizes_of.tilted(shares, sizes_of.tilt_to_sizes(shares, sizes))


BEFORE = (1.0, 5.0, 25.0)

WAYS = {
    "exact": lambda shares, sizes: moved(shares, sizes, 0.0),
    "within 10 %": lambda shares, sizes: moved(shares, sizes, 0.1),
    "within 20 %": lambda shares, sizes: moved(shares, sizes, 0.2),
    "counts": counted,
}


def mistaken(sizes: np.ndarray, seed: int) -> np.ndarray:
    """Return sizes of which half are a fifth too large, and the others a fifth too small."""
    turn = np.random.default_rng(seed).permutation(len(sizes)) % 2
    wrong = sizes * np.where(turn, 1.2, 1 / 1.2)
    return wrong / wrong.sum()


def measure(cell: tuple[str, int]) -> tuple[str, dict[str, float]]:
    """Return the accuracies of one cell, in percent, mean of its draws."""
    found = defaultdict(list)
    for seed, draw in draws(*cell):
        model = SemiSupervisedClassifier(class_sizes=None, random_state=0, n_jobs=1)
        model.fit(draw.X, draw.y)
        shares = model.predict_proba(draw.X_test)
        codes = np.searchsorted(model.classes_, draw.truth)
        sizes = np.bincount(codes, minlength=shares.shape[1]) + 0.5
        sizes /= sizes.sum()
        wrong = mistaken(sizes, seed)
        found["none"].append(np.mean(shares.argmax(axis=1) == codes))
        for about, given in (("", sizes), (", wrong", wrong)):
            for name, way in WAYS.items():
                said = way(shares, given).argmax(axis=1)
                found[name + about].append(np.mean(said == codes))
            model.set_params(class_sizes=dict(zip(model.classes_, given, strict=True)))
            said = model.fit(draw.X, draw.y).predict(draw.X_test)
            found["given" + about].append(np.mean(said == draw.truth))
    return "{} {}".format(*cell), {name: 100 * np.mean(each) for name, each in found.items()}


def estimate(cell: tuple[str, int]) -> tuple[str, dict[str, float]]:
    """Return the accuracies of one cell without and with estimated sizes."""
    name, n_labels = cell
    own, found = _few_labels(name)[n_labels], defaultdict(list)
    codes = np.unique(own.y, return_inverse=True)[1]
    per_class = max(1, n_labels // len(np.unique(codes)))
    for seed in (100, 101, 102):
        ways = {
            "random": drawn(own.y, n_labels, seed),
            "by class": equal(own.y, per_class, seed + 1)[seed],
        }
        for way, rows in ways.items():
            y = np.full(len(codes), -1)
            y[rows] = codes[rows]
            rest = y == -1
            model = SemiSupervisedClassifier(class_sizes=None, random_state=0, n_jobs=1)
            shares, counts = (
                model.fit(own.X, y).predict_proba(own.X[rest]),
                np.bincount(codes[rows]),
            )
            found[f"{way}, none"].append(np.mean(shares.argmax(axis=1) == codes[rest]))
            for before in BEFORE:
                sizes_of.BEFORE = before
                moved_by = sizes_of.sizes_of_rows(shares, counts.astype(float)) / counts
                said = (shares * moved_by).argmax(axis=1)
                found[f"{way}, {before:g}"].append(np.mean(said == codes[rest]))
    return "{} {}".format(*cell), {name: 100 * np.mean(each) for name, each in found.items()}


def print_mnist(way: Any, labels: list[int], seeds: list[int]) -> None:
    """Print the accuracies on MNIST, draw after draw, and their means."""
    for per_class in labels:
        found = []
        for seed, each in way(per_class, range(*seeds), mistaken):
            found.append(each)
            print(f"{per_class} of each, seed {seed}:", each, flush=True)
        means = {name: np.mean([each[name] for each in found]) for name in found[0]}
        spread = {name: np.std([each[name] for each in found]) for name in found[0]}
        lines = [[name, f"{means[name]:.1f}", f"{spread[name]:.1f}"] for name in means]
        print(table([f"{per_class} of each", "accuracy", "spread"], lines), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--drawn", action="store_true", help="sizes are estimated")
    parser.add_argument("--quick", action="store_true", help="four cells")
    parser.add_argument("--sets", nargs="+", default=_DEVELOPMENT, help="sets of cells")
    parser.add_argument("--mnist", action="store_true", help="all of MNIST instead of the cells")
    parser.add_argument("--cuts", action="store_true", help="cuts of MNIST alone")
    parser.add_argument("--labels", nargs="+", type=int, default=[1, 2, 5], help="of each class")
    parser.add_argument("--seeds", nargs=2, type=int, default=[0, 5], help="first, and one beyond")
    asked = parser.parse_args()
    if asked.mnist or asked.cuts:
        print_mnist(cuts if asked.cuts else accuracies, asked.labels, asked.seeds)
        return
    names = QUICK if asked.quick else asked.sets
    cells = [(name, n) for name in names for n in _DEVELOPMENT[name]]
    with ProcessPoolExecutor(asked.jobs) as pool:
        answers = list(pool.map(estimate if asked.drawn else measure, cells))
    names = list(answers[0][1])
    lines = [[cell, *(f"{found[name]:.1f}" for name in names)] for cell, found in answers]
    means = [np.mean([found[name] for _, found in answers]) for name in names]
    print(table(["cell", *names], [*lines, ["mean", *(f"{mean:.2f}" for mean in means)]]))


if __name__ == "__main__":
    main()
