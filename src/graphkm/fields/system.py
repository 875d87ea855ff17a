"""Fields: functions on the nodes of a graph, fitted to values at a few rows.

A field is g(x) = sum_j z_j(x) g_j, with z(x) the weights of the nodes at x. Its values minimise

    1/2 g' T g + C/2 sum_i s_i (r_i - z_i' g)^2 ,   T = eps + L^q ,

which is the linear system (T + C Z'SZ) g = C Z'S r, with one right-hand side per column of r.
The first term says that g is small (eps) and smooth on the graph (L). C says how far the values r
are believed.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from .._util.memory import require_memory
from ..backends import ColumnSystem, active
from ..graphs.nodes import NodeGraph, Nodes

Columns = NDArray[np.float32]
Table = Any  # of a backend

TOLERANCE = 1e-3
"""Conjugate gradients stop when every residual is at most this share of its right-hand side."""

_MOST = 1000  # most steps of conjugate gradients
_BLOCK = 64  # columns of the inverse that are solved together
_ROWS = 2**17  # rows that are added up together: each may reach ten nodes, and they may be millions


class Strength(NamedTuple):
    """How much a field follows the values it is fitted to."""

    C: float
    """Weight of the values against the prior."""
    eps: float
    """How strongly g is pulled to 0; small values carry far along the graph."""


@dataclass(frozen=True)
class Field:
    """A fitted field.

    Parameters
    ----------
    nodes : Nodes
        Where it lives.
    values : ndarray of float32 of shape (m, n_columns)
        g at the nodes.
    strength : Strength or None
        How it was fitted; None if it is a sum of several.
    objective : float
        What the fit minimised, summed over the columns; NaN if it is a sum of several.
    """

    nodes: Nodes
    values: Columns
    strength: Strength | None
    objective: float

    def __call__(self, X: Any) -> NDArray[np.float64]:
        """Return g at every row of X, of shape (n, n_columns)."""
        return np.asarray(self.nodes.weights(X) @ self.values, dtype=np.float64)


class FieldSystem:
    r"""The fits of fields over one graph: any labels, any strength.

    The values g of a field at the nodes minimise

    .. math::

        \frac{1}{2} g^T T g + \frac{C}{2} \sum_i s_i (r_i - z_i^T g)^2 ,
        \qquad T = \mathrm{eps} + L^q ,

    where r_i is the value at row i, s_i its weight, and z_i the weights of the nodes there.

    Parameters
    ----------
    similarity : csr_array of shape (m, m), or ColumnSystem with a shape
        S of the nodes' graph. The Laplacian is L = I - S.
    degree : int, default=1
        q, the power of the Laplacian.
    tol : float, default=TOLERANCE
        Largest residual, relative to the right-hand side.
    n_threads : int, default=1
        Threads of the sparse products.

    Examples
    --------
    >>> from graphkm.graphs.nodes import RowNodes
    >>> from graphkm.neighbours.index import NeighbourIndex
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
    >>> graph = RowNodes.graph(NeighbourIndex(X), n_neighbors=1)
    >>> data = FieldData.of(graph, np.array([0, 5]), np.ones(2), np.array([[-1.0], [1.0]]))
    >>> g = FieldSystem(graph.similarity).solve(data, Strength(C=1.0, eps=0.01))
    >>> np.sign(g).ravel().tolist()
    [-1.0, -1.0, -1.0, 1.0, 1.0, 1.0]
    """

    def __init__(
        self, similarity: Any, *, degree: int = 1, tol: float = TOLERANCE, n_threads: int = 1
    ) -> None:
        if isinstance(similarity, ColumnSystem):  # its rows are not here, or not in this form
            self._similarity = similarity
        else:
            self._similarity = active().columns(similarity, n_threads)
        self._degree, self._tol, self._n_nodes = degree, tol, similarity.shape[0]

    def solve(self, data: FieldData, strength: Strength) -> Columns:
        """Return the values of g at the nodes."""
        found = [self._solve(placed, strength) for placed in self._placed(data)]
        self._warn_of(max(residual for _, residual in found))
        return np.hstack([self._similarity.get(solved) for solved, _ in found])

    def along(
        self, data: FieldData, strengths: Iterable[Strength], at: Any
    ) -> Iterator[NDArray[np.float64]]:
        """Yield the fields of several strengths at some rows; each starts from the one before.

        Parameters
        ----------
        data : FieldData
            The values that all of them are fitted to.
        strengths : iterable of Strength
            From weak to strong: a start that is close saves steps.
        at : csr_array of shape (n_rows, m)
            The weights of the nodes at these rows.

        Yields
        ------
        ndarray of shape (n_rows, n_columns)
        """
        parts, reader = self._placed(data), self._similarity.reader(at)
        solved: list[Table | None] = [None] * len(parts)
        for strength in strengths:
            found = [
                self._solve(placed, strength, start)
                for placed, start in zip(parts, solved, strict=True)
            ]
            self._warn_of(max(residual for _, residual in found))
            solved = [table for table, _ in found]
            yield np.hstack([self._similarity.read(reader, table) for table in solved])

    def _placed(self, data: FieldData) -> list[_Placed]:
        """Return the data as tables of the system, cut to the width that it can take."""
        most = self._similarity.most_columns
        starts = range(0, data.right.shape[1], most)
        rights = (data.right[:, start : start + most] for start in starts)
        return [_Placed(self._similarity, data._replace(right=right)) for right in rights]

    def inverse(self, nodes: NDArray[np.int64], eps: float) -> Columns:
        """Return the columns of T^(-1) = (eps + L^q)^(-1) at some nodes.

        Parameters
        ----------
        nodes : ndarray of int of shape (n_columns,)
            Numbers of nodes.
        eps : float
            How strongly g is pulled to 0.

        Returns
        -------
        ndarray of float32 of shape (m, n_columns)
        """
        m = self._n_nodes
        require_memory(
            4 * m * len(nodes),
            f"the kernel of a field between {m:,} nodes and {len(nodes):,} labelled rows",
            "Label fewer rows, or pass solver='newton', which has landmarks.",
        )
        found = np.zeros((m, len(nodes)), np.float32)
        found[nodes, np.arange(len(nodes))] = 1.0
        return self.applied(found, eps)

    def applied(self, columns: Columns, eps: float) -> Columns:
        """Return T^(-1) times some columns, in their place.

        Parameters
        ----------
        columns : ndarray of float32 of shape (m, n_columns)
            They are overwritten.
        eps : float
            How strongly g is pulled to 0.
        """
        m, worst = self._n_nodes, 0.0
        for start in range(0, columns.shape[1], _BLOCK):
            own = np.ascontiguousarray(columns[:, start : start + _BLOCK])
            data = _Placed(self._similarity, FieldData(np.zeros(m), None, own))
            solved, residual = self._solve(data, Strength(1.0, eps))
            columns[:, start : start + _BLOCK] = self._similarity.get(solved)
            worst = max(worst, residual)
        self._warn_of(worst)
        return columns

    def moved(self, columns: Columns, steps: int = 1) -> Columns:
        """Return S times some columns: every node gets the mean of its neighbours, about.

        Parameters
        ----------
        columns : ndarray of float32 of shape (m, n_columns)
            Values at the nodes.
        steps : int, default=1
            How often S is applied.

        Examples
        --------
        >>> from scipy.sparse import csr_array
        >>> system = FieldSystem(csr_array([[0, 1], [1, 0]], dtype=np.float32))
        >>> system.moved(np.array([[2], [3]], np.float32)).tolist()
        [[3.0], [2.0]]
        """
        system, found = self._similarity, np.empty_like(columns)
        nothing = system.put(np.zeros(self._n_nodes))
        for start in range(0, columns.shape[1], _BLOCK):
            own = system.put(columns[:, start : start + _BLOCK])
            image = own.copy()
            for _ in range(steps):
                system.product(nothing, 1.0, own, image)
                own, image = image, own
            found[:, start : start + _BLOCK] = system.get(own)
        return found

    def _solve(
        self, data: _Placed, strength: Strength, start: Table | None = None
    ) -> tuple[Table, float]:
        """Return a table of values, and the largest residual. The start is overwritten."""
        system = self._similarity
        matrix = _Matrix(system, self._degree, data, strength)
        right = np.float32(strength.C) * data.right
        solution = np.zeros_like(right) if start is None else start
        image = np.zeros_like(right)
        if start is not None:
            matrix.product(solution, image)
        residual = right - image
        direction = matrix.inverse[:, None] * residual
        wanted = self._tol**2 * system.sums(right, right)
        squares, size = system.sums(residual, residual), system.sums(direction, residual)
        for _ in range(_MOST):
            going = squares > wanted
            if not going.any():
                break
            steep = matrix.product(direction, image)
            # Solved columns stay as they are: beyond their precision they would diverge.
            length = _ratio(size, steep, going)
            new, squares = system.step(solution, residual, direction, image, length, matrix.inverse)
            ratio = _ratio(new, size, going)
            system.turn(direction, residual, matrix.inverse, ratio)
            size = new
        left = np.divide(squares, wanted, out=np.zeros_like(wanted), where=squares > wanted)
        return solution, self._tol * float(np.sqrt(left.max(initial=0.0)))

    def _warn_of(self, residual: float) -> None:
        """Warn of a residual above the tolerance."""
        if residual <= self._tol:
            return
        warnings.warn(
            f"The field's linear system ended after {_MOST:,} steps of conjugate gradients with a "
            f"relative residual of {residual:.2g}, where {self._tol:g} was wanted: the field is "
            "inexact. Pass a larger eps (a smaller C_graph) or a smaller degree.",
            ConvergenceWarning,
            stacklevel=3,
        )


class _Matrix:
    """T + C Z'SZ, and the inverse of its diagonal, which is approximate."""

    def __init__(
        self,
        similarity: ColumnSystem,
        degree: int,
        data: _Placed,
        strength: Strength,
    ) -> None:
        self._similarity, self._degree = similarity, degree
        self._across, self._C = data.across, np.float32(strength.C)
        self._added = np.float32(strength.eps) + self._C * data.diagonal
        self._whole = np.float32(1.0) + self._added
        self.inverse = np.float32(1.0) / self._whole

    def product(self, columns: Table, out: Table) -> NDArray[np.float64]:
        """Write the matrix times `columns` to `out`; return each column's inner product with it."""
        if self._degree == 1 and self._across is None:
            return self._similarity.product(self._whole, -1.0, columns, out)
        ones, image = np.ones_like(self._added), columns
        for _ in range(self._degree):
            self._similarity.product(ones, -1.0, image, out)
            image = out.copy()
        out += self._added[:, None] * columns
        if self._across is not None:
            out += self._C * (self._across @ columns)
        return self._similarity.sums(columns, out)


class _Placed:
    """The data of a fit as tables of the system."""

    def __init__(self, similarity: ColumnSystem, data: FieldData) -> None:
        self.diagonal = similarity.put(data.diagonal)
        self.across = None if data.across is None else similarity.square(data.across)
        self.right = similarity.put(data.right)


def _ratio(
    a: NDArray[np.float64], b: NDArray[np.float64], where: NDArray[np.bool_]
) -> NDArray[np.float32]:
    """Return a / b where `where` is true, and 0 elsewhere."""
    out = np.divide(a, b, out=np.zeros_like(a), where=where & (b > 0))
    return out.astype(np.float32)


class FieldData(NamedTuple):
    """Values at some rows as the linear system sees them: Z'SZ and Z'S r."""

    diagonal: NDArray[np.float64]
    across: Any
    """Z'SZ without its diagonal; None where every row is its own node."""
    right: NDArray[np.floating[Any]]

    @classmethod
    def of(
        cls,
        graph: NodeGraph,
        rows: NDArray[np.int64],
        weights: NDArray[np.float64],
        values: NDArray[np.float64],
    ) -> FieldData:
        """Return the data of these rows.

        Parameters
        ----------
        graph : NodeGraph
            Its nodes.
        rows : ndarray of int
            Numbers of training rows.
        weights : ndarray of shape (len(rows),)
            s.
        values : ndarray of shape (len(rows), n_columns)
            r.
        """
        parts = [slice(i, i + _ROWS) for i in range(0, max(1, len(rows)), _ROWS)]
        each = (_sums_of(graph.rows[rows[part]], weights[part], values[part]) for part in parts)
        squares, right = reduce(lambda one, more: (one[0] + more[0], one[1] + more[1]), each)
        squares = squares.tocsr()
        diagonal = squares.diagonal()
        across = None
        if squares.count_nonzero() > np.count_nonzero(diagonal):
            squares.setdiag(0)
            across = squares.astype(np.float32)
        return cls(diagonal, across, right)


def _sums_of(
    z: Any, weights: NDArray[np.float64], values: NDArray[np.float64]
) -> tuple[Any, NDArray[np.float64]]:
    """Return Z'SZ and Z'S r of some rows."""
    weighted = z.multiply(weights[:, None]).tocsr()
    return z.T @ weighted, weighted.T @ values
