"""Why this answer, how sure, which labels look wrong, and which rows belong to no class.

===========  ==================================================================
held         what a fit said of its labelled rows without having seen their labels
explain      `explain`: which members, which labels, and by which way
shares       what every label adds to an answer
ways         by which rows a label reaches another row
explanation  what `explain` returns
drawing      its picture
conformal    how far errors of new rows may go, by the errors of labelled rows
sets         sets of classes, and intervals of quantities, that hold the truth
curve        how the score grows with labels, and what more labels would give
refits       a model with fewer of its labels, and what it loses on the others
law          how a loss falls with the number of labels
frames       results as frames of pandas
===========  ==================================================================
"""

from .curve import LearningCurve, learning_curve
from .explain import explain
from .explanation import Explanation, Explanations
from .sets import PredictionSets, prediction_intervals, prediction_sets

__all__ = [
    "Explanation",
    "Explanations",
    "LearningCurve",
    "PredictionSets",
    "explain",
    "learning_curve",
    "prediction_intervals",
    "prediction_sets",
]
