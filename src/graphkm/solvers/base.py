"""The loop every solver runs in, and what comes out of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from .._util.parts import Combination, Part, Sizes
from .._util.progress import progress_bar
from ..fields.system import Field
from ..objective import Objective
from .refits import Refits


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
class Resources:
    """What a run may use.

    Parameters
    ----------
    seed : numpy.random.SeedSequence
        Decides all draws. They do not depend on threads or precision.
    dtype : dtype, default=float32
        Precision of the kernel values.
    n_threads : int, default=1
        Threads. The result is the same, bit for bit, for any number.
    verbose : int, default=0
        1 shows progress bars.
    """

    seed: np.random.SeedSequence
    dtype: Any = np.float32
    n_threads: int = 1
    verbose: int = 0


@dataclass(frozen=True)
class Solution:
    """The minimiser found: rows of X and their coefficients, and a field where there is one.

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
        J at the solution exceeds its minimum by at most this; None if the solver cannot tell.
    C : ndarray of shape (n_outputs,), optional
        The C it was found for, if the solver chose it.
    field : Field, optional
        What is added to f: a field over the training rows.
    kernel : Kernel, optional
        The kernel, if the solver chose its gamma.
    refits : callable, optional
        Takes folds of the labelled rows, and returns the scores of all test rows, one fold after
        another, from fits without their labels; None if that takes a fit to all rows.
    complete : bool, default=True
        Whether the solver finished; False if a callback stopped it.
    """

    rows: NDArray[np.int64]
    coefficients: NDArray[np.float64]
    n_iter: int
    objective: NDArray[np.float64]
    gap: NDArray[np.float64] | None = None
    C: NDArray[np.float64] | None = None
    field: Field | None = None
    kernel: Any = None
    refits: Refits | None = None
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


class Solver(Part, ABC):
    """Parameters of a method; `start` gives the state that iterates.

    To add a solver, write a frozen dataclass with a method `start`.
    """

    exact: ClassVar[bool] = False
    """Whether it finds J's minimum, with a certificate. Then C may be relative, and the graph
    normalised."""

    squared: ClassVar[bool] = False
    """Whether its losses are squared, whatever the estimator's loss. Then no theorem applies."""

    @abstractmethod
    def start(self, objective: Objective, resources: Resources) -> State:
        """Return the state before the first step. No parameter is "auto" any more.

        A state has ``progress`` (a `Progress`), ``done``, ``advance()``, which takes the next
        steps, and ``solution()``, which returns a `Solution`.
        """

    def planned(self, sizes: Sizes) -> Self:
        """Return the solver with every "auto" filled in.

        Parameters
        ----------
        sizes : Sizes
            ``n_rows``, ``n_labeled``, and ``classes``: whether targets are classes.
        """
        return self

    def matrix_shape(self, sizes: Sizes) -> tuple[int, int]:
        """Return the rows and columns of the largest matrix that BLAS works on."""
        return 0, 0

    def accepts(self, together: Combination) -> None:
        """Raise ValueError if the solver cannot work with the other parts.

        Parameters
        ----------
        together : Combination
            ``kernel``, ``graph``, ``smoothness``, ``solver``, ``C_graph``, and ``streaming``:
            whether rows come in chunks.
        """


def solve(
    solver: Solver,
    objective: Objective,
    resources: Resources,
    *,
    callback: Callback | None = None,
) -> Solution:
    """Run a solver to its end, or until the callback stops it.

    Examples
    --------
    >>> from graphkm.kernels import Linear
    >>> from graphkm.losses import Hinge
    >>> from graphkm.smoothness import Smoothness
    >>> from graphkm.solvers import Newton
    >>> two = np.array([0, 1])
    >>> objective = Objective(
    ...     X=np.array([[-1.0], [1.0]]), labeled=two, targets=np.array([[-1.0], [1.0]]),
    ...     weights=np.ones(2), kernel=Linear(), offset=0.0, loss=Hinge(),
    ...     smoothness=Smoothness(2), C=np.ones(1), C_graph=np.zeros(1))
    >>> solution = solve(Newton(), objective, Resources(np.random.SeedSequence(0)))
    >>> solution.objective.round(3)
    array([0.5])
    """
    state = solver.planned(objective.sizes).start(objective, resources)
    with progress_bar(resources.verbose, total=state.progress.max_iter, unit="step") as bar:
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
