"""The search of parameters, and then one fit with the best ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._util.order import rows_in_order
from .._util.parameters import check_count, check_number
from .._util.progress import progress_bar
from .._util.threads import blas_threads_for
from .._util.warnings import quiet
from ..estimators.data_checks import GraphWarning
from ..estimators.labels import as_label_array
from ..graphs import graph_or_given
from ..kernels import resolve_kernel
from ..smoothness import IteratedLaplacian
from ..solvers import Newton, RowNewton
from .base import BaseGKM, Problem
from .candidates import Candidates, Grid
from .closed_form import ClosedForm
from .criterion import Judgement
from .fold_judge import FoldJudge
from .plan import Plan, choose_exact, resolve_smoothness


class SearchMixin:
    """Search, then one fit with the best parameters, which makes predictions and scores.

    It comes before scikit-learn's mixins, whose `score` would count unlabelled rows.
    """

    best_estimator_: Any
    _usual: ClassVar[BaseGKM]  # the estimator where none is given

    def __init__(
        self,
        estimator: BaseGKM | None = None,
        *,
        Cs: Sequence[float] | None = None,
        C_graphs: Sequence[float] | None = None,
        gammas: Sequence[float | str] | None = None,
        graphs: Sequence[tuple[int, int]] | None = None,
        cv: Any = None,
        scoring: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.Cs = Cs
        self.C_graphs = C_graphs
        self.gammas = gammas
        self.graphs = graphs
        self.cv = cv
        self.scoring = scoring
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def searched(self) -> BaseGKM:
        """Return the estimator whose parameters are chosen; an error if it is of another kind."""
        if self.estimator is None:
            return self._usual
        if not isinstance(self.estimator, type(self._usual)):
            kind = type(self._usual).__name__
            raise ValueError(f"estimator must be a {kind} or None, got {self.estimator!r}.")
        return self.estimator

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        affinity: Any = None,
        ids: Any = None,
    ) -> Self:
        """Choose the parameters and learn with them.

        Parameters
        ----------
        X, y, sample_weight, affinity, ids
            As in the `fit` of `GKMClassifier` or `GKMRegressor`.

        Returns
        -------
        self
        """
        grid, template = self._grid(), self._template()
        self._refuse_given("C", "C_graph", "gamma")
        # The search chooses C_graph. The plan only needs to know whether there is any graph.
        any_graph = grid.given_C_graphs is None or any(grid.given_C_graphs)
        template.set_params(C_graph="auto" if any_graph else 0.0)
        problem = template.encode(X, y, sample_weight, affinity, ids)
        plan = self._make_exact(template, problem)
        judge: ClosedForm | FoldJudge
        closed = ClosedForm(problem, classes=is_classifier(self))
        candidates = Candidates(template, problem, plan, grid)
        if self.cv is None and self.scoring is None and candidates.have_features:
            judge = closed
        else:
            judge = FoldJudge(
                template,
                problem,
                self._splits(template, problem, y),
                y,
                sample_weight,
                lambda: candidates.neighbours,
                self.scoring,
            )
        found: list[tuple[dict[str, Any], Judgement]] = []
        shape = plan.solver.matrix_shape(problem.sizes(classes=is_classifier(self)))
        bar = progress_bar(self.verbose, total=len(candidates), unit="candidate", desc="search")
        with blas_threads_for(*shape), bar:
            for family in candidates:
                found += zip(family.candidates(), judge.judge(family), strict=True)
                bar.update(len(family.Cs))
        self.set_results(
            [candidate for candidate, _ in found],
            np.array([judgement.loss for _, judgement in found]),
            np.array([judgement.score for _, judgement in found]),
        )
        if judge is closed and not is_classifier(self):
            own = closed.held_out_scores()
            self.best_score_ = own[self.best_params_["C_graph"] > 0]
            self.unlabeled_gain_ = self.best_score_ - own[False]
        template.set_params(**self.best_params_)
        # The warning advises to try C_graph = 0, and the search has done that.
        with quiet("The graph overrules the labels", category=GraphWarning):
            self.set_model(template.learn(problem, neighbours=candidates.neighbours))
        return self

    def _refuse_given(self, *names: str) -> None:
        """Raise if the search would overwrite a value that the estimator was given."""
        estimator, usual = self.searched(), self._usual
        for name in names:
            value, values = getattr(estimator, name), getattr(self, f"{name}s")
            if values is None and value != getattr(usual, name):
                raise ValueError(
                    f"The estimator has {name}={value!r}, and {type(self).__name__} chooses it; "
                    f"pass {name}s=[{value!r}] for this value alone, or leave {name} at "
                    f"{getattr(usual, name)!r}."
                )

    def set_model(self, model: BaseGKM) -> None:
        """Set the chosen model and the attributes that are taken from it."""
        self.best_estimator_ = model
        for name in ("classes_", "n_features_in_", "feature_names_in_", "n_iter_"):
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))

    def set_results(
        self,
        candidates: list[dict[str, Any]],
        losses: NDArray[np.float64],
        scores: NDArray[np.float64],
    ) -> None:
        """Set the results of the search; the candidate with the smallest loss is the best."""
        self.best_index_ = int(np.argmin(losses))
        self.best_params_ = candidates[self.best_index_]
        self.best_score_ = float(scores[self.best_index_])
        without_graph = np.array([candidate["C_graph"] == 0 for candidate in candidates])
        rival = int(np.flatnonzero(without_graph)[np.argmin(losses[without_graph])])
        self.unlabeled_gain_ = float(scores[self.best_index_] - scores[rival])
        names = dict.fromkeys(name for candidate in candidates for name in candidate)
        self.cv_results_ = {
            f"param_{name}": np.ma.masked_invalid(
                [float(candidate.get(name, np.nan)) for candidate in candidates]
            )
            for name in names
        } | {
            "params": candidates,
            "mean_test_score": scores,
            "criterion": losses,
            "rank_test_score": 1 + np.argsort(np.argsort(losses, kind="stable"), kind="stable"),
        }

    def _template(self) -> BaseGKM:
        """Return a copy of the estimator with the seed and threads of the search."""
        template: BaseGKM = clone(self.searched())
        random_state = self.random_state
        if random_state is None:
            random_state = template.random_state
        # The search and the fit after it must see the same landmarks.
        seed = check_random_state(random_state).randint(2**31 - 1)
        template.set_params(random_state=int(seed), verbose=max(self.verbose, template.verbose))
        return template if self.n_jobs is None else template.set_params(n_jobs=self.n_jobs)

    @staticmethod
    def _make_exact(template: BaseGKM, problem: Problem) -> Plan:
        """Return the plan; at p = 2 "auto" becomes a solver that can iterate the Laplacian.

        A given solver and a given power stay as they are.
        """
        sizes = problem.sizes(classes=is_classifier(template))
        smoothness = template.smoothness
        squares = smoothness == "auto" or getattr(smoothness, "p", smoothness) == 2
        if template.solver == "auto" and squares:
            kernel = resolve_kernel(template.kernel)
            graph = graph_or_given(template.graph, problem.affinity)
            wanted = None if smoothness == "auto" else resolve_smoothness(smoothness)
            solver, _ = choose_exact(kernel, graph, wanted, template.C_graph, sizes)
            template.set_params(solver=solver)
        plan = template.plan(problem)
        if smoothness == "auto" and isinstance(plan.solver, Newton | RowNewton):
            template.set_params(smoothness=IteratedLaplacian(1))  # whose degree is searched
        return plan

    def _grid(self) -> Grid:
        Cs, C_graphs, gammas, graphs = self.Cs, self.C_graphs, self.gammas, self.graphs
        if Cs is not None:
            Cs = [check_number("Cs", C, least=0, strictly=True) for C in _listed("Cs", Cs)]
        if C_graphs is not None:
            C_graphs = [check_number("C_graphs", C, least=0) for C in _listed("C_graphs", C_graphs)]
        if gammas is not None:
            words = ("spread", "scale", "auto")
            gammas = [
                check_number("gammas", gamma, least=0, strictly=True, words=words)
                for gamma in _listed("gammas", gammas)
            ]
        if graphs is not None:
            graphs = [_graph_kind(pair) for pair in _listed("graphs", graphs)]
        return Grid(Cs, C_graphs, gammas, graphs)

    def _splits(self, template: BaseGKM, problem: Problem, y: Any) -> Any:
        """Return rows to train on and rows to test on; the folds do not depend on their order."""
        from ..model_selection import LabeledKFold, LabeledStratifiedKFold  # slow to import

        if hasattr(self.cv, "split") and not isinstance(self.cv, str):  # texts have a `split`, too
            return self.cv.split(problem.X, as_label_array(y))
        n_splits = 5 if self.cv is None else check_count("cv", self.cv, least=2)
        kind = LabeledStratifiedKFold if is_classifier(self) else LabeledKFold
        splitter = kind(n_splits, random_state=0, unlabeled=template.unlabeled)
        order = rows_in_order(problem.X)
        splits = splitter.split(problem.X[order], as_label_array(y)[order])
        return [(order[train], order[test]) for train, test in splits]

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the prediction of the chosen model for every row of X."""
        check_is_fitted(self, "best_estimator_")
        return np.asarray(self.best_estimator_.predict(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the chosen model's score on the labelled rows of (X, y)."""
        check_is_fitted(self, "best_estimator_")
        return float(self.best_estimator_.score(X, y, sample_weight))

    @property
    def transduction_(self) -> NDArray[Any]:
        """Labels or targets of the training rows."""
        check_is_fitted(self, "best_estimator_")
        return np.asarray(self.best_estimator_.transduction_)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that the search takes the same input as its estimator."""
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        known = isinstance(self.estimator, type(self._usual))
        model = self.estimator if known else self._usual
        tags.input_tags = model.__sklearn_tags__().input_tags  # type: ignore[union-attr]
        tags.target_tags.required = True
        return tags


def _listed(name: str, values: Any) -> list[Any]:
    listed = [] if isinstance(values, str) or not hasattr(values, "__iter__") else list(values)
    if not listed:
        raise ValueError(f"{name} must be None or a list of values to try, got {values!r}.")
    return listed


def _graph_kind(pair: Any) -> tuple[int, int]:
    if not hasattr(pair, "__len__") or len(pair) != 2:
        raise ValueError(f"graphs must hold pairs (n_neighbors, degree), got {pair!r} among them.")
    return check_count("n_neighbors", pair[0]), check_count("degree", pair[1])
