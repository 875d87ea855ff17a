"""Methods that work on a graph of all rows: that of nearest neighbours, or the given one.

spreading    scikit-learn's LabelSpreading(kernel="knn"): 8 numbers of neighbours x 5 alphas. The
             neighbours are searched for once; the kernel callable then gives the matrix that
             kernel="knn" would (k nearest, the row itself among them, weight 1).
             max_iter is 100 instead of 30, for large alphas need it
propagation  scikit-learn's LabelPropagation in the same way: 8 numbers of neighbours
laplace      graphlearning's Laplace learning: 4 numbers of neighbours x 3 edge weights x 3
             reweightings of the graph near labels = 36 candidates; of graphs of several components
             those reweighted by "poisson" are left out, for the same reason as below
poisson      graphlearning's Poisson learning: 7 numbers of neighbours x 3 edge weights x class
             sizes left alone or matched to the shares of the labels = 42; on more than 10,000 rows
             only left alone, for the matching is slow. Without it, the unequal classes of usps
             come out alike in size. On a graph of several components its conjugate gradients do
             not stop, so there its gradient descent runs instead, for 200 steps at most
sgc          simple graph convolution (Wu et al., 2019): logistic regression on features that are
             averaged over 1, 2 or 4 steps of the given graph; 5 costs

Where a graph is given, it is the graph of all of them, so there are fewer candidates.

Without tuning, and where candidates tie: 7 neighbours (scikit-learn's default) and alpha = 0.99,
the value of its authors (Zhou et al., 2004), for scikit-learn's 0.2 hardly leaves the neighbours
of the labelled rows; 10 neighbours, Gaussian weights and no reweighting (graphlearning's examples).
"""

from __future__ import annotations

import contextlib
import functools
import io
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.linear_model import LogisticRegression
from sklearn.semi_supervised import LabelPropagation, LabelSpreading

from .problem import Problem
from .row_methods import supervised
from .tuning import LARGE, Answer, Parameters, best, grid

SPREADING_GRID = grid(n_neighbors=(7, 10, 5, 15, 20, 30, 40, 3), alpha=(0.99, 0.9, 0.8, 0.5, 0.2))
PROPAGATION_GRID = grid(n_neighbors=(7, 10, 5, 15, 20, 30, 40, 3))
WEIGHTS = ("gaussian", "uniform", "symgaussian")
LAPLACE_GRID = grid(k=(10, 20, 5, 40), kernel=WEIGHTS, reweighting=("none", "poisson", "wnll"))
POISSON_GRID = grid(k=(10, 20, 5, 15, 7, 4, 40), kernel=WEIGHTS, label_priors=(False, True))
SGC_GRID = grid(steps=(2, 1, 4), C=(10, 1, 100, 0.1, 1e3))


def connectivity(rows: np.ndarray, k: int) -> Any:
    """Return scikit-learn's kneighbors_graph: ones at the first k neighbours, a row its own first.

    Another matrix every time, because LabelSpreading may write into it.
    """
    n = len(rows)
    return sparse.csr_matrix(
        (np.ones(n * k), rows[:, :k].ravel(), np.arange(0, n * k + 1, k)), shape=(n, n)
    )


def _without(names: Sequence[str], candidates: list[Parameters]) -> list[Parameters]:
    """Return candidates without the parameters that a given graph has no use for."""
    found = [{k: v for k, v in each.items() if k not in names} for each in candidates]
    return [each for place, each in enumerate(found) if each not in found[:place]]


def _propagated(model: Any, candidates: list[Parameters], problem: Problem) -> Answer:
    numbers = np.arange(len(problem.y))[:, None]  # the kernel needs no features: none are copied
    given = problem.edges is not None
    candidates = _without(["n_neighbors"], candidates) if given else candidates
    rows = None if given else problem.search()[0]

    def predict(candidate: Parameters, known: np.ndarray) -> np.ndarray:
        def kernel(*_: Any) -> Any:
            return problem.adjacency if given else connectivity(rows, candidate["n_neighbors"])

        about = {"alpha": candidate["alpha"], "max_iter": 100} if "alpha" in candidate else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it may end at max_iter
            return model(kernel=kernel, **about).fit(numbers, known).transduction_

    chosen = best(predict, candidates, problem.y, problem.seed)
    return predict(chosen, problem.y), chosen


def spreading(problem: Problem) -> Answer:
    """Return predictions and parameters of label spreading."""
    return _propagated(LabelSpreading, SPREADING_GRID, problem)


def propagation(problem: Problem) -> Answer:
    """Return predictions and parameters of label propagation."""
    return _propagated(LabelPropagation, PROPAGATION_GRID, problem)


def _graph_learning(kind: str, candidates: list[Parameters], problem: Problem) -> Answer:
    import graphlearning

    y, given = problem.y, problem.edges is not None
    candidates = _without(["k", "kernel"], candidates) if given else candidates
    found = None if given else problem.search()

    @functools.lru_cache(maxsize=1)  # the folds of a candidate follow each other
    def graph(k: int | None, kernel: str | None) -> tuple[Any, bool]:
        if given:
            W = problem.adjacency
        else:  # copies, because some of its kernels write into them
            data = tuple(part.copy() for part in found)
            W = graphlearning.weightmatrix.knn(None, k, kernel=kernel, knn_data=data)
        return graphlearning.graph(W), connected_components(W)[0] == 1

    def predict(candidate: Parameters, known: np.ndarray) -> np.ndarray:
        own = ("k", "kernel", "label_priors")
        options = {key: v for key, v in candidate.items() if key not in own}
        labelled = np.flatnonzero(known != -1)
        if candidate.get("label_priors"):
            options["class_priors"] = np.bincount(known[labelled]) / len(labelled)
        G, connected = graph(candidate.get("k"), candidate.get("kernel"))
        if not connected:
            if options.get("reweighting") == "poisson":
                raise ValueError("this reweighting needs a connected graph")  # a lost candidate
            if kind == "poisson":
                options |= {"solver": "gradient_descent", "max_iter": 200}
        model = getattr(graphlearning.ssl, kind)(G, **options)
        with np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
            return model.fit_predict(labelled, known[labelled])

    chosen = best(predict, candidates, y, problem.seed)
    return predict(chosen, y), chosen


def laplace(problem: Problem) -> Answer:
    """Return predictions and parameters of Laplace learning."""
    return _graph_learning("laplace", LAPLACE_GRID, problem)


def poisson(problem: Problem) -> Answer:
    """Return predictions and parameters of Poisson learning."""
    small = len(problem.y) <= LARGE
    candidates = [c for c in POISSON_GRID if small or not c["label_priors"]]
    return _graph_learning("poisson", candidates, problem)


def sgc(problem: Problem) -> Answer:
    """Return predictions and parameters of simple graph convolution."""
    n = len(problem.y)
    A = problem.adjacency + sparse.eye_array(n)
    root = sparse.diags_array(1 / np.sqrt(np.ravel(A.sum(axis=1))))
    S, rows = root @ A @ root, {0: sparse.csr_array(problem.X)}
    for step in range(4):
        rows[step + 1] = sparse.csr_array(S @ rows[step])

    def predict(candidate: Parameters, known: np.ndarray) -> np.ndarray:
        X = rows[candidate["steps"]]
        return supervised(LogisticRegression(C=candidate["C"], max_iter=300), X, known)

    chosen = best(predict, SGC_GRID, problem.y, problem.seed)
    return predict(chosen, problem.y), chosen
