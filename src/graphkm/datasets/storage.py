"""The data folder: files are read from it, or downloaded into it, and always checked.

pooch downloads a file under another name, compares its hash, tries again after failures, and moves
it into place. This module adds a lock, so that a second process waits for the first, and checks the
content before the file gets its name.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from .._util.files import destination
from .._util.progress import progress_bar
from .catalog import PublicFile
from .reading import Arrays, DamagedFileError, DatasetError, Reader, content_digest, read_file

_FOLDER_VARIABLE = "GRAPHKM_DATA"
_RETRIES = 3
_PASSING = {408, 425, 429}  # errors after which another attempt may succeed

Folder = str | os.PathLike[str] | None


def data_folder(data_home: Folder = None) -> Path:
    """Return `data_home`, else the folder in GRAPHKM_DATA, else graphkm's in the user's cache.

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
    """Return the arrays of a file or of one of its copies; download the file if there is none."""
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
    checked: list[Arrays] = []  # the check reads the file, so that it need not be read again

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
    # The list is empty if another process has downloaded the file meanwhile.
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
    """Download a file unless it exists, check it, and only then give it its name.

    Parameters
    ----------
    url : str
        Its address.
    target : Path
        Its name here, or a link to it. Its folder is created.
    check : callable
        Called with the path of the complete download; raises DamagedFileError to refuse it.
    sha256 : str, optional
        The hash of the bytes, if it is known.

    Raises
    ------
    DatasetError
        If it could not be downloaded or written. `target` does not exist then.
    DamagedFileError
        If the check refused two downloads.
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
    """A downloader for pooch that calls a check of the whole file."""

    def __init__(self, name: str, check: Callable[[Path], Any]) -> None:
        self.name, self.check, self.refused = name, check, False

    def __call__(self, url: str, output_file: str, _: Any) -> None:
        self._transfer(url, output_file)
        try:
            self.check(Path(output_file))
        except DamagedFileError as error:
            if self.refused:  # a second copy is no better: the public file has changed
                raise DamagedFileError(f"{url} is not the expected file ({error})") from error
            self.refused = True
            raise ValueError("pooch tries again after a ValueError") from error

    def _transfer(self, url: str, output_file: str) -> None:
        import pooch

        shown = sys.stderr.isatty()
        # pooch sets the total. Without one, tqdm's bar cannot be used as a condition.
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
    """Close the answer after an error, which pooch does not; raise if trying again is useless."""
    code = response.status_code
    if code >= 400:
        response.close()
    if 400 <= code < 500 and code not in _PASSING:
        raise DatasetError(
            f"{response.url} could not be downloaded (the server answered {code} {response.reason})"
        )


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold a lock on a file of this name; wait for it without limit.

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
            # On Unix FileLock leaves the file. It is removed while the lock is held: FileLock
            # notices if it got a lock on a removed file, and starts over. On Windows FileLock
            # removes the file itself.
            with suppress(OSError):
                path.unlink()
