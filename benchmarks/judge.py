"""How the weights of the members are found: several judges, the same members.

    python benchmarks/judge.py              # 26 cells, three draws of each: about ten minutes
    python benchmarks/judge.py --quick      # four cells

The cells are those of `ratchet/cells.py`, the draws are not: no rule of the library may be chosen
by the splits that its pages report. Official splits are 7, 8 and 9; others are drawn anew.

==============  ====================================================================================
best            the member with the least held-out log loss
even            expectation maximisation, with a prior that is the same for all members
prior           weights 1 / (rank + 1), whatever held-out labels say
ranks           expectation maximisation, with a prior of 1 / (rank + 1)
alone           the fourth root of each member's own likelihood
judge           `graphkm.judge.mixture_weights`
weak, strong    the same, with a prior of 3 and of 40 labels
hindsight       the member that is best on the tested rows: nobody can know it
==============  ====================================================================================
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.special import softmax

import graphkm.judge.mixture as mixture
from _common import table
from few_labels.cells import _drawn, _equal
from graphkm import SemiSupervisedClassifier
from graphkm.judge import log_probabilities, mixture_weights
from graphkm.members.models import model_scores
from graphkm.semi.base import SemiSupervised, ranks_of
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
            chosen = _equal(cell.y, per_class, seed + 1)[seed]
        else:
            chosen = _drawn(cell.y, n_labels, seed)
        y = np.full(len(cell.y), -1)
        y[chosen] = cell.y[chosen]
        yield seed, _hide(cell.X, cell.y, y, seed)


class Recorded(SemiSupervisedClassifier):
    """A front door that keeps what its members say of some rows."""

    def _decide(self, members: Any, known: Any, graph: Any) -> None:
        super()._decide(members, known, graph)
        found = self._judge(members, known)
        held = np.array([member.held for member in members])
        logs = log_probabilities(held, found.sizes[:, None, None])
        self.logs = logs[:, np.arange(len(known.y)), known.codes].T
        self.ranks = ranks_of(members, len(known.y))
        z = graph.nodes.weights(self.tested)
        said = [
            model_scores(each.model, self.tested, known.classes)
            if each.values is None
            else z @ each.values()
            for each in members
        ]
        self.said = np.exp(log_probabilities(np.array(said), found.sizes[:, None, None]))


def _with(
    logs: np.ndarray,
    ranks: np.ndarray,
    *,
    alone: float = mixture._ALONE,
    prior: float = mixture.PRIOR,
) -> np.ndarray:
    """Return the judge's weights with other numbers."""
    own = mixture._ALONE, mixture.PRIOR
    mixture._ALONE, mixture.PRIOR = alone, prior
    try:
        return mixture_weights(logs, ranks=ranks)
    finally:
        mixture._ALONE, mixture.PRIOR = own


JUDGES: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "best": lambda logs, _: np.eye(logs.shape[1])[logs.sum(axis=0).argmax()],
    "even": lambda logs, _: _with(logs, np.ones(logs.shape[1]), alone=0.0),
    "prior": lambda _, ranks: mixture_weights(np.empty((0, len(ranks))), ranks=ranks),
    "ranks": lambda logs, ranks: _with(logs, ranks, alone=0.0),
    "alone": lambda logs, _: softmax(0.25 * logs.sum(axis=0)),
    "judge": lambda logs, ranks: mixture_weights(logs, ranks=ranks),
    "weak": lambda logs, ranks: _with(logs, ranks, prior=3.0),
    "strong": lambda logs, ranks: _with(logs, ranks, prior=40.0),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="four cells")
    quick = parser.parse_args().quick
    assert issubclass(Recorded, SemiSupervised)
    lines, numbers, losses = [], [], []
    for name, counts in _DEVELOPMENT.items():
        for n in counts if not quick or name in QUICK else ():
            found, lost = [], []
            for seed, draw in draws(name, n):
                model = Recorded(random_state=seed, n_jobs=1)
                model.tested = draw.X_test
                model.fit(draw.X, draw.y)
                truth = np.searchsorted(model.classes_, draw.truth)
                weights = [weigh(model.logs, model.ranks) for weigh in JUDGES.values()]
                mixed = [np.tensordot(w, model.said, 1) for w in weights]
                best = (model.said.argmax(-1) == truth).mean(axis=1).max()
                found.append([*((each.argmax(1) == truth).mean() for each in mixed), best])
                true = [each[np.arange(len(truth)), truth] for each in mixed]
                lost.append([-np.log(np.maximum(each, 1e-9)).mean() for each in true])
            numbers.append((n, 100 * np.mean(found, axis=0)))
            losses.append(np.mean(lost, axis=0))
            lines.append([f"{name} {n}", *(f"{each:.1f}" for each in numbers[-1][1])])
            print(lines[-1], flush=True)
    for title, fits in (("at most 10 labels", lambda n: n <= 10), ("all", lambda n: True)):
        means = np.mean([values for n, values in numbers if fits(n)], axis=0)
        lines.append([title, *(f"{each:.2f}" for each in means)])
    lines.append(["log loss, all", *(f"{each:.3f}" for each in np.mean(losses, axis=0)), ""])
    print(table(["cell", *JUDGES, "hindsight"], lines))


if __name__ == "__main__":
    main()
