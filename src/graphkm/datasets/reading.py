"""From the bytes of a file to named arrays, and a digest of these.

Every reader takes an open binary file and returns named arrays. `read_file` recognises compression
by the content, not the name, and raises one kind of error for all damaged files.

Public files and local copies hold the same numbers in different forms: recompressed, with other
spacing, dense or sparse. `content_digest` hashes the numbers, so that all forms agree.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._util.warnings import quiet
from ..io import read_libsvm
from ..io.files import open_source

_BLOCK = 2**20  # numbers converted at a time, so that large arrays are not copied as a whole

Arrays = Mapping[str, Any]
"""Arrays by name, dense or sparse: what one file holds."""

Reader = Callable[[BinaryIO], Arrays]


class DatasetError(OSError):
    """A data set could not be read or downloaded: no file, no network, or no place to write to."""


class DamagedFileError(DatasetError):
    """A file does not hold what it should: it was cut short or altered, or is another file."""


def read_file(path: Path, read: Reader) -> Arrays:
    r"""Return what `read` makes of a file, decompressed if it is compressed.

    Raises
    ------
    DamagedFileError
        If the file cannot be decompressed or parsed.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "tiny.libsvm"
    ...     _ = path.write_text("+1 2:0.5\n-1 1:3\n")
    ...     read_file(path, libsvm(2))["X"].toarray()
    array([[0. , 0.5],
           [3. , 0. ]])
    """
    with path.open("rb") as file:
        try:
            with open_source(file) as opened:
                return read(opened.file)
        except MemoryError:
            raise
        except Exception as error:  # damaged files make parsers fail in many ways
            reason = str(error).strip() or type(error).__name__
            raise DamagedFileError(f"{path} cannot be read ({reason})") from error


# ------------------------------------------------------------------- formats


def libsvm(n_features: int) -> Reader:
    """Return a reader of LIBSVM's text format: `X` as CSR rows in float64, and `y`."""

    def read(file: BinaryIO) -> Arrays:
        X, y = read_libsvm(file, n_features=n_features, zero_based=False)
        return {"X": X, "y": y}

    return read


def dense(read: Reader) -> Reader:
    """Return a reader whose `X` is dense."""

    def read_dense(file: BinaryIO) -> Arrays:
        arrays = read(file)
        return {**arrays, "X": arrays["X"].toarray()}

    return read_dense


def mat(**names: str) -> Reader:
    """Return a reader of MATLAB files; the keywords say which variable becomes which array."""

    def read(file: BinaryIO) -> Arrays:
        from scipy.io import loadmat

        # SciPy 1.18 warns that it will return sparse arrays; `_plain` takes both.
        with quiet(category=DeprecationWarning):
            found = loadmat(file, variable_names=list(names.values()))
        return {name: _plain(found[variable]) for name, variable in names.items()}

    return read


def _plain(values: Any) -> Any:
    if sparse.issparse(values):
        return sparse.csr_matrix(values)
    return values.ravel() if values.shape[1] == 1 else values


def idx(name: str) -> Reader:
    """Return a reader of MNIST's format, unsigned bytes: one row per image, as array `name`."""

    def read(file: BinaryIO) -> Arrays:
        raw = file.read()
        if raw[:3] != b"\x00\x00\x08":
            raise ValueError("not an IDX file of unsigned bytes")
        shape = np.frombuffer(raw, ">i4", count=raw[3], offset=4)
        values = np.frombuffer(raw, np.uint8, offset=4 + 4 * raw[3])
        return {name: values.reshape((shape[0], -1) if len(shape) > 1 else shape)}

    return read


def integer_csv(file: BinaryIO) -> Arrays:
    """Read comma-separated small integers with the label last; a line of names may come first."""
    first = file.readline()
    rest = np.loadtxt(file, dtype=np.int16, delimiter=",", ndmin=2)
    if not first[:1].isalpha():
        rest = np.vstack([np.array(first.split(b","), dtype=np.int16), rest])
    return {"X": rest[:, :-1], "y": rest[:, -1]}


def usps_npz(subset: str) -> Reader:
    """Return a reader of one part of USPS from a NumPy archive of thousandths."""

    def read(file: BinaryIO) -> Arrays:
        with np.load(file) as archive:
            # LIBSVM's file of the same data counts the digits from 1.
            y = archive[f"y_{subset}"].astype(np.int64) + 1
            return {"X": archive[f"X_{subset}_x1000"] / 1000, "y": y}

    return read


# -------------------------------------------------------------------- digest


def content_digest(arrays: Arrays) -> str:
    """Return the SHA-256 of the names, shapes and values of arrays; dtypes do not matter.

    Examples
    --------
    >>> dense = np.array([[0, 1], [2, 0]])
    >>> content_digest({"X": dense}) == content_digest({"X": dense.astype(np.float32)})
    True
    >>> content_digest({"X": dense}) == content_digest({"X": dense.T})
    False
    """
    sha = hashlib.sha256()
    for name in sorted(arrays):
        values = arrays[name]
        kind = "sparse" if sparse.issparse(values) else "dense"
        sha.update(f"{name} {kind} {tuple(map(int, values.shape))};".encode())
        for part in _canonical(values):
            flat = part.reshape(-1)
            for start in range(0, flat.size, _BLOCK):
                # Adding 0.0 turns -0.0, which equals 0.0 but has other bytes, into 0.0.
                sha.update((flat[start : start + _BLOCK].astype("<f8") + 0.0).tobytes())
    return sha.hexdigest()


def _canonical(values: Any) -> tuple[NDArray[Any], ...]:
    if not sparse.issparse(values):
        return (np.asarray(values),)
    rows = values.tocsr(copy=True)
    rows.sum_duplicates()  # sorts the columns as well
    rows.eliminate_zeros()
    return rows.indptr, rows.indices, rows.data
