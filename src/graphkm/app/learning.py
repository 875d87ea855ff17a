"""The thread that learns after every answer, and what it has learnt."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..active import Cover
from ..active.suggestions import UNSURE
from .journal import How
from .live_model import Fit, LiveModel
from .places import map_places

AHEAD = 12
"""Rows that wait to be shown."""

_CHECKED = 4  # every fourth row is drawn at random: only such rows measure the accuracy
_MISTAKES = 20  # likely mistakes that are listed, at most
_LEAST = 1e-3  # the least interest in a row: the model is sure of it


@dataclass(frozen=True)
class Labels:
    """What has been answered, as the thread sees it."""

    rows: NDArray[np.int64]
    labels: list[str]
    closed: NDArray[np.int64]  # rows that shall not be shown now, labelled ones among them
    checks: frozenset[int]  # labelled rows that were drawn at random
    classes: list[str]  # empty for quantities
    changes: int = 0  # how often answers have changed
    ahead: int = 0  # answers so far, and rows that stay at the head of the queue


@dataclass(frozen=True)
class FirstModel:
    """A model from before, which chooses rows until there are enough labels to learn from."""

    unsure: Callable[[NDArray[np.int64]], NDArray[np.float64]]  # how unsure of rows, 0 to 1
    classes: list[str]
    said: str  # what the page says of it


@dataclass(frozen=True)
class Learnt:
    """What the page shows of a model."""

    n_labels: int = 0
    changes: int = -1  # `Labels.changes` of its labels
    queue: list[tuple[int, How]] = field(default_factory=list)
    codes: NDArray[np.float64] | None = None  # class or quantity of each of the cover's rows
    said: dict[int, str] = field(default_factory=dict)  # predictions, by row of the sample
    accuracy: dict[str, Any] | None = None
    mistakes: list[dict[str, Any]] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)
    order: list[str] = field(default_factory=list)  # columns, the ones that matter first
    seconds: float = 0.0  # processor time


class Learner(threading.Thread):
    """Fits a live model whenever labels have changed, and suggests rows.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        All rows, in comparable units.
    names : list of str
        For each column of X, the column of the table that it comes from.
    labels : callable
        Returns the present `Labels`.
    past : callable
        Returns earlier `Labels`, oldest first: after a restart they give the curve of accuracy.
    publish : callable
        Takes what was learnt.
    first : FirstModel or None
        Chooses rows before there is anything to learn from.
    """

    def __init__(
        self,
        X: Any,
        names: list[str],
        labels: Callable[[], Labels],
        past: Callable[[], list[Labels]],
        publish: Callable[[Learnt], None],
        first: FirstModel | None = None,
    ) -> None:
        super().__init__(name="graphkm-learner", daemon=True)
        self.X, self._names, self._labels, self._publish = X, names, labels, publish
        self._past, self._first = past, first
        self._interest: NDArray[np.float64] | None = None  # in each row, by the first model
        self._dirty, self._over = threading.Event(), False
        self._rng = np.random.default_rng(0)
        self.model: LiveModel | None = None
        self.places: NDArray[np.int64] | None = None
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
            cover = Cover(self.X)
            self.model = LiveModel(self.X, cover)
            self.places = map_places(self.X[cover.rows])
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
                self._publish(self.learn(self._labels()))
        except Exception as error:  # the page says so, and answers are still kept
            traceback.print_exc()
            self.failed = f"{type(error).__name__}: {error}"
            self._publish(Learnt(queue=[(int(r), "check") for r in self._at_random(AHEAD, [])]))

    def learn(self, known: Labels) -> Learnt:
        """Return what these labels teach."""
        assert self.model is not None
        start = time.thread_time()
        cover = self.model.cover
        quantities = not known.classes
        enough = len(known.rows) >= 2 and (quantities or len(set(known.labels)) > 1)
        if not enough:
            return Learnt(len(known.rows), known.changes, self._queue(cover, known, self._interest))
        fit = self.model.fit(known.rows, _targets(known))
        codes = fit.scores[:, 0] if quantities else fit.scores.argmax(axis=1).astype(np.float64)
        interest = np.ones(self.X.shape[0])
        if not quantities:
            interest[cover.rows] = np.maximum(1.0 - _margins(fit.scores), _LEAST) ** UNSURE
        return Learnt(
            n_labels=len(known.rows),
            changes=known.changes,
            queue=self._queue(cover, known, interest),
            codes=codes,
            said=_said(cover.rows, codes, known.classes),
            accuracy=_judged(fit, known),
            mistakes=_mistakes(fit, known),
            shares=_shares(codes, known.classes),
            order=self._order(fit.scores),
            seconds=time.thread_time() - start,
        )

    def _queue(
        self, cover: Cover, known: Labels, interest: NDArray[np.float64] | None
    ) -> list[tuple[int, How]]:
        """Return rows to show: useful ones, with some drawn at random between them."""
        chosen = cover.choose(AHEAD, known.closed, interest).tolist()
        drawn = self._at_random(AHEAD // _CHECKED, [*known.closed.tolist(), *chosen])
        queue: list[tuple[int, How]] = []
        for row in chosen:
            # Rows are counted from the first answer on: every answer makes a new queue.
            if (known.ahead + len(queue)) % _CHECKED == _CHECKED - 1 and drawn:
                queue.append((drawn.pop(), "check"))
            queue.append((row, "suggested"))
        return queue

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


def _targets(known: Labels) -> NDArray[np.float64]:
    if not known.classes:
        return np.array([[float(label)] for label in known.labels])
    place = {label: k for k, label in enumerate(known.classes)}
    return np.eye(len(known.classes))[[place[label] for label in known.labels]]


def _margins(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    best = np.partition(scores, -2, axis=1)[:, -2:]
    return np.asarray(best[:, 1] - best[:, 0])


def _said(
    rows: NDArray[np.int64], codes: NDArray[np.float64], classes: list[str]
) -> dict[int, str]:
    words = [classes[int(c)] for c in codes] if classes else [f"{v:.6g}" for v in codes.tolist()]
    return dict(zip(rows.tolist(), words, strict=True))


def _shares(codes: NDArray[np.float64], classes: list[str]) -> list[float]:
    if not classes:
        return []
    return (np.bincount(codes.astype(int), minlength=len(classes)) / len(codes)).tolist()  # type: ignore[no-any-return]


def _judged(fit: Fit, known: Labels) -> dict[str, Any] | None:
    """Return how good the model is on rows drawn at random, each without its own label."""
    checks = np.array([row in known.checks for row in known.rows.tolist()])
    n = int(checks.sum())
    if n < 5:
        return None
    targets = _targets(known)[checks]
    with_graph, without = fit.held_out[checks], fit.without[checks]
    if known.classes:
        truth = targets.argmax(axis=1)
        right = float(np.mean(with_graph.argmax(axis=1) == truth))
        low, high = wilson(right, n)
        alone = float(np.mean(without.argmax(axis=1) == truth))
        return {"value": right, "low": low, "high": high, "without": alone, "rows": n}
    errors, alone_errors = np.abs(with_graph - targets), np.abs(without - targets)
    spread = 1.96 * float(errors.std(ddof=1)) / n**0.5
    mean = float(errors.mean())
    found = {"value": mean, "low": max(0.0, mean - spread), "high": mean + spread}
    return {**found, "without": float(alone_errors.mean()), "rows": n}


def wilson(share: float, n: int, z: float = 1.96) -> tuple[float, float]:
    """Return Wilson's interval of a share that was counted in n cases.

    Examples
    --------
    >>> [round(v, 3) for v in wilson(0.9, 50)]
    [0.786, 0.957]
    """
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5 / (1 + z * z / n)
    return max(0.0, centre - half), min(1.0, centre + half)


def _mistakes(fit: Fit, known: Labels) -> list[dict[str, Any]]:
    """Return the labelled rows on which the model, without their label, disagrees most."""
    targets = _targets(known)
    if known.classes:
        truth = targets.argmax(axis=1)
        own = fit.held_out[np.arange(len(truth)), truth]
        gap = fit.held_out.max(axis=1) - own
        said = [known.classes[k] for k in fit.held_out.argmax(axis=1).tolist()]
    else:
        gap = np.abs(fit.held_out - targets)[:, 0]
        gap = np.where(gap > 2 * gap.mean(), gap, 0.0)
        said = [f"{value:.6g}" for value in fit.held_out[:, 0].tolist()]
    worst = [k for k in np.argsort(-gap, kind="stable").tolist() if gap[k] > 0][:_MISTAKES]
    return [{"row": int(known.rows[k]), "label": known.labels[k], "said": said[k]} for k in worst]
