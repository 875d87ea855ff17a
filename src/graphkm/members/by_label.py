"""What a member says as a sum over the labels that it has learnt from.

Most members are linear in their labels: a ridge regression, a field, kernel ridge, and also a
forest, whose shares are averages of the labels in the same leaves. So their answer for a row is

    base + sum_i share_i target_i ,

with one share for each label. A logistic regression has such a form, too. At its minimum the
coefficients are C sum_i s_i (t_i - p_i) z_i: label i adds what was missed of it times the product
of its row z_i with the new row (Yeh et al., 2018, "Representer point selection").
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from ..judge.held_out import HeldOut

Array = NDArray[np.float64]

Link = Literal["scores", "shares", "logits"]
"""What a sum is: scores of classes or quantities; shares of classes; or their logarithms."""


class LabelSum(NamedTuple):
    """What a member says of n rows: base + shares @ targets."""

    base: Array
    """What it says without labels, of shape (n_columns,)."""
    shares: Array
    """How much every label counts for every row, of shape (n, l)."""
    targets: Array
    """What the labels say, of shape (l, n_columns)."""
    link: Link

    @property
    def whole(self) -> Array:
        """What the member says of the rows, of shape (n, n_columns)."""
        return np.asarray(self.base + self.shares @ self.targets)


ByLabel = Callable[[Any], LabelSum]
"""Takes rows as a model sees them, or numbers of nodes for a member that lives on a graph."""


def model_by_label(held: HeldOut, known: Any) -> ByLabel | None:
    """Return how a model's answers are sums over labels; None if that is not known.

    Parameters
    ----------
    held : HeldOut
        The fitted model.
    known : Known
        The labelled rows, in the order in which the model saw them.
    """
    if known.kind == "labels" or known.several or held.heat is not None:
        return None
    for kinds, found in (
        (("RandomForest", "ExtraTrees"), _forest),
        (("KernelRidge",), _kernel_ridge),
    ):
        if type(held.model).__name__.startswith(kinds):
            return partial(found, held.model, known)
    name = type(_last(held.model)).__name__
    if name == "LogisticRegression" and known.classes is not None:
        return partial(_logistic, held.model, known)
    if name in ("RidgeCV", "Ridge") and known.classes is None:
        return partial(_ridge, held.model, known)
    return None


def _last(model: Any) -> Any:
    return model.steps[-1][1] if hasattr(model, "steps") else model


def _transformed(model: Any, rows: Any) -> Array:
    """Return rows as the last step of a pipeline sees them."""
    seen = model[:-1].transform(rows) if hasattr(model, "steps") else rows
    return np.asarray(seen.toarray() if hasattr(seen, "toarray") else seen, dtype=np.float64)


def _around(known: Any) -> tuple[Array, Array]:
    """Return equal shares or the mean, and what labels say beyond them."""
    if known.classes is None:
        return known.mean_targets, known.targets - known.mean_targets
    k = len(known.classes)
    return np.full(k, 1.0 / k), known.targets


# ------------------------------------------------------------------ forests


def _forest(model: Any, known: Any, rows: Any) -> LabelSum:
    """Return the mean over trees of the labels in the leaf that a row falls into."""
    base, targets = _around(known)
    own, new = model.apply(known.rows), model.apply(rows)
    shares = np.zeros((len(new), len(own)))
    for tree, counts in enumerate(_drawn(model, len(own), known.given)):
        order = np.argsort(own[:, tree], kind="stable")
        leaves = own[order, tree]
        first = np.searchsorted(leaves, new[:, tree], side="left")
        last = np.searchsorted(leaves, new[:, tree], side="right")
        for row, (a, b) in enumerate(zip(first, last, strict=True)):
            inside = order[a:b]
            shares[row, inside] += counts[inside] / counts[inside].sum()
    return LabelSum(base, shares / own.shape[1], targets, _of_shares(known))


def _drawn(model: Any, n: int, weights: Array | None) -> Iterable[Array]:
    """Yield how often every tree has drawn every label, times the label's weight."""
    own = np.ones(n) if weights is None else weights
    if not model.bootstrap:
        yield from (own for _ in model.estimators_)
        return
    for drawn in model.estimators_samples_:
        yield own * np.bincount(drawn, minlength=n)


def _of_shares(known: Any) -> Link:
    return "scores" if known.classes is None else "shares"


# ------------------------------------------------------------------ kernels and lines


def _kernel_ridge(model: Any, known: Any, rows: Any) -> LabelSum:
    """Return k(x)' (K + alpha / s)^(-1) t, where every labelled row has a kernel of its own."""
    base, targets = _around(known)
    own = np.asarray(known.rows.toarray() if hasattr(known.rows, "toarray") else known.rows)
    new = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows)
    kernel = model.kernel_
    s = np.ones(len(own)) if known.given is None else known.given
    gram = kernel(own, own) + np.diag(model.alpha_ / s)
    shares = np.linalg.solve(gram, kernel(own, new)).T
    return LabelSum(base, shares, targets, _of_shares(known))


def _logistic(model: Any, known: Any, rows: Any) -> LabelSum:
    """Return what was missed of every label, times the product of its row with the new row."""
    line = _last(model)
    own, new = _transformed(model, known.rows), _transformed(model, rows)
    scores = own @ line.coef_.T + line.intercept_
    two = scores.shape[1] == 1
    said = expit(scores) if two else softmax(scores, axis=1)
    told = known.codes[:, None] == (np.array([1]) if two else np.arange(said.shape[1]))
    s = np.ones(len(own)) if known.given is None else known.given
    missed = line.C * s[:, None] * (told - said)
    # Two classes have one line; half of it belongs to each.
    sides = np.array([[-0.5, 0.5]]) if two else np.eye(said.shape[1])
    # What was missed adds up to 0, so rows may be seen from their mean: shares do not depend on
    # where the columns have their zero.
    mean = np.average(own, axis=0, weights=s)
    base = line.intercept_ + line.coef_ @ mean
    return LabelSum(base @ sides, (new - mean) @ (own - mean).T, missed @ sides, "logits")


def _ridge(model: Any, known: Any, rows: Any) -> LabelSum:
    """Return a ridge regression around the mean of the rows and of the targets."""
    line = _last(model)
    base, targets = _around(known)
    own, new = _transformed(model, known.rows), _transformed(model, rows)
    s = np.ones(len(own)) if known.given is None else known.given
    mean = np.average(own, axis=0, weights=s)
    own, new = own - mean, new - mean
    alpha = getattr(line, "alpha_", None) or line.alpha
    gram = (own * s[:, None]).T @ own
    shares = new @ np.linalg.solve(gram + alpha * np.eye(len(gram)), (own * s[:, None]).T)
    return LabelSum(base, shares, targets, "scores")
