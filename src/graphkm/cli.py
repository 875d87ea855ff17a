"""The command `graphkm`: what it can do is in the packages it calls."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

try:
    import typer
    from rich.console import Console
    from rich.table import Table
except ImportError as error:
    raise SystemExit(
        f'The command graphkm needs {error.name}: run pip install "graphkm[cli]".'
    ) from error

app = typer.Typer(
    add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False,
    help="Learn from few labels and many unlabelled points.",
)  # fmt: skip
_state = {"debug": False}


@app.callback()
def _options(
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")] = False,
) -> None:
    _state["debug"] = debug


@app.command()
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
    from .experiments.command import reproduce as work

    work(
        name,
        datasets=datasets,
        protocol_name=_protocol_name(quick, full),
        as_printed=as_printed,
        folder=out,
        jobs=jobs,
        minutes=minutes,
        memory=memory,
        say=typer.echo,
    )


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(help="A folder of results.")],
) -> None:
    """Turn a folder of results into a page (HTML) and its twin in Markdown."""
    from .experiments.report import write_report

    for path in write_report(folder):
        typer.echo(path)


@app.command()
def datasets() -> None:
    """List the public data sets that can be fetched."""
    from .datasets import list_datasets

    table = Table("name", "rows", "features", "classes", "source")
    for info in list_datasets():
        table.add_row(
            info.name, f"{info.rows:,}", f"{info.features:,}", str(info.classes), info.source
        )
    Console().print(table)


def _protocol_name(quick: bool, full: bool) -> str:
    if quick and full:
        raise ValueError("--quick and --full exclude each other; pass one of them, or none.")
    return "quick" if quick else "full" if full else "economical"


def main(arguments: list[str] | None = None) -> Any:
    """Run the command; errors are one sentence, unless --debug asks for more."""
    try:
        return app(arguments, standalone_mode=True)
    except KeyboardInterrupt:
        _leave("Interrupted. The same command continues where it stopped.", 130)
    except Exception as error:
        if _state["debug"]:
            raise
        _leave(f"{error or type(error).__name__}", 1)


def _leave(message: str, code: int) -> None:
    print(f"graphkm: {message}", file=sys.stderr)
    raise SystemExit(code)


if __name__ == "__main__":
    main()
