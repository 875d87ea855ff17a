"""The state that all tabs see: answers, the rows to show, what was learnt."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from .classes import AnswerError, Classes, quantity
from .journal import Answer, How, Journal, Kind
from .learning import AHEAD, FirstModel, Labels, Learner, Learnt
from .material import Material, in_units
from .neighbours import AlikeRows
from .progress import Progress
from .review import Review, confirmed
from .saving import Saving, Write
from .standing import Standing
from .targets import OneClass, Quantity, SeveralLabels

_HELD = 2  # rows at the head of the queue that stay: a person is looking at them
_RECENT = 12  # answers that are listed
_PAST = 25  # points of the curve that are computed again after a restart
_ANYTHING: Any = object()  # the default of `seen`: the answer is kept whatever stands there


class MeanwhileError(AnswerError):
    """An answer that was not kept, because another tab was faster; given again, it is kept."""


class Session:
    """One labelling of one set of rows.

    Parameters
    ----------
    material : Material
        The rows.
    journal : Journal
        Where answers are kept.
    classes : sequence of str or None
        The classes, if no others are allowed.
    regression : bool
        Whether labels are quantities.
    save, predict : callable or None
        Write a model, and its predictions of all rows; see `Saving`.
    first : FirstModel or None
        Chooses rows until there are labels of two classes.
    second : bool
        Whether rows that others have answered come first, where a second answer tells most.
    """

    def __init__(
        self,
        material: Material,
        journal: Journal,
        *,
        classes: Sequence[str] | None = None,
        regression: bool = False,
        save: Write | None = None,
        predict: Write | None = None,
        first: FirstModel | None = None,
        second: bool = False,
    ) -> None:
        self.material, self.journal, self._saving = material, journal, Saving(save, predict)
        self._alike = AlikeRows(material)
        units = in_units(material)
        self._review = Review(material, units[0])
        self.regression = regression
        several = SeveralLabels if journal.several else OneClass
        self._kind: type[OneClass] = Quantity if regression else several
        self._lock = threading.RLock()
        self._standing, self._second = Standing(journal), second
        named = classes or (first.classes if first is not None else ())
        self.classes, self._first = Classes(named, fixed=classes is not None), first
        if journal.several:
            self._kind.meant(self.classes, list(named))  # raises if a name has the separator
        added = {a.label for a in journal.answers if a.how != "file"}  # a person said so
        for label in dict.fromkeys(label for _, _, label in journal.lines()):
            self._admit(label, label in added)
        self._learnt = Learnt()
        self._progress = Progress()
        # Columns change their places only when labels have doubled: eyes get used to places.
        self._order: tuple[int, list[str]] = (0, [])
        self.version = 0  # grows when what is shown changes
        self._changes = 0  # answers and undos so far
        self._queue: list[tuple[int, How]] = []
        self.learner = Learner(*units, self.labels, self._past, self._take, first)
        rng = np.random.default_rng(len(journal.answers))
        self._queue = self._of_others(rng) or [(row, "check") for row in self._free(rng, AHEAD)]

    def _of_others(self, rng: np.random.Generator) -> list[tuple[int, How]]:
        """Return rows that others have answered, if such rows come first; no model has spoken."""
        left = sorted(set(self._standing.labels) - self._standing.done()) if self._second else []
        return [(row, "second") for row in rng.permutation(left).tolist()[:AHEAD]]

    def start(self) -> None:
        """Begin to learn in the background."""
        self.learner.start()

    def end(self) -> None:
        """Stop learning, and close the files."""
        self.learner.end()
        if self.learner.is_alive():
            self.learner.join(timeout=5)
        self.journal.close()

    # ------------------------------------------------------------------ answers

    def answer(
        self, row: int, kind: Kind, label: Any = None, seen: Any = _ANYTHING, new: bool = False
    ) -> dict[str, Any]:
        """Keep an answer, and return the new state; the answer is on the disk then.

        `label` is a text, or a list of names where rows have several labels.
        `seen` is the answer that the person saw at the row, as `row` returns it. If the row has
        another one by now, nothing is kept, and MeanwhileError says so. With `new` the row may
        belong to none of the classes, even if no others are offered.
        """
        with self._lock:
            if not 0 <= row < len(self.material):
                raise AnswerError(f"there is no row {row}.")
            known = self.classes.opened() if new else self.classes
            label = self._kind.meant(known, label) if kind == "label" else None
            now, given = self._standing.answer(row), {"kind": kind, "label": label}
            if seen is not _ANYTHING and now not in (seen, given) and kind != "skip":
                lost = _words(given)
                lost = lost[0].upper() + lost[1:]
                raise MeanwhileError(
                    f"Another tab has changed row {row + 1} meanwhile: it has {_words(now)}. "
                    f"{lost} was not kept. Answer again to replace the other."
                )
            how: How = next((how for r, how in self._queue if r == row), "chosen")
            said = self._learnt.said(row)
            self.journal.add(Answer(row, kind, label, said, how, self._standing.me))
            if label is not None:
                self._admit(label, new)
            self._queue = [entry for entry in self._queue if entry[0] != row]
            return self._changed()

    def undo(self, seen: Any = _ANYTHING) -> dict[str, Any]:
        """Take the last answer back; its row is the next one to be shown.

        `seen` is the last answer that the person saw, as `state` lists it.
        """
        with self._lock:
            if not self._standing.own:
                raise AnswerError("there is no answer to take back.")
            last = self._standing.own[-1]
            if seen is not _ANYTHING and seen != _listed(last):
                raise MeanwhileError(
                    f"Another tab has answered meanwhile: row {last.row + 1} has "
                    f"{_words(_listed(last))}. Nothing was taken back. Undo again to take it back."
                )
            self.journal.add(Answer(last.row, "undo", annotator=self._standing.me))
            others = [entry for entry in self._queue if entry[0] != last.row]
            self._queue = [(last.row, last.how), *others]
            return self._changed()

    def _changed(self) -> dict[str, Any]:
        self._standing.refresh()
        if not self._queue:
            self._queue = [(row, "check") for row in self._free(np.random.default_rng(), AHEAD)]
        self.version += 1
        self._changes += 1
        self.learner.wake()
        return self.state()

    def _admit(self, label: str, new: bool = False) -> None:
        """Take note of a label that is kept."""
        if self.regression:
            quantity(label)
        for name in self._kind.listed(label):
            self.classes.admit(name, new=new)

    # ----------------------------------------------------------------- learning

    def labels(self, upto: int | None = None) -> Labels:
        """Return what the learner needs to know, after all answers or the first ones."""
        with self._lock:
            known = self._standing.labels if upto is None else self.journal.labels(upto)
            rows = np.array(sorted(known), dtype=np.int64)
            checks = {a.row for a in self.journal.answers if a.how == "check"}
            held = {row for row, _ in self._queue[:_HELD]}
            return Labels(
                rows=rows,
                labels=[known[row] for row in rows.tolist()],
                closed=np.array(sorted(self._standing.closed() | held), dtype=np.int64),
                checks=frozenset(checks),
                kind=self._kind(tuple(self.classes.names)),
                changes=self._changes if upto is None else -1,
                ahead=len(self.journal.answers) + _HELD,
                answers=self.journal.lines() if upto is None else [],
                me=self._standing.me,
                done=frozenset(self._standing.done() | held),
                second=self._second,
            )

    def _past(self) -> list[Labels]:
        """Return the labels at earlier times: a restart draws the curve of accuracy from them."""
        n = len(self.journal.answers)
        return [self.labels(upto) for upto in range(10, n, max(10, n // _PAST))]

    def _free(self, rng: np.random.Generator, n: int) -> list[int]:
        free = np.ones(len(self.material), dtype=bool)
        free[list(self._standing.closed())] = False
        left = np.flatnonzero(free)
        return rng.choice(left, min(n, len(left)), replace=False).tolist()  # type: ignore[no-any-return]

    def _take(self, learnt: Learnt) -> None:
        """Take over what the thread has learnt; the rows that a person is looking at stay."""
        with self._lock:
            held = self._queue[:_HELD]
            looked = {row for row, _ in held}
            closed, done = self._standing.closed() | looked, self._standing.done() | looked
            self._queue = held + [
                (row, how)
                for row, how in learnt.queue
                if row not in (done if how == "second" else closed)
            ]
            self._learnt = learnt
            self._standing.agree(learnt.people)
            if learnt.order and learnt.n_labels >= 2 * self._order[0]:
                self._order = learnt.n_labels, learnt.order
            self._progress.note(learnt)
            self.version += 1

    # -------------------------------------------------------------- what is shown

    def state(self) -> dict[str, Any]:
        """Return everything the page shows beside the row."""
        with self._lock:
            learnt, answers = self._learnt, self._standing.own
            given = Counter(
                chain.from_iterable(map(self._kind.listed, self._standing.labels.values()))
            )
            return {
                "version": self.version,
                "rows": len(self.material),
                "labelled": len(self._standing.labels),
                "unknown": len(self._standing.unknown()),
                "classes": list(self.classes.names),
                "fixed": self.classes.fixed,
                "regression": self.regression,
                "several": self.journal.several,
                "counts": [given[name] for name in self.classes.names],
                "shares": learnt.shares,
                "queue": [row for row, _ in self._queue],
                "learning": self.learner.failed or ("" if self.learner.places is not None else "…"),
                "current": learnt.changes == self._changes,
                "model": learnt.changes,
                "modelLabels": learnt.n_labels,
                "modelSeconds": round(learnt.seconds, 3),
                "accuracy": learnt.accuracy,
                "history": self._progress.history[-500:],
                "steady": self._progress.steadiness(learnt),
                "outlook": learnt.outlook,
                "mistakes": [m for m in learnt.mistakes if self._said_by_me(m)],
                "annotator": self._standing.me,
                "people": learnt.people.reports,
                "second": [row for row, how in self._queue if how == "second"],
                "recent": [_listed(a) for a in answers[-_RECENT:]][::-1],
                "canUndo": bool(answers),
                "canSave": self._saving.possible,
                "first": self._first.said if self._first and learnt.codes is None else "",
                "notes": [*self.material.notes, *self.classes.doubts()],
                "behind": self._behind(),
            }

    def row(self, number: int) -> dict[str, Any]:
        """Return a row as the page shows it, with its label and what the model says."""
        with self._lock:
            learnt = self._learnt
            answer = self._standing.answer(number)
        page = self.material.page(number, self._order[1])
        known = None if answer is None else answer["label"]
        said = {
            "label": known,
            "names": [] if known is None else self._kind.listed(known),
            "answer": answer,
            # Before an answer those of others stay hidden, as the model's opinion does.
            "others": [] if answer is None else self._standing.others(number),
            "said": learnt.said(number),
            "chances": learnt.chances(number) if self.journal.several else None,
        }
        return {**page, **said, "near": self._alike(number, self._now())}

    def review(self) -> dict[str, Any]:
        """Return labels that look wrong, with the nearest labelled rows."""
        with self._lock:
            told, known = self._learnt.told, dict(self._standing.labels)
            mine, settled = self._standing.own_labels(), confirmed(self._standing.own)
        return self._review(told, known, mine, settled)

    def _said_by_me(self, mistake: dict[str, Any]) -> bool:
        answer = self._standing.answer(mistake["row"])
        return answer is not None and answer["label"] == mistake["label"]

    def _behind(self) -> str:
        """Return what the page says where the file of labels could not be written."""
        journal = self.journal
        return journal.behind and (
            f"{journal.path.name} cannot be written ({journal.behind}). Your answers are kept in "
            f"{journal.place.name}, and {journal.path.name} follows when it can be written again."
        )

    def map(self) -> dict[str, Any]:
        """Return the places of the rows on the map."""
        places, model = self.learner.places, self.learner.model
        if places is None or model is None:
            return {"rows": [], "x": [], "y": []}
        rows = model.cover.rows
        return {"rows": rows.tolist(), "x": places[:, 0].tolist(), "y": places[:, 1].tolist()}

    def colours(self) -> dict[str, Any]:
        """Return the predictions of the rows on the map, and the labels of the labelled rows."""
        with self._lock:
            # What others said of a row is no secret after one's own answer.
            learnt, known = self._learnt, self._standing.own_labels()
            kind = self._kind(tuple(self.classes.names))
        predicted = [] if learnt.codes is None else kind.colours(learnt.codes)
        # Labels are their own best scores.
        given = kind.colours(kind.codes(kind.table(list(known.values())))) if known else []
        return {"predicted": predicted, "labelled": dict(zip(known, given, strict=True))}

    @property
    def saving(self) -> bool:
        """Whether a model or predictions are being written."""
        return self._saving.busy

    def write_model(self) -> str:
        """Write a model of the labels so far, and return a sentence about it."""
        return self._saving.model(self._now)

    def write_predictions(self) -> str:
        """Write predictions of all rows, by a model of the labels so far; return a sentence."""
        return self._saving.predictions(self._now)

    def _now(self) -> dict[int, str]:
        with self._lock:
            return dict(self._standing.labels)


def _listed(answer: Answer) -> dict[str, Any]:
    return {"row": answer.row, "kind": answer.kind, "label": answer.label}


def _words(answer: dict[str, Any] | None) -> str:
    """Return an answer in words."""
    if answer is None:
        return "no answer"
    kinds = {"unknown": 'the answer "do not know"', "skip": 'the answer "skip"'}
    return kinds.get(answer["kind"], f"the answer {answer['label']!r}")
