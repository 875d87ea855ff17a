"""The data folder: a file in it is read, one that is missing is downloaded, and both are checked.

pooch downloads a file under another name, compares its hash, tries again after failures, and moves
it into place. Here a second process waits for the first, and the content is checked before the file
gets its name.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from .._files import destination
from .._progress import progress_bar
from .catalog import PublicFile
from .reading import Arrays, DamagedFileError, DatasetError, Reader, content_digest, read_file

_FOLDER_VARIABLE = "GRAPHKM_DATA"
_RETRIES = 3
_PASSING = {408, 425, 429}  # refusals that a later attempt may not meet

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


# ----------------------------------------------------------------- downloads


def download(
    url: str, target: Path, check: Callable[[Path], Any], *, sha256: str | None = None
) -> None:
    """Download a file, unless it exists already, and give it its name once it has been checked.

    Parameters
    ----------
    url : str
        Its address.
    target : Path
        Its name here, or a link to it. The folder is made if need be.
    check : callable
        Called with the path of the complete download; raises DamagedFileError to refuse it.
    sha256 : str, optional
        What the bytes must hash to, where that is known.

    Raises
    ------
    DatasetError
        If it could not be downloaded, or not be written. `target` does not exist then.
    DamagedFileError
        If what arrived was refused, twice.
    """
    import pooch
    import requests

    try:
        target = destination(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        with exclusive(target.with_name(target.name + ".lock")):
            # Not pooch.retrieve, which tries only once.
            fetcher = pooch.create(
                path=target.parent,
                base_url="",
                registry={target.name: sha256 and f"sha256:{sha256}"},
                urls={target.name: url},
                retry_if_failed=_RETRIES,
            )
            # Does nothing if another process was faster.
            fetcher.fetch(target.name, downloader=_Checked(target.name, check))
    except DatasetError:
        raise
    except requests.RequestException as error:
        raise DatasetError(f"{url} could not be downloaded ({error})") from error
    except ValueError as error:  # pooch: the hash
        raise DamagedFileError(f"{url} is not the expected file ({error})") from error
    except OSError as error:
        raise DatasetError(f"{target} could not be written ({error})") from error


class _Checked:
    """A downloader for pooch that has the whole file checked."""

    def __init__(self, name: str, check: Callable[[Path], Any]) -> None:
        self.name, self.check, self.refused = name, check, False

    def __call__(self, url: str, output_file: str, _: Any) -> None:
        self._transfer(url, output_file)
        try:
            self.check(Path(output_file))
        except DamagedFileError as error:
            if self.refused:  # a fresh copy is no better: the file at its home is another one
                raise DamagedFileError(f"{url} is not the expected file ({error})") from error
            self.refused = True
            raise ValueError("pooch tries again after a ValueError") from error

    def _transfer(self, url: str, output_file: str) -> None:
        import pooch

        shown = sys.stderr.isatty()
        # pooch sets the total; a bar of tqdm without one has no truth value.
        bar = progress_bar(shown, desc=self.name, total=1, unit="B", unit_scale=True)
        transfer = pooch.HTTPDownloader(
            progressbar=shown and bar,
            chunk_size=2**16,
            headers={"Accept-Encoding": "identity"},
            hooks={"response": _refuse},
        )
        with bar:
            transfer(url, output_file, None)


def _refuse(response: Any, **_: Any) -> None:
    """Close an answer without a file, which pooch leaves open; raise if another try is useless."""
    code = response.status_code
    if code >= 400:
        response.close()
    if 400 <= code < 500 and code not in _PASSING:
        raise DatasetError(
            f"{response.url} could not be downloaded (the server answered {code} {response.reason})"
        )


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold a lock on a file of that name, waiting for it as long as it takes.

    The lock ends with the process that holds it. The file is removed afterwards.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "lock"
    ...     with exclusive(path):
    ...         path.exists()
    ...     path.exists()
    True
    False
    """
    from filelock import FileLock

    with FileLock(path):
        try:
            yield
        finally:
            # On Unix FileLock leaves the file. It may go only while the lock is held: whoever gets
            # a lock on a file without a name starts over. On Windows FileLock removes it.
            with suppress(OSError):
                path.unlink()
