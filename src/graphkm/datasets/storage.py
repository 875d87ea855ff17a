"""The data folder: reading a file that is there, downloading one that is not, checking both."""

from __future__ import annotations

import os
from pathlib import Path

from .catalog import PublicFile
from .download import download
from .reading import Arrays, DamagedFileError, DatasetError, Reader, content_digest, read_file

_FOLDER_VARIABLE = "GRAPHKM_DATA"

Folder = str | os.PathLike[str] | None


def data_folder(data_home: Folder = None) -> Path:
    """Return `data_home`, else the folder GRAPHKM_DATA names, else the user's cache folder.

    Examples
    --------
    >>> data_folder("somewhere").name
    'somewhere'
    """
    chosen = data_home or os.environ.get(_FOLDER_VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    try:
        import pooch
    except ImportError as error:
        raise ImportError(
            'Fetching data sets needs pooch: run pip install "graphkm[datasets]", or, if you have '
            f"the files, name their folder with data_home= or {_FOLDER_VARIABLE}."
        ) from error
    return Path(pooch.os_cache("graphkm"))


def obtain(file: PublicFile, folder: Path, *, download_if_missing: bool = True) -> Arrays:
    """Return the arrays of a file or of one of its copies, and download it if there is none.

    Raises
    ------
    DatasetError
        If there is no such file, and none can be downloaded.
    DamagedFileError
        If the file is not what it should be.
    """
    for name, read in (*file.copies, (file.name, file.read)):
        if (folder / name).is_file():
            return _read_present(folder / name, read, file)
    if not download_if_missing:
        raise DatasetError(
            f"{folder / file.name} does not exist, and download_if_missing is False. "
            f"{_advice(file, folder)}"
        )
    return _download(file, folder)


def _read_present(path: Path, read: Reader, file: PublicFile) -> Arrays:
    try:
        return _read_checked(path, read, file.digest)
    except DamagedFileError as error:
        raise DamagedFileError(
            f"{error}. Remove this file: it will be downloaded from {file.url} when it is "
            "next asked for, or put a good copy in its place."
        ) from error


def _download(file: PublicFile, folder: Path) -> Arrays:
    path = folder / file.name
    checked: list[Arrays] = []  # spares a second reading of what the check has read

    def check(part: Path) -> None:
        checked.append(_read_checked(part, file.read, file.digest))

    try:
        download(file.url, path, check, sha256=file.sha256)
    except ImportError as error:
        raise ImportError(
            f'Downloading needs {error.name}: run pip install "graphkm[datasets]". Without it: '
            f"{_advice(file, folder)}"
        ) from error
    except DatasetError as error:
        raise type(error)(f"{error}. {_advice(file, folder)}") from error
    # Nothing was checked if another process has put the file there meanwhile.
    return checked[-1] if checked else _read_present(path, file.read, file)


def _read_checked(path: Path, read: Reader, digest: str) -> Arrays:
    arrays = read_file(path, read)
    found = content_digest(arrays)
    if found != digest:
        shapes = ", ".join(f"{name} {values.shape}" for name, values in arrays.items())
        raise DamagedFileError(
            f"{path} holds other data than it should: {shapes} with digest {found[:12]}..., "
            f"expected {digest[:12]}..."
        )
    return arrays


def _advice(file: PublicFile, folder: Path) -> str:
    path = folder / file.name
    return (
        f"Place the file {path.name} from {file.url} in {path.parent}, or set {_FOLDER_VARIABLE} "
        "(or pass data_home=) to a folder that has it."
    )
