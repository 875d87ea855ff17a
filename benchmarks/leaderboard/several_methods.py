"""Methods for several labels per row, label by label or as a chain; see `labels.py`.

They return probabilities and answers of all rows and labels. None is tuned: logistic regression,
the forest and the SVC have scikit-learn's defaults, and the front door its own, with thresholds
that held-out labels choose by F1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import labels

from .problem import Problem

Shares = tuple[np.ndarray, np.ndarray]


def _one_vs_rest(name: str) -> Any:
    def method(problem: Problem) -> Shares:
        return labels.one_vs_rest(labels.models()[name], problem.X, problem.y)

    return method


logistic, forest, svc = map(_one_vs_rest, ("logistic", "forest", "SVC"))


def chain(problem: Problem) -> Shares:
    """Return what a chain of logistic regressions says."""
    return labels.chain(problem.X, problem.y)


def ours(problem: Problem) -> Shares:
    """Return what the front door says."""
    from graphkm import SemiSupervisedClassifier

    model = SemiSupervisedClassifier(thresholds="f1", random_state=problem.seed, n_jobs=1)
    shares = model.fit(problem.X, problem.y).predict_proba(problem.X)
    return shares, shares > model.thresholds_
