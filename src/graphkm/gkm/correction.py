"""How strong a field should be: every strength is judged on labels that it has not seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._progress import progress_bar
from ..graphs.nodes import NodeGraph
from ..judge.folds import Folds
from ..machines.classes import winning_class
from ..solvers.field import Field, FieldData, FieldSystem, Strength

Columns = NDArray[np.float64]

Losses = tuple[NDArray[np.float64], NDArray[np.float64]]
"""The loss and the error of every label."""

Loss = Callable[[Columns, NDArray[np.int64]], Losses]
"""Takes outputs, and the positions of their labels."""

CS = (0.3, 3.0)
"""Values of C that are tried."""

EPSILONS = (0.5, 0.1, 0.03, 0.01)
"""Values of eps that are tried, from the weakest field to the one that carries farthest."""

USUAL = Strength(C=30.0, eps=0.01)
"""The strength that is taken for quantities where none can be judged."""

FLOW = 0.003
"""The eps that is taken for classes where no strength can be judged: each label is a source."""

_WITH_SOURCES = (0.0, 0.1, 1.0, 10.0, 100.0)  # values of C, until labels are followed

ENOUGH = 5000
"""Held-out labels after which more folds would not change the choice."""

_SURE_BESIDE, _SURE_ALONE = 1.25, 2.25  # standard errors by which a field must win
_HARMLESS = 0.002  # of the loss


class Known(NamedTuple):
    """What is known of the labelled rows, and what a model says of them."""

    graph: NodeGraph
    """Nodes, and the way from the labelled rows to them."""
    weights: NDArray[np.float64]
    """Weights of the labelled rows."""
    targets: Columns
    """What they should say, of shape (l, n_columns)."""
    held_out: Columns
    """What the model says of each without its label."""
    prior: float
    """What is said of a row if the model does not count."""


class Candidate(NamedTuple):
    """A model with a field: how much the model counts, and what the field is like."""

    estimator_weight: float
    field: dict[str, float]
    """C and eps of its `Strength`, or the shares of its kinds; empty without a field."""


@dataclass(frozen=True)
class Judged:
    """Candidates, and how they did on held-out labels.

    Parameters
    ----------
    candidates : list of Candidate
        The first is the model without a field.
    losses : ndarray of shape (n_candidates,)
        Mean losses.
    best : int
        Which was chosen.
    outputs : list of ndarray of shape (n_judged, n_columns)
        What each candidate says of the rows that were held out.
    rows : ndarray of int
        Those rows, as positions among the labelled ones.
    shown : ndarray of shape (n_judged, n_columns) or None
        What the choice says of them if every fold takes what the others would have chosen.
    """

    candidates: list[Candidate]
    losses: NDArray[np.float64]
    best: int
    outputs: list[Columns]
    rows: NDArray[np.int64]
    shown: Columns | None = None


class Correction:
    """The errors of a model at labelled rows as a field over a graph.

    Parameters
    ----------
    known : Known
        The labelled rows.
    system : FieldSystem
        The linear systems of the graph.
    strengths : list of Strength
        From weak to strong: each starts from the field before it.
    enough : float, default=ENOUGH
        Held-out labels after which further folds are left out.
    verbose : bool, default=False
        Show a progress bar.
    """

    def __init__(
        self,
        known: Known,
        system: FieldSystem,
        strengths: Sequence[Strength],
        enough: float = ENOUGH,
        verbose: bool = False,
    ) -> None:
        # C is in units of the weights: ten times the weights is the same field.
        self._graph, self._weights = known.graph, known.weights / known.weights.mean()
        self._every = np.arange(len(known.weights))
        self._targets, self._held_out, self._prior = known.targets, known.held_out, known.prior
        self._system, self._strengths = system, strengths
        self._enough, self._verbose = enough, verbose

    def judge(self, folds: Folds, loss: Loss) -> Judged:
        """Judge the model alone, and with fields of every strength.

        Parameters
        ----------
        folds : list of (train, test)
            Positions among the labelled rows. Labels of `test` are hidden; rows stay.
        loss : callable
            What is judged.
        """
        strengths = self._strengths
        candidates = [Candidate(1.0, {})]
        candidates += [Candidate(share, s._asdict()) for s in strengths for share in (1.0, 0.0)]
        outputs: list[list[Columns]] = [[] for _ in candidates]
        seen = np.cumsum([len(test) for _, test in folds])
        used = folds[: 1 + int(np.searchsorted(seen, self._enough))]
        total = len(strengths) * len(used)
        with progress_bar(self._verbose, total=total, unit="field", desc="strength") as bar:
            for train, test in used:
                outputs[0].append(self._held_out[test])
                for place, found in enumerate(self._outputs(train, test, strengths)):
                    outputs[1 + place].append(found)
                    bar.update(place % 2)
        rows = np.concatenate([test for _, test in used])
        every = [np.concatenate(each) for each in outputs]
        lost, wrong = map(np.array, zip(*(loss(each, rows) for each in every), strict=True))
        weights = self._weights[rows]
        means = np.average(lost, axis=1, weights=weights)
        return Judged(candidates, means, _best(candidates, lost, wrong, weights), every, rows)

    def fit(self, candidate: Candidate) -> Field:
        """Return the field of a candidate, fitted to all labelled rows."""
        strength = Strength(**candidate.field)
        values = self._targets - self._base(candidate.estimator_weight)
        data = FieldData.of(self._graph, self._every, self._weights, values)
        solved = self._system.solve(data, strength)
        # At the minimum 1/2 g'Tg + C/2 sum s (r - g)^2 is C/2 sum s r (r - g).
        left = values - self._graph.rows @ solved
        lost = float((self._weights[:, None] * values * left).sum())
        return Field(self._graph.nodes, solved, strength, 0.5 * strength.C * lost)

    def flow(self) -> Field:
        """Return a field that flows from the labels, with the least C that follows them."""
        own = self._graph.rows
        for C in _WITH_SOURCES:
            field = self._flow(Strength(C, FLOW))
            said = self._prior + own @ field.values
            if (winning_class(said - 0.5) == winning_class(self._targets - 0.5)).all():
                break
        return field

    def _flow(self, strength: Strength) -> Field:
        """Return the field that flows from the labels, which are sources and sinks.

        With C = 0 it is the limit of a small C. Its size is the one that fits the labels best. The
        labels around their mean sum to 0, so that the field does not drift to one class far from
        all of them, as in Poisson learning (Calder, Cook, Thorpe and Slepcev, 2020).
        """
        graph, scale = self._graph, self._graph.scale
        s = self._weights
        flow = self._targets - np.average(self._targets, axis=0, weights=s)
        scaled = graph._replace(rows=graph.rows.multiply(scale).tocsr())
        data = FieldData.of(scaled, self._every, s, flow)
        if strength.C == 0:
            data = data._replace(diagonal=np.zeros(len(scale)), across=None)
        solved = self._system.solve(data, strength._replace(C=strength.C or 1.0))
        values = scale[:, None] * solved
        own = np.asarray(graph.rows @ values)
        told = float((s[:, None] * own * flow).sum())
        size = told / (float((s[:, None] * own**2).sum()) or 1.0)
        # At the minimum what is minimised is minus half of what the labels are told.
        enlarged = (size * values).astype(np.float32)
        return Field(graph.nodes, enlarged, strength, -0.5 * (strength.C or 1.0) * told)

    def _base(self, share: float) -> Columns:
        return share * self._held_out + (1.0 - share) * self._prior

    def _outputs(
        self, train: NDArray[np.int64], test: NDArray[np.int64], strengths: Sequence[Strength]
    ) -> Any:
        """Yield what each strength says of the held-out rows: with the model, and without it."""
        k = self._targets.shape[1]
        bases = [self._base(1.0), self._base(0.0)]
        values = np.hstack([self._targets - base for base in bases])[train]
        data = FieldData.of(self._graph, train, self._weights[train], values)
        for g in self._system.along(data, strengths, self._graph.rows[test]):
            for part, base in enumerate(bases):
                yield base[test] + g[:, part * k : (part + 1) * k]


def _best(
    candidates: Sequence[Candidate], lost: Columns, wrong: Columns, weights: NDArray[np.float64]
) -> int:
    """Return which candidate to take: the first, the model alone, unless another surely wins.

    A winner has no more errors, and less loss. The best of many is often so by luck. So its loss
    is less by some standard errors of the difference. Beside the model a field does little harm:
    there it is enough if it surely loses less than `_HARMLESS`, which counts where labels are
    many.
    """
    gains = lost[0] - lost
    gain = np.average(gains, axis=1, weights=weights)
    spread = np.sqrt((weights**2 * (gains - gain[:, None]) ** 2).sum(axis=1)) / weights.sum()
    beside = np.array([candidate.estimator_weight > 0 for candidate in candidates])
    needed = np.where(beside, _SURE_BESIDE * spread - _HARMLESS, _SURE_ALONE * spread)
    wins = (gain > np.maximum(0.0, needed)) & ((wrong[0] - wrong) @ weights >= 0)
    return int(np.argmax(np.where(wins, gain, -np.inf))) if wins.any() else 0
