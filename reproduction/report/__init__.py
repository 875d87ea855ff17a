"""The report on a folder of results: Markdown with the figures beside it.

========  ==========================================
results   means over the runs
tables    the paper's tables with our numbers
findings  a summary of the comparison
plots     the figures, as SVG
sections  the text, in order
========  ==========================================
"""

from __future__ import annotations

import os
from pathlib import Path

from ..ledger import Ledger, ResultsError
from .plots import all_plots
from .results import Results
from .sections import write_markdown

__all__ = ["write_report"]


def write_report(folder: str | os.PathLike[str]) -> list[Path]:
    """Write report.md and its figures into a folder of results; return their paths."""
    ledger = Ledger(folder)
    results = Results(ledger)
    if not results.rows:
        raise ResultsError(
            f"{ledger.folder} holds no results yet. `python -m reproduction run NAME --out "
            f"{ledger.folder}` makes some."
        )
    plots = all_plots(results)
    names = {plot: f"report-{plot}.svg" for plot in plots}
    texts = {"report.md": write_markdown(results, names)}
    texts |= {names[plot]: svg for plot, svg in plots.items()}
    for name, text in texts.items():
        (ledger.folder / name).write_text(text, encoding="utf-8")
    return [ledger.folder / name for name in texts]
