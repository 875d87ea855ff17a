"""Why this answer, how sure, which labels look wrong, and which rows belong to no class.

==============  ==================================================================
held            what a fit said of its labelled rows without having seen their labels
noise           how many labels are wrong, and the probability that each one is
doubtful        `doubtful_labels`: given labels against which held-out probabilities speak
doubtful_table  the same as a table, and as weights for another fit
refitting       `refit_with_doubts`: what a fit gains in which doubtful labels count less
==============  ==================================================================

`novelty`, rows that belong to no known class, is made in `graphkm.active`, which suggests them.
"""

from ..active.novel import novelty
from .doubtful import doubtful_labels
from .doubtful_table import DoubtfulLabel, DoubtfulLabels
from .refitting import Reweighed, refit_with_doubts

__all__ = [
    "DoubtfulLabel",
    "DoubtfulLabels",
    "Reweighed",
    "doubtful_labels",
    "novelty",
    "refit_with_doubts",
]
