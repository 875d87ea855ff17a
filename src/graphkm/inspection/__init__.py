"""Why this answer, how sure, which labels look wrong, and which rows belong to no class.

==========  ==================================================================
held        what a fit said of its labelled rows without having seen their labels
conformal   how far errors of new rows may go, by the errors of labelled rows
sets        sets of classes, and intervals of quantities, that hold the truth
frames      results as frames of pandas
==========  ==================================================================
"""

from .sets import PredictionSets, prediction_intervals, prediction_sets

__all__ = ["PredictionSets", "prediction_intervals", "prediction_sets"]
