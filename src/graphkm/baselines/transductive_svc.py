"""The transductive support vector machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._util.parameters import check_choice, check_count, check_flag, check_number
from ..estimators.array_kinds import own_names
from ..estimators.classes import CodedLabels, KernelClassifier
from ..estimators.data_checks import check_kernel_reaches, largest_kernel_value, warn_of_rounding
from ..estimators.labels import as_label_array, labeled_mask
from ..kernels import Kernel
from .ramp import RampProblem, RampSolution, solve_ramp
from .smo import DualSolver


@own_names
class TransductiveSVC(KernelClassifier):
    r"""Support vector machine whose margin avoids unlabelled rows as well.

    It minimises

    .. math::

        \frac{1}{2} \|w\|^2 + C \sum_i H_1(y_i f(x_i))
        + C_\mathrm{unlabeled} \sum_u (R(f(x_u)) + R(-f(x_u)))

    over f(x) = <w, Phi(x)> + b, with the hinge H_c(t) = (c - t)_+ at labelled rows and the ramp
    R(t) = H_1(t) - H_s(t) at unlabelled ones, by the concave-convex procedure of Collobert, Sinz,
    Weston and Bottou (2006). The mean score of the unlabelled rows is held at the mean of the
    labels -1 and +1. Several classes are learnt one against the rest. Without unlabelled rows it
    is `sklearn.svm.SVC`, with one-vs-rest classes.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the labelled rows' losses, as in `sklearn.svm.SVC`.
    C_unlabeled : float or "auto", default="auto"
        Weight of the unlabelled rows' losses; 0 ignores them. "auto" is C l / u for l labelled
        and u unlabelled rows: together both kinds have the same weight.
    kernel : {"rbf", "linear", "poly", "laplacian", "cosine", "precomputed"}, Kernel or callable
        A name, an object of `graphkm.kernels`, or a function of two sets of rows; "rbf" by
        default.
    gamma : {"spread", "scale", "auto"} or float, default="spread"
        Kernel coefficient. "spread" is one over the sum of the columns' variances; "scale" and
        "auto" are those of `sklearn.svm.SVC`.
    class_weight : dict, "balanced" or None, default=None
        Factors of C per class, as in `sklearn.svm.SVC`. A class of weight 0 counts for
        nothing: it is none of `classes_`.
    unlabeled : default=-1
        The mark of unlabelled rows in y. NaN, None, NA and empty texts always count as
        unlabelled; None means that nothing else does.
    probability : bool, default=False
        Whether there is `predict_proba`. It takes up to ten more fits, to folds of the labels.
    n_jobs : int or None, default=None
        Threads of products over all rows; None is every core of the process. The steps
        themselves run on one.

    Other Parameters
    ----------------
    s : float, default=-0.3
        The ramp's end, above -1 and at most 0. A row with a score above -s counts as positive,
        below s as negative. The larger s, the fewer rows are undecided.
    balance : bool, default=True
        Whether the mean score of the unlabelled rows is held at the labels' mean. The classes'
        shares among the labels should then be about those among all rows. Without it all
        unlabelled rows may end on one side.
    tol : float, default=1e-3
        Violation of the optimality conditions allowed, as in `sklearn.svm.SVC`.
    max_iter : int or "auto", default="auto"
        Steps of one dual problem at most; "auto" is 10 million, or 100 per row if that is more.
    shrinking : bool, default=True
        Whether variables that no pair can move are set aside. It changes the time, not the
        result.
    cache_size : float, default=200
        Megabytes of kernel rows kept.
    precision : {"single", "double"}, default="single"
        Of the kernel values; scores are in double precision.
    transduce : bool, default=True
        Whether `transduction_` is kept. It is computed when it is first asked for, or when the
        model is copied or saved. Until then the model holds a copy of the rows, or the rows
        themselves if they take more than 16 MiB. If these change before, it is lost.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    support_, support_vectors_ : ndarray
        Rows of X with a coefficient, and their features; with `balance` every unlabelled row
        has one.
    dual_coef_ : ndarray of shape (1 or n_classes, n_support)
        Coefficients: one row for two classes, one per class for more.
    intercept_ : ndarray of shape (1 or n_classes,)
        Constants.
    transduction_ : ndarray of shape (n_samples,)
        Labels of the training rows; given labels are kept.
    calibration_ : Calibration
        How scores become probabilities; with probability=True.
    objective_ : float
        The objective at the solution, summed over one-vs-rest problems.
    C_unlabeled_ : float
        C_unlabeled as a number.
    n_rounds_ : int
        Rounds of the concave-convex procedure, the most of any class.
    n_iter_ : int
        Steps of all dual problems.
    kernel_ : Kernel
        With gamma as a number.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    See Also
    --------
    graphkm.GKMClassifier : smooth over a graph instead.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> X, truth = make_moons(200, noise=0.1, random_state=0)
    >>> y = np.full(200, -1)
    >>> for label in (0, 1):
    ...     y[np.flatnonzero(truth == label)[:4]] = label
    >>> model = TransductiveSVC(gamma=3.0).fit(X, y)
    >>> model.score(X, truth)
    0.995
    """

    def __init__(
        self,
        C: float = 1.0,
        C_unlabeled: float | str = "auto",
        *,
        s: float = -0.3,
        balance: bool = True,
        kernel: str | Kernel | Callable[[Any, Any], Any] = "rbf",
        gamma: float | str = "spread",
        class_weight: dict[Any, float] | str | None = None,
        tol: float = 1e-3,
        max_iter: int | str = "auto",
        shrinking: bool = True,
        cache_size: float = 200,
        unlabeled: Any = -1,
        precision: str = "single",
        probability: bool = False,
        transduce: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.C = C
        self.C_unlabeled = C_unlabeled
        self.s = s
        self.balance = balance
        self.kernel = kernel
        self.gamma = gamma
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.unlabeled = unlabeled
        self.precision = precision
        self.probability = probability
        self.transduce = transduce
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from labelled and unlabelled rows.

        Parameters
        ----------
        X : array, frame or CSR matrix of shape (n_samples, n_features)
            All rows; kernel values between them for kernel="precomputed".
        y : array-like of shape (n_samples,)
            Labels; `unlabeled`, NaN, None, NA or masked where unknown.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of C per row; those of unlabelled rows have no effect. A label of weight 0
            counts for nothing, and `transduction_` does not give it back.

        Returns
        -------
        self
        """
        self._check_parameters()
        X = self._validate_rows(X, reset=True)
        coded = self._encode_classes(X, y, sample_weight)
        _, shares = self._counted(sample_weight, X, coded.labeled)
        means = np.average(coded.targets, axis=0, weights=shares)
        # The margin avoids rows without a label. Those whose label counts for nothing have one.
        idle = labeled_mask(as_label_array(y), self.unlabeled) & ~coded.labeled
        self._learn(X, coded, means, idle)
        self.__dict__.pop("calibration_", None)
        if self.probability:
            self.calibration_ = self.calibrated_by_fits(
                X, coded, lambda fold, part: fold._learn(X, part, means, idle)
            )
        self._transduce(X, coded.labeled, coded.known)
        return self

    def _learn(
        self, X: Any, coded: CodedLabels, means: NDArray[np.float64], idle: NDArray[np.bool_]
    ) -> None:
        """Fit to labels that are checked and coded, with these mean targets, without idle rows."""
        dtype = np.dtype(np.float64 if self.precision == "double" else np.float32)
        kernel = self._resolve_kernel(X, dtype)
        check_kernel_reaches(kernel, X)
        warn_of_rounding(kernel, X, dtype)
        largest_kernel_value(kernel, X, dtype)
        problems = self._problems(coded, means, idle)
        self._set_solution(kernel, X, dtype, self._solve(kernel, X, dtype, problems))

    def _problems(
        self, coded: CodedLabels, means: NDArray[np.float64], idle: NDArray[np.bool_]
    ) -> list[RampProblem]:
        """Return one problem per output."""
        labeled, C = np.flatnonzero(coded.labeled), np.zeros(len(coded.labeled))
        unlabeled = np.flatnonzero(~(coded.labeled | idle))
        C[labeled] = self.C * coded.weights
        cost = self.C_unlabeled
        if isinstance(cost, str):
            cost = self.C * len(labeled) / max(1, len(unlabeled))
        self.C_unlabeled_ = float(cost)
        taken = unlabeled if cost > 0 else unlabeled[:0]
        problems = []
        for target, mean in zip(coded.targets.T, means, strict=True):
            targets = np.zeros(len(C))
            targets[labeled] = target
            held = float(mean) if self.balance and len(taken) else None
            problems.append(RampProblem(targets, C, taken, float(cost), float(self.s), held))
        return problems

    def _solve(
        self, kernel: Kernel, X: Any, dtype: Any, problems: list[RampProblem]
    ) -> list[RampSolution]:
        balanced = problems[0].unlabeled if problems[0].mean is not None else None
        solver = DualSolver(
            kernel,
            X,
            balanced=balanced,
            dtype=dtype,
            cache_size=float(self.cache_size),
            n_threads=self.n_threads(),
        )
        most = self.max_iter
        if isinstance(most, str):
            most = max(10_000_000, 100 * X.shape[0])
        return [
            solve_ramp(
                solver,
                problem,
                tol=float(self.tol),
                max_iter=int(most),
                shrinking=bool(self.shrinking),
            )
            for problem in problems
        ]

    def _set_solution(
        self, kernel: Kernel, X: Any, dtype: Any, solutions: list[RampSolution]
    ) -> None:
        coefficients = np.column_stack([each.found.coefficients for each in solutions])
        used = np.flatnonzero(coefficients.any(axis=1))
        self.objective_ = float(sum(each.objective for each in solutions))
        self.n_rounds_ = max(each.n_rounds for each in solutions)
        self.n_iter_ = sum(each.n_iter for each in solutions)
        constants = np.array([each.found.intercept for each in solutions])
        self._set_machine(kernel, X, used, coefficients[used], constant=constants, dtype=dtype)

    def _check_parameters(self) -> None:
        """Raise ValueError for the first parameter that is out of range."""
        check_number("C", self.C, least=0, strictly=True)
        check_number("C_unlabeled", self.C_unlabeled, least=0, words=("auto",))
        check_number("s", self.s, least=-1, strictly=True)
        if self.s > 0:
            raise ValueError(
                f"s must be at most 0, got {self.s!r}: beyond it a row would be taken for both "
                "classes at once. Values around -0.3 are usual."
            )
        check_flag("balance", self.balance)
        words = ("spread", "scale", "auto")
        check_number("gamma", self.gamma, least=0, strictly=True, words=words)
        check_number("tol", self.tol, least=0, strictly=True)
        check_count("max_iter", self.max_iter, words=("auto",))
        check_flag("shrinking", self.shrinking)
        check_number("cache_size", self.cache_size, least=0, strictly=True)
        check_choice("precision", self.precision, ("single", "double"))
        check_flag("probability", self.probability)
        check_flag("transduce", self.transduce)
        self.n_threads()
