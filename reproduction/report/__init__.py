"""The report on a folder of results: Markdown with the figures beside it.

========  ==========================================
results   rows put together over the runs
tables    the paper's tables with our numbers
findings  what the comparison comes to
plots     the figures, as SVG
sections  all of it in order
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
    """Write report.md and its figures into a folder of results.

    Parameters
    ----------
    folder : path
        With the results of ``python -m reproduction run``.

    Returns
    -------
    list of Path
        The report, and the figures' files.
    """
    ledger = Ledger(folder)
    results = Results(ledger)
    if not results.rows:
        raise ResultsError(
            f"{ledger.folder} holds no results yet. `python -m reproduction run NAME --out "
            f"{ledger.folder}` makes some."
        )
    plots = all_plots(results)
    files = {name: ledger.folder / f"report-{name}.svg" for name in plots}
    report = ledger.folder / "report.md"
    report.write_text(
        write_markdown(results, {name: path.name for name, path in files.items()}),
        encoding="utf-8",
    )
    for name, path in files.items():
        path.write_text(plots[name], encoding="utf-8")
    return [report, *files.values()]
