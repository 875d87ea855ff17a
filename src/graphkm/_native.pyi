"""The compiled loops: kernel products, stochastic steps, dual problems, budgets, systems, text."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

def instruction_set() -> str: ...
def instruction_sets() -> list[str]: ...

class DenseCentres32:
    def __init__(
        self,
        code: int,
        gamma: float,
        coef0: float,
        degree: int,
        n_features: int,
        n_outputs: int,
    ) -> None: ...
    def __len__(self) -> int: ...
    def append(self, rows: NDArray[Any]) -> None: ...
    def set(self, rows: NDArray[Any], values: NDArray[Any]) -> None: ...
    def product(self, queries: NDArray[Any], out: NDArray[Any], n_threads: int) -> None: ...
    def values(self, queries: NDArray[Any], out: NDArray[Any], n_threads: int) -> None: ...

class DenseCentres64(DenseCentres32): ...

class SparseCentres32:
    def __init__(
        self,
        code: int,
        gamma: float,
        coef0: float,
        degree: int,
        n_features: int,
        n_outputs: int,
    ) -> None: ...
    def __len__(self) -> int: ...
    def append(self, indptr: NDArray[Any], indices: NDArray[Any], values: NDArray[Any]) -> None: ...
    def set(self, rows: NDArray[Any], values: NDArray[Any]) -> None: ...
    def product(
        self,
        indptr: NDArray[Any],
        indices: NDArray[Any],
        values: NDArray[Any],
        out: NDArray[Any],
        n_threads: int,
    ) -> None: ...
    def values(
        self,
        indptr: NDArray[Any],
        indices: NDArray[Any],
        values: NDArray[Any],
        out: NDArray[Any],
        n_threads: int,
    ) -> None: ...
    def largest(
        self,
        indptr: NDArray[Any],
        indices: NDArray[Any],
        values: NDArray[Any],
        out: NDArray[np.int32],
        n_threads: int,
    ) -> None: ...

class SparseCentres64(SparseCentres32): ...

def run_block(
    gram: NDArray[Any],
    scores: NDArray[Any],
    change: NDArray[Any],
    weighted: NDArray[Any],
    norm: NDArray[Any],
    objective: NDArray[Any],
    first_step: int,
    harmonic: float,
    label: NDArray[Any],
    target: NDArray[Any],
    label_weight: NDArray[Any],
    u: NDArray[Any],
    v: NDArray[Any],
    edge_weight: NDArray[Any],
    C: NDArray[Any],
    C_graph: NDArray[Any],
    loss: int,
    parameter: float,
    p: float,
    implicit: bool,
    n_threads: int,
) -> bool: ...

class _Smo:
    def __len__(self) -> int: ...
    def reset(self) -> None: ...
    def solve(
        self,
        slope: NDArray[Any],
        bend: NDArray[Any],
        kink: NDArray[Any],
        lower: NDArray[Any],
        upper: NDArray[Any],
        coefficients: NDArray[Any],
        scores: NDArray[Any],
        tol: float,
        max_iter: int,
        shrinking: bool,
        n_threads: int,
    ) -> tuple[int, float]: ...

class DenseSmo32(_Smo):
    def __init__(
        self,
        code: int,
        gamma: float,
        coef0: float,
        degree: int,
        rows: NDArray[Any],
        diagonal: NDArray[Any],
        mean: NDArray[Any],
        cache_bytes: int,
    ) -> None: ...

class DenseSmo64(DenseSmo32): ...

class SparseSmo32(_Smo):
    def __init__(
        self,
        code: int,
        gamma: float,
        coef0: float,
        degree: int,
        n_features: int,
        indptr: NDArray[Any],
        indices: NDArray[Any],
        values: NDArray[Any],
        diagonal: NDArray[Any],
        mean: NDArray[Any],
        cache_bytes: int,
    ) -> None: ...

class SparseSmo64(SparseSmo32): ...

class GramSmo32(_Smo):
    def __init__(
        self,
        gram: NDArray[Any],
        diagonal: NDArray[Any],
        mean: NDArray[Any],
        cache_bytes: int,
    ) -> None: ...

class GramSmo64(GramSmo32): ...

def parse_libsvm(
    text: bytes,
    offset: int,
    row: int,
    labels: NDArray[Any],
    indptr: NDArray[Any],
    indices: NDArray[Any],
    values: NDArray[Any],
    first: int,
    last: int,
    dropped: NDArray[Any],
) -> tuple[int, int, int, int, int, int]: ...
def parse_csv(
    text: bytes,
    offset: int,
    row: int,
    values: NDArray[Any],
    labels: NDArray[Any],
    kinds: NDArray[Any],
    spans: NDArray[Any],
    places: NDArray[np.int32],
    delimiter: bytes,
    markers: bytes,
    text_labels: bool,
) -> tuple[int, int, int, int, int, int]: ...
def largest_columns(values: NDArray[Any], out: NDArray[np.int32]) -> None: ...
def project_centres(
    values: NDArray[Any],
    place: NDArray[np.int32],
    gram: NDArray[Any],
    tolerance: float,
    leaving: NDArray[np.float64],
    kept: NDArray[np.float64],
) -> None: ...

class RowCells32:
    def __init__(
        self, rows: NDArray[Any], cell: NDArray[np.int32], centres: NDArray[Any]
    ) -> None: ...
    def nearest(
        self, queries: NDArray[Any], probes: NDArray[np.int32], out: NDArray[np.int64]
    ) -> None: ...

class RowCells64(RowCells32): ...

def pair_distances(
    X: NDArray[Any],
    Y: NDArray[Any],
    u: NDArray[np.int64],
    v: NDArray[np.int64],
    out: NDArray[np.float64],
) -> None: ...

class SparseColumns:
    def __init__(
        self, indptr: NDArray[np.int32], indices: NDArray[np.int32], values: NDArray[np.float32]
    ) -> None: ...
    def product(
        self,
        diagonal: NDArray[np.float32],
        scale: float,
        X: NDArray[np.float32],
        out: NDArray[np.float32],
        sums: NDArray[np.float64],
        n_threads: int,
    ) -> None: ...

def columns_step(
    solution: NDArray[np.float32],
    residual: NDArray[np.float32],
    direction: NDArray[np.float32],
    image: NDArray[np.float32],
    length: NDArray[np.float32],
    inverse_diagonal: NDArray[np.float32],
    sums: NDArray[np.float64],
    n_threads: int,
) -> None: ...
def columns_turn(
    direction: NDArray[np.float32],
    residual: NDArray[np.float32],
    inverse_diagonal: NDArray[np.float32],
    ratio: NDArray[np.float32],
    n_threads: int,
) -> None: ...
