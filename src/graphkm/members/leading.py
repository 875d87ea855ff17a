r"""Linear models of rows whose leading directions are made longer.

Encoders have hundreds of columns, and labels are fewer. The directions in which all rows vary most
more often tell classes apart than the others, which are mostly noise. So a row :math:`x` becomes
:math:`\Sigma^{1/2} (x - \mu)`, with the mean and the covariance of all rows. A linear model of the
result is one of the rows themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from time import process_time
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone

from ..judge.held_out import HeldOut
from .by_label import ByLabel, LabelSum
from .member import Array, Known, Member
from .models import WIDE, model_members, total_variance
from .per_column import PerColumn


def leading_members(known: Known, X: Any, models: dict[str, Any]) -> Iterator[Member]:
    """Yield linear models that prefer the directions in which all rows vary most.

    Parameters
    ----------
    known : Known
        The labelled rows.
    X : ndarray or CSR matrix
        All rows. Sparse and very wide rows have no such members.
    models : dict
        Linear models by name.
    """
    if issparse(X) or X.shape[1] > WIDE or not models:
        return
    start = process_time()
    mean, root, rank = _root(np.asarray(X, dtype=np.float64))
    rows = (np.asarray(known.rows, dtype=np.float64) - mean) @ root
    spent = process_time() - start
    own = replace(known, rows=rows)
    for member in model_members(models, own, None, np.empty(0, np.int64)):
        assert member.model is not None
        yield replace(
            member,
            name=f"leading, {member.name}",
            model=_of_rows(member.model, mean, root),
            seconds=member.seconds + spent,
            rank=rank,
            labels_only=False,
            by_label=member.by_label and partial(_by_label, member.by_label, mean, root),
        )


def _root(X: Array) -> tuple[Array, Array, int]:
    """Return the mean of rows, the square root of their covariance, and its rank.

    The root is scaled such that rows vary as much as before. Its rank is the number of equally long
    directions that would vary as unevenly.
    """
    mean = X.mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov(X, rowvar=False, bias=True).reshape(X.shape[1], -1))
    values = np.maximum(values, 0.0)
    varied = np.square(values)  # the variances after the change
    size = np.sqrt(total_variance(X) / max(varied.sum(), 1e-300))
    rank = varied.sum() ** 2 / max(np.square(varied).sum(), 1e-300)
    return mean, size * (vectors * np.sqrt(values)) @ vectors.T, max(1, round(rank))


def _by_label(of_changed: ByLabel, mean: Array, root: Array, rows: Any) -> LabelSum:
    """Return a model of changed rows as a sum over labels, at the rows themselves."""
    return of_changed((np.asarray(rows, dtype=np.float64) - mean) @ root)


def _of_rows(held: HeldOut, mean: Array, root: Array) -> HeldOut:
    """Return the same linear model as one of the rows themselves."""
    if isinstance(held.model, PerColumn):
        every = held.model.columns
        own = [_of_rows(each, mean, root) if isinstance(each, HeldOut) else each for each in every]
        return replace(held, model=PerColumn(own, held.model.kind))
    model = clone(held.model)
    vars(model).update(vars(held.model))
    model.coef_ = held.model.coef_ @ root.T
    model.intercept_ = held.model.intercept_ - model.coef_ @ mean
    return replace(held, model=model)
