"""The report on a folder of results: CSV files, then Markdown with the figures beside it.

==========  ==========================================================
results     the CSV files, and the numbers read from them
explaining  which of the paper's numbers a protocol explains
tables      the paper's tables with our numbers
verdicts    a verdict for every claim of claims.csv
plots       the figures, as SVG
sections    page.md, the text, filled with all of these
==========  ==========================================================
"""

from __future__ import annotations

import os
from pathlib import Path

from .plots import all_plots
from .results import Results, write_tables
from .sections import write_markdown

__all__ = ["write_report"]


def write_report(
    folder: str | os.PathLike[str], page: str | os.PathLike[str] | None = None
) -> list[Path]:
    """Write the CSV files of a folder of results, and a page with its figures; return the latter.

    A folder may hold the CSV files alone. The page is report.md beside them, or `page`, whose
    figures go into a folder of its name.
    """
    folder = Path(folder)
    if (folder / "results.jsonl").exists() or not (folder / "cells.csv").exists():
        write_tables(folder)
    results = Results(folder)
    target = folder / "report.md" if page is None else Path(page)
    beside = target.with_suffix("") if page else folder
    beside.mkdir(exist_ok=True)
    figures = {}
    for name, svg in all_plots(results).items():
        figures[name] = beside / f"report-{name}.svg"
        figures[name].write_text(svg, encoding="utf-8")
    links = {name: path.relative_to(target.parent).as_posix() for name, path in figures.items()}
    target.write_text(write_markdown(results, links, target.parent), encoding="utf-8")
    return [target, *figures.values()]
