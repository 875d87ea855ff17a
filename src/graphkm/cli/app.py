"""The command, its sub-commands, and `main`."""

from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Callable
from typing import Annotated, Any

try:
    import typer
except ImportError as error:
    raise SystemExit(
        f'The command graphkm needs {error.name}: run pip install "graphkm[cli]". '
        "python -m graphkm.doctor tells what else is missing."
    ) from error

from . import (
    convert,
    datasets,
    demo,
    doctor,
    evaluate,
    explain,
    export,
    info,
    label,
    label_studio_backend,
    predict,
    report,
    screen,
    stream,
    suggest,
    train,
)
from .errors import EXIT_CODES, leave, notes_instead_of_warnings
from .starting import import_scikit_learn

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Learn from few labels and many unlabelled points.",
    epilog=f"{EXIT_CODES}\n\nBegin with: graphkm demo",
)
_state = {"debug": False}
_BARS = {"TQDM_DELAY": "1", "TQDM_LEAVE": ""}  # bars show after a second and vanish at the end


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"graphkm {version('graphkm')}")
        raise typer.Exit()


@app.callback()
def _options(
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")] = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", is_eager=True, callback=_print_version
        ),
    ] = False,
) -> None:
    _state["debug"] = debug


def _register(
    work: Callable[..., None],
    examples: tuple[str, ...],
    prepare: Callable[[], None] = import_scikit_learn,
) -> None:
    """Make a sub-command of a function. The tests run its examples."""

    @functools.wraps(work)
    def run(**values: Any) -> None:
        prepare()
        try:
            work(**values)
        except KeyboardInterrupt as interruption:  # typer would exit with another code
            leave(interruption)

    epilog = "\n\n".join(f"Example: {example}" for example in examples)
    app.command(epilog=epilog)(run)


for _module in (
    train,
    predict,
    evaluate,
    explain,
    report,
    suggest,
    screen,
    label,
    convert,
    label_studio_backend,
    stream,
    info,
    export,
    demo,
    datasets,
):
    _name = _module.__name__.rsplit(".", 1)[1]
    _register(getattr(_module, _name), _module.EXAMPLES)
# It must start where scikit-learn does not.
_register(doctor.doctor, doctor.EXAMPLES, prepare=lambda: None)


def main(arguments: list[str] | None = None) -> Any:
    """Run the command; errors are one sentence, unless --debug asks for more."""
    _state["debug"] = False
    for name, value in _BARS.items():
        os.environ.setdefault(name, value)
    with warnings.catch_warnings():
        notes_instead_of_warnings()
        try:
            return app(arguments, prog_name="graphkm")
        except Exception as error:
            if _state["debug"]:
                raise
            leave(error)
