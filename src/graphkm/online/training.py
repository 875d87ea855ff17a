"""Training on a stream from its beginning to its end, with checkpoints."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

from ..estimators import GKMClassifier, GKMRegressor
from ..estimators.parameters import check_count
from ..estimators.saving import kind_of, load_model, save_model

Model = TypeVar("Model", GKMClassifier, GKMRegressor)
_KINDS = {cls.__name__: kind_of(cls) for cls in (GKMClassifier, GKMRegressor)}
_EVERY = 100_000


class OtherStreamError(ValueError):
    """A checkpoint belongs to another stream, or to a model with other parameters."""


def load(path: str | os.PathLike[str]) -> Any:
    """Return the model of a checkpoint, whichever estimator it is.

    Parameters
    ----------
    path : path
        What `train` or the model's `save` wrote.

    Returns
    -------
    GKMClassifier or GKMRegressor
    """
    return load_model(path, _KINDS)[0]


def train(
    stream: Iterable[Any],
    model: Model,
    *,
    classes: Any = None,
    checkpoint: str | os.PathLike[str] | None = None,
    every: int = _EVERY,
) -> Model:
    """Feed a stream to a model, and continue from the checkpoint if there is one.

    A run may be killed at any moment. Started again with the same stream, it ends with the same
    model, bit for bit, as a run that was never killed: every row counts once.

    Parameters
    ----------
    stream : iterable of (X, y)
        Chunks for `partial_fit`, from the stream's beginning each time: those that the checkpoint
        has seen are read and passed over. Rows that the model keeps of them are compared, and an
        `OtherStreamError` says if they differ. Chunks without rows are skipped.
    model : GKMClassifier or GKMRegressor
        Learns in place. With a checkpoint it takes its state; its parameters must be the same.
    classes : array-like, optional
        For a classifier: all labels there will be.
    checkpoint : path, optional
        Where the state is written, every so often and at the end.
    every : int, default=100000
        Rows between two checkpoints, at least: they are written between chunks.

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
    >>> bool(model.score(X, X[:, 0] > 0) > 0.9)
    True
    """
    check_count("every", every)
    seen = saved = _resume(model, checkpoint)
    options = {} if classes is None else {"classes": classes}
    position, earlier = 0, rows_learnt(model) - seen  # rows learnt before this stream
    for X, y, *_ in stream:  # chunks of `read_stream` also know where they begin
        first, position = position, position + len(y)
        if first < seen:
            _refuse_other_rows(model, X, y, first + earlier)
        if position <= seen or len(y) == 0:
            continue
        new = max(0, seen - first)  # a chunk may hold rows on both sides of the checkpoint
        model.partial_fit(X[new:], y[new:], **options)
        seen = position
        if checkpoint is not None and seen - saved >= every:
            save_model(model, checkpoint, {"rows": seen}, type(model)._kinds())
            saved = seen
    if position < seen:
        raise OtherStreamError(
            f"The stream has {position:,} rows, but the checkpoint {os.fspath(checkpoint or '')} "  # type: ignore[arg-type]
            f"has seen {seen:,}: it belongs to another stream. Pass that one, or another path."
        )
    if checkpoint is not None and seen > saved:
        save_model(model, checkpoint, {"rows": seen}, type(model)._kinds())
    return model


def rows_learnt(model: Any) -> int:
    """Return how many rows of streams a model has learnt."""
    return model._stream.n_rows if hasattr(model, "_stream") else 0


def _refuse_other_rows(model: Any, X: Any, y: Any, first: int) -> None:
    """Raise if rows that the model has learnt cannot be these."""
    try:
        model._refuse_other_rows(X, y, first)
    except ValueError as error:
        raise OtherStreamError(str(error)) from error


def _resume(model: Any, checkpoint: str | os.PathLike[str] | None) -> int:
    """Put a checkpoint's state into the model, and return how many rows it has seen."""
    if checkpoint is None or not Path(checkpoint).exists():
        return 0
    loaded, note = load_model(checkpoint, type(model)._kinds(), type(model))
    if not hasattr(loaded, "_stream"):
        raise OtherStreamError(
            f"{os.fspath(checkpoint)} holds a model made by fit, which has no stream to continue; "
            "pass another path."
        )
    for name, value in model._learning_parameters().items():
        was = loaded._learning_parameters()[name]
        if value != was:
            raise OtherStreamError(
                f"The checkpoint {os.fspath(checkpoint)} was written with {name}={was}, and the "
                f"model has {name}={value}; pass the same, or another path."
            )
    free = {name: getattr(model, name) for name in ("n_jobs", "verbose", "callback")}
    vars(model).clear()
    vars(model).update(vars(loaded))
    model.set_params(**free)
    return int(note.get("rows", loaded._stream.n_rows))
