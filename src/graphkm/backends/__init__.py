"""Where kernel sums are computed: one store of centres per kind of rows; dual problems.

=========  =====================================================================
base       `CentreStore`: what a store does
native     dense and CSR rows, in compiled code
tiles      any kernel in Python: precomputed values, the user's functions
select     which store serves which kernel, and how rows are handed to it
=========  =====================================================================
"""

from .base import CentreStore
from .native import (
    instruction_set,
    largest_columns,
    make_smo,
    project_centres,
    run_block,
)
from .select import as_centres, make_store, query_rows

__all__ = [
    "CentreStore",
    "as_centres",
    "instruction_set",
    "largest_columns",
    "make_smo",
    "make_store",
    "project_centres",
    "query_rows",
    "run_block",
]
