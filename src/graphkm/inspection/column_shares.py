r"""What the columns of a table add to an answer, by the members that look at columns.

A model says s(m) of the mean labelled row m, and s(x) of a row x. The difference is a sum over
columns:

- a linear model: coefficient times (x_j - m_j), exactly;
- a kernel machine: (x_j - m_j) times the mean slope of f along the line from m to x, by the closed
  form of the kernel's gradient;
- a forest: what the answer of a tree changes by at every cut on the row's path belongs to the
  column of the cut (Saabas, 2014). This starts at the mean of the labels, not at m.

From there on columns are treated like labels in `shares`. Members on a graph, corrections and
boosting have no such sums.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._util.warnings import quiet
from ..kernels import SquaredExponential
from ..members.by_label import LabelSum
from ..semi.evidence import Evidence, Witness
from .shares import added

Array = NDArray[np.float64]

_POINTS, _STEPS = np.polynomial.legendre.leggauss(16)
_POINTS, _STEPS = (_POINTS + 1.0) / 2.0, _STEPS / 2.0  # from -1..1 to 0..1


def column_shares(
    evidence: Evidence, view: str, given: Any, column: NDArray[np.int64]
) -> tuple[Array, float]:
    """Return what every column adds, of shape (n, n_features), and the weight of these members.

    Parameters
    ----------
    evidence : Evidence
        What the fit kept.
    view : str
        The view whose columns are asked for.
    given : array or frame of n rows
        The rows as models see them.
    column : ndarray of int of shape (n,)
        The class of every row.
    """
    rows = _dense(given)
    found, weight = np.zeros(rows.shape), 0.0
    mean = _dense(evidence.rows[view]).mean(axis=0)
    for witness in evidence.witnesses:
        make = _sums_of(witness) if witness.view == view else None
        if make is None or witness.model is None:
            continue
        held = witness.member.model
        assert held is not None
        with quiet("X does not have valid feature names"):  # the mean row has none
            sums = make(held.model, mean, rows)
        for row, own in enumerate(sums):
            each = added(own, witness.temperature, column[[row]])[0] / held.units.spread
            found[row] += witness.weight * each
        weight += witness.weight
    return found, weight


def _dense(rows: Any) -> Array:
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=np.float64)


Sums = Callable[[Any, Array, Array], list[LabelSum]]


def _sums_of(witness: Witness) -> Sums | None:
    """Return how a member's model is a sum over columns; None if it is none."""
    if witness.member.model is None or witness.member.values is not None:
        return None
    model = witness.member.model.model
    name = type(model).__name__
    last = type(model.steps[-1][1] if hasattr(model, "steps") else model).__name__
    if last in ("LogisticRegression", "Ridge", "RidgeCV"):
        return _linear
    if name.startswith(("RandomForest", "ExtraTrees")):
        return _forest
    if name.startswith("KernelRidge") and isinstance(model.kernel_, SquaredExponential):
        return _kernel
    return None


def _terms(base: Array, terms: Array, link: Any) -> LabelSum:
    """Return the sum of one row over its columns."""
    return LabelSum(base, np.ones((1, len(terms))), terms, link)


def _linear(model: Any, mean: Array, rows: Array) -> list[LabelSum]:
    line = model.steps[-1][1] if hasattr(model, "steps") else model
    seen = model[:-1].transform if hasattr(model, "steps") else np.asarray
    z, start = seen(rows), seen(mean[None])
    coefficients, classes = np.atleast_2d(line.coef_), hasattr(line, "classes_")
    sides = np.eye(len(coefficients))
    if classes and len(coefficients) == 1:  # two classes have one line; half belongs to each
        sides = np.array([[-0.5, 0.5]])
    base = (start[0] @ coefficients.T + line.intercept_) @ sides
    slopes, link = coefficients.T @ sides, "logits" if classes else "scores"
    return [_terms(base, each[:, None] * slopes, link) for each in z - start]


def _kernel(model: Any, mean: Array, rows: Array) -> list[LabelSum]:
    classes = hasattr(model, "classes_")
    points, gamma = model.support_vectors_, model.kernel_.gamma
    points = _dense(points)
    start = model.shares(mean[None])[0] if classes else model.predict(mean[None])
    coefficients = np.asarray(model.dual_coef_, dtype=np.float64).reshape(-1, len(points)).T
    if classes and coefficients.shape[1] == 1:
        coefficients = coefficients * np.array([[-1.0, 1.0]])
    found = []
    for x in rows:
        terms = np.zeros((len(x), coefficients.shape[1]))
        for a, step in zip(_POINTS, _STEPS, strict=True):
            away = mean + a * (x - mean) - points
            k = np.exp(-gamma * np.square(away).sum(axis=1))
            terms += step * -2.0 * gamma * (away * k[:, None]).T @ coefficients
        found.append(_terms(start, (x - mean)[:, None] * terms, "shares" if classes else "scores"))
    return found


def _forest(model: Any, mean: Array, rows: Array) -> list[LabelSum]:
    classes = hasattr(model, "classes_")
    k = len(model.classes_) if classes else 1
    base, terms = np.zeros(k), np.zeros((len(rows), rows.shape[1], k))
    for each in model.estimators_:
        tree = each.tree_
        values = tree.value[:, 0, :] if classes else tree.value[:, :, 0]
        values = values / values.sum(axis=1, keepdims=True) if classes else values
        base += values[0]
        at = np.zeros(len(rows), np.int64)
        inside = np.flatnonzero(tree.children_left[at] >= 0)
        single = rows.astype(np.float32)  # trees compare rows in single precision
        while len(inside):
            node = at[inside]
            cut = tree.feature[node]
            left = single[inside, cut] <= tree.threshold[node]
            child = np.where(left, tree.children_left[node], tree.children_right[node])
            np.add.at(terms, (inside, cut), values[child] - values[node])
            at[inside] = child
            inside = inside[tree.children_left[child] >= 0]
    n = len(model.estimators_)
    return [_terms(base / n, each / n, "shares" if classes else "scores") for each in terms]
