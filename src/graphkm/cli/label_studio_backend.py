"""`graphkm label-studio-backend`: predictions for Label Studio, from a model that learns there."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from .options import UsageError

EXAMPLES = (
    "graphkm label-studio-backend --state backend --port 9090",
    "graphkm label-studio-backend moons.gkm --state backend --host 0.0.0.0 --token SECRET",
)

_LOCAL = ("127.0.0.1", "::1", "localhost")


def label_studio_backend(
    model: Annotated[
        Path | None,
        typer.Argument(
            metavar="[MODEL]",
            help="A model that predicts until the annotations of a project have taught its own.",
            show_default=False,
        ),
    ] = None,
    state: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER",
            help="Where annotations and models are kept, so that a new start goes on.",
        ),
    ] = Path("label-studio-backend"),
    question: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The question to learn, if a project has several."),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Where to listen. Beyond this computer --token is needed.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 9090,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="GRAPHKM_TOKEN",
            help="What Label Studio must know: the first part of the address, or the password of "
            "basic authentication.",
        ),
    ] = None,
) -> None:
    """Serve predictions to Label Studio, and learn from its annotations as they come.

    Connect the address that is printed under Settings, Model of a project. Questions of Choices,
    Rating and Number about texts and tables are learnt. Every annotation is on the disk before it
    is acknowledged. A model of all tasks seen so far is fitted after it, in the background. Stop
    with Ctrl-C, and start again with the same --state to go on.
    """
    try:
        from ..studio.server import serve
    except ImportError as error:
        raise UsageError(
            f'the backend needs {error.name}: run pip install "graphkm[app]".'
        ) from error
    from ..studio.models import Models
    from .studio_models import WORK

    if host not in _LOCAL and not token:
        raise UsageError(f"--host {host}: others can reach it there, so pass --token as well.")
    if token is not None and (not token.isascii() or not token.isalnum()):
        raise UsageError("--token: it has letters a to z and digits only.")
    state.mkdir(parents=True, exist_ok=True)
    models = Models(state, WORK, model, question)

    def ready(address: str) -> None:
        print(f"The backend for Label Studio is at\n{address}", flush=True)

    with suppress(KeyboardInterrupt):  # the usual way to stop
        serve(models, host, port, token, ready)
    print(f"graphkm: all is kept in {state}.", file=sys.stderr)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # threads in compiled code would crash while Python shuts down
