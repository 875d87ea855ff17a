"""What a page is about: a model, rows, and what is known of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..estimators.labels import missing_mask
from ..io.kinds import number_text
from ..semi.held import Held, held_of

Array = NDArray[np.float64]


def word(value: Any) -> str:
    """Return a label as people write it.

    Examples
    --------
    >>> word(3.0), word("cat"), word(np.int64(2)), word(0.12345678)
    ('3', 'cat', '2', '0.12346')
    """
    if isinstance(value, float | np.floating):
        return number_text(float(f"{value:.5g}"))
    return str(value)


def percent(share: float) -> str:
    """Return a share in percent.

    Examples
    --------
    >>> percent(0.1234)
    '12.3 %'
    """
    return "not known" if np.isnan(share) else f"{100 * share:.1f} %"


@dataclass(frozen=True)
class Subject:
    """A model, rows, and what people should be told of both.

    Parameters
    ----------
    model : SemiSupervisedClassifier or SemiSupervisedRegressor
        A fitted model, or one that was read from a file.
    X : array, frame, CSR matrix, texts or dict of views
        Rows, as the model takes them.
    y : ndarray of shape (n,) or (n, n_columns), optional
        Their labels, with NaN or None where one is not known. If they are those of the fit, and
        the labelled rows have the same places, the page shows the rows behind doubtful labels.
    title : str, default="Report on a model"
        The page's title.
    cells : ndarray or CSR matrix of shape (n, n_features), optional
        The rows before they were prepared: numbers with NaN, or objects.
    columns : sequence of str, optional
        The names of their columns.
    kinds : sequence of str, optional
        What each column holds, such as "number".
    called : sequence of str, optional
        What rows are called; by default by their numbers from 1.
    shown : callable, optional
        Takes the cells of a row, and returns what people see of it, in a few words.
    targets : sequence of str, optional
        The names of several quantities.
    source : str, default="the rows"
        What messages call the rows, such as the name of their file.
    n_fit : int, optional
        How many rows the fit had, if that is known.
    about : mapping of str
        How the model was made: names, and what is said of each.
    repeats : int, default=1
        How often the model is fitted with each number of labels for the learning curve; 0 for no
        curve.
    seed : int, default=0
        Draws the labels of these fits.
    """

    model: Any
    X: Any
    y: NDArray[Any] | None = None
    title: str = "Report on a model"
    cells: Any = None
    columns: Sequence[str] = ()
    kinds: Sequence[str] = ()
    called: Sequence[str] | None = None
    shown: Callable[[Any], Any] | None = None
    targets: Sequence[str] = ()
    source: str = "the rows"
    n_fit: int | None = None
    about: Mapping[str, str | None] = field(default_factory=dict)
    repeats: int = 1
    seed: int = 0

    @property
    def kind(self) -> str:
        """What the model tells: "classes", "labels" or "quantities"."""
        return str(self.model.mixture_.kind)

    @cached_property
    def held(self) -> Held | None:
        """What held-out fits said of labelled rows; None if labels are too few to hold any out."""
        if not hasattr(self.model, "told_"):
            return None
        held = held_of(self.model)
        if self.kind != "classes":
            return held
        known = ~np.isnan(held.said).any(axis=1)  # a label without weight was never held out
        return held._replace(
            rows=held.rows[known],
            said=held.said[known],
            told=held.told[known],
            weights=held.weights[known],
        )

    @cached_property
    def said(self) -> Array:
        """What the model says of all rows: probabilities, or quantities, in columns."""
        ask = self.model.predict if self.kind == "quantities" else self.model.predict_proba
        found = np.asarray(ask(self.X))
        return found.reshape(len(found), -1)

    @cached_property
    def answers(self) -> NDArray[Any]:
        """What the model predicts for all rows."""
        return np.asarray(self.model.predict(self.X))

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.said)

    @cached_property
    def labeled(self) -> NDArray[np.bool_]:
        """Which rows have a label, or one of several."""
        if self.y is None:
            return np.zeros(self.n_rows, dtype=bool)
        known = ~missing_mask(self.y)
        return np.asarray(known.any(axis=1)) if known.ndim == 2 else known

    @property
    def names(self) -> list[str]:
        """The names of the classes, labels or quantities."""
        if self.kind != "quantities":
            return [word(each) for each in self.model.classes_]
        width = self.said.shape[1]
        return list(self.targets) or [f"quantity {k + 1}" * (width > 1) for k in range(width)]

    @cached_property
    def of_fit(self) -> bool:
        """Whether these are the first rows of the fit: they have its labels, in its places."""
        if self.held is None or self.y is None:
            return False
        rows, told = self.model.labeled_, np.asarray(self.model.told_)
        if not np.array_equal(np.flatnonzero(self.labeled), rows):
            return False
        own = self.y[rows]
        if self.kind == "classes":
            one = own.ndim == 1 and bool(np.isin(told, (0.0, 1.0)).all())
            return one and bool(np.all(own == self.model.classes_[told.argmax(axis=1)]))
        own = np.asarray(own, dtype=np.float64)
        return own.shape == told.shape and bool(np.allclose(own, told, equal_nan=True))

    def row(self, number: int) -> str:
        """Return what a row is called: by a name, or by its number from 1."""
        if self.called is None or number >= len(self.called):
            return str(number + 1)
        return str(self.called[number])

    def holds(self, number: int) -> Any:
        """Return what people see of a row; nothing if its cells are not known."""
        return "" if self.shown is None or self.cells is None else self.shown(self.cells[number])

    def as_of_fit(self) -> Subject:
        """Return the subject as doubtful labels see it: without rows that are not of the fit."""
        return self if self.of_fit else replace(self, called=None, shown=None)
