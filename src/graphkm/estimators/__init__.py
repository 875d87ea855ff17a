"""The public estimators.

==========  ==================================================================
labels      which rows are labelled, and with what
base        `fit` and scores, the only place that validates input
classifier  `GKMClassifier`
regressor   `GKMRegressor`
==========  ==================================================================
"""

from .classifier import GKMClassifier
from .regressor import GKMRegressor

__all__ = ["GKMClassifier", "GKMRegressor"]
