"""Rows in the order of their worth: how unsure a model is of them, and what they cover."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier
from sklearn.utils import check_consistent_length

from .._util.parameters import check_choice, check_count
from ..estimators.labels import as_label_array, labeled_mask
from ..judge.held_out import take_rows
from ..semi.label_tables import is_table, table_of
from ..semi.views import Views, see
from .cover import Cover
from .novel import held_classes, novelty_on
from .seen import main_view

_LEAST = 1e-3  # the least uncertainty of a row: the model is sure of it

UNSURE = 2
"""The power of the uncertainty in its product with the cover."""

STRATEGIES = ("uncertainty", "novelty", "relevant")


def suggest(
    model: Any,
    X: Any,
    n: int = 10,
    *,
    y: ArrayLike | None = None,
    unlabeled: Any = "model",
    strategy: str = "uncertainty",
    relevant: Any = None,
    cover: Cover | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> NDArray[np.int64]:
    """Return the rows of X to label next, the most useful first.

    A row is useful if the model is unsure of it (`uncertainty`) and no labelled row, nor one
    suggested before it, covers it on the graph (`Cover`). Rows are in the order of the product of
    both, the uncertainty squared. So the rows of a batch differ from each other.

    Parameters
    ----------
    model : fitted classifier or regressor, or None
        Any classifier with `predict_proba` or `decision_function`, a pipeline, or any regressor.
        None is a cold start: rows that cover the graph, before any label is known.
    X : array, frame or CSR matrix of shape (n_samples, n_features), or what the model takes
        The rows to choose from, labelled ones among them. For a model with several views it may be
        a list of texts or a dict of views; the view that counts most has the graph.
    n : int, default=10
        How many; fewer come back if fewer are left.
    y : array-like of shape (n_samples,) or (n_samples, n_labels), optional
        The labels known so far, as for `fit`. Their rows are not suggested again, and rows near
        them are less useful. None: no row of X has a label. Where a row may have several labels, it
        can be suggested until all are known, and the labels that are known do not count.
    unlabeled : default="model"
        The mark of unlabelled rows in y; "model" takes the model's own parameter, else -1 for
        classes and None for targets. NaN, None and NA always count as unlabelled.
    strategy : {"uncertainty", "novelty", "relevant"}, default="uncertainty"
        "novelty" brings rows that seem to belong to no known class
        (`graphkm.inspection.novelty`): -log(1 - novelty) takes the place of the uncertainty. The
        model must be a `SemiSupervisedClassifier` with one class per row, and X the rows of its
        fit. "relevant" brings the rows that most probably belong to the class `relevant`, whatever
        is known of others: `recall_so_far` says when enough of them are found.
    relevant : class, optional
        The class to look for.
    cover : Cover, optional
        ``Cover(X)``, made before: saves the graph where labels come in many rounds.
    random_state : int, RandomState or None, default=0
        Draws the sample and the anchors of the cover.
    n_jobs : int or None, default=None
        Threads of the neighbour search.

    Returns
    -------
    ndarray of int64
        Row numbers.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from graphkm import SemiSupervisedClassifier
    >>> from graphkm.active import suggest
    >>> X, truth = make_moons(300, noise=0.1, random_state=0)
    >>> y = np.full(300, -1)
    >>> first = suggest(None, X, 8)
    >>> y[first] = truth[first]
    >>> model = SemiSupervisedClassifier(random_state=0).fit(X, y)
    >>> more = suggest(model, X, 5, y=y)
    >>> len(more), len(np.intersect1d(first, more))
    (5, 0)
    """
    check_count("n", n)
    check_choice("strategy", strategy, STRATEGIES)
    X = _encoded(model, X)
    told = np.zeros((np.shape(X)[0], 1), dtype=bool)
    if y is not None:
        told = _told(y, _marker(model, unlabeled), getattr(model, "classes_", None))
        check_consistent_length(X, told)
    known = np.flatnonzero(told.all(axis=1))
    if strategy == "relevant":
        free = np.setdiff1d(np.arange(np.shape(X)[0]), known)
        chances = _chances(model, take_rows(X, free), relevant) if len(free) else free
        return free[np.argsort(-chances, kind="stable")][:n]
    if cover is None:
        cover = Cover(_transformed(model, X), random_state=random_state, n_jobs=n_jobs)
    seen = X if len(cover.rows) == np.shape(X)[0] else take_rows(X, cover.rows)
    interest = np.full(np.shape(X)[0], _LEAST)  # of rows beyond the sample
    if strategy == "novelty":
        interest[cover.rows] = _oddness(model, cover, seen)
        return cover.choose(n, known, interest**UNSURE)
    if model is None or not is_classifier(model):
        return cover.choose(n, known)
    unsure = _by_label(model, seen)
    if unsure is None:
        interest[cover.rows] = uncertainty(model, seen)
    else:
        interest[cover.rows] = np.maximum((unsure * ~told[cover.rows]).mean(axis=1), _LEAST)
    return cover.choose(n, known, interest**UNSURE)


def _oddness(model: Any, cover: Cover, X: Any) -> NDArray[np.float64]:
    """Return how odd rows look beside all known classes, at least nearly 0."""
    held = held_classes(model[-1] if hasattr(model, "steps") else model)
    found = novelty_on(cover, held, model.predict_proba(X), _transformed(model, X))
    return np.maximum(-np.log1p(-np.minimum(found, 1.0 - np.finfo(np.float64).eps)), _LEAST)


def _chances(model: Any, X: Any, relevant: Any) -> NDArray[np.float64]:
    """Return the probability of a class, or of one of several labels, at every row."""
    classes = list(getattr(model, "classes_", ()))
    if relevant not in classes:
        raise ValueError(
            f"relevant={relevant!r} is no class of the model; its classes are "
            f"{', '.join(map(repr, classes)) or 'not known'}. Fit a classifier that knows it."
        )
    return np.asarray(model.predict_proba(X))[:, classes.index(relevant)]


def uncertainty(model: Any, X: Any) -> NDArray[np.float64]:
    """Return how unsure a model is of every row, from nearly 0 to 1.

    For classes it is 1 - (p - q), where p and q are the largest and the second largest probability.
    A classifier without probabilities has margins instead, and exp(-margin / mean margin) takes
    their place. Where a row may have several labels, it is the mean of 1 - |2 p - 1| over them. A
    regressor does not say how sure it is: all rows have 1.

    Parameters
    ----------
    model : fitted classifier or regressor
        As in `suggest`.
    X : array, frame or CSR matrix of shape (n_samples, n_features)
        Rows.

    Returns
    -------
    ndarray of shape (n_samples,)

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = np.array([[-3.0], [0.0], [1.0], [3.0]])
    >>> model = LogisticRegression().fit(X, [0, 0, 1, 1])
    >>> uncertainty(model, X).argsort()
    array([0, 3, 2, 1])
    """
    if not is_classifier(model):
        return np.ones(np.shape(X)[0])
    unsure = _by_label(model, X)
    if unsure is not None:
        return np.maximum(unsure.mean(axis=1), _LEAST)
    if hasattr(model, "predict_proba"):
        return np.maximum(1.0 - _margins(model.predict_proba(X)), _LEAST)
    if not hasattr(model, "decision_function"):
        raise TypeError(
            f"{type(model).__name__} has neither predict_proba nor decision_function, so it does "
            "not say how sure it is. Pass a classifier with one of them, or None for a choice "
            "that covers the rows."
        )
    margins = _margins(model.decision_function(X))
    usual = margins.mean() or 1.0
    return np.maximum(np.exp(-margins / usual), _LEAST)


def _told(y: Any, marker: Any, names: Any) -> NDArray[np.bool_]:
    """Return which labels are known: one column, or one for each of several labels."""
    if is_table(y):
        return np.asarray(~np.isnan(table_of(y, marker, names).values))
    return labeled_mask(as_label_array(y), marker)[:, None]


def _by_label(model: Any, X: Any) -> NDArray[np.float64] | None:
    """Return how unsure a model is of each of several labels; None if a row has one class."""
    if not (hasattr(model, "predict_proba") and _has_several(model)):
        return None
    said = model.predict_proba(X)
    if isinstance(said, list):  # models of scikit-learn that predict each label by itself
        said = np.column_stack([each[:, -1] for each in said])
    return np.asarray(1.0 - np.abs(2.0 * np.asarray(said, dtype=np.float64) - 1.0))


def _has_several(model: Any) -> bool:
    """Return whether a row may have several labels: models say it in different ways."""
    last = model[-1] if hasattr(model, "steps") else model
    if hasattr(last, "mixture_"):
        return bool(last.mixture_.kind == "labels")
    return isinstance(getattr(last, "classes_", None), list) or getattr(last, "multilabel_", False)


def _margins(scores: Any) -> NDArray[np.float64]:
    """Return how far the best class is ahead of the second."""
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim == 1 or values.shape[1] == 1:
        return np.abs(values).ravel()
    best = np.partition(values, -2, axis=1)[:, -2:]
    return np.asarray(best[:, 1] - best[:, 0])


def _marker(model: Any, unlabeled: Any) -> Any:
    """Return the mark of unlabelled rows."""
    if not (isinstance(unlabeled, str) and unlabeled == "model"):
        return unlabeled
    last = model[-1] if hasattr(model, "steps") else model
    usual = -1 if model is None or is_classifier(model) else None
    return getattr(last, "unlabeled", usual)


def _encoded(model: Any, X: Any) -> Any:
    """Return the rows in the views that a model sees, so that they are encoded once."""
    views = getattr(model, "views_", None)
    return X if views is None else see(views, X, model.mixture_.views)


def _transformed(model: Any, X: Any) -> Any:
    """Return the rows as the last step of a pipeline sees them: in comparable units."""
    if isinstance(X, Views):
        return X[main_view(model.mixture_)]
    return model[:-1].transform(X) if hasattr(model, "steps") and len(model.steps) > 1 else X
