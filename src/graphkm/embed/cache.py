"""Vectors on disk, by content and model: one SQLite database for each model.

SQLite keeps a database whole when a process is killed, and lets two processes use it at a time. A
cache never stops the work: what it cannot read is computed, and what it cannot write is not kept.
Then it warns.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_FOLDER_VARIABLE = "GRAPHKM_CACHE"
_MOST_BYTES = 2**30  # of the vectors of one model
_ASKED = 500  # keys in one question; SQLite takes 999 in old builds
_PATIENCE = 20.0  # seconds to wait for another process that writes
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)

Row = NDArray[np.float32]


class CacheWarning(UserWarning):
    """The cache of vectors could not be read or written; the vectors are right all the same."""


def cache_folder(given: Any = "auto") -> Path:
    """Return the folder given, else that in GRAPHKM_CACHE, else graphkm's in the user's cache.

    Examples
    --------
    >>> cache_folder("somewhere").name
    'somewhere'
    """
    if not isinstance(given, str | os.PathLike):
        raise TypeError(f"cache must be 'auto', a folder or None, got {given!r}.")
    chosen = given if given != "auto" else os.environ.get(_FOLDER_VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    home = Path.home()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData/Local", "graphkm", "Cache")
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "graphkm"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache", "graphkm")


def open_cache(given: Any, model_hash: str | None) -> VectorCache | None:
    """Return the cache of a model; None if none is wanted, or the model has no hash.

    Examples
    --------
    >>> open_cache(None, "abc") is None
    True
    """
    if given is None or model_hash is None:
        return None
    try:
        return VectorCache(cache_folder(given), model_hash)
    except RuntimeError as error:  # a user without a home
        _warn(f"has no folder ({error})")
        return None


class VectorCache:
    """The vectors of one model.

    Every call opens the database and closes it, so a cache holds nothing that threads, or copies
    of a process, would share.

    Parameters
    ----------
    folder : Path
        Where the databases are. It is made when a vector is first written.
    model_hash : str
        The model's hash, which names the database.
    most_bytes : int, default=2**30
        The vectors' bytes. If there are more, the oldest go.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     cache = VectorCache(Path(folder), "abc")
    ...     cache.write([b"key"], np.float32([[1, 2]]))
    ...     cache.read([b"key", b"other"])
    {b'key': array([1., 2.], dtype=float32)}
    """

    def __init__(self, folder: Path, model_hash: str, *, most_bytes: int = _MOST_BYTES) -> None:
        self.path = folder / "vectors" / f"{model_hash[:32]}.sqlite"
        self.most_bytes = most_bytes
        self.usable = True

    def read(self, keys: Iterable[bytes]) -> dict[bytes, Row]:
        """Return the vectors that are kept, by their keys."""
        found: dict[bytes, Row] = {}

        def ask(database: sqlite3.Connection) -> None:
            for some in _batches(list(keys), _ASKED):
                marks = ",".join("?" * len(some))
                rows = database.execute(
                    f"SELECT key, vector FROM vectors WHERE key IN ({marks})", some
                )
                found.update(_whole(rows))

        if os.path.exists(self.path):  # unlike Path.exists it takes forbidden folders
            self._with_database(ask)
        return found

    def write(self, keys: Sequence[bytes], rows: NDArray[np.float32]) -> None:
        """Keep vectors, all of them or none; the oldest go where there are too many."""
        most_rows = max(1, self.most_bytes // rows[0].nbytes)

        def insert(database: sqlite3.Connection) -> None:
            with database:
                database.execute("BEGIN IMMEDIATE")
                database.executemany(
                    "INSERT OR REPLACE INTO vectors (key, vector) VALUES (?, ?)",
                    zip(keys, map(_packed, rows), strict=True),
                )
                # Numbers of rows grow, so the newest number and the limit tell which are too old.
                database.execute(
                    "DELETE FROM vectors WHERE rowid <= (SELECT max(rowid) FROM vectors) - ?",
                    (most_rows,),
                )

        self._with_database(insert)

    def _with_database(self, work: Callable[[sqlite3.Connection], None]) -> None:
        """Call a function with the database; turn what goes wrong with it into one warning."""
        if not self.usable:
            return
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path, _PATIENCE, isolation_level=None)) as database:
                database.execute(
                    "CREATE TABLE IF NOT EXISTS vectors (key BLOB UNIQUE, vector BLOB)"
                )
                work(database)
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGED:
                self._set_aside(error)
            else:
                self._do_without(error)
        except OSError as error:
            self._do_without(error)

    def _set_aside(self, error: Exception) -> None:
        """Rename a damaged database, so that the next vectors begin a new one."""
        try:
            # A journal that stayed would be played back into the new database.
            for ending in ("-journal", "-wal", "-shm"):
                self.path.with_name(self.path.name + ending).unlink(missing_ok=True)
            os.replace(self.path, self.path.with_suffix(".damaged"))
        except OSError as refused:
            self._do_without(refused)
        else:
            _warn(f"{self.path} is damaged ({error}), and was set aside")

    def _do_without(self, error: Exception) -> None:
        self.usable = False
        _warn(f"{self.path} cannot be used ({error})")


def _warn(what: str) -> None:
    warnings.warn(
        f"The cache {what}. Vectors are computed. Pass cache=None to have none, or name "
        f"another folder with cache= or {_FOLDER_VARIABLE}.",
        CacheWarning,
        stacklevel=2,
    )


def _packed(row: Row) -> bytes:
    raw = row.astype("<f4", copy=False).tobytes()
    return raw + zlib.crc32(raw).to_bytes(4, "little")


def _whole(rows: Iterable[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, Row]]:
    """Yield what is as it was written; the rest is computed anew."""
    for key, blob in rows:
        raw, check = blob[:-4], blob[-4:]
        if zlib.crc32(raw).to_bytes(4, "little") == check:
            yield key, np.frombuffer(raw, "<f4").astype(np.float32, copy=False)


def _batches(items: list[bytes], size: int) -> Iterator[list[bytes]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
