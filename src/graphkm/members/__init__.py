"""Members: ways to turn labels and rows into classes or quantities.

==============  ==============================================================
member          what the judge sees of each
by_label        what a member says as a sum over the labels that it has learnt from
models          models of the labelled rows: forests, boosting, kernel and linear machines
ranked          regressions of the numbers of classes that have an order
per_column      a model for each of several labels or quantities
of_all_rows     semi-supervised models, which are fitted to all rows
cuts            how a member cuts the graph into classes
features        features from graphs of all rows: eigenvectors, and kernels that fade
clusters        ridge regressions on these features
leading         linear models of rows whose leading directions are made longer
named           rows that are like the name of a label
diffused        linear models on rows that are averaged along the graph
sized           cuts of the graph into classes of given sizes
residuals       fields that correct a model where it errs
along_edges     members on given graphs
averages        rows that are averaged along given edges, and neighbours beside rows
surroundings    what walks along given edges visit
communities     leading eigenvectors of given graphs
rows            columns of all rows as features of members
==============  ==============================================================
"""

from .clusters import cluster_members
from .diffused import diffused_members
from .leading import leading_members
from .member import Known, Member, Scope
from .models import model_members, usual_models
from .named import named_member
from .residuals import residual_members
from .sized import sized_members

__all__ = [
    "Known",
    "Member",
    "Scope",
    "cluster_members",
    "diffused_members",
    "leading_members",
    "model_members",
    "named_member",
    "residual_members",
    "sized_members",
    "usual_models",
]
