"""What is labelled, and by whom: from the options of `graphkm label` to a team."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..app.classes import AnswerError
from ..app.ground import Ground
from ..app.journal import Journal
from ..app.journal_file import JournalError
from ..app.learning import FirstModel
from ..app.material import Material
from ..app.team import Second, Team
from .first_model import check_first
from .options import TableOptions, UsageError


@dataclass(frozen=True)
class Labelling:
    """How rows are labelled.

    Parameters
    ----------
    rows : Material
        The rows.
    files : TableOptions
        How their table is read.
    classes : list of str or None
        The classes, if no others are allowed.
    regression : bool
        Whether labels are quantities.
    several : bool or None
        Whether rows have several labels; None: if they have so already.
    people : list of str or None
        Who answers.
    second : {"never", "fifth", "first"}
        How often rows come that others have answered.
    first : FirstModel or None
        Chooses the first rows.
    relevant : str or None
        The class whose rows come first.
    """

    rows: Material
    files: TableOptions
    classes: list[str] | None
    regression: bool
    several: bool | None
    people: list[str | None]
    second: Second
    first: FirstModel | None
    relevant: str | None

    def team(self, out: Path, model: Path, predictions: Path) -> Team:
        """Return the labelling whose answers are kept beside a file of labels."""
        from .label_predictions import predictor
        from .label_saving import saver

        journal, ground = self._journal(out), Ground(self.rows)
        kinds = {"regression": self.regression, "several": journal.several}
        return self._team(
            journal,
            ground,
            save=saver(self.rows, self.files, model, **kinds),
            predict=predictor(self.rows, model, predictions),
            reserved=out.with_name(out.name + ".reserved") if len(self.people) > 1 else None,
        )

    def visit(self, ground: Ground) -> Team:
        """Return a labelling of which nothing is kept."""
        return self._team(self._journal(None), ground)

    def _journal(self, out: Path | None) -> Journal:
        named = any(name is not None for name in self.people)
        several = False if self.regression else self.several
        try:
            return Journal(out, self.rows, several=several, named=named)
        except JournalError as error:
            raise UsageError(str(error)) from error

    def _team(self, journal: Journal, ground: Ground, **more: Any) -> Team:
        try:
            check_first(self.first, journal.several)
            return Team(
                self.rows,
                journal,
                classes=self.classes,
                regression=self.regression,
                first=self.first,
                relevant=self.relevant,
                second=self.second,
                people=self.people,
                ground=ground,
                **more,
            )
        except (UsageError, AnswerError) as error:
            journal.close()
            raise UsageError(str(error)) from error
