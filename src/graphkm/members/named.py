"""A member that knows what labels are called: rows that are like a label's name have that label."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin

from ..judge.held_out import HeldOut, class_shares
from .member import Array, Known, Member, log_shares


class LikeNames(ClassifierMixin, BaseEstimator):
    """Scores rows by how much they are like the names of labels.

    Attributes
    ----------
    lines_ : ndarray of shape (n_names, n_features)
        What a row is multiplied by.
    offsets_ : ndarray of shape (n_names,)
        What is subtracted.
    classes_ : ndarray of shape (n_names,)
        The labels.
    """

    lines_: Array
    offsets_: Array
    classes_: NDArray[Any]

    def fit(self, X: Any, y: NDArray[Any], rows: Any) -> LikeNames:
        """Keep the names X of labels y, in units of the spread of all rows."""
        lines = np.asarray(X, dtype=np.float64)
        lines = lines - lines.mean(axis=0)
        offsets = lines @ np.asarray(rows, dtype=np.float64).mean(axis=0)
        spread = np.sqrt(np.mean(np.square(np.asarray(rows) @ lines.T - offsets))) or 1.0
        self.lines_, self.offsets_, self.classes_ = lines / spread, offsets / spread, y
        self.n_features_in_ = lines.shape[1]
        return self

    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of the labels."""
        return np.asarray(softmax(np.asarray(X) @ self.lines_.T - self.offsets_, axis=1))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label whose name each row is most like."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


def named_member(
    known: Known, X: NDArray[Any], names: NDArray[Any], labels: NDArray[Any]
) -> Member:
    """Return the member of a view whose rows are vectors of texts.

    A row's score for a label is its scalar product with the name's vector, minus the mean of all
    rows, in units of their spread. No label is needed, so every label is one that was held out.

    Parameters
    ----------
    known : Known
        The labelled rows.
    X : ndarray of shape (n, n_features)
        All rows.
    names : ndarray of shape (n_names, n_features)
        The vectors of the names.
    labels : ndarray of shape (n_names,)
        The labels that they name.
    """
    assert known.classes is not None
    model = LikeNames().fit(names, labels, X)
    shares = class_shares(HeldOut(model, np.empty(0), "prior"), known.rows, known.classes)
    return Member(
        "names of labels",
        log_shares(shares),
        model=HeldOut(model, shares, "prior"),
        how="prior",
        rank=1,
        labels_only=False,
    )
