"""Answers and rows together: a classifier and its annotators learn from each other."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils.validation import check_is_fitted

from .._util.parameters import check_count
from ..graphs.given_edges import Ids
from ..graphs.row_ids import without_ids
from ..semi import SemiSupervisedClassifier
from .answers import COLUMNS, Answers, places_in, read_answers
from .dawid_skene import Answered, checked_prior
from .posterior import Posterior, posterior
from .shares import SharesOfRows, training_shares

STILL = 0.01
"""Reliabilities that change by less than this in a round are settled."""


class AnnotatedClassifier(MetaEstimatorMixin, ClassifierMixin, Answered):
    """A classifier that learns from answers of several people, and says who is reliable.

    Answers become shares of classes (`DawidSkene`), and the classifier is fitted to the shares.
    What it says of each row without having seen the row's answers becomes the prior of the row's
    class, and shares follow from answers and prior anew. This goes on for a few rounds. So one
    answer a row is enough to learn who is reliable: who contradicts the model more often than
    others is less often right.

    Parameters
    ----------
    estimator : SemiSupervisedClassifier or None, default=None
        What learns from the shares; None is ``SemiSupervisedClassifier()``. Models of your own go
        into it: ``SemiSupervisedClassifier(RandomForestClassifier())``.
    columns : tuple of three str, default=("row", "annotator", "answer")
        The names of the columns of a frame of answers, in this order.
    max_rounds : int, default=3
        How often the classifier is fitted at most. Rounds end when reliabilities are settled.

    Attributes
    ----------
    estimator_ : SemiSupervisedClassifier
        The classifier of the last round.
    reliability_ : AnnotatorTable
        For each annotator the number of answers, the probability that an answer is right, its
        standard error, and the agreement with others; it prints as a table.
    confusion_ : ndarray of shape (n_annotators, n_classes, n_classes)
        The probability of each answer (last axis) to rows of each class, in the order of
        `annotators_`.
    shares_ : ndarray of shape (n_rows, n_classes)
        The probability of every class of every row with answers, in the order of `rows_`.
    weights_ : ndarray of shape (n_rows,)
        What the answers tell about every row, from 0 (nothing) to 1 (all), whatever the prior.
    rows_, annotators_, classes_ : ndarray
        The rows with answers, who answered and what was answered, sorted.
    power_ : float
        The power of the model's probabilities under which the answers are likeliest. It is above
        1 if the model is less sure than it could be, and below 1 if it is too sure.
    n_rounds_ : int
        How often the classifier was fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from graphkm.annotators import AnnotatedClassifier
    >>> from graphkm import SemiSupervisedClassifier
    >>> X, truth = make_moons(400, noise=0.1, random_state=0)
    >>> rng = np.random.default_rng(0)
    >>> rows, who = np.arange(150), np.array(["eva", "tom", "uwe"])[np.arange(150) % 3]
    >>> right = np.array([0.95, 0.8, 0.6])[np.arange(150) % 3]  # one answer a row
    >>> said = np.where(rng.random(150) < right, truth[rows], 1 - truth[rows])
    >>> model = AnnotatedClassifier(SemiSupervisedClassifier(None, random_state=0))
    >>> model = model.fit(X, (rows, who, said))
    >>> print(f"{model.score(X, truth):.2f}")
    0.99
    >>> [each.name for each in model.reliability_]
    ['eva', 'tom', 'uwe']
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        columns: tuple[str, str, str] = COLUMNS,
        max_rounds: int = 3,
    ) -> None:
        self.estimator = estimator
        self.columns = columns
        self.max_rounds = max_rounds

    def fit(self, X: Any, answers: Any, *, affinity: Any = None, ids: Any = None) -> Self:
        """Learn from answers to some rows, and from all rows.

        Parameters
        ----------
        X : array, frame, CSR matrix, list of texts or dict of views
            All rows, as `SemiSupervisedClassifier` takes them. Rows without answers are unlabelled.
        answers : frame, mapping, or tuple of three arrays
            One line for each answer: row, annotator, answer. All lines count. Rows are called by
            their ids, or by their numbers in X, from 0.
        affinity : matrix, edges, graph, or list or dict of them, optional
            Graphs of the rows, as `SemiSupervisedClassifier` takes them.
        ids : array-like of shape (n_samples,) or str, optional
            What answers (and edges) call the rows: one id each, or the name of a column of X, which
            is then no feature. By default it is the index of a frame, or the numbers of the rows.

        Returns
        -------
        self
        """
        check_count("max_rounds", self.max_rounds)
        read = read_answers(answers, self.columns)
        model = _asked(self.estimator, read.classes)
        X, names = without_ids(X, ids)
        n = _n_rows(X, names, affinity)
        places = places_in(read, Ids(n, names))
        edges = {} if affinity is None else {"affinity": affinity, "ids": names}
        found = posterior(read)
        for turn in range(self.max_rounds):
            y = SharesOfRows.of(training_shares(found), places, n, read.classes)
            self.estimator_, self.n_rounds_ = clone(model).fit(X, y, **edges), turn + 1
            before, found = found, _with_model(read, self.estimator_, places, found)
            if np.abs(found.matrices.right - before.matrices.right).max() < STILL:
                break
        self._keep(read, found)
        return self

    def predict(self, X: Any, affinity: Any = None, ids: Any = None) -> NDArray[Any]:
        """Return the class of every row; parameters as of `SemiSupervisedClassifier.predict`."""
        check_is_fitted(self, "estimator_")
        return np.asarray(self.estimator_.predict(X, affinity, ids))

    def predict_proba(self, X: Any, affinity: Any = None, ids: Any = None) -> NDArray[np.float64]:
        """Return the classes' probabilities, of shape (n, n_classes); parameters as of predict."""
        check_is_fitted(self, "estimator_")
        return np.asarray(self.estimator_.predict_proba(X, affinity, ids))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on the labelled rows of (X, y)."""
        check_is_fitted(self, "estimator_")
        return float(self.estimator_.score(X, y, sample_weight))


def _asked(estimator: Any, classes: NDArray[Any]) -> Any:
    """Return what is fitted to shares; an answer is a class, even if it is the usual marker."""
    model = SemiSupervisedClassifier() if estimator is None else estimator
    if "targets" not in getattr(model, "get_params", dict)():
        raise TypeError(
            f"{type(model).__name__} cannot learn from shares of classes; pass it inside, as "
            "SemiSupervisedClassifier(estimator=...)."
        )
    model = clone(model).set_params(targets="shares")
    marker = model.get_params().get("unlabeled")
    return model.set_params(unlabeled=None) if marker in classes.tolist() else model


def _n_rows(X: Any, names: Any, affinity: Any) -> int:
    """Return how many rows there are."""
    if X is None and names is None:
        shape = np.shape(affinity)
        if len(shape) != 2 or shape[0] != shape[1]:
            raise ValueError("X is None, so ids must name the rows; pass one id for each row.")
        return int(shape[0])
    if names is not None:
        return len(names)
    some = next(iter(X.values())) if isinstance(X, dict) else X
    return int(some.shape[0]) if hasattr(some, "shape") else len(some)


def _with_model(
    answers: Answers, model: Any, places: NDArray[np.int64], found: Posterior
) -> Posterior:
    """Return shares from answers and from what the model says of rows without their answers."""
    held = getattr(model, "held_out_", None)
    if held is None:  # labels are too few to hold any out
        return found
    at = np.searchsorted(model.labeled_, places)
    return posterior(answers, checked_prior(held[at], answers))
