"""`graphkm doctor`: what is installed, what it runs on, and whether it works."""

from __future__ import annotations

import typer

from .options import AsJson
from .spreading import spread

EXAMPLES = ("graphkm doctor", "graphkm doctor --json")


@spread
def doctor(as_json: AsJson = False) -> None:
    """Tell what is installed, what it runs on, and whether it works.

    It prints versions, the processor and the instruction set that the compiled code uses, BLAS,
    memory, cards, every extra with what is missing, and the time of a small fit. Exit code 1 says
    that something that graphkm needs is broken. Where the command itself does not start,
    python -m graphkm.doctor does the same.
    """
    from ..doctor import examine, lines, verdict
    from .output import print_table, show

    facts = examine()
    if as_json:
        show({}, facts, as_json)
    else:
        print_table(lines(facts))
        print("", *verdict(facts), sep="\n")
    if facts["broken"]:
        raise typer.Exit(1)
