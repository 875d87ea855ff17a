"""One project of Label Studio: its tasks, its annotations and its labelling interface."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..formats import Annotations, AnnotationsError, Answer, Row
from ..formats.label_config import Control, read_config
from ..formats.label_studio import answer_of
from ..formats.shape import majority
from .journal import Entry, Journal

LABEL = "_answer"
"""The column of answers in the table that is learnt from."""

_TABLES = ("table",)
_PICTURES = ("image", "video", "audio", "audioplus")


class Project:
    """Tasks and annotations of a project, which a journal keeps.

    Parameters
    ----------
    id : str
        The number of the project.
    folder : Path
        Where its journal and its model lie.
    question : str or None
        The name of the question to learn, if the interface has several.
    """

    def __init__(self, id: str, folder: Path, question: str | None = None) -> None:
        self.id, self._question = id, question
        self.model = folder / f"project-{id}.gkm"
        self.lock = threading.Lock()
        self.changes = 0  # how often answers or tasks with answers have changed
        self._config = ""
        self._tasks: dict[str, dict[str, Any]] = {}
        self._answers: dict[str, tuple[str, dict[str, Any]]] = {}  # by annotation: task, answer
        self._journal = Journal(folder / f"project-{id}.journal", self._take)

    @property
    def control(self) -> Control | None:
        """The question to learn; None before the interface is known."""
        return read_config(self._config, self._question) if self._config else None

    @property
    def n_answers(self) -> int:
        """How many annotations there are."""
        return len(self._answers)

    def _take(self, entry: Entry) -> None:
        """Change the state as an entry says."""
        kind = entry["kind"]
        if kind == "config":
            self._config = entry["xml"]
        elif kind == "task":
            self._tasks[entry["task"]] = entry["data"]
        elif kind == "annotation":
            self._answers[entry["annotation"]] = (entry["task"], entry["said"])
        elif kind == "gone":
            self._answers.pop(entry.get("annotation", ""), None)
            task = entry.get("task", "")
            if self._tasks.pop(task, None) is not None:
                self._answers = {k: v for k, v in self._answers.items() if v[0] != task}
        else:
            raise ValueError(f"it is of the kind {kind!r}")
        self.changes += kind != "task"

    def _keep(self, entries: Iterable[Entry]) -> None:
        """Write entries that change something, and change the state."""
        with self.lock:
            news = [entry for entry in entries if self._is_new(entry)]
            if news:
                self._journal.add(*news)
            for entry in news:
                self._take(entry)

    def _is_new(self, entry: Entry) -> bool:
        if entry["kind"] == "config":
            return bool(self._config != entry["xml"])
        if entry["kind"] == "task":
            return bool(self._tasks.get(entry["task"]) != entry["data"])
        if entry["kind"] == "annotation":
            return self._answers.get(entry["annotation"]) != (entry["task"], entry["said"])
        return entry.get("annotation") in self._answers or entry.get("task") in self._tasks

    def configure(self, xml: str) -> Control:
        """Keep the labelling interface, and return its question; raise if it has none."""
        control = read_config(xml, self._question)
        if control.shows in _PICTURES:
            raise AnnotationsError(
                f"the question {control.name!r} is about a tag {control.shows}, and this backend "
                "learns from texts and tables. Use graphkm label for folders of pictures."
            )
        self._keep([{"kind": "config", "xml": xml}])
        return control

    def see(self, tasks: Iterable[Any]) -> None:
        """Keep the data of tasks: rows without an answer are learnt from as well."""
        self._keep(_tasks(tasks))

    def answer(self, annotations: Iterable[Any], tasks: Iterable[Any] = ()) -> None:
        """Keep annotations, and the tasks that came with them."""
        self._keep([*_tasks(tasks), *_annotations(annotations)])

    def forget(self, annotations: Iterable[Any] = (), tasks: Iterable[Any] = ()) -> None:
        """Forget annotations, or tasks with all of theirs."""
        gone = [{"kind": "gone", "annotation": _id(each)} for each in annotations]
        self._keep([*gone, *({"kind": "gone", "task": _id(each)} for each in tasks)])

    def rows(self, control: Control) -> tuple[Annotations, int]:
        """Return all tasks with the answer that most people gave, and the count of changes."""
        with self.lock:
            answers: dict[str, list[Answer]] = {}
            several = control.kind == "several"
            for task, said in self._answers.values():
                answers.setdefault(task, []).append(answer_of(said, control.name, several))
            rows = []
            for task, data in self._tasks.items():
                row = Row(cells_of(data, control), task, tuple(answers.get(task, ())))
                value = majority(row)
                rows.append(replace(row, answers=() if value is None else (Answer(value),)))
            return Annotations(rows, LABEL, control.kind), self.changes

    def close(self) -> None:
        """Let others use the files."""
        self._journal.close()


def cells_of(data: Mapping[str, Any], control: Control) -> dict[str, Any]:
    """Return what a model learns of a task: the text or the table that the question is about.

    Examples
    --------
    >>> from graphkm.formats.label_config import read_config
    >>> xml = '<View><Text name="t" value="$a"/><Choices name="c" toName="t"/></View>'
    >>> cells_of({"a": "Fine.", "b": 3}, read_config(xml))
    {'a': 'Fine.'}
    """
    if not control.columns:
        return dict(data)
    column = control.columns[0]
    inside = data.get(column)
    if control.shows in _TABLES and isinstance(inside, Mapping):
        return dict(inside)
    return {column: "" if inside is None else inside}


def _tasks(tasks: Iterable[Any]) -> list[Entry]:
    found = [each for each in tasks if isinstance(each, Mapping)]
    return [
        {"kind": "task", "task": _id(each), "data": each["data"]}
        for each in found
        if isinstance(each.get("data"), dict)
    ]


def _annotations(annotations: Iterable[Any]) -> list[Entry]:
    entries = []
    for each in annotations:
        if not isinstance(each, Mapping) or each.get("task") is None:
            raise AnnotationsError("an annotation needs an id and the id of its task.")
        parts = ("result", "was_cancelled", "completed_by")
        said = {name: each[name] for name in parts if name in each}
        task = each["task"]
        place = str(task.get("id") if isinstance(task, Mapping) else task)
        entries.append({"kind": "annotation", "annotation": _id(each), "task": place, "said": said})
    return entries


def _id(each: Any) -> str:
    """Return the id of a task or an annotation."""
    id = each.get("id") if isinstance(each, Mapping) else each
    if not isinstance(id, int | str) or isinstance(id, bool):
        raise AnnotationsError(f"a task or an annotation has the id {id!r}, which is no number.")
    return str(id)
