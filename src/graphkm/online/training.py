"""Feed a whole stream to a model, with checkpoints. A checkpoint is an ordinary model file."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

from .._util.parameters import check_count
from ..exchange.files import load_with_note, save_model
from ..gkm import GKMClassifier, GKMRegressor

Model = TypeVar("Model", GKMClassifier, GKMRegressor)


class CheckpointError(ValueError):
    """The checkpoint belongs to another stream or another model; the message says what to do."""


def train(
    stream: Iterable[Any],
    model: Model,
    *,
    classes: Any = None,
    checkpoint: str | os.PathLike[str] | None = None,
    every: int = 100_000,
) -> Model:
    """Feed a stream to a model, and continue from the checkpoint if there is one.

    A run may be killed at any moment. Start it again with the same stream: it ends with the same
    model, bit for bit, as an uninterrupted run. Every row is learnt once.

    Parameters
    ----------
    stream : iterable of (X, y)
        Chunks for `partial_fit`, always from the beginning of the stream. Rows that the checkpoint
        has seen are not learnt again. They are compared with the rows that the model keeps; if they
        differ, a `CheckpointError` is raised. Empty chunks are skipped.
    model : GKMClassifier or GKMRegressor
        It learns in place. If there is a checkpoint, the model takes its state. Both must have the
        same parameters.
    classes : array-like, optional
        For a classifier: all classes of the stream.
    checkpoint : path, optional
        The file that the model is saved to, regularly and at the end. It is an ordinary model
        file: `graphkm.exchange.load_model` reads it.
    every : int, default=100000
        The least number of rows between two checkpoints, which are written between chunks.

    Returns
    -------
    model

    Examples
    --------
    >>> import numpy as np
    >>> from graphkm import GKMClassifier
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> y = np.where(np.arange(300) % 5 == 0, X[:, 0] > 0, -1)
    >>> chunks = [(X[i : i + 100], y[i : i + 100]) for i in (0, 100, 200)]
    >>> model = train(chunks, GKMClassifier(random_state=0), classes=[0, 1])
    >>> print(f"{model.score(X, X[:, 0] > 0):.2f}")
    0.97
    """
    check_count("every", every)
    seen = saved = _resume(model, checkpoint)
    options = {} if classes is None else {"classes": classes}
    position, earlier = 0, rows_learnt(model) - seen  # rows learnt before this stream
    for X, y, *_ in stream:  # a `Chunk` also has its first row
        first, position = position, position + len(y)
        if first < seen:
            _check_same_rows(model, X, y, first + earlier)
        if position <= seen or len(y) == 0:
            continue
        new = max(0, seen - first)  # a chunk may hold rows on both sides of the checkpoint
        model.partial_fit(X[new:], y[new:], **options)
        seen = position
        if checkpoint is not None and seen - saved >= every:
            save_model(model, checkpoint, {"rows": seen})
            saved = seen
    if position < seen:
        raise CheckpointError(
            f"The stream has {position:,} rows, but the checkpoint {checkpoint} has seen {seen:,}: "
            "it belongs to another stream. Pass that one, or another path."
        )
    if checkpoint is not None and seen > saved:
        save_model(model, checkpoint, {"rows": seen})
    return model


def rows_learnt(model: Any) -> int:
    """Return how many rows a model has learnt by `partial_fit`."""
    return model.stream_.n_rows if hasattr(model, "stream_") else 0


def _check_same_rows(model: Any, X: Any, y: Any, first: int) -> None:
    """Raise if these are not the rows that the model has learnt at this position."""
    row = model.first_other_row(X, y, first)
    if row is not None:
        raise CheckpointError(
            f"Row {row:,} (counted from 0) of this stream, or its label, is not the one that this "
            "model has learnt: the checkpoint belongs to another stream. Pass that one, or another "
            "path to begin anew."
        )


def _resume(model: Any, checkpoint: str | os.PathLike[str] | None) -> int:
    """Put the checkpoint's state into the model, and return how many rows it has seen."""
    if checkpoint is None or not Path(checkpoint).exists():
        return 0
    loaded, note = load_with_note(checkpoint)
    if type(loaded) is not type(model):
        raise CheckpointError(
            f"The checkpoint {checkpoint} holds a {type(loaded).__name__}, not a "
            f"{type(model).__name__}; pass a model of that class, or another path."
        )
    if not hasattr(loaded, "stream_"):
        raise CheckpointError(
            f"The checkpoint {checkpoint} holds a model made by fit, which has no stream to go on "
            "with; pass another path."
        )
    for name, value in model.learning_parameters().items():
        was = loaded.learning_parameters().get(name, "nothing")
        if value != was:
            raise CheckpointError(
                f"The checkpoint {checkpoint} was written with {name}={was}, and the model has "
                f"{name}={value}; pass the same, or another path."
            )
    free = {name: getattr(model, name) for name in ("n_jobs", "verbose", "callback")}
    vars(model).clear()
    vars(model).update(vars(loaded))
    model.set_params(**free)
    return int(note.get("rows", loaded.stream_.n_rows))
