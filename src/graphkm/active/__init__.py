"""Which rows to label next.

A row is worth a label if the model is unsure of it, and if its label would tell much about rows
that no label covers yet. `suggestions` reads the first off the model's probabilities or margins.
`cover` finds the second on the graph of all rows. `novel` finds rows that belong to no known class
(`graphkm.inspection.novelty`), and `seen` has rows as a model's graph sees them.
"""

from .cover import Cover
from .suggestions import suggest, uncertainty

__all__ = ["Cover", "suggest", "uncertainty"]
