"""Models and predictions that a person asks for: one at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .classes import AnswerError

Labels = dict[int, str]  # by row
Write = Callable[[Labels], str]  # writes a file, and returns a sentence


class Saving:
    """Writes a model, and predictions by it.

    Parameters
    ----------
    save : callable or None
        Writes a model of labels; it returns a sentence.
    predict : callable or None
        Writes what that model says of all rows; it takes the labels, and returns a sentence.

    Examples
    --------
    >>> saving = Saving(lambda labels: "A model.", lambda labels: "Predictions.")
    >>> saving.predictions(lambda: {0: "cat"}), saving.predictions(lambda: {0: "cat"})
    ('Predictions. A model.', 'Predictions.')
    """

    def __init__(self, save: Write | None, predict: Write | None) -> None:
        self._save, self._predict = save, predict
        self._lock = threading.Lock()
        self._saved: Labels | None = None  # those of the model that was written last

    @property
    def possible(self) -> bool:
        """Whether there is a file for a model."""
        return self._save is not None

    @property
    def busy(self) -> bool:
        """Whether a model or predictions are being written."""
        return self._lock.locked()

    def model(self, labels: Callable[[], Labels]) -> str:
        """Write a model of the present labels, and return a sentence about it."""
        with self._alone(labels) as known:
            return self._write(known)

    def predictions(self, labels: Callable[[], Labels]) -> str:
        """Write predictions by a model of the present labels, which is trained if it is not there.

        Returns a sentence about both.
        """
        if self._predict is None:
            raise AnswerError("no file for the predictions was named.")
        with self._alone(labels) as known:
            trained = [] if known == self._saved else [self._write(known)]
            return " ".join([self._predict(known), *trained])

    @contextmanager
    def _alone(self, labels: Callable[[], Labels]) -> Iterator[Labels]:
        """Yield the present labels, while nobody else writes."""
        if self._save is None:
            raise AnswerError("no file for the model was named; start the page with --model FILE.")
        if not self._lock.acquire(blocking=False):
            raise AnswerError(
                "a model is being trained already, or its predictions are written; wait for it."
            )
        try:
            yield dict(labels())
        finally:
            self._lock.release()

    def _write(self, known: Labels) -> str:
        assert self._save is not None
        said = self._save(known)
        self._saved = known
        return said
