"""The labelling as one person sees it: the rows to show, what was answered, what was learnt."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import Any

from .classes import AnswerError
from .journal import Answer, How, Kind
from .review import confirmed
from .standing import Person
from .team import Team

_RECENT = 12  # answers that are listed
_ANYTHING: Any = object()  # the default of `seen`: the answer is kept whatever stands there


class MeanwhileError(AnswerError):
    """An answer that was not kept, because somebody was faster; given again, it is kept."""


class Room:
    """The labelling of a team, for each of its people.

    Parameters
    ----------
    team : Team
        What all people share.
    """

    def __init__(self, team: Team) -> None:
        self._team = team
        self.start, self.end = team.start, team.end

    def session(self, who: Person) -> Session:
        """Return the labelling as one person sees it."""
        return Session(self._team, who)


class Session:
    """What one person sees and does; all tabs of this person see the same.

    Parameters
    ----------
    team : Team
        What all people share.
    me : str or None, default=None
        Who this is.
    """

    def __init__(self, team: Team, me: Person = None) -> None:
        self.team, self.me = team, me
        self._standing, self._journal = team.standing, team.journal

    # ------------------------------------------------------------------ answers

    def answer(
        self,
        row: int,
        kind: Kind,
        label: Any = None,
        seen: Any = _ANYTHING,
        new: bool = False,
        first: bool = False,
    ) -> dict[str, Any]:
        """Keep an answer, and return the new state; the answer is on the disk then.

        `label` is a text, or a list of names where rows have several labels.
        `seen` is the answer that the person saw at the row, as `row` returns it. If the row has
        another one by now, nothing is kept, and MeanwhileError says so. With `new` the row may
        belong to none of the classes, even if no others are offered. `first` says that the person
        saw no answer of others: if there is one by now, MeanwhileError says so.
        """
        team = self.team
        with team.lock:
            if not 0 <= row < len(team.material):
                raise AnswerError(f"there is no row {row}.")
            known = team.classes.opened() if new else team.classes
            label = team.kind.meant(known, label) if kind == "label" else None
            now, given = self._standing.answer(row, self.me), {"kind": kind, "label": label}
            if seen is not _ANYTHING and now not in (seen, given) and kind != "skip":
                lost = _words(given)
                lost = lost[0].upper() + lost[1:]
                raise MeanwhileError(
                    f"Another tab has changed row {row + 1} meanwhile: it has {_words(now)}. "
                    f"{lost} was not kept. Answer again to replace the other.",
                    "other_tab",
                    row=row + 1,
                )
            if kind != "skip":
                self._refuse(row, now is None and first)
            how: How = next((how for r, how in team.deal(self.me) if r == row), "chosen")
            team.keep(Answer(row, kind, label, team.learnt.said(row), how, self.me), new)
            self._look(None)
            return self.state()

    def _refuse(self, row: int, first: bool) -> None:
        """Raise if somebody else has the row on the screen, or has answered it meanwhile."""
        holder = self.team.reserved.holder(row, self.me)
        if holder is not None and self.team.second == "never":
            raise AnswerError(
                f"{holder} has row {row + 1} on the screen. Your answer was not kept.",
                "reserved",
                name=holder,
                row=row + 1,
            )
        others = self._standing.others(row, self.me)
        if first and others and not self._asked_again(row):
            raise MeanwhileError(
                f"{others[-1]['name']} has answered row {row + 1} meanwhile. Your answer was not "
                "kept. Answer again to add a second one.",
                "answered",
                name=others[-1]["name"],
                row=row + 1,
            )

    def _asked_again(self, row: int) -> bool:
        """Return whether the person was asked for a second answer."""
        return (row, "second") in self.team.reserved.hand(self.me).rows

    def undo(self, seen: Any = _ANYTHING) -> dict[str, Any]:
        """Take back what the person did last; the row of an answer is shown next.

        `seen` is what the person saw as the last answer, as `state` lists it.
        """
        team = self.team
        with team.lock:
            own = self._standing.own(self.me)
            if not own:
                raise AnswerError("there is no answer to take back.", "nothing_to_undo")
            last = own[-1]
            if seen is not _ANYTHING and seen != _listed(last):
                raise MeanwhileError(
                    f"Another tab has answered meanwhile: row {last.row + 1} has "
                    f"{_words(_listed(last))}. Nothing was taken back. Undo again to take it back.",
                    "other_tab_undo",
                )
            team.take_back(self.me, last)
            if last.kind != "rename":
                rows = [entry for entry in team.deal(self.me) if entry[0] != last.row]
                team.reserved.put(self.me, [(last.row, last.how), *rows[:1]])
            return self.state()

    def rename(self, old: str, new: Any) -> dict[str, Any]:
        """Give a class another name, which may be that of another class; return the new state."""
        with self.team.lock:
            self.team.rename(self.me, old, new)
            return self.state()

    def look(self, row: int | None) -> dict[str, Any]:
        """Note which row the person has asked for; None is the next one that is useful.

        Returns who else has it on the screen.
        """
        with self.team.lock:
            if row is not None and not 0 <= row < len(self.team.material):
                raise AnswerError(f"there is no row {row}.")
            holder = None if row is None else self.team.reserved.holder(row, self.me)
            self._look(None if holder is not None else row)
            return {"holder": holder, **self.state()}

    def _look(self, row: int | None) -> None:
        self.team.reserved.put(self.me, self.team.reserved.hand(self.me).rows, row)

    def touch(self) -> None:
        """Note that the person is there."""
        with self.team.lock:
            self.team.reserved.touch(self.me)

    # -------------------------------------------------------------- what is shown

    def state(self, idle: bool = False) -> dict[str, Any]:
        """Return everything the page shows beside the row.

        `idle` states come without a person's doing. They take no rows from others.
        """
        team = self.team
        with team.lock:
            paused = idle and len(team.people) > 1 and not team.reserved.heard(self.me)
            queue = [] if paused else team.deal(self.me)
            acts, learner = self._standing.own(self.me), team.learner
            return {
                "version": team.version,
                "rows": len(team.material),
                "labelled": len(self._standing.labels),
                "unknown": len(self._standing.unknown(self.me)),
                "classes": list(team.classes.names),
                "fixed": team.classes.fixed,
                "regression": team.regression,
                "several": self._journal.several,
                "relevant": team.relevant,
                "queue": [row for row, _ in queue],
                "second": [row for row, how in queue if how == "second"],
                "paused": paused,
                "elsewhere": len(team.reserved.taken(self.me)),
                "learning": learner.failed or ("" if learner.model is not None else "…"),
                "current": team.learnt.changes == team.changes,
                "map": team.ground.stage,
                "annotator": self.me,
                "team": [who for who in team.people if who is not None],
                "present": [who for who in team.reserved.present() if who is not None],
                "recent": [_listed(a) for a in acts[-_RECENT:]][::-1],
                "canUndo": bool(acts),
                "canSave": team.saving.possible,
                "first": team.first.said if team.first and team.learnt.codes is None else "",
                "notes": [*team.material.notes, *team.classes.doubts()],
                "behind": self._behind(),
                **self._learnt(),
            }

    def _learnt(self) -> dict[str, Any]:
        """Return what was learnt, as the page shows it."""
        team, learnt, labels = self.team, self.team.learnt, self._standing.labels
        given = Counter(chain.from_iterable(map(team.kind.listed, labels.values())))
        return {
            "counts": [given[name] for name in team.classes.names],
            "shares": learnt.shares,
            "model": learnt.changes,
            "modelLabels": learnt.n_labels,
            "modelSeconds": round(learnt.seconds, 3),
            "accuracy": learnt.accuracy,
            "history": team.progress.history[-500:],
            "steady": team.progress.steadiness(learnt),
            "outlook": learnt.outlook,
            "mistakes": self._standing.own_of(learnt.mistakes, self.me),
            "people": learnt.people.reports,
        }

    def row(self, number: int) -> dict[str, Any]:
        """Return a row as the page shows it, with its label and what the model says."""
        team = self.team
        with team.lock:
            learnt = team.learnt
            answer = self._standing.answer(number, self.me)
            others = self._standing.others(number, self.me)
            holder = team.reserved.holder(number, self.me)
        page = team.material.page(number, team.order[1])
        known = None if answer is None else answer["label"]
        said = {
            "label": known,
            "names": [] if known is None else team.kind.listed(known),
            "answer": answer,
            # Before an answer those of others stay hidden, as the model's opinion does.
            "others": [] if answer is None else others,
            "answered": bool(others),
            "holder": holder,
            "said": learnt.said(number),
            "chances": learnt.chances(number) if self._journal.several else None,
        }
        return {**page, **said, "near": team.ground.alike(number, team.now())}

    def review(self) -> dict[str, Any]:
        """Return labels that look wrong, with the nearest labelled rows."""
        team = self.team
        with team.lock:
            told, known = team.learnt.told, dict(self._standing.labels)
            mine = self._standing.own_labels(self.me)
            settled = confirmed(self._standing.own(self.me))
        return team.review(told, known, mine, settled)

    def _behind(self) -> str:
        """Return what the page says where the file of labels could not be written."""
        journal = self._journal
        if not journal.behind or journal.path is None or journal.place is None:
            return ""
        return (
            f"{journal.path.name} cannot be written ({journal.behind}). Your answers are kept in "
            f"{journal.place.name}, and {journal.path.name} follows when it can be written again."
        )

    def map(self) -> dict[str, Any]:
        """Return the places of the rows on the map."""
        return self.team.ground.map()

    def colours(self) -> dict[str, Any]:
        """Return the predictions of the rows on the map, and the labels of the labelled rows."""
        team = self.team
        with team.lock:
            # What others said of a row is no secret after one's own answer.
            learnt, known = team.learnt, self._standing.own_labels(self.me)
            if team.second == "never":
                known = dict(self._standing.labels)
            kind = team.kind(tuple(team.classes.names))
        predicted = [] if learnt.codes is None else kind.colours(learnt.codes)
        # Labels are their own best scores.
        given = kind.colours(kind.codes(kind.table(list(known.values())))) if known else []
        return {"predicted": predicted, "labelled": dict(zip(known, given, strict=True))}

    def write_model(self) -> str:
        """Write a model of the labels so far, and return a sentence about it."""
        return self.team.saving.model(self.team.now)

    def write_predictions(self) -> str:
        """Write predictions of all rows, by a model of the labels so far; return a sentence."""
        return self.team.saving.predictions(self.team.now)


def _listed(answer: Answer) -> dict[str, Any]:
    found = {"row": answer.row, "kind": answer.kind, "label": answer.label}
    return found if answer.old is None else {**found, "old": answer.old}


def _words(answer: dict[str, Any] | None) -> str:
    """Return an answer in words."""
    if answer is None:
        return "no answer"
    kinds = {"unknown": 'the answer "do not know"', "skip": 'the answer "skip"'}
    return kinds.get(answer["kind"], f"the answer {answer['label']!r}")
