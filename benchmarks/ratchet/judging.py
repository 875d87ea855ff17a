"""What is stored of a measurement, and whether a new one has fallen below it.

Scores are in points: accuracy in %, 100 R^2, 100 times the Brier score. Old and new scores are
compared split by split, on the splits that both have.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

BETTER = {"accuracy": 1.0, "R^2": 1.0, "Brier": -1.0}  # the sign of what is better
ERRORS = 3.0  # a cell may fall by so many standard errors of the paired difference
POINTS = 0.2  # the mean over all cells may fall by so much
UPDATE = "run `make accuracy ARGS=--update`"
COLUMNS = [
    *("group", "cell", "rows", "labels", "tested", "estimator", "rival", "metric"),
    *("splits", "mean", "standard_error", "cpu_seconds", "scores"),
]


@dataclass(frozen=True)
class Result:
    """The scores of one estimator in one cell by one metric."""

    group: str
    cell: str
    rows: int
    labels: int
    tested: int  # rows whose predictions count
    estimator: str
    rival: bool  # whether it is stored and not judged
    metric: str
    cpu_seconds: float  # of a fit with its predictions, mean over splits
    scores: dict[int, float]  # by split

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it from other results."""
        return self.cell, self.estimator, self.metric

    @property
    def mean(self) -> float:
        """The mean over splits."""
        return float(np.mean(list(self.scores.values())))

    @property
    def standard_error(self) -> float:
        """The standard error of the mean; 0 for a single split."""
        values = list(self.scores.values())
        return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


def write(file: Path, results: Sequence[Result]) -> None:
    """Write a results file: one line for each cell, estimator and metric."""
    with file.open("w", newline="") as stream:
        out = csv.writer(stream, lineterminator="\n")
        out.writerow(COLUMNS)
        for each in results:
            scores = " ".join(f"{split}:{score:.3f}" for split, score in each.scores.items())
            about = [each.group, each.cell, each.rows, each.labels, each.tested, each.estimator]
            means = [f"{each.mean:.2f}", f"{each.standard_error:.2f}", f"{each.cpu_seconds:.2f}"]
            kind = ["yes" if each.rival else "no", each.metric, len(each.scores)]
            out.writerow([*about, *kind, *means, scores])


def read(file: Path) -> list[Result]:
    """Return the results of a file; none if there is no file."""
    if not file.exists():
        return []
    with file.open(newline="") as stream:
        return [
            Result(
                row["group"],
                row["cell"],
                *(int(row[name]) for name in ("rows", "labels", "tested")),
                row["estimator"],
                row["rival"] == "yes",
                row["metric"],
                float(row["cpu_seconds"]),
                {
                    int(split): float(score)
                    for split, score in (pair.split(":") for pair in row["scores"].split())
                },
            )
            for row in csv.DictReader(stream)
        ]


@dataclass(frozen=True)
class Difference:
    """How a result compares with the stored one: points, above 0 where it is better."""

    key: tuple[str, str, str]
    mean: float
    standard_error: float
    splits: int

    @property
    def fell(self) -> bool:
        """Whether it fell by more than its noise. No score at all is a fall, too."""
        return not self.mean >= -ERRORS * self.standard_error

    @property
    def rose(self) -> bool:
        """Whether it rose by more than its noise."""
        return self.mean > ERRORS * self.standard_error

    def __str__(self) -> str:
        cell, estimator, metric = self.key
        verb = "rises" if self.mean > 0 else "falls"
        return (
            f"{cell}: {estimator} {verb} by {abs(self.mean):.2f} points of {metric}; three "
            f"standard errors of the paired difference are {ERRORS * self.standard_error:.2f}"
        )


def compare(new: Result, stored: Result) -> Difference | None:
    """Return the paired difference; None where no split is in both.

    The standard error is that of the differences over splits, but at least what counting allows.
    If a split of m rows changes by d, at least d m rows have changed their side. Such a count has
    the variance d m, and at least 1, because another processor rounds otherwise and may flip a
    row. R^2 and the Brier score count a row as one where it is off by one standard deviation of
    the targets, or by one class. So nine rows, net, are three standard errors.
    """
    splits = sorted(new.scores.keys() & stored.scores.keys())
    if not splits:
        return None
    sign, row = BETTER[new.metric], 100.0 / new.tested
    d = sign * np.array([new.scores[split] - stored.scores[split] for split in splits])
    counted = np.sqrt(np.sum(row * np.maximum(row, np.abs(d)))) / len(d)
    spread = np.std(d, ddof=1) / np.sqrt(len(d)) if len(d) > 1 else 0.0
    return Difference(new.key, float(d.mean()), float(max(counted, spread)), len(d))


def judge(
    measured: Sequence[Result], stored: Sequence[Result], left_out: Collection[str] = ()
) -> tuple[list[str], list[str]]:
    """Return what fails, and what else is worth a line.

    Parameters
    ----------
    measured, stored : sequence of Result
        Now, and in the file. Rivals are not judged.
    left_out : collection of str
        Names of cells that were not run on purpose.
    """
    known = {each.key: each for each in stored if not each.rival}
    ours = {each.key: each for each in measured if not each.rival}
    found = {key: compare(new, known[key]) for key, new in ours.items() if key in known}
    differences = [each for each in found.values() if each is not None]
    gone = {key for key in known.keys() - ours.keys() if key[0] not in left_out}
    unknown = ours.keys() - {each.key for each in differences}
    failures = [
        *_named(gone, "in the file, but not measured. If this is as it should be"),
        *_named(unknown, "not in the file. If it is new"),
    ]
    failures += [str(each) for each in differences if each.fell]
    failures += _fallen_means(differences, list(known.values()))
    risen = [f"{each}; to keep it, {UPDATE}" for each in differences if each.rose]
    return sorted(failures), risen


def _named(keys: Collection[tuple[str, str, str]], what: str) -> list[str]:
    """Return a line for every cell: which estimators are concerned."""
    cells: dict[str, set[str]] = defaultdict(set)
    for cell, estimator, _ in keys:
        cells[cell].add(estimator)
    return [f"{cell}: {', '.join(sorted(e))}: {what}, {UPDATE}" for cell, e in cells.items()]


def _fallen_means(differences: Sequence[Difference], stored: Sequence[Result]) -> list[str]:
    """Return the estimators whose mean over all cells has fallen too far.

    A mean over few fits is noisier than one over many: the limit grows with the root.
    """
    cells: dict[tuple[str, str], list[Difference]] = defaultdict(list)
    for each in differences:
        cells[each.key[1:]].append(each)
    failures = []
    for (estimator, metric), own in cells.items():
        fits = sum(len(e.scores) for e in stored if e.key[1:] == (estimator, metric))
        limit = POINTS * np.sqrt(max(1.0, fits / sum(each.splits for each in own)))
        mean = float(np.mean([each.mean for each in own]))
        if not mean >= -limit:
            failures.append(
                f"all cells: {estimator} falls by {-mean:.2f} points of {metric} on average over "
                f"{len(own)} cells; {limit:.2f} are allowed"
            )
    return failures
