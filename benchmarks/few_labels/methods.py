"""The methods by name, and the packages they come from.

A method is a function of all rows, labels with -1 for hidden ones, the neighbour search and a
seed. It returns a label for every row and the parameters it chose.
"""

from __future__ import annotations

from .graph_methods import laplace, poisson, spreading
from .kernel_methods import self_training, svc, tri_training, tsvm
from .our_methods import ours, ours_cv, ours_default
from .row_methods import boosting, forest, logistic

METHODS = {
    "svc": svc,
    "logistic": logistic,
    "forest": forest,
    "boosting": boosting,
    "spreading": spreading,
    "laplace": laplace,
    "poisson": poisson,
    "self_training": self_training,
    "tri_training": tri_training,
    "tsvm": tsvm,
    "ours": ours,
    "ours_default": ours_default,
    "ours_cv": ours_cv,
}
PACKAGES = {
    "laplace": "graphlearning",
    "poisson": "graphlearning",
    "tri_training": "sslearn",
    "tsvm": "graphkm",
    "ours": "graphkm",
    "ours_default": "graphkm",
    "ours_cv": "graphkm",
}
SEARCHING = ("spreading", "laplace", "poisson")
# What tables and pictures call them.
NAMES = {
    "svc": "SVC",
    "logistic": "LogisticRegression",
    "forest": "RandomForest",
    "boosting": "HistGradientBoosting",
    "spreading": "LabelSpreading",
    "laplace": "Laplace learning",
    "poisson": "Poisson learning",
    "self_training": "SelfTraining",
    "tri_training": "tri-training",
    "tsvm": "TransductiveSVC",
    "ours": "SemiSupervisedClassifier",
    "ours_default": "GKMClassifier",
    "ours_cv": "GKMClassifierCV",
}
