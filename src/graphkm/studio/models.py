"""Models of projects: fitted in a thread, kept in files, asked for predictions."""

from __future__ import annotations

import hashlib
import re
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..formats import Annotations, AnnotationsError, Guess, Row
from ..formats.label_config import Control
from ..formats.label_studio import prediction
from ..formats.shape import values_of
from .project import Project, cells_of

Fit = Callable[[Annotations, Control, Path], None]  # writes a model of rows
Ask = Callable[[Any, Sequence[Row], str], list[Guess]]  # what a loaded model says of rows
Load = Callable[[Path], Any]

_NUMBER = re.compile(r"[0-9]{1,18}")


@dataclass(frozen=True)
class Work:
    """What the command line does with models.

    Parameters
    ----------
    fit, load, ask : callable
        Write a model of rows with answers, read a model, and ask it about rows.
    """

    fit: Fit
    load: Load
    ask: Ask


@dataclass(frozen=True)
class Loaded:
    """A model, and what it is called."""

    model: Any
    version: str
    own: bool  # whether it is fitted to the project's answers


class Models:
    """All projects and their models.

    Parameters
    ----------
    folder : Path
        Where journals and models lie.
    work : Work
    first : Path or None
        A model that predicts until a project has its own.
    question : str or None
        The question to learn, if a labelling interface has several.
    """

    def __init__(
        self, folder: Path, work: Work, first: Path | None = None, question: str | None = None
    ) -> None:
        self._folder, self._work, self._question = folder, work, question
        self._first = None if first is None else Loaded(work.load(first), version_of(first), False)
        self._projects: dict[str, Project] = {}
        self._loaded: dict[str, Loaded] = {}
        self._fitted: dict[str, int] = {}  # the count of changes that a model knows
        self._wake, self._over = threading.Condition(), False
        self.errors: dict[str, str] = {}
        self._thread = threading.Thread(target=self._run, daemon=True)
        try:
            for path in sorted(folder.glob("project-*.journal")):
                self.project(path.stem.removeprefix("project-"))
        except BaseException:
            self.end()
            raise

    def project(self, named: Any) -> Project:
        """Return a project by what Label Studio calls it: 7, or "7.1619703000"."""
        id = str(named).split(".", 1)[0]
        if not _NUMBER.fullmatch(id):
            raise AnnotationsError(f"{named!r} is no project.")
        with self._wake:
            if id not in self._projects:
                found = Project(id, self._folder, self._question)
                if found.model.exists():
                    loaded = self._work.load(found.model)
                    self._loaded[id] = Loaded(loaded, version_of(found.model), True)
                self._projects[id] = found
            return self._projects[id]

    def version(self, project: Project) -> str:
        """Return what the model of a project is called; "none" if there is none."""
        found = self._loaded.get(project.id, self._first)
        return "none" if found is None else found.version

    def versions(self) -> list[str]:
        """Return what all models are called."""
        found = {each.version for each in self._loaded.values()}
        return sorted(found | ({self._first.version} if self._first else set()))

    def predictions(self, project: Project, tasks: Sequence[Any]) -> list[list[dict[str, Any]]]:
        """Return a list of predictions for each task: one, or none without a model."""
        found, control = self._loaded.get(project.id, self._first), project.control
        if found is None or control is None or not tasks:
            return [[] for _ in tasks]
        rows = []
        for task in tasks:
            data = task.get("data") if isinstance(task, dict) else None
            if not isinstance(data, dict):
                raise AnnotationsError("a task has no data.")
            rows.append(Row(cells_of(data, control) if found.own else dict(data)))
        guesses = self._work.ask(found.model, rows, found.version)
        return [_told(guess, control) for guess in guesses]

    # ------------------------------------------------------------------ learning

    def start(self) -> None:
        """Learn in a thread from now on: first what a model on disk does not know yet."""
        self._thread.start()

    def learn(self, project: Project | None = None) -> None:
        """Wake the thread; a project is fitted again even if nothing has changed."""
        with self._wake:
            if project is not None:
                self._fitted.pop(project.id, None)
            self._wake.notify_all()

    def is_training(self) -> bool:
        """Return whether some project has answers that its model does not know."""
        return any(self._fitted.get(id) != each.changes for id, each in self._projects.items())

    def end(self) -> None:
        """Stop learning and close all files."""
        with self._wake:
            self._over = True
            self._wake.notify_all()
        for project in self._projects.values():
            project.close()

    def _run(self) -> None:
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._over or self.is_training())
                if self._over:
                    return
                waiting = [
                    p for id, p in self._projects.items() if self._fitted.get(id) != p.changes
                ]
            for project in waiting:
                self._learn(project)

    def _learn(self, project: Project) -> None:
        """Fit a project's model; what is wrong with its answers is kept for /health."""
        changes = project.changes
        try:
            control = project.control
            if control is not None:
                rows, changes = project.rows(control)
                if len(set(values_of(rows.rows))) > 1:
                    self._work.fit(rows, control, project.model)
                    loaded = self._work.load(project.model)
                    self._loaded[project.id] = Loaded(loaded, version_of(project.model), True)
            self.errors.pop(project.id, None)
        except Exception as error:  # the server goes on with the model it has
            self.errors[project.id] = " ".join(str(error).split()) or type(error).__name__
            print(f"graphkm: project {project.id}: {self.errors[project.id]}", file=sys.stderr)
        self._fitted[project.id] = changes


def version_of(path: Path) -> str:
    """Return what a model in a file is called: its name, and the beginning of its hash."""
    return f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()[:8]}"


def _told(guess: Guess, control: Control) -> list[dict[str, Any]]:
    """Return a guess as a prediction to a question; none if the question does not have it."""
    if isinstance(guess.value, tuple) != (control.type == "choices"):
        return []
    named = guess.value if isinstance(guess.value, tuple) else ()
    if control.classes and not set(named) <= set(control.classes):
        return []
    told = prediction(guess, control.name, control.to)
    if control.type == "rating" and not isinstance(guess.value, tuple):
        stars = min(max(round(guess.value), 1), control.most or 1)
        told["result"][0] |= {"type": "rating", "value": {"rating": stars}}
    return [told]
