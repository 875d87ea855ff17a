"""A verdict for every claim of the paper in claims.csv: a number, its spread, what confounds it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..experiments import GRID, GROWING, RIVALS
from ..ledger import Row
from ..methods import METHODS, POWERS
from ..paper import paper_values, unlabeled_values
from ..sets import PAPER_SETS, SETS
from .explaining import SHOWN, VARIANTS, counts
from .results import REVEALED, Results, Spread, read_csv
from .tables import CLOSE, exponent, markdown, short

YES, NO, OPEN = "confirmed", "not confirmed", "not decidable"
_BOTH = {"printed": VARIANTS[0], "revealed": REVEALED}
_ENOUGH = 3  # fewer sets decide nothing
_WIDE, _MUCH = 2.0, 5.0  # points: a wider interval shows no likeness; "much better" is more
_TENS = 20.0  # "tens of times"
_OURS = "gkm-hinge-p1"

Judge = Callable[..., tuple[str, str]]
"""Takes results and what claims.csv has behind the judge's name. Returns a verdict and the numbers
behind it, or raises LookupError if their cells are missing."""


class Gap(NamedTuple):
    """One method and another one, each with so many per cent hidden, to be compared on all sets."""

    label: str
    one: str
    other: str
    hidden: tuple[int, int] = (90, 90)
    measure: str = "accuracy"
    variant: tuple[str, str] = REVEALED

    def pairs(self, results: Results) -> dict[str, tuple[float, float]]:
        """Return both means of every set that has them."""
        sides = [(self.one, self.hidden[0]), (self.other, self.hidden[1])]
        spreads = {name: [results.spread(name, *side, self.variant, measure=self.measure)
                          for side in sides] for name in PAPER_SETS}  # fmt: skip
        return {name: (a.mean, b.mean) for name, (a, b) in spreads.items() if a and b}

    def spread(self, results: Results) -> Spread:
        """Return the spread of the difference over the sets."""
        return Spread.of(one - other for one, other in self.pairs(results).values())


def verdicts_table(results: Results) -> str:
    """Return the table of verdicts; claims without their cells are left out."""
    rows = []
    for line in read_csv(Path(__file__).with_name("claims.csv")):
        name, *options = line["judge"].split()
        judge = JUDGES[name]
        try:
            rows.append([line["claim"], *judge(results, *options), line["confounds"]])
        except LookupError:  # the cells of this claim have not been run
            continue
    return markdown(["claim", "verdict", "measured", "what confounds it"], rows)


def _decide(holds: bool, sets: int, enough: int = _ENOUGH) -> str:
    return OPEN if sets < enough else YES if holds else NO


def _shown(spread: Spread) -> str:
    return f"{spread.mean:+.2f} ± {spread.error:.2f} points ({spread.runs} sets)"


# ------------------------------------------------------------------ the theory


def _curves(results: Results) -> tuple[list[Row], Callable[[str], float]]:
    """Return the last point of every curve, and the worst (J - J*) T as a part of the bound."""
    rows = results.tables["convergence"]
    if not rows:
        raise LookupError
    steps = max(row["steps"] for row in rows)
    last = [row for row in rows if row["steps"] == steps]
    return last, lambda gap: max(row[gap] * row["steps"] / row["bound"] for row in rows)


def _rate(results: Results) -> tuple[str, str]:
    last, worst = _curves(results)
    powers, sds = zip(*((row["slope"] - 1, row["slope_sd"]) for row in last), strict=True)
    # O(1/T) is a bound: J - J* may fall more slowly for a while as long as it stays below.
    return f"{YES} as a bound" if worst("gap") < 1 else NO, (
        f"(J - J*) T is at most {worst('gap'):.3f} of the theorem's bound over {len(last)} curves; "
        f"in the last decade of T, J - J* falls as T to the power {min(powers):.2f} to "
        f"{max(powers):.2f} (± at most {2 * max(sds):.2f}, two standard deviations over the runs)"
    )


def _constant(results: Results) -> tuple[str, str]:
    last, worst = _curves(results)
    factor = max(row["bound"] / (row["gap"] * row["steps"]) for row in last)
    return YES if worst("gap_max") < 1 else NO, (
        f"the worst of {last[0]['runs']} runs, all steps and all curves reaches "
        f"{worst('gap_max'):.3f} of it; at the last step it is up to {factor:.0e} times (J - J*) T"
    )


def _decreases(results: Results) -> tuple[str, str]:
    last, _ = _curves(results)
    slopes = [row["slope"] for row in last]
    rises = sum(row["slope"] > 2 * row["slope_sd"] / np.sqrt(row["runs"]) for row in last)
    return NO if 2 * rises > len(last) else OPEN if rises else YES, (
        f"it rises in the last decade in {rises} of {len(last)} curves, as T to the power "
        f"{min(slopes):+.2f} to {max(slopes):+.2f}"
    )


def _family(results: Results) -> tuple[str, str]:
    _, worst = _curves(results)
    return YES if worst("gap") < 1 else NO, (
        "the gradients of all five losses are at most A = R, and the steps equal the literal "
        "program's to 1e-12 for each of them with p = 1, 1.5, 2, 3 (tests/test_published.py); "
        f"here (J - J*) T is at most {worst('gap'):.3f} of the bound"
    )


def _special(results: Results) -> tuple[str, str]:
    row = results.tables["claims"][0]
    apart = row["laplacian_difference"]
    return YES if apart < 1e-6 else NO, (
        f"their decision values differ by at most {apart:.0e} of the largest ({row['dataset']})"
    )


def _online(results: Results) -> tuple[str, str]:
    row = results.tables["claims"][0]
    n = round(SETS[row["dataset"]].rows / 10)
    stream, fit = (
        f"{100 * share:.1f} ± {200 * np.sqrt(share * (1 - share) / n):.1f} %"
        for share in (row["stream_accuracy"], row["fit_accuracy"])
    )
    return OPEN, (
        f"the paper has no experiment; ours on {row['dataset']} reaches {stream} in one pass over "
        f"chunks of 50 rows and {fit} in a fit (one run; ± is two standard errors of {n} test rows)"
    )


# ---------------------------------------------------------------- the accuracy


def _accuracy(results: Results) -> tuple[str, str]:
    pairs = [[counts(results, name, each) for each in _BOTH.values()] for name in SHOWN]
    full = np.array([pair for pair in pairs if None not in pair])
    if not len(full):
        raise LookupError
    numbers, (printed, revealed) = 12 * len(full), full.sum(axis=0)
    words = [f"mostly {YES}" if 2 * by[0] >= numbers else NO for by in (printed, revealed)]
    verdict = f"{words[0]} as printed, {words[1]} as revealed"
    return verdict if len(full) >= _ENOUGH else OPEN, (
        f"within two standard deviations a choice by cross-validation explains {printed[0]} of "
        f"{numbers} as printed and {revealed[0]} as revealed; a choice with open eyes explains "
        f"{printed[1]} and {revealed[1]} more, its best run {printed[2]} and {revealed[2]} more"
    )


def _higher(results: Results, head: str, *gaps: Gap, tail: str = "") -> tuple[str, str]:
    """Judge that all of the gaps are above 0."""
    spreads = [gap.spread(results) for gap in gaps]
    texts = [f"{gap.label} {_shown(s)}" for gap, s in zip(gaps, spreads, strict=True)]
    holds, sets = all(s.mean > s.error for s in spreads), min(s.runs for s in spreads)
    return _decide(holds, sets), f"{head}: {'; '.join(texts)}{tail}"


def _hinge(results: Results) -> tuple[str, str]:
    gaps = [Gap(f"p = {p}", f"gkm-hinge-p{p}", f"gkm-logistic-p{p}") for p in POWERS]
    return _higher(results, "hinge less logistic, 90 % hidden", *gaps)


def _l1_best(results: Results) -> tuple[str, str]:
    gaps = [Gap(f"p = {p} ({word})", _OURS, f"gkm-hinge-p{p}", variant=variant)
            for p in POWERS[1:] for word, variant in _BOTH.items()]  # fmt: skip
    return _higher(results, "p = 1 less another p, 90 % hidden", *gaps)


def _graph_adds(results: Results) -> tuple[str, str]:
    gaps = [Gap(word, _OURS, "gkm-no-graph", variant=each) for word, each in _BOTH.items()]
    best = Gap("", "gkm-best", "svm-labeled").spread(results)
    tail = ("; with graphs of neighbours and its own search, less an SVM of the labelled rows: "
            + _shown(best))  # fmt: skip
    return _higher(results, "GKM less GKM without its graph, 90 % hidden", *gaps, tail=tail)


def _compared(results: Results, rival: str, much: str = "") -> tuple[str, str]:
    """Judge that GKM is much better than a rival, or comparable with it."""
    best, ours = (Gap("", f"gkm-hinge-p{p}", rival).spread(results) for p in (2, 1))
    paper = paper_values()
    printed = Spread.of(value - paper[name, rival, 90, "accuracy"]
                        for (name, *place), value in paper.items()
                        if place == ["gkm", 90, "accuracy"])  # fmt: skip
    alike = abs(best.mean) <= best.error <= _WIDE or best.mean > best.error
    return _decide(best.mean - best.error > _MUCH if much else alike, best.runs), (
        f"GKM less {METHODS[rival].title}, 90 % hidden: {_shown(best)} with p = 2, whose numbers "
        f"Table 5 has, and {_shown(ours)} with p = 1; the paper has {_shown(printed)}"
    )


def _rank(results: Results, method: str, hidden: str) -> tuple[str, str]:
    """Judge that a method is the best of four."""
    ranks = []
    for name in PAPER_SETS:
        spreads = [results.spread(name, m, int(hidden)) for m in (method, _OURS, *RIVALS[:3])]
        if all(spreads):
            own, *means = [spread.mean for spread in spreads if spread]
            ranks.append(sum(x > own for x in means) + 0.5 * (means.count(own) + 1))
    rank = Spread.of(ranks)
    return _decide(rank.mean + rank.error < 2.5, rank.runs), (
        "its mean rank among GKM (p = 1), LapSVM, CCCP and Self-KNN is "
        f"{rank.mean:.2f} ± {rank.error:.2f} ({rank.runs} sets; 2.5 is chance)"
    )


def _full_svm(results: Results) -> tuple[str, str]:
    gap = Gap("", _OURS, "svm-all-labels")
    spread = gap.spread(results)
    near = [name for name, (a, b) in gap.pairs(results).items() if a - b > -CLOSE]
    return _decide(spread.runs - len(near) <= 3, spread.runs, enough=4), (
        f"GKM less this SVM, 90 % hidden: {_shown(spread)}; it is within {CLOSE} points on "
        f"{len(near)} of {spread.runs} sets" + (f" ({', '.join(near)})" if near else "")
    )


def _sparse(results: Results) -> tuple[str, str]:
    pairs = Gap("", _OURS, "gkm-hinge-p2", measure="n_support").pairs(results)
    ratio = Spread.of(ours / theirs for ours, theirs in pairs.values())
    return _decide(ratio.mean + ratio.error < 1, ratio.runs), (
        f"p = 1 has {ratio.mean:.2f} ± {ratio.error:.2f} times the support vectors of p = 2 "
        f"({ratio.runs} sets)"
    )


def _little(results: Results) -> tuple[str, str]:
    spreads = [[results.spread(name, method, 90) for method in GRID] for name in PAPER_SETS]
    ranges = [float(np.ptp([s.mean for s in row if s])) for row in spreads if all(row)]
    bare = Gap("", "gkm-hinge-p2", "gkm-no-graph").pairs(results).values()
    apart = [abs(one - other) for one, other in bare]
    if not ranges or not apart:
        raise LookupError
    return _decide(bool(np.median(ranges) < 1), len(ranges)), (
        f"the six combinations differ by {np.median(ranges):.2f} points in the median set, from "
        f"{min(ranges):.2f} to {max(ranges):.2f} ({len(ranges)} sets, 90 % hidden); p = 2 is "
        f"{np.median(apart):.2f} points from no graph in the median set, {max(apart):.2f} at most"
    )


def _falls(results: Results) -> tuple[str, str]:
    paper = unlabeled_values()
    printed = Spread.of(paper[name, 50, "f1"] - paper[name, 90, "f1"]
                        for name in PAPER_SETS if (name, 50, "f1") in paper)  # fmt: skip
    gaps = [Gap(word, _OURS, _OURS, (50, 90), measure)
            for word, measure in (("accuracy", "accuracy"), ("F1", "f1"))]  # fmt: skip
    tail = f"; the paper's F1 by {_shown(printed)}"
    return _higher(results, "from 50 to 90 % hidden they fall by", *gaps, tail=tail)


# ------------------------------------------------------------- time and memory


def _ended(results: Results, name: str, method: str, cost: str) -> dict[int, float]:
    """Return the costs of the fits that ended, by their numbers of rows."""
    rows = results.costs(name, method)
    return {row["rows"]: row[cost] for row in rows if row["status"] == "ok"}


def _beside(results: Results, cost: str, rivals: tuple[str, ...]) -> tuple[Spread, str]:
    """Return how many times GKM's cost the cheapest rival has, on the most rows of both."""
    ratios, parts = [], []
    for name in GROWING:
        ours = _ended(results, name, _OURS, cost)
        theirs = [(-rows, value, METHODS[rival].title) for rival in rivals
                  for rows, value in _ended(results, name, rival, cost).items()
                  if rows in ours]  # fmt: skip
        if theirs:
            rows, value, title = min(theirs)
            own, at = ours[-rows], f"at {-rows:,} rows"
            ratios.append(value / own)
            parts.append(f"{name} {short(own)} beside {short(value)} ({title}, {at})")
    return Spread.of(ratios), "; ".join(parts)


def _speed(results: Results) -> tuple[str, str]:
    times, parts = _beside(results, "cpu_seconds", ("lapsvm",))
    powers = [(METHODS[m].title, exponent(results, "covtype", m)) for m in ("lapsvm", _OURS)]
    grows = ", ".join(f"{power} ({title})" for title, power in powers if power)
    enough = times.runs == len(GROWING)
    return NO if times.least < _TENS else YES if enough else OPEN, (
        f"LapSVM takes {short(times.least)} to {short(times.most)} times as long; CPU s: {parts}"
        + (f"; on COVTYPE time grows as the rows to the power {grows}" if grows else "")
    )


def _memory(results: Results) -> tuple[str, str]:
    times, parts = _beside(results, "memory_mb", RIVALS)
    huge = max(_ended(results, "w8a", "lapsvm", "memory_mb").values(), default=None)
    return NO if times.least < 1 else _decide(True, times.runs), (
        f"the next method takes {times.least:.2f} to {times.most:.2f} times as much; MB: {parts}"
        + (f"; LapSVM takes {short(huge)} MB on W8A" if huge else "")
    )


JUDGES: dict[str, Judge] = {
    judge.__name__.removeprefix("_"): judge
    for judge in (_rate, _constant, _decreases, _family, _special, _accuracy, _hinge, _l1_best,
                  _sparse, _little, _falls, _compared, _rank, _full_svm, _graph_adds, _speed,
                  _memory, _online)
}  # fmt: skip
