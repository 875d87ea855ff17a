"""What the corrected classifier and regressor share: the fit, the choice of a field, the sum."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import MetaEstimatorMixin, clone, is_classifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._parameters import check_count, check_flag, check_number, count_threads
from .._warnings import quiet
from ..expansion import default_threads
from ..graphs import Anchors, NodeGraph, NodesPart, RowNodes, resolve_nodes
from ..graphs.distinct import Copies, copies_in_order
from ..judge.folds import Folds, Splitter, make_folds, most_folds
from ..judge.held_out import CHOSEN, FoldError, HeldOut, take_rows
from ..machines.checks import (
    GraphWarning,
    check_range,
    check_scale,
    checked_weights,
)
from ..machines.class_weights import ClassWeight
from ..machines.given_rows import require_labels, rows_as_numbers
from ..machines.labels import checked_classes, plain_labels, refuse_ambiguous
from ..machines.params import Composed, Resolver
from ..machines.remembering import Remembering
from ..machines.ridge_base import BaseKernelRidge
from ..members.features import can_have_features
from ..semi.block_rows import joined
from ..semi.blocks import Blocks, Reading, as_blocks
from ..solvers.field import Field, FieldSystem, Strength
from .blend import Blend
from .correction import (
    CS,
    ENOUGH,
    EPSILONS,
    FLOW,
    USUAL,
    Candidate,
    Correction,
    Judged,
    Known,
    Loss,
)
from .criterion import FEWEST
from .scaling import Scaling
from .scores import require_scores, score_answers


class Seen(NamedTuple):
    """The rows of a fit."""

    n_rows: int
    labeled: NDArray[np.int64]
    """Numbers of the labelled rows."""


class Corrected(MetaEstimatorMixin, Remembering, Composed):
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
        transduce: bool = True,
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
        self.transduce = transduce
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def n_threads(self) -> int:
        """Return the threads that `n_jobs` asks for."""
        return count_threads(self.n_jobs, default_threads())

    def checked_seed(self) -> int:
        """Check all parameters that need no rows, and return the seed of all draws."""
        resolve_nodes(self.graph)
        self._strengths()
        check_count("degree", self.degree)
        check_flag("transduce", self.transduce)
        self.n_threads()
        if self.estimator is not None:
            self._check_estimator()
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _resolvers(self) -> Mapping[str, Resolver]:
        return {"graph": resolve_nodes}

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the estimator to the labelled rows, and its errors as a field over all rows.

        With ``graph="anchors"`` rows need not fit in memory. A memory-mapped array is read in
        blocks. So is an iterable of blocks, such as `graphkm.online.read_stream`. It is read five
        times: three times more than the `passes` of `Anchors`, or two with ``transduce=False``.
        Only the labelled rows are kept.

        Parameters
        ----------
        X : array, frame or CSR matrix of shape (n_samples, n_features), or iterable
            All rows. The graph needs numbers in every place. Blocks are pairs of rows and labels,
            or have weights as well; y is None then.
        y : array-like of shape (n_samples,)
            Labels or targets; `unlabeled`, NaN, None, NA or masked where unknown.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the labelled rows, for the estimator and the field. A label of weight 0
            counts for nothing, and `transduction_` does not give it back.

        Returns
        -------
        self
        """
        seed, part = self.checked_seed(), resolve_nodes(self.graph)
        blocks = as_blocks(X, y, sample_weight)
        if blocks is not None and isinstance(part, Anchors):
            return self._fit_blocks(blocks, part, seed)
        if blocks is not None and y is None:
            raise ValueError(f"Blocks of rows need graph='anchors', and graph={self.graph!r}.")
        rows, labeled, known, weights = self._labeled_rows(X, y, sample_weight)
        if rows.shape[0] < 2:
            raise ValueError("1 sample has no neighbours; pass at least 2 rows.")
        own = _as_given(X, rows)
        given = None if sample_weight is None else weights
        known_rows, copies = take_rows(own, labeled), copies_in_order(rows[labeled])
        folds, held = self._folds_and_held_out(known_rows, known, given, copies, seed)
        graph = part.nodes(
            rows, labeled, seed=seed, n_jobs=self.n_threads(), verbose=bool(self.verbose)
        )
        self._correct(graph, folds, held, known, weights)
        self._seen = (rows.shape[0], labeled)
        self.set_transduced(None)
        if self.transduce:
            self.transduce_later(own, lambda model, rows: model.labelled(rows, labeled, known))
        return self

    def _fit_blocks(self, blocks: Blocks, part: Anchors, seed: int) -> Self:
        """Fit to rows that are read block by block."""
        classes = is_classifier(self)
        reading = Reading(blocks, part, seed, self.n_threads(), bool(self.verbose))
        found = reading.labelled(self.unlabeled, classes, self.class_weight_inside())
        require_labels(found.numbers, reading.n_rows, self.unlabeled)
        if classes:  # before the rows are read again
            refuse_ambiguous(joined([found.labels, found.marker]), self.unlabeled)
            checked_classes(plain_labels(found.labels))
        self.fit_nodes(reading.graph(found.rows), found.rows, found.labels, found.weights)
        self._seen = (reading.n_rows, found.numbers)
        if self.transduce:
            self.set_transduced(self.labelled(blocks, found.numbers, plain_labels(found.labels)))
        return self

    def fit_nodes(self, graph: NodeGraph, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the estimator to labelled rows, and its errors as a field over nodes at hand.

        `fit` makes the nodes from all rows. This is for nodes that were made elsewhere, from rows
        that are not here. `transduction_` is then of the labelled rows.

        Parameters
        ----------
        graph : NodeGraph
            Nodes with their graph; its `rows` are those of X.
        X : array, frame or CSR matrix of shape (n_labeled, n_features)
            The labelled rows.
        y : array-like of shape (n_labeled,)
            Their labels or targets; none may be missing.
        sample_weight : array-like of shape (n_labeled,), optional
            Their weights, all of them positive.

        Returns
        -------
        self
        """
        seed = self.checked_seed()
        rows, labeled, known, weights = self._labeled_rows(X, y, sample_weight)
        if not len(labeled) == rows.shape[0] == graph.rows.shape[0]:
            raise ValueError(
                f"The graph knows {graph.rows.shape[0]} rows, and {len(labeled)} of "
                f"{rows.shape[0]} rows are labelled; pass the labelled rows only."
            )
        own = _as_given(X, rows)
        given = None if sample_weight is None else weights
        folds, held = self._folds_and_held_out(own, known, given, copies_in_order(rows), seed)
        self._correct(graph, folds, held, known, weights)
        self._seen = (len(labeled), labeled)
        self.set_transduced(self._numbers(known) if self.transduce else None)
        return self

    def seen(self) -> Seen:
        """Return which rows the fit has seen.

        Examples
        --------
        >>> from graphkm import GraphCorrectedClassifier
        >>> X, y = np.arange(20.0)[:, None], np.repeat([0, -1, 1], [8, 4, 8])
        >>> GraphCorrectedClassifier().fit(X, y).seen().n_rows
        20
        """
        check_is_fitted(self, "estimator_")
        return Seen(*self._seen)

    def in_parts(self, seed: int, n_labeled: int) -> BaseKernelRidge | None:
        """Return the estimator, unfitted, if parts of the labelled rows can be fitted by sums.

        It is one of the library's own machines, is made of fewer landmarks than there are labels,
        and its leave-one-out predictions are those that count.
        """
        machine = self._used_estimator(seed)
        if not isinstance(machine, BaseKernelRidge) or n_labeled < CHOSEN:
            return None
        return None if machine.count_landmarks(n_labeled) >= n_labeled else clone(machine)

    def class_weight_inside(self) -> ClassWeight:
        """Return the class weights of the library's own machine, if it is the estimator.

        A class to which it gives the weight 0 counts for nothing, in the field as in the machine.
        """
        own = isinstance(self.estimator, BaseKernelRidge)
        return getattr(self.estimator, "class_weight", None) if own else None

    def fit_machine(
        self,
        graph: NodeGraph,
        machine: BaseKernelRidge,
        copies: Copies,
        y: Any,
        sample_weight: Any = None,
    ) -> Self:
        """Fit the errors of a machine that is fitted already as a field over nodes at hand.

        `fit_nodes` needs the labelled rows. This is for rows in parts (`in_parts`), of which only
        the landmarks are here. `transduction_` is then of the labelled rows.

        Parameters
        ----------
        graph : NodeGraph
            Nodes with their graph; its `rows` are the labelled rows.
        machine : KernelRidgeClassifierCV or KernelRidgeCV
            Fitted to the labelled rows, with their held-out predictions.
        copies : Copies
            Which of the labelled rows are equal, in the order from which folds are drawn.
        y : array-like of shape (n_labeled,)
            Labels or targets; none may be missing.
        sample_weight : array-like of shape (n_labeled,), optional
            Weights, all of them positive.

        Returns
        -------
        self
        """
        seed, n = self.checked_seed(), graph.rows.shape[0]
        weights = np.ones(n) if sample_weight is None else np.asarray(sample_weight)
        _, known = self._encode(y, graph.rows, weights > 0)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(machine, name):
                setattr(self, name, getattr(machine, name))
        splitter = partial(self._splitter, seed=seed)
        folds = make_folds(self.cv, np.zeros((n, 1)), known, splitter, copies)
        held = HeldOut(machine, machine.held_out_.reshape(n, -1), "leave-one-out")
        self._correct(graph, folds, held, known, weights)
        self._seen = (n, np.arange(n))
        self.set_transduced(self._numbers(known) if self.transduce else None)
        return self

    def _used_estimator(self, seed: int) -> Any:
        """Return the estimator given, or the library's own machine."""
        return self._usual(seed) if self.estimator is None else self.estimator

    # ------------------------------------------------------------------ what subclasses know

    @abstractmethod
    def _usual(self, seed: int) -> BaseKernelRidge:
        """Return the estimator where none is given."""

    @abstractmethod
    def _check_estimator(self) -> None:
        """Raise if the estimator given is of another kind."""

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
    def _loss(self, known: NDArray[Any], targets: NDArray[np.float64]) -> Loss:
        """Return a function from outputs and positions to the loss and the error of each."""

    @abstractmethod
    def _answers(self, outputs: NDArray[np.float64], scaling: Scaling | None) -> Any:
        """Return a fixed estimator that gives these outputs, for scorers."""

    @abstractmethod
    def _splitter(self, known: NDArray[Any], seed: int) -> Splitter:
        """Return what makes folds of labels."""

    def _scaling_to(
        self,
        outputs: NDArray[np.float64],
        targets: NDArray[np.float64],
        weights: NDArray[np.float64],
    ) -> Scaling | None:
        """Return how outputs become probabilities, fitted to held-out labels."""
        return None

    def _usual_scaling(self) -> Scaling | None:
        """Return how outputs become probabilities where no label can be held out."""
        return None

    def _hold(
        self,
        outputs: NDArray[np.float64] | None,
        rows: NDArray[np.int64],
        known: NDArray[Any],
        weights: NDArray[np.float64],
    ) -> None:
        """See what the choice says of held-out labels; None if none were held out."""
        return None

    # ------------------------------------------------------------------ steps of the fit

    def _labeled_rows(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Any, NDArray[np.int64], NDArray[Any], NDArray[np.float64]]:
        """Return all rows as numbers, which of them are labelled, and these labels and weights."""
        rows = rows_as_numbers(self, X, reset=True)
        check_range(rows, np.dtype(np.float64))
        check_scale(rows, rows.dtype)
        weights = checked_weights(sample_weight, rows)
        labeled, known = self._encode(y, rows, weights > 0)
        return rows, labeled, known, weights[labeled]

    def _folds_and_held_out(
        self, X: Any, known: NDArray[Any], weights: Any, copies: Copies, seed: int
    ) -> tuple[Folds, HeldOut]:
        """Return folds of the labelled rows, and what the estimator says of them."""
        folds = make_folds(self.cv, X, known, partial(self._splitter, seed=seed), copies)
        return folds, self._hold_out_with(X, known, weights, folds, copies, seed)

    def _correct(
        self,
        graph: NodeGraph,
        folds: Folds,
        held: HeldOut,
        known: NDArray[Any],
        weights: NDArray[np.float64],
    ) -> None:
        """Choose a field over the nodes, and keep it with the estimator."""
        threads, strengths = self.n_threads(), self._strengths()
        targets, prior = self._targets(known, weights)
        about = Known(graph, weights, targets, self._columns(held.values), prior)
        correction: Blend | Correction
        judged = bool(folds) and self._n_judged(known) >= self._n_needed()
        if judged and self._blends(graph, len(known)):
            correction = Blend(about, threads, bool(self.verbose))
        else:
            system = FieldSystem(graph.similarity, degree=int(self.degree), n_threads=threads)
            # The spread of a score needs the scores of several folds.
            enough = ENOUGH if self.scoring is None else np.inf
            correction = Correction(about, system, strengths, enough, bool(self.verbose))
        self.held_out_by_, self.estimator_ = held.how, held.model
        if judged:
            candidate = self._choose(correction, folds, known, targets, weights)
            self.field_ = correction.fit(candidate) if candidate.field else None
        else:
            assert isinstance(correction, Correction)
            candidate, self.field_ = self._unjudged(correction, strengths, len(known))
        self.estimator_weight_ = candidate.estimator_weight
        self._held, self._prior = replace(held, values=held.values[:0]), prior

    def _n_judged(self, known: NDArray[Any]) -> int:
        """Return how many labels can be held out."""
        return len(known)

    def _n_needed(self) -> int:
        """Return how many labels must be held out to judge a field."""
        return FEWEST

    @property
    def _is_free(self) -> bool:
        """Whether the kind of field is open: for classes, if nothing else was asked for."""
        asked = self.Cs is not None or self.epsilons is not None or self.degree != 1
        return is_classifier(self) and not asked

    def _blends(self, graph: NodeGraph, n_labeled: int) -> bool:
        """Return whether fields follow clusters."""
        n = graph.nodes.points.shape[0]
        possible = isinstance(graph.nodes, RowNodes) and n > 2 and can_have_features(n, n_labeled)
        return self._is_free and possible

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

    def _hold_out_with(
        self, X: Any, known: NDArray[Any], weights: Any, folds: Folds, copies: Copies, seed: int
    ) -> HeldOut:
        """Return held-out predictions; an estimator that fails on a fold gets fewer folds."""
        while True:
            try:
                held: HeldOut = self._hold_out(X, known, weights, folds, seed)
                return held
            except FoldError as error:
                fewer: Folds = []
                if self.cv is None or isinstance(self.cv, Integral):
                    splitter = partial(self._splitter, seed=seed)
                    fewer = most_folds(known, len(folds) - 1, splitter, copies)
                if not fewer:
                    raise ValueError(
                        f"The estimator could not be fitted to {len(folds)} folds of the "
                        f"{len(known)} labelled rows: {error.__cause__} Label more rows of every "
                        "class, or pass an estimator that needs fewer."
                    ) from error.__cause__
                folds = fewer

    def _choose(
        self,
        correction: Blend | Correction,
        folds: Folds,
        known: NDArray[Any],
        targets: NDArray[np.float64],
        weights: NDArray[np.float64],
    ) -> Candidate:
        """Return the candidate that does best on held-out labels, and set the results."""
        judged = correction.judge(folds, self._loss(known, targets))
        each = range(len(judged.candidates))
        if self.scoring is None:
            best, ranked = judged.best, judged.losses
            if judged.shown is not None:
                judged.outputs[best] = judged.shown
            scores, _ = self._scores(judged, [None for _ in each], [], known)
            self._scaling = self._scaling_of(judged, best, targets, weights)
        else:
            scalings = [self._scaling_of(judged, place, targets, weights) for place in each]
            scores, spread = self._scores(judged, scalings, folds, known)
            require_scores(scores, self.scoring, "all folds together")
            best, ranked = int(np.argmax(scores)), -scores
            best = best if scores[best] - scores[0] > spread[best] else 0
            self._scaling = scalings[best]
        self._set_results(judged, scores, ranked, best)
        self._hold(judged.outputs[best], judged.rows, known, weights)
        return judged.candidates[best]

    def _scores(
        self, judged: Judged, scalings: list[Scaling | None], folds: Folds, known: NDArray[Any]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        pairs = zip(judged.outputs, scalings, strict=True)
        answers = [self._answers(outputs, scaling) for outputs, scaling in pairs]
        scorer = self.scoring or ("accuracy" if is_classifier(self) else "r2")
        return score_answers(scorer, answers, known[judged.rows], [len(test) for _, test in folds])

    def _scaling_of(
        self,
        judged: Judged,
        place: int,
        targets: NDArray[np.float64],
        weights: NDArray[np.float64],
    ) -> Scaling | None:
        """Return the scaling of a candidate; what another's model says alone stays as it is."""
        if not judged.candidates[place].field and not hasattr(self.estimator_, "shares"):
            return None
        rows = judged.rows
        return self._scaling_to(judged.outputs[place], targets[rows], weights[rows])

    def _unjudged(
        self, correction: Correction, strengths: list[Strength], n_labeled: int
    ) -> tuple[Candidate, Field]:
        """Return what is taken where nothing can be judged, with a warning that says so."""
        given = self.Cs is not None or self.epsilons is not None
        strength = strengths[0] if given else USUAL
        candidate = Candidate(1.0, strength._asdict())
        needed = f"{self._n_needed()}" + " whose class has another one" * is_classifier(self)
        taken = f"has C={strength.C:g} and eps={strength.eps:g}"
        if self._is_free:
            field = correction.flow()
            assert field.strength is not None
            candidate = Candidate(0.0, field.strength._asdict())
            taken = f"flows from the labels with eps={FLOW:g}, and the model is left out"
        else:
            field = correction.fit(candidate)
        if len(strengths) > 1:
            warnings.warn(
                f"{n_labeled} labelled rows are too few to judge a field, which takes {needed}. "
                f"The field {taken}; what the unlabelled rows contribute is not known. Label more "
                "rows, or pass one C in Cs and one eps in epsilons.",
                GraphWarning,
                stacklevel=3,
            )
        self._scaling, none = self._usual_scaling(), np.full(1, np.nan)
        self._hold(None, np.empty(0, np.int64), np.empty(n_labeled), np.ones(n_labeled))
        judged = Judged([candidate], none, 0, [], np.empty(0, np.int64))
        self._set_results(judged, none, none, 0)
        return candidate, field

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
        names = dict.fromkeys(name for each in judged.candidates for name in each.field)
        params = [
            {"estimator_weight": each.estimator_weight} | dict.fromkeys(names, np.nan) | each.field
            for each in judged.candidates
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
        return {
            "estimator": self.estimator_,
            "estimator_weight": self.estimator_weight_,
            "field": self.field_,
            "how": self._held.how,
            "heat": self._held.heat,
            "prior": self._prior,
            "scaling": self._scaling and (self._scaling.slope, self._scaling.offsets),
            "candidates": results["params"],
            "criterion": results["criterion"],
            "scores": results["mean_test_score"],
            "ranks": results["rank_test_score"].astype(np.float64),
            "best": self.best_index_,
            "n_held_out": self.n_held_out_,
        }

    def set_fitted_state(self, state: Mapping[str, Any]) -> None:
        """Set what `fitted_state` returned; the caller has checked it."""
        candidates = [
            Candidate(
                each["estimator_weight"],
                {k: v for k, v in each.items() if k != "estimator_weight" and not np.isnan(v)},
            )
            for each in state["candidates"]
        ]
        none = np.empty(0, np.int64)
        found = Judged(candidates, state["criterion"], state["best"], [], none)
        self._set_results(found, state["scores"], state["ranks"], state["best"])
        self.n_held_out_ = state["n_held_out"]
        self.estimator_, self.field_ = state["estimator"], state["field"]
        self.estimator_weight_ = state["estimator_weight"]
        self._held = HeldOut(self.estimator_, np.empty((0, 0)), state["how"], state["heat"])
        self.held_out_by_ = state["how"]
        self._prior = state["prior"]
        self._scaling = state["scaling"] and Scaling(*state["scaling"])
        self.set_transduced(None)

    # ------------------------------------------------------------------ answers

    def _outputs(self, X: Any) -> NDArray[np.float64]:
        """Return F at every row of X, as columns."""
        check_is_fitted(self, "estimator_")
        blocks = as_blocks(X)
        if blocks is not None:
            return np.concatenate([self._outputs(block.rows) for block in blocks])
        rows = rows_as_numbers(self, X, reset=False)
        given = _as_given(X, rows)
        weight = self.estimator_weight_
        outputs = np.full((rows.shape[0], 1), (1.0 - weight) * self._prior)
        if weight:
            outputs = outputs + weight * self._base(given)
        return outputs if self.field_ is None else outputs + self.field_(rows)

    def labelled(self, X: Any, labeled: NDArray[np.int64], known: NDArray[Any]) -> NDArray[Any]:
        """Return class numbers or targets of all rows of X; those of labelled ones are given."""
        with quiet("X does not have valid feature names"):  # rows from a model file have none
            answers = np.asarray(self.predict(X))  # type: ignore[attr-defined]
        answers[labeled] = known
        return self._numbers(answers)

    def _numbers(self, answers: NDArray[Any]) -> NDArray[Any]:
        """Return labels as class numbers, and targets as they are."""
        return answers

    @property
    def transduction_(self) -> NDArray[Any]:
        """Labels or targets of the training rows; given ones are kept."""
        check_is_fitted(self, "estimator_")
        found = self.transduced()
        if found is None:
            raise AttributeError(
                "transduction_ is not known: the model was fitted with transduce=False, or is a "
                "copy of one whose X was large and has changed. Call predict on the training rows "
                "instead."
            )
        classes: NDArray[Any] | None = getattr(self, "classes_", None)
        return found.copy() if classes is None else classes[found]

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
