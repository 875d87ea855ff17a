r"""Rows that belong to no known class.

Two things speak for such a row x. Labels say little about it along the graph: with a field on the
graph of all rows (`graphkm.active.cover`), labels leave the share u(x) of its variance. And the
mixture is unsure of it: its largest probability is p(x). The log odds of both are added,

.. math::

    s(x) = \log \frac{u(x)}{1 - u(x)} + \log \frac{1 - p(x)}{p(x)} .

Labelled rows belong to known classes. Each of them has the same sum without its own label: u
follows from the inverse of a matrix of all labelled rows, and p is held out. The novelty of a row
is the share of labelled rows that look less odd than it, with a smooth step for each of them
(Silverman's width). So among rows of known classes one in ten has a novelty above 0.9, as far as
labelled rows were drawn at random.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from scipy.stats import norm

from ..graphs import RowNodes
from ..semi.held import Held, held_of
from .cover import Cover
from .seen import main_mixture, seen_rows

Array = NDArray[np.float64]

_SURE = 1e-6  # odds of more are rounding errors
_TOGETHER = 1000  # rows that are compared with all labelled ones at once


def novelty(
    model: Any, X: Any, *, rows: Any = None, affinity: Any = None, ids: Any = None
) -> Array:
    """Return how odd rows are beside all known classes, from 0 to 1.

    It is the share of labelled rows, each held out, that look less odd than the row: labels reach
    them better along the graph of all rows, and the model is surer of them. So if labelled rows
    were drawn at random, about a tenth of the rows of known classes have more than 0.9. Where rows
    have more than that, some of them belong to no known class.

    A class of which no row was among those of the fit is found as well, if its rows lie apart from
    others. Rows between two known classes have a large value, too.

    Parameters
    ----------
    model : SemiSupervisedClassifier
        A fitted model with one class per row, or one that was read from a file.
    X : array, frame, CSR matrix, texts or dict of views
        Rows, as for `predict`: those of the fit, or others.
    rows : like X, optional
        The rows of the fit, all of them and in their order. By default they are taken from the
        model, which has them if each is a node of its graph: up to 20,000 rows without copies.
    affinity, ids
        As for `predict`: edges from the rows of X to those of the fit.

    Returns
    -------
    ndarray of shape (n_samples,)

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from graphkm import SemiSupervisedClassifier
    >>> from graphkm.inspection import novelty
    >>> X, y = make_blobs(200, centers=4, cluster_std=0.5, random_state=0)
    >>> known = np.where((y < 3) & (np.arange(200) < 80), y, -1)  # no label of the fourth class
    >>> model = SemiSupervisedClassifier(random_state=0).fit(X, known)
    >>> found = novelty(model, X)
    >>> bool(found[y == 3].min() > 0.9), bool(np.median(found[y < 3]) < 0.5)
    (True, True)
    """
    held = held_classes(model)
    if X is None:
        raise ValueError("novelty measures distances between rows, and X is None; pass rows.")
    cover = Cover(_kept_rows(model) if rows is None else seen_rows(model, rows))
    edges = {} if affinity is None else {"affinity": affinity, "ids": ids}
    return novelty_on(cover, held, model.predict_proba(X, **edges), seen_rows(model, X))


def held_classes(model: Any) -> Held:
    """Return what is known of a model's labelled rows; raise if they have no classes."""
    held = held_of(model)
    if held.kind != "classes":
        raise ValueError(
            "novelty is for rows of one class each: a row may lack all of several labels, and any "
            f"quantity is possible. The model predicts {held.kind}."
        )
    known = ~np.isnan(held.said).any(axis=1)  # folds of a person's own may leave rows in
    return Held(
        held.rows[known], held.said[known], held.told[known], held.weights[known], held.kind
    )


def novelty_on(cover: Cover, held: Held, said: Array, X: Any) -> Array:
    """Return the novelty of rows beside the rows of a cover.

    Parameters
    ----------
    cover : Cover
        The graph of the rows of the fit.
    held : Held
        Its labelled rows.
    said : ndarray of shape (n, n_classes)
        The probabilities of the rows.
    X : ndarray or CSR matrix of shape (n, n_features)
        The rows, as the graph sees them.
    """
    if len(held.rows) and held.rows.max() >= cover.n_rows:
        raise ValueError(
            f"{cover.n_rows} rows were passed, and row {held.rows.max()} of the fit has a label; "
            "pass the rows of the fit, all of them and in their order."
        )
    usual = _odds(cover.unexplained_by_others(held.rows), held.said)
    return smooth_rank(_odds(cover.unexplained(held.rows, X), said), usual)


def smooth_rank(values: Array, among: Array) -> Array:
    """Return the share of some values that are smaller, where each is a smooth step.

    Examples
    --------
    >>> smooth_rank(np.array([-9.0, 2.0, 9.0]), np.array([1.0, 2.0, 3.0])).round(2)
    array([0. , 0.5, 1. ])
    """
    middle = np.subtract(*np.percentile(among, [75, 25])) / 1.34
    spreads = [each for each in (float(among.std()), float(middle)) if each > 0]
    width = 0.9 * min(spreads, default=1.0) * len(among) ** -0.2
    found = np.empty(len(values))
    for start in range(0, len(values), _TOGETHER):
        some = slice(start, start + _TOGETHER)
        found[some] = norm.cdf((values[some, None] - among) / width).mean(axis=1)
    return found


def _odds(unexplained: Array, said: Array) -> Array:
    """Return the sum of the log odds."""
    parts = (unexplained, 1.0 - said.max(axis=1))
    return np.asarray(sum(logit(np.clip(part, _SURE, 1.0 - _SURE)) for part in parts))


def _kept_rows(model: Any) -> Any:
    """Return the rows of the fit that a model keeps as nodes; raise if they are not all there."""
    nodes = main_mixture(model).nodes
    if isinstance(nodes, RowNodes):
        counts = nodes.counts
        if counts is None:  # a file does not tell
            alone = len(getattr(model, "transduction_", ())) == nodes.points.shape[0]
        else:
            alone = bool((counts == 1).all())
        if alone:
            return nodes.points
    raise ValueError(
        "The model does not keep the rows of its fit: its graph has anchors, some rows are copies "
        "of each other, or no member on a graph counts. Pass them: novelty(model, X, rows=...)."
    )
