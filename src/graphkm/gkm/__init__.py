"""The public estimators.

=============  ===============================================================
labels         which rows are labelled, and with what
settings       what parameters mean for given data: checks, every "auto" filled in
machine        what every kernel machine shares: validation, fitted attributes, scores
classes        classes coded as targets, scores as labels
targets        known targets and scores of regression
base           `fit` of the GKM estimators
streaming      `partial_fit` of the GKM estimators
classifier     `GKMClassifier`
regressor      `GKMRegressor`
criterion      how good a candidate is, judged from the labelled points alone
search         the candidates of a search, judged with everything shared
fold_search    the same candidates judged by fits on folds
search_cv      a search and the fit with what it found
classifier_cv  `GKMClassifierCV`
regressor_cv   `GKMRegressorCV`
folds          splits of partly labelled data
=============  ===============================================================
"""

from .classifier import GKMClassifier
from .classifier_cv import GKMClassifierCV
from .regressor import GKMRegressor
from .regressor_cv import GKMRegressorCV

__all__ = ["GKMClassifier", "GKMClassifierCV", "GKMRegressor", "GKMRegressorCV"]
