"""Why this answer, how sure, which labels look wrong, and which rows belong to no class.

==============  ==================================================================
explain         `explain`: which members, which labels, and by which way
shares          what every label adds to an answer
column_shares   what every column adds, by the members that look at columns
ways            by which rows a label reaches another row
explanation     what `explain` returns
drawing         its picture
conformal       how far errors of new rows may go, by the errors of labelled rows
sets            sets of classes, and intervals of quantities, that hold the truth
curve           how the score grows with labels, and what more labels would give
refits          a model with fewer of its labels, and what it loses on the others
law             how a loss falls with the number of labels
noise           how many labels are wrong, and the probability that each one is
doubtful        `doubtful_labels`: given labels against which held-out probabilities speak
doubtful_table  the same as a table, and as weights for another fit
refitting       `refit_with_doubts`: what a fit gains in which doubtful labels count less
frames          results as frames of pandas
==============  ==================================================================

`novelty`, rows that belong to no known class, is made in `graphkm.active`, which suggests them.
"""

from ..active.novel import novelty
from .curve import LearningCurve, learning_curve
from .doubtful import doubtful_labels
from .doubtful_table import DoubtfulLabel, DoubtfulLabels
from .explain import explain
from .explanation import Explanation, Explanations
from .refitting import Reweighed, refit_with_doubts
from .sets import PredictionSets, prediction_intervals, prediction_sets

__all__ = [
    "DoubtfulLabel",
    "DoubtfulLabels",
    "Explanation",
    "Explanations",
    "LearningCurve",
    "PredictionSets",
    "Reweighed",
    "doubtful_labels",
    "explain",
    "learning_curve",
    "novelty",
    "prediction_intervals",
    "prediction_sets",
    "refit_with_doubts",
]
