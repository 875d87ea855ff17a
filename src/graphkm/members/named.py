"""A member that knows what labels are called: rows that are like a label's name have that label."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..judge.held_out import HeldOut, class_shares
from .member import Known, Member, log_shares


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
    from sklearn.linear_model import LogisticRegression

    lines = np.asarray(names, dtype=np.float64)
    lines = lines - lines.mean(axis=0)
    offsets = lines @ np.asarray(X, dtype=np.float64).mean(axis=0)
    spread = np.sqrt(np.mean(np.square(np.asarray(X) @ lines.T - offsets))) or 1.0
    model = LogisticRegression()
    if len(labels) == 2:  # scikit-learn keeps one line for two classes
        lines, offsets = lines[1:] - lines[:1], offsets[1:] - offsets[:1]
    model.coef_, model.intercept_ = lines / spread, -offsets / spread
    model.classes_, model.n_features_in_ = labels, lines.shape[1]
    held = HeldOut(model, np.empty(0), "prior")
    assert known.classes is not None
    shares = class_shares(held, known.rows, known.classes)
    held = HeldOut(model, shares, "prior")
    return Member(
        "names of labels",
        log_shares(shares),
        model=held,
        how="prior",
        rank=1,
        labels_only=False,
    )
