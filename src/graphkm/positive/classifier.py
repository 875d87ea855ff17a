"""A classifier that learns from one class and unlabelled rows."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..estimators.array_kinds import own_names
from ..estimators.classes import winning_class
from ..estimators.data_checks import checked_weights
from ..estimators.given_rows import weights_to_score
from .answers import check_counts, check_lengths, names_of_classes, positive_rows, truth_of
from .fitting import drawn_rows, fit_round, front_door, log_odds_of
from .prior import Share, share_of_positives
from .weighing import Scores, Weighed, weigh

MOST = 0.99
"""If more of the unlabelled rows are positive, nothing can be learnt of the rest."""


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
    >>> from graphkm import KernelRidgeClassifierCV, PositiveUnlabeledClassifier
    >>> from graphkm.positive import DrawnAtRandomWarning
    >>> X, truth = make_moons(300, noise=0.1, random_state=0)
    >>> drawn = np.random.default_rng(0).permutation(np.flatnonzero(truth == 1))
    >>> y = np.full(300, -1)
    >>> y[drawn[:50]] = 1  # 50 rows of class 1 are known, and nothing else
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", DrawnAtRandomWarning)
    ...     model = PositiveUnlabeledClassifier(KernelRidgeClassifierCV(), random_state=0)
    ...     model = model.fit(X, y)
    >>> model.score(X, truth) > 0.9
    True
    >>> low, high = model.class_prior_interval_
    >>> low < 0.5 < high
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
        model = front_door(self.estimator, self.n_jobs, self.verbose)
        labeled, self.positive_ = positive_rows(y, self.unlabeled)
        check_lengths(X, labeled)
        weights = checked_weights(sample_weight, labeled[:, None])
        labeled &= weights > 0
        check_counts(int(labeled.sum()), int((~labeled & (weights > 0)).sum()))
        given = self._given_share(labeled)
        warnings.warn(_ASSUMED, DrawnAtRandomWarning, stacklevel=3)  # of `own_names`, too
        rng = check_random_state(self.random_state)
        if model.random_state is None:
            model.set_params(random_state=int(rng.randint(2**31 - 1)))
        draws = np.random.default_rng(int(rng.randint(2**31 - 1)))
        places = np.flatnonzero(labeled)
        sample = drawn_rows(np.flatnonzero(~labeled & (weights > 0)), len(places), draws)
        edges = {} if affinity is None and ids is None else {"affinity": affinity, "ids": ids}

        def fit(shares: NDArray[np.float64], prior: float) -> Scores:
            return fit_round(model, X, (places, sample), weights, shares, prior, edges)

        first = fit(np.ones(len(sample)), 0.5)
        share = given or share_of_positives(first.positives, first.unlabeled, draws)
        self._keep_share(share, labeled)
        found = weigh(first, share.value, lambda shares: fit(shares, share.value))
        self.estimator_, self.classes_ = model, names_of_classes(self.positive_)
        self._keep_answers(sample, found)
        # Labelled rows were taken from the unlabelled ones, but not from new rows.
        self.shift_ = found.shift + float(logit(self.class_prior_) - logit(share.value))
        return self

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

    def _keep_answers(self, sample: NDArray[np.int64], found: Weighed) -> None:
        """Keep what the model says of its own rows, if only the fit has their edges."""
        self.__dict__.pop("label_distributions_", None)  # of an earlier fit
        said = getattr(self.estimator_, "label_distributions_", None)
        if said is None:
            return
        positive = expit(log_odds_of(said) + found.shift)
        positive[sample] = found.probabilities
        self.label_distributions_ = self._columns(positive)

    # ------------------------------------------------------------------ answers

    def _log_odds(self, X: Any, affinity: Any, ids: Any) -> NDArray[np.float64]:
        """Return the log odds of the positive class."""
        check_is_fitted(self, "estimator_")
        return log_odds_of(self.estimator_.predict_proba(X, affinity, ids)) + self.shift_

    def _columns(self, positive: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probabilities in the order of the classes."""
        columns = np.column_stack([1.0 - positive, positive])
        return columns[:, ::-1] if self.classes_[0] == self.positive_ else columns

    def predict_proba(self, X: Any, affinity: Any = None, ids: Any = None) -> NDArray[np.float64]:
        """Return probabilities of both classes, of shape (n, 2); parameters as of predict."""
        return self._columns(expit(self._log_odds(X, affinity, ids)))

    def decision_function(
        self, X: Any, affinity: Any = None, ids: Any = None
    ) -> NDArray[np.float64]:
        """Return the log odds of the second class of `classes_`; parameters as of predict."""
        odds = self._log_odds(X, affinity, ids)
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
        found = self.predict_proba(X, affinity, ids)
        return np.asarray(self.classes_[winning_class(found)])

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
