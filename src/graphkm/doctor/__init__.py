"""What is installed here, what it runs on, and whether it works: ``python -m graphkm.doctor``.

===============  ==========================================================================
requirements     what graphkm and its extras ask for, and what is installed of it
machine          processor, memory, cards, folders, variables, read without any package
children         questions to other processes: one that crashes is an answer, too
importing        a child's answers: whether packages can be imported
trial            a child's answers: compiled code, BLAS, encoders, cards, a small fit
findings         all of it together, and what is broken
report           the findings in words
===============  ==========================================================================

This process imports nothing but Python's own modules. So it can tell what is wrong where NumPy, or
graphkm's compiled code, cannot be loaded. `graphkm doctor` is the same as a sub-command.
"""

from .findings import examine
from .report import lines, verdict

__all__ = ["examine", "lines", "verdict"]
