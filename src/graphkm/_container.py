"""Files of numbers that are there whole or not at all: a header, arrays, a checksum.

Layout: 8 bytes of magic, the format's version and the header's length (little-endian, 4 and 8
bytes), the header as JSON, the arrays one after another in C order, and the SHA-256 of all that.
Nothing in it is ever executed.

A file is written beside its place, flushed to the disk and renamed: a reader finds the old one or
the new one, whenever the writer may have died. The one that was replaced stays as PATH.previous.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MAGIC = b"graphkm\n"
_VERSION = 1
_START = struct.Struct("<8sIQ")
_DIGEST = hashlib.sha256().digest_size
_KINDS = "biufU"


class CheckpointError(OSError):
    """A checkpoint that cannot be written or read; the message says which, why, what to do."""


def write_container(
    path: str | os.PathLike[str], header: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> None:
    """Write a file, or raise CheckpointError and leave what was there.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_container(f"{folder}/a", {"name": "b"}, {"x": np.arange(3)})
    ...     read_container(f"{folder}/a")
    ({'name': 'b'}, {'x': array([0, 1, 2])})
    """
    place = Path(path)
    parts = _encode(header, arrays)
    beside = place.with_name(f".{place.name}.part")
    try:
        with open(beside, "wb") as file:
            digest = hashlib.sha256()
            for part in parts:
                digest.update(part)
                file.write(part)
            file.write(digest.digest())
            file.flush()
            os.fsync(file.fileno())
        _keep_previous(place)
        os.replace(beside, place)
        _flush_folder(place.parent)
    except OSError as error:
        for leftover in (beside, _beside_previous(place)):
            with contextlib.suppress(OSError):
                leftover.unlink()
        kept = "the checkpoint that was there is untouched" if place.exists() else "nothing is kept"
        raise CheckpointError(
            error.errno,
            f"The checkpoint could not be written ({error.strerror or error}); {kept}. Free space, "
            "or pass a path in a folder that exists and can be written to",
            str(place),
        ) from error


def read_container(
    path: str | os.PathLike[str],
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return a file's header and arrays; CheckpointError if it is not what was written."""
    place = Path(path)
    try:
        content = place.read_bytes()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise CheckpointError(
            error.errno, f"The checkpoint could not be read ({error.strerror})", str(place)
        ) from error
    if len(content) < _START.size + _DIGEST or not content.startswith(_MAGIC):
        raise _damaged(place, "it is no checkpoint of graphkm, or only the beginning of one")
    _, version, size = _START.unpack_from(content)
    if version > _VERSION:
        raise CheckpointError(
            f"{place} was written in format {version}, and this version of graphkm reads up to "
            f"{_VERSION}; update graphkm."
        )
    body, digest = memoryview(content)[:-_DIGEST], content[-_DIGEST:]
    if hashlib.sha256(body).digest() != digest:
        raise _damaged(place, "its checksum does not fit: it is truncated or was changed")
    header = json.loads(bytes(body[_START.size : _START.size + size]))
    return header["header"], _arrays(header["arrays"], body[_START.size + size :])


def _encode(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> list[bytes | memoryview]:
    described = []
    for name, array in arrays.items():
        if array.dtype.kind not in _KINDS:
            raise TypeError(f"array {name!r} of {array.dtype} cannot be written")
        described.append([name, array.dtype.newbyteorder("<").str, list(array.shape)])
    text = json.dumps({"header": header, "arrays": described}).encode()
    start = _START.pack(_MAGIC, _VERSION, len(text))
    little = (np.ascontiguousarray(a, a.dtype.newbyteorder("<")) for a in arrays.values())
    return [start, text, *(a.tobytes() for a in little)]


def _arrays(described: list[Any], content: memoryview) -> dict[str, NDArray[Any]]:
    out, first = {}, 0
    for name, code, shape in described:
        dtype = np.dtype(code)
        count = int(np.prod(shape, dtype=np.int64))
        flat = np.frombuffer(content, dtype, count, first)
        # A copy: arrays of a buffer can neither be written to nor are they in native order.
        out[name] = flat.reshape(shape).astype(dtype.newbyteorder("="))
        first += count * dtype.itemsize
    return out


def _keep_previous(place: Path) -> None:
    """Give the file that is about to be replaced a second name."""
    beside = _beside_previous(place)
    with contextlib.suppress(FileNotFoundError):
        beside.unlink()
    try:
        os.link(place, beside)
    except FileNotFoundError:
        return
    except OSError:  # a file system without links
        shutil.copyfile(place, beside)
    os.replace(beside, previous_path(place))


def previous_path(path: str | os.PathLike[str]) -> Path:
    """Return where the file lies that the last write replaced.

    Examples
    --------
    >>> previous_path("run.ckpt").name
    'run.ckpt.previous'
    """
    place = Path(path)
    return place.with_name(f"{place.name}.previous")


def _beside_previous(place: Path) -> Path:
    return place.with_name(f".{place.name}.previous.part")


def _flush_folder(folder: Path) -> None:
    """Make a rename outlive a power cut, where folders can be flushed."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _damaged(place: Path, what: str) -> CheckpointError:
    previous = previous_path(place)
    advice = "delete it to begin anew"
    if previous.exists():
        advice = f"the one before it is {previous}; move that to its place, or {advice}"
    return CheckpointError(f"{place} cannot be used: {what}. Nothing was changed; {advice}.")
