"""Peers that work on a nearest-neighbour graph of all rows.

spreading  scikit-learn's LabelSpreading(kernel="knn"): 8 numbers of neighbours x 5 alphas. The
           neighbours are searched for once; the kernel callable then gives the matrix that
           kernel="knn" would (k nearest, the row itself among them, weight 1).
           max_iter is 100 instead of 30, for large alphas need it
laplace    graphlearning's Laplace learning: 4 numbers of neighbours x 3 edge weights x 3
           reweightings of the graph near labels = 36 candidates; of graphs of several components
           those reweighted by "poisson" are left out, for the same reason as below
poisson    graphlearning's Poisson learning: 7 numbers of neighbours x 3 edge weights x class sizes
           left alone or matched to the shares of the labels = 42; on more than 10,000 rows only
           left alone, for the matching is slow. Without it, the unequal classes of usps come out
           alike in size. On a graph of several components its conjugate gradients do not stop, so
           there its gradient descent runs instead, for 200 steps at most

Without tuning, and where candidates tie: 7 neighbours (scikit-learn's default) and alpha = 0.99,
the value of its authors (Zhou et al., 2004), for scikit-learn's 0.2 hardly leaves the neighbours
of the labelled rows; 10 neighbours, Gaussian weights and no reweighting (graphlearning's examples).
"""

from __future__ import annotations

import contextlib
import functools
import io
import warnings
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.semi_supervised import LabelSpreading

from .neighbours import Search
from .tuning import LARGE, Parameters, best, grid

SPREADING_GRID = grid(n_neighbors=(7, 10, 5, 15, 20, 30, 40, 3), alpha=(0.99, 0.9, 0.8, 0.5, 0.2))
WEIGHTS = ("gaussian", "uniform", "symgaussian")
LAPLACE_GRID = grid(k=(10, 20, 5, 40), kernel=WEIGHTS, reweighting=("none", "poisson", "wnll"))
POISSON_GRID = grid(k=(10, 20, 5, 15, 7, 4, 40), kernel=WEIGHTS, label_priors=(False, True))


def connectivity(rows: np.ndarray, k: int) -> Any:
    """Return scikit-learn's kneighbors_graph: ones at the first k neighbours, a row its own first.

    Another matrix every time, because LabelSpreading may write into it.
    """
    n = len(rows)
    return sparse.csr_matrix(
        (np.ones(n * k), rows[:, :k].ravel(), np.arange(0, n * k + 1, k)), shape=(n, n)
    )


def spreading(X: Any, y: np.ndarray, search: Search, seed: int) -> tuple[np.ndarray, Parameters]:
    """Return predictions and parameters of label spreading."""
    rows, _ = search()
    numbers = np.arange(len(y))[:, None]  # the kernel needs no features, so none are copied

    def predict(candidate: Parameters, known: np.ndarray) -> np.ndarray:
        model = LabelSpreading(
            kernel=lambda *_: connectivity(rows, candidate["n_neighbors"]),
            alpha=candidate["alpha"],
            max_iter=100,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it may end at max_iter
            return model.fit(numbers, known).transduction_

    chosen = best(predict, SPREADING_GRID, y, seed)
    return predict(chosen, y), chosen


def _graph_learning(
    kind: str, candidates: list[Parameters], y: np.ndarray, search: Search, seed: int
) -> tuple[np.ndarray, Parameters]:
    import graphlearning

    found = search()

    @functools.lru_cache(maxsize=1)  # the folds of a candidate follow each other
    def graph(k: int, kernel: str) -> tuple[Any, bool]:
        # Copies, because some of its kernels write into them.
        data = tuple(part.copy() for part in found)
        W = graphlearning.weightmatrix.knn(None, k, kernel=kernel, knn_data=data)
        return graphlearning.graph(W), connected_components(W)[0] == 1

    def predict(candidate: Parameters, known: np.ndarray) -> np.ndarray:
        own = ("k", "kernel", "label_priors")
        options = {key: v for key, v in candidate.items() if key not in own}
        labelled = np.flatnonzero(known != -1)
        if candidate.get("label_priors"):
            options["class_priors"] = np.bincount(known[labelled]) / len(labelled)
        G, connected = graph(candidate["k"], candidate["kernel"])
        if not connected:
            if options.get("reweighting") == "poisson":
                raise ValueError("this reweighting needs a connected graph")  # a lost candidate
            if kind == "poisson":
                options |= {"solver": "gradient_descent", "max_iter": 200}
        model = getattr(graphlearning.ssl, kind)(G, **options)
        with np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
            return model.fit_predict(labelled, known[labelled])

    chosen = best(predict, candidates, y, seed)
    return predict(chosen, y), chosen


def laplace(X: Any, y: np.ndarray, search: Search, seed: int) -> tuple[np.ndarray, Parameters]:
    """Return predictions and parameters of Laplace learning."""
    return _graph_learning("laplace", LAPLACE_GRID, y, search, seed)


def poisson(X: Any, y: np.ndarray, search: Search, seed: int) -> tuple[np.ndarray, Parameters]:
    """Return predictions and parameters of Poisson learning."""
    candidates = [c for c in POISSON_GRID if len(y) <= LARGE or not c["label_priors"]]
    return _graph_learning("poisson", candidates, y, search, seed)
