"""A classifier that learns from one class and unlabelled rows."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..estimators.array_kinds import own_names
from ..estimators.classes import winning_class
from ..estimators.data_checks import checked_weights
from ..estimators.given_rows import weights_to_score
from ..semi import SemiSupervisedClassifier
from .answers import check_counts, names_of_classes, positive_rows, truth_of
from .prior import Share, share_of_positives
from .weighing import Scores, weigh

SAMPLE = 2000
"""So many unlabelled rows are weighed, and as many as there are positives if these are more."""

MOST = 0.99
"""If more of the unlabelled rows are positive, nothing can be learnt of the rest."""

_SURE = 1e-9  # probabilities have finite logarithms


class DrawnAtRandomWarning(UserWarning):
    """Says that labelled positives are taken for a random draw of all positives."""


@own_names
class PositiveUnlabeledClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """A classifier that learns from one class and unlabelled rows.

    It assumes that the labelled rows were drawn at random among all positive rows, and every fit
    warns of it. A first model tells labelled rows from unlabelled ones, and its held-out scores say
    how many unlabelled rows are positive. Further models take unlabelled rows as negative ones,
    each with the probability of being negative as its weight (Elkan and Noto, 2008).

    Parameters
    ----------
    estimator : SemiSupervisedClassifier, classifier or None, default=None
        The model of every round. None is ``SemiSupervisedClassifier()``. Another classifier is
        judged by held-out labels, and uses no graph. A given one has its own random_state, n_jobs
        and verbose.
    class_prior : float or None, default=None
        The share of positives among all rows, labelled ones included. If it is a share p among
        the u unlabelled rows that you know, and l rows are labelled, pass (l + p u) / (l + u).
        None estimates it.
    unlabeled : default=-1
        The mark of unlabelled rows in y. NaN, None, NA and empty texts always mark them, too.
    random_state : int, RandomState or None, default=None
        Decides which unlabelled rows are weighed, and all other draws.
    n_jobs : int or None, default=None
        Threads, as in `SemiSupervisedClassifier`.
    verbose : int, default=0
        1 shows progress bars.

    Attributes
    ----------
    class_prior_ : float
        The share of positives among all rows, given or estimated.
    class_prior_interval_ : tuple of (float, float)
        A 95 % interval of it. Both are `class_prior` if that was given.
    positive_ : object
        The name of the positive class.
    estimator_ : SemiSupervisedClassifier
        The model of the last round, for classes 0 (the rest) and 1. `members_` is its table. Its
        probabilities are not yet moved to the share of positives.
    shift_ : float
        What is added to its log odds.
    label_distributions_ : ndarray of shape (n_samples, 2)
        Probabilities of the training rows, held-out ones for the rows that were weighed. Only a
        fit with an affinity has them: others ask `predict_proba`.
    classes_ : ndarray of shape (2,)
        Both classes, sorted. The rest is called 0 (1 if the positive class is 0), False, or
        "not NAME" if the class is a text.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from graphkm import PositiveUnlabeledClassifier
    >>> from graphkm.positive import DrawnAtRandomWarning
    >>> X, truth = make_moons(200, noise=0.1, random_state=0)
    >>> drawn = np.random.default_rng(0).permutation(np.flatnonzero(truth == 1))
    >>> y = np.full(200, -1)
    >>> y[drawn[:30]] = 1  # 30 rows of class 1 are known, and nothing else
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", DrawnAtRandomWarning)
    ...     model = PositiveUnlabeledClassifier(class_prior=0.5, random_state=0).fit(X, y)
    >>> model.score(X, truth) > 0.95
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        class_prior: float | None = None,
        unlabeled: Any = -1,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.class_prior = class_prior
        self.unlabeled = unlabeled
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    # ------------------------------------------------------------------ the fit

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        affinity: Any = None,
        ids: Any = None,
    ) -> Self:
        """Learn from positive and unlabelled rows.

        Parameters
        ----------
        X : array, frame, CSR matrix, texts or dict of views
            All rows, as `SemiSupervisedClassifier` takes them; no blocks.
        y : array-like of shape (n_samples,)
            The positive class, or the mark of unlabelled rows.
        sample_weight : array-like of shape (n_samples,), optional
            How much rows count in the fits; only ratios matter. `class_prior` counts rows. A
            positive label of weight 0 is not used, and its row is unlabelled.
        affinity, ids : optional
            As in `SemiSupervisedClassifier.fit`.

        Returns
        -------
        self
        """
        model = self._model()
        labeled, self.positive_ = positive_rows(y, self.unlabeled)
        weights = checked_weights(sample_weight, labeled[:, None])
        labeled &= weights > 0
        check_counts(int(labeled.sum()), int((~labeled & (weights > 0)).sum()))
        given = self._given_share(labeled)
        warnings.warn(_ASSUMED, DrawnAtRandomWarning, stacklevel=2)
        rng = check_random_state(self.random_state)
        if model.random_state is None:
            model.set_params(random_state=int(rng.randint(2**31 - 1)))
        draws = np.random.default_rng(int(rng.randint(2**31 - 1)))
        places = np.flatnonzero(labeled)
        sample = _drawn(np.flatnonzero(~labeled & (weights > 0)), len(places), draws)
        edges = {} if affinity is None and ids is None else {"affinity": affinity, "ids": ids}

        def fit(shares: NDArray[np.float64], prior: float) -> Scores:
            return _fit(model, X, (places, sample), weights, shares, prior, edges)

        first = fit(np.ones(len(sample)), 0.5)
        share = given or share_of_positives(first.positives, first.unlabeled, draws)
        self._keep_share(share, labeled)
        found = weigh(first, share.value, lambda shares: fit(shares, share.value))
        self.estimator_, self.shift_ = model, found.shift
        self.classes_ = names_of_classes(self.positive_)
        self._keep_answers(sample, found.probabilities)
        return self

    def _model(self) -> SemiSupervisedClassifier:
        """Return the model of every round, for labels 0 and 1."""
        given = self.estimator
        if isinstance(given, SemiSupervisedClassifier):
            for name in ("class_sizes", "label_names"):
                if isinstance(getattr(given, name), Mapping):
                    raise ValueError(
                        f"{name} of the estimator names classes, and only one class has a name "
                        "here; leave it out, and pass class_prior for the share of positives."
                    )
            model = clone(given)
        else:
            about = {"n_jobs": self.n_jobs, "verbose": self.verbose}
            graph = "auto" if given is None else None
            own = "auto" if given is None else clone(given)
            model = SemiSupervisedClassifier(own, graph=graph, **about)
        own_names = {"class_sizes": None, "label_names": None, "unlabeled": -1}
        model.set_params(**own_names, targets="classes")
        return model

    def _given_share(self, labeled: NDArray[np.bool_]) -> Share | None:
        """Check `class_prior`, and return the share among unlabelled rows; None to estimate it."""
        prior, n, known = self.class_prior, len(labeled), int(labeled.sum())
        if prior is None:
            return None
        number = isinstance(prior, Real) and not isinstance(prior, bool)
        if not (number and 0.0 < prior < 1.0):
            raise ValueError(
                f"class_prior must be a share of all rows, above 0 and below 1; got {prior!r}."
            )
        share = (prior * n - known) / (n - known)
        if not 0.0 < share <= MOST:
            most = (known + MOST * (n - known)) / n
            raise ValueError(
                f"class_prior={prior!r} of {n} rows are {prior * n:.4g} positives, but {known} "
                "rows are labelled positive. class_prior is the share among all rows, labelled "
                f"ones included; here it must be above {known / n:.4g}, and {most:.4g} at most."
            )
        return Share(share, share, share)

    def _keep_share(self, share: Share, labeled: NDArray[np.bool_]) -> None:
        """Keep the share among all rows."""
        if not 0.0 < share.value <= MOST:
            raise ValueError(
                "The unlabelled rows look like the positive ones, so their share of positives "
                "cannot be estimated. Pass class_prior, or rows that tell them apart."
                if share.value > MOST
                else "No unlabelled row looks like the positive ones. Pass class_prior."
            )
        known = labeled.mean()
        all_rows = [float(known + (1.0 - known) * each) for each in share]
        self.class_prior_, *ends = all_rows
        self.class_prior_interval_ = (ends[0], ends[1])

    def _keep_answers(self, sample: NDArray[np.int64], found: NDArray[np.float64]) -> None:
        """Keep what the model says of its own rows, if only the fit has their edges."""
        self.__dict__.pop("label_distributions_", None)  # of an earlier fit
        said = getattr(self.estimator_, "label_distributions_", None)
        if said is None:
            return
        positive = self._moved(said)
        positive[sample] = found
        self.label_distributions_ = self._columns(positive)

    # ------------------------------------------------------------------ answers

    def _moved(self, said: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability of the positive class."""
        return np.asarray(expit(_log_odds(said) + self.shift_))

    def _columns(self, positive: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probabilities in the order of the classes."""
        columns = np.column_stack([1.0 - positive, positive])
        return columns[:, ::-1] if self.classes_[0] == self.positive_ else columns

    def predict_proba(self, X: Any, affinity: Any = None, ids: Any = None) -> NDArray[np.float64]:
        """Return probabilities of both classes, of shape (n, 2); parameters as of predict."""
        check_is_fitted(self, "estimator_")
        return self._columns(self._moved(self.estimator_.predict_proba(X, affinity, ids)))

    def decision_function(
        self, X: Any, affinity: Any = None, ids: Any = None
    ) -> NDArray[np.float64]:
        """Return the log odds of the second class of `classes_`; parameters as of predict."""
        check_is_fitted(self, "estimator_")
        odds = _log_odds(self.estimator_.predict_proba(X, affinity, ids)) + self.shift_
        return -odds if self.classes_[0] == self.positive_ else odds

    def predict(self, X: Any, affinity: Any = None, ids: Any = None) -> NDArray[Any]:
        """Return the class of every row of X.

        Parameters
        ----------
        X : array, frame, CSR matrix, texts or dict of views
            The rows.
        affinity, ids : optional
            As in `SemiSupervisedClassifier.predict`.
        """
        return np.asarray(self.classes_[winning_class(self.predict_proba(X, affinity, ids))])

    def score(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        affinity: Any = None,
        ids: Any = None,
    ) -> float:
        """Return the accuracy. Every class of y but the positive one is the rest.

        Unlabelled rows do not count.
        """
        found = self.predict(X, affinity, ids) == self.positive_
        rest = self.classes_[self.classes_ != self.positive_].tolist()[0]
        truth = truth_of(y, self.unlabeled, self.positive_, rest)
        known = ~np.isnan(truth)
        weights = weights_to_score(truth, known, sample_weight)
        return float(np.average(found[known] == truth[known], weights=weights))

    @property
    def members_(self) -> Any:
        """The table of the last model's members."""
        return self.estimator_.members_

    @property
    def n_features_in_(self) -> int:
        """The number of columns."""
        return int(self.estimator_.n_features_in_)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The names of the columns of a frame."""
        return np.asarray(self.estimator_.feature_names_in_)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse rows are fine."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


_ASSUMED = (
    "PositiveUnlabeledClassifier assumes that the labelled rows were drawn at random among all "
    "positive rows. If some kinds of them are labelled more often than others, positives of the "
    "other kinds are taken for negative rows."
)


def _drawn(
    rows: NDArray[np.int64], n_positive: int, draws: np.random.Generator
) -> NDArray[np.int64]:
    """Return the unlabelled rows that are weighed."""
    most = max(SAMPLE, n_positive)
    return rows if len(rows) <= most else np.sort(draws.choice(rows, most, replace=False))


def _fit(
    model: SemiSupervisedClassifier,
    X: Any,
    rows: tuple[NDArray[np.int64], NDArray[np.int64]],
    weights: NDArray[np.float64],
    shares: NDArray[np.float64],
    prior: float,
    edges: dict[str, Any],
) -> Scores:
    """Fit the model to positive rows, and to unlabelled ones as negative rows with weights.

    Parameters
    ----------
    model, X, edges
        The model, all rows, and what else it gets.
    rows : tuple of ndarray
        The positive rows, and the unlabelled ones.
    weights : ndarray
        Weights of all rows, as they were given.
    shares : ndarray
        How likely each of the unlabelled ones is negative.
    prior : float
        The share of positives that the weights are to have.
    """
    places, sample = rows
    y, own = np.full(len(weights), -1), weights.copy()
    y[places], y[sample] = 1, 0
    own[sample] *= shares
    own[places] *= prior / (1.0 - prior) * own[sample].sum() / own[places].sum()
    model.fit(X, y, sample_weight=own, **edges)
    if not hasattr(model, "held_out_"):
        raise ValueError(
            "The rows have too few different values to hold some of them out, so nothing tells "
            "positives from the rest."
        )
    log_odds = np.full(len(weights), np.nan)
    log_odds[model.labeled_] = _log_odds(model.held_out_)
    return Scores(log_odds[places], log_odds[sample])


def _log_odds(said: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log odds of class 1; they are finite."""
    return np.asarray(logit(np.clip(said[:, 1], _SURE, 1.0 - _SURE)))
