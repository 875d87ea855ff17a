"""Learning from rows of one class, and from rows of which nothing is known.

==============  ==============================================================
answers         what the classes are called, and which rows of y are positive
prior           the share of positives, estimated from held-out scores
weighing        how likely every unlabelled row is positive, round by round
fitting         one fit of the front door to weighted rows
classifier      `PositiveUnlabeledClassifier`
==============  ==============================================================
"""

from .classifier import DrawnAtRandomWarning, PositiveUnlabeledClassifier

__all__ = ["DrawnAtRandomWarning", "PositiveUnlabeledClassifier"]
