"""Ridge regression over landmarks: any number of labels, at a size that does not grow with them.

f(x) = k(x, U) w over fixed landmarks U minimises the squared errors at the labelled rows plus
noise * w' K w, where K = L L' is the kernel matrix of the landmarks. With phi(x) = L^(-1) k(U, x)
that is ridge regression on phi. Each new label corrects the inverse of its matrix, and the
leverages h, by a term of rank one. With h, f at a row without its own label has a closed form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from ..ridge.factors import safe_cholesky, spd_inverse

# This is added to K's diagonal. Where landmarks are copies, less would do for the factor, but the
# features, which are float32, would have fewer than four right digits.
_RAISED = 1e-6
_BLOCK = 512  # labelled rows that are held in double precision at once


class LandmarkRidge:
    """Ridge regression of targets at labelled rows that come and go.

    Parameters
    ----------
    own : ndarray of shape (m, m)
        The kernel matrix of the landmarks.
    noise : float
        What is added to the diagonal of the ridge regression's matrix.

    Examples
    --------
    >>> X = np.arange(6.0)
    >>> kernel = lambda a, b: np.exp(-np.square(np.subtract.outer(X[a], X[b])))
    >>> landmarks, rows = np.array([0, 2, 4]), np.array([1, 3, 5, 2])
    >>> machine = LandmarkRidge(kernel(landmarks, landmarks), 0.1)
    >>> machine.take(rows, lambda some: kernel(some, landmarks))
    >>> weights, held_out = machine.solve(X[rows, None], np.array([-1, -1, -1, 1]))
    >>> weights.shape, held_out.shape
    ((3, 1), (4, 1))
    """

    def __init__(self, own: NDArray[np.float64], noise: float) -> None:
        size = len(own)
        root = safe_cholesky(own + _RAISED * np.eye(size))
        self._to_features = solve_triangular(root, np.eye(size), lower=True)  # L^(-1)
        self._noise, self._inverse = noise, np.eye(size) / noise
        self._line: dict[int, int] = {}  # of each labelled row in `_features`
        self._features = np.empty((0, size), np.float32)
        self._leverages = np.empty(0)

    def take(
        self,
        rows: NDArray[np.int64],
        kernel: Callable[[NDArray[np.int64]], NDArray[np.float64]],
    ) -> None:
        """Make these the labelled rows; `kernel(some)` is that between some rows and landmarks."""
        line = np.array([self._line.get(row, -1) for row in rows.tolist()], dtype=np.int64)
        new = np.flatnonzero(line < 0)
        gone = self._features[np.setdiff1d(np.arange(len(self._features)), line)]
        if len(self._features) == 0:
            self._features = np.empty((1, len(self._inverse)), np.float32)
            self._leverages = np.empty(1)
        # The lines of new rows hold arbitrary numbers until they are filled below.
        self._features, self._leverages = self._features[line], self._leverages[line]
        for start in range(0, len(new), _BLOCK):
            some = new[start : start + _BLOCK]
            self._features[some] = kernel(rows[some]) @ self._to_features.T
        self._line = {row: k for k, row in enumerate(rows.tolist())}
        changed = np.vstack([self._features[new], gone]).astype(np.float64)
        if 2 * len(changed) > len(rows):  # the sum over all of them costs less
            self._sum_all()
        elif len(changed):
            self._correct(changed, np.repeat([1.0, -1.0], [len(new), len(gone)]))
            self._leverages[new] = self._leverages_of(changed[: len(new)])

    def solve(
        self, Y: NDArray[np.float64], landmark: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return w, and f at each labelled row without its own label.

        `landmark` holds, for each labelled row, its number among the landmarks, or -1. Without its
        label a row would not be a landmark, so it is taken out of the landmarks as well.
        """
        right = sum(block.T @ Y[place] for place, block in self._blocks())
        found = self._inverse @ np.asarray(right)
        fitted = self._features @ found.astype(np.float32)
        rest, left = Y - fitted, (1 - self._leverages)[:, None]
        held_out = Y - rest / left
        at = np.flatnonzero(landmark >= 0)
        if len(at):
            q = self._to_features[:, landmark[at]]  # the weight of the landmark is q' found
            Bq, rest, left = self._inverse @ q, rest[at], left[at]
            along = np.einsum("ij,ji->i", self._features[at].astype(np.float64), Bq)[:, None]
            own = q.T @ found - along * rest / left
            size = np.einsum("ij,ij->j", q, Bq)[:, None] + along**2 / left
            held_out[at] -= along / left * own / size
        return self._to_features.T @ found, held_out

    def _blocks(self) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        for start in range(0, len(self._features), _BLOCK):
            place = slice(start, start + _BLOCK)
            yield place, self._features[place].astype(np.float64)

    def _leverages_of(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.einsum("ij,ij->i", features @ self._inverse, features))

    def _sum_all(self) -> None:
        matrix = self._noise * np.eye(len(self._inverse))
        for _, block in self._blocks():
            matrix += block.T @ block
        self._inverse = spd_inverse(matrix)
        for place, block in self._blocks():
            self._leverages[place] = self._leverages_of(block)

    def _correct(self, changed: NDArray[np.float64], signs: NDArray[np.float64]) -> None:
        """Correct inverse and leverages by Woodbury's formula: rows come (1) or go (-1)."""
        G = self._inverse @ changed.T
        inner = np.diag(signs) + changed @ G
        self._inverse -= G @ np.linalg.solve(inner, G.T)
        reach = self._features @ G.astype(np.float32)
        self._leverages -= (reach * np.linalg.solve(inner, reach.T).T).sum(axis=1)
