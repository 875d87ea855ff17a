"""The rows of the labelling page: which of their columns are seen and learnt from."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .options import Format, TableOptions, UsageError

if TYPE_CHECKING:
    from ..app.material import Material


@dataclass(frozen=True)
class Content:
    """What rows hold beside numbers."""

    images: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="The column with paths of images, inside the folder of DATA."
        ),
    ] = None
    text: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column of texts to learn from.")
    ] = None
    encoder: Annotated[
        str,
        typer.Option(
            metavar="MODEL",
            help="What makes vectors of texts or images: the name, folder or ONNX file of a "
            "model. auto needs no network.",
        ),
    ] = "auto"

    def check(self) -> None:
        """Raise UsageError if options do not go together."""
        if self.images is not None and self.text is not None:
            raise UsageError("--images and --text do not go together; pass one of them.")

    def read(self, data: Path, files: TableOptions, *, regression: bool) -> Material:
        """Return the rows; raise UsageError if what makes vectors is missing or not needed."""
        from ..app.reading import read_material
        from ..embed import MissingModelError
        from .opening import reading

        try:
            rows = read_material(
                data,
                None if files.format is Format.auto else files.format.value,
                encoder=self.encoder,
                label=files.label,
                images=self.images,
                text=self.text,
                drop=files.drop or (),
                id=files.id,
                categorical=files.categorical,
                regression=regression,
                encoding=files.encoding,
                verbose=int(sys.stderr.isatty()),
                **reading(files),
            )
        except (ImportError, MissingModelError) as error:
            raise UsageError(str(error)) from error
        if self.encoder != "auto" and rows.vectors is None:
            raise UsageError(
                f"--encoder {self.encoder}: it makes vectors of texts and images, and these rows "
                "have none; name their column with --text or --images, or drop --encoder."
            )
        return rows
