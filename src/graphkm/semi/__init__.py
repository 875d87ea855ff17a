"""The front door: members of every kind, and one judge.

==============  ==============================================================
label_tables    y as a table: a column for each label, class or quantity; or lists of names
target          what y says: classes, shares of them, several labels, quantities
asked           the models and the graph that were asked for, checked
base            the fit: rows, graph, members, verdict, mixture
training        the rows of a fit
labelled        its labelled rows: their folds, and what was said of them without their labels
held            `held_of`: what a fitted front door said of its labelled rows, checked
member_list     which members a fit has
given_graphs    graphs that a user brings, and the rows that new rows reach by them
blocks          rows larger than memory, read in blocks several times
block_labels    labels of one block, and of several blocks together
block_rows      what is done with one block, or with a partition of `graphkm.dask`
judging         what the judge is asked for each kind of targets
odds            how likely each member is before its held-out labels are seen
views           several views of the same rows, and the encoders that make them
label_names     what labels are called
ordered         classes that have an order
sides           what the members of one view see
view_sides      how that is made: a graph for every view, names as rows, given edges
evidence        what is kept in memory so that answers can be explained
held            what a fit said of its labelled rows, as its predictions would say it
mixed           the fitted mixture: what it says of any rows
mixed_views     the sum of the mixtures of several views
answers         what a fitted front door says of new rows, and of its own
class_scores    what a score of a classifier counts
report          the table of the members
classifier      `SemiSupervisedClassifier`
regressor       `SemiSupervisedRegressor`
==============  ==============================================================
"""

from .classifier import SemiSupervisedClassifier
from .regressor import SemiSupervisedRegressor
from .report import MemberTable

__all__ = ["MemberTable", "SemiSupervisedClassifier", "SemiSupervisedRegressor"]
