"""Which rows to label next.

A row is worth a label if the model is unsure of it, and if its label would tell much about rows
that no label covers yet. `suggestions` reads the first off the model's probabilities or margins.
`cover` finds the second on the graph of all rows. `novel` finds rows that belong to no known class
(`graphkm.inspection.novelty`), and `seen` has rows as a model's graph sees them. Who looks for rows
of one class has them first with ``suggest(..., strategy="relevant")``, and `screening` says when
enough are found.
"""

from .cover import Cover
from .screening import Recall, ranked_p_value, recall_so_far
from .suggestions import suggest, uncertainty

__all__ = ["Cover", "Recall", "ranked_p_value", "recall_so_far", "suggest", "uncertainty"]
