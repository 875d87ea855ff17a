"""The only writer of files: a file is written whole, or not at all.

A file is written beside its place, flushed to the disk and renamed. A reader finds the old file or
the new one, even if the writer dies. A link is followed, and the file it leads to is replaced.
Pipes and devices cannot be replaced; they are written into.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

_LINKS = 40  # most links that are followed one after another, as in Linux


@contextmanager
def replacing(path: str | os.PathLike[str], *, keep_previous: bool = False) -> Iterator[BinaryIO]:
    """Yield a binary file that takes its place when all is written.

    If anything is raised meanwhile, the old file stays. The new file gets the permissions of the
    old one.

    Parameters
    ----------
    path : path
        What to write. A pipe or a device is written into at once.
    keep_previous : bool
        Whether to keep the old file as PATH.previous.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(f"{folder}/a") as file:
    ...         _ = file.write(b"x")
    ...     Path(f"{folder}/a").read_text(), len(os.listdir(folder))
    ('x', 1)
    """
    place = writable_place(path)
    if is_stream(place):
        with _open_stream(place) as file:
            yield file
        return
    part, handle = _open_part(place)
    kept = part.with_suffix(".previous")
    try:
        with os.fdopen(handle, "wb") as file:
            _hand_on_permissions(place, handle)
            yield file
            file.flush()
            os.fsync(handle)
            if sys.platform == "win32":
                file.close()  # open files cannot be renamed there
            if keep_previous:
                _keep_previous(place, kept)
            os.replace(part, place)
    except BaseException:
        for leftover in (part, kept):
            with contextlib.suppress(OSError):
                leftover.unlink()
        raise
    _flush_folder(place.parent)


def writable_place(path: str | os.PathLike[str]) -> Path:
    """Return the file, pipe or device that would be written; raise OSError if it cannot be.

    Examples
    --------
    >>> writable_place("nowhere/model.gkm")
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] There is no such folder: 'nowhere'
    """
    place = destination(path)
    if place.is_dir():
        raise IsADirectoryError(errno.EISDIR, "Is a directory; name a file", str(path))
    if not place.parent.is_dir():
        link = "" if place == Path(path) else f", and the link {os.fspath(path)} leads into it"
        raise FileNotFoundError(errno.ENOENT, f"There is no such folder{link}", str(place.parent))
    if place.exists() and not os.access(place, os.W_OK):
        raise PermissionError(errno.EACCES, "Permission denied, it is write-protected", str(path))
    if not is_stream(place) and not os.access(place.parent, os.W_OK | os.X_OK):
        raise PermissionError(
            errno.EACCES, "Permission denied, the folder cannot be written to", str(place.parent)
        )
    return place


def destination(path: str | os.PathLike[str]) -> Path:
    """Return what a path stands for: itself, or where its links lead.

    Examples
    --------
    >>> destination("model.gkm").name
    'model.gkm'
    """
    place = Path(path)
    for _ in range(_LINKS):
        if _descriptor(place) is not None or not place.is_symlink():
            return place
        place = place.parent / os.readlink(place)
    raise OSError(errno.ELOOP, "The links lead in a circle", os.fspath(path))


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is a pipe, a device or the number of an open file.

    Examples
    --------
    >>> is_stream("model.gkm")
    False
    """
    place = Path(path)
    if _descriptor(place) is not None:
        return True
    try:
        mode = place.stat().st_mode
    except FileNotFoundError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def previous_path(path: str | os.PathLike[str]) -> Path:
    """Return where the last write kept the file that it replaced; links are followed.

    Examples
    --------
    >>> previous_path("run.ckpt").name
    'run.ckpt.previous'
    """
    place = destination(path)
    return place.with_name(f"{place.name}.previous")


def _descriptor(place: Path) -> int | None:
    """Return the number of the open file that a path names; /dev/stdout leads to one."""
    if not place.name.isdecimal():
        return None
    own = (f"/proc/{os.getpid()}/fd", "/dev/fd")
    return int(place.name) if os.path.realpath(place.parent) in own else None


def _open_stream(place: Path) -> BinaryIO:
    descriptor = _descriptor(place)
    if descriptor is not None:
        return os.fdopen(os.dup(descriptor), "wb")  # goes on where others have written
    return os.fdopen(os.open(place, os.O_WRONLY), "wb")


def _open_part(place: Path) -> tuple[Path, int]:
    """Make a file beside a place that no other writer has.

    It is locked while it is open: a part without a lock was left by a writer that died. filelock
    does not serve here, because its locks need a second file.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    number = 0
    while True:
        part = place.with_name(f".{place.name}.{number}.part")
        _remove_abandoned(part)
        with contextlib.suppress(FileExistsError):  # another writer's
            handle = os.open(part, flags, 0o666)
            _lock(handle)
            if _same_file(handle, part):
                return part, handle
            os.close(handle)  # another writer found it before it was locked, and removed it
        number += 1


if sys.platform == "win32":

    def _remove_abandoned(part: Path) -> None:
        with contextlib.suppress(OSError):
            part.unlink()  # fails while another process has it open

    def _lock(handle: int) -> None:
        pass

else:
    import fcntl

    def _remove_abandoned(part: Path) -> None:
        """Remove the part of a killed writer: nobody holds its lock."""
        with contextlib.suppress(OSError):
            handle = os.open(part, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _same_file(handle, part):  # its writer may have renamed it meanwhile
                    part.unlink()
            finally:
                os.close(handle)

    def _lock(handle: int) -> None:
        with contextlib.suppress(OSError):  # without locks, parts of dead writers stay
            fcntl.flock(handle, fcntl.LOCK_EX)


def _same_file(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False


def _hand_on_permissions(place: Path, handle: int) -> None:
    if sys.platform == "win32" or not place.exists():
        return
    old = place.stat()
    with contextlib.suppress(OSError):  # only the superuser gives files away
        os.fchown(handle, old.st_uid, old.st_gid)
    os.fchmod(handle, stat.S_IMODE(old.st_mode))


def _keep_previous(place: Path, kept: Path) -> None:
    """Give the file that is about to be replaced a second name."""
    previous = place.with_name(f"{place.name}.previous")
    taken = os.path.lexists(previous) and not stat.S_ISREG(previous.lstat().st_mode)
    if taken or not place.exists():
        return
    kept.unlink(missing_ok=True)
    try:
        os.link(place, kept)
    except OSError:  # a file system without links
        shutil.copyfile(place, kept)
    os.replace(kept, previous)
    kept.unlink(missing_ok=True)  # if both names are of one file already, nothing is renamed


def _flush_folder(folder: Path) -> None:
    """Make a rename outlive a power cut, where folders can be flushed."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
