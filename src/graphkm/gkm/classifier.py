"""Classification from few labels and many unlabelled rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if

from .._util.warnings import quiet
from .._util.when_read import WhenRead
from ..estimators.array_kinds import own_names
from ..estimators.classes import KernelClassifier, winning_class
from ..estimators.data_checks import GraphWarning
from ..graphs import GraphPart
from ..kernels import Kernel
from ..losses import Loss, resolve_loss
from ..neighbours.index import Neighbours
from ..smoothness import SmoothnessPart
from ..solvers import Newton, Progress, Solver
from .base import Problem
from .calibrated import calibration_of_fit, neighbours_for_folds, scores_in_stream
from .costs import choose_costs
from .partial_fits import StreamingGKM, can_stream
from .plan import check_parameters

_MANY = 0.5  # a warning comes beyond this share of the errors that the most frequent label makes


@own_names
class GKMClassifier(KernelClassifier, StreamingGKM):
    r"""Kernel machine whose decision is smooth over a graph of all rows, labelled or not.

    It minimises

    .. math::

        \frac{1}{2} \|w\|^2 + C \sum_i \mathrm{loss}(y_i, f(x_i))
        + C_\mathrm{graph} \frac{l}{|E|} \sum_{(u,v)} \mu_{uv} \left|f(x_u) - f(x_v)\right|^p

    over f(x) = <w, Phi(x)>: a kernel machine's margin loss on the l labelled rows, and a
    penalty on differences along the edges of a graph of all rows. A normalised smoothness divides
    f(x) by the root of the row's degree, and takes l / n instead of l / |E| for n rows. For
    p = 2 the last sum is f' L f, and an iterated Laplacian makes it f' L^q f. Several classes
    are learnt one against the rest, all of them from the same kernel values.

    Parameters
    ----------
    C : float, "auto" or text, default="auto"
        Weight of the labelled rows' losses, as in `sklearn.svm.SVC`. The text "2 / l" (or
        one with another number) is 2 divided by the number of labels l: the paper's C is then 2.
        "auto" is 10 / k for a Newton solver at p = 2, where k is the mean value, over the labelled
        rows, of the kernel that includes the graph. Otherwise it is 1. Where C_graph="auto" is
        chosen on held-out labels, so is C: fits with the model's own loss to folds of the labels
        judge it.
    C_graph : float, "auto", "guaranteed" or text, default="auto"
        Weight of the graph term; 0 ignores the unlabelled rows. The text "2 / l" is possible, as
        for C. With "auto" the Newton solvers at p = 2 choose by leave-one-out: the usual value, a
        hundred times as much, a hundredth of it, or no graph at all.
        Where fewer than eight labels can be left out, it is the usual value: 1e5 / l for `Newton`
        with a graph that lists its edges, and 50 n / l for `RowNewton`. Below 300 rows 1e5 is
        multiplied by (n / 300)^2. Otherwise "auto" is 0.1 (0.01 for a normalised smoothness at
        another p).
        "guaranteed" is the largest value for which the convergence theorem of the explicit
        stochastic step holds. For p < 2 the theorem holds for all values, and "guaranteed" is C.
    kernel : {"rbf", "linear", "poly", "laplacian", "cosine", "precomputed"}, Kernel or callable
        A name, an object of `graphkm.kernels`, or a function of two sets of rows; "rbf" by
        default.
    gamma : {"spread", "scale", "auto"} or float, default="spread"
        Kernel coefficient, unless the kernel has its own. "spread" is one over the sum of the
        columns' variances. "scale" and "auto" are those of `sklearn.svm.SVC`. Where
        C_graph="auto" finds that no graph is best, multiples of "spread" are tried as well.
    graph : {"knn", "full", "bipartite"} or GraphPart, default="knn"
        Which rows have edges: `graphkm.graphs.KNN`, `Epsilon`, `Full` or `Bipartite`, or a name
        for one with its defaults. The affinity of `fit` takes its place. Two labelled rows never
        share an edge.
    class_weight : dict, "balanced" or None, default=None
        Factors of C per class, as in `sklearn.svm.SVC`. A class of weight 0 counts for
        nothing: it is none of `classes_`.
    unlabeled : default=-1
        The mark of unlabelled rows in y. NaN, None, NA and empty texts always count as
        unlabelled; None means that nothing else does.
    random_state : int, RandomState or None, default=None
        Decides all draws. The same number gives the same model, bit for bit, for any
        `n_jobs`.
    n_jobs : int or None, default=None
        Threads; None is every core of the process.

    Other Parameters
    ----------------
    loss : {"hinge", "smooth_hinge", "logistic"} or Loss, default="hinge"
        Loss of the labelled rows.
    smoothness : float, "auto", Power or IteratedLaplacian, default="auto"
        The form of the graph term. A number p is `graphkm.smoothness.Power` of p. "auto" is
        ``IteratedLaplacian(degree=2)`` for `Newton` and a graph that lists its edges, else
        ``Power(p=2)``.
    solver : {"auto", "newton", "row_newton", "sgd", "sums"} or Solver, default="auto"
        `graphkm.solvers.Newton` finds the minimum over f in the span of landmarks, with a
        certified gap. `RowNewton` gives every row a score of its own, which depends on labels
        and graph only. It follows a graph of many more rows than landmarks, and scores new rows
        by their nearest training rows. `SGD` draws labels and edges one by one, and stores neither
        a kernel matrix nor a full graph. `Sums` is kernel ridge regression on landmarks in one
        pass, without a graph. It is for streams. "auto" takes a Newton solver if labels are few
        (at most half as many as landmarks, or 1,000 where all rows are landmarks)
        and the graph lists its edges (or there are at most 500 rows), and `SGD` otherwise. For
        C_graph="guaranteed" it takes ``SGD(step="explicit")``. For streams see `partial_fit`.
    fit_intercept : bool, default=False
        Add 1 to the kernel, which gives f a (regularised) constant. `RowNewton` has no use for
        it: its scores do not depend on the kernel.
    precision : {"single", "double"}, default="single"
        Precision of the kernel values. Sums and the Newton solvers use double precision; for
        these "single" only drops more of the redundant landmarks.
    transduce : bool, default=True
        Whether `transduction_` is kept. It is computed when it is first asked for, or when the
        model is copied or saved. Until then the model holds a copy of the rows, or the rows
        themselves if they take more than 16 MiB. If X changes before, `transduction_` is lost.
    verbose : int, default=0
        1 shows a progress bar.
    callback : callable, optional
        Called after every Newton step, or between blocks of stochastic ones, with a
        `Progress`; a true result stops the fit.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    support_, support_vectors_ : ndarray
        Rows of X (of the stream, after `partial_fit`) with a coefficient, and their features.
        After `RowNewton` there are none.
    dual_coef_ : ndarray of shape (1 or n_classes, n_support)
        Coefficients: one row for two classes, one per class for more.
    intercept_ : ndarray of shape (1 or n_classes,)
        Constants.
    transduction_ : ndarray of shape (n_samples,)
        Labels of the training rows; given labels are kept. After `RowNewton` the others follow
        from the rows' own scores.
    calibration_ : Calibration
        How scores become probabilities.
    plan_ : Plan
        What every "auto" became, and why: print it.
    field_ : Field or None
        What is added to f: the rows' scores after `RowNewton`, and None otherwise.
    objective_ : float
        The model's objective (after `RowNewton`, that of the rows' scores), summed over
        one-vs-rest problems. After `SGD` it is an average over the run, whose expectation is an
        upper bound. NaN with a budget; not set by `partial_fit`.
    C_ : float
        C as a number.
    guarantee_ : Guarantee or None
        What the convergence theorem promises for this fit, in the paper's units. The theorem is
        proved for ``SGD(step="explicit")`` without a budget. It is None for all other solvers, the
        default step of `SGD` among them, and after `partial_fit`.
    kernel_ : Kernel
        The kernel with its gamma.
    n_iter_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from graphkm import GKMClassifier
    >>> X, truth = make_moons(200, noise=0.1, random_state=0)
    >>> y = np.full(200, -1)
    >>> y[:10] = truth[:10]
    >>> clf = GKMClassifier(random_state=0).fit(X, y)
    >>> clf.predict([[-1.0, 0.5], [2.0, 0.0]]).tolist()
    [0, 1]

    Parts have parameters of their own:

    >>> from graphkm.graphs import KNN
    >>> from graphkm.solvers import Newton
    >>> clf = GKMClassifier(graph=KNN(n_neighbors=6), solver=Newton(tol=1e-8))
    >>> clf.set_params(graph__n_neighbors=8).graph
    KNN(n_neighbors=8, weights='auto', search='auto')
    """

    def __init__(
        self,
        C: float | str = "auto",
        C_graph: float | str = "auto",
        *,
        loss: str | Loss = "hinge",
        kernel: str | Kernel | Callable[[Any, Any], Any] = "rbf",
        gamma: float | str = "spread",
        graph: str | GraphPart = "knn",
        smoothness: float | str | SmoothnessPart = "auto",
        solver: str | Solver = "auto",
        fit_intercept: bool = False,
        class_weight: dict[Any, float] | str | None = None,
        unlabeled: Any = -1,
        precision: str = "single",
        transduce: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[Progress], Any] | None = None,
    ) -> None:
        self.C = C
        self.C_graph = C_graph
        self.loss = loss
        self.kernel = kernel
        self.gamma = gamma
        self.graph = graph
        self.smoothness = smoothness
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.unlabeled = unlabeled
        self.precision = precision
        self.transduce = transduce
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        affinity: Any = None,
        ids: Any = None,
    ) -> Self:
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
        affinity : matrix, edges, graph, or list or dict of them, optional
            Which rows belong together, as you know it, in any form that
            `SemiSupervisedClassifier.fit` takes. It takes the place of `graph`. Several graphs are
            added up after each has been brought to the same mean degree.
        ids : array-like of shape (n_samples,) or str, optional
            What edges call the rows: one id each, or the name of a column of X, which is then no
            feature. By default edges have the index of a frame, or the numbers of the rows.

        Returns
        -------
        self
        """
        return self.learn(self.encode(X, y, sample_weight, affinity, ids))

    @available_if(can_stream)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from the next rows of a stream: see `StreamingGKM`.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`; a chunk may hold no labelled row.
        classes : array-like, optional
            All labels of the stream. The first chunk needs them unless it holds them all.

        Returns
        -------
        self
        """
        with self._all_or_nothing():
            rows = self._next_rows(X)
            coded = self._encode_more(rows, y, sample_weight, classes)
            return self._learn_more(rows, *coded, resolve_loss(self.loss, "classification"))

    def encode(
        self, X: Any, y: Any, sample_weight: Any, affinity: Any = None, ids: Any = None
    ) -> Problem:
        """Check the input, and code the labels as targets -1 and +1."""
        check_parameters(self)
        loss = resolve_loss(self.loss, "classification")
        X, graph = self._rows_and_affinity(X, affinity, ids)
        labeled, codes, targets, weights = self._encode_classes(X, y, sample_weight)
        return Problem(X, labeled, codes, targets, weights, loss, graph)

    def learn(
        self,
        problem: Problem,
        *,
        neighbours: Neighbours | None = None,
        calibrate: bool = True,
    ) -> Self:
        """Fit to a problem that `encode` returned.

        Without `calibrate` there are no probabilities and no `transduction_`.
        """
        plan, found = choose_costs(self, problem, self.plan(problem))
        neighbours = found if neighbours is None else neighbours
        if neighbours is None and calibrate:
            threads, verbose = self.n_threads(), bool(self.verbose)
            neighbours = neighbours_for_folds(problem, plan, threads, verbose)
        solution = self.fit_problem(problem, plan, neighbours=neighbours)
        if calibrate:
            own = calibration_of_fit(self, problem, solution, self.plan_, neighbours)
            self.calibration_ = own
            self._transduce(problem.X, problem.labeled, problem.known)
        if solution.complete and solution.gap is not None:  # else more steps might help
            self._warn_of_overruled_labels(problem)
        return self

    def _calibrate_stream(self) -> None:
        """Hold labels of a stream out; do nothing without a stream."""
        if "stream_" in vars(self):
            held = scores_in_stream(self, self.stream_, self.stream_shift_)
            codes = winning_class(held.targets)
            self.calibration_ = self.calibrated(held.scores, codes, held.weights)

    calibration_: Any = WhenRead(_calibrate_stream)

    def _warn_of_overruled_labels(self, problem: Problem) -> None:
        """Warn if the graph makes f contradict many labels that f could have followed.

        Some contradictions are wanted: the graph outvotes mistaken labels. There are many if the
        model is hardly better, at the labelled rows, than predicting the most frequent label. The
        graph causes them if a fit without it, to the labelled rows alone, contradicts at most
        half as many.
        """
        if self.plan_.graph is None:
            return
        wrong = self._contradicts(problem)
        errors = len(problem.known) - int(np.bincount(problem.known).max())
        limit = max(1.0, _MANY * errors)  # a single label may be a mistake
        if wrong <= limit:
            return
        rows = problem.X[problem.labeled]
        if not self.kernel_.has_rows:
            rows = rows[:, problem.labeled]
        own = problem._replace(X=rows, labeled=np.ones(len(problem.known), bool), affinity=None)
        without_graph = clone(self).set_params(C_graph=0, solver=Newton(), verbose=0, callback=None)
        without_graph.classes_ = self.classes_
        with quiet():  # the user did not ask for this fit
            without_graph.fit_problem(own)
        followed = without_graph._contradicts(own)
        if 2 * followed <= wrong:
            warnings.warn(
                f"The graph overrules the labels: the model contradicts {wrong} of "
                f"{len(problem.known)} given labels, and a model without the graph contradicts "
                f"{followed}. Pass a smaller C_graph or n_neighbors, or a larger C; "
                "GKMClassifierCV chooses them, and tries C_graph=0.",
                GraphWarning,
                stacklevel=3,
            )

    def _contradicts(self, problem: Problem) -> int:
        """Return for how many labelled rows of positive weight f predicts another class."""
        labeled = problem.labeled
        scores = self._own_scores()
        scores = self.scores_at(problem.X[labeled]) if scores is None else scores[labeled]
        wrong = winning_class(scores) != problem.known
        return int(np.count_nonzero(wrong & (problem.weights > 0)))
