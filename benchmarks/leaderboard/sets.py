"""All sets by name, and what makes the cells of each."""

from __future__ import annotations

from collections.abc import Callable

from . import other_sets, row_sets
from .cells import Cell

SETS: dict[str, Callable[[], list[Cell]]] = row_sets.SETS | other_sets.SETS
