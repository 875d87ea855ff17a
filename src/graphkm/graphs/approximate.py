"""Nearly all of the nearest rows, by faiss: rows lie in cells, and only near cells are read.

The index is an inverted file. k-means cuts the space into about sqrt(2n) cells, and a row is
compared with the rows of the few cells nearest to it. How many cells depends on the data. So it is
measured: the smallest number that finds `RECALL` of the true neighbours of a sample of rows.

Wide rows are first projected on their main directions. The search there proposes candidates, and
the distances between the whole rows decide among them.

faiss works in one thread per block of rows, and blocks do not depend on the number of threads. With
threads of its own, faiss would cut matrix products by their number, and rounding would differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from .._memory import require_memory
from .distances import squared_distances
from .exact import Indices, blocks, exact, progress

RECALL = 0.97
"""Share of the sample's neighbours to be found; more than 0.95, because a sample errs."""

DIRECTIONS = 64
"""Main directions kept of rows of more than twice as many columns."""

_SAMPLE = 200  # rows whose true neighbours are searched for: below a hundredth of the work
_BLOCK = 1024  # rows per search
_TRAINING = 64  # rows per cell that k-means looks at; more gained no recall
_SIDE = 10_000  # rows looked at to find the main directions


class _Cells(NamedTuple):
    """An index of the points, and how many candidates to take from it for each row."""

    index: Any
    points: NDArray[np.float32]
    candidates: int


def approximate(rows: NDArray[Any], k: int, n_jobs: int | None, verbose: bool) -> Indices | None:
    """Return nearly the k nearest other rows of every row, or None if most cells must be read.

    Examples
    --------
    >>> rows = np.arange(2000.0)[:, None]
    >>> near = approximate(rows, 2, n_jobs=None, verbose=False)  # doctest: +SKIP
    >>> sorted(near[1000].tolist())  # doctest: +SKIP
    [999, 1001]
    """
    import faiss  # noqa: F401  (loaded first, so that its thread pools can be limited)

    with ThreadpoolController().limit(limits=1):
        cells = _calibrated(rows, k)
        if cells is None:
            return None
        near = np.empty((len(rows), k), dtype=np.int64)
        for part, found in _search_all(cells, rows, k, n_jobs, verbose):
            near[part] = found
    missed = np.flatnonzero((near < 0).any(axis=1))
    if len(missed):
        near[missed] = exact(rows, missed, k, n_jobs)
    return near


def _search_all(
    cells: _Cells, rows: NDArray[Any], k: int, n_jobs: int | None, verbose: bool
) -> Iterator[tuple[slice, Indices]]:
    """Yield the blocks of rows, and the neighbours of each."""
    from joblib import effective_n_jobs

    parts = blocks(len(rows), _BLOCK)
    pool = ThreadPoolExecutor(effective_n_jobs(n_jobs))
    try:
        found = pool.map(
            lambda part: _search(cells, rows, np.arange(part.start, part.stop), k), parts
        )
        yield from zip(progress(parts, len(rows), verbose), found, strict=True)
    finally:
        pool.shutdown(cancel_futures=True)  # an interrupt does not wait for the queue


def _search(cells: _Cells, rows: NDArray[Any], own: Indices, k: int) -> Indices:
    """Return the best k candidates of the rows `own`, nearest first; -1 where there are fewer."""
    import faiss

    faiss.omp_set_num_threads(1)  # OpenMP keeps one such number for each thread
    _, found = cells.index.search(cells.points[own], cells.candidates)
    unfit = (found < 0) | (found == own[:, None])
    found[unfit] = -1
    u, v = np.repeat(own, found.shape[1]), np.maximum(found, 0).ravel()
    d2 = squared_distances(rows, u, v).reshape(found.shape)
    d2[unfit] = np.inf
    order = np.lexsort((found, d2), axis=-1)[:, :k]
    best: Indices = np.take_along_axis(found, order, axis=1)
    return best


# ------------------------------------------------------------------ settings


def _calibrated(rows: NDArray[Any], k: int) -> _Cells | None:
    """Return cells that find enough neighbours of a sample of rows, or None."""
    n, d = rows.shape
    sample = np.sort(np.random.default_rng(0).permutation(n)[:_SAMPLE]).astype(np.int64)
    near = exact(rows, sample, k)
    d2 = squared_distances(rows, np.repeat(sample, k), near.ravel()).reshape(near.shape)
    reach = d2.max(axis=1, keepdims=True) * (1 + 1e-6)  # another row at that distance will do
    for width in (DIRECTIONS, d) if d > 2 * DIRECTIONS else (d,):
        require_memory(
            n * (8 * width + 8 * k + 16),
            f"the approximate neighbours of {n:,} rows",
            "Pass the exact search, or fewer rows.",
        )
        points = _points(rows, width)
        cells = _Cells(_index(points), points, k + 1 if width == d else 3 * (k + 1))
        if _enough_probes(cells, rows, sample, reach, k):
            return cells
    return None


def _enough_probes(
    cells: _Cells, rows: NDArray[Any], sample: Indices, reach: NDArray[np.float64], k: int
) -> bool:
    """Set how many cells to probe: 1, 2, 4, ...; False if a quarter of all is too few."""
    probes = 1
    while probes <= max(1, cells.index.nlist // 4):
        cells.index.nprobe = probes
        found = _search(cells, rows, sample, k)
        d2 = squared_distances(rows, np.repeat(sample, k), np.maximum(found, 0).ravel())
        if np.mean((d2.reshape(found.shape) <= reach) & (found >= 0)) >= RECALL:
            return True
        probes *= 2
    return False


def _index(points: NDArray[np.float32]) -> Any:
    """Return the points in cells."""
    import faiss

    n, d = points.shape
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(d), d, max(1, int(np.sqrt(2 * n))))
    index.cp.seed, index.cp.niter = 0, 10
    index.cp.min_points_per_centroid, index.cp.max_points_per_centroid = 1, _TRAINING
    index.train(points)
    index.add(points)
    return index


def _points(rows: NDArray[Any], width: int) -> NDArray[np.float32]:
    """Return the rows in float32, centred, at most 1, projected where `width` is smaller."""
    n, d = rows.shape
    mean = rows.mean(axis=0, dtype=np.float64)
    size = float(max((rows.max(axis=0) - mean).max(), (mean - rows.min(axis=0)).max())) or 1.0
    basis = None if width == d else _main_directions(rows, mean, size, width)
    points = np.empty((n, width), dtype=np.float32)
    for part in blocks(n, _BLOCK):
        scaled = (rows[part] - mean) / size
        points[part] = scaled if basis is None else scaled @ basis
    return points


def _main_directions(
    rows: NDArray[Any], mean: NDArray[np.float64], size: float, width: int
) -> NDArray[np.float64]:
    from sklearn.utils.extmath import randomized_svd

    some = np.sort(np.random.default_rng(0).permutation(len(rows))[:_SIDE])
    _, _, directions = randomized_svd((rows[some] - mean) / size, width, random_state=0)
    return np.ascontiguousarray(directions.T)
