"""The front door with and without boosting, where a class has fewer than 20 labels on average.

    python benchmarks/few_labels_boosting.py          # about five minutes on one core

The cells are those of `accuracy.py`, on draws that it does not report. The table says what leaving
boosting out changes, with the standard error over draws, and which weight boosting had.
"""

from __future__ import annotations

import time
import warnings
from typing import Any
from unittest import mock

import numpy as np

from _common import SkipError, table
from graphkm import SemiSupervisedClassifier
from graphkm.members import models
from ratchet.cells import CELLS, Draw

# The sets of the leaderboard have few draws; those of `accuracy.py` are the numbers 2 to 5.
LISTED = (0, 1, 6, 7, 8, 9)
MADE = tuple(range(100, 108))
PLAN = {
    "moons 10": LISTED,
    "digit1 10": LISTED,
    "usps 10": LISTED,
    "g241c 10": LISTED,
    "iris 12 of 150": MADE,
    "wine 15 of 150": MADE,
    "breast_cancer 20 of 120": MADE,
    "svmguide2 40 of 150": MADE,
    "australian 20 of 60": MADE,
}


def measured(draw: Draw, seed: int, least: int) -> tuple[float, float, float, float]:
    """Return accuracy, Brier score, CPU seconds and the weight of boosting."""
    start = time.process_time()
    with mock.patch.object(models, "_EACH", least):
        model = SemiSupervisedClassifier(random_state=seed, n_jobs=1).fit(draw.X, draw.y)
    used = time.process_time() - start
    shares = model.predict_proba(draw.X_test)
    truth = draw.truth[:, None] == model.classes_
    right = 100 * np.mean(model.classes_[shares.argmax(axis=1)] == draw.truth)
    weight = sum(each.weight for each in model.members_ if each.name == "boosting")
    return right, 100 * np.square(shares - truth).sum(axis=1).mean(), used, 100 * weight


def line(name: str, found: Any) -> list[str]:
    """Return a line of the table; `found` has draws, both sides and four numbers."""
    change = found[:, 1, :2] - found[:, 0, :2]
    error = change.std(axis=0, ddof=1) / np.sqrt(len(change))
    told = [f"{m:+.2f} ± {e:.2f}" for m, e in zip(change.mean(axis=0), error, strict=True)]
    seconds = found[:, :, 2].sum(axis=0)
    saved = 100 * (1 - seconds[1] / seconds[0])
    weight = found[:, 0, 3].mean()
    return [name, str(len(found)), f"{weight:.1f}", *told, f"{saved:.0f}"]


def main() -> None:
    warnings.simplefilter("ignore")
    lines, every = [], []
    for name, draws in PLAN.items():
        try:
            drawn = {seed: CELLS[name].draw(seed) for seed in draws}
        except SkipError as reason:
            print(f"{name} is not run: {reason}")
            continue
        both = [[measured(d, seed, least) for least in (0, 10**9)] for seed, d in drawn.items()]
        every += both
        lines.append(line(name, np.array(both)))
        print(*lines[-1], flush=True)
    lines.append(line("all", np.array(every)))
    heads = ["cell", "draws", "weight in %", "accuracy", "Brier score", "CPU time saved in %"]
    print(table(heads, lines))


if __name__ == "__main__":
    main()
