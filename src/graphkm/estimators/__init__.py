"""The public estimators.

==========  ==================================================================
labels      which rows are labelled, and with what
settings    what parameters mean for given data: checks, every "auto" filled in
base        `fit` of the GKM estimators
classifier  `GKMClassifier`
regressor   `GKMRegressor`
criterion   how good a candidate is, judged from the labelled points alone
machine     what every kernel machine shares: validation, fitted attributes, scores
classes     classes coded as targets, scores as labels
targets     known targets and scores of regression
search      the candidates of a search, judged with everything shared
search_cv   `GKMClassifierCV`, `GKMRegressorCV`
==========  ==================================================================
"""

from .classifier import GKMClassifier
from .regressor import GKMRegressor
from .search_cv import GKMClassifierCV, GKMRegressorCV

__all__ = ["GKMClassifier", "GKMClassifierCV", "GKMRegressor", "GKMRegressorCV"]
