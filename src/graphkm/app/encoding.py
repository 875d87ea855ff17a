"""Columns of texts and of pictures as vectors, which the live model and the neighbours use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..embed import ImageEmbedder, PictureError, TextEmbedder, broken_pictures
from ..io import DataFileError
from .images import few_names


@dataclass(frozen=True)
class Encoding:
    """How texts and pictures become vectors.

    Parameters
    ----------
    model : str, default="auto"
        The model's name, as `TextEmbedder` and `ImageEmbedder` take it.
    verbose : int, default=0
        Whether a progress bar is shown.

    Examples
    --------
    >>> found = Encoding().texts(["my card is lost", "", "I lost my card"], "body")
    >>> found.vectors.shape, found.notes[1]
    ((3, 256), '1 of the 3 texts in body is empty.')
    """

    model: str = "auto"
    verbose: int = 0

    def texts(self, texts: Sequence[str], column: str) -> Encoded:
        """Return the vectors of texts; an empty one is a row of zeros."""
        empty = sum(not text.strip() for text in texts)
        if empty == len(texts):
            raise DataFileError(
                f"all {len(texts):,} texts in {column} are empty, so there is nothing to learn "
                "from. Name the column of the texts with --text."
            )
        embedder = TextEmbedder(self.model, verbose=self.verbose)
        vectors = embedder.fit_transform(texts)
        what = f"vectors of {embedder.model_}"
        notes = [f"The model on this page learns from the texts in {column}: {what}."]
        if empty:
            verb = "is" if empty == 1 else "are"
            notes.append(f"{empty:,} of the {len(texts):,} texts in {column} {verb} empty.")
        return Encoded(vectors, list(range(len(texts))), notes)

    def pictures(self, paths: Sequence[Path], names: Sequence[str]) -> Encoded:
        """Return the vectors of pictures, without those that cannot be read.

        A note has the names of these. Raises DataFileError if fewer than two can be read.
        """
        files, whole, notes = list(map(str, paths)), list(range(len(paths))), list[str]()
        embedder = ImageEmbedder(self.model, verbose=self.verbose)
        try:
            vectors = embedder.fit_transform(files)
        except PictureError as error:
            broken = broken_pictures(files, verbose=self.verbose)
            whole = [k for k in whole if k not in broken]
            if len(whole) < 2:
                first = next(iter(broken.values()))
                raise DataFileError(f"{first} Two that can be read are needed.") from error
            lost = few_names([names[k] for k in broken])
            notes.append(f"Left out, because they cannot be read as pictures: {lost}.")
            vectors = embedder.fit_transform([files[k] for k in whole])
        what = "pixels and gradients" if self.model == "auto" else f"vectors of {embedder.model_}"
        return Encoded(
            vectors, whole, [f"The model on this page learns from the images: {what}.", *notes]
        )


@dataclass(frozen=True)
class Encoded:
    """Vectors of rows, and what became of rows without one."""

    vectors: NDArray[np.float32]
    whole: list[int]  # the places of the rows that have a vector
    notes: list[str] = field(default_factory=list)
