"""Why this answer, how sure, which labels look wrong, and which rows belong to no class.

===========  ==================================================================
held         what a fit said of its labelled rows without having seen their labels
explain      `explain`: which members, which labels, and by which way
shares       what every label adds to an answer
ways         by which rows a label reaches another row
explanation  what `explain` returns
drawing      its picture
===========  ==================================================================
"""

from .explain import explain
from .explanation import Explanation, Explanations

__all__ = ["Explanation", "Explanations", "explain"]
