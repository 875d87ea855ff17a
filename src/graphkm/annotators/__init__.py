"""Answers of several people: who is reliable, what rows are, and a classifier of it all.

==============  ==============================================================
answers         who said what of which row, checked and counted
matrices        what annotators answer: matrices, and what draws them together
posterior       shares of classes from answers: the model of Dawid and Skene
agreement       how often annotators agree, and Krippendorff's alpha
asking          which rows need another answer, and whose
report          tables for people
shares          shares as a classifier takes them
dawid_skene     `DawidSkene`: answers alone
classifier      `AnnotatedClassifier`: answers and rows together
==============  ==============================================================
"""

from .agreement import Agreement, agreement
from .answers import RepeatedAnswersWarning
from .classifier import AnnotatedClassifier
from .dawid_skene import DawidSkene
from .report import AnnotatorTable, QuestionTable

__all__ = [
    "Agreement",
    "AnnotatedClassifier",
    "AnnotatorTable",
    "DawidSkene",
    "QuestionTable",
    "RepeatedAnswersWarning",
    "agreement",
]
