"""The command line: run experiments, write their report."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from graphkm.datasets import DatasetError

from .experiments import EXPERIMENTS, plan
from .ledger import Row
from .protocol import Protocol
from .report import write_report
from .runner import run_cells
from .sets import MADE, SETS


def main(arguments: list[str] | None = None) -> None:
    """Run the command. An error is one sentence, or a traceback with --debug.

    Exit codes: 0 success, 1 an error in the request or the results, 2 wrong usage, 3 a file cannot
    be read or written, 130 interrupted.
    """
    options = _parser().parse_args(arguments)
    try:
        options.work(options)
    except KeyboardInterrupt:
        _leave("interrupted; run the same command to continue.", 130)
    except Exception as error:
        if options.debug:
            raise
        _leave(str(error) or type(error).__name__, 3 if isinstance(error, OSError) else 1)


def _leave(message: str, code: int) -> NoReturn:
    print(f"reproduction: {message}", file=sys.stderr)
    sys.exit(code)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m reproduction", description=__doc__)
    parser.add_argument("--debug", action="store_true", help="show where an error comes from")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    run = commands.add_parser(
        "run", help="run an experiment; run it again to continue where it stopped"
    )
    run.set_defaults(work=_run)
    run.add_argument("name", metavar="NAME", help=f"{', '.join(EXPERIMENTS)} or all")
    run.add_argument(
        "--datasets", action="append", help="only these sets; several with commas or repeatedly"
    )
    forms = run.add_mutually_exclusive_group()
    common: dict[str, Any] = {"dest": "protocol", "action": "store_const", "default": "economical"}
    forms.add_argument("--quick", const="quick", help="small sets, a few minutes", **common)
    forms.add_argument("--full", const="full", help="the paper's whole protocol", **common)
    run.add_argument(
        "--as-printed", action="store_true", help="the printed objective, not the released code's"
    )
    run.add_argument("--out", type=Path, help="folder of the results")
    run.add_argument("--jobs", type=_at_least(int, 1), default=1, help="processes side by side")
    run.add_argument("--minutes", type=_at_least(float, 0.05), help="CPU minutes per cell, at most")
    run.add_argument(
        "--memory", type=_at_least(float, 0.5), default=4.0, help="GB per cell, at most"
    )
    report = commands.add_parser("report", help="write tables and plots in Markdown")
    report.set_defaults(work=lambda options: print(*write_report(options.folder), sep="\n"))
    report.add_argument("folder", type=Path, help="a folder of results")
    return parser


def _at_least(kind: type[int] | type[float], least: float) -> Callable[[str], float]:
    def number(text: str) -> float:
        if not (value := kind(text)) >= least:
            raise argparse.ArgumentTypeError(f"{text} is below {least}")
        return value

    return number


def _run(options: argparse.Namespace) -> None:
    if options.name not in (names := (*EXPERIMENTS, "all")):
        raise ValueError(
            f"There is no experiment {options.name!r}; the names are {', '.join(names)}."
        )
    limits = {"memory_limit": options.memory * 1e9}
    if options.minutes is not None:
        limits["cpu_limit"] = 60 * options.minutes
    protocol = Protocol.named(options.protocol, as_printed=options.as_printed, **limits)
    chosen = _known_sets(options.datasets)
    cells = plan(options.name, chosen, protocol)
    if not cells:
        raise ValueError(f"The experiment {options.name} does not use {', '.join(chosen or ())}.")
    name = protocol.name + "-as-printed" * protocol.as_printed
    folder = options.out or Path("out") / name
    print(f"{protocol.describe()}\nResults: {folder}", flush=True)
    start = time.monotonic()
    missing = run_cells(cells, protocol, folder, jobs=options.jobs, tell=_tell)
    print(
        f"Done in {time.monotonic() - start:.0f} s. For tables and plots: "
        f"python -m reproduction report {folder}"
    )
    if missing:
        raise DatasetError(_what_is_missing(missing))


def _known_sets(datasets: list[str] | None) -> tuple[str, ...] | None:
    if not datasets:
        return None
    names = tuple(name for text in datasets for name in text.replace(",", " ").split())
    for name in names:
        if name not in SETS:
            raise ValueError(f"There is no set {name!r} here; the names are {', '.join(SETS)}.")
    return names


def _what_is_missing(missing: dict[str, str]) -> str:
    first, *others = missing
    more = f" The same holds for {', '.join(others)}." if others else ""
    return (
        f"Results are kept, but {first} could not be read: {missing[first]}{more} "
        f"Then run the same command again. --datasets {','.join(MADE[:2])} needs no files."
    )


def _tell(row: Row, ended: int, total: int) -> None:
    """Print a line about a result."""
    what = f"{row['dataset']} {row['method']}" + f" {row['hidden']} %" * (row["hidden"] > 0)
    if row["kind"] == "fit":
        what += f", run {row['run'] + 1}"
    found = row["status"]
    if found == "ok" and row["kind"] == "fit":
        found = f"{100 * row['accuracy']:.2f} %, {row['cpu_seconds']:.3f} s"
    elif found == "ok" and row["kind"] == "choice":
        values = ", ".join(f"{name} {value:g}" for name, value in row["parameters"].items())
        found = f"chosen in {row['cpu_seconds']:.1f} s: {values}"
    reason = f" ({row['reason']})" if "reason" in row else ""
    print(f"[{ended}/{total}] {what}: {found}{reason}", flush=True)
