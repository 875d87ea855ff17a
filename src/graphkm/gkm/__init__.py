"""Kernel machines smoothed over a graph.

==============  ====================================================================
plan            `Plan`: what one fit does, with every "auto" filled in
base            `fit` of the classifier and the regressor
streaming       `partial_fit` of both
classifier      `GKMClassifier`
regressor       `GKMRegressor`
corrected       `GraphCorrectedClassifier`, `GraphCorrectedRegressor`: any model and a field
corrected_base  their fit, and the choice of the field
folds           folds of the labelled rows
held_out        what a model says of labelled rows without their labels
clusters        fields that follow clusters
blend           a model and such fields, added up
correction      how strong a field along the edges is
scaling         class shares as probabilities, fitted to held-out labels
fixed           known answers as estimators, for scorers
field_solver    `FieldSolver`: a kernel machine and a field as a solver of `GKMClassifier`
cv              `GKMClassifierCV`, `GKMRegressorCV`: a search, then one fit
candidates      the candidates of a search
closed_form     candidates judged by leave-one-out in closed form
fold_judge      candidates judged by fits on folds
criterion       the formulas of both judges
==============  ====================================================================
"""

from .classifier import GKMClassifier
from .corrected import GraphCorrectedClassifier, GraphCorrectedRegressor
from .cv import GKMClassifierCV, GKMRegressorCV
from .field_solver import FieldSolver
from .plan import Plan
from .regressor import GKMRegressor

__all__ = [
    "FieldSolver",
    "GKMClassifier",
    "GKMClassifierCV",
    "GKMRegressor",
    "GKMRegressorCV",
    "GraphCorrectedClassifier",
    "GraphCorrectedRegressor",
    "Plan",
]
