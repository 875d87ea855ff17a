"""Kernel ridge machines that choose their parameters by leave-one-out in closed form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from ..estimators.array_kinds import own_names
from ..estimators.calibration import Calibration
from ..estimators.class_weights import class_factors, labels_that_weigh
from ..estimators.classes import can_tell_probabilities, winning_class
from ..estimators.data_checks import require_memory_for_classes
from ..estimators.targets import spread_of
from ..expansion import KernelExpansion
from ..judge.folds import FEWEST
from ..kernels import Kernel
from ..neighbours.distinct import Copies
from .base import BaseKernelRidge, require_weight
from .solvers import Matrix

_MARGIN = 4.0  # weight of squared errors beside wrong classes, over the root of the rows' number


@own_names
class KernelRidgeClassifierCV(ClassifierMixin, BaseKernelRidge):
    r"""Kernel ridge classification whose gamma and alpha are chosen by leave-one-out.

    All rows are labelled. f has one column per class. It minimises

    .. math::

        \sum_i s_i \|t_i - f(x_i)\|^2 + \alpha \|f\|^2

    where t_i is 1 - 1/K in the column of the row's class and -1/K in the others, of K classes.
    With two classes one column is enough. f is a sum of kernels over all rows, or over some of
    them if there are many, the landmarks. The chosen gamma and alpha make the fewest leave-one-out
    errors; squared errors count a little, too. Leave-one-out has a closed form, so the search takes
    about as long as a few fits.

    Parameters
    ----------
    gammas : list of float or str, or None, default=None
        The values of the kernel's gamma to try, as numbers or the words of `resolve_gamma`. None
        tries multiples of "spread", in steps of 3, until a further step does not help.
    alphas : list of float or None, default=None
        The values of alpha to try. None is 0.001 to 10 in half decades, times the mean
        k(x, x) and the mean weight.
    kernel : str, Kernel or callable, default="rbf"
        The kernel; "precomputed" is not supported. No gamma is searched for a kernel without a
        gamma, or with its own.
    n_landmarks : int or "auto", default="auto"
        The number of landmarks, which are drawn at random. "auto" is all rows if there are at
        most 8,000, else 2,000.
    class_weight : dict, "balanced" or None, default=None
        Factors of the weights of classes, as in scikit-learn. A class of weight 0 counts for
        nothing: it is not among `classes_`.
    random_state : int, RandomState or None, default=None
        Draws the landmarks and, of more than 10,000 rows, those of the search.
    n_jobs : int or None, default=None
        Threads that compute kernel values; None is all cores.

    Attributes
    ----------
    gamma_, alpha_ : float
        The chosen values; ``gamma_`` is None for a kernel without a gamma.
    best_score_ : float
        Accuracy of leave-one-out.
    held_out_ : ndarray of shape (n_samples, n_classes)
        Class shares of every training row from a fit without its own label. They sum to 1, and
        are not clipped. Model files do not keep them.
    calibration_ : Calibration
        How shares become probabilities.
    classes_ : ndarray
        The labels in order.
    support_, support_vectors_, dual_coef_, intercept_, kernel_
        As in `LaplacianSVC`: the landmarks and their coefficients.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from graphkm import KernelRidgeClassifierCV
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> clf = KernelRidgeClassifierCV().fit(X, y)
    >>> clf.best_score_, clf.score(X, y), clf.held_out_.shape
    (0.995, 1.0, (200, 2))
    """

    def __init__(
        self,
        gammas: Sequence[float | str] | None = None,
        alphas: Sequence[float] | None = None,
        *,
        kernel: str | Kernel | Callable[[Any, Any], Any] = "rbf",
        n_landmarks: int | str = "auto",
        class_weight: dict[Any, float] | str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.gammas = gammas
        self.alphas = alphas
        self.kernel = kernel
        self.n_landmarks = n_landmarks
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    def encode(self, y: Any, weights: NDArray[np.float64]) -> tuple[Matrix, NDArray[np.float64]]:
        """Return what is learnt of labels, one column per class, and the weights of the rows."""
        check_classification_targets(y)
        weights = require_weight(weights * labels_that_weigh(self.class_weight, y))
        used = weights > 0
        self.classes_ = np.unique(y[used])
        # A class of weight 0 is not among them. The code of such a row has no meaning.
        codes = np.minimum(np.searchsorted(self.classes_, y), len(self.classes_) - 1)
        K = len(self.classes_)
        if K < 2:
            raise ValueError(
                f"The rows hold only one class, {self.classes_.tolist()[0]!r}; at least two "
                "classes are needed. Add rows of another class; rows of weight 0 do not count."
            )
        require_memory_for_classes(len(y), K)
        first = 1 if K == 2 else 0
        targets = (codes[:, None] == np.arange(first, K)) - 1.0 / K
        self._class_factors = class_factors(self.class_weight, self.classes_, y[used])
        return targets, weights * self._class_factors[codes]

    def _loss(self, held: Matrix, targets: Matrix, weights: NDArray[np.float64]) -> float:
        # The share of a row's copies that have another class than the winner; 0 or 1 without them.
        wrong = 1.0 - self._as_shares(targets)[np.arange(len(held)), winning_class(held)]
        columns = len(self.classes_) / targets.shape[1]  # with two classes, one is for both
        squares = columns * np.square(held - targets).sum(axis=1)
        # The fewer rows, the less is known from errors alone.
        return float(np.average(wrong + _MARGIN / np.sqrt(len(held)) * squares, weights=weights))

    def set_held_out(
        self, held: Matrix, copies: Copies, targets: Matrix, weights: NDArray[np.float64]
    ) -> None:
        """Set the held-out shares of all training rows, and their accuracy."""
        held = held[copies.place]
        hits = winning_class(held) == winning_class(targets)
        self.best_score_ = float(np.average(hits, weights=weights))
        self.held_out_ = self._as_shares(held)
        # Class weights would shift the base rates.
        codes = winning_class(targets)
        weights = weights / self._class_factors[codes]
        used = weights > 0
        if np.count_nonzero(used) < FEWEST:
            self.calibration_ = Calibration.usual(len(self.classes_), len(codes))
            return
        self.calibration_ = Calibration.fit(
            self.held_out_[used], codes[used], weights[used], keeps=self.class_weight is None
        )

    def _as_shares(self, scores: Matrix) -> Matrix:
        both = np.hstack([-scores, scores]) if scores.shape[1] == 1 else scores
        return both + 1.0 / len(self.classes_)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return f(x): of shape (n,) for two classes, (n, n_classes) for more."""
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of every row of X."""
        codes = winning_class(self._scores(X))
        return np.asarray(self.classes_[codes])

    def shares(self, X: Any) -> NDArray[np.float64]:
        """Return f(x) + 1/K for all K classes, of shape (n, K).

        The shares of a row sum to 1. Some may lie outside [0, 1].
        """
        return self._as_shares(self._scores(X))

    @available_if(can_tell_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the classes' probabilities, of shape (n, n_classes), fitted to `held_out_`."""
        scores = self._scores(X)
        return self.calibration_.probabilities(self._as_shares(scores), winning_class(scores))

    @available_if(can_tell_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithms of the classes' probabilities."""
        return np.asarray(np.log(self.predict_proba(X)))


@own_names
class KernelRidgeCV(RegressorMixin, BaseKernelRidge):
    r"""Kernel ridge regression whose gamma and alpha are chosen by leave-one-out.

    All rows have a target. It minimises

    .. math::

        \sum_i s_i (y_i - b - f(x_i))^2 + \alpha \|f\|^2

    where b is the weighted mean of y. gamma and alpha have the smallest squared leave-one-out
    error. The predictions follow the units of y.

    Parameters
    ----------
    gammas, alphas, kernel, n_landmarks, random_state, n_jobs
        As in `KernelRidgeClassifierCV`.

    Attributes
    ----------
    gamma_, alpha_, support_, support_vectors_, dual_coef_, kernel_
        As in `KernelRidgeClassifierCV`.
    best_score_ : float
        R^2 of leave-one-out; NaN if y is constant.
    held_out_ : ndarray of shape (n_samples,)
        What a fit without a row's own target says of the row, for every training row. Its b is the
        mean of the other targets. Model files do not keep it.
    origin_, spread_ : float
        The weighted mean of y, and the spread of y around it. f is learnt in these units.
    intercept_ : ndarray of shape (1,)
        The mean.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from graphkm import KernelRidgeCV
    >>> X = np.linspace(0, 6, 60)[:, None]
    >>> y = 100 + np.sin(X.ravel())
    >>> reg = KernelRidgeCV().fit(X, y)
    >>> bool(np.abs(reg.predict(X) - y).max() < 0.02), reg.best_score_ > 0.99
    (True, True)
    """

    _n_outputs = 1

    def __init__(
        self,
        gammas: Sequence[float | str] | None = None,
        alphas: Sequence[float] | None = None,
        *,
        kernel: str | Kernel | Callable[[Any, Any], Any] = "rbf",
        n_landmarks: int | str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.gammas = gammas
        self.alphas = alphas
        self.kernel = kernel
        self.n_landmarks = n_landmarks
        self.random_state = random_state
        self.n_jobs = n_jobs

    def encode(self, y: Any, weights: NDArray[np.float64]) -> tuple[Matrix, NDArray[np.float64]]:
        """Return y in spreads and a column of ones, which tells what the mean contributes."""
        y = np.asarray(y, dtype=np.float64)
        self.origin_ = float(np.average(y, weights=weights))
        self.spread_ = spread_of(y - self.origin_, weights)
        return np.column_stack([(y - self.origin_) / self.spread_, np.ones(len(y))]), weights

    def _loss(self, held: Matrix, targets: Matrix, weights: NDArray[np.float64]) -> float:
        errors = _with_own_mean(held, targets, weights) - targets[:, 0]
        return float(np.average(np.square(errors), weights=weights))

    def set_held_out(
        self, held: Matrix, copies: Copies, targets: Matrix, weights: NDArray[np.float64]
    ) -> None:
        """Set the held-out predictions of all training rows, and their R^2."""
        found = _with_own_mean(held, *copies.pooled(targets, weights))[copies.place]
        spread = float(np.average(np.square(targets[:, 0]), weights=weights))
        loss = float(np.average(np.square(found - targets[:, 0]), weights=weights))
        self.best_score_ = 1.0 - loss / spread if spread else float("nan")
        self.held_out_ = self._decoded(found)

    def _decoded(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.origin_ + self.spread_ * scores

    def set_expansion(self, f: KernelExpansion) -> None:
        """Set the fitted f and the attributes that show it, in the units of y."""
        super().set_expansion(f)
        self.dual_coef_ = self.spread_ * self.dual_coef_
        self.intercept_ = self._decoded(self.intercept_)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the target of every row of X."""
        return self._decoded(self._scores(X)[:, 0])


def _with_own_mean(
    held: Matrix, targets: Matrix, weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return held-out scores around the mean of the other targets.

    The first column holds targets around the mean of all. If a row's target is left out, the mean
    moves, and all other targets by as much. The second column of `held` is what a target of 1
    everywhere contributes.
    """
    others = weights.sum() - weights
    moved = -weights * targets[:, 0] / np.where(others > 0, others, np.inf)
    return np.asarray(held[:, 0] + moved * (1.0 - held[:, 1]))
