"""Laplacian support vector machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._util.parameters import check_choice, check_flag
from ..estimators.array_kinds import own_names
from ..estimators.classes import CodedLabels, KernelClassifier, winning_class
from ..estimators.labels import as_label_array
from ..expansion import KernelExpansion
from ..graphs import GraphPart
from ..kernels import Kernel
from ..losses import Hinge, Loss
from ..smoothness import IteratedLaplacian
from .early_stopping import EarlyStopping
from .laplacian_base import BaseLaplacian
from .laplacian_cg import Check
from .laplacian_losses import SquaredHinge

_LOSSES: dict[str, Loss] = {"squared_hinge": SquaredHinge(), "hinge": Hinge()}


@own_names
class LaplacianSVC(KernelClassifier, BaseLaplacian):
    r"""Support vector machine with a graph's Laplacian as a second penalty (LapSVM).

    It minimises

    .. math::

        \sum_i s_i \, \mathrm{loss}(y_i, f(x_i)) + \gamma_A a^T K a + \gamma_I f^T L^q f

    over f = K a + b at all rows, labelled or not: K is the kernel between them, L the Laplacian of
    the graph of their neighbours, and the losses are those of the labelled rows. This is twice
    the objective of Melacci and Belkin (2011). Belkin, Niyogi and Sindhwani (2006) divide the
    losses by their number l and the last term by n^2 for n rows: their gamma_A and gamma_I are
    1 / l and n^2 / l times these. Several classes are learnt one against the rest.

    Parameters
    ----------
    gamma_A : float, default=0.01
        Weight of the norm of f, positive; 1 / (2 C) of an SVM.
    gamma_I : float, default=1.0
        Weight of the graph term; 0 ignores the unlabelled rows.
    kernel : {"rbf", "linear", "poly", "laplacian", "cosine", "precomputed"}, Kernel or callable
        As in `GKMClassifier`; "rbf" by default.
    gamma : {"spread", "scale", "auto"} or float, default="spread"
        Kernel coefficient, as in `GKMClassifier`.
    graph : {"knn"} or GraphPart, default="knn"
        A graph that lists its edges: `graphkm.graphs.KNN` or `Epsilon`. Labelled pairs take part.
        KNN's "auto" neighbours are 20, but at most twice the root of the number of rows, and its
        "auto" weights are "local"; weights=0 gives every edge weight 1. The affinity of `fit`
        takes its place.
    class_weight : dict, "balanced" or None, default=None
        Factors of the losses per class, as in `sklearn.svm.SVC`. A class of weight 0 counts for
        nothing: it is none of `classes_`.
    unlabeled : default=-1
        The mark of unlabelled rows in y. NaN, None, NA and empty texts always count as
        unlabelled; None means that nothing else does.
    probability : bool, default=False
        Whether there is `predict_proba`. It takes up to ten more fits, to folds of the labels.
    n_jobs : int or None, default=None
        Threads; None is every core of the process.

    Other Parameters
    ----------------
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        max(0, 1 - y f)^2, or max(0, 1 - y f), which needs solver="newton".
    smoothness : "auto" or IteratedLaplacian, default="auto"
        The degree q of the Laplacian, and whether it is normalised: I - D^(-1/2) W D^(-1/2), or
        D - W. "auto" is ``IteratedLaplacian(degree=4)``.
    solver : {"auto", "newton", "cg"}, default="auto"
        "newton" factorises a matrix of all rows once, at a cost of n^3, and finds the minimum.
        "cg" is conjugate gradients preconditioned by K, at a cost of n^2 per step, and stops early.
        "auto" is "newton" up to 500 rows and for the hinge loss, "cg" otherwise.
    tol : float, default=1e-6
        "newton" stops when the certified gap is at most tol times the objective. "cg" stops when
        the preconditioned gradient is at most tol times the first one.
    max_iter : int or "auto", default="auto"
        Steps at most; "auto" is 500 for "newton", 5,000 for "cg".
    early_stopping : bool, default=True
        Whether "cg" stops early. Every 15 steps it looks at the decisions on unlabelled rows, and
        stops if at most 1.5 % of them have changed. With ``fit(..., validation=(X, y))`` it
        stops if the errors there do not fall.
    fit_intercept : bool, default=False
        Whether there is a b. It has no penalty of its own.
    precision : {"single", "double"}, default="double"
        Of the kernel values; "single" halves the memory of "cg".
    max_memory : float or "auto", default="auto"
        Bytes for matrices between all rows; "auto" is half of what is available. If the kernel
        matrix does not fit, "cg" computes its rows in blocks at every step. If "newton" does not
        fit, solver="auto" takes "cg", and solver="newton" raises a MemoryError that says what to
        do.
    transduce : bool, default=True
        Whether `transduction_` is kept. It is computed when it is first asked for, or when the
        model is copied or saved. Until then the model holds a copy of the rows, or the rows
        themselves if they take more than 16 MiB. If these change before, it is lost.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    support_, support_vectors_ : ndarray
        Rows of X with a coefficient, and their features.
    dual_coef_ : ndarray of shape (1 or n_classes, n_support)
        Their coefficients a.
    intercept_ : ndarray of shape (1 or n_classes,)
        b.
    transduction_ : ndarray of shape (n_samples,)
        Labels of the training rows; given labels are kept.
    calibration_ : Calibration
        How scores become probabilities; with probability=True.
    objective_ : float
        The objective, summed over one-vs-rest problems.
    solver_ : str
        The solver used.
    kernel_ : Kernel
        The kernel with its gamma.
    n_iter_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from graphkm.baselines import LaplacianSVC
    >>> X, truth = make_moons(200, noise=0.1, random_state=0)
    >>> y = np.full(200, -1)
    >>> y[:10] = truth[:10]
    >>> clf = LaplacianSVC().fit(X, y)
    >>> clf.predict([[-1.0, 0.5], [2.0, 0.0]]).tolist()
    [0, 1]
    """

    _usual_neighbors = 20
    _usual_degree = 4

    def __init__(
        self,
        gamma_A: float = 1e-2,
        gamma_I: float = 1.0,
        *,
        loss: str = "squared_hinge",
        kernel: str | Kernel | Callable[[Any, Any], Any] = "rbf",
        gamma: float | str = "spread",
        graph: str | GraphPart = "knn",
        smoothness: str | IteratedLaplacian = "auto",
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int | str = "auto",
        early_stopping: bool = True,
        fit_intercept: bool = False,
        class_weight: dict[Any, float] | str | None = None,
        unlabeled: Any = -1,
        precision: str = "double",
        max_memory: float | str = "auto",
        probability: bool = False,
        transduce: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.gamma_A = gamma_A
        self.gamma_I = gamma_I
        self.loss = loss
        self.kernel = kernel
        self.gamma = gamma
        self.graph = graph
        self.smoothness = smoothness
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.early_stopping = early_stopping
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.unlabeled = unlabeled
        self.precision = precision
        self.max_memory = max_memory
        self.probability = probability
        self.transduce = transduce
        self.n_jobs = n_jobs

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        affinity: Any = None,
        ids: Any = None,
        validation: tuple[Any, Any] | None = None,
    ) -> Self:
        """Learn from labelled and unlabelled rows.

        Parameters
        ----------
        X : array, frame or CSR matrix of shape (n_samples, n_features)
            All rows; kernel values between them for kernel="precomputed".
        y : array-like of shape (n_samples,)
            Labels; `unlabeled`, NaN, None, NA or masked where unknown.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of the losses; those of unlabelled rows have no effect. A label of weight 0
            counts for nothing, and `transduction_` does not give it back.
        affinity : matrix, edges, graph, or list or dict of them, optional
            Which rows belong together, as you know it, in any form that
            `SemiSupervisedClassifier.fit` takes. It takes the place of `graph`. Several graphs are
            added up after each has been brought to the same mean degree.
        ids : array-like of shape (n_samples,) or str, optional
            What edges call the rows: one id each, or the name of a column of X, which is then no
            feature. By default edges have the index of a frame, or the numbers of the rows.
        validation : tuple (X, y), optional
            Labelled rows. Their errors stop solver="cg" early, instead of the decisions on
            unlabelled rows.

        Returns
        -------
        self
        """
        self._check_parameters()
        check_choice("loss", self.loss, tuple(_LOSSES))
        check_flag("early_stopping", self.early_stopping)
        check_flag("probability", self.probability)
        check_flag("transduce", self.transduce)
        X, graph = self._rows_and_affinity(X, affinity, ids)
        coded = self._encode_classes(X, y, sample_weight)
        self._learn(X, coded, graph, validation)
        self.__dict__.pop("calibration_", None)
        if self.probability:
            self.calibration_ = self.calibrated_by_fits(
                X, coded, lambda fold, part: fold._learn(X, part, graph)
            )
        self._transduce(X, coded.labeled, coded.known)
        return self

    def _learn(self, X: Any, coded: CodedLabels, affinity: Any, validation: Any = None) -> None:
        """Fit to labels that are checked and coded."""
        labeled, _, targets, weights = coded

        def make_check(expansion: KernelExpansion) -> Check | None:
            if not self.early_stopping:
                return None
            error = None if validation is None else self._validation_error(expansion, *validation)
            return EarlyStopping(np.flatnonzero(~labeled), error)

        loss = _LOSSES[self.loss]
        self._fit(X, labeled, targets, weights, loss, affinity, make_check)

    def _validation_error(
        self, expansion: KernelExpansion, X: Any, y: Any
    ) -> Callable[[NDArray[np.float64], NDArray[np.float64]], float]:
        """Return the share of wrong labels of other rows, as a function of a and b."""
        X, truth = self._validate_rows(X, reset=False), as_label_array(y)
        if X.shape[0] != len(truth) or len(truth) == 0:
            raise ValueError(
                f"validation holds {X.shape[0]} rows and {len(truth)} labels; pass as many labels "
                "as rows, and at least one."
            )

        def error(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
            expansion.set(np.arange(len(a)), a)
            return float(np.mean(self.classes_[winning_class(expansion.scores(X) + b)] != truth))

        return error
