"""A table's column of texts, or of paths of pictures, which an encoder reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..io import DataFileError
from ..io.kinds import IMAGE, TEXT
from .encoding import Encoding
from .features import Learnt
from .images import ImageFolder
from .material import Material


@dataclass(frozen=True)
class EncodedColumn:
    """A column of texts or of paths.

    Parameters
    ----------
    file : Path
        The table; pictures lie in its folder.
    place : int
        Where the column stands.
    name : str
        What it is called.
    cells : sequence of str
        What it holds.
    """

    file: Path
    place: int
    name: str
    cells: Sequence[str]

    def texts(
        self, others: Learnt, only_shown: dict[str, str], about: dict[str, Any], encoding: Encoding
    ) -> Material:
        """Return the rows of a table with a column of texts."""
        encoded = encoding.texts(self.cells, self.name)
        only_shown = {name: why for name, why in only_shown.items() if name != self.name}
        return others.with_column(self.place, self.name, TEXT, self.cells).material(
            only_shown, encoded.notes, vectors=encoded.vectors, text=self.name, **about
        )

    def images(
        self, others: Learnt, only_shown: dict[str, str], about: dict[str, Any], encoding: Encoding
    ) -> Material:
        """Return the rows of a table with a column of paths of pictures.

        If a path is no picture inside the folder, the model learns from the numbers of the table;
        without any, this is an error. Files that cannot be read are left out.
        """
        where = ImageFolder(self.file.parent, self.cells)
        about |= {"image": self.name, "images": where}
        found = [where(row) for row in range(len(self.cells))]
        paths = [path for path in found if path is not None]
        if len(paths) < len(found):
            row = found.index(None)
            wrong = (
                f"row {row + 1} names the image {self.cells[row]!r}, which is not a picture inside "
                f"{self.file.resolve().parent}"
            )
            if not others.has_numbers:
                raise DataFileError(f"{self.file}: {wrong}.")
            note = f"The model does not learn from the images: {wrong}."
            return others.material(only_shown, [note], **about)
        encoded = encoding.pictures(paths, self.cells)
        whole, shown, written = encoded.whole, about["shown"], about["written"]
        about |= {
            "shown": lambda row: shown(whole[row]),
            "written": lambda row: written(whole[row]),
            "given": about["given"][whole],
            "images": lambda row: where(whole[row]),
        }
        only_shown = {name: why for name, why in only_shown.items() if name != self.name}
        learnt = others.chosen(whole).with_column(
            self.place, self.name, IMAGE, [str(paths[k]) for k in whole]
        )
        return learnt.material(only_shown, encoded.notes, vectors=encoded.vectors, **about)
