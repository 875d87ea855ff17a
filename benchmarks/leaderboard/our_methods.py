"""The library's classifiers, on one thread.

ours          the front door, SemiSupervisedClassifier. It gets what a user would give it: the edges
              of a graph, and of texts the texts themselves, which it sees as vectors of the default
              encoder and as words, with the classes' names. Elsewhere rows, as all others
ours_rows     the front door on graphs and texts, with rows alone as all others
ours_default  the paper's machine, GKMClassifier, with its defaults, on rows
ours_cv       its search, GKMClassifierCV, on rows
lapsvm        LaplacianSVC of `graphkm.baselines` with its defaults (Melacci and Belkin, 2011)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .problem import Problem
from .tuning import Answer


def ours(problem: Problem) -> Answer:
    """Return predictions of the front door, and the weights of its heaviest members."""
    from graphkm import SemiSupervisedClassifier
    from graphkm.embed import TextEmbedder, Words

    X, y, about, fitted = problem.X, problem.y, {}, {}
    if problem.texts is not None:
        X = list(problem.texts)
        y = np.full(len(X), None, dtype=object)
        y[problem.y != -1] = problem.names[problem.y[problem.y != -1]]
        about["views"] = {"vectors": TextEmbedder(cache=None), "words": Words()}
    if problem.edges is not None:
        fitted["affinity"] = problem.edges
    model = SemiSupervisedClassifier(random_state=problem.seed, n_jobs=1, **about)
    said = model.fit(X, y, **fitted).transduction_
    if problem.texts is not None:
        said = np.searchsorted(problem.names, said.astype(problem.names.dtype))
    return said, {each.name: round(each.weight, 3) for each in model.members_[:5]}


def ours_rows(problem: Problem) -> Answer:
    """Return predictions of the front door on rows alone."""
    return ours(Problem(problem.X, problem.y, problem.search, problem.seed))


def _fitted(model: Any, problem: Problem) -> Answer:
    said = model.fit(problem.X, problem.y).transduction_
    return said, dict(getattr(model, "best_params_", {}))


def ours_default(problem: Problem) -> Answer:
    """Return predictions of the defaults."""
    from graphkm import GKMClassifier

    return _fitted(GKMClassifier(random_state=problem.seed, n_jobs=1), problem)


def ours_cv(problem: Problem) -> Answer:
    """Return predictions and parameters of the classifier that tunes itself."""
    from graphkm import GKMClassifierCV

    return _fitted(GKMClassifierCV(random_state=problem.seed, n_jobs=1), problem)


def lapsvm(problem: Problem) -> Answer:
    """Return predictions of the Laplacian SVM."""
    from graphkm.baselines import LaplacianSVC

    return _fitted(LaplacianSVC(n_jobs=1), problem)
