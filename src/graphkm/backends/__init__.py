"""Where the heavy sums are computed: stores of centres, dual problems, sparse systems.

=========  =====================================================================
base       `Backend` and its objects: stores, searches, tables for sparse systems
device     which backend computes; `config_context`
host       the processor's backend
cuda/      the backend of NVIDIA cards
native     dense and CSR rows, in compiled code
tiles      any kernel in Python: precomputed values, the user's functions
cells      the search among rows in cells, and distances of pairs, in compiled code
columns    the passes of conjugate gradients on a sparse matrix, in compiled code
steps      a block of stochastic steps, compiled or in NumPy
select     which store serves which kernel, and how rows are handed to it
=========  =====================================================================
"""

from .base import Backend, CentreStore, ColumnSystem, DeviceError, NeighbourSearch
from .cells import RowCells, pair_distances
from .columns import SparseColumns, columns_step, columns_turn
from .device import active, backend_for, config_context
from .host import HostTables
from .native import InnerProducts, instruction_set, largest_columns, make_smo, project_centres
from .select import as_centres, make_store, query_rows
from .steps import run_block
from .tiles import in_precision

__all__ = [
    "Backend",
    "CentreStore",
    "ColumnSystem",
    "DeviceError",
    "HostTables",
    "InnerProducts",
    "NeighbourSearch",
    "RowCells",
    "SparseColumns",
    "active",
    "as_centres",
    "backend_for",
    "columns_step",
    "columns_turn",
    "config_context",
    "in_precision",
    "instruction_set",
    "largest_columns",
    "make_smo",
    "make_store",
    "pair_distances",
    "project_centres",
    "query_rows",
    "run_block",
]
