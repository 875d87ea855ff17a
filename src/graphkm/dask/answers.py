"""Predictions for Dask collections. They are lazy, and have the partitions of the rows."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import dask.array as da
import numpy as np
import scipy.sparse as sp
from dask.base import is_dask_collection, tokenize
from dask.delayed import Delayed, delayed
from distributed import futures_of

from .collections import is_frame, with_whole_rows
from .runner import Runner, cluster_client
from .told import Told


class SharedModel:
    """A fitted model that task graphs know by its name alone.

    On a cluster every worker gets the model once. Without a cluster it is a task of its own.

    Parameters
    ----------
    model : estimator
        Fitted.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self._token = uuid4().hex
        self._task: Any = None  # on the cluster that was asked last

    def task(self) -> Delayed:
        """Return the model as a task."""
        client = cluster_client()
        if client is None:
            return delayed(self.model, name=f"graphkm-model-{self._token}", traverse=False)
        if not any(each.client is client and each.done() for each in futures_of(self._task)):
            self._task = Runner(client).share(self.model)
        return self._task

    def __getstate__(self) -> dict[str, Any]:
        """Return the model without a task, which belongs to a cluster."""
        return {**self.__dict__, "_task": None}

    def answer(self, X: Any, method: str, columns: Any, kind: Any) -> Any:
        """Return what a method of the model says of every row, lazily.

        Parameters
        ----------
        X : Dask array or frame
            The rows.
        method : str
            Its name.
        columns : list or None
            Names of the columns of the answer; None if it has one value for each row.
        kind : dtype
            Its type.
        """
        X = with_whole_rows(X)
        encoded = hasattr(self.model, "views_")  # encoders look at the columns themselves
        if not encoded and X.shape[1] != self.model.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} columns, and the model was fitted to "
                f"{self.model.n_features_in_}; pass the same columns."
            )
        about = {"method": method, "columns": columns, "kind": kind}
        name = method.replace("_", "-")
        if is_frame(X):
            meta = _as_frame(np.empty(_shape(0, columns), kind), columns, None)
            return X.map_partitions(answer_partition, self.task(), meta=meta, **about)
        chunks = (X.chunks[0],) if columns is None else (X.chunks[0], (len(columns),))
        return da.map_blocks(
            answer_partition,
            X,
            self.task(),
            name=f"graphkm-{name}-{tokenize(X.name, method, self._token)}",
            chunks=chunks,
            drop_axis=1 if columns is None else None,
            dtype=kind,
            meta=np.empty(_shape(0, columns), kind),
            **about,
        )


def answer_partition(part: Any, model: Any, *, method: str, columns: Any, kind: Any) -> Any:
    """Return what a method of the model says of every row of a partition."""
    n = part.shape[0]
    if n:
        found = np.asarray(getattr(model, method)(part), dtype=kind)
    else:
        found = np.empty(_shape(0, columns), kind)
    if hasattr(part, "iloc") and not sp.issparse(part):
        return _as_frame(found, columns, part.index)
    return found


def with_given(answers: Any, y: Any, unlabeled: Any, told: Told) -> Any:
    """Return lazy answers in which given labels are kept."""
    alike = isinstance(answers, da.Array) == isinstance(y, da.Array)
    if not (alike and is_dask_collection(y) and y.ndim in (1, 2)):
        raise ValueError(
            f"y is a {type(y).__name__}; pass a Dask array with rows that are an array, and a "
            "series or a frame with rows that are a frame."
        )
    told.check(y)
    about = {"unlabeled": unlabeled, "told": told}
    if not isinstance(answers, da.Array):
        return answers.map_partitions(keep_given, y, meta=answers, **about)
    y, own, theirs = with_whole_rows(y), answers.chunks[0], y.chunks[0]
    known = not np.isnan(own + theirs).any()
    if known and own != theirs and sum(own) == sum(theirs):
        y = y.rechunk({0: own})
    if answers.numblocks[0] != y.numblocks[0] or (known and sum(own) != sum(theirs)):
        raise ValueError(
            f"The rows have {answers.numblocks[0]} partitions and y has {y.numblocks[0]}, or other "
            "lengths; pass labels with the partitions of the rows."
        )
    axes = "ij"[: answers.ndim]
    return da.blockwise(
        keep_given,
        axes,
        answers,
        axes,
        y,
        "ik"[: y.ndim],
        name=f"graphkm-transduction-{tokenize(answers.name, y.name, unlabeled)}",
        dtype=answers.dtype,
        meta=np.empty((0,) * answers.ndim, answers.dtype),
        align_arrays=False,  # lengths may not be known
        concatenate=True,
        **about,
    )


def keep_given(answers: Any, labels: Any, *, unlabeled: Any, told: Told) -> Any:
    """Return a partition's answers, with given labels in their place."""
    kept = told.target(labels, unlabeled).kept(np.array(answers))
    return _as_frame(kept, told.columns, answers.index) if hasattr(answers, "iloc") else kept


def _shape(n: int, columns: Any) -> tuple[int, ...]:
    return (n,) if columns is None else (n, len(columns))


def _as_frame(values: Any, columns: Any, index: Any) -> Any:
    import pandas as pd

    if columns is None:
        return pd.Series(values, index=index)
    return pd.DataFrame(values, index=index, columns=columns)
