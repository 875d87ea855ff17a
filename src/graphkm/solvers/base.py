"""The loop every solver runs in, and what comes out of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .._progress import progress_bar
from ..objective import Objective


class DivergenceError(ArithmeticError):
    """A solver's iterates left every reasonable bound; the message says what to change."""


class Progress(NamedTuple):
    """What a callback sees: steps done, steps in all, centres so far."""

    n_iter: int
    max_iter: int
    n_centres: int


Callback = Callable[[Progress], Any]
"""Called between blocks of steps; a true result stops the fit where it stands."""


@dataclass(frozen=True)
class Solution:
    """The minimiser found: rows of X and their coefficients.

    Parameters
    ----------
    rows : ndarray of int of shape (m,)
        Rows of the objective's X.
    coefficients : ndarray of shape (m, n_outputs)
        f = sum_j coefficients_j (k(., x_row_j) + offset).
    n_iter : int
        Steps taken.
    objective : ndarray of shape (n_outputs,)
        The solver's own estimate of J at the solution.
    gap : ndarray of shape (n_outputs,), optional
        J at the solution exceeds its minimum by no more, if the solver can tell.
    C : ndarray of shape (n_outputs,), optional
        The C it was found for, if the solver chose it.
    row_scores : ndarray of shape (n, n_outputs), optional
        Scores of the rows themselves, where the solver has better ones than f.
    complete : bool, default=True
        Whether the solver came to its end: no callback stopped it.
    """

    rows: NDArray[np.int64]
    coefficients: NDArray[np.float64]
    n_iter: int
    objective: NDArray[np.float64]
    gap: NDArray[np.float64] | None = None
    C: NDArray[np.float64] | None = None
    row_scores: NDArray[np.float64] | None = None
    complete: bool = True


class State(Protocol):
    """A solver at work."""

    @property
    def progress(self) -> Progress:
        """How far it is."""
        ...

    @property
    def done(self) -> bool:
        """Whether there is nothing left to do."""
        ...

    def advance(self) -> None:
        """Take the next steps."""
        ...

    def solution(self) -> Solution:
        """Return what it would answer now."""
        ...


class Solver(Protocol):
    """Parameters of a method; `start` gives the state that iterates."""

    def start(self, objective: Objective) -> State:
        """Return the state before the first step."""
        ...


def solve(
    solver: Solver, objective: Objective, *, verbose: int = 0, callback: Callback | None = None
) -> Solution:
    """Run a solver to its end, or until the callback stops it."""
    state = solver.start(objective)
    with progress_bar(verbose, total=state.progress.max_iter, unit="step") as bar:
        while not state.done:
            before = state.progress
            state.advance()
            bar.update(state.progress.n_iter - before.n_iter)
            bar.set_postfix(centres=state.progress.n_centres, refresh=False)
            if callback is not None and callback(state.progress):
                break
        if state.done:
            bar.total = bar.n  # a solver may need fewer steps than it is allowed
            bar.refresh()
    return replace(state.solution(), complete=state.done)
