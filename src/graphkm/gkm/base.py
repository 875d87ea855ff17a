"""The fit, which the classifier and the regressor share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils import check_random_state

from .._util.parameters import check_choice
from .._util.parts import Part, Sizes
from .._util.threads import blas_threads_for
from ..estimators.data_checks import (
    check_graph_reaches,
    check_kernel_reaches,
    largest_kernel_value,
    require_memory_for_centres,
    warn_of_rounding,
    warn_of_unlabeled_components,
)
from ..estimators.kernel_machine import KernelMachine
from ..estimators.nested_parameters import Composed, Resolver
from ..fields.system import Field
from ..graphs import KNN, Graph, GraphPart, graph_or_given, resolve_graph
from ..kernels import Kernel, resolve_kernel
from ..losses import Loss, resolve_loss
from ..neighbours.index import Neighbours
from ..objective import Objective
from ..smoothness import IteratedLaplacian, Power, Smoothness, SmoothnessPart
from ..solvers import SGD, Newton, Progress, Resources, RowNewton, Solution, Solver, Sums, solve
from ..theory import Guarantee, largest_C_graph
from .plan import PER_LABEL, Plan, make_plan, resolve_smoothness, resolve_solver

# A fit removes these: it ends a stream, and old probabilities belong to the old model.
_OF_EARLIER_FITS = ("stream_", "stream_shift_", "stream_parameters_", "calibration_")
_GUARANTEED = 0.99  # share of the limit that is taken; at p = 2 the limit itself is not allowed


class Problem(NamedTuple):
    """Checked data and coded labels."""

    X: Any
    labeled: NDArray[np.bool_]
    known: NDArray[Any]  # class numbers or targets of the labelled rows, as given
    targets: NDArray[np.float64]  # of shape (n_labeled, n_outputs)
    weights: NDArray[np.float64]
    loss: Loss
    affinity: Any = None  # the weights of a given graph, as `summed_affinity` returns them

    def sizes(self, *, classes: bool) -> Sizes:
        """Return the numbers of rows and labels."""
        return Sizes(self.X.shape[0], len(self.targets), classes)


class BaseGKM(Composed, KernelMachine):
    """Fit of a kernel machine smoothed over a graph; subclasses code the labels."""

    C: float | str
    C_graph: float | str
    loss: str | Loss
    kernel: str | Kernel | Callable[[Any, Any], Any]
    gamma: float | str
    graph: str | GraphPart
    smoothness: float | str | SmoothnessPart
    solver: str | Solver
    fit_intercept: bool
    precision: str
    random_state: Any
    verbose: int
    callback: Callable[[Progress], Any] | None
    _given: Any

    def _resolvers(self) -> Mapping[str, Resolver]:
        task = "classification" if is_classifier(self) else "regression"
        return {
            "loss": lambda loss: resolve_loss(loss, task),
            "kernel": resolve_kernel,
            "graph": resolve_graph,
            "smoothness": resolve_smoothness,
            "solver": resolve_solver,
        }

    def _choices(self) -> Mapping[str, tuple[type[Part], ...]]:
        return {"smoothness": (Power, IteratedLaplacian), "solver": (Newton, RowNewton, SGD, Sums)}

    @classmethod
    def as_published(
        cls,
        loss: str | Loss | None = None,
        p: float = 1,
        *,
        C: float,
        gamma: float | str,
        C_prime: float | str = "guaranteed",
        n_steps: int | None = None,
        objective: str = "printed",
        **others: Any,
    ) -> Self:
        """Return the estimator that is the machine of the paper (arXiv 1606.06793).

        Its edges are all pairs but those of two labelled rows, and their weights, with the
        kernel's gamma, are computed when they are drawn. It takes the explicit steps of Algorithm 1
        with the rate 2 / (t + 1) and returns Lemma 1's average. The constant that stands for the
        bias is added to the kernel. Nothing is searched. `graphkm.reference` is the same program,
        written out.

        Parameters
        ----------
        loss : str or Loss, optional
            As in the estimator.
        p : float, default=1
            Exponent of the smoothness.
        C, C_prime : float
            The paper's C and C'. C_prime="guaranteed" is the paper's choice: C for p < 2, and else
            (0.99 of) the largest value of Theorem 1.
        gamma : float or str
            As in the estimator.
        n_steps : int, optional
            The paper's T. None is its number, the rows, and a fifth of them beyond 5,000 rows.
        objective : {"printed", "released"}, default="printed"
            "printed" is C / l times the sum of the losses, and C' / E times the sum over the E
            edges. "released" multiplies both by the number of labels l, as the authors' program
            does, which also joins labelled rows to unlabelled ones only (graph="bipartite") and has
            no constant (fit_intercept=False).
        **others
            Further parameters of the estimator.

        Returns
        -------
        GKMClassifier or GKMRegressor
            Print it to see the same machine in this library's parameters.

        Examples
        --------
        >>> from graphkm import GKMClassifier
        >>> GKMClassifier.as_published(C=2, C_prime=0.5, gamma=0.125)
        GKMClassifier(C='2 / l', C_graph='0.5 / l', fit_intercept=True, gamma=0.125,
                      graph='full', smoothness=Power(p=1, normalized=False),
                      solver=SGD(step='explicit',
                                 edge_sampling='uniform',
                                 max_iter='published',
                                 budget=None,
                                 steps_per_row='auto',
                                 reservoir_size=2000,
                                 half_life=None))
        """
        check_choice("objective", objective, ("printed", "released"))
        plain = isinstance(C_prime, str) or objective == "released"
        settings = {
            "C": C if objective == "released" else f"{C!r}{PER_LABEL}",
            "C_graph": C_prime if plain else f"{C_prime!r}{PER_LABEL}",
            "gamma": gamma,
            "graph": "full",
            "smoothness": Power(p, normalized=False),
            "solver": SGD(step="explicit", max_iter="published" if n_steps is None else n_steps),
            "fit_intercept": True,
            **({} if loss is None else {"loss": loss}),
        }
        return cls(**settings | cls._published | others)

    _published: ClassVar[dict[str, Any]] = {}  # what the estimator of the task adds

    # ------------------------------------------------------------------ fit

    def plan(self, problem: Problem) -> Plan:
        """Return the plan of a fit to this problem, with every "auto" filled in."""
        kernel = self._resolve_kernel(problem.X, self._dtype())
        sizes = problem.sizes(classes=is_classifier(self))
        return make_plan(self, problem.X, kernel, sizes, affinity=problem.affinity)

    def objective(
        self, problem: Problem, plan: Plan | None = None, *, neighbours: Neighbours | None = None
    ) -> tuple[Plan, Objective]:
        """Return the plan with its costs as numbers, and J. ``fit_problem`` has the parameters."""
        X, labeled, _, targets, weights, loss, _ = problem
        if not weights.any():
            raise ValueError(
                "sample_weight (or class_weight) is 0 for every labelled row; at least one must "
                "be positive."
            )
        dtype, plan = self._dtype(), plan or self.plan(problem)
        if isinstance(plan.solver, SGD):
            require_memory_for_centres(X, targets.shape[1], plan.solver, dtype)
        check_kernel_reaches(plan.kernel, X)
        graph = self._build_graph(problem, plan, neighbours)
        warn_of_rounding(plan.kernel, X, dtype)
        R = float(np.sqrt(largest_kernel_value(plan.kernel, X, dtype)))
        plan, guarantee = self._fill_in_guarantee(plan, R, loss, weights, graph)
        objective = Objective(
            X=X,
            labeled=np.flatnonzero(labeled),
            targets=targets,
            weights=weights,
            kernel=plan.kernel,
            offset=float(self.fit_intercept),
            loss=loss,
            smoothness=Smoothness(float(plan.smoothness.p)),
            C=np.full(targets.shape[1], plan.C),
            C_graph=np.full(targets.shape[1], plan.C_graph, dtype=np.float64),
            graph=graph,
            normalized=bool(plan.smoothness.normalized),
            degree=int(plan.smoothness.degree),
            relative=plan.relative,
            guarantee=guarantee,
        )
        return plan, objective

    def fit_problem(
        self,
        problem: Problem,
        plan: Plan | None = None,
        *,
        neighbours: Neighbours | None = None,
    ) -> Solution:
        """Solve the problem, set the fitted attributes and return the solution.

        `plan` is that of the fit if it is not the estimator's own. `neighbours` are those of the
        kNN graph, if they are already known.
        """
        for name in _OF_EARLIER_FITS:
            self.__dict__.pop(name, None)
        plan, objective = self.objective(problem, plan, neighbours=neighbours)
        with blas_threads_for(*plan.solver.matrix_shape(objective.sizes)):
            solution = solve(plan.solver, objective, self.resources(), callback=self.callback)
        self._set_attributes(plan, objective, solution, self._dtype())
        return solution

    def resources(self) -> Resources:
        """Return the seed, precision and threads of a run."""
        random = check_random_state(self.random_state)
        seed = np.random.SeedSequence(random.randint(2**31 - 1, size=4).tolist())
        return Resources(seed, self._dtype(), self.n_threads(), self.verbose)

    def _dtype(self) -> np.dtype[Any]:
        return np.dtype(np.float64 if self.precision == "double" else np.float32)

    def _build_graph(
        self, problem: Problem, plan: Plan, neighbours: Neighbours | None
    ) -> Graph | None:
        if plan.graph is None:
            return None
        X, labeled = problem.X, problem.labeled
        graph: Graph
        if neighbours is not None:
            assert isinstance(plan.graph, KNN)
            graph = plan.graph.of_neighbours(neighbours, labeled)
        else:
            graph = plan.graph.build(
                X,
                labeled,
                affinity=problem.affinity,
                n_jobs=self.n_threads(),
                verbose=bool(self.verbose),
            )
        given = getattr(graph_or_given(self.graph, problem.affinity), "weights", "auto")
        if not isinstance(given, str):
            check_graph_reaches(graph, given)
        warn_of_unlabeled_components(graph, labeled)
        return graph

    def _fill_in_guarantee(
        self,
        plan: Plan,
        R: float,
        loss: Loss,
        weights: NDArray[np.float64],
        graph: Graph | None,
    ) -> tuple[Plan, Guarantee | None]:
        """Return the plan with C_graph as a number, and the theorem's constants if it applies.

        It applies to differences of f itself, with a C that is known before the fit.
        """
        if plan.solver.squared or plan.smoothness.normalized or plan.smoothness.degree != 1:
            return (replace(plan, C_graph=0.0) if graph is None else plan), None
        A = loss.lipschitz * float(np.sqrt(R**2 + float(self.fit_intercept)) * weights.max())
        n_labeled, p, C_graph = len(weights), plan.smoothness.p, plan.C_graph
        scale = 1.0 if graph is None else graph.max_weight
        if graph is None:
            C_graph = 0.0
        elif isinstance(C_graph, str):
            limit = largest_C_graph(n_labeled * plan.C, p, R, A)
            limit = _GUARANTEED * limit / n_labeled / scale
            # Below p = 2 every value is guaranteed: take the paper's choice, C_graph = C.
            C_graph = limit if np.isfinite(limit) else plan.C
        guarantee = Guarantee.for_estimator(plan.C, float(C_graph), n_labeled, p, R, A, scale)
        C_graph = guarantee.C_graph / n_labeled / scale
        return replace(plan, C_graph=C_graph), None if plan.relative else guarantee

    def _set_attributes(
        self, plan: Plan, objective: Objective, solution: Solution, dtype: Any
    ) -> None:
        self.plan_ = plan
        s = plan.solver  # the theorem is about the paper's own steps
        proved = isinstance(s, SGD) and s.step == "explicit" and s.budget is None
        self.guarantee_ = objective.guarantee if proved else None
        self.n_iter_ = solution.n_iter
        self.C_ = float((objective.C if solution.C is None else solution.C).max())
        self.objective_ = float(solution.objective.sum())
        self._set_machine(
            solution.kernel or objective.kernel,
            objective.X,
            solution.rows,
            solution.coefficients,
            offset=objective.offset,
            dtype=dtype,
        )
        self.support_ = solution.rows
        self.field_ = solution.field

    # ------------------------------------------------------------------ scores

    field_: Field | None = None

    def training_scores(self, X: Any) -> NDArray[np.float64]:
        """Return f at the training rows; the solver's own scores are not computed again."""
        own = self._own_scores()
        return super().training_scores(X) if own is None else own

    def _scores_are_known(self) -> bool:
        return super()._scores_are_known() or self._own_scores() is not None

    def _own_scores(self) -> NDArray[np.float64] | None:
        """Return the scores of the training rows after `RowNewton`: each row is a node."""
        return None if self.field_ is None else self.field_.values.astype(np.float64)

    def scores_at(self, rows: Any) -> NDArray[np.float64]:
        """Return the scores of rows that are checked, with those of the field."""
        scores = super().scores_at(rows)
        return scores if self.field_ is None else scores + self.field_(rows)
