"""A machine that is fitted in milliseconds, and says what it would have said without each label.

The prior of its scores is the sum of a Gaussian kernel and of the field on the graph of all rows
(`graphkm.active.Cover`); the labels are values with noise. Scores, and what they were without each
label, come from one factorisation of a matrix of the size of the labels. How much the graph counts,
the width of the kernel and the noise are chosen by the held-out squared errors.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..active import Cover
from ..kernels import resolve_gamma

_WIDTHS = (1.0, 4.0)  # gamma, in units of one over the spread
_SHARES = (0.5, 1.0)  # of the graph
_REACHES = (0.1, 0.01)  # eps: how far labels are carried along the graph
_NOISES = (0.01, 0.1, 1.0)
_CHOSEN_BY = 300  # labels that decide on shares, widths and noise; more cost more than they tell


class Setting(NamedTuple):
    """What is chosen on held-out labels."""

    share: float
    reach: int
    width: int
    noise: float


_KINDS = [(0.0, 0), *((share, reach) for share in _SHARES for reach in range(len(_REACHES)))]
_SETTINGS = [Setting(*k, w, n) for k in _KINDS for w in range(len(_WIDTHS)) for n in _NOISES]


@dataclass(frozen=True)
class Fit:
    """What is known after some labels.

    Parameters
    ----------
    rows : ndarray of int
        The labelled rows.
    scores : ndarray of shape (n_sample, n_columns)
        Of the sample's rows: one column per class, or the quantity.
    held_out : ndarray of shape (n_labeled, n_columns)
        Of the labelled rows, each without its own label.
    without : ndarray of shape (n_labeled, n_columns)
        The same, without the graph.
    setting : Setting
        What was chosen.
    """

    rows: NDArray[np.int64]
    scores: NDArray[np.float64]
    held_out: NDArray[np.float64]
    without: NDArray[np.float64]
    setting: Setting


@dataclass
class LiveModel:
    """Kernel ridge regression of class shares or quantities.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        All rows, in comparable units.
    cover : Cover
        Their graph. Scores are computed for ``cover.rows``.

    Examples
    --------
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
    >>> model = LiveModel(X, Cover(X))
    >>> fit = model.fit(np.array([0, 5]), np.eye(2))
    >>> fit.scores.argmax(axis=1)
    array([0, 0, 0, 1, 1, 1])
    """

    X: Any
    cover: Cover
    _columns: dict[int, NDArray[np.float32]] = field(default_factory=dict)
    _field: dict[tuple[int, int], NDArray[np.float32]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Prepare the rows that scores are computed for."""
        self._sample = self.X[self.cover.rows]
        self._gamma = resolve_gamma("spread", self._sample)

    def fit(self, rows: NDArray[np.int64], targets: NDArray[np.float64]) -> Fit:
        """Return the fit to targets at some rows, of shape (n_labeled, n_columns)."""
        among = np.arange(len(rows))
        if len(rows) > _CHOSEN_BY:
            among = np.random.default_rng(0).permutation(len(rows))[:_CHOSEN_BY]
        d2, graph = self._known(rows)
        mean = targets.mean(axis=0)
        Y = targets - mean
        pieces = np.ix_(among, among)
        known = d2[pieces], [one[pieces] for one in graph]
        errors = {
            one: np.square(
                _held_out(self._kernel(*known, one), Y[among], one.noise) - Y[among]
            ).mean()
            for one in _SETTINGS
        }
        best = min(errors, key=lambda one: (errors[one], one))
        alone = min((one for one in _SETTINGS if one.share == 0), key=lambda one: errors[one])
        K = self._kernel(d2, graph, best)
        weights = np.linalg.solve(K + best.noise * np.eye(len(rows)), Y)
        return Fit(
            rows=rows,
            scores=self._everywhere(rows, best) @ weights + mean,
            held_out=_held_out(K, Y, best.noise) + mean,
            without=_held_out(self._kernel(d2, graph, alone), Y, alone.noise) + mean,
            setting=best,
        )

    def _kernel(
        self, d2: NDArray[Any], graph: list[NDArray[Any]], setting: Setting
    ) -> NDArray[np.float64]:
        share, along = setting.share, graph[setting.reach]
        if share == 1:
            return np.asarray(along, dtype=np.float64)
        near = np.exp(-_WIDTHS[setting.width] * self._gamma * d2)
        return np.asarray((1 - share) * near + share * along, dtype=np.float64)

    def _everywhere(self, rows: NDArray[np.int64], setting: Setting) -> NDArray[np.float64]:
        """Return the kernel between the sample and labelled rows."""
        d2 = np.column_stack([self._columns[row] for row in rows.tolist()])
        graph: list[NDArray[Any]] = [np.zeros(1)] * len(_REACHES)
        if setting.share:
            columns = [self._field[row, setting.reach] for row in rows.tolist()]
            graph[setting.reach] = np.column_stack(columns)
        return self._kernel(d2, graph, setting)

    def _known(self, rows: NDArray[np.int64]) -> tuple[NDArray[Any], list[NDArray[Any]]]:
        """Return squared distances and covariances on the graph between labelled rows."""
        from sklearn.metrics.pairwise import euclidean_distances

        new = [row for row in rows.tolist() if row not in self._columns]
        if new:
            found = euclidean_distances(self._sample, self.X[new], squared=True)
            for k, row in enumerate(new):
                self._columns[row] = found[:, k].astype(np.float32)
            for reach, eps in enumerate(_REACHES):
                graph = self.cover.covariance(np.array(new), eps=eps).astype(np.float32)
                self._field |= {(row, reach): graph[:, k] for k, row in enumerate(new)}
        own = euclidean_distances(self.X[rows], squared=True)
        return own, [self.cover.covariance(rows, rows, eps) for eps in _REACHES]


def _held_out(K: NDArray[np.float64], Y: NDArray[np.float64], noise: float) -> NDArray[np.float64]:
    """Return what a ridge regression says of each row without its own target.

    Examples
    --------
    >>> _held_out(np.eye(2), np.array([[1.0], [2.0]]), 1.0)
    array([[0.],
           [0.]])
    """
    inverse = np.linalg.inv(K + noise * np.eye(len(K)))
    return np.asarray(Y - (inverse @ Y) / inverse.diagonal()[:, None])
