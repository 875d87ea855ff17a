"""The command line: run experiments, write their report."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import NoReturn

from graphkm.datasets import DatasetError

from .experiments import EXPERIMENTS, plan
from .ledger import Row
from .protocol import Protocol
from .runner import run_cells
from .sets import MADE, SETS

_LEAST = {"jobs": 1, "minutes": 0.05, "memory": 0.5}


def main(arguments: list[str] | None = None) -> None:
    """Run the command. An error is one sentence, or a traceback with --debug.

    Exit codes: 0 success, 1 an error in the request or the results, 2 wrong usage, 3 a file cannot
    be read or written, 130 interrupted.
    """
    parser = _parser()
    options = parser.parse_args(arguments)
    for name, least in _LEAST.items():
        value = getattr(options, name, None)
        if value is not None and not value >= least:
            parser.error(f"argument --{name}: {value:g} is below {least}")
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
    run = commands.add_parser("run", help="run an experiment, or continue where it stopped")
    run.set_defaults(work=_run)
    run.add_argument("name", metavar="NAME", help=f"{', '.join(EXPERIMENTS)} or all")
    run.add_argument("--datasets", action="append", default=[],
                     help="only these sets; several with commas or repeatedly")  # fmt: skip
    run.add_argument("--quick", action="store_true", help="small sets, a few minutes")
    run.add_argument("--out", type=Path, help="folder of the results")
    run.add_argument("--jobs", type=int, default=1, help="processes side by side")
    run.add_argument("--minutes", type=float, help="CPU minutes per cell, at most")
    run.add_argument("--memory", type=float, default=4.0, help="GB per cell, at most")
    report = commands.add_parser("report", help="write tables and plots in Markdown")
    report.set_defaults(work=_report)
    report.add_argument("folder", type=Path, help="a folder of results, or of their CSV files")
    report.add_argument("--page", type=Path, help="where the page goes; report.md in the folder")
    return parser


def _run(options: argparse.Namespace) -> None:
    _check(options.name, [*EXPERIMENTS, "all"], "experiment")
    chosen = tuple(" ".join(options.datasets).replace(",", " ").split())
    for name in chosen:
        _check(name, list(SETS), "set")
    limits = {"memory_limit": options.memory * 1e9}
    if options.minutes is not None:
        limits["cpu_limit"] = 60 * options.minutes
    protocol = Protocol.named("quick" if options.quick else "full", **limits)
    cells = plan(options.name, chosen or None, protocol)
    if not cells:
        raise ValueError(f"The experiment {options.name} does not use {', '.join(chosen)}.")
    folder = options.out or Path("out") / protocol.name
    print(f"{protocol.describe()}\nResults: {folder}", flush=True)
    start = time.monotonic()
    missing = run_cells(cells, protocol, folder, jobs=options.jobs, tell=_tell)
    report = f"For tables and plots: python -m reproduction report {folder}"
    print(f"This took {time.monotonic() - start:.0f} s. {report}")
    if missing:
        first, *others = missing
        more = f" The same holds for {', '.join(others)}." if others else ""
        raise DatasetError(
            f"Results are kept, but {first} could not be read: {missing[first]}{more} Then run the "
            f"same command again. --datasets {','.join(MADE[:2])} needs no files."
        )


def _report(options: argparse.Namespace) -> None:
    from .report import write_report  # which needs matplotlib; runs do not

    print(*write_report(options.folder, options.page), sep="\n")


def _check(name: str, names: list[str], what: str) -> None:
    if name not in names:
        raise ValueError(f"There is no {what} {name!r}; the names are {', '.join(names)}.")


def _tell(row: Row, ended: int, total: int) -> None:
    """Print a line about a result."""
    values = [row[name] for name in ("kind", "dataset", "method", "part", "objective")]
    values += [f"{row['hidden']} % hidden"] if row["hidden"] else []
    values += [f"{row['rows']:,} rows" if row["rows"] else f"run {row['run'] + 1}"]
    result = row["status"] + (f" ({row['reason']})" if "reason" in row else "")
    if "accuracy" in row:
        result = f"{100 * row['accuracy']:.2f} %, {row['cpu_seconds']:.3f} s"
    elif "cv_accuracy" in row:
        result = ", ".join(f"{name} {value:g}" for name, value in row["parameters"].items())
    print(f"[{ended}/{total}] {' '.join(filter(None, values))}: {result}", flush=True)
