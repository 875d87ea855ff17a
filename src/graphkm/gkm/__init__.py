"""Kernel machines smoothed over a graph.

==============  ====================================================================
plan            `Plan`: what one fit does, with every "auto" filled in
base            `fit` of the classifier and the regressor
partial_fits    `partial_fit` of both
classifier      `GKMClassifier`
regressor       `GKMRegressor`
cv              `GKMClassifierCV`, `GKMRegressorCV`
search          what both do: a search, then one fit with the best parameters
candidates      the candidates of a search
closed_form     candidates judged by leave-one-out in closed form
fold_judge      candidates judged by fits on folds
calibrated      probabilities of the classifier
costs           C and C_graph that held-out labels choose
criterion       leave-one-out scores, and how good they are
==============  ====================================================================
"""

from .classifier import GKMClassifier
from .cv import GKMClassifierCV, GKMRegressorCV
from .plan import Plan
from .regressor import GKMRegressor

__all__ = [
    "GKMClassifier",
    "GKMClassifierCV",
    "GKMRegressor",
    "GKMRegressorCV",
    "Plan",
]
