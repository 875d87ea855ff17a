"""`GKMClassifier` and `GKMRegressor` on anchors: a kernel machine on the labels, and a field.

A field on anchors needs no more of the rows than sums. So the rows may be larger than memory, and
`graphkm.dask` makes the same model from rows on many machines.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sklearn.base import is_classifier

from .._parts import Sizes
from ..graphs import Anchors, resolve_graph
from ..kernels import resolve_kernel
from ..machines.kernel_ridge import KernelRidgeClassifierCV, KernelRidgeCV
from ..solvers import Progress
from .corrected import GraphCorrectedClassifier, GraphCorrectedRegressor
from .field_solver import FieldSolver
from .plan import Plan, check_parameters, make_plan


def on_anchors(estimator: Any) -> bool:
    """Return whether an estimator is to have a field on anchors."""
    return isinstance(resolve_graph(estimator.graph), Anchors) and estimator.C_graph != 0


def anchored_model(
    classes: bool,
    *,
    kernel: Any,
    gamma: float | str | None,
    n_landmarks: int | str = "auto",
    class_weight: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    **options: Any,
) -> GraphCorrectedClassifier | GraphCorrectedRegressor:
    """Return the model that does the work, unfitted: a kernel machine, corrected.

    Parameters
    ----------
    classes : bool
        Whether targets are classes.
    kernel, gamma, n_landmarks, class_weight
        Of the machine. A gamma that is None is found by leave-one-out.
    random_state, n_jobs
        Of both.
    **options
        Further parameters of `GraphCorrectedClassifier` or `GraphCorrectedRegressor`.
    """
    gammas = None if gamma is None else [gamma]
    common = {"kernel": kernel, "n_landmarks": n_landmarks}
    both = {"random_state": random_state, "n_jobs": n_jobs}
    if not classes:
        return GraphCorrectedRegressor(KernelRidgeCV(gammas, **common, **both), **options, **both)
    machine = KernelRidgeClassifierCV(gammas, **common, class_weight=class_weight, **both)
    return GraphCorrectedClassifier(machine, **options, **both)


def fit_on_anchors(estimator: Any, X: Any, y: Any, sample_weight: Any) -> None:
    """Fit a `GKMClassifier` or `GKMRegressor` whose graph are anchors."""
    e, classes = estimator, is_classifier(estimator)
    check_parameters(e)
    solver = _plan(e, Sizes(2, 1, classes)).solver  # raises before rows are read
    assert isinstance(solver, FieldSolver)
    model = anchored_model(
        classes,
        kernel=e.kernel,
        gamma=solver.gamma,
        class_weight=getattr(e, "class_weight", None),
        graph=resolve_graph(e.graph),
        scoring=solver.scoring,
        unlabeled=e.unlabeled,
        transduce=e.transduce,
        random_state=e.random_state,
        n_jobs=e.n_jobs,
        verbose=e.verbose,
    ).fit(X, y, sample_weight)
    seen = model.seen()
    plan = _plan(e, Sizes(seen.n_rows, len(seen.labeled), classes))
    e.set_corrected(model, replace(plan, kernel=model.estimator_.kernel_))
    if e.callback is not None:
        e.callback(Progress(1, 1, len(seen.labeled)))


def _plan(estimator: Any, sizes: Sizes) -> Plan:
    """Return the plan; ValueError if the parts contradict."""
    if estimator.loss not in ("hinge", "epsilon_insensitive"):
        raise ValueError(
            f"graph={estimator.graph!r} has squared losses, and loss={estimator.loss!r}; leave it "
            "at its default, or pass graph='knn'."
        )
    return make_plan(estimator, None, resolve_kernel(estimator.kernel), sizes)
