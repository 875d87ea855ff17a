"""Rows larger than memory: read block by block, several times, on this machine.

The first reading finds the labelled rows, and the rows that anchors start from. Each further one
moves the anchors, and the last one joins them. Only sums over the rows are kept. `graphkm.dask`
does the same on many machines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_consistent_length

from .._util.parameters import refuse_masked
from .._util.progress import progress_bar
from ..graphs import AnchorNodes, Anchors, NodeGraph
from ..graphs.anchors import RowDraw, add_by_anchor, moved, rows_by_anchor
from ..neighbours.index import NeighbourIndex
from .block_labels import stack_labels
from .block_rows import Known, Labelled, as_numbers, find_known, labelled_rows, stacked

_NUMBERS, _FEWEST = 2**20, 2**12  # blocks of an array: about so many numbers, at least so many rows
_LEAST = 2**13  # given blocks are put together until they have so many rows
_NONE = np.empty(0, dtype=np.int64)  # `find_known` draws no rows here: `RowDraw` does


class Block(NamedTuple):
    """Rows that are read together."""

    rows: Any
    labels: Any
    weights: Any = None


class Blocks:
    """Rows with labels and weights that are read block by block, as often as needed.

    Parameters
    ----------
    read : callable
        Returns an iterator over all blocks, every time the same.
    """

    def __init__(self, read: Callable[[], Iterator[Block]]) -> None:
        self._read = read
        self.n_rows = 0  # until the first reading has counted them

    def __iter__(self) -> Iterator[Block]:
        return self._read()


def as_blocks(X: Any, y: Any = None, sample_weight: Any = None) -> Blocks | None:
    """Return rows that are to be read in blocks, or None if X holds them all in memory.

    Parameters
    ----------
    X : object
        A memory-mapped array is cut into blocks. If y is None, X may be an iterable of blocks:
        (rows, labels) or (rows, labels, weights).
    y, sample_weight : array-like, optional
        Labels and weights of a memory-mapped array.

    Examples
    --------
    >>> blocks = as_blocks([(np.zeros((2, 1)), [0, 1]), (np.ones((1, 1)), [1])])
    >>> [(block.rows.shape, block.labels.tolist()) for block in blocks]
    [((3, 1), [0, 1, 1])]
    """
    if isinstance(X, Blocks):
        return X
    if isinstance(X, np.memmap) and X.ndim == 2 and len(X):
        check_consistent_length(*(each for each in (X, y, sample_weight) if each is not None))
        return Blocks(lambda: _cut(X, y, sample_weight))
    if y is not None or not _holds_blocks(X):
        return None
    if sample_weight is not None:
        raise ValueError("Blocks hold their own weights; pass (rows, labels, weights).")
    if iter(X) is X:
        raise ValueError(
            f"X is a {type(X).__name__}, which can be read once, but a fit reads several times; "
            "pass a list of blocks, graphkm.online.read_stream(...), or an object whose __iter__ "
            "starts anew."
        )
    return Blocks(lambda: _together(X))


def _holds_blocks(X: Any) -> bool:
    """Return whether X is a collection of pairs or chunks, and neither an array nor a frame."""
    arrays = ("shape", "columns", "__array__", "__dataframe__")
    if isinstance(X, str | bytes | dict) or any(hasattr(X, name) for name in arrays):
        return False
    if isinstance(X, list | tuple):
        return bool(X) and all(isinstance(each, tuple) and hasattr(each[0], "shape") for each in X)
    return isinstance(X, Iterable)


def _cut(X: Any, y: Any, sample_weight: Any) -> Iterator[Block]:
    """Yield blocks of arrays. Each is copied into memory, and gone when the next one comes."""
    size = max(_FEWEST, _NUMBERS // X.shape[1])
    for start in range(0, X.shape[0], size):
        own = slice(start, start + size)
        labels, weights = (_take(each, own) for each in (y, sample_weight))
        yield Block(np.array(X[own]), labels, weights)


def _take(values: Any, own: slice) -> Any:
    if values is None:
        return None
    return values.iloc[own] if hasattr(values, "iloc") else values[own]


def _together(items: Iterable[Any]) -> Iterator[Block]:
    """Yield blocks as they come; small ones are put together, because every block costs time."""
    waiting: list[Block] = []
    for number, item in enumerate(items):
        block = _as_block(item, number)
        if waiting and type(block.rows) is not type(waiting[0].rows):
            raise ValueError(
                f"Block {number} of X is a {type(block.rows).__name__}, and those before are "
                f"{type(waiting[0].rows).__name__}; pass blocks of one kind."
            )
        waiting.append(block)
        if sum(each.rows.shape[0] for each in waiting) >= _LEAST:
            yield _join(waiting)
            waiting = waiting[:0]
    if waiting:
        yield _join(waiting)


def _as_block(item: Any, number: int) -> Block:
    chunk = hasattr(item, "X") and hasattr(item, "y")
    block = Block(item.X, item.y) if chunk else None
    if block is None and isinstance(item, tuple) and len(item) in (2, 3):
        block = Block(*item)
    if block is None or not hasattr(block.rows, "shape"):
        raise ValueError(
            f"Block {number} of X is a {type(item).__name__}; pass pairs of rows and labels, or "
            "(rows, labels, weights), where rows are an array, a CSR matrix or a frame."
        )
    refuse_masked(f"the rows of block {number}", block.rows)
    refuse_masked(f"the weights of block {number}", block.weights)
    return block


def _join(blocks: list[Block]) -> Block:
    """Return several blocks as one."""
    if len(blocks) == 1:
        return blocks[0]
    weights = None
    if blocks[0].weights is not None:
        weights = np.concatenate([np.asarray(each.weights, float) for each in blocks])
    labels = stack_labels([each.labels for each in blocks])
    return Block(stacked([each.rows for each in blocks]), labels, weights)


# ------------------------------------------------------------------ the readings


class Reading:
    """The readings of one fit.

    Parameters
    ----------
    blocks : Blocks
        The rows.
    anchors : Anchors
        How many anchors there are, and how often they move.
    seed : int
        Decides where the anchors start.
    n_jobs : int or None
        How many searches run in parallel.
    verbose : bool
        Show a progress bar.
    """

    def __init__(
        self, blocks: Blocks, anchors: Anchors, seed: int, n_jobs: int | None, verbose: bool
    ) -> None:
        self._blocks, self._anchors, self._seed = blocks, anchors, seed
        self._n_jobs, self._verbose = n_jobs, verbose
        self._draw = RowDraw(anchors.count(2**62), seed)
        self._kind: Any = None

    @property
    def n_rows(self) -> int:
        """How many rows there are, after the first reading."""
        return self._draw.n_rows

    def labelled(self, unlabeled: Any, targets: str) -> Labelled:
        """Return the labelled rows that count: the first reading."""
        known: list[Known] = []
        lengths: list[int] = []
        for name, block in self._named("labels"):
            rows = self._checked(block, name)
            given = block.rows if hasattr(block.rows, "iloc") else rows
            about = (_NONE, name, rows.dtype, unlabeled, targets)
            known.append(find_known(given, block.labels, block.weights, *about))
            lengths.append(rows.shape[0])
            self._draw.add(rows)
        self._blocks.n_rows = self.n_rows
        if self.n_rows < 2:
            raise ValueError(f"X has {self.n_rows} rows, which have no neighbours; pass 2 or more.")
        return labelled_rows(known, lengths, targets)

    def graph(self, rows: Any) -> NodeGraph:
        """Return the anchors with their graph, and the weights that join `rows` to them.

        Every move of the anchors reads all rows, and so does joining them.
        """
        points = self._draw.first(self._anchors.count(self.n_rows))
        for step in range(self._anchors.passes):
            index = NeighbourIndex(points, n_jobs=self._n_jobs)
            each = (rows_by_anchor(index, rows) for rows in self._rows(f"move {step + 1}"))
            points = moved(points, reduce(add_by_anchor, each))
        nodes = AnchorNodes.at(points, self._n_jobs)
        joins = reduce(lambda one, other: one + other, map(nodes.joins, self._rows("join")))
        own = as_numbers(rows, self._kind[0], "The labelled part")
        return nodes.graph_of(joins, nodes.weights(own))

    def _rows(self, what: str) -> Iterator[Any]:
        """Yield the rows of all blocks as numbers."""
        for name, block in self._named(what):
            yield self._checked(block, name)

    def _named(self, what: str) -> Iterator[tuple[str, Block]]:
        with progress_bar(self._verbose, unit="block", desc=what) as bar:
            for number, block in enumerate(self._blocks):
                yield f"Block {number}", block
                bar.update(1)

    def _checked(self, block: Block, name: str) -> Any:
        """Return a block's rows as numbers; raise if they are not of the kind of the first."""
        kind = _kind(block.rows)
        if self._kind is None:
            self._kind = kind
        if kind != self._kind:
            raise ValueError(
                f"{name} of X is of another kind than the first: {_shown(kind)} instead of "
                f"{_shown(self._kind)}. Pass blocks with the same columns and one type."
            )
        return as_numbers(block.rows, kind[0], name)


def _kind(rows: Any) -> tuple[Any, ...]:
    """Return what all blocks share: precision, number and names of columns, sparse or not."""
    names = tuple(map(str, rows.columns)) if hasattr(rows, "columns") else None
    types = set(rows.dtypes) if hasattr(rows, "dtypes") else {rows.dtype}
    single = types == {np.dtype(np.float32)}
    return np.dtype(np.float32 if single else np.float64), rows.shape[-1], names, sp.issparse(rows)


def _shown(kind: tuple[Any, ...]) -> str:
    dtype, width, names, sparse = kind
    columns = f" ({', '.join(names[:5])}{', ...' * (len(names) > 5)})" if names else ""
    return f"{width} columns{columns} of {'sparse ' * sparse}{dtype}"
