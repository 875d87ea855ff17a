"""Any model, corrected over a graph of all rows: F(x) = f(x) + g(x).

f is fitted to the labelled rows alone. Its errors at these rows, each predicted without the row's
own label, become a field g over the graph of all rows. How strong the field is, and whether there
is one at all, is decided on held-out labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_regressor
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from ..graphs import NodesPart
from ..judge.folds import Folds, Splitter
from ..judge.held_out import check_classifier, class_shares, hold_out_classes, hold_out_values
from ..machines.calibration import Calibration
from ..machines.checks import require_memory_for_classes
from ..machines.class_weights import labels_that_weigh
from ..machines.classes import winning_class
from ..machines.given_rows import require_labels, rows_as_numbers, weights_to_score
from ..machines.kernel_ridge import KernelRidgeClassifierCV, KernelRidgeCV
from ..machines.labels import (
    as_label_array,
    checked_classes,
    labeled_mask,
    plain_labels,
    refuse_ambiguous,
)
from ..machines.namespaces import own_names
from ..machines.ridge_base import BaseKernelRidge
from ..machines.targets import known_targets
from .corrected_base import Corrected
from .correction import Loss, Losses
from .criterion import FEWEST
from .fixed import FixedClassifier, FixedRegressor
from .scaling import Scaling, class_scores, differences, probabilities

_SQUARES = 0.5  # weight of squared errors beside the errors themselves, where labels are few
_FEW = 180  # labels; with more the errors say enough, and squares count for less


_FEWEST_OF_A_CLASS = 4  # labels per class that are needed to judge a field


@own_names
class GraphCorrectedClassifier(ClassifierMixin, Corrected, BaseEstimator):
    """A classifier corrected over a graph of all rows, labelled and unlabelled.

    The classifier is fitted to the labelled rows. A field is a function on the graph of all rows,
    fitted to the labels. The sum of both decides, for rows seen and new. How much each counts is
    chosen on held-out labels. Without a field the classifier stays as it is; the library's own
    gets probabilities that fit the held-out labels.

    Up to 4,000 distinct rows the field follows clusters, in three kinds: functions of the leading
    eigenvectors of graphs, of nearest neighbours and of a Gaussian kernel, and functions that fade
    along a graph from each label. Beyond, with up to 300 labels, there are the last two. Beyond
    2,000 rows the eigenvectors of the kernel are those of 2,000 of them, extended to all others,
    and there are fewer graphs. Each kind alone, and a sum of the
    classifier and all kinds, are compared on folds of labels that had no part in them. The best is
    taken if it beats the classifier alone by more than one standard error.

    With more rows and labels, or with `Cs`, `epsilons`, `degree` or anchors, the field follows the
    differences between the labels and what the classifier says without having seen them, and is
    smooth along the edges. A field must beat the classifier alone by more than 1.25 standard
    errors. A field without the classifier is tried as well; it must win by more than 2.25.

    With fewer than eight labels, or four for each class, nothing can be judged; labels without
    another one of their class do not count. The classifier is left out then, and the field flows
    from the labels. A warning says so.

    Parameters
    ----------
    estimator : classifier, optional
        Anything with `predict_proba` or `decision_function`: a forest, boosting, an SVC, a
        pipeline. None is `graphkm.machines.KernelRidgeClassifierCV`, the library's own machine. A
        class to which that machine's `class_weight` gives 0 counts for nothing here, too.
    graph : {"knn", "anchors"} or NodesPart, default="knn"
        Where the field lives: `graphkm.graphs.KNN` has a value at every row, `Anchors` at fewer
        nodes. A name stands for the part with its defaults.
    unlabeled : default=-1
        The mark of unlabelled rows in y. NaN, None, NA and empty texts always count as
        unlabelled; None means that nothing else does.
    random_state : int, RandomState or None, default=None
        Decides the folds, and the own machine's draws. The estimator has its own.
    n_jobs : int or None, default=None
        Threads of the graph; None is every core of the process.

    Other Parameters
    ----------------
    Cs : list of float, optional
        Weights of the labels against the smoothness of the field, in units of the mean of
        `sample_weight`; 0.3 and 3 by default.
    epsilons : list of float, optional
        How strongly the field is pulled to 0; small values carry labels far along the graph. 0.5,
        0.1, 0.03 and 0.01 by default.
    degree : int, default=1
        The power of the graph's Laplacian.
    cv : int, splitter or list of (train, test), optional
        Folds of the labelled rows; by default 10 with up to 200 labels, and 5 with more (fewer
        where a class has fewer rows). Held-out labels are hidden; their rows stay in the graph.
    scoring : str or callable, optional
        What is best, as in `sklearn.model_selection.GridSearchCV`. By default the errors and,
        with a small weight, the squared errors of the held-out labels.
    transduce : bool, default=True
        Whether `transduction_` is kept. It is computed when it is first asked for, or when the
        model is copied or saved. Until then the model holds a copy of the rows, or the rows
        themselves if they take more than 16 MiB. If these change before, it is lost.
    verbose : int, default=0
        1 shows progress bars.

    Attributes
    ----------
    estimator_ : classifier
        Fitted to the labelled rows.
    field_ : Field or None
        The correction; None where it did not help.
    estimator_weight_ : float
        How much the classifier counts, from 0 (the field alone decides) to 1.
    unlabeled_gain_ : float
        Held-out score of the choice, minus that of the estimator alone: the estimated benefit of
        the graph. NaN if labels are too few to tell.
    best_score_ : float
        Held-out score of the choice. Of fields that follow clusters, the labels that are scored
        had no part in the choice; otherwise, or with a `scoring`, it is the best of several, and
        a little too high.
    best_params_, best_index_, cv_results_
        As in `sklearn.model_selection.GridSearchCV`; `criterion` is what was minimised.
    held_out_by_ : {"leave-one-out", "out-of-bag", "out-of-fold", "prior"}
        Where the estimator's held-out predictions come from. "prior": labels are too few to hold
        any out, and equal shares take their place.
    n_held_out_ : int
        Held-out labels that decided; 0 if labels were too few.
    transduction_ : ndarray of shape (n_samples,)
        Labels of the training rows; given labels are kept.
    calibration_ : Calibration or None
        How F becomes probabilities; None if they are the estimator's own.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from graphkm import GraphCorrectedClassifier
    >>> X, truth = make_moons(400, noise=0.1, random_state=0)
    >>> y = np.where(np.arange(400) < 20, truth, -1)
    >>> forest = RandomForestClassifier(random_state=0)
    >>> model = GraphCorrectedClassifier(forest, random_state=0).fit(X, y)
    >>> alone = forest.fit(X[:20], y[:20]).score(X, truth)
    >>> print(f"{alone:.2f} alone, {model.score(X, truth):.2f} corrected")
    0.91 alone, 1.00 corrected
    """

    calibration_: Calibration | None
    _held_scores: tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64], int] | None

    def _check_estimator(self) -> None:
        check_classifier(self.estimator)

    def _encode(
        self, y: Any, rows: Any, counts: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[Any]]:
        values = as_label_array(y)
        check_consistent_length(rows, values)
        labeled = np.flatnonzero(labeled_mask(values, self.unlabeled) & counts)
        require_labels(labeled, len(values), self.unlabeled)
        refuse_ambiguous(values, self.unlabeled)
        known = plain_labels(values[labeled])
        weighs = labels_that_weigh(self.class_weight_inside(), known)
        labeled, known = labeled[weighs], known[weighs]
        require_labels(labeled, len(values), self.unlabeled)
        self.classes_ = checked_classes(known)
        require_memory_for_classes(len(known), len(self.classes_))
        return labeled, known

    def _usual(self, seed: int) -> BaseKernelRidge:
        return KernelRidgeClassifierCV(random_state=seed, n_jobs=self.n_jobs)

    def _hold_out(self, X: Any, known: NDArray[Any], weights: Any, folds: Folds, seed: int) -> Any:
        return hold_out_classes(self._used_estimator(seed), X, known, weights, folds, self.classes_)

    def _n_judged(self, known: NDArray[Any]) -> int:
        counts = np.unique(known, return_counts=True)[1]
        return int(counts[counts > 1].sum())

    def _n_needed(self) -> int:
        return max(FEWEST, _FEWEST_OF_A_CLASS * len(self.classes_))

    def _targets(
        self, known: NDArray[Any], weights: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], float]:
        codes = np.searchsorted(self.classes_, known)
        shares = (codes[:, None] == np.arange(len(self.classes_))).astype(np.float64)
        return self._columns(shares), 1.0 / len(self.classes_)

    def _columns(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return class shares; of two classes the second is enough."""
        return values[:, 1:] if len(self.classes_) == 2 else values

    def _shares(self, columns: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.hstack([1.0 - columns, columns]) if columns.shape[1] == 1 else columns

    def _base(self, X: Any) -> NDArray[np.float64]:
        return self._columns(class_shares(self._held, X, self.classes_))

    def _splitter(self, known: NDArray[Any], seed: int) -> Splitter:
        from sklearn.model_selection import StratifiedKFold  # slow to import

        most = np.unique(known, return_counts=True)[1].max()
        return lambda n: StratifiedKFold(n, shuffle=True, random_state=seed) if n <= most else None

    def _loss(self, known: NDArray[Any], targets: NDArray[np.float64]) -> Loss:
        wanted = self._shares(targets)
        codes = wanted.argmax(axis=1)
        share = _SQUARES * min(1.0, (_FEW / len(known)) ** 0.5)

        def loss(columns: NDArray[np.float64], rows: NDArray[np.int64]) -> Losses:
            shares = self._shares(columns)
            wrong = shares.argmax(axis=1) != codes[rows]
            stretched = _stretched(shares, _stretch(shares, wanted[rows]))
            squares = np.square(stretched - wanted[rows]).sum(axis=1)
            return np.asarray(wrong + share * squares), wrong.astype(np.float64)

        return loss

    def _answers(self, outputs: NDArray[np.float64], scaling: Scaling | None) -> Any:
        return FixedClassifier(self._shares(outputs), self.classes_, scaling)

    def _scaling_to(
        self,
        outputs: NDArray[np.float64],
        targets: NDArray[np.float64],
        weights: NDArray[np.float64],
    ) -> Scaling:
        return Scaling.fit(self._shares(outputs), self._shares(targets), weights)

    def _usual_scaling(self) -> Scaling:
        return Scaling.usual(len(self.classes_))

    def _hold(
        self,
        outputs: NDArray[np.float64] | None,
        rows: NDArray[np.int64],
        known: NDArray[Any],
        weights: NDArray[np.float64],
    ) -> None:
        """Learn from held-out labels how sure the choice is; a model alone stays as it is."""
        if self._scaling is None:
            self.calibration_ = self._held_scores = None
            return
        columns = len(self.classes_)
        scores = np.empty((0, columns))
        if outputs is not None:
            scores = class_scores(self._shares(outputs), self._scaling)
        self._held_scores = rows, scores, np.searchsorted(self.classes_, known[rows]), len(known)
        self.calibrate(weights)

    def calibrate(self, weights: NDArray[np.float64], *, keeps: bool = True) -> None:
        """Fit the probabilities to held-out labels again, with other weights; after `fit` only.

        Parameters
        ----------
        weights : ndarray of shape (n_labeled,)
            Weights of the labels.
        keeps : bool, default=True
            Whether the class that `predict` names keeps the largest probability.
        """
        if self._held_scores is None:
            return
        rows, scores, codes, n_labeled = self._held_scores
        if len(rows) < FEWEST:
            self.calibration_ = Calibration.usual(len(self.classes_), n_labeled)
        else:
            self.calibration_ = Calibration.fit(scores, codes, weights[rows], keeps=keeps)

    def _numbers(self, answers: NDArray[Any]) -> NDArray[Any]:
        codes = np.searchsorted(self.classes_, answers)
        return codes.astype(np.min_scalar_type(len(self.classes_) - 1))

    def _class_scores(self, X: Any) -> NDArray[np.float64]:
        return class_scores(self._shares(self._outputs(X)), self._scaling)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of every row of X."""
        check_is_fitted(self, "estimator_")
        if self._scaling is None:
            rows_as_numbers(self, X, reset=False)
            return np.asarray(self.estimator_.predict(X))
        return np.asarray(self.classes_[winning_class(self._class_scores(X))])

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return a score per class; for two classes their difference, of shape (n,).

        They are logarithms of the probabilities, up to a constant for each row. Without a field
        they are the estimator's class shares, unless it is the library's own.
        """
        return differences(self._class_scores(X))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return estimates of the classes' probabilities, from F(x).

        Held-out labels have shown how sure F is: see `graphkm.machines.Calibration`. The class that
        `predict` names has the largest. Without a field they are the estimator's, unless it is the
        library's own.
        """
        check_is_fitted(self, "estimator_")
        if self.calibration_ is None:
            return probabilities(self._shares(self._outputs(X)), None)
        scores = self._class_scores(X)
        return self.calibration_.probabilities(scores, winning_class(scores))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithms of the classes' probabilities."""
        with np.errstate(divide="ignore"):  # an estimator may be certain
            return np.asarray(np.log(self.predict_proba(X)))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on the labelled rows of (X, y)."""
        values = as_label_array(y)
        labeled = labeled_mask(values, self.unlabeled)
        weights = weights_to_score(X, labeled, sample_weight)
        return float(np.average(self.predict(X)[labeled] == values[labeled], weights=weights))


@own_names
class GraphCorrectedRegressor(RegressorMixin, Corrected, BaseEstimator):
    """A regressor corrected over a graph of all rows, labelled and unlabelled.

    As `GraphCorrectedClassifier`, for quantities: the held-out errors of the regressor become a
    field over the graph of all rows, and the sum of both is the prediction.

    Parameters
    ----------
    estimator : regressor, optional
        Any regressor. None is `graphkm.machines.KernelRidgeCV`, the library's own kernel machine.
    unlabeled : float or None, default=None
        A further mark of unknown targets. NaN, None and NA always count as unknown, and -1 is a
        target like any other unless it is named here.
    graph, random_state, n_jobs
        As in `GraphCorrectedClassifier`.

    Other Parameters
    ----------------
    scoring : str or callable, optional
        What is best; by default the squared error.
    Cs, epsilons, degree, cv, transduce, verbose
        As in `GraphCorrectedClassifier`.

    Attributes
    ----------
    estimator_, field_, estimator_weight_, unlabeled_gain_, best_score_, best_params_
        As in `GraphCorrectedClassifier`; scores are R^2.
    transduction_ : ndarray of shape (n_samples,)
        Targets of the training rows; given ones are kept.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from graphkm import GraphCorrectedRegressor
    >>> t = np.linspace(0, 6, 300)
    >>> X = np.column_stack([np.cos(t), np.sin(t), t / 6])
    >>> y = np.where(np.arange(300) % 10 == 0, t, np.nan)
    >>> model = GraphCorrectedRegressor(random_state=0).fit(X, y)
    >>> print(f"{np.abs(model.transduction_ - t).max():.2f}")
    0.06
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        graph: str | NodesPart = "knn",
        Cs: Sequence[float] | None = None,
        epsilons: Sequence[float] | None = None,
        degree: int = 1,
        cv: Any = None,
        scoring: Any = None,
        unlabeled: Any = None,
        transduce: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            estimator,
            graph=graph,
            Cs=Cs,
            epsilons=epsilons,
            degree=degree,
            cv=cv,
            scoring=scoring,
            unlabeled=unlabeled,
            transduce=transduce,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )

    def _check_estimator(self) -> None:
        if not is_regressor(self.estimator):
            raise ValueError(f"estimator must be a regressor or None, got {self.estimator!r}.")

    def _encode(
        self, y: Any, rows: Any, counts: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[Any]]:
        mask, known = known_targets(y, self.unlabeled)
        check_consistent_length(rows, mask)
        labeled = np.flatnonzero(mask & counts)
        require_labels(labeled, len(mask), self.unlabeled)
        return labeled, known[counts[mask]]

    def _usual(self, seed: int) -> BaseKernelRidge:
        return KernelRidgeCV(random_state=seed, n_jobs=self.n_jobs)

    def _hold_out(self, X: Any, known: NDArray[Any], weights: Any, folds: Folds, seed: int) -> Any:
        return hold_out_values(self._used_estimator(seed), X, known, weights, folds)

    def _targets(
        self, known: NDArray[Any], weights: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], float]:
        return known[:, None], float(np.average(known, weights=weights))

    def _columns(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return values

    def _base(self, X: Any) -> NDArray[np.float64]:
        return np.asarray(self.estimator_.predict(X), dtype=np.float64).reshape(-1, 1)

    def _splitter(self, known: NDArray[Any], seed: int) -> Splitter:
        from sklearn.model_selection import KFold  # slow to import

        most = len(known)
        return lambda n: KFold(n, shuffle=True, random_state=seed) if n <= most else None

    def _loss(self, known: NDArray[Any], targets: NDArray[np.float64]) -> Loss:
        scale = float(np.var(known)) or 1.0

        def loss(columns: NDArray[np.float64], rows: NDArray[np.int64]) -> Losses:
            squares = np.square(columns[:, 0] - known[rows]) / scale
            return squares, squares

        return loss

    def _answers(self, outputs: NDArray[np.float64], scaling: Scaling | None) -> Any:
        return FixedRegressor(outputs[:, 0])

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the target of every row of X."""
        return self._outputs(X)[:, 0]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the coefficient of determination on the rows of (X, y) with a target."""
        from sklearn.metrics import r2_score  # as RegressorMixin does: it is slow to import

        labeled, known = known_targets(y, self.unlabeled)
        weights = weights_to_score(X, labeled, sample_weight)
        return float(r2_score(known, self.predict(X)[labeled], sample_weight=weights))


def _stretch(shares: NDArray[np.float64], wanted: NDArray[np.float64]) -> float:
    """Return the factor of the shares' distances from equal shares that fits the labels best.

    A field far from its few labels has the right sign and hardly any size.

    Examples
    --------
    >>> _stretch(np.array([[0.25, 0.75]]), np.array([[0.0, 1.0]]))
    2.0
    """
    equal = 1.0 / shares.shape[1]
    size = float(np.square(shares - equal).sum())
    return max(0.0, float(((shares - equal) * (wanted - equal)).sum()) / size) if size else 1.0


def _stretched(shares: NDArray[np.float64], factor: float) -> NDArray[np.float64]:
    equal = 1.0 / shares.shape[1]
    return np.asarray(equal + factor * (shares - equal))
