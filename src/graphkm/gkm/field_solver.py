"""A kernel machine on the labels and a field over all rows, as a solver of `GKMClassifier`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import is_classifier

from .._parts import Combination
from .._warnings import quiet
from ..graphs import KNN, Anchors, NodesPart
from ..machines.checks import GraphWarning
from ..machines.classes import winning_class
from ..machines.kernel_ridge import KernelRidgeClassifierCV
from ..objective import Objective
from ..solvers import Progress, Resources, Solution, Solver
from .corrected import GraphCorrectedClassifier


@dataclass(frozen=True)
class FieldSolver(Solver):
    """Fit a kernel machine to the labels, and a field over all rows.

    With many rows and labels the field is one sparse linear system per class. Losses are squared.
    What the field is like, and whether there is one at all, is chosen on held-out labels, so C and
    C_graph are "auto". New rows are scored by their nearest nodes. See `GraphCorrectedClassifier`,
    which does the same with any other model.

    Parameters
    ----------
    nodes : KNN, Anchors or None, default=None
        Where the field lives; None takes the graph of the estimator.
    gamma : float, str or None, default=None
        The kernel's gamma; None lets leave-one-out find one.
    scoring : str, callable or None, default=None
        What is best, as in `GraphCorrectedClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from graphkm import GKMClassifier
    >>> X, truth = make_moons(300, noise=0.1, random_state=0)
    >>> y = np.where(np.arange(300) < 20, truth, -1)
    >>> model = GKMClassifier(solver="field", random_state=0).fit(X, y)
    >>> print(f"{model.score(X, truth):.2f}")
    1.00
    """

    nodes: KNN | Anchors | None = None
    gamma: float | str | None = None
    scoring: Any = None
    builds_graph: ClassVar[bool] = True

    def accepts(self, together: Combination) -> None:
        """Raise ValueError for a stream, a graph without neighbours, or costs that are given."""
        super().accepts(together)
        if not together.classes and not isinstance(together.graph, Anchors):
            raise ValueError(
                "solver='field' is for classes, or for graph=Anchors(); pass that or "
                "solver=Newton(), or take GraphCorrectedRegressor()."
            )
        if together.streaming:
            raise ValueError("solver='field' needs all rows at once; pass solver=SGD().")
        if not isinstance(together.graph, NodesPart):
            raise ValueError(
                f"solver='field' needs graph=KNN(...) or Anchors(...), and it is "
                f"{together.graph!r}; pass one of these, or solver=Newton()."
            )
        if not together.kernel.has_rows:
            raise ValueError(
                "solver='field' needs rows, which kernel='precomputed' does not have; pass "
                "solver=Newton()."
            )
        if together.C_graph != "auto":
            raise ValueError(
                f"solver='field' chooses its strength itself, and C_graph={together.C_graph}; "
                "leave C_graph='auto', or pass graph='knn' and solver=RowNewton()."
            )

    def start(self, objective: Objective, resources: Resources) -> FieldState:
        """Return the state before the fit."""
        return FieldState(self, objective, resources)


class FieldState:
    """One step does it all."""

    def __init__(self, solver: FieldSolver, objective: Objective, resources: Resources) -> None:
        self._solver, self._objective, self._resources = solver, objective, resources
        self._model: Any = None

    @property
    def progress(self) -> Progress:
        """Whether the fit is done."""
        return Progress(int(self.done), 1, len(self._objective.labeled))

    @property
    def done(self) -> bool:
        """Whether the fit is done."""
        return self._model is not None

    def advance(self) -> None:
        """Fit the machine and the field."""
        objective, resources = self._objective, self._resources
        seed = int(resources.seed.generate_state(1)[0] % (2**31 - 1))
        y = np.full(objective.X.shape[0], -1)
        y[objective.labeled] = winning_class(objective.targets)
        weights = np.zeros(len(y))
        weights[objective.labeled] = objective.weights
        threads = resources.n_threads
        kernel, gamma = objective.kernel, self._solver.gamma
        if "gamma" in kernel.get_params():
            kernel = kernel.with_params(gamma=None)
        machine = KernelRidgeClassifierCV(
            None if gamma is None else [gamma], kernel=kernel, random_state=seed, n_jobs=threads
        )
        assert self._solver.nodes is not None
        self._model = GraphCorrectedClassifier(
            machine,
            graph=self._solver.nodes,
            scoring=self._solver.scoring,
            transduce=False,
            random_state=seed,
            n_jobs=threads,
            verbose=resources.verbose,
        )
        # What is taken then is stated, and nobody asked for more.
        with quiet(".*too few to judge", category=GraphWarning):
            self._model.fit(objective.X, y, weights)

    def solution(self) -> Solution:
        """Return the machine's rows and coefficients, and the model that adds the field."""
        return corrected_solution(self._model)


def corrected_solution(model: Any) -> Solution:
    """Return a fitted kernel machine with its field as the solution of a fit.

    Parameters
    ----------
    model : GraphCorrectedClassifier or GraphCorrectedRegressor
        Its estimator is a kernel ridge machine.
    """
    machine, field = model.estimator_, model.field_
    C = field.strength.C / field.strength.eps if field and field.strength else np.nan
    # With two classes the machine learns -1/2 and 1/2.
    two = is_classifier(model) and len(model.classes_) == 2
    return Solution(
        rows=model.seen().labeled[machine.support_],
        coefficients=(2.0 if two else 1.0)
        * model.estimator_weight_
        * machine.expansion_.coefficients,
        n_iter=1,
        objective=np.array([np.nan if field is None else field.objective]),
        C=np.array([C]),
        kernel=machine.kernel_,
        field=field,
        corrected=model,
    )
