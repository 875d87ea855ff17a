"""Who is right: held-out labels decide how much each member of a mixture counts.

==============  ==============================================================
folds           which labels are held out together
held_out        what a model says of labels that it has not seen
temperature     scores become probabilities
mixture         the weights of the members, and what the mixture is worth
columns         the same for several labels of a row, and for quantities
units           the units in which quantities are learnt
thresholds      the probability above which a row has a label
sizes           probabilities of classes whose sizes are known
==============  ==============================================================
"""

from .columns import column_weights, judge_labels, judge_quantities
from .folds import Folds, make_folds, most_folds
from .held_out import HeldOut
from .mixture import Verdict, judge_classes, mixture_weights
from .temperature import best_temperature, log_probabilities

__all__ = [
    "Folds",
    "HeldOut",
    "Verdict",
    "best_temperature",
    "column_weights",
    "judge_classes",
    "judge_labels",
    "judge_quantities",
    "log_probabilities",
    "make_folds",
    "mixture_weights",
    "most_folds",
]
