"""How well labelled rows cover the graph of all rows.

A label is worth much if it tells much about rows that no label covers yet. That comes from
a field on the graph of all rows (`graphkm.fields.system`): with prior precision T = eps + L, and
labels with noise s at some rows, its covariance is

    P = (T + Z'Z / s)^(-1) ,   k(x, x') = z(x)' P z(x') ,

and a label at x takes sum_j k(x, x_j)^2 / (s + k(x, x)) off the variances of all rows. A row far
from all others has a large variance, and tells nothing about them: it is not preferred.

Variances do not depend on what the labels say, only on where they are. So the next row of a batch
is chosen as if the ones before it had been labelled already: a batch is spread by itself, and
without a model (a cold start) the rows that are chosen cover the graph.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_random_state

from .._util.parameters import refuse_masked
from ..estimators.data_checks import canonical_csr
from ..graphs import KNN, Anchors, RowNodes
from ..ridge.factors import spd_inverse

_ROWS = 20_000  # rows that can be chosen; of more a sample is drawn
_NODES = 1500  # up to so many rows, each is a node of the graph
_ANCHORS = 1000  # nodes of the graph of more rows
_COMPARED = 2000  # rows that are compared for a batch; of more a sample is drawn
_FAR, _NEAR = 0.02, 0.1  # eps: labels reach far at first, to find every group, and less later
_NOISE = 0.1  # variance of a label's noise, where the mean variance of a row is 1


class Cover:
    """Says how well labelled rows cover the graph of all rows, and which rows to label next.

    It is made once for a set of rows, and serves any number of models and labels.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
        The rows, as the model's graph sees them: numbers in comparable units.
    random_state : int, RandomState or None, default=0
        Draws the sample of more than 20,000 rows, and the anchors of more than 1,500.
    n_jobs : int or None, default=None
        Threads of the neighbour search.

    Attributes
    ----------
    rows : ndarray of int
        The rows that can be chosen: all, or a sample of 20,000.

    Examples
    --------
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
    >>> sorted(Cover(X).choose(2) // 3)
    [np.int64(0), np.int64(1)]
    """

    def __init__(self, X: Any, *, random_state: Any = 0, n_jobs: int | None = None) -> None:
        self._X = _checked(X)
        n = self._X.shape[0]
        if n < 2:
            raise ValueError("1 sample leaves no choice; pass at least 2 rows.")
        rng = check_random_state(random_state)
        self.rows = np.arange(n)
        if n > _ROWS:
            self.rows = np.sort(rng.permutation(n)[:_ROWS])
        self._place = np.full(n, -1)
        self._place[self.rows] = np.arange(len(self.rows))
        sample = self._X if n <= _ROWS else self._X[self.rows]
        part = KNN(weights="local") if len(self.rows) <= _NODES else Anchors(_ANCHORS)
        seed = int(rng.randint(2**31 - 1))
        graph = part.nodes(sample, seed=seed, n_jobs=n_jobs)
        self._nodes, self._z = graph.nodes, sp.csr_array(graph.rows)
        self._laplacian = graph.laplacian.toarray().astype(np.float64)
        self._priors: dict[float, tuple[NDArray[np.float64], float]] = {}
        self._all_z = self._z  # and weights of other rows that were asked for

    @property
    def n_rows(self) -> int:
        """The number of all rows."""
        return int(self._X.shape[0])

    def choose(
        self, n: int, labeled: ArrayLike = (), interest: NDArray[np.float64] | None = None
    ) -> NDArray[np.int64]:
        """Return rows to label next, the best first.

        Parameters
        ----------
        n : int
            How many; fewer come back if fewer are left.
        labeled : array-like of int, default=()
            Rows that have a label, or shall not be chosen for other reasons.
        interest : ndarray of shape (n_samples,), optional
            A factor of each row's worth, at least 0: the cover is the other. None is a cold start:
            labels are taken to reach farther along the graph, so that every group is found.

        Returns
        -------
        ndarray of int64
        """
        known = np.asarray(labeled, dtype=np.int64).ravel()
        free = np.ones(len(self._place), dtype=bool)
        free[known] = False
        worth = np.ones(len(free)) if interest is None else np.asarray(interest, dtype=np.float64)
        open_, value = free[self.rows], worth[self.rows]
        rng = np.random.default_rng(0)
        places = _drawn(np.flatnonzero(open_), value[open_], rng)
        others = _drawn(np.arange(len(self.rows)), np.ones(len(self.rows)), rng)
        P, z = self._posterior(known, _FAR if interest is None else _NEAR), self._z[places]
        best = _covering(n, self._z[others], z, np.asarray(z @ P), value[places])
        found = self.rows[places[best]]
        free[found] = False
        # If the whole sample has labels, the other rows come in the order of their worth.
        others = np.flatnonzero(free)
        return np.append(found, others[np.argsort(-worth[others], kind="stable")][: n - len(found)])

    def covariance(
        self,
        rows: NDArray[np.int64],
        others: NDArray[np.int64] | None = None,
        eps: float = _FAR,
    ) -> NDArray[np.float64]:
        """Return the covariance of the field before any label, of shape (n_others, n_rows).

        Parameters
        ----------
        rows, others : ndarray of int
            Any rows; `others` are ``self.rows`` by default.
        eps : float, default=0.02
            A smaller one carries labels farther along the graph.
        """
        left = self._z if others is None else self._weights(others)
        right, prior = self._weights(rows), self._prior(eps)[0]
        if left.shape[0] < right.shape[0]:  # the smaller product first
            return np.asarray(right @ (left @ prior).T).T
        return np.asarray(left @ (right @ prior).T)

    def field(
        self, rows: NDArray[np.int64], weights: NDArray[np.float64], eps: float = _FAR
    ) -> NDArray[np.float64]:
        """Return ``covariance(rows, eps=eps) @ weights``, without that matrix.

        Examples
        --------
        >>> cover, rows = Cover(np.arange(9.0)[:, None]), np.array([2, 5])
        >>> weights = np.array([[1.0], [-2.0]])
        >>> np.allclose(cover.field(rows, weights), cover.covariance(rows) @ weights)
        True
        """
        return np.asarray(self._z @ (self._prior(eps)[0] @ (self._weights(rows).T @ weights)))

    def unexplained(self, labeled: NDArray[np.int64], X: Any) -> NDArray[np.float64]:
        """Return the share of the field's variance that labels leave, at any rows.

        It is 1 where no label reaches, and far from all rows; near labels it is close to 0. Where
        every row of the cover is a node, another row is taken for one more node: given its
        neighbours, the field at it is their mean / (1 + eps), with the variance 1 / (1 + eps).

        Parameters
        ----------
        labeled : ndarray of int
            Rows of the cover that have a label.
        X : array or CSR matrix of shape (n, n_features)
            Any rows, those of the cover or others.

        Examples
        --------
        >>> cover = Cover(np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]))
        >>> cover.unexplained(np.array([0, 2]), np.array([[0.1], [5.1], [900.0]])).round(1)
        array([0.3, 1. , 1. ])
        """
        prior, factor = self._prior(_NEAR)
        z, own = sp.csr_array(self._nodes.weights(_checked(X))), self._weights(labeled)
        inner = own @ (own @ prior).T + _NOISE * np.eye(len(labeled))
        before = np.empty(z.shape[0])
        told = np.empty(z.shape[0])
        for start in range(0, z.shape[0], _COMPARED):  # as many rows at once as fit in memory
            some = slice(start, start + _COMPARED)
            reach = z[some] @ prior
            before[some] = np.asarray(z[some].multiply(reach).sum(axis=1)).ravel()
            both = own @ reach.T
            told[some] = np.einsum("ij,ij->j", both, np.linalg.solve(inner, both))
        if isinstance(self._nodes, RowNodes):
            other = z.max(axis=1).toarray().ravel() < 1.0  # a row that is a node has no neighbours
            told[other] /= (1.0 + _NEAR) ** 2
            before[other] = before[other] / (1.0 + _NEAR) ** 2 + 1.0 / (factor * (1.0 + _NEAR))
        near = np.minimum(np.asarray(z.sum(axis=1)).ravel(), 1.0) ** 2  # fades far from all rows
        return np.clip(1.0 - near * told / before, 0.0, 1.0)

    def unexplained_by_others(self, labeled: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the same at the labelled rows, each without its own label.

        Examples
        --------
        >>> cover = Cover(np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]))
        >>> cover.unexplained_by_others(np.array([0, 2, 4])).round(1)
        array([0.5, 0.5, 1. ])
        """
        own = self._weights(labeled)
        inner = np.asarray(own @ (own @ self._prior(_NEAR)[0]).T)
        before = inner.diagonal().copy()
        left = 1.0 / spd_inverse(inner + _NOISE * np.eye(len(labeled))).diagonal() - _NOISE
        return np.clip(left / before, 0.0, 1.0)

    def _prior(self, eps: float) -> tuple[NDArray[np.float64], float]:
        """Return the covariance of the nodes before any label, and its factor.

        It is the inverse of factor * (eps + L); rows have the mean variance 1.
        """
        if eps not in self._priors:
            found = spd_inverse(self._precision(eps))
            factor = float((self._z.T @ self._z).multiply(found).sum()) / len(self.rows)
            self._priors[eps] = found / factor, factor
        return self._priors[eps]

    def _precision(self, eps: float) -> NDArray[np.float64]:
        found = self._laplacian.copy()
        np.fill_diagonal(found, found.diagonal() + eps)
        return found

    def _weights(self, rows: NDArray[np.int64]) -> Any:
        """Return the weights of the nodes at any rows; those of rows beyond the sample are kept."""
        beyond = np.unique(rows[self._place[rows] < 0])
        if len(beyond):
            self._place[beyond] = self._all_z.shape[0] + np.arange(len(beyond))
            found = sp.csr_array(self._nodes.weights(self._X[beyond]))
            self._all_z = sp.vstack([self._all_z, found], format="csr")
        return self._all_z[self._place[rows]]

    def _posterior(self, known: NDArray[np.int64], eps: float) -> NDArray[np.float64]:
        """Return the covariance of the nodes, given labels at some rows."""
        prior, factor = self._prior(eps)
        if len(known) == 0:
            return prior
        z = self._weights(known)
        # With l labels and m nodes, the first way takes 2 m l (m + l) operations, the second m^3.
        if 2 * len(known) * (z.shape[1] + len(known)) < z.shape[1] ** 2:
            reach = z @ prior
            inner = z @ reach.T + _NOISE * np.eye(len(known))
            return np.asarray(prior - reach.T @ np.linalg.solve(inner, reach))
        return spd_inverse(factor * self._precision(eps) + (z.T @ z).toarray() / _NOISE)


def _covering(
    n: int, others: Any, z: Any, zP: NDArray[np.float64], worth: NDArray[np.float64]
) -> list[int]:
    """Return rows of z, each the best if those before it had labels already.

    Every row that is chosen takes an outer product off the covariances of P. It is never formed:
    only the sums of squares are corrected.
    """
    K, variance, worth = others @ zP.T, np.asarray(z.multiply(zP).sum(axis=1)).ravel(), worth.copy()
    squares = np.square(K).sum(axis=0)
    left, right = np.empty((K.shape[0], 0)), np.empty((len(worth), 0))
    chosen: list[int] = []
    for _ in range(min(n, len(worth))):
        best = int(np.argmax(worth * squares / (_NOISE + variance)))
        chosen.append(best)
        scale = np.sqrt(_NOISE + variance[best])
        column = (K[:, best] - left @ right[best]) / scale
        reach = (z @ zP[best] - right @ right[best]) / scale
        along = K.T @ column - right @ (left.T @ column)
        squares = np.maximum(squares - 2 * reach * along + (column @ column) * reach**2, 0.0)
        variance = np.maximum(variance - reach**2, 0.0)
        left, right = np.column_stack([left, column]), np.column_stack([right, reach])
        worth[best] = -1.0
    return chosen


def _drawn(
    rows: NDArray[np.int64], worth: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return the rows, or some of them if they are many, with chances in proportion to worth."""
    if len(rows) <= _COMPARED:
        return rows
    keys = rng.exponential(size=len(rows)) / np.maximum(worth, 1e-300)
    return np.sort(rows[np.argpartition(keys, _COMPARED)[:_COMPARED]])


def _checked(X: Any) -> Any:
    """Return rows as numbers, dense or CSR."""
    refuse_masked("X", X)
    rows = check_array(X, accept_sparse="csr", dtype=(np.float64, np.float32), input_name="X")
    return canonical_csr(rows) if sp.issparse(rows) else rows
