"""The file of labels: plain CSV, one line for each answer that stands."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable
from pathlib import Path

from .._util.files import replacing
from .material import Material

Given = tuple[int, str | None, str]  # a row, who answered, and the label


class LabelFile:
    """Writes labelled rows with their columns and their labels.

    Parameters
    ----------
    path : Path
        The file.
    material : Material
        The rows.
    named : bool
        Whether lines have the row's number, from 1, and who answered: a row may have several lines
        then.
    """

    def __init__(self, path: Path, material: Material, named: bool) -> None:
        self.path, self._material, self._named = path, material, named

    def line(self, given: Given) -> bytes:
        """Return the line of an answer."""
        row, who, label = given
        more = (who or "", str(row + 1)) if self._named else ()
        return _csv_line(self._material.line(row, label, *more))

    def add(self, labels: Iterable[Given]) -> None:
        """Append lines; they are on the disk when this returns."""
        with open(self.path, "ab") as file:
            file.writelines(map(self.line, labels))
            file.flush()
            os.fsync(file.fileno())

    def write(self, labels: Iterable[Given], *, keep_previous: bool = False) -> None:
        """Write the file anew, whole or not at all."""
        with replacing(self.path, keep_previous=keep_previous) as file:
            file.write(self._header())
            for given in labels:
                file.write(self.line(given))

    def has_others(self, ever: Iterable[Given]) -> bool:
        """Return whether the file has lines of other answers than these: a person wrote them."""
        if not self.path.exists():
            return False
        found = self.path.read_bytes().splitlines(keepends=True)
        whole = {line for line in found if line.endswith(b"\n")}  # the last may be torn
        return bool(whole - set(map(self.line, ever)) - {self._header()})

    def _header(self) -> bytes:
        names = self._material.columns(*(("annotator", "row") if self._named else ()))
        return b"" if names is None else _csv_line(names)


def _csv_line(cells: list[str]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue().encode(errors="backslashreplace")  # file names may not be text
