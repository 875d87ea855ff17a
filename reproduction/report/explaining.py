"""Which of the paper's accuracies a protocol can explain."""

from __future__ import annotations

from itertools import product
from math import sqrt

from ..cells import OBJECTIVES, PARTS
from ..experiments import GRID
from ..paper import is_hits, paper_values
from ..sets import SETS, TEST_SHARES
from .results import Results, Spread

SHARES = (90, 80)
SHOWN = ("g50c", "coil20", "uspst", "a1a", "australian", "svm2", "svmguide3")
VARIANTS = tuple(product(PARTS, OBJECTIVES))
BY = ("choice", "grid", "run")
"""What explains a number: the choice by cross-validation, the grid's best on the test rows (a
choice with open eyes), or only the best of all runs of that."""

_HALF = 0.006  # half a unit of the last printed digit


def explained(paper: float, chosen: Spread, best: Spread, part: str) -> str:
    """Return one of `BY`, "above" if ours is clearly higher, or "" if nothing reaches the number.

    The paper's number is a mean of five runs on a tenth of the rows, or one run on a fifth. It
    agrees with ours if it is at most two standard deviations of such a number away.
    """
    runs = 5 if part == "tenth" else 1
    for name, ours in zip(BY, (chosen, best), strict=False):
        if abs(paper - ours.mean) <= 2.0 * ours.sd / sqrt(runs) + _HALF:
            return name
    if paper < chosen.mean:
        return "above"
    return "run" if paper <= best.most + _HALF else ""


def explanation(
    results: Results, dataset: str, method: str, hidden: int, variant: tuple[str, str]
) -> tuple[Spread, Spread, str] | None:
    """Return the choice, the grid's best and what explains the paper's number, where all exist."""
    place = dataset, method, hidden
    paper = paper_values().get((*place, "accuracy"))
    chosen, best = (results.spread(*place, variant, measure=m) for m in ("accuracy", "best"))
    if chosen is None or best is None:
        return None
    return chosen, best, "" if paper is None else explained(paper, chosen, best, variant[0])


def counts(results: Results, dataset: str, variant: tuple[str, str]) -> list[int] | None:
    """Return how many of a set's twelve numbers (Tables 2 and 3) each of `BY` explains."""
    answers = [explanation(results, dataset, method, hidden, variant)
               for hidden, method in product(SHARES, GRID)]  # fmt: skip
    causes = [answer[2] for answer in answers if answer is not None]
    return [causes.count(by) for by in BY] if len(causes) == len(answers) else None


def possible_hits(dataset: str) -> dict[str, int]:
    """Return how many of the twelve numbers can be hits on five tenths, and on a fifth."""
    printed = [paper_values()[dataset, method, hidden, "accuracy"]
               for hidden, method in product(SHARES, GRID)]  # fmt: skip
    answer = {}
    for part, times in (("tenth", 5), ("fifth", 1)):
        most = round(TEST_SHARES[part] * SETS[dataset].rows)
        sizes = (times * (most - 1), times * most)
        answer[part] = max(sum(is_hits(value, n) for value in printed) for n in sizes)
    return answer
