"""Dask arrays and frames as lists of partitions, checked before anything is computed."""

from __future__ import annotations

from typing import Any, NamedTuple

import dask.array as da
import numpy as np
from dask.base import is_dask_collection
from dask.delayed import Delayed

from .fusing import fused
from .runner import Runner
from .tasks import count_rows, cut_together


class Partitioned(NamedTuple):
    """Rows with their labels and weights, partition by partition."""

    rows: list[Delayed]
    labels: list[Delayed]
    weights: list[Delayed] | None
    lengths: list[int]
    """Rows of each partition."""
    dtype: Any
    """float32 or float64: how rows are seen."""

    @classmethod
    def of(
        cls, X: Any, y: Any, sample_weight: Any, runner: Runner, *, classes: bool
    ) -> Partitioned:
        """Return collections whose rows belong together.

        Lengths that are not known are counted. Labels that are cut in another way than the rows
        are cut anew. If y holds no `classes`, it holds numbers.
        """
        X = with_whole_rows(X)
        columns = {"y": _labels(y, numbers=not classes)}
        if sample_weight is not None:
            columns["sample_weight"] = _column("sample_weight", sample_weight, numbers=True)
        every = [X, *columns.values()]
        parts = [parts_of(each) for each in every]  # frames may join small files while they do it
        wanted, *others = _lengths(every, parts, runner)
        n = sum(wanted)
        if not n:
            raise ValueError("X has no rows; all its partitions are empty.")
        cut = {}
        for name, given, own in zip(columns, parts[1:], others, strict=True):
            if sum(own) != n:
                raise ValueError(
                    f"X has {n:,} rows and {name} has {sum(own):,}; pass one value for each row. "
                    "Rows without a label have a marker in y."
                )
            cut[name] = _aligned(given, own, wanted, runner)
        return cls(parts[0], cut["y"], cut.get("sample_weight"), wanted, _seen_as(X))


def numbers_of_rows(y: Any, runner: Runner) -> Any:
    """Return the numbers of rows of which only y is known: an array with the partitions of y."""
    if not is_dask_collection(y):
        raise ValueError(
            f"X is None, so y tells how many rows there are, and it is a {type(y).__name__}; pass "
            "a Dask array or series, with a marker for rows without a label."
        )
    y = with_whole_rows(y)
    (lengths,) = _lengths([y], [parts_of(y)], runner)
    return da.arange(sum(lengths), chunks=(tuple(lengths),), dtype=np.float64)[:, None]


def without_ids(X: Any, ids: Any) -> tuple[Any, Any]:
    """Return X without the column of ids, if it has them, and the ids as an array or a series."""
    if isinstance(ids, str):
        if not (is_frame(X) and ids in X.columns):
            raise ValueError(f"ids={ids!r} is no column of X; pass the ids themselves.")
        return X.drop(columns=ids), X[ids]
    return X, None if ids is None else _column("ids", ids, numbers=False)


def is_frame(X: Any) -> bool:
    """Return whether a Dask collection is a frame: its partitions have named columns."""
    return isinstance(getattr(X, "npartitions", None), int) and hasattr(X, "columns")


def are_rows(X: Any) -> bool:
    """Return whether X is a Dask collection; raise if it is one that has no rows of numbers."""
    if not is_dask_collection(X):
        return False
    if isinstance(X, da.Array):
        if X.ndim != 2:
            raise ValueError(
                f"X has {X.ndim} dimensions, and rows with columns have 2; reshape it first."
            )
        if X.dtype.kind not in "biuf":
            raise ValueError(
                f"X holds values of the type {X.dtype}, and distances need numbers; encode texts "
                "and categories as numbers first."
            )
    elif is_frame(X):
        wrong = [str(name) for name, kind in X.dtypes.items() if not _is_number(kind)]
        if wrong:
            shown = ", ".join(wrong[:5]) + (", ..." if len(wrong) > 5 else "")
            raise ValueError(
                f"{len(wrong)} columns of X hold no numbers ({shown}), and distances need "
                "numbers; encode or drop these columns."
            )
    else:
        raise ValueError(
            f"X is a {type(X).__name__}; pass a Dask array with two dimensions or a Dask frame."
        )
    if X.shape[1] == 0:
        raise ValueError("X has no columns, and distances need at least one.")
    return True


def with_whole_rows(X: Any) -> Any:
    """Return X with all columns in one partition."""
    if isinstance(X, da.Array) and X.ndim == 2 and X.numblocks[1] > 1:
        return X.rechunk({1: -1})
    return X


def _seen_as(X: Any) -> Any:
    """Return float32 if X has it, and float64 otherwise."""
    kinds = set(X.dtypes) if is_frame(X) else {X.dtype}
    return np.dtype(np.float32 if kinds == {np.dtype(np.float32)} else np.float64)


def _is_number(kind: Any) -> bool:
    from pandas.api.types import is_bool_dtype, is_complex_dtype, is_numeric_dtype

    return bool(is_numeric_dtype(kind) or is_bool_dtype(kind)) and not is_complex_dtype(kind)


def _column(name: str, values: Any, *, numbers: bool) -> Any:
    """Return a Dask array or series of one value for each row."""
    if not is_dask_collection(values):
        raise ValueError(
            f"X is a Dask collection and {name} is a {type(values).__name__}; pass a Dask array "
            f"or series, for example dask.array.from_array({name}, chunks=X.chunks[0])."
        )
    if getattr(values, "ndim", None) != 1:
        raise ValueError(f"{name} must have one value for each row: one dimension.")
    if numbers and values.dtype != object and not _is_number(values.dtype):
        raise ValueError(f"{name} must hold numbers, and its type is {values.dtype}.")
    return values


def _labels(y: Any, *, numbers: bool) -> Any:
    """Return a Dask array or series of labels, or a table with a column for each of several."""
    if not is_dask_collection(y) or getattr(y, "ndim", None) != 2:
        return _column("y", y, numbers=numbers)
    if y.shape[1] < 2:
        raise ValueError(
            f"y has two dimensions and {y.shape[1]} columns; pass one dimension, or a column for "
            "each label, class or quantity."
        )
    kinds = y.dtypes.to_dict() if is_frame(y) else {"y": y.dtype}
    wrong = [
        name for name, kind in kinds.items() if not (kind == np.dtype(object) or _is_number(kind))
    ]
    if wrong:
        raise ValueError(
            f"y has several columns, which must hold numbers, and the type of {wrong[0]!r} is "
            f"{kinds[wrong[0]]}; pass a column of numbers for each label, class or quantity."
        )
    return with_whole_rows(y)


def parts_of(collection: Any) -> list[Delayed]:
    """Return the partitions of a collection."""
    return list(np.ravel(collection.to_delayed()))


def _lengths(collections: list[Any], parts: list[list[Delayed]], runner: Runner) -> list[list[int]]:
    """Return the lengths of all partitions; unknown ones are counted in one go."""
    known = [_known_lengths(each) for each in collections]
    unknown = [own for own, lengths in zip(parts, known, strict=True) if lengths is None]
    tasks = [runner.task("count-rows", count_rows, part) for own in unknown for part in own]
    found = iter(runner.bring(fused(tasks)))
    return [
        [next(found) for _ in own] if lengths is None else lengths
        for own, lengths in zip(parts, known, strict=True)
    ]


def _known_lengths(collection: Any) -> list[int] | None:
    """Return the lengths of partitions, or None if they have to be counted."""
    lengths = collection.chunks[0] if isinstance(collection, da.Array) else [np.nan]
    return None if np.isnan(lengths).any() else [int(n) for n in lengths]


def _aligned(
    parts: list[Delayed], lengths: list[int], wanted: list[int], runner: Runner
) -> list[Delayed]:
    """Return partitions of the wanted lengths, each from the parts that it overlaps."""
    if lengths == wanted:
        return parts
    ends, cuts = np.cumsum(lengths), np.concatenate([[0], np.cumsum(wanted)])
    starts = ends - lengths
    found = []
    for low, high in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
        used = np.flatnonzero((starts < high) & (ends > low) & (low < high)).tolist()
        spans = [(max(0, low - int(starts[i])), high - int(starts[i])) for i in used]
        if not used:  # an empty partition, which still has a type
            used, spans = [0], [(0, 0)]
        found.append(runner.task("cut-labels", cut_together, [parts[i] for i in used], spans))
    return found
