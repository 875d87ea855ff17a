"""The front door: members of every kind, and one judge.

==============  ==============================================================
base            the fit: rows, graph, members, verdict, mixture
blocks          rows larger than memory, read in blocks several times
block_rows      what is done with one block, or with a partition of `graphkm.dask`
odds            how likely each member is before its held-out labels are seen
mixed           the fitted mixture: what it says of any rows
report          the table of the members
classifier      `SemiSupervisedClassifier`
regressor       `SemiSupervisedRegressor`
==============  ==============================================================
"""

from .classifier import SemiSupervisedClassifier
from .regressor import SemiSupervisedRegressor
from .report import MemberTable

__all__ = ["MemberTable", "SemiSupervisedClassifier", "SemiSupervisedRegressor"]
