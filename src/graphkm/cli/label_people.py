"""Who answers on the labelling page: its options, and which of them go together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from .options import UsageError

if TYPE_CHECKING:
    from ..app.team import Second

_LONGEST = 100  # letters of a name, at most


@dataclass(frozen=True)
class Who:
    """Who answers.

    Examples
    --------
    >>> Who(people="eva, tom").names(demo=False)
    ['eva', 'tom']
    """

    annotator: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Who answers. The name is kept with every answer, and rows that others have "
            "answered may be answered again.",
        ),
    ] = None
    people: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,C",
            help="Who answers, several people at once: each gets a link of their own, and no row "
            "is given to two of them unless --second asks for it.",
        ),
    ] = None
    new_links: Annotated[
        bool,
        typer.Option("--new-links", help="Give all people new links; the old ones end."),
    ] = False
    second: Annotated[
        bool,
        typer.Option(
            "--second",
            help="Show rows that others have answered first, where a second answer tells most.",
        ),
    ] = False

    @property
    def together(self) -> bool:
        """Whether several people answer at once."""
        return self.people is not None

    @property
    def order(self) -> Second:
        """How often rows come that others have answered."""
        return "first" if self.second else "never" if self.together else "fifth"

    def names(self, *, demo: bool) -> list[str | None]:
        """Return who answers; None is a person without a name."""
        apart = {"--annotator": self.annotator, "--people": self.people, "--demo": demo or None}
        given = [option for option, value in apart.items() if value is not None]
        if len(given) > 1:
            raise UsageError(f"{given[0]} and {given[1]} do not go together; pass one of them.")
        if self.new_links and self.people is None:
            raise UsageError("--new-links: name the people, as in --people eva,tom --new-links.")
        if self.second and not (self.annotator or self.people):
            raise UsageError("--second: name who answers, as in --annotator eva --second.")
        if self.people is None:
            return [None if self.annotator is None else _name(self.annotator, "--annotator")]
        found = [_name(name, "--people") for name in self.people.split(",")]
        if len({name.casefold() for name in found}) < len(found):
            raise UsageError(f"--people {self.people}: a name stands there twice.")
        return [*found]


def _name(name: str, option: str) -> str:
    """Return a person's name; raise UsageError if it is none."""
    name = name.strip()
    if not name or not name.isprintable() or len(name) > _LONGEST:
        raise UsageError(f"{option} {name!r}: a name has 1 to {_LONGEST} letters, in one line.")
    return name
