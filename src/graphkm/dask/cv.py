"""The search over partitions: several models, judged on held-out labels, with shared passes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from sklearn.base import clone
from sklearn.utils import check_random_state

from .._parameters import check_count, check_number
from ..graphs import Anchors
from ..machines.namespaces import own_names
from .classifiers import DistributedClassifier, GKMClassifier
from .search import Found, Results, merged


@own_names
class GKMClassifierCV(DistributedClassifier):
    """`GKMClassifier` for partitions, with its parameters chosen on held-out labels.

    The candidates are kernel widths, numbers of anchors with a degree of the Laplacian, and
    strengths of the field; with every kernel width also no graph at all. All numbers of anchors
    share the passes over the rows. Each pair of a kernel width and a graph is then one task, which
    judges its strengths on folds of the labels. It leaves "no graph" only for a field that surely
    wins there. The pair whose choice is best is taken.

    Parameters
    ----------
    estimator : graphkm.dask.GKMClassifier, optional
        Everything that is not searched.
    gammas : list of float or str, optional
        Values of the kernel's gamma, as numbers or the words "spread", "scale" and "auto". By
        default the estimator's; without one leave-one-out finds it.
    graphs : list of (int or "auto", int), optional
        Pairs of a number of anchors and a degree of the Laplacian, in order of preference. By
        default the estimator's anchors, with degree 1.
    Cs, epsilons, cv
        As in `graphkm.GraphCorrectedClassifier`.
    scoring : str or callable, optional
        What is best, as in `sklearn.model_selection.GridSearchCV`. By default the estimator's;
        without one the errors and, with a small weight, the squared errors of held-out labels.
    random_state : int, RandomState or None, default=None
        Decides all draws; None takes the estimator's.

    Attributes
    ----------
    best_estimator_ : graphkm.GraphCorrectedClassifier
        The local estimator with the parameters chosen, fitted. `to_local` returns it.
    best_params_, best_index_, cv_results_
        As in `sklearn.model_selection.GridSearchCV`; `criterion` is what was minimised. Without a
        graph `n_anchors`, `degree`, `C` and `eps` are NaN.
    best_score_ : float
        Held-out accuracy of the choice, or its `scoring`; the best of several, and so a little too
        good. NaN if labels are too few to hold any out.
    unlabeled_gain_ : float
        Held-out score of the choice, minus that of the best candidate without a graph.
    estimator_, field_, estimator_weight_, held_out_by_, n_held_out_
        As in `GraphCorrectedClassifier`.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from graphkm.dask import GKMClassifierCV
    >>> X, truth = make_moons(400, noise=0.1, random_state=0)
    >>> y = np.where(np.arange(400) < 20, truth, -1)
    >>> rows, labels = da.from_array(X, chunks=(100, 2)), da.from_array(y, chunks=100)
    >>> search = GKMClassifierCV(graphs=[(60, 1), (30, 1)], random_state=0).fit(rows, labels)
    >>> print(f"{search.to_local().score(X, truth):.1f}")
    1.0
    >>> sorted(search.best_params_)
    ['C', 'degree', 'eps', 'estimator_weight', 'gamma', 'n_anchors']
    """

    def __init__(
        self,
        estimator: GKMClassifier | None = None,
        *,
        gammas: Sequence[float | str] | None = None,
        graphs: Sequence[tuple[int | str, int]] | None = None,
        Cs: Sequence[float] | None = None,
        epsilons: Sequence[float] | None = None,
        cv: Any = None,
        scoring: Any = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.gammas = gammas
        self.graphs = graphs
        self.Cs = Cs
        self.epsilons = epsilons
        self.cv = cv
        self.scoring = scoring
        self.random_state = random_state

    def searched(self) -> GKMClassifier:
        """Return the estimator whose parameters are chosen; an error if it is none of its kind."""
        if self.estimator is None:
            return GKMClassifier()
        if not isinstance(self.estimator, GKMClassifier):
            raise ValueError(
                f"estimator must be a graphkm.dask.GKMClassifier or None, got {self.estimator!r}."
            )
        return self.estimator

    @property
    def unlabeled(self) -> Any:  # type: ignore[override]
        """The mark of unlabelled rows, that of the estimator."""
        return self.searched().unlabeled

    @property
    def label_memory(self) -> int | str:  # type: ignore[override]
        """What labels may take on one worker, that of the estimator."""
        return self.searched().label_memory

    @property
    def best_estimator_(self) -> Any:
        """The local estimator with the parameters chosen."""
        return self.to_local()

    def local_models(self) -> list[Any]:
        """Return a local estimator for each kernel width and graph."""
        template = clone(self.searched())
        random_state = template.random_state if self.random_state is None else self.random_state
        # All candidates see the same anchors, folds and landmarks.
        template.set_params(random_state=check_random_state(random_state).randint(2**31 - 1))
        if self.scoring is not None:
            template.set_params(scoring=self.scoring)
        models = []
        for gamma, (n_anchors, degree) in product(self._gammas(template), self._graphs(template)):
            (model,) = template.set_params(n_anchors=n_anchors).local_models()
            if gamma is not None:
                model.estimator.set_params(gammas=[gamma])
            found = {"Cs": self.Cs, "epsilons": self.epsilons, "degree": degree, "cv": self.cv}
            models.append(model.set_params(**found))
        return models

    def _gammas(self, template: GKMClassifier) -> list[Any]:
        if self.gammas is None:
            return [template.gamma]
        words = ("spread", "scale", "auto")
        return [
            check_number("gammas", gamma, least=0, strictly=True, words=words)
            for gamma in _listed("gammas", self.gammas)
        ]

    def _graphs(self, template: GKMClassifier) -> list[tuple[int | str, int]]:
        if self.graphs is None:
            return [(template.n_anchors, 1)]
        pairs = _listed("graphs", self.graphs)
        for pair in pairs:
            if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2:
                raise ValueError(f"graphs must hold pairs (n_anchors, degree), got {pair!r}.")
            Anchors(pair[0])  # checks it
            check_count("degree", pair[1])
        return [(n_anchors, int(degree)) for n_anchors, degree in pairs]

    def _choose(self, results: list[Results]) -> Found:
        by_score = self.scoring is not None or self.searched().scoring is not None
        return merged(results, by_score=by_score)


def _listed(name: str, values: Any) -> list[Any]:
    listed = [] if isinstance(values, str) or not hasattr(values, "__iter__") else list(values)
    if not listed:
        raise ValueError(f"{name} must be None or a list of values to try, got {values!r}.")
    return listed
