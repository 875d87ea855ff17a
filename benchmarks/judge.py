"""How the weights of the members are found: several judges, the same members.

    python benchmarks/judge.py --jobs 2     # 26 cells, three draws of each: about ten minutes
    python benchmarks/judge.py --quick      # four cells

The cells are those of `ratchet/cells.py`, the draws are not: no rule of the library may be chosen
by the splits that its pages report. Official splits are 7, 8 and 9; others are drawn anew.

==============  ====================================================================================
best            the member with the least held-out log loss
even            expectation maximisation, with a prior that is the same for all members
prior           the prior alone, without the held-out labels
uncut           the judge with odds of 1 / (rank + 1), however a member cuts the graph
unsized         the judge with odds of 1 / ((rank + 1) cut^2), however large the parts are
sharp           the judge with a cut to the fourth power
likeliest       the judge without each member's own likelihood in the prior
alone           the fourth root of each member's own likelihood
judge           `graphkm.judge.mixture_weights`
weak, strong    the same, with a prior of 3 and of 40 labels
free            the same, without a share of the prior for the labels alone
wary            the same, with a share of the labels alone that grows four times as fast
hindsight       the member that is best on the tested rows: nobody can know it
==============  ====================================================================================
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import softmax

import graphkm.judge.mixture as mixture
from _common import table
from graphkm import SemiSupervisedClassifier
from graphkm.judge import log_probabilities, mixture_weights
from graphkm.members.cuts import Cut
from graphkm.semi.mixed import Mixed
from graphkm.semi.odds import labels_only, odds_of
from leaderboard.cells import drawn, equal
from ratchet.cells import _DEVELOPMENT, Draw, _few_labels, _hide

QUICK = ("moons", "g50c", "svmguide3")
OFFICIAL = ("digit1", "usps", "g241c", "text", "g50c", "uspst")


def draws(name: str, n_labels: int) -> Iterator[tuple[int, Draw]]:
    """Yield the development draws of a cell."""
    cell = _few_labels(name)[n_labels]
    per_class = n_labels // len(np.unique(cell.y))
    for seed in (7, 8, 9) if name in OFFICIAL else (100, 101, 102):
        if name in OFFICIAL:
            chosen = cell.splits[seed]
        elif name in ("moons", "coil20"):
            chosen = equal(cell.y, per_class, seed + 1)[seed]
        else:
            chosen = drawn(cell.y, n_labels, seed)
        y = np.full(len(cell.y), -1)
        y[chosen] = cell.y[chosen]
        yield seed, _hide(cell.X, cell.y, y, seed)


class Recorded(SemiSupervisedClassifier):
    """A front door that keeps what its members say of some rows."""

    def _decide(self, members: Any, known: Any, graph: Any, ids: Any) -> None:
        super()._decide(members, known, graph, ids)
        found = self._judge(members, known)
        held = np.array([member.held for member in members])
        logs = log_probabilities(held, found.sizes[:, None, None])
        logs = logs[:, np.arange(len(known.y)), known.codes].T
        uncut = [replace(each, cut=None) for each in members]
        unsized = [replace(each, cut=each.cut and _even_parts(each.cut)) for each in members]
        odds = [odds_of(each, known) for each in (members, uncut, unsized)]
        self.seen = Seen(logs, *odds, labels_only(members))
        one, prior, tested = np.ones(1), self._prior(known), self.tested
        self.said = np.array(
            [  # each member as if it were the whole mixture
                Mixed.of([each], one, np.array([size]), graph.nodes, prior, known.classes).at(
                    tested, tested
                )
                for each, size in zip(members, found.sizes, strict=True)
            ]
        )


def _even_parts(cut: Cut) -> Cut:
    return cut._replace(sizes=np.full(len(cut.sizes), 1.0 / len(cut.sizes)))


class Seen(NamedTuple):
    """What a judge sees: logs of the truth's probabilities, odds, and who knows labels alone."""

    logs: np.ndarray
    odds: np.ndarray
    uncut: np.ndarray  # odds by the ranks alone
    unsized: np.ndarray  # odds by the ranks and the edges that are cut
    labels_only: np.ndarray


def _with(seen: Seen, **numbers: float) -> np.ndarray:
    """Return the judge's weights with other numbers."""
    own = {name: getattr(mixture, name) for name in numbers}
    try:
        for name, value in numbers.items():
            setattr(mixture, name, value)
        return mixture_weights(seen.logs, None, seen.odds, seen.labels_only)
    finally:
        for name, value in own.items():
            setattr(mixture, name, value)


def _even(seen: Seen) -> Seen:
    return seen._replace(odds=np.zeros_like(seen.odds), labels_only=np.zeros_like(seen.labels_only))


JUDGES: dict[str, Callable[[Seen], np.ndarray]] = {
    "best": lambda seen: np.eye(seen.logs.shape[1])[seen.logs.sum(axis=0).argmax()],
    "even": lambda seen: _with(_even(seen), ALONE=0.0),
    "prior": lambda seen: _with(seen._replace(logs=seen.logs[:0])),
    "uncut": lambda seen: _with(seen._replace(odds=seen.uncut)),
    "unsized": lambda seen: _with(seen._replace(odds=seen.unsized)),
    "likeliest": lambda seen: _with(seen, ALONE=0.0),
    "sharp": lambda seen: _with(seen._replace(odds=seen.odds + seen.unsized - seen.uncut)),
    "alone": lambda seen: softmax(0.25 * seen.logs.sum(axis=0)),
    "judge": _with,
    "weak": lambda seen: _with(seen, PRIOR=3.0),
    "strong": lambda seen: _with(seen, PRIOR=40.0),
    "free": lambda seen: _with(seen._replace(labels_only=np.zeros_like(seen.labels_only))),
    "wary": lambda seen: _with(seen, LABELS_ALONE=25.0),
}


def cell(name: str, n_labels: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Return means over draws: accuracies, log losses, and `best_score_`.

    Accuracies are those of every judge, and of the best member in hindsight.
    """
    found, lost, claimed = [], [], []
    for seed, draw in draws(name, n_labels):
        model = Recorded(random_state=seed, n_jobs=1)
        model.tested = draw.X_test
        model.fit(draw.X, draw.y)
        truth = np.searchsorted(model.classes_, draw.truth)
        mixed = [np.tensordot(weigh(model.seen), model.said, 1) for weigh in JUDGES.values()]
        best = (model.said.argmax(-1) == truth).mean(axis=1).max()
        found.append([*((each.argmax(1) == truth).mean() for each in mixed), best])
        true = [each[np.arange(len(truth)), truth] for each in mixed]
        lost.append([-np.log(np.maximum(each, 1e-9)).mean() for each in true])
        claimed.append(model.best_score_)
    return 100 * np.mean(found, axis=0), np.mean(lost, axis=0), 100 * float(np.mean(claimed))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="four cells")
    parser.add_argument("--most", type=int, default=10**9, help="labels of a cell, at most")
    parser.add_argument("--jobs", type=int, default=1, help="worker processes")
    arguments = parser.parse_args()
    for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[threads] = "1"
    cells = [
        (name, n)
        for name, counts in _DEVELOPMENT.items()
        for n in counts
        if n <= arguments.most and (not arguments.quick or name in QUICK)
    ]
    lines, numbers = [], []
    with ProcessPoolExecutor(arguments.jobs) as pool:
        for (name, n), result in zip(cells, pool.map(cell, *zip(*cells, strict=True)), strict=True):
            numbers.append((n, *result))
            shown = [*result[0], result[2]]
            lines.append([f"{name} {n}", *(f"{each:.1f}" for each in shown)])
            print(*lines[-1], flush=True)
    kinds = {"at most 10 labels": lambda n: n <= 10, "all": lambda n: True}
    for title, fits in kinds.items():
        every = [np.append(values, claimed) for n, values, _, claimed in numbers if fits(n)]
        lines.append([title, *(f"{each:.2f}" for each in np.nanmean(every, axis=0))])
    losses = np.mean([lost for _, _, lost, _ in numbers], axis=0)
    lines.append(["log loss, all", *(f"{each:.3f}" for each in losses), "", ""])
    print(table(["cell", *JUDGES, "hindsight", "best_score_"], lines))


if __name__ == "__main__":
    main()
