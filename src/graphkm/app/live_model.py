"""A model that is fitted in milliseconds, with the scores that it would have without each label.

It is kernel ridge regression. Its kernel is a weighted mean of a Gaussian kernel and the covariance
of the field on the graph of all rows (`graphkm.active.Cover`). With l labels, one inverse of an
l x l matrix gives the scores, and the score of each labelled row without its own label. With more
than 800 labels, 800 of their rows are landmarks (`LandmarkRidge`), and the matrix stays that size.
Held-out squared errors choose how much the graph counts, the width of the kernel and the noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..active import Cover
from ..kernels import resolve_gamma
from ..ridge.factors import spd_inverse
from .landmarks import LandmarkRidge

_SQUARED = (0, 2)  # how often the kernel is squared: twice makes gamma four times as large
_SHARES = (0.5, 1.0)  # weights of the graph in the kernel that are tried, besides 0
_REACHES = (0.1, 0.01)  # values of eps that are tried: a smaller one carries labels farther
_NOISES = (0.01, 0.1, 1.0)  # variances of the labels' noise that are tried
_CHOSEN_BY = 300  # labels that choose a setting, at most: more take long and hardly change it
_LANDMARKS = 800  # up to so many labels a fit is exact; with more, so many of them are landmarks
_GROWN = 1.25  # landmarks are chosen anew when there are so many times as many labels
_BLOCK = 64  # columns that are worked on at once
_NOTHING = 1e-9  # smaller kernel values become 0; its fourth power is still a normal float32


class Setting(NamedTuple):
    """What held-out labels choose; `reach` and `width` are places in the lists above."""

    share: float
    reach: int
    width: int
    noise: float


_KINDS = [(0.0, 0), *((share, reach) for share in _SHARES for reach in range(len(_REACHES)))]
_SETTINGS = [
    Setting(share, reach, width, noise)
    for share, reach in _KINDS
    for width in range(len(_SQUARED) if share < 1 else 1)
    for noise in _NOISES
]


@dataclass(frozen=True)
class Fit:
    """What a fit has found.

    Parameters
    ----------
    rows : ndarray of int
        The labelled rows.
    scores : ndarray of shape (n_sample, n_columns)
        Scores of the sample's rows: one column for each class, or one for the quantity.
    held_out : ndarray of shape (n_labeled, n_columns)
        Scores of the labelled rows, each without its own label.
    without : ndarray of shape (n_labeled, n_columns)
        The same scores of a model without the graph.
    setting : Setting
        The choices of the held-out labels.
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

    def __post_init__(self) -> None:
        """Prepare the rows that scores are computed for."""
        self._sample = self.X[self.cover.rows]
        self._gamma = resolve_gamma("spread", self._sample)
        n, size = self.X.shape[0], min(_LANDMARKS, self.X.shape[0])
        # A random order: if many rows are labelled, the first choose settings or are landmarks.
        self._turn = np.random.default_rng(0).permutation(n)
        self._landmarks, self._enough_for = np.empty(0, np.int64), 0.0
        self._machines: dict[Setting, LandmarkRidge] = {}
        # Kernel values between the sample and some rows; a row that goes frees its column.
        self._near = np.zeros((len(self.cover.rows), size), np.float32, order="F")
        self._column: dict[int, int] = {}
        self._judged: tuple[NDArray[Any], NDArray[Any], dict[Setting, float]] | None = None

    def fit(self, rows: NDArray[np.int64], targets: NDArray[np.float64]) -> Fit:
        """Return the fit to targets at some rows, of shape (n_labeled, n_columns)."""
        mean = targets.mean(axis=0)
        Y, errors = targets - mean, self._errors(rows, targets)
        few = len(rows) <= self._near.shape[1]
        if not few:
            self._choose_landmarks(rows)
        # At most 300 labels choose width, reach and noise; all labels choose the share.
        tried = [
            min((one for one in errors if one.share == share), key=lambda one: (errors[one], one))
            for share in (0.0, *_SHARES)
        ]
        self._machines = {one: m for one, m in self._machines.items() if one in tried}
        solved = {
            one: self._few(rows, Y, one) if few else self._many(rows, Y, one) for one in tried
        }
        best = min(tried, key=lambda one: float(np.square(solved[one][1] - Y).mean()))
        return Fit(
            rows=rows,
            scores=self._scores(rows if few else self._landmarks, solved[best][0], best) + mean,
            held_out=solved[best][1] + mean,
            without=solved[tried[0]][1] + mean,
            setting=best,
        )

    def told_by(
        self,
        rows: NDArray[np.int64],
        targets: NDArray[np.float64],
        setting: Setting,
        chosen: NDArray[np.bool_],
        tested: NDArray[np.bool_],
    ) -> NDArray[np.float64]:
        """Return the scores of some labelled rows, from a fit to the labels of others.

        Parameters
        ----------
        rows, targets
            The labelled rows, and their targets.
        setting : Setting
            That of the fit.
        chosen, tested : ndarray of bool of shape (n_labeled,)
            The labels that are fitted, and the rows that are scored.
        """
        some, Y = rows[chosen], targets[chosen]
        mean = Y.mean(axis=0)
        K = self._kernel(some, some, setting) + setting.noise * np.eye(len(some))
        return self._kernel(rows[tested], some, setting) @ (spd_inverse(K) @ (Y - mean)) + mean

    def _choose_landmarks(self, rows: NDArray[np.int64]) -> None:
        """Choose landmarks, if labels have grown enough: all sums begin anew with new ones."""
        if len(rows) <= self._enough_for:
            return
        first = np.argsort(self._turn[rows])[: self._near.shape[1]]
        self._landmarks, self._machines = np.sort(rows[first]), {}
        self._enough_for = _GROWN * len(rows)

    def _errors(
        self, rows: NDArray[np.int64], targets: NDArray[np.float64]
    ) -> dict[Setting, float]:
        """Return the held-out error of every setting, which is kept until its labels change."""
        among = np.argsort(self._turn[rows])[:_CHOSEN_BY]
        some, wanted = rows[among], targets[among]
        if self._judged is not None:
            before, known, errors = self._judged
            if np.array_equal(before, some) and np.array_equal(known, wanted):
                return errors
        d2 = self._between(some, some)
        along = [self._along(some, some, reach) for reach in range(len(_REACHES))]
        Y = wanted - targets.mean(axis=0)
        errors = {}
        for one in _SETTINGS:
            K = self._mixed(d2, along[one.reach], one)
            inverse = spd_inverse(K + one.noise * np.eye(len(some)))
            errors[one] = float(np.square(_held_out(inverse, Y) - Y).mean())
        self._judged = some, wanted, errors
        return errors

    def _few(
        self, rows: NDArray[np.int64], Y: NDArray[np.float64], setting: Setting
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the weights of the labelled rows, and the score of each without its label."""
        K = self._kernel(rows, rows, setting)
        inverse = spd_inverse(K + setting.noise * np.eye(len(rows)))
        return inverse @ Y, _held_out(inverse, Y)

    def _many(
        self, rows: NDArray[np.int64], Y: NDArray[np.float64], setting: Setting
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the landmarks' weights, and the score of each labelled row without its label."""

        def kernel(some: NDArray[np.int64]) -> NDArray[np.float64]:
            return self._kernel(some, self._landmarks, setting)

        if setting not in self._machines:
            self._machines[setting] = LandmarkRidge(kernel(self._landmarks), setting.noise)
        machine = self._machines[setting]
        machine.take(rows, kernel)
        place = np.searchsorted(self._landmarks, rows) % len(self._landmarks)
        return machine.solve(Y, np.where(self._landmarks[place] == rows, place, -1))

    def _kernel(
        self, some: NDArray[np.int64], others: NDArray[np.int64], setting: Setting
    ) -> NDArray[np.float64]:
        along = self._along(some, others, setting.reach) if setting.share else np.zeros(1)
        return self._mixed(self._between(some, others), along, setting)

    def _mixed(
        self, d2: NDArray[np.float64], along: NDArray[np.float64], setting: Setting
    ) -> NDArray[np.float64]:
        if setting.share == 1:
            return along
        near = np.exp(-(2.0 ** _SQUARED[setting.width]) * self._gamma * d2)
        return np.asarray((1 - setting.share) * near + setting.share * along)

    def _between(self, some: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return squared distances."""
        from sklearn.metrics.pairwise import euclidean_distances

        # Only if it gets one set of rows does the function make distances to themselves exactly 0.
        more = () if some is others else (self.X[others],)
        return np.asarray(euclidean_distances(self.X[some], *more, squared=True))

    def _along(
        self, some: NDArray[np.int64], others: NDArray[np.int64], reach: int
    ) -> NDArray[np.float64]:
        """Return covariances on the graph."""
        return self.cover.covariance(others, some, _REACHES[reach])

    def _scores(
        self, rows: NDArray[np.int64], weights: NDArray[np.float64], setting: Setting
    ) -> NDArray[np.float64]:
        """Return the kernel between the sample and some rows, times their weights."""
        found = np.zeros((len(self._near), weights.shape[1]))
        if setting.share:
            found += self.cover.field(rows, setting.share * weights, _REACHES[setting.reach])
        if setting.share == 1:
            return found
        self._fill(rows)
        placed = np.zeros((self._near.shape[1], weights.shape[1]), np.float32)
        placed[[self._column[row] for row in rows.tolist()]] = (1 - setting.share) * weights
        for start in range(0, 1 + max(self._column.values()), _BLOCK):
            near = self._near[:, start : start + _BLOCK]
            for _ in range(_SQUARED[setting.width]):
                near = np.square(near)
            found += near @ placed[start : start + _BLOCK]
        return found

    def _fill(self, rows: NDArray[np.int64]) -> None:
        """Have a column for each of these rows, and for no other."""
        from sklearn.metrics.pairwise import euclidean_distances

        self._column = {row: self._column.get(row, -1) for row in rows.tolist()}
        new = [row for row, column in self._column.items() if column < 0]
        free = iter(sorted(set(range(self._near.shape[1])) - set(self._column.values())))
        for start in range(0, len(new), _BLOCK):
            some = new[start : start + _BLOCK]
            d2 = euclidean_distances(self._sample, self.X[some], squared=True)
            near = np.exp(-self._gamma * d2)
            near[near < _NOTHING] = 0.0
            for row, values in zip(some, near.T, strict=True):
                self._column[row] = next(free)
                self._near[:, self._column[row]] = values


def _held_out(inverse: NDArray[np.float64], Y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the prediction of a ridge regression for each row without its own target.

    Examples
    --------
    >>> _held_out(np.eye(2) / 2.0, np.array([[1.0], [2.0]]))
    array([[0.],
           [0.]])
    """
    return np.asarray(Y - (inverse @ Y) / inverse.diagonal()[:, None])
