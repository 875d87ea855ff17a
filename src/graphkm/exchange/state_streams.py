"""Checks of a stream of sums that comes from a file."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import is_classifier

from .._util.parameters import check_count, check_number
from ..estimators.data_checks import check_range
from ..solvers.sums_solver import JUDGES, block_size
from .codec import State
from .state_machines import (
    check_kernel,
    check_matrix,
    check_rows,
    check_shift,
    n_functions,
    require,
)

_LARGEST = 2**16  # the most landmarks: their matrix takes 32 GiB
_LARGEST_SUM = float(np.sqrt(np.finfo(np.float64).max))  # products of two such sums are finite

Numbers = NDArray[np.float64]


def check_sums_stream(model: Any, solver: State, numbers: State, arrays: State) -> None:
    """Raise unless a stream's solver, counters, landmarks, sums and kept rows fit together."""
    _check_solver(model, **solver)
    _check_counters(solver, numbers, arrays)
    m, outputs = len(arrays["landmark_ids"]), solver["n_outputs"]
    for name, size in (("all", m), ("half", min(m, JUDGES))):
        check_matrix("its sums", arrays[f"{name}_columns"], (size * (size + 1) // 2,))
        check_matrix("its sums", arrays[f"{name}_cross"], (size, outputs))
        check_matrix("its squares", arrays[f"{name}_squares"], (outputs,))
        _check_products(*(arrays[f"{name}_{part}"] for part in ("columns", "cross", "squares")))
    rows = {"landmarks": "landmark_ids", "kept_rows": "kept_ids", "waiting_rows": "waiting_ids"}
    for name, ids in rows.items():
        check_rows("its rows", arrays[name], len(arrays[ids]), solver["n_features"])
        right = issparse(arrays[name]) == solver["sparse"] and arrays[name].dtype == solver["dtype"]
        require(right, "its rows are of the wrong kind")
        if len(arrays[ids]):
            check_range(arrays[name], arrays[name].dtype)
    for name in ("kept", "waiting"):
        n, weights = len(arrays[f"{name}_ids"]), arrays[f"{name}_weights"]
        check_matrix("its targets", arrays[f"{name}_targets"], (n, outputs))
        check_matrix("its weights", weights, (n,))
        require((weights >= 0).all(), "its weights are below 0")
    check_shift(model.stream_shift_, arrays["kept_rows"])


def _check_products(columns: Numbers, cross: Numbers, squares: Numbers) -> None:
    """Raise unless these can be sums of products: none is larger than the sums of both squares."""
    ends = np.cumsum(np.arange(1, len(cross) + 1))  # of the columns of a triangle
    own = np.concatenate([columns[ends - 1], squares])
    require((np.abs(own) < _LARGEST_SUM).all(), "its sums are too large")
    # Projections on new landmarks round: their ridge is 1e-8 of the largest square.
    slack = 1e-6 * float(own.max())
    roots = np.sqrt(np.maximum(own, 0.0))
    fits = (own >= -slack).all()
    for j, column in enumerate(np.split(columns, ends)[: len(cross)]):
        fits = fits and (np.abs(column) <= roots[: j + 1] * roots[j] + slack).all()
        fits = fits and (np.abs(cross[j]) <= roots[j] * roots[len(cross) :] + slack).all()
    require(fits, "its sums are no sums of products")


def _check_solver(
    model: Any,
    *,
    kernel: Any,
    offset: Any,
    C: Any,
    classes: Any,
    n_features: Any,
    n_outputs: Any,
    sparse: Any,
    n_landmarks: Any,
    half_life: Any,
    dtype: Any,
) -> None:
    """Raise unless these are the fields of a SumsStreamSolver for this model."""
    check_kernel(kernel)
    require(bool(kernel.has_rows), "its kernel has no rows")
    require(type(offset) is float, f"its offset is {offset}")
    check_number("offset", offset, least=0)
    require(offset < _LARGEST_SUM, f"its offset is {offset}")
    require(classes is is_classifier(model), "its targets are of another kind")
    sizes = (model.n_features_in_, n_functions(model))
    require((n_features, n_outputs) == sizes and type(sparse) is bool, "its rows are others")
    if C is not None:
        _check_C(C)
    require(check_count("n_landmarks", n_landmarks, least=2) <= _LARGEST, "it has many landmarks")
    if half_life is not None:
        check_number("half_life", half_life, least=0, strictly=True)
    require(isinstance(dtype, np.dtype), "its precision is missing")


def _check_C(C: Any) -> None:
    check_number("C", C, least=0, strictly=True)
    require(1 / _LARGEST_SUM < C < _LARGEST_SUM, f"its C is {C}")


def _check_counters(solver: State, numbers: State, arrays: State) -> None:
    """Raise unless rows, labels, landmarks and kept rows add up."""
    names = ("n_rows", "n_labels", "next", "clock", "due", "shuffle")
    n_rows, n_labels, following, clock, due, _ = counts = [numbers[name] for name in names]
    offered, filled = numbers["offered"], numbers["filled"]
    for value in (*counts, *offered, *filled):
        require(type(value) is int and 0 <= value < 2**62, f"it has counted {value}")
    ids = {name: arrays[f"{name}_ids"] for name in ("landmark", "kept", "waiting")}
    for value in ids.values():
        require(value.ndim == 1 and value.dtype == np.int64, "its rows have no numbers")
        require(((value >= 0) & (value < n_rows)).all(), "its rows have wrong numbers")
    m, begun = solver["n_landmarks"], numbers["begun"]
    waiting = len(ids["waiting"])
    require(type(begun) is bool, "it does not tell whether it has landmarks")
    require(
        offered == [n_labels, n_rows - n_labels]
        and len(filled) == 2
        and filled[0] <= min(n_labels, max(1, m // 2))
        and filled[1] <= min(n_rows - n_labels, m)
        and clock <= n_rows < following
        and (waiting < min(block_size(m), n_labels + 1) if begun else waiting == n_labels)
        and (np.diff(ids["waiting"]) > 0).all()
        and (due > n_labels - waiting if begun and solver["C"] is None else due == 0)
        and (1 if begun else 0) <= len(ids["landmark"]) <= (m if begun else 0),
        "its rows, labels and landmarks do not add up",
    )
    if begun:
        _check_C(numbers["C"])
    require(begun or numbers["C"] == solver["C"], "its C is not that of its solver")
    known = np.repeat([False, True], [filled[1], filled[0]])
    right = arrays["kept_labeled"].dtype == bool and len(known) == len(ids["kept"])
    require(
        right and np.array_equal(arrays["kept_labeled"], known), "its reservoirs are out of order"
    )
    for name in ("weights", "counts"):
        both = numbers[name]
        fits = len(both) == 2 and all(type(v) is float and 0 <= v < np.inf for v in both)
        require(fits, f"its {name} are {str(both)[:40]}")
