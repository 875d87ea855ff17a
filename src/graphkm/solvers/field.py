"""Fields: functions on the nodes of a graph, fitted to values at a few rows.

A field is g(x) = sum_j z_j(x) g_j, with z(x) the weights of the nodes at x. Its values minimise

    1/2 g' T g + C/2 sum_i s_i (r_i - z_i' g)^2 ,   T = eps + L^q ,

which is the linear system (T + C Z'SZ) g = C Z'S r, with one right-hand side per column of r.
The first term says that g is small (eps) and smooth on the graph (L). C says how far the values r
are believed.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import reverse_cuthill_mckee
from sklearn.exceptions import ConvergenceWarning

from .._memory import require_memory
from ..backends.columns import SparseColumns, columns_step, columns_turn
from ..graphs.nodes import NodeGraph, Nodes

Columns = NDArray[np.float32]

TOLERANCE = 1e-3
"""Conjugate gradients stop when every residual is at most this share of its right-hand side."""

_MOST = 1000  # steps
_BLOCK = 64  # columns of the inverse that are solved side by side


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
    """The fits of fields over one graph: any labels, any strength.

    Parameters
    ----------
    similarity : csr_array of shape (m, m)
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
    >>> from graphkm.graphs.search import NeighbourIndex
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
        # Neighbours are stored side by side, so that products find them in the cache.
        self._order = reverse_cuthill_mckee(similarity, symmetric_mode=True)
        self._similarity = SparseColumns(similarity[self._order][:, self._order])
        self._degree, self._tol, self._n_threads = degree, tol, n_threads

    def solve(self, data: FieldData, strength: Strength, start: Columns | None = None) -> Columns:
        """Return the values of g at the nodes; a start that is close saves steps."""
        found = np.empty(data.right.shape, np.float32)
        near = None if start is None else start[self._order]
        solved, residual = self._solve(data.ordered(self._order), strength, near)
        found[self._order] = solved
        self._warn_of(residual)
        return found

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
        m, worst = len(self._order), 0.0
        require_memory(
            4 * m * len(nodes),
            f"the kernel of a field between {m:,} nodes and {len(nodes):,} labelled rows",
            "Pass solver='field', which takes one column per class.",
        )
        place = np.argsort(self._order)
        found = np.empty((m, len(nodes)), np.float32)
        for start in range(0, len(nodes), _BLOCK):
            own = place[nodes[start : start + _BLOCK]]
            units = np.zeros((m, len(own)))
            units[own, np.arange(len(own))] = 1.0
            data = FieldData(np.zeros(m), None, units)
            solved, residual = self._solve(data, Strength(1.0, eps))
            found[self._order, start : start + _BLOCK] = solved
            worst = max(worst, residual)
        self._warn_of(worst)
        return found

    def _solve(
        self, data: FieldData, strength: Strength, start: Columns | None = None
    ) -> tuple[Columns, float]:
        """Return the values in the order of the system, and the largest residual."""
        matrix = _Matrix(self._similarity, self._degree, data, strength, self._n_threads)
        right = np.ascontiguousarray(strength.C * data.right, dtype=np.float32)
        solution = np.zeros_like(right) if start is None else start
        image = np.zeros_like(right)
        if start is not None:
            matrix.product(solution, image)
        residual = right - image
        direction = matrix.inverse[:, None] * residual
        wanted = self._tol**2 * _sums(right, right)
        squares, size = _sums(residual, residual), _sums(direction, residual)
        for _ in range(_MOST):
            going = squares > wanted
            if not going.any():
                break
            steep = matrix.product(direction, image)
            # Solved columns stay as they are: beyond their precision they would diverge.
            length = _ratio(size, steep, going)
            new, squares = columns_step(
                solution,
                residual,
                direction,
                image,
                length,
                matrix.inverse,
                n_threads=self._n_threads,
            )
            ratio = _ratio(new, size, going)
            columns_turn(direction, residual, matrix.inverse, ratio, n_threads=self._n_threads)
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
    """T + C Z'SZ, and the inverse of its diagonal, as far as that is known."""

    def __init__(
        self,
        similarity: SparseColumns,
        degree: int,
        data: FieldData,
        strength: Strength,
        n_threads: int,
    ) -> None:
        self._similarity, self._degree = similarity, degree
        self._across, self._C = data.across, np.float32(strength.C)
        self._n_threads = n_threads
        added = strength.eps + strength.C * data.diagonal
        self._added = added.astype(np.float32)
        self._whole = (1.0 + added).astype(np.float32)
        self.inverse = (1.0 / (1.0 + added)).astype(np.float32)

    def product(self, columns: Columns, out: Columns) -> NDArray[np.float64]:
        """Set out to the matrix times the columns, and return the columns' products with it."""
        if self._degree == 1 and self._across is None:
            return self._similarity.product(
                self._whole, -1.0, columns, out, n_threads=self._n_threads
            )
        ones, image = np.ones_like(self._added), columns
        for _ in range(self._degree):
            self._similarity.product(ones, -1.0, image, out, n_threads=self._n_threads)
            image = out.copy()
        out += self._added[:, None] * columns
        if self._across is not None:
            out += self._C * (self._across @ columns)
        return _sums(columns, out)


def _sums(a: Columns, b: Columns) -> NDArray[np.float64]:
    return np.einsum("ij,ij->j", a, b, dtype=np.float64)


def _ratio(
    a: NDArray[np.float64], b: NDArray[np.float64], where: NDArray[np.bool_]
) -> NDArray[np.float32]:
    """Return a / b, and 0 where it is not wanted."""
    out = np.divide(a, b, out=np.zeros_like(a), where=where & (b > 0))
    return out.astype(np.float32)


class FieldData(NamedTuple):
    """Values at some rows as the linear system sees them: Z'SZ and Z'S r."""

    diagonal: NDArray[np.float64]
    across: Any
    """Z'SZ without its diagonal; None where every row is its own node."""
    right: NDArray[np.float64]

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
        z = graph.rows[rows]
        weighted = z.multiply(weights[:, None]).tocsr()
        squares = (z.T @ weighted).tocsr()
        diagonal = squares.diagonal()
        across = None
        if squares.count_nonzero() > np.count_nonzero(diagonal):
            squares.setdiag(0)
            across = squares.astype(np.float32)
        return cls(diagonal, across, weighted.T @ values)

    def ordered(self, order: NDArray[np.int32]) -> FieldData:
        """Return the data with the nodes in another order."""
        across = None if self.across is None else self.across[order][:, order]
        return FieldData(self.diagonal[order], across, self.right[order])
