"""The stochastic solver with a limit on the number of centres."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..backends import query_rows
from ..expansion import mean_row
from ..objective import Objective
from .base import Solution
from .budget import Budget
from .centres import Centres
from .sgd import SGD, SGDState


class BudgetedState(SGDState):
    """The learning state with centres that may leave."""

    _W: Any
    _queries: Any

    def _open(self, solver: SGD, objective: Objective) -> None:
        assert solver.budget is not None
        self._budget = Budget(solver.budget)
        X, kernel = objective.X, objective.kernel
        self._shift = None if kernel.native_code is None else mean_row(kernel, X)
        self._W = Centres(
            kernel,
            X.shape[1],
            objective.n_outputs,
            offset=objective.offset,
            sparse=not isinstance(X, np.ndarray),
            dtype=self._resources.dtype,
            n_threads=self._resources.n_threads,
        )

    def _scores(self, rows: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[Any]]:
        problem = self._objective
        self._queries = query_rows(
            problem.kernel, problem.X, rows, self._resources.dtype, self._shift
        )
        # What left has changed ||W||, by how much nobody knows: J is judged without it.
        self._norm[:] = 0.0
        return self._W.scores_and_gram(self._queries)  # type: ignore[no-any-return]

    def _keep(self, rows: NDArray[np.int64], change: Any, weighted: Any) -> None:
        moved = np.flatnonzero(change.any(axis=0) | weighted.any(axis=0))
        self._W.add(rows[moved], self._queries[moved], change.T[moved], weighted.T[moved])
        self._budget.enforce(self._W, self._harmonic - 1.0 / self._n_iter)

    def solution(self) -> Solution:
        """Return the lemma's average."""
        R = self._objective.n_outputs
        self._check_bounds()
        average = self._average(self._W.sums[:, :R], self._W.sums[:, R:])
        used = np.flatnonzero(average.any(axis=1))
        used = used[np.argsort(self._W.ids[used], kind="stable")]
        return Solution(
            rows=self._W.ids[used],
            coefficients=average[used],
            n_iter=self._n_iter,
            objective=np.full(R, np.nan),
        )
