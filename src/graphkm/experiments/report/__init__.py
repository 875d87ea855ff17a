"""A folder of results as tables and plots.

=========  ================================================================
results    rows put together over the runs
tables     the paper's tables with our numbers, as data
findings   what the comparison comes to
plots      the figures, as SVG
sections   all of it in order
page       HTML; markdown: its twin
=========  ================================================================
"""

from __future__ import annotations

import os
from pathlib import Path

from ..._files import replacing
from ..ledger import Ledger, ResultsError
from .markdown import write_markdown
from .page import write_page
from .plots import all_plots
from .results import Results
from .sections import make_sections

__all__ = ["write_report"]


def write_report(folder: str | os.PathLike[str]) -> list[Path]:
    """Write report.html, report.md and the latter's figures into a folder of results.

    Parameters
    ----------
    folder : path
        With the results of `graphkm reproduce`.

    Returns
    -------
    list of Path
        The page, its twin in Markdown, and the figures' files.
    """
    ledger = Ledger(folder)
    results = Results(ledger)
    if not results.rows:
        raise ResultsError(
            f"{ledger.folder} holds no results yet. `graphkm reproduce NAME --out {ledger.folder}` "
            "makes some."
        )
    sections, plots = make_sections(results), all_plots(results)
    subtitle = (
        "“Scalable Semi-supervised Learning with Graph-based Kernel Machine” (arXiv 1606.06793), "
        "its tables and figures with our numbers beside the paper's. Protocol: "
        f"{results.protocol.name}{', as printed' * results.protocol.as_printed}; "
        f"{len(results.rows):,} results."
    )
    written = [ledger.folder / "report.html", ledger.folder / "report.md"]
    files = {name: f"report-{name}.svg" for name in plots}
    _write(written[0], write_page(sections, plots, subtitle))
    _write(written[1], write_markdown(sections, files, subtitle))
    for name, svg in plots.items():
        written.append(ledger.folder / files[name])
        _write(written[-1], svg)
    return written


def _write(path: Path, text: str) -> None:
    with replacing(path) as file:
        file.write(text.encode())
