"""`graphkm reproduce`, `report` and `datasets`: the paper again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .errors import UsageError


def reproduce(
    name: Annotated[
        str, typer.Argument(help="graph, convergence, losses, unlabeled, comparison or all.")
    ],
    datasets: Annotated[
        list[str] | None,
        typer.Option("--datasets", help="Only these sets; several with commas or repeatedly."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Small sets, a few minutes.")] = False,
    full: Annotated[bool, typer.Option("--full", help="The paper's protocol, unabridged.")] = False,
    as_printed: Annotated[
        bool, typer.Option("--as-printed", help="The printed objective, not the released code's.")
    ] = False,
    out: Annotated[Path | None, typer.Option("--out", help="Folder of the results.")] = None,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Processes side by side.")] = 1,
    minutes: Annotated[
        float | None, typer.Option("--minutes", min=0.05, help="CPU minutes per cell, at most.")
    ] = None,
    memory: Annotated[float, typer.Option("--memory", min=0.5, help="GB per cell, at most.")] = 4.0,
) -> None:
    """Run an experiment of the paper; run it again to continue where it stopped."""
    from ..experiments.command import reproduce as work

    if quick and full:
        raise UsageError("--quick and --full exclude each other; pass one of them, or none.")
    try:
        work(
            name,
            datasets=datasets,
            protocol_name="quick" if quick else "full" if full else "economical",
            as_printed=as_printed,
            folder=out,
            jobs=jobs,
            minutes=minutes,
            memory=memory,
            say=typer.echo,
        )
    except KeyboardInterrupt:
        raise KeyboardInterrupt("interrupted; the same command goes on where it stopped.") from None


def report(
    folder: Annotated[Path, typer.Argument(help="A folder of results.")],
) -> None:
    """Turn a folder of results into a page (HTML) and its twin in Markdown."""
    from ..experiments.report import write_report

    for path in write_report(folder):
        typer.echo(path)


def datasets() -> None:
    """List the public data sets that can be fetched."""
    from rich.console import Console
    from rich.table import Table

    from ..datasets import list_datasets

    table = Table("name", "rows", "features", "classes", "source")
    for info in list_datasets():
        table.add_row(
            info.name, f"{info.rows:,}", f"{info.features:,}", str(info.classes), info.source
        )
    Console().print(table)


REPRODUCE_EXAMPLE = "graphkm reproduce graph --quick --out results"
REPORT_EXAMPLE = "graphkm report results"
DATASETS_EXAMPLE = "graphkm datasets"
