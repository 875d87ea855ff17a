"""A model and fields that follow clusters, added up: their shares are chosen on held-out labels.

Picking the best of many candidates picks much luck. So the fits of one kind are averaged, the
better the more they count. The shares of the model and of the averages minimise the squared error
of the held-out labels. They are not negative and sum to 1, and one more label speaks for the model
alone. Only then the best of a few is taken: the model, an average, or the sum.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from .._progress import progress_bar
from .._threads import blas_threads_for
from ..graphs.distinct import Copies, row_marks
from ..judge.folds import Folds
from ..members.features import LARGEST
from ..solvers.field import Field
from .clusters import FITS, ClusterFits, cluster_features
from .correction import Candidate, Judged, Known, Loss

Columns = NDArray[np.float64]
Shares = NDArray[np.float64]

_TEMPERATURE = 0.3  # labels: a fit with so much more loss counts for 1 / e of the best one
_LEAST = 0.01  # shares below are 0
_SURE = 1.0  # standard errors by which a field must beat the model
_TOGETHER = 1e3  # weight of the condition that shares sum to 1


class Blend:
    """A model with fields that follow clusters.

    Parameters
    ----------
    known : Known
        The labelled rows.
    n_threads : int, default=1
        Threads of sparse products.
    verbose : bool, default=False
        Show a progress bar.
    """

    def __init__(self, known: Known, n_threads: int = 1, verbose: bool = False) -> None:
        self._graph, self._prior, self._verbose = known.graph, known.prior, verbose
        self._weights, self._targets = known.weights / known.weights.mean(), known.targets
        self._model, self._marks = known.held_out, row_marks(known.graph.rows)
        with self._few_threads():
            self._every = list(cluster_features(known.graph, n_threads))
            self._features = [each.phi for each in self._every]
            self._kinds = np.repeat([each.kind for each in self._every], FITS)
            self._names = list(dict.fromkeys(self._kinds.tolist()))
            copies = Copies.of(self._marks)
            self._fits = ClusterFits(self._features, self._weights, self._targets, copies)

    def judge(self, folds: Folds, loss: Loss) -> Judged:
        """Judge the model alone, each kind of field alone, and the sum of all.

        The outputs are honest: what is said of a fold was fitted without its labels, and what the
        choice says was chosen without them.
        """
        everyone = np.arange(len(self._targets))
        with self._few_threads():
            self._averages = self._averaged(self._fits, everyone, loss)
            shares = self._blended(self._fits, everyone, self._averages)
            outputs = []
            with progress_bar(self._verbose, total=len(folds), unit="fold", desc="search") as bar:
                for train, test in folds:
                    outputs.append(self._said(train, test, loss))
                    bar.update()
        candidates = [Candidate(1.0, {})]
        candidates += [Candidate(0.0, self._named(own)) for own in np.eye(len(self._names))]
        candidates += [Candidate(float(shares[0]), self._named(shares[1:]))]
        rows = np.concatenate([test for _, test in folds])
        every = list(np.concatenate(outputs, axis=1))
        lost, wrong = map(np.array, zip(*(loss(each, rows) for each in every), strict=True))
        weights = self._weights[rows]
        best = _best(lost, weights)
        if best:
            # The best of several is so by luck, too. So it is shown by what each fold would have
            # got if the others had chosen.
            fold = np.repeat(np.arange(len(folds)), [len(test) for _, test in folds])
            others = [_best(lost[:, fold != k], weights[fold != k]) for k in range(len(folds))]
            chosen = np.array(others)[fold], np.arange(len(rows))
            shown = np.array(every)[chosen]
            best = best if weights @ wrong[chosen] <= weights @ wrong[0] else 0
        means = np.average(lost, axis=1, weights=weights)
        return Judged(candidates, means, best, every, rows, shown if best else None)

    def _few_threads(self) -> AbstractContextManager[Any]:
        return blas_threads_for(len(self._targets), LARGEST)

    def fit(self, candidate: Candidate) -> Field:
        """Return the fields of a candidate as one."""
        share = np.array([candidate.field[kind] for kind in self._names])
        values = self._fits.blended(self._every, share @ self._averages)
        values = values + share.sum() * (self._fits.mean - self._prior)
        return Field(self._graph.nodes, values.astype(np.float32), None, float("nan"))

    def _named(self, shares: Shares) -> dict[str, float]:
        return dict(zip(self._names, shares.tolist(), strict=True))

    def _said(self, train: NDArray[np.int64], test: NDArray[np.int64], loss: Loss) -> Columns:
        """Return what every candidate says of a fold whose labels it has not seen."""
        fits = ClusterFits(
            [phi[train] for phi in self._features],
            self._weights[train],
            self._targets[train],
            Copies.of(self._marks[train]),
        )
        averages = self._averaged(fits, train, loss)
        fields = np.tensordot(averages, fits.at([phi[test] for phi in self._features]), axes=1)
        parts = np.concatenate([self._model[test][None], fields])
        together = np.tensordot(self._blended(fits, train, averages), parts, axes=1)
        return np.concatenate([parts, together[None]])

    def _averaged(self, fits: ClusterFits, rows: NDArray[np.int64], loss: Loss) -> Shares:
        """Return the share of every fit in the average of its kind, of shape (kinds, fits)."""
        lost = np.array([loss(each, rows)[0] for each in fits.held_out]) @ self._weights[rows]
        shares = np.zeros((len(self._names), len(lost)))
        for place, kind in enumerate(self._names):
            own = np.flatnonzero(self._kinds == kind)
            share = np.exp((lost[own].min() - lost[own]) / _TEMPERATURE)
            share[share < _LEAST] = 0.0
            shares[place, own] = share / share.sum()
        return shares

    def _blended(self, fits: ClusterFits, rows: NDArray[np.int64], averages: Shares) -> Shares:
        """Return the shares of the model and of the averages."""
        weights, targets = self._weights[rows], self._targets[rows]
        fields = np.tensordot(averages, fits.held_out, axes=1)
        parts = np.concatenate([self._model[rows][None], fields])
        mean = np.average(targets, axis=0, weights=weights)
        spread = float(np.average(np.square(targets - mean).sum(axis=1), weights=weights))
        root = np.sqrt(weights)[:, None]
        known = (root * (targets - mean)).ravel()
        n = len(parts)
        own = np.sqrt(spread) * np.eye(n)
        left = np.vstack(
            [(root * (parts - mean)).reshape(n, -1).T, own, np.full((1, n), _TOGETHER)]
        )
        found = nnls(left, np.concatenate([known, own[0], [_TOGETHER]]))[0]
        return np.asarray(found / found.sum())


def _best(lost: Columns, weights: NDArray[np.float64]) -> int:
    """Return the candidate with the least loss, if it beats the first by some standard errors."""
    best = int(np.argmin(lost @ weights))
    gains = lost[0] - lost[best]
    gain = np.average(gains, weights=weights)
    spread = np.sqrt(np.square(weights * (gains - gain)).sum()) / weights.sum()
    return best if gain > _SURE * spread else 0
