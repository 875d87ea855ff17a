"""What is labelled on the labelling page: its options, and which of them go together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from .options import UsageError, listed_names


@dataclass(frozen=True)
class What:
    """What is labelled."""

    classes: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,C", help="The classes. Default: those of DATA, and new ones on the page."
        ),
    ] = None
    regression: Annotated[bool, typer.Option("--regression", help="Labels are quantities.")] = False
    several: Annotated[
        bool | None,
        typer.Option(
            "--several/--no-several",
            help="Rows have several labels, or none: their names stand in one column with ; "
            "between them. Default: if rows have them so already.",
            show_default=False,
        ),
    ] = None
    relevant: Annotated[
        str | None,
        typer.Option(
            metavar="CLASS",
            help="Screening: show the rows first that most probably belong to this class, or have "
            "this label, and none at random. graphkm screen says how many are missed.",
        ),
    ] = None

    @property
    def listed(self) -> list[str] | None:
        """The classes; None if others may come."""
        return None if self.classes is None else listed_names(self.classes)

    def check(self) -> None:
        """Raise UsageError if options do not go together."""
        if self.regression:
            self._check_regression()
        from ..io.kinds import label_word

        listed = self.listed
        if listed is None:
            return
        if len(set(listed)) != len(listed) or len(listed) < 2:
            raise UsageError(
                f"--classes {self.classes}: name two or more different classes, as in a,b,c."
            )
        marks = [name for name in listed if label_word(name, None) is None]
        if marks:
            raise UsageError(
                f"--classes {self.classes}: {marks[0]} marks rows without a label; rename it."
            )
        if self.relevant is not None and self.relevant not in listed:
            raise UsageError(
                f"--relevant {self.relevant}: --classes {self.classes} does not have it; name one "
                "of them."
            )

    def _check_regression(self) -> None:
        if self.classes is not None:
            raise UsageError("--classes and --regression do not go together; pass one of them.")
        if self.several:
            raise UsageError("--several and --regression do not go together; pass one of them.")
        if self.relevant is not None:
            raise UsageError("--relevant names a class, and --regression has quantities; drop one.")
