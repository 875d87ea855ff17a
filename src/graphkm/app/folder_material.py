"""Folders of pictures or of text files to material."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..io import DataFileError
from ..io.kinds import IMAGE, TEXT
from ..tables.folders import UNLABELED, FolderRows, read_folder
from .encoding import Encoding
from .images import TYPES, ImageFolder, few_names
from .material import Material

FILE = "file"
"""The column of the file of labels that names a row: its path inside the folder."""


def read_folder_rows(folder: Path, encoding: Encoding) -> Material:
    """Return the pictures, or the texts, of a folder and its sub-folders.

    If a sub-folder is called unlabelled, unlabeled or unknown, the others are classes.
    """
    # Pictures are not decoded to look for broken ones: those in the cache need not be decoded.
    found = read_folder(folder, verbose=encoding.verbose, check=False)
    rows, notes = _shown_rows(folder, found)
    if len(rows) < 2:
        holds = f"{folder}: it holds {len(rows)} {found.kind}; two at least are needed."
        raise DataFileError(" ".join([holds, *notes]))
    names, items = [found.names[k] for k in rows], [found.items[k] for k in rows]
    images = found.kind == "images"
    encoded = (
        encoding.pictures(list(map(Path, items)), names)
        if images
        else encoding.texts(items, str(folder))
    )
    names, items = [names[k] for k in encoded.whole], [items[k] for k in encoded.whole]
    given, told = _given(names, [found.labels[rows[k]] for k in encoded.whole])
    about = _of_images(folder, names, items) if images else _of_texts(names, items)
    return Material(
        given=given,
        written=lambda row: [names[row]],
        header=[FILE],
        vectors=encoded.vectors,
        format="folder",
        encoder=encoding.model,
        notes=[*encoded.notes, *told, *notes],
        **about,
    )


def _shown_rows(folder: Path, found: FolderRows) -> tuple[list[int], list[str]]:
    """Return the rows that may be shown, and notes on files that were left out."""
    root = folder.resolve()
    inside = [(folder / name).resolve().is_relative_to(root) for name in found.names]
    told = found.kind == "texts"
    seen = [told or Path(item).suffix.lower() in TYPES for item in found.items]
    notes = list(found.notes)
    for flags, why in (
        (inside, "links lead out of the folder"),
        (seen, "browsers do not show them"),
    ):
        lost = [name for name, fine in zip(found.names, flags, strict=True) if not fine]
        if lost:
            notes.append(f"Left out, because {why}: {few_names(lost)}.")
    return [k for k in range(len(found)) if inside[k] and seen[k]], notes


def _given(names: list[str], labels: list[str | None]) -> tuple[NDArray[np.object_], list[str]]:
    """Return the labels that sub-folders give, and a note on them."""
    given = np.full(len(names), None, dtype=object)
    folders = list(dict.fromkeys(label for label in labels if label is not None))
    if not folders:
        return given, []
    if not any(name.split("/")[0].lower() in UNLABELED for name in names if "/" in name):
        return given, [
            "The names of sub-folders are not taken as labels; they are if one of them is called "
            "unlabelled."
        ]
    given[:] = labels
    return given, [f"The names of sub-folders are labels: {few_names(folders)}."]


def _of_images(folder: Path, names: list[str], items: list[str]) -> dict[str, Any]:
    where = ImageFolder(folder, [str(Path(item).relative_to(folder)) for item in items])
    return {
        "X": _column([str(Path(item).absolute()) for item in items]),
        "names": [FILE],
        "kinds": [IMAGE],
        "shown": lambda row: [("image", names[row])],
        "image": "image",
        "images": where,
    }


def _of_texts(names: list[str], items: list[str]) -> dict[str, Any]:
    return {
        "X": _column(items),
        "names": ["text"],
        "kinds": [TEXT],
        "shown": lambda row: [(FILE, names[row]), ("text", items[row])],
        "text": "text",
    }


def _column(items: list[str]) -> NDArray[np.object_]:
    column = np.empty((len(items), 1), dtype=object)
    column[:, 0] = items
    return column
