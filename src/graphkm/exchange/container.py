"""The bytes of a model file: a header, arrays, a checksum.

Layout: 8 bytes of magic, the format's version and the header's length (little-endian, 4 and 8
bytes), the header as JSON, the arrays one after another in C order, and the SHA-256 of all that.
Nothing in a file is executed. The checksum detects damage, but not forgery: anybody can compute it.
So every size is compared with the file's length before memory is allocated.

A file is written whole or not at all. The file that it replaces stays as PATH.previous.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._util.files import previous_path, replacing

_MAGIC = b"graphkm\n"
_VERSION = 2
_START = struct.Struct("<8sIQ")
_DIGEST = hashlib.sha256().digest_size
# Booleans, integers and floats of fixed sizes, and text.
_DTYPE = re.compile(r"\|[biu]1|<[iu][248]|<f[248]|<U[1-9][0-9]{0,8}")
_DIMENSIONS = 2
_HEADER = 2**26  # bytes, at most
_LAST_CHARACTER = 0x10FFFF


class ModelFileError(OSError):
    """A model file cannot be written or read; the message says which, why, and what to do."""


def write_container(
    path: str | os.PathLike[str], header: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> None:
    """Write a file; if that fails, raise ModelFileError and leave the old file as it was.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_container(f"{folder}/a", {"name": "b"}, {"x": np.arange(3)})
    ...     read_container(f"{folder}/a")
    ({'name': 'b'}, {'x': array([0, 1, 2])})
    """
    parts = _encode(header, arrays)
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    write_parts(path, [*parts, digest.digest()], keep_previous=True)


def write_parts(
    path: str | os.PathLike[str], parts: Iterable[bytes], *, keep_previous: bool = False
) -> None:
    """Write a file whole or not at all; raise ModelFileError if it cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_parts(f"{folder}/a", [b"one ", b"two"])
    ...     Path(f"{folder}/a").read_text()
    'one two'
    """
    try:
        with replacing(path, keep_previous=keep_previous) as file:
            for part in parts:
                file.write(part)
    except OSError as error:
        raise ModelFileError(
            error.errno,
            f"The file could not be written ({error.strerror or error}); what was there before is "
            "untouched. Free space, or pass a path in a folder that exists and can be written to",
            os.fspath(path),
        ) from error


def read_container(
    path: str | os.PathLike[str],
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return a file's header and arrays; raise ModelFileError if it was damaged."""
    place = Path(path)
    try:
        content = place.read_bytes()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ModelFileError(
            error.errno, f"The file could not be read ({error.strerror})", str(place)
        ) from error
    if content.startswith(b"PK\x03\x04"):
        raise ModelFileError(
            f"{place} is a zip file and no file of save_model. graphkm train writes zip files with "
            "skops, for models of scikit-learn. If you trust its origin, "
            "graphkm.exchange.skops_files.load_with_skops(path)[0] is the model."
        )
    if len(content) < _START.size + _DIGEST or not content.startswith(_MAGIC):
        raise _damaged(place, "it is not a graphkm model, or only the beginning of one")
    _, version, size = _START.unpack_from(content)
    if version > _VERSION:
        raise ModelFileError(
            f"{place} was written by a newer version of graphkm (format {version}); update graphkm."
        )
    if version == 1:
        raise ModelFileError(
            f"{place} was written by an older version of graphkm (format 1); fit and save the "
            "model again."
        )
    body, digest = memoryview(content)[:-_DIGEST], content[-_DIGEST:]
    if hashlib.sha256(body).digest() != digest:
        raise _damaged(place, "its checksum is wrong: the file was cut short or changed")
    try:
        if version < _VERSION:
            raise ValueError(f"there is no format {version}")
        header, described = _header(body[_START.size :], size)
        return header, _arrays(described, body[_START.size + size :])
    except (ValueError, TypeError, RecursionError) as error:
        raise _damaged(place, f"its checksum is right, its contents are not: {error}") from error


def _encode(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> list[bytes]:
    described = []
    for name, array in arrays.items():
        code = array.dtype.newbyteorder("<").str
        if not _DTYPE.fullmatch(code) or array.ndim > _DIMENSIONS:
            raise TypeError(
                f"array {name!r} of {array.dtype} and {array.ndim} dimensions cannot be written"
            )
        described.append([name, code, list(array.shape)])
    text = json.dumps({"header": header, "arrays": described}).encode()
    if len(text) > _HEADER:
        raise TypeError(f"a header of {len(text):,} bytes cannot be written: {_HEADER:,} at most")
    start = _START.pack(_MAGIC, _VERSION, len(text))
    little = (np.ascontiguousarray(a, a.dtype.newbyteorder("<")) for a in arrays.values())
    return [start, text, *(a.tobytes() for a in little)]


def _header(content: memoryview, size: int) -> tuple[dict[str, Any], list[Any]]:
    """Return the caller's header and the descriptions of arrays."""
    if size > min(len(content), _HEADER):
        raise ValueError(f"a header of {size:,} bytes in a file that has {len(content):,}")
    parsed = json.loads(bytes(content[:size]), object_pairs_hook=_without_duplicates)
    if not isinstance(parsed, dict) or set(parsed) != {"header", "arrays"}:
        raise ValueError("its header lacks its two parts")
    header, described = parsed["header"], parsed["arrays"]
    if not isinstance(header, dict) or not isinstance(described, list):
        raise ValueError("its header has parts of the wrong kind")
    return header, described


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) < len(pairs):
        raise ValueError("a name occurs twice in its header")
    return out


def _arrays(described: list[Any], content: memoryview) -> dict[str, NDArray[Any]]:
    """Return the arrays, which must fill the content exactly."""
    out: dict[str, NDArray[Any]] = {}
    first = 0
    for name, code, shape in described:
        if not isinstance(name, str) or name in out:
            raise ValueError(f"{name!r} is no name for an array, or names two")
        dtype, count = _described(name, code, shape)
        size = count * dtype.itemsize
        if size > len(content) - first:
            raise ValueError(f"array {name!r} has {size:,} bytes, more than there are")
        flat = np.frombuffer(content, dtype, count, first)
        _check_values(name, flat)
        # astype copies: an array over a buffer is read-only and may have another byte order.
        out[name] = flat.reshape(shape).astype(dtype.newbyteorder("="))
        first += size
    if first != len(content):
        raise ValueError(f"{len(content) - first:,} bytes belong to no array")
    return out


def _described(name: str, code: Any, shape: Any) -> tuple[np.dtype[Any], int]:
    """Return the type of an array and its number of values."""
    if not isinstance(code, str) or not _DTYPE.fullmatch(code):
        raise ValueError(f"array {name!r} is of the unknown type {code!r}")
    if not isinstance(shape, list) or len(shape) > _DIMENSIONS:
        raise ValueError(f"array {name!r} has the impossible shape {shape!r}")
    for length in shape:
        if type(length) is not int or not 0 <= length < 2**48:
            raise ValueError(f"array {name!r} has the impossible shape {shape!r}")
    return np.dtype(code), math.prod(shape)


def _check_values(name: str, flat: NDArray[Any]) -> None:
    """Raise if some bytes are not a value of their type."""
    if flat.dtype.kind == "b" and (flat.view(np.uint8) > 1).any():
        raise ValueError(f"array {name!r} holds other bytes than true and false")
    if flat.dtype.kind == "U" and (flat.view("<u4") > _LAST_CHARACTER).any():
        raise ValueError(f"array {name!r} holds characters that do not exist")


def _damaged(place: Path, what: str) -> ModelFileError:
    previous = previous_path(place)
    advice = "take another copy of it, or make it anew"
    if previous.exists():
        advice = f"the one before it is {previous}; move that to its place, or {advice}"
    return ModelFileError(f"{place} cannot be used: {what}. Nothing was changed; {advice}.")
