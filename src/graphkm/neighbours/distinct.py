"""Which rows are copies of others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._util.order import middle_of, places_of

_BLOCK = 1 << 22  # numbers that are read at once


class Copies(NamedTuple):
    """Sets of equal rows. They are held out together: a copy would show the label of a row.

    Attributes
    ----------
    first : ndarray of int64 of shape (m,)
        The first row of every set; in rising order, unless another order was asked for.
    place : ndarray of int64 of shape (n,)
        The set of every row: rows[first[place]] equals rows.
    """

    first: NDArray[np.int64]
    place: NDArray[np.int64]

    @classmethod
    def of(cls, marks: NDArray[Any]) -> Copies:
        """Return the sets of rows that have equal marks."""
        _, first, place = np.unique(marks, return_index=True, return_inverse=True)
        found = cls(first.astype(np.int64), place.ravel().astype(np.int64))
        return found.in_order(np.arange(len(marks)))

    def in_order(self, places: NDArray[Any]) -> Copies:
        """Return the same sets, sorted by the places of their rows.

        Examples
        --------
        >>> distinct_rows(np.array([[1.0], [2.0], [1.0]])).in_order(np.array([5.0, 0.0, 5.0]))
        Copies(first=array([1, 0]), place=array([1, 0, 1]))
        """
        order = np.argsort(places[self.first], kind="stable")
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        return Copies(self.first[order], rank[self.place])

    def pooled(
        self, targets: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the mean target and the summed weight of every set.

        Examples
        --------
        >>> copies = distinct_rows(np.array([[1.0], [2.0], [1.0]]))
        >>> copies.pooled(np.array([[0.0], [5.0], [4.0]]), np.array([3.0, 1.0, 1.0]))
        (array([[1.],
               [5.]]), array([4., 1.]))
        """
        if len(self.first) == len(self.place):
            return targets[self.first], weights[self.first]
        total = np.bincount(self.place, weights).astype(np.float64)
        sums = [np.bincount(self.place, weights * column) for column in targets.T]
        return np.column_stack(sums) / np.where(total > 0, total, 1.0)[:, None], total

    def sets(self) -> list[NDArray[np.int64]]:
        """Return the rows of all sets of two or more, an array of shape (sets, size) per size.

        Examples
        --------
        >>> distinct_rows(np.array([[1.0], [2.0], [1.0]])).sets()
        [array([[0, 2]])]
        """
        sizes = np.bincount(self.place, minlength=len(self.first))
        order = np.argsort(self.place, kind="stable")
        ends = np.cumsum(sizes)
        return [
            order[(ends[sizes == size] - size)[:, None] + np.arange(size)]
            for size in np.unique(sizes[sizes > 1]).tolist()
        ]

    def together(
        self, folds: Iterable[tuple[NDArray[np.int64], NDArray[np.int64]]]
    ) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Return folds of sets as folds of all rows: equal rows share a fold.

        Examples
        --------
        >>> copies = distinct_rows(np.array([[1.0], [2.0], [1.0]]))
        >>> copies.together([(np.array([0]), np.array([1]))])
        [(array([0, 2]), array([1]))]
        """
        if len(self.first) == len(self.place):
            own = self.first
            return [(np.sort(own[train]), np.sort(own[test])) for train, test in folds]
        return [
            (np.flatnonzero(np.isin(self.place, train)), np.flatnonzero(np.isin(self.place, test)))
            for train, test in folds
        ]


def distinct_rows(rows: Any) -> Copies:
    """Return which rows are equal.

    Parameters
    ----------
    rows : ndarray of float32 or float64, or canonical CSR matrix, of shape (n, d)
        The rows.

    Examples
    --------
    >>> distinct_rows(np.array([[1.0, 2.0], [0.0, 0.0], [1.0, 2.0], [-0.0, 0.0]]))
    Copies(first=array([0, 1]), place=array([0, 1, 0, 1]))
    """
    return Copies.of(row_marks(rows))


def copies_in_order(rows: Any) -> Copies:
    """Return which rows are equal. The sets are sorted by what their rows hold.

    So folds that are drawn from these sets depend neither on the order in which rows come, nor on
    copies of rows.

    Examples
    --------
    >>> copies_in_order(np.array([[9.0], [1.0], [2.0], [9.0]]))
    Copies(first=array([2, 0, 1]), place=array([1, 2, 0, 1]))
    """
    return distinct_rows(rows).in_order(places_of(rows, middle_of(rows)))


def equal_items(items: Any) -> Copies:
    """Return which items of a list, an array, a sparse matrix or a frame are equal.

    Examples
    --------
    >>> equal_items([["a", 1], ["b", 1], ["a", 1]]).place
    array([0, 1, 0])
    """
    if sp.issparse(items):
        rows = sp.csr_array(items, dtype=np.float64)
        rows.sum_duplicates()
        return distinct_rows(rows)
    values = np.asarray(items)
    if values.dtype.kind not in "biuf":
        return Copies.of(np.array([repr(item) for item in values.tolist()]))
    return distinct_rows(values.reshape(len(values), -1).astype(np.float64))


def row_marks(rows: Any) -> NDArray[np.uint64]:
    """Return a number for every row; equal rows have equal numbers.

    Two different rows have equal numbers with a chance of 2^-64.
    """
    n, d = rows.shape
    random = np.random.default_rng(0).integers(1 << 63, size=(2, d), dtype=np.uint64)
    random = 2 * random + 1
    if sp.issparse(rows):
        terms = _mixed(_bits(rows.data) * random[0, rows.indices] + random[1, rows.indices])
        ends = np.append(np.zeros(1, np.uint64), np.cumsum(terms, dtype=np.uint64))
        return ends[rows.indptr[1:]] - ends[rows.indptr[:-1]]
    marks = np.empty(n, np.uint64)
    step = max(1, _BLOCK // max(1, d))
    for start in range(0, n, step):
        block = _bits(rows[start : start + step])
        marks[start : start + step] = _mixed(block * random[0] + random[1]).sum(axis=1)
    return marks


def _bits(values: NDArray[Any]) -> NDArray[np.uint64]:
    """Return the bits of numbers; -0 has the bits of 0."""
    values = np.ascontiguousarray(values + values.dtype.type(0))
    return values.view(np.uint32 if values.itemsize == 4 else np.uint64).astype(np.uint64)


def _mixed(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the bits stirred, so that sums of them differ."""
    bits ^= bits >> np.uint64(32)
    bits *= np.uint64(0x9E3779B97F4A7C15)
    bits ^= bits >> np.uint64(29)
    return bits
