"""The data folder: finding a file there, or putting it there, and knowing that it is right."""

from __future__ import annotations

import os
from pathlib import Path

from .digest import Arrays, content_digest
from .download import download
from .errors import DamagedFileError, DatasetError
from .readers import read_file
from .registry import Block, Copy

FOLDER_VARIABLE = "GRAPHKM_DATA"


def data_folder(data_home: str | os.PathLike[str] | None = None) -> Path:
    """Return `data_home`, else the folder GRAPHKM_DATA names, else the user's cache folder.

    Examples
    --------
    >>> data_folder("somewhere").name
    'somewhere'
    """
    chosen = data_home or os.environ.get(FOLDER_VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    try:
        import pooch
    except ImportError as error:
        raise ImportError(
            'Fetching data sets needs pooch: run pip install "graphkm[data]", or, if you have the '
            f"files, name their folder with data_home= or {FOLDER_VARIABLE}."
        ) from error
    return Path(pooch.os_cache("graphkm"))


def obtain(block: Block, folder: Path, *, download_if_missing: bool = True) -> Arrays:
    """Return the arrays of a block, from a file in the folder if there is one.

    Raises
    ------
    DatasetError
        If there is no such file, and none can be downloaded.
    DamagedFileError
        If the file is not what it should be.
    """
    for copy in block.copies:
        path = folder / copy.name
        if path.is_file():
            return _read_present(path, copy, block)
    copy, url = block.home
    path = folder / copy.name
    if not download_if_missing:
        raise DatasetError(
            f"{path} does not exist, and download_if_missing is False. {_advice(block, folder)}"
        )
    return _download(path, copy, url, block, folder)


def _read_present(path: Path, copy: Copy, block: Block) -> Arrays:
    try:
        return _read_checked(path, copy, block)
    except DamagedFileError as error:
        raise DamagedFileError(
            f"{error}. Remove this file: it will be downloaded from {block.home[1]} when it is "
            "next asked for, or put a good copy in its place."
        ) from error


def _download(path: Path, copy: Copy, url: str, block: Block, folder: Path) -> Arrays:
    checked: list[Arrays] = []  # what the check has read need not be read again
    try:
        download(
            url, path, lambda part: checked.append(_read_checked(part, copy, block)),
            sha256=copy.sha256,
        )  # fmt: skip
    except ImportError as error:
        raise ImportError(
            'Downloading needs pooch: run pip install "graphkm[data]". Without it: '
            f"{_advice(block, folder)}"
        ) from error
    except DatasetError as error:
        raise type(error)(f"{error}. {_advice(block, folder)}") from error
    return checked[-1] if checked else _read_present(path, copy, block)


def _read_checked(path: Path, copy: Copy, block: Block) -> Arrays:
    arrays = read_file(path, copy.read)
    found = content_digest(arrays)
    if found != block.digest:
        shapes = ", ".join(f"{name} {values.shape}" for name, values in arrays.items())
        raise DamagedFileError(
            f"{path} holds other data than it should: {shapes} with digest {found[:12]}..., "
            f"expected {block.digest[:12]}..."
        )
    return arrays


def _advice(block: Block, folder: Path) -> str:
    copy, url = block.home
    path = folder / copy.name
    return (
        f"Place the file {path.name} from {url} in {path.parent}, or set {FOLDER_VARIABLE} (or "
        "pass data_home=) to a folder that has it."
    )
