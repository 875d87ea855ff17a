"""Any model, corrected over a graph of all rows: F(x) = f(x) + g(x).

f is fitted to the labelled rows alone. Its errors at these rows, each predicted without the row's
own label, become a field g over the graph of all rows. How strong the field is, and whether there
is one at all, is decided on held-out labels.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    MetaEstimatorMixin,
    RegressorMixin,
    is_classifier,
    is_regressor,
)
from sklearn.model_selection import KFold, StratifiedKFold, check_cv
from sklearn.utils import _safe_indexing, check_consistent_length, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from .._parameters import check_count, check_number, count_threads
from ..expansion import default_threads
from ..graphs import NodesPart, RowNodes, resolve_nodes
from ..machines.checks import GraphWarning, canonical_csr, check_range
from ..machines.kernel_ridge import KernelRidgeClassifierCV, KernelRidgeCV
from ..machines.labels import as_label_array, labeled_mask, plain_labels, refuse_ambiguous
from ..machines.params import Composed, Resolver
from ..machines.targets import known_targets
from ..solvers.field import Field, FieldSystem, Strength
from .correction import CS, ENOUGH, EPSILONS, FEWEST, USUAL, Candidate, Correction, Judged
from .held_out import (
    FoldError,
    Folds,
    HeldOut,
    check_classifier,
    class_shares,
    hold_out_classes,
    hold_out_values,
)

_FOLDS = 5
_SQUARES = 0.3  # weight of squared errors beside the errors themselves, where labels are few
_FEW = 180  # labels; with more the errors say enough, and squares count for less


class _Corrected(MetaEstimatorMixin, Composed):
    """What the classifier and the regressor share."""

    estimator_: Any
    field_: Field | None

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
        unlabeled: Any = -1,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.graph = graph
        self.Cs = Cs
        self.epsilons = epsilons
        self.degree = degree
        self.cv = cv
        self.scoring = scoring
        self.unlabeled = unlabeled
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def n_threads(self) -> int:
        """Return the threads that `n_jobs` asks for."""
        return count_threads(self.n_jobs, default_threads())

    def _resolvers(self) -> Mapping[str, Resolver]:
        return {"graph": resolve_nodes}

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the estimator to the labelled rows, and its errors as a field over all rows.

        Parameters
        ----------
        X : array, frame or CSR matrix of shape (n_samples, n_features)
            All rows. The graph needs numbers in every place.
        y : array-like of shape (n_samples,)
            Labels or targets; `unlabeled`, NaN, None or NA where unknown.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the labelled rows, for the estimator and the field. A row of weight 0 counts
            as unlabelled.

        Returns
        -------
        self
        """
        strengths = self._strengths()
        part = resolve_nodes(self.graph)
        check_count("degree", self.degree)
        threads = self.n_threads()
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        rows = self._validate(X, reset=True)
        check_range(rows, np.dtype(np.float64))
        weights = _check_sample_weight(
            sample_weight, rows, dtype=np.float64, ensure_non_negative=True
        )
        labeled, known = self._encode(y, rows, weights > 0)
        weights = weights[labeled]
        if rows.shape[0] < 2:
            raise ValueError("1 sample has no neighbours; pass at least 2 rows.")
        given = None if sample_weight is None else weights
        own = _as_given(X, rows)
        folds = self._folds(_safe_indexing(own, labeled), known, seed)
        held = self._hold_out_with(_safe_indexing(own, labeled), known, given, folds, seed)
        graph = part.nodes(rows, seed=seed, n_jobs=threads, verbose=bool(self.verbose))
        system = FieldSystem(graph, degree=int(self.degree), n_threads=threads)
        targets, prior = self._targets(known, weights)
        correction = Correction(
            graph, system, labeled, weights, targets, self._columns(held.values), prior
        )
        candidate = self._choose(correction, folds, strengths, known, weights)
        self.field_ = None if candidate.strength is None else correction.fit(candidate)
        self.estimator_, self.estimator_weight_ = held.model, candidate.estimator_weight
        self._held, self._prior = replace(held, values=held.values[:0]), prior
        self.held_out_by_ = held.how
        self._rows, self._given = own, (labeled, known)
        return self

    # ------------------------------------------------------------------ what subclasses know

    @abstractmethod
    def _encode(
        self, y: Any, rows: Any, counts: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Return the labelled rows that count, and their labels, checked."""

    @abstractmethod
    def _hold_out(self, X: Any, known: NDArray[Any], weights: Any, folds: Folds, seed: int) -> Any:
        """Return the fitted estimator with its held-out predictions."""

    @abstractmethod
    def _targets(
        self, known: NDArray[Any], weights: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], float]:
        """Return labels as columns, and what they would be of a row of which nothing is known."""

    @abstractmethod
    def _columns(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return predictions as columns like those of the targets."""

    @abstractmethod
    def _base(self, X: Any) -> NDArray[np.float64]:
        """Return the estimator's predictions as columns."""

    @abstractmethod
    def _loss(
        self, known: NDArray[Any], targets: NDArray[np.float64]
    ) -> Callable[[NDArray[np.float64], NDArray[np.int64]], NDArray[np.float64]]:
        """Return the loss of every row from outputs and positions."""

    @abstractmethod
    def _answers(self, outputs: NDArray[np.float64], stretch: float) -> Any:
        """Return a fixed estimator that gives these outputs, for scorers."""

    @abstractmethod
    def _splitter(self, known: NDArray[Any], n_splits: int, seed: int) -> Any:
        """Return a splitter into this many folds, or None if labels are too few for it."""

    def _stretch_to(self, outputs: NDArray[np.float64], targets: NDArray[np.float64]) -> float:
        """Return the factor of the outputs in probabilities."""
        return 1.0

    # ------------------------------------------------------------------ steps of the fit

    def _validate(self, X: Any, *, reset: bool) -> Any:
        """Return X as numbers: what the graph sees."""
        rows = validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=(np.float64, np.float32),
            ensure_all_finite="allow-nan",
        )
        values = rows.data if issparse(rows) else rows
        missing = np.isnan(values)
        if missing.any():
            holes = f"{int(missing.sum()):,} values of X are NaN"
            if not issparse(rows):
                columns = np.flatnonzero(missing.any(axis=0))
                names = getattr(self, "feature_names_in_", np.arange(rows.shape[1]))[columns]
                shown = ", ".join(map(str, names[:5])) + (", ..." if len(names) > 5 else "")
                holes += f", in {len(names)} of its columns ({shown})"
            raise ValueError(
                f"Input X contains NaN: {holes}. The graph measures distances between all rows; "
                "impute missing values first, for example with sklearn.impute.SimpleImputer."
            )
        return canonical_csr(rows) if issparse(rows) else rows

    def _strengths(self) -> list[Strength]:
        Cs = CS if self.Cs is None else list(self.Cs)
        epsilons = EPSILONS if self.epsilons is None else list(self.epsilons)
        for name, values in (("Cs", Cs), ("epsilons", epsilons)):
            if not len(values):
                raise ValueError(f"{name} is empty; pass at least one value, or None.")
            for value in values:
                check_number(name, value, least=0, strictly=True)
        epsilons = sorted(epsilons, reverse=True)
        return [Strength(float(C), float(eps)) for C, eps in product(Cs, epsilons)]

    def _folds(self, X: Any, known: NDArray[Any], seed: int) -> Folds:
        """Return folds of the labelled rows; none if they are too few."""
        if self.cv is None or isinstance(self.cv, Integral | str):
            n_splits = _FOLDS if self.cv is None else check_count("cv", self.cv, least=2)
            return self._fewer_folds(known, n_splits, seed)
        splits = check_cv(self.cv).split(X, known)
        folds = [(np.asarray(train), np.asarray(test)) for train, test in splits]
        held = np.bincount(np.concatenate([test for _, test in folds]), minlength=len(known))
        if len(held) > len(known):
            raise ValueError(
                f"cv={self.cv!r} holds out row {len(held) - 1}, but its folds count the labelled "
                f"rows only, and there are {len(known)}."
            )
        if (held == 0).any():
            raise ValueError(
                f"cv={self.cv!r} never holds out {int((held == 0).sum())} of the {len(known)} "
                "labelled rows; pass a splitter whose test folds cover them all, or a number."
            )
        return folds

    def _fewer_folds(self, known: NDArray[Any], most: int, seed: int) -> Folds:
        """Return the most folds that the labels allow, up to a number; none if not even two."""
        for n_splits in range(most, 1, -1):
            splitter = self._splitter(known, n_splits, seed)
            if splitter is not None:
                with warnings.catch_warnings():
                    warnings.filterwarnings("ignore", message="The least populated class")
                    return list(splitter.split(np.zeros(len(known)), known))
        return []

    def _hold_out_with(
        self, X: Any, known: NDArray[Any], weights: Any, folds: Folds, seed: int
    ) -> HeldOut:
        """Return held-out predictions; an estimator that fails on a fold gets fewer folds."""
        while True:
            try:
                held: HeldOut = self._hold_out(X, known, weights, folds, seed)
                return held
            except FoldError as error:
                fewer: Folds = []
                if self.cv is None or isinstance(self.cv, Integral):
                    fewer = self._fewer_folds(known, len(folds) - 1, seed)
                if not fewer:
                    raise ValueError(
                        f"The estimator could not be fitted to {len(folds)} folds of the "
                        f"{len(known)} labelled rows: {error.__cause__} Label more rows of every "
                        "class, or pass an estimator that needs fewer."
                    ) from error.__cause__
                folds = fewer

    def _choose(
        self,
        correction: Correction,
        folds: Folds,
        strengths: list[Strength],
        known: NDArray[Any],
        weights: NDArray[np.float64],
    ) -> Candidate:
        """Return the candidate that does best on held-out labels, and set the results."""
        self._stretch = 1.0
        if len(known) < FEWEST or not folds:
            return self._unjudged(strengths, len(known))
        targets, _ = self._targets(known, weights)
        judged = correction.judge(
            folds,
            strengths,
            self._loss(known, targets),
            # The spread of a score needs the scores of several folds.
            enough=ENOUGH if self.scoring is None else np.inf,
            verbose=bool(self.verbose),
        )
        stretches = [
            1.0 if candidate.strength is None else self._stretch_to(outputs, targets[judged.rows])
            for candidate, outputs in zip(judged.candidates, judged.outputs, strict=True)
        ]
        scores = self._scores_of(judged, stretches, folds, known)
        best = judged.best
        if self.scoring is not None:
            means, spread = scores.mean(axis=1), scores.std(axis=1, ddof=1) / len(scores[0]) ** 0.5
            best = int(np.argmax(means))
            best = best if means[best] - means[0] > spread[best] else 0
        ranked = judged.losses if self.scoring is None else -means
        self._set_results(judged, scores.mean(axis=1), ranked, best)
        self._stretch = stretches[best]
        return judged.candidates[best]

    def _unjudged(self, strengths: list[Strength], n_labeled: int) -> Candidate:
        only = len(strengths) == 1
        strength = strengths[0] if only else USUAL
        if not only:
            warnings.warn(
                f"{n_labeled} labelled rows are too few to judge a strength, which takes "
                f"{FEWEST}, and two of some class. The field has a middle one, C={USUAL.C:g} and "
                f"eps={USUAL.eps:g}; what "
                "the unlabelled rows contribute is not known. Label more rows, or pass one C in "
                "Cs and one eps in epsilons.",
                GraphWarning,
                stacklevel=4,
            )
        candidate = Candidate(1.0, strength)
        none = np.full(1, np.nan)
        judged = Judged([candidate], none, 0, [], np.empty(0, np.int64))
        self._set_results(judged, none, none, 0)
        return candidate

    def _scores_of(
        self, judged: Judged, stretches: list[float], folds: Folds, known: NDArray[Any]
    ) -> NDArray[np.float64]:
        """Return the score of every candidate on every fold that was judged."""
        from sklearn.metrics import get_scorer

        usual = "accuracy" if is_classifier(self) else "r2"
        scorer = self.scoring if callable(self.scoring) else get_scorer(self.scoring or usual)
        parts = []
        start = 0
        for _, test in folds:
            if start + len(test) > len(judged.rows):
                break
            parts.append(slice(start, start + len(test)))
            start += len(test)
        if self.scoring is None:  # one score of all held-out rows
            parts = [slice(0, start)]
        scores = []
        for outputs, stretch in zip(judged.outputs, stretches, strict=True):
            fixed = self._answers(outputs, stretch)
            scores.append(
                [scorer(fixed, np.arange(p.start, p.stop), known[judged.rows[p]]) for p in parts]
            )
        return np.array(scores, dtype=np.float64)

    def _set_results(
        self,
        judged: Judged,
        scores: NDArray[np.float64],
        ranked: NDArray[np.float64],
        best: int,
    ) -> None:
        """Set what is known of all candidates; the one with the least `ranked` has rank 1."""
        self.n_held_out_ = len(judged.rows)
        self.best_index_ = best
        self.best_score_ = float(scores[best])
        self.unlabeled_gain_ = float(scores[best] - scores[0])
        params = [
            {
                "estimator_weight": candidate.estimator_weight,
                "C": 0.0 if candidate.strength is None else candidate.strength.C,
                "eps": np.nan if candidate.strength is None else candidate.strength.eps,
            }
            for candidate in judged.candidates
        ]
        self.best_params_ = params[best]
        self.cv_results_ = {
            f"param_{name}": np.ma.masked_invalid([each[name] for each in params])
            for name in params[0]
        } | {
            "params": params,
            "mean_test_score": scores,
            "criterion": judged.losses,
            "rank_test_score": 1 + np.argsort(np.argsort(ranked, kind="stable"), kind="stable"),
        }

    # ------------------------------------------------------------------ files

    def fitted_state(self) -> dict[str, Any]:
        """Return what `fit` has set, for model files: numbers, arrays, the estimator, the field."""
        check_is_fitted(self, "estimator_")
        results: dict[str, Any] = self.cv_results_
        rows = self._rows
        if self.field_ is not None and isinstance(self.field_.nodes, RowNodes):
            rows = None  # the nodes are the rows
        elif hasattr(rows, "columns"):
            rows = self._validate(rows, reset=False)
        return {
            "estimator": self.estimator_,
            "estimator_weight": self.estimator_weight_,
            "field": self.field_,
            "how": self._held.how,
            "heat": self._held.heat,
            "prior": self._prior,
            "stretch": self._stretch,
            "rows": rows,
            "labeled": self._given[0],
            "known": self._given[1],
            "candidates": [
                (each["estimator_weight"], each["C"], each["eps"]) for each in results["params"]
            ],
            "criterion": results["criterion"],
            "scores": results["mean_test_score"],
            "ranks": results["rank_test_score"].astype(np.float64),
            "best": self.best_index_,
            "n_held_out": self.n_held_out_,
        }

    def set_fitted_state(self, state: Mapping[str, Any]) -> None:
        """Set what `fitted_state` returned; the caller has checked it."""
        candidates = [
            Candidate(weight, Strength(C, eps) if C else None)
            for weight, C, eps in state["candidates"]
        ]
        judged = np.arange(state["n_held_out"])
        found = Judged(candidates, state["criterion"], state["best"], [], judged)
        self._set_results(found, state["scores"], state["ranks"], state["best"])
        self.estimator_, self.field_ = state["estimator"], state["field"]
        self.estimator_weight_ = state["estimator_weight"]
        self._held = HeldOut(self.estimator_, np.empty((0, 0)), state["how"], state["heat"])
        self.held_out_by_ = state["how"]
        self._prior, self._stretch = state["prior"], state["stretch"]
        on_rows = self.field_ is not None and state["rows"] is None
        self._rows = self.field_.nodes.points if on_rows else state["rows"]  # type: ignore[union-attr]
        self._given = state["labeled"], state["known"]

    # ------------------------------------------------------------------ answers

    def _outputs(self, X: Any) -> NDArray[np.float64]:
        """Return F at every row of X, as columns."""
        check_is_fitted(self, "estimator_")
        rows = self._validate(X, reset=False)
        given = _as_given(X, rows)
        if self.estimator_weight_:
            outputs = self.estimator_weight_ * self._base(given)
        else:
            outputs = np.full((rows.shape[0], 1), self._prior)
        return outputs if self.field_ is None else outputs + self.field_(rows)

    @property
    def transduction_(self) -> NDArray[Any]:
        """Labels or targets of the training rows; given ones are kept."""
        check_is_fitted(self, "estimator_")
        with warnings.catch_warnings():  # rows from a model file have no names
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            answers = np.asarray(self.predict(self._rows))  # type: ignore[attr-defined]
        labeled, known = self._given
        answers[labeled] = known
        return answers

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse rows are fine if they are for the estimator."""
        tags = super().__sklearn_tags__()
        sparse = True if self.estimator is None else _takes_sparse(self.estimator)
        tags.input_tags.sparse = sparse
        tags.target_tags.required = True
        return tags


def _takes_sparse(estimator: Any) -> bool:
    from sklearn.utils import get_tags

    return bool(get_tags(estimator).input_tags.sparse)


def _as_given(X: Any, rows: Any) -> Any:
    """Return what the estimator sees: a frame as it is, since its columns have names."""
    return X if hasattr(X, "columns") else rows


class GraphCorrectedClassifier(ClassifierMixin, _Corrected, BaseEstimator):
    """A classifier corrected over a graph of all rows, labelled and unlabelled.

    The classifier is fitted to the labelled rows. What it says of each of them without having
    seen its label is compared with the label. The differences become a field: a function on the
    graph of all rows that is near them at the labelled rows and smooth along the edges. The sum of
    both decides, for rows seen and new.

    The strength of the field is chosen on held-out labels. Without a field the classifier stays
    as it is, and a field must beat that by more than one standard error. A field without the
    classifier is tried as well, which is best where labels are few and neighbours alike.

    Parameters
    ----------
    estimator : classifier, optional
        Anything with `predict_proba` or `decision_function`: a forest, boosting, an SVC, a
        pipeline. None is `graphkm.machines.KernelRidgeClassifierCV`, the library's own machine.
    graph : {"knn", "anchors"} or NodesPart, default="knn"
        Where the field lives: `graphkm.graphs.KNN` has a value at every row, `Anchors` at fewer
        nodes. A name stands for the part with its defaults.
    Cs : list of float, optional
        Weights of the labels against the smoothness of the field; 0.3 and 3 by default.
    epsilons : list of float, optional
        How strongly the field is pulled to 0; small values carry labels far along the graph. 0.5,
        0.1 and 0.01 by default.
    degree : int, default=1
        The power of the graph's Laplacian.
    cv : int, splitter or list of (train, test), optional
        Folds of the labelled rows, 5 by default (fewer where a class has fewer rows). Held-out
        labels are hidden; their rows stay in the graph.
    scoring : str or callable, optional
        What is best, as in `sklearn.model_selection.GridSearchCV`. By default the errors and,
        with a small weight, the squared errors of the held-out labels.
    unlabeled : default=-1
        The mark of unlabelled rows in y. NaN, None and NA always count as unlabelled; None
        means that nothing else does.
    random_state : int, RandomState or None, default=None
        Decides the folds, and the own machine's draws. The estimator has its own.
    n_jobs : int or None, default=None
        Threads of the graph; None is every core of the process.
    verbose : int, default=0
        1 shows progress bars.

    Attributes
    ----------
    estimator_ : classifier
        Fitted to the labelled rows.
    field_ : Field or None
        The correction; None where it did not help.
    estimator_weight_ : float
        1, or 0 if the field alone does better.
    unlabeled_gain_ : float
        Held-out score of the choice, minus that of the estimator alone: the estimated benefit of
        the graph. NaN if labels are too few to tell.
    best_score_ : float
        Held-out score of the choice.
    best_params_, best_index_, cv_results_
        As in `sklearn.model_selection.GridSearchCV`; `criterion` is what was minimised.
    held_out_by_ : {"leave-one-out", "out-of-bag", "out-of-fold", "prior"}
        Where the estimator's held-out predictions come from. "prior": labels are too few to hold
        any out, and equal shares take their place.
    n_held_out_ : int
        Held-out labels that decided; 0 if labels were too few.
    transduction_ : ndarray of shape (n_samples,)
        Labels of the training rows; given labels are kept.
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
    >>> bool(model.score(X, truth) > alone)
    True
    """

    def _encode(
        self, y: Any, rows: Any, counts: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[Any]]:
        if self.estimator is not None:
            check_classifier(self.estimator)
        values = as_label_array(y)
        check_consistent_length(rows, values)
        labeled = np.flatnonzero(labeled_mask(values, self.unlabeled) & counts)
        _require_labels(labeled, len(values), self.unlabeled)
        refuse_ambiguous(values, self.unlabeled)
        known = plain_labels(values[labeled])
        if known.dtype.kind == "f" and not np.isfinite(known).all():
            raise ValueError("Input y contains infinity; mark unlabelled rows with NaN.")
        check_classification_targets(known)
        self.classes_ = np.unique(known)
        if len(self.classes_) < 2:
            raise ValueError(
                f"The labelled rows hold only one class, {self.classes_.tolist()[0]!r}; at least "
                "two classes are needed. Label rows of another class too."
            )
        return labeled, known

    def _hold_out(self, X: Any, known: NDArray[Any], weights: Any, folds: Folds, seed: int) -> Any:
        estimator = self.estimator
        if estimator is None:
            estimator = KernelRidgeClassifierCV(random_state=seed, n_jobs=self.n_jobs)
        return hold_out_classes(estimator, X, known, weights, folds, self.classes_)

    def _targets(
        self, known: NDArray[Any], weights: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], float]:
        codes = np.searchsorted(self.classes_, known)
        return self._columns(np.eye(len(self.classes_))[codes]), 1.0 / len(self.classes_)

    def _columns(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return class shares; of two classes the second is enough."""
        return values[:, 1:] if len(self.classes_) == 2 else values

    def _shares(self, columns: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.hstack([1.0 - columns, columns]) if columns.shape[1] == 1 else columns

    def _base(self, X: Any) -> NDArray[np.float64]:
        return self._columns(class_shares(self._held, X, self.classes_))

    def _splitter(self, known: NDArray[Any], n_splits: int, seed: int) -> Any:
        if np.unique(known, return_counts=True)[1].max() < n_splits:
            return None
        return StratifiedKFold(n_splits, shuffle=True, random_state=seed)

    def _loss(
        self, known: NDArray[Any], targets: NDArray[np.float64]
    ) -> Callable[[NDArray[np.float64], NDArray[np.int64]], NDArray[np.float64]]:
        wanted = self._shares(targets)
        codes = wanted.argmax(axis=1)
        share = _SQUARES * min(1.0, (_FEW / len(known)) ** 0.5)

        def loss(columns: NDArray[np.float64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
            shares = self._shares(columns)
            wrong = shares.argmax(axis=1) != codes[rows]
            stretched = _stretched(shares, _stretch(shares, wanted[rows]))
            squares = np.square(stretched - wanted[rows]).sum(axis=1)
            return np.asarray(wrong + share * squares)

        return loss

    def _answers(self, outputs: NDArray[np.float64], stretch: float) -> Any:
        return _FixedClassifier(self._shares(outputs), self.classes_, stretch)

    def _stretch_to(self, outputs: NDArray[np.float64], targets: NDArray[np.float64]) -> float:
        return _stretch(self._shares(outputs), self._shares(targets))

    def _class_scores(self, X: Any) -> NDArray[np.float64]:
        return self._shares(self._outputs(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of every row of X."""
        check_is_fitted(self, "estimator_")
        if self.field_ is None:
            self._validate(X, reset=False)
            return np.asarray(self.estimator_.predict(X))
        return np.asarray(self.classes_[self._class_scores(X).argmax(axis=1)])

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return F(x): of shape (n, n_classes); for two classes the difference, of shape (n,)."""
        shares = self._class_scores(X)
        return shares[:, 1] - shares[:, 0] if shares.shape[1] == 2 else shares

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return estimates of the classes' probabilities, from F(x).

        F is stretched by the factor that fits the held-out labels best, clipped to [0, 1] and
        normalised. Without a field they are the estimator's.
        """
        shares = self._class_scores(X)
        return _as_probabilities(_stretched(shares, self._stretch))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on the labelled rows of (X, y)."""
        values = as_label_array(y)
        labeled = labeled_mask(values, self.unlabeled)
        weights = _weights_to_score(X, labeled, sample_weight)
        return float(np.average(self.predict(X)[labeled] == values[labeled], weights=weights))


class GraphCorrectedRegressor(RegressorMixin, _Corrected, BaseEstimator):
    """A regressor corrected over a graph of all rows, labelled and unlabelled.

    As `GraphCorrectedClassifier`, for quantities: the held-out errors of the regressor become a
    field over the graph of all rows, and the sum of both is the prediction.

    Parameters
    ----------
    estimator : regressor, optional
        Any regressor. None is `graphkm.machines.KernelRidgeCV`, the library's own kernel machine.
    graph, Cs, epsilons, degree, cv, unlabeled, random_state, n_jobs, verbose
        As in `GraphCorrectedClassifier`. For regression -1 is a target like any other unless
        ``unlabeled=-1``; by default only NaN, None and NA are unlabelled.
    scoring : str or callable, optional
        What is best; by default the squared error.

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
    >>> bool(np.abs(model.transduction_ - t).max() < 0.2)
    True
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
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )

    def _encode(
        self, y: Any, rows: Any, counts: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[Any]]:
        if self.estimator is not None and not is_regressor(self.estimator):
            raise ValueError(f"estimator must be a regressor or None, got {self.estimator!r}.")
        mask, known = known_targets(y, self.unlabeled)
        check_consistent_length(rows, mask)
        labeled = np.flatnonzero(mask & counts)
        _require_labels(labeled, len(mask), self.unlabeled)
        return labeled, known[counts[mask]]

    def _hold_out(self, X: Any, known: NDArray[Any], weights: Any, folds: Folds, seed: int) -> Any:
        estimator = self.estimator
        if estimator is None:
            estimator = KernelRidgeCV(random_state=seed, n_jobs=self.n_jobs)
        return hold_out_values(estimator, X, known, weights, folds)

    def _targets(
        self, known: NDArray[Any], weights: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], float]:
        return known[:, None], float(np.average(known, weights=weights))

    def _columns(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return values

    def _base(self, X: Any) -> NDArray[np.float64]:
        return np.asarray(self.estimator_.predict(X), dtype=np.float64).reshape(-1, 1)

    def _splitter(self, known: NDArray[Any], n_splits: int, seed: int) -> Any:
        if len(known) < n_splits:
            return None
        return KFold(n_splits, shuffle=True, random_state=seed)

    def _loss(
        self, known: NDArray[Any], targets: NDArray[np.float64]
    ) -> Callable[[NDArray[np.float64], NDArray[np.int64]], NDArray[np.float64]]:
        return lambda columns, rows: np.square(columns[:, 0] - known[rows])

    def _answers(self, outputs: NDArray[np.float64], stretch: float) -> Any:
        return _FixedRegressor(outputs[:, 0])

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the target of every row of X."""
        return self._outputs(X)[:, 0]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the coefficient of determination on the rows of (X, y) with a target."""
        from sklearn.metrics import r2_score  # as RegressorMixin does: it is slow to import

        labeled, known = known_targets(y, self.unlabeled)
        weights = _weights_to_score(X, labeled, sample_weight)
        return float(r2_score(known, self.predict(X)[labeled], sample_weight=weights))


class _FixedClassifier(ClassifierMixin, BaseEstimator):
    """Gives known shares for positions, so that any scorer can judge them."""

    def __init__(self, shares: Any, classes: Any, stretch: float) -> None:
        self.shares, self.classes, self.stretch = shares, classes, stretch
        self.classes_ = classes

    def predict(self, rows: Any) -> Any:
        return self.classes_[self.shares[rows].argmax(axis=1)]

    def predict_proba(self, rows: Any) -> Any:
        return _as_probabilities(_stretched(self.shares[rows], self.stretch))

    def decision_function(self, rows: Any) -> Any:
        shares = self.shares[rows]
        return shares[:, 1] - shares[:, 0] if shares.shape[1] == 2 else shares


class _FixedRegressor(RegressorMixin, BaseEstimator):
    """Gives known values for positions, so that any scorer can judge them."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def fit(self, X: Any, y: Any) -> Self:
        return self

    def predict(self, rows: Any) -> Any:
        return self.values[rows]


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


def _as_probabilities(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return shares clipped to [0, 1] and normalised."""
    clipped = np.clip(shares, 0.0, 1.0)
    total = clipped.sum(axis=1, keepdims=True)
    equal = np.full_like(clipped, 1.0 / clipped.shape[1])
    return np.divide(clipped, total, out=equal, where=total > 0)


def _require_labels(labeled: NDArray[np.int64], n: int, unlabeled: Any) -> None:
    if len(labeled) == 0:
        raise ValueError(
            f"None of the {n} rows is labelled: y holds only missing values or the marker "
            f"unlabeled={unlabeled!r}, or sample_weight is 0 wherever it holds others. Label "
            "some rows of every class, or name the right marker."
        )


def _weights_to_score(
    X: Any, labeled: NDArray[np.bool_], sample_weight: Any
) -> NDArray[Any] | None:
    """Return the weights of the labelled rows in a score; None gives all the same weight."""
    check_consistent_length(X, labeled, sample_weight)
    if not labeled.any():
        raise ValueError("None of the rows to score is labelled; pass some with a label.")
    return None if sample_weight is None else np.asarray(sample_weight)[labeled]
