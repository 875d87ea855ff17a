"""Which columns of a table a command reads: to learn from, or those that a model knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..io import DataFileError
from ..io.columns import Columns, Head, listed
from ..io.kinds import is_word
from ..tables.naming import UnknownColumnError, check_names, find_column, label_column
from ..tables.treatments import encoded_places
from .model_files import FileNote


@dataclass(frozen=True)
class TrainingColumns:
    """Chooses columns to learn from: the label, and all that are not left out as features.

    An identifier is left out, and so is the index that pandas has written.
    """

    label: str | None
    drop: Sequence[str]
    id: str | None = None
    numbers_only: bool = True  # whether a word as a feature is an error
    # Columns of texts or pictures, and their kinds.
    encoded: Mapping[str, str] = field(default_factory=dict)
    labels: Sequence[str] = ()  # columns of several labels, in the place of the one

    def likely_label(self, width: int) -> str | int | None:
        """Return the label's name or position: the last column by default.

        The name of a column of texts serves as well: a line that has it is one of names.
        """
        names = [name for name in self.encoded if isinstance(_place(name), str)]
        return _place(self.label or next(iter([*self.labels, *names]), -1))

    def choose(self, head: Head) -> Columns:
        """Return the columns; raise if none is left, or if two have the same name."""
        dropped = {find_column(head, column, "--drop") for column in self.drop} | {*head.index}
        if self.id is not None:
            dropped.add(find_column(head, self.id, "--id"))
        labels = self._several(head, dropped)
        label = None if labels else label_column(head, self.label)
        if label is None and not labels:
            label = self._last_column(head, dropped)
        none = {label, *labels, *dropped}
        columns = Columns(
            head, tuple(k for k in range(head.width) if k not in none), label, labels=labels
        )
        if not columns.features:
            raise DataFileError(
                f"{head.file}: no feature is left beside the label; its first line has "
                f"{head.width} column(s). Is --delimiter right?"
            )
        check_names(head.file, columns.names or ())
        if self.numbers_only:
            _refuse_words(columns)
        return columns

    def _several(self, head: Head, dropped: set[int]) -> tuple[int, ...]:
        """Return the places of several labels; raise if one is left out, or is named twice."""
        found = [find_column(head, name, "--labels") for name in self.labels]
        for name, k in zip(self.labels, found, strict=True):
            if k in dropped or found.count(k) > 1:
                why = "is left out by --drop or --id" if k in dropped else "comes twice"
                raise UnknownColumnError(f"--labels {','.join(self.labels)}: {name} {why}.")
        return tuple(found)

    def _last_column(self, head: Head, dropped: set[int]) -> int:
        """Return the last column that may be the label: texts and pictures are none."""
        others = dropped | encoded_places(head, self.encoded).keys()
        left = [k for k in range(head.width) if k not in others]
        if not left and self.encoded:
            raise DataFileError(
                f"{head.file}: no column is left for the label beside {', '.join(self.encoded)}. "
                "Add a column of labels, empty where a row has none."
            )
        return max(left, default=0)


@dataclass(frozen=True)
class KnownColumns:
    """Chooses the columns that a model was trained on."""

    note: FileNote
    label: str | None
    drop: Sequence[str]
    labels: bool  # whether labels are read
    kept: Sequence[tuple[str, str]] = ()  # columns to copy, each with its option if it has one

    def likely_label(self, width: int) -> str | int | None:
        """Return the label's name or position; None if all columns must be features."""
        if width == self.note.n_features:
            return None
        several = next(iter(self.note.label_columns), None)
        return _place(self.label or self.note.label or several or -1)

    def choose(self, head: Head) -> Columns:
        """Return the columns: by name if both have names, else by position."""
        by_name = self.note.columns is not None and head.names is not None
        columns = self._by_name(head) if by_name else self._by_position(head)
        kept = tuple(
            find_column(head, name, flag)
            for name, flag in self.kept
            if flag or name in (head.names or ())
        )
        if not self.labels:
            return replace(columns, kept=kept, label=None, labels=())
        return replace(columns, kept=kept)

    def _by_name(self, head: Head) -> Columns:
        wanted, names = self.note.columns or [], head.names or ()
        missing = [name for name in wanted if name not in names]
        if missing:
            raise DataFileError(
                f"{head.file} lacks {len(missing)} of the model's {len(wanted)} columns: "
                f"{listed(missing)}. If its first line holds values and not names, pass "
                "header=False."
            )
        features = tuple(find_column(head, name, "--drop") for name in wanted)
        if self.note.label_columns:
            return Columns(head, features, None, labels=self._several(head))
        label = self.label if self.labels else None
        if label is None:
            known = str(self.note.label)
            alike = [name for name in names if name.lower() == known.lower()]
            label = known if known in alike else alike[0] if len(alike) == 1 else None
        return Columns(head, features, None if label is None else find_column(head, label))

    def _several(self, head: Head) -> tuple[int, ...]:
        """Return the places of several labels, or of none; raise if only some are there."""
        wanted, names = self.note.label_columns, head.names or ()
        missing = [name for name in wanted if name not in names]
        if not self.labels or len(missing) == len(wanted):
            return ()
        if missing:
            raise DataFileError(
                f"{head.file} lacks {len(missing)} of the {len(wanted)} columns of labels: "
                f"{listed(missing)}. Add them, empty where labels are not known."
            )
        return tuple(find_column(head, name, "--labels") for name in wanted)

    def _by_position(self, head: Head) -> Columns:
        """Return the columns of a file without names; they must be in the model's order."""
        dropped = {find_column(head, column, "--drop") for column in self.drop}
        if self.note.id is not None and head.width > self.note.n_features:
            dropped.add(find_column(head, self.note.id, "--id"))
        left = [k for k in range(head.width) if k not in dropped]
        known, several = self.note.n_features, self.note.label_columns
        if several and len(left) == known + len(several):
            numbered = all(name.isdecimal() and int(name) - 1 in left for name in several)
            labels = [int(name) - 1 for name in several] if numbered else left[known:]
            features = tuple(k for k in left if k not in labels)
            return Columns(head, features, None, labels=tuple(labels))
        label = label_column(head, self.label if self.labels else None)
        if label is None and len(left) == known + 1:
            number = self.note.label
            numbered = isinstance(number, int) and number - 1 in left
            label = int(number) - 1 if numbered else left[-1]  # type: ignore[arg-type]
        features = tuple(k for k in left if k != label)
        if len(features) != known:
            raise DataFileError(
                f"{head.file} has {len(features)} columns of features, and the model knows "
                f"{known}. Are --delimiter, --label and --drop right?"
            )
        return Columns(head, features, label)


def _place(column: str | int) -> str | int:
    """Return a column as `graphkm.io` takes it: a name, or a position from 0.

    Examples
    --------
    >>> _place("3"), _place(-1), _place("kind")
    (2, -1, 'kind')
    """
    if isinstance(column, str) and not column.lstrip("-").isdigit():
        return column
    number = int(column)
    return number - 1 if number > 0 else number


def _refuse_words(columns: Columns) -> None:
    head = columns.head
    if len(head.first_row) != head.width:
        return  # the parser says what is wrong with the row
    for k in columns.features:
        word = head.first_row[k]
        if is_word(word):
            column = str(k + 1) if head.names is None else head.names[k]
            call = f"number {column}" if head.names is None else repr(column)
            raise DataFileError(
                f"{head.file}: the column {call} holds words ({word!r}), and a stream learns "
                f"from numbers. Leave it out with --drop {column}, pass --label {column} if it is "
                "the label, or use graphkm train, which makes categories of words."
            )
