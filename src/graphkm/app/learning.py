"""The thread that learns after every answer, and what it has learnt."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..active import Cover
from ..active.suggestions import UNSURE
from .ground import Ground
from .journal import How
from .judging import judged, mistakes
from .label_file import Given
from .live_model import Fit, LiveModel
from .outlook import outlook
from .people import People, reckon
from .review import Told
from .targets import OneClass

AHEAD = 12
"""Rows that wait to be shown."""

_CHECKED = 4  # every fourth row is drawn at random: only such rows measure the accuracy
_LEAST = 1e-3  # the least interest in a row: the model is sure of it


@dataclass(frozen=True)
class Labels:
    """What has been answered, as the thread sees it."""

    rows: NDArray[np.int64]
    labels: list[str]
    closed: NDArray[np.int64]  # rows that shall not be shown now, labelled ones among them
    checks: frozenset[int]  # labelled rows that were drawn at random
    kind: OneClass  # what labels are
    changes: int = 0  # how often answers have changed
    ahead: int = 0  # answers so far, and rows that are on screens
    answers: list[Given] = field(default_factory=list)  # of all people
    asked: Sequence[str | None] = (None,)  # who may be asked for second answers
    wanted: int = AHEAD  # rows that shall wait

    @property
    def drawn(self) -> NDArray[np.bool_]:
        """Which of the labelled rows were drawn at random."""
        return np.array([row in self.checks for row in self.rows.tolist()], dtype=bool)


@dataclass(frozen=True)
class FirstModel:
    """A model from before, which chooses rows until there are enough labels to learn from."""

    unsure: Callable[[NDArray[np.int64]], NDArray[np.float64]]  # how unsure of rows, 0 to 1
    classes: list[str]
    said: str  # what the page says of it
    several: bool = False  # whether its rows have several labels


@dataclass(frozen=True)
class Learnt:
    """What the page shows of a model."""

    n_labels: int = 0
    changes: int = -1  # `Labels.changes` of its labels
    queue: list[tuple[int, How]] = field(default_factory=list)
    codes: NDArray[np.float64] | None = None  # predictions of the cover's rows, as numbers
    scores: NDArray[np.float64] | None = None  # of these rows, a column for each class or label
    kind: OneClass | None = None  # what the columns are
    place: dict[int, int] = field(default_factory=dict)  # of each row among the cover's
    accuracy: dict[str, Any] | None = None
    mistakes: list[dict[str, Any]] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)
    order: list[str] = field(default_factory=list)  # columns, the ones that matter first
    seconds: float = 0.0  # processor time
    people: People = field(default_factory=People)
    told: Told | None = None  # labels, and what is said without each of them
    outlook: dict[str, Any] | None = None  # what more labels would give, from some labels ago

    def said(self, row: int) -> str | None:
        """Return what the model says of a row; None if it says nothing."""
        if self.kind is None or self.codes is None or row not in self.place:
            return None
        place = self.place[row]
        return self.kind.words(self.codes[place : place + 1])[0]

    def chances(self, row: int) -> dict[str, float] | None:
        """Return the probability of every class or label of a row; None of quantities."""
        if self.kind is None or self.scores is None or row not in self.place or not self.shares:
            return None
        found = np.clip(self.scores[self.place[row]], 0.0, 1.0)
        return dict(zip(self.kind.names, found.tolist(), strict=True))


class Learner(threading.Thread):
    """Fits a live model whenever labels have changed, and suggests rows.

    Parameters
    ----------
    ground : Ground
        All rows, in comparable units, and their graph.
    labels : callable
        Returns the present `Labels`.
    past : callable
        Returns earlier `Labels`, oldest first: after a restart they give the curve of accuracy.
    publish : callable
        Takes what was learnt.
    first : FirstModel or None
        Chooses rows before there is anything to learn from.
    relevant : str or None
        The class whose rows come first, the likeliest of them before others, once there is a label
        of it and a model. None: the most useful rows come first.
    """

    def __init__(
        self,
        ground: Ground,
        labels: Callable[[], Labels],
        past: Callable[[], list[Labels]],
        publish: Callable[[Learnt], None],
        first: FirstModel | None = None,
        relevant: str | None = None,
    ) -> None:
        super().__init__(name="graphkm-learner", daemon=True)
        self._ground, self.X, self._names = ground, ground.X, ground.names
        self._labels, self._publish = labels, publish
        self._past, self._first, self._relevant = past, first, relevant
        self._interest: NDArray[np.float64] | None = None  # in each row, by the first model
        self._fit: Fit | None = None  # the last one
        self._ahead: tuple[int, dict[str, Any] | None] = 0, None  # labels, and the outlook
        self._dirty, self._over = threading.Event(), False
        self._rng = np.random.default_rng(0)
        self.model: LiveModel | None = None
        self.failed: str | None = None

    def wake(self) -> None:
        """Say that labels have changed."""
        self._dirty.set()

    def end(self) -> None:
        """Stop when the present fit is done."""
        self._over = True
        self._dirty.set()

    def run(self) -> None:
        """Prepare the graph, then learn whenever there is something new."""
        try:
            cover = self._ground.cover()
            self.model = LiveModel(self.X, cover)
            if self._first is not None:
                self._interest = np.full(self.X.shape[0], _LEAST)
                self._interest[cover.rows] = self._first.unsure(cover.rows) ** UNSURE
            for earlier in self._past():
                self._publish(self.learn(earlier))
            self._dirty.set()
            while True:
                self._dirty.wait()
                if self._over:
                    return
                self._dirty.clear()
                known = self._labels()
                learnt = self.learn(known)
                self._publish(learnt)
                if not self._dirty.is_set() and self._look_ahead(known):
                    self._publish(replace(learnt, outlook=self._ahead[1]))
        except Exception as error:  # the page says so, and answers are still kept
            traceback.print_exc()
            self.failed = f"{type(error).__name__}: {error}"
            self._publish(Learnt(queue=[(int(r), "check") for r in self._at_random(AHEAD, [])]))

    def learn(self, known: Labels) -> Learnt:
        """Return what these labels teach."""
        assert self.model is not None
        start = time.thread_time()
        cover = self.model.cover
        kind, table = known.kind, known.kind.table(known.labels)
        varied = not kind.shares_count or bool((table != table[:1]).any())
        self._fit = None
        if len(known.rows) < 2 or not varied:
            return Learnt(len(known.rows), known.changes, self._queue(cover, known, self._interest))
        fit = self._fit = self.model.fit(known.rows, table)
        codes = kind.codes(fit.scores)
        interest = np.ones(self.X.shape[0])
        interest[cover.rows] = np.maximum(kind.unsure(fit.scores), _LEAST) ** UNSURE
        people = reckon(known.answers, kind, known.rows, fit.held_out, table, known.asked)
        likely = self._likeliest(cover, known, fit.scores)
        return Learnt(
            n_labels=len(known.rows),
            changes=known.changes,
            queue=likely or self._queue(cover, known, interest),
            people=people,
            codes=codes,
            scores=fit.scores,
            kind=kind,
            place={row: k for k, row in enumerate(cover.rows.tolist())},
            accuracy=judged(fit, kind, table, known.drawn),
            mistakes=mistakes(fit, kind, table, known.rows, known.labels),
            shares=kind.shares(codes),
            order=self._order(fit.scores),
            seconds=time.thread_time() - start,
            told=Told(known.rows, known.labels, table, fit.held_out, kind),
            outlook=self._ahead[1],
        )

    def _look_ahead(self, known: Labels) -> bool:
        """Compute what more labels would give, if labels have changed by a tenth; say whether."""
        assert self.model is not None
        before, now = self._ahead[0], len(known.rows)
        if abs(now - before) < max(1, before // 10):
            return False
        fit, left = self._fit, self.X.shape[0] - now
        found = None
        if fit is not None:
            table, checks = known.kind.table(known.labels), known.drawn
            found = outlook(self.model, fit, known.kind, table, checks, left)
        self._ahead = now, found
        return found is not None

    def _queue(
        self, cover: Cover, known: Labels, interest: NDArray[np.float64] | None
    ) -> list[tuple[int, How]]:
        """Return rows to show: useful ones, with some drawn at random between them."""
        chosen = cover.choose(known.wanted, known.closed, interest).tolist()
        drawn = self._at_random(known.wanted // _CHECKED, [*known.closed.tolist(), *chosen])
        queue: list[tuple[int, How]] = []
        for row in chosen:
            # Rows are counted from the first answer on: every answer makes a new queue.
            if (known.ahead + len(queue)) % _CHECKED == _CHECKED - 1 and drawn:
                queue.append((drawn.pop(), "check"))
            queue.append((row, "suggested"))
        return queue

    def _likeliest(
        self, cover: Cover, known: Labels, scores: NDArray[np.float64]
    ) -> list[tuple[int, How]]:
        """Return the rows that most probably are relevant, none at random; none if none is known.

        Rows at random would measure the accuracy, but each costs an answer that finds little.
        """
        names, kind = list(known.kind.names), known.kind
        if not any(self._relevant in kind.listed(label) for label in known.labels):
            return []
        likely = scores[:, names.index(str(self._relevant))]
        free = ~np.isin(cover.rows, known.closed)
        best = cover.rows[free][np.argsort(-likely[free], kind="stable")][: known.wanted]
        return [(row, "suggested") for row in best.tolist()]

    def _at_random(self, n: int, closed: list[int]) -> list[int]:
        free = np.ones(self.X.shape[0], dtype=bool)
        free[closed] = False
        left = np.flatnonzero(free)
        return self._rng.choice(left, min(n, len(left)), replace=False).tolist()  # type: ignore[no-any-return]

    def _order(self, scores: NDArray[np.float64]) -> list[str]:
        """Return the columns, those that correlate most with the scores first."""
        assert self.model is not None
        sample = self.X[self.model.cover.rows]
        if len(self._names) < 2 or not isinstance(sample, np.ndarray):
            return []
        centred = sample - sample.mean(axis=0)
        size = np.linalg.norm(centred, axis=0)
        wanted = scores - scores.mean(axis=0)
        wanted /= np.maximum(np.linalg.norm(wanted, axis=0), 1e-12)
        along = np.abs(centred.T @ wanted).max(axis=1) / np.where(size > 0, size, np.inf)
        best = np.argsort(-along, kind="stable").tolist()
        return list(dict.fromkeys(self._names[k] for k in best))  # a category has several columns
