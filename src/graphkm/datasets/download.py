"""Downloads: a file arrives whole and right, or not at all.

pooch tries again after failures, compares hashes, and moves the finished file into place in one
step. This module adds what pooch lacks. A transfer continues where it broke off, also in a later
run: what has arrived stays in ``NAME.part``. A second process waits for the first. The caller
checks the file before it gets its name.
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
from .reading import DamagedFileError, DatasetError

_RETRIES = 3
_TIMEOUT = 30.0  # seconds without a byte
_CHUNK = 2**16
_PASSING = {408, 425, 429}  # refusals that a later attempt may not meet


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
        part = target.with_name(target.name + ".part")
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
            fetcher.fetch(target.name, downloader=_Resuming(part, check))
    except DatasetError:
        raise
    except requests.RequestException as error:
        raise DatasetError(f"{url} could not be downloaded ({error})") from error
    except ValueError as error:  # pooch: the hash
        raise DamagedFileError(f"{url} is not the expected file ({error})") from error
    except OSError as error:
        raise DatasetError(f"{target} could not be written ({error})") from error


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


class _Resuming:
    """A downloader for pooch that continues a partial file and has the whole one checked."""

    def __init__(self, part: Path, check: Callable[[Path], Any]) -> None:
        self.part, self.check, self.refused = part, check, False

    def __call__(self, url: str, output_file: str, _: Any) -> None:
        _transfer(url, self.part)
        try:
            self.check(self.part)
        except DamagedFileError as error:
            self.part.unlink()
            if self.refused:  # a fresh copy is no better: the file at its home is another one
                raise DamagedFileError(f"{url} is not the expected file ({error})") from error
            self.refused = True
            raise ValueError("pooch tries again after a ValueError") from error
        os.replace(self.part, output_file)


def _transfer(url: str, part: Path) -> None:
    """Append to `part` what it lacks of the file at `url`."""
    import requests
    import urllib3

    have = part.stat().st_size if part.exists() else 0
    headers = {"Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    with requests.get(url, headers=headers, stream=True, timeout=_TIMEOUT) as response:
        sent = response.headers.get("Content-Range", "")
        if response.status_code == 416 and sent == f"bytes */{have}":
            return  # all of it arrived earlier
        if response.status_code == 416 or (
            response.status_code == 206 and not sent.startswith(f"bytes {have}-")
        ):
            part.unlink(missing_ok=True)  # not the beginning of this file
            raise requests.ConnectionError("the server cannot continue the partial file")
        _refuse_failure(response)
        if response.status_code != 206:
            have = 0  # the server starts over
        length = response.headers.get("Content-Length")
        total = None if length is None else have + int(length)
        try:
            _write(response, part, have, total)
        except urllib3.exceptions.HTTPError as error:
            raise requests.ConnectionError(f"the connection broke off: {error}") from error


def _refuse_failure(response: Any) -> None:
    code = response.status_code
    if 400 <= code < 500 and code not in _PASSING:
        raise DatasetError(
            f"{response.url} could not be downloaded (the server answered {code} {response.reason})"
        )
    response.raise_for_status()


def _write(response: Any, part: Path, have: int, total: int | None) -> None:
    import requests

    bar = progress_bar(
        sys.stderr.isatty(), desc=part.stem, total=total, initial=have, unit="B", unit_scale=True
    )
    with bar, part.open("ab" if have else "wb") as file:
        # The bytes as they are sent: requests would unpack a .gz that is labelled as encoded.
        for chunk in response.raw.stream(_CHUNK, decode_content=False):
            file.write(chunk)
            bar.update(len(chunk))
        file.flush()
        os.fsync(file.fileno())
    size = part.stat().st_size
    if total is not None and size != total:
        raise requests.ConnectionError(f"{size} of {total} bytes arrived")
