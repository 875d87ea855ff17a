"""What all people share: answers, classes, what was learnt, and who has which row."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from .classes import AnswerError, Classes, quantity
from .ground import Ground
from .journal import NO_ROW, Answer, Journal
from .learning import AHEAD, FirstModel, Labels, Learner, Learnt
from .material import Material
from .progress import Progress
from .reserving import Entry, Reserved
from .review import Review
from .saving import Saving, Write
from .standing import Person, Standing
from .targets import OneClass, Quantity, SeveralLabels

HELD = 2
"""Rows that stay on a screen when a new model arrives: a person is looking at them."""

Second = Literal["never", "fifth", "first"]
"""How often rows come that others have answered."""

_SECOND = 5  # every fifth row, where others have answered and second answers are wanted
_PAST = 25  # points of the curve that are computed again after a restart


class Team:
    """One labelling of one set of rows, by any number of people.

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
    relevant : str or None
        The class whose rows come first; None: the most useful rows come first.
    second : {"never", "fifth", "first"}, default="fifth"
        How often rows come that others have answered: never, every fifth time, or first of all.
    people : sequence of str or None, default=(None,)
        Who may answer; None is a person without a name.
    reserved : Path, optional
        The file of the rows that are on screens.
    ground : Ground, optional
        What follows from the rows, if it is known already.
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
        relevant: str | None = None,
        second: Second = "fifth",
        people: Sequence[Person] = (None,),
        reserved: Path | None = None,
        ground: Ground | None = None,
    ) -> None:
        self.material, self.journal, self.saving = material, journal, Saving(save, predict)
        self.ground = ground or Ground(material)
        self.review = Review(material, self.ground.X)
        self.regression, self.second, self.people = regression, second, tuple(people)
        several = SeveralLabels if journal.several else OneClass
        self.kind: type[OneClass] = Quantity if regression else several
        self.lock = threading.RLock()
        self.standing, self.reserved = Standing(journal), Reserved(reserved)
        self.first, self.relevant = first, relevant
        self._named = list(classes or (first.classes if first is not None else ()))
        self._fixed = classes is not None
        self.classes = self._all_classes()
        self.learnt, self.progress = Learnt(), Progress()
        # Columns change their places only when labels have doubled: eyes get used to places.
        self.order: tuple[int, list[str]] = (0, [])
        self.version = 0  # grows when what is shown changes
        self.changes = 0  # answers and undos so far
        rng = np.random.default_rng(len(journal.answers))
        self.queue: list[Entry] = [(row, "check") for row in self._free(rng, AHEAD)]
        self.learner = Learner(self.ground, self.labels, self._past, self._take, first, relevant)
        self.ground.tell(self.news)

    def start(self) -> None:
        """Begin to learn in the background."""
        self.learner.start()

    def end(self) -> None:
        """Stop learning, and close the files."""
        self.learner.end()
        if self.learner.is_alive():
            self.learner.join(timeout=5)
        self.journal.close()

    def news(self) -> None:
        """Note that something is to be shown."""
        with self.lock:
            self.version += 1

    # ------------------------------------------------------------------ answers

    def keep(self, answer: Answer, new: bool = False) -> None:
        """Keep an answer; it is on the disk when this returns."""
        self.journal.add(answer)
        self.standing.refresh()
        if answer.kind == "label" and answer.label is not None:
            self._admit(self.classes, answer.label, new)
        self.version += 1
        self.changes += 1
        self.learner.wake()

    def rename(self, who: Person, old: str, new: Any) -> None:
        """Give a class another name, which may be that of another class."""
        if self.regression:
            raise AnswerError("quantities have no classes.")
        if old not in self.classes.names:
            raise AnswerError(f"there is no class {old!r}.", "no_class", name=old)
        others = Classes([name for name in self.classes.names if name != old])
        name = self.kind.meant(others, [new] if self.journal.several else new)
        if name == old:
            raise AnswerError(f"the class is called {old!r} already.")
        self.keep(Answer(NO_ROW, "rename", name, annotator=who, old=old))
        self._rename(old, name)

    def take_back(self, who: Person, last: Answer) -> None:
        """Take back what a person did last."""
        self.keep(Answer(last.row, "undo", annotator=who))
        if last.kind == "rename" and last.old is not None:
            known, before = self._all_classes(), self.classes.names
            merged = str(last.label) in known.names
            order = before if merged else [last.old if n == last.label else n for n in before]
            place = {name: k for k, name in enumerate(order)}
            self.classes = Classes(
                sorted(known.names, key=lambda name: place.get(name, len(place))), fixed=known.fixed
            )
            self.learnt = Learnt(queue=self.learnt.queue)

    def _rename(self, old: str, new: str) -> None:
        names = [new if name == old else name for name in self.classes.names]
        self.classes = Classes(list(dict.fromkeys(names)), fixed=self._fixed)
        # What the model said has the old names, and the old columns: a new one comes at once.
        self.learnt = Learnt(queue=self.learnt.queue)

    def _all_classes(self) -> Classes:
        """Return the classes with today's names: those that were named, and those of labels."""
        found = Classes(self.journal.renamed(self._named), fixed=self._fixed)
        if self.journal.several:
            self.kind.meant(found, list(found.names))  # raises if a name has the separator
        added = {a.label for a in self.journal.acts if a.how != "file"}  # a person said so
        for label in dict.fromkeys(label for _, _, label in self.journal.lines()):
            self._admit(found, label, label in added)
        return found

    def _admit(self, classes: Classes, label: str, new: bool = False) -> None:
        """Take note of a label that is kept."""
        if self.regression:
            quantity(label)
        for name in self.kind.listed(label):
            classes.admit(name, new=new)

    # ----------------------------------------------------------------- who gets which row

    def deal(self, me: Person) -> list[Entry]:
        """Return the rows for a person, the first of which nobody else gets."""
        hand = self.reserved.hand(me)
        done, closed = self.standing.done(me), self.standing.closed(me)
        taken, n = self.reserved.taken(me), len(self.material)

        def fits(entry: Entry) -> bool:
            row, how = entry
            return row < n and row not in (done if how == "second" else closed)

        held = [entry for entry in hand.rows if fits(entry)]
        known = {row for row, _ in held} | taken
        again = [
            row for row in self._asks(me) if row not in known and fits((row, "second"))
        ][:AHEAD]  # fmt: skip
        new = [entry for entry in self.queue if entry[0] not in known and fits(entry)]
        if not new and not (again and self.second == "first"):
            rng = np.random.default_rng(len(self.journal.acts))
            new = [(row, "check") for row in self._free(rng, AHEAD, closed | known)]
        found = held + self._mixed(new, again, len(self.standing.own(me)) + len(held))
        self.reserved.put(me, found[: max(HELD, len(held))], hand.chosen)
        return found

    def _mixed(self, new: list[Entry], again: list[int], place: int) -> list[Entry]:
        """Return new rows, and rows that others have answered, in the order wanted."""
        if again and (self.second == "first" or not new):
            return [(row, "second") for row in again]
        found: list[Entry] = []
        for entry in new:
            if again and (place + len(found)) % _SECOND == _SECOND - 1:
                found.append((again.pop(0), "second"))
            found.append(entry)
        return found

    def _asks(self, me: Person) -> list[int]:
        """Return the rows of others that a person may be asked for, the most useful first."""
        if self.second == "never":
            return []
        found = self.learnt.people.ask.get(me)
        if found is not None or self.second == "fifth":
            return found or []
        left = sorted(set(self.standing.labels) - self.standing.done(me))  # no model has spoken
        rng = np.random.default_rng(len(self.journal.answers))
        return rng.permutation(left).tolist()  # type: ignore[no-any-return]

    def _free(self, rng: np.random.Generator, n: int, closed: set[int] | None = None) -> list[int]:
        free = np.ones(len(self.material), dtype=bool)
        free[list(self._closed() if closed is None else closed)] = False
        left = np.flatnonzero(free)
        return rng.choice(left, min(n, len(left)), replace=False).tolist()  # type: ignore[no-any-return]

    def _closed(self) -> set[int]:
        """Return the rows that nobody shall be shown as new ones."""
        done = [self.standing.done(who) for who in self.people]
        return set(self.standing.labels) | set.intersection(*done)

    # ----------------------------------------------------------------- learning

    def labels(self, upto: int | None = None) -> Labels:
        """Return what the learner needs to know, after all answers or the first ones."""
        with self.lock:
            known, names = self.standing.labels, set(self.classes.names)
            if upto is not None:  # a class that was corrected since may be a class no longer
                past = self.journal.labels(upto).items()
                known = {
                    row: label for row, label in past if names.issuperset(self.kind.listed(label))
                }
            rows = np.array(sorted(known), dtype=np.int64)
            checks = {a.row for a in self.journal.answers if a.how == "check"}
            held = set().union(*(self.reserved.hand(who).all() for who in self.people))
            present = max(1, len(self.reserved.present()))
            return Labels(
                rows=rows,
                labels=[known[row] for row in rows.tolist()],
                closed=np.array(sorted(self._closed() | held), dtype=np.int64),
                checks=frozenset(checks),
                kind=self.kind(tuple(self.classes.names)),
                changes=self.changes if upto is None else -1,
                ahead=len(self.journal.answers) + HELD * present,
                answers=self.journal.lines() if upto is None else [],
                asked=() if self.second == "never" else self.people,
                wanted=AHEAD + HELD * (present - 1),
            )

    def _past(self) -> list[Labels]:
        """Return the labels at earlier times: a restart draws the curve of accuracy from them."""
        n = len(self.journal.answers)
        return [self.labels(upto) for upto in range(10, n, max(10, n // _PAST))]

    def _take(self, learnt: Learnt) -> None:
        """Take over what the thread has learnt; the rows that people are looking at stay."""
        with self.lock:
            names = [] if learnt.kind is None else list(learnt.kind.names)
            self.version += 1
            self.queue = learnt.queue
            if names != self.classes.names[: len(names)]:  # they have other names by now
                return
            self.learnt = learnt
            self.standing.agree(learnt.people)
            if learnt.order and learnt.n_labels >= 2 * self.order[0]:
                self.order = learnt.n_labels, learnt.order
            self.progress.note(learnt)

    def now(self) -> dict[int, str]:
        """Return what rows are."""
        with self.lock:
            return dict(self.standing.labels)
