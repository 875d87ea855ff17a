"""Classification from few labels and many unlabelled rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit, logsumexp
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if

from ..kernels import Kernel
from ..losses import Logistic, Loss, resolve_loss
from ..machines.classes import KernelClassifier, winning_class
from ..solvers import Progress
from .base import Problem
from .settings import check_parameters, graph_share
from .stream_checks import can_stream
from .streaming import StreamingGKM

_FEW = 100  # labels up to which the graph is at its strongest
_MANY = 0.5  # of the errors of the most frequent label: contradictions that are worth a warning


def _has_probabilities(self: GKMClassifier) -> bool:
    if self.loss == "logistic" or isinstance(self.loss, Logistic):
        return True
    raise AttributeError(
        f"predict_proba needs loss='logistic', and loss={self.loss!r}. Fit with that loss, or "
        "wrap the estimator in sklearn.calibration.CalibratedClassifierCV."
    )


class GKMClassifier(KernelClassifier, StreamingGKM):
    """Kernel machine whose decision is smooth over a graph of all rows, labelled or not.

    It minimises ::

        1/2 ||w||^2 + C sum_i loss(y_i, f(x_i))
        + C_graph (l / |E|) sum_(u,v) mu_uv |f(x_u) - f(x_v)|^p

    over f(x) = <w, Phi(x)>: a kernel machine's margin loss on the l labelled rows, and a
    penalty on differences along the edges of a graph of all rows. With laplacian="normalized"
    the last sum is over f(x) divided by the root of the vertex's degree, and l / |E| becomes
    l / n for n rows; for p = 2 it is f' L f, and `laplacian_degree` q makes it f' L^q f.
    Several classes are learnt one against the rest, all of them from the same kernel values.

    Parameters
    ----------
    C : float or "auto", default="auto"
        Weight of the labelled rows' losses, as in `sklearn.svm.SVC`. "auto" is 10 / k for the
        Newton solver at p = 2, where k is the mean over the labelled rows of the kernel with
        the graph inside it, and 1 otherwise.
    C_graph : float, "auto" or "guaranteed", default="auto"
        Weight of the graph term; 0 ignores the unlabelled rows. "auto" is 1e5 / l for the
        Newton solver at p = 2 with a graph of neighbours (50 n / l with smoothing="rows"), and
        0.1 otherwise (0.01 for a normalised Laplacian at another p). Beyond 100 labels 1e5 is
        multiplied by (100 / l)^3, and below 300 rows by (n / 300)^2.
        "guaranteed" is the largest value for which the convergence theorem of the stochastic
        solver holds (for p < 2, where all do, C).
    loss : {"hinge", "smooth_hinge", "logistic"} or Loss, default="hinge"
        Loss of the labelled rows; "logistic" gives `predict_proba`.
    p : float, default=2
        Exponent of the smoothness, at least 1.
    kernel : {"rbf", "linear", "poly", "laplacian", "cosine", "precomputed"}, Kernel or callable
        A name, an object of `graphkm.kernels`, or a function of two sets of rows; "rbf" by
        default.
    gamma : {"spread", "scale", "auto"} or float, default="spread"
        Kernel coefficient. "spread" is one over the sum of the columns' variances; "scale" and
        "auto" are those of `sklearn.svm.SVC`.
    graph : {"knn", "epsilon", "full", "bipartite", "precomputed"}, default="knn"
        k nearest neighbours; rows within `radius`; all pairs; labelled-unlabelled pairs; or
        the matrix passed to ``fit(X, y, affinity=W)``. Two labelled rows never share an edge.
    n_neighbors : int or "auto", default="auto"
        For graph="knn". "auto" is 10, but at most the root of the number of rows: among a dozen
        rows ten neighbours are nearly all of them. Of a stream it is 10.
    radius : float, optional
        For graph="epsilon".
    graph_gamma : float, "local", "auto" or None, default="auto"
        Bandwidth of the edge weights exp(-graph_gamma ||x_u - x_v||^2). None is the rbf
        kernel's gamma, for other kernels that of "spread". "local", for graph="knn", weighs
        by exp(-||x_u - x_v||^2 / (s_u s_v)), with s_u the distance of u from its k-th
        neighbour. "auto" is "local" for the Newton solver with graph="knn", else None.
    neighbors : {"auto", "exact", "approximate"}, default="auto"
        How graph="knn" searches. "approximate" needs the extra ``graphkm[ann]`` and finds
        nearly all neighbours; "auto" is exact unless the data are so large that this would
        take minutes.
    laplacian : {"auto", "normalized", "unnormalized"}, default="auto"
        Whether f is divided by the root of the degree before differences are taken. "auto" is
        "normalized" for the Newton solver; the stochastic one knows "unnormalized" only.
    laplacian_degree : int or "auto", default="auto"
        Power of the Laplacian, for the Newton solver at p = 2; the higher, the smoother f is
        over more than one edge. "auto" is 2 there if the graph's edges are listed ("knn",
        "epsilon", "precomputed") and smoothing is that of landmarks, else 1.
    solver : {"auto", "newton", "sgd"}, default="auto"
        "newton" finds the minimum over f in the span of the landmarks, with a certified gap.
        "sgd" draws labels and edges one by one, and stores neither a kernel matrix nor a full
        graph. "auto" is "newton" if all rows are landmarks, or if p = 2, the graph's edges are
        listed and at most half as many rows are labelled as there are landmarks; it is "sgd"
        otherwise, and for C_graph="guaranteed".
    n_landmarks : int or "auto", default="auto"
        For "newton": rows whose kernels span f, at most as many as there are. "auto" is every
        row up to 2,500, and 1,000 beyond.
    landmarks : {"uniform", "kmeans++", "greedy"}, default="uniform"
        How landmarks are chosen. Labelled rows come first, up to half of the number; the rest
        are rows drawn alike, rows far from those chosen so far, or rows the others explain
        least.
    smoothing : {"auto", "landmarks", "rows"}, default="auto"
        For "newton": what the graph smooths. "landmarks" is the objective above, over the
        landmarks' span. "rows" gives every row a score of its own, smooths those, and then fits
        the landmarks' kernels to what they say, for rows to come: it follows a graph of many
        more rows than landmarks, and needs p = 2 and listed edges. "auto" is "rows" where
        there are more rows than landmarks and it is possible within 1 GiB.
    tol : float, default=1e-6
        For "newton": stop when J is certified to exceed its minimum by no more than this
        share of itself.
    edge_sampling : {"uniform", "weight"}, default="uniform"
        For "sgd": draw edges alike or in proportion to their weight; both minimise the same
        objective.
    step : {"explicit", "implicit"}, default="implicit"
        For "sgd": the paper's step, or its proximal form, which is stable for every C_graph.
    max_iter : int or "auto", default="auto"
        Newton steps per class at most, "auto" is 500; or stochastic steps: for n rows, "auto"
        is 2n up to 20,000 steps, at least 1,000 and at least n / 5.
    steps_per_row : float or "auto", default="auto"
        For `partial_fit`: steps per row of the stream, at least one for every labelled row.
        "auto" are those that "auto" takes for `max_iter`: 2n after n rows up to 20,000 steps,
        later n / 5. With a `half_life` h it is a constant rate, that of n = h / log 2.
    reservoir_size : int, default=2000
        For `partial_fit`: rows kept, of those with and of those without a label.
    half_life : float or None, default=None
        For `partial_fit`: None keeps a uniform sample of everything seen; a number keeps a row
        for that many rows of the stream with probability one half, so that drift is followed.
    budget : int or None, default=None
        For "sgd" and `partial_fit`: centres at most, kept to after every block of steps. Those
        with the smallest coefficients are projected onto near ones. In a stream the l of the
        objective then counts 16 labels for each centre at most.
    fit_intercept : bool, default=False
        Add 1 to the kernel, which gives f a (regularised) constant.
    class_weight : dict, "balanced" or None, default=None
        Factors of C per class, as in `sklearn.svm.SVC`.
    unlabeled : default=-1
        The mark of unlabelled rows in y. NaN, None and NA always count as unlabelled; None
        means that nothing else does.
    precision : {"single", "double"}, default="single"
        Of the kernel values; sums are in double precision, and so is all of the Newton solver,
        for which "single" only drops more of the landmarks that the others explain.
    random_state : int, RandomState or None, default=None
        Decides all draws. The same number gives the same model, bit for bit, for any
        `n_jobs`.
    n_jobs : int or None, default=None
        Threads; None is every core of the process.
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
    dual_coef_ : ndarray of shape (1 or n_classes, n_support)
        Coefficients: one row for two classes, one per class for more.
    intercept_ : ndarray of shape (1 or n_classes,)
        Constants.
    transduction_ : ndarray of shape (n_samples,)
        Labels of the training rows, predicted when asked for from X as it is then, or by the
        rows' own scores with smoothing="rows"; given labels are kept.
    objective_ : float
        The model's objective (with smoothing="rows", that of the rows' scores); for "sgd" an
        average over the run that bounds it from above, in expectation. Summed over one-vs-rest
        problems. NaN with a budget; not set by `partial_fit`.
    C_ : float
        C as a number.
    guarantee_ : Guarantee or None
        What the convergence theorem says of the parameters, in the paper's units; None where
        it does not speak: of a normalised or iterated Laplacian, or of a C that follows from
        the smoothed kernel.
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
    """

    def __init__(
        self,
        C: float | str = "auto",
        C_graph: float | str = "auto",
        *,
        loss: str | Loss = "hinge",
        p: float = 2,
        kernel: str | Kernel | Callable[[Any, Any], Any] = "rbf",
        gamma: float | str = "spread",
        graph: str = "knn",
        n_neighbors: int | str = "auto",
        radius: float | None = None,
        graph_gamma: float | str | None = "auto",
        neighbors: str = "auto",
        laplacian: str = "auto",
        laplacian_degree: int | str = "auto",
        solver: str = "auto",
        n_landmarks: int | str = "auto",
        landmarks: str = "uniform",
        smoothing: str = "auto",
        tol: float = 1e-6,
        edge_sampling: str = "uniform",
        step: str = "implicit",
        max_iter: int | str = "auto",
        steps_per_row: float | str = "auto",
        reservoir_size: int = 2000,
        half_life: float | None = None,
        budget: int | None = None,
        fit_intercept: bool = False,
        class_weight: dict[Any, float] | str | None = None,
        unlabeled: Any = -1,
        precision: str = "single",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[Progress], Any] | None = None,
    ) -> None:
        super().__init__(
            C,
            C_graph,
            loss=loss,
            p=p,
            kernel=kernel,
            gamma=gamma,
            graph=graph,
            n_neighbors=n_neighbors,
            radius=radius,
            graph_gamma=graph_gamma,
            neighbors=neighbors,
            laplacian=laplacian,
            laplacian_degree=laplacian_degree,
            solver=solver,
            n_landmarks=n_landmarks,
            landmarks=landmarks,
            smoothing=smoothing,
            tol=tol,
            edge_sampling=edge_sampling,
            step=step,
            max_iter=max_iter,
            steps_per_row=steps_per_row,
            reservoir_size=reservoir_size,
            half_life=half_life,
            budget=budget,
            fit_intercept=fit_intercept,
            unlabeled=unlabeled,
            precision=precision,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
            callback=callback,
        )
        self.class_weight = class_weight

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, affinity: Any = None) -> Self:
        """Learn from labelled and unlabelled rows.

        Parameters
        ----------
        X : array, frame or CSR matrix of shape (n_samples, n_features)
            All rows; kernel values between them for kernel="precomputed".
        y : array-like of shape (n_samples,)
            Labels; `unlabeled`, NaN, None or NA where unknown.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of C per row; those of unlabelled rows have no effect.
        affinity : sparse matrix of shape (n_samples, n_samples), optional
            Edge weights for graph="precomputed".

        Returns
        -------
        self
        """
        return self._solve(self._encode(X, y, sample_weight), affinity=affinity)

    @available_if(can_stream)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from the next rows of a stream: see `StreamingGKM`.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`; a chunk may hold no labelled row.
        classes : array-like, optional
            All labels there will be; for the first chunk, and needed there unless it holds
            them all.

        Returns
        -------
        self
        """
        with self._all_or_nothing():
            rows = self._next_rows(X)
            coded = self._encode_more(rows, y, sample_weight, classes)
            return self._learn_more(rows, *coded, resolve_loss(self.loss, "classification"))

    def _encode(self, X: Any, y: Any, sample_weight: Any) -> Problem:
        """Check all that was passed, and code the labels as targets -1 and +1."""
        check_parameters(self)
        loss = resolve_loss(self.loss, "classification")
        X = self._validate_rows(X, reset=True)
        labeled, codes, targets, weights = self._encode_classes(X, y, sample_weight)
        return Problem(X, labeled, codes, targets, weights, loss)

    def _solve(self, problem: Problem, **given: Any) -> Self:
        solution = self._fit(problem, **given)
        self._given = (np.flatnonzero(problem.labeled), problem.known)
        if solution.complete and solution.gap is not None:  # else it may be for want of steps
            self._warn_of_overruled_labels(problem)
        return self

    def _warn_of_overruled_labels(self, problem: Problem) -> None:
        """Warn if the graph makes f contradict many of the labels that f could have followed.

        Some contradictions are what a graph is for: it outvotes labels that are mistaken. Many
        are those of a model that is hardly better, at the labelled rows, than one that calls
        every row by the most frequent label. It is the graph's doing if a fit without it, to the
        labelled rows alone, contradicts half as many or fewer.
        """
        if self.C_graph == 0 or problem.labeled.all():
            return
        wrong = self._contradicts(problem)
        errors = len(problem.known) - int(np.bincount(problem.known).max())
        limit = max(1.0, _MANY * errors)  # a single label may be a mistake
        if wrong <= limit:
            return
        rows = problem.X[problem.labeled]
        if not self.kernel_.has_rows:
            rows = rows[:, problem.labeled]
        alone = clone(self).set_params(
            C_graph=0, solver="newton", n_landmarks="auto", budget=None, verbose=0, callback=None
        )
        own = problem._replace(X=rows, labeled=np.ones(len(problem.known), bool))
        alone.classes_ = self.classes_
        with warnings.catch_warnings():  # of what this fit is like nobody wants to know
            warnings.simplefilter("ignore")
            alone._fit(own)
        followed = alone._contradicts(own)
        if 2 * followed <= wrong:
            warnings.warn(
                f"The graph overrules the labels: the model contradicts {wrong} of "
                f"{len(problem.known)} given ones, of which one without the graph contradicts "
                f"{followed}. Pass a smaller C_graph or n_neighbors, or a larger C; "
                "GKMClassifierCV chooses them, and tries C_graph=0.",
                UserWarning,
                stacklevel=3,
            )

    def _contradicts(self, problem: Problem) -> int:
        """Return how many labelled rows of a positive weight f puts into another class."""
        labeled = problem.labeled
        scores = self._row_scores
        scores = self._f.scores(problem.X[labeled]) if scores is None else scores[labeled]
        wrong = winning_class(scores) != problem.known
        return int(np.count_nonzero(wrong & (problem.weights > 0)))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the classes' probabilities, of shape (n, n_classes); for loss="logistic"."""
        return np.asarray(np.exp(self.predict_log_proba(X)))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithms of the classes' probabilities; for loss="logistic"."""
        scores = self._scores(X)
        if scores.shape[1] == 1:
            return np.hstack([log_expit(-scores), log_expit(scores)])
        # Normalised in logarithms, so that they sum to one however far off a row is.
        logs = log_expit(scores)
        return np.asarray(logs - logsumexp(logs, axis=1, keepdims=True))

    @staticmethod
    def _default_costs(newton: bool, smoothing: str, n: int, n_labeled: int) -> tuple[float, float]:
        """Return C and C_graph; `newton`, at p = 2, has C in units of the smoothed kernel.

        At any other p a graph as strong as that would flatten f. Many labels say more than the
        graph, which then has to give way.
        """
        if not newton:
            return 1.0, 0.1
        if smoothing == "rows":
            return 10.0, 50.0 * n / n_labeled
        return 10.0, graph_share(n) * 1e5 * min(1.0, _FEW / n_labeled) ** 3 / n_labeled
