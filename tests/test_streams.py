"""Streams of chunks: formats, compression, standard input, resuming, and bounded memory."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_svmlight_file

from graphkm.io import BadRowWarning, DataFileError
from graphkm.online import Chunk, read_stream
from graphkm.online.chunks import cut_into_chunks

PACKERS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
N, D = 25, 4
rng = np.random.default_rng(0)
X_ALL = np.round(rng.normal(size=(N, D)), 3)
Y_ALL = rng.integers(0, 3, size=N).astype(float)
Y_ALL[[3, 10]] = np.nan


def as_csv():
    frame = pd.DataFrame(X_ALL, columns=[f"x{k}" for k in range(D)]).assign(label=Y_ALL)
    return frame.to_csv(index=False).encode()


def as_libsvm():
    lines = []
    for x, y in zip(X_ALL, Y_ALL, strict=True):
        label = "?" if np.isnan(y) else f"{y:g}"
        lines.append(" ".join([label, *(f"{k + 1}:{float(v)!r}" for k, v in enumerate(x))]))
    return "\n".join(lines).encode()


def as_parquet():
    file = io.BytesIO()
    frame = pd.DataFrame(X_ALL, columns=[f"x{k}" for k in range(D)])
    frame.assign(label=Y_ALL).to_parquet(file, row_group_size=6)
    return file.getvalue()


WRITERS = {"csv": as_csv, "libsvm": as_libsvm, "parquet": as_parquet}


def dense(X):
    return X if isinstance(X, np.ndarray) else X.toarray()


def assert_whole(chunks, start=0):
    """Check that chunks are consecutive and hold the rows from `start` on."""
    row = start
    for chunk in chunks:
        assert chunk.first_row == row
        np.testing.assert_array_equal(dense(chunk.X), X_ALL[row : row + len(chunk.y)])
        np.testing.assert_array_equal(chunk.y, Y_ALL[row : row + len(chunk.y)])
        row += len(chunk.y)
    assert row == N


@pytest.mark.parametrize("format", WRITERS)
@pytest.mark.parametrize("chunk_size", [1, 7, 25, 1000])
@pytest.mark.parametrize("start", [0, 1, 8, 25])
def test_chunks_hold_all_rows(format, chunk_size, start):
    file = io.BytesIO(WRITERS[format]())
    stream = read_stream(file, format=format, chunk_size=chunk_size, n_features=D, start=start)
    for _ in range(2):  # it can be read again
        chunks = list(stream)
        assert_whole(chunks, start)
        assert {len(chunk.y) for chunk in chunks[:-1]} <= {chunk_size}


@pytest.mark.parametrize("packed", PACKERS)
@pytest.mark.parametrize("format", ["csv", "libsvm"])
def test_files_are_known_by_their_names(tmp_path, format, packed):
    path = tmp_path / f"rows.{format}{packed}"
    path.write_bytes(PACKERS[packed](WRITERS[format]()))
    stream = read_stream(path, chunk_size=10, n_features=D)
    assert_whole(stream)
    assert_whole(stream.from_row(13), 13)


def test_parquet_and_tsv_by_name(tmp_path):
    (tmp_path / "rows.parquet").write_bytes(as_parquet())
    assert_whole(read_stream(tmp_path / "rows.parquet", chunk_size=4))
    (tmp_path / "rows.pq").write_bytes(as_parquet())
    assert_whole(read_stream(tmp_path / "rows.pq", chunk_size=4))
    (tmp_path / "rows.TSV.gz").write_bytes(gzip.compress(as_csv().replace(b",", b"\t")))
    assert_whole(read_stream(str(tmp_path / "rows.TSV.gz")))


def test_a_stream_can_be_continued_after_any_chunk(tmp_path):
    (tmp_path / "rows.csv").write_bytes(as_csv())
    stream = read_stream(tmp_path / "rows.csv", chunk_size=6)
    for chunk in stream:
        next_row = chunk.first_row + len(chunk.y)
        assert_whole(stream.from_row(next_row), next_row)


def test_rows_left_out_do_not_count(tmp_path):
    lines = as_csv().split(b"\n")
    lines.insert(5, b"1,2,nan,4,1")
    lines.insert(15, b"1,2")
    (tmp_path / "rows.csv").write_bytes(b"\n".join(lines))
    stream = read_stream(tmp_path / "rows.csv", chunk_size=6, on_bad_row="skip")
    for start in (0, 4, 20):
        with pytest.warns(BadRowWarning, match="2 rows were left out of .*rows.csv.* line 6: "):
            assert_whole(list(stream.from_row(start)), start)
    with pytest.warns(BadRowWarning):
        list(stream)
    assert stream.bad_rows.count == 2
    assert [reason.split(":")[0] for reason in stream.bad_rows.reasons] == ["line 6", "line 16"]
    with pytest.raises(DataFileError, match=r"rows\.csv, line 6: the value of 'nan' is not finite"):
        list(read_stream(tmp_path / "rows.csv"))


def test_start_beyond_the_end():
    with pytest.raises(ValueError, match="start=26, but the stream has only 25 rows"):
        list(read_stream(io.BytesIO(as_csv()), format="csv", start=26))


def test_an_open_file_is_read_from_where_it_stands_and_stays_open():
    file = io.BytesIO(b"garbage\n" + as_csv())
    file.seek(8)
    stream = read_stream(file, format="csv")
    assert_whole(stream)
    assert_whole(stream.from_row(7), 7)
    assert not file.closed


def test_sparse_chunks_agree_with_sklearn():
    text = b"".join(b"%d %d:0.5 %d:%d\n" % (k % 2, 1 + k % 5, 7 + k % 3, k) for k in range(1000))
    X, y = load_svmlight_file(io.BytesIO(text), n_features=9, zero_based=False)
    for chunk in read_stream(io.BytesIO(text), format="libsvm", n_features=9, chunk_size=300):
        rows = slice(chunk.first_row, chunk.first_row + len(chunk.y))
        assert chunk.X.format == "csr"
        assert (X[rows] != chunk.X).nnz == 0
        np.testing.assert_array_equal(chunk.y, y[rows])


# ------------------------------------------------------------------ parquet


def parquet_of(**columns):
    file = io.BytesIO()
    pd.DataFrame(columns).to_parquet(file)
    file.seek(0)
    return file


def test_parquet_labels():
    words = parquet_of(x=[1, 2, 3, 4], label=["a", None, "?", "b"])
    (chunk,) = read_stream(words, format="parquet")
    assert chunk.y.tolist() == ["a", None, None, "b"]
    integers = parquet_of(x=[1.0, 2.0], label=[3, -1])
    (chunk,) = read_stream(integers, format="parquet", unlabeled=-1)
    np.testing.assert_array_equal(chunk.y, [3, np.nan])
    with pytest.raises(DataFileError, match=r"beyond 2\*\*53"):
        list(read_stream(parquet_of(x=[1.0], label=[2**53 + 2]), format="parquet"))


def test_parquet_bad_rows():
    file = parquet_of(x=[1.0, np.nan, 3.0], z=[1, 2, 3], label=[0, 1, 0])
    with pytest.raises(DataFileError, match="row 1: feature 0 is missing"):
        list(read_stream(file, format="parquet"))
    with pytest.warns(BadRowWarning, match="1 row was left out"):
        (chunk,) = read_stream(file, format="parquet", on_bad_row="skip")
    assert chunk.X.tolist() == [[1, 1], [3, 3]]


def test_parquet_that_is_none_or_has_words():
    with pytest.raises(DataFileError, match="cannot be read as Parquet"):
        list(read_stream(io.BytesIO(b"1,2,3\n" * 100), format="parquet"))
    with pytest.raises(DataFileError, match=r"column 'x' holds .*string, not numbers"):
        list(read_stream(parquet_of(x=["a"], label=[1]), format="parquet"))
    with pytest.raises(DataFileError, match="has 1 features where n_features=3"):
        list(read_stream(parquet_of(x=[1], label=[1]), format="parquet", n_features=3))


# ------------------------------------------------------------- bad sources


@pytest.mark.parametrize("packed", [".gz", ".bz2", ".xz"])
@pytest.mark.parametrize("damage", ["cut", "altered"])
def test_a_damaged_compressed_file(tmp_path, packed, damage):
    text = b"1,2,3\n" + rng.bytes(20_000).hex().encode()
    whole = PACKERS[packed](text)
    middle = len(whole) // 2
    broken = whole[:middle] if damage == "cut" else whole[:middle] + b"??????" + whole[middle + 6 :]
    path = tmp_path / f"rows.csv{packed}"
    path.write_bytes(broken)
    with pytest.raises(DataFileError, match=r"rows\.csv.* cannot be decompressed to its end"):
        list(read_stream(path, label=None, on_bad_row="skip"))


def test_sources_that_are_none(tmp_path):
    with pytest.raises(FileNotFoundError):
        list(read_stream(tmp_path / "absent.csv"))
    with pytest.raises(TypeError, match="neither a path nor a binary file"):
        read_stream(io.StringIO("1,2"), format="csv")
    with pytest.raises(TypeError, match="neither a path nor a binary file"):
        read_stream(7, format="csv")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "does not tell its format"),
        ({"format": "arff"}, "format='arff'"),
        ({"format": "libsvm"}, r"Pass n_features="),
        ({"format": "libsvm", "n_features": 3, "unlabeled": "x"}, "labels of LIBSVM are numbers"),
        ({"format": "csv", "chunk_size": 0}, "chunk_size=0"),
        ({"format": "csv", "start": -1}, "start=-1"),
        ({"format": "csv", "labels": "words"}, "labels='words'"),
        ({"format": "csv", "header": "yes"}, "header='yes'"),
        ({"format": "csv", "delimiter": "::"}, "delimiter='::'"),
        ({"format": "csv", "on_bad_row": "drop"}, "on_bad_row='drop'"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(ValueError, match=message):
        read_stream(io.BytesIO(b""), **options)


# ----------------------------------------------------------- other processes


def run(program, **options):
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=False, **options
    )


@pytest.mark.long
@pytest.mark.parametrize(
    "packed", ["", ".gz", *(pytest.param(name, marks=pytest.mark.slow) for name in (".bz2", ".xz"))]
)
def test_standard_input(packed):
    program = (
        "from graphkm.online import read_stream\n"
        "stream = read_stream('-', format='csv', chunk_size=10)\n"
        "print([(c.first_row, c.X.sum()) for c in stream])\n"
        "list(stream)"
    )
    done = run(program, input=PACKERS[packed](as_csv()))
    expected = [(k, X_ALL[k : k + 10].sum()) for k in (0, 10, 20)]
    found = eval(done.stdout, {"np": np})
    assert [row for row, _ in found] == [0, 10, 20]
    np.testing.assert_allclose([total for _, total in found], [total for _, total in expected])
    assert b"standard input can be read only once" in done.stderr


@pytest.mark.long
def test_parquet_needs_a_file():
    program = "from graphkm.online import read_stream\nlist(read_stream('-', format='parquet'))"
    assert b"Save it to a file first" in run(program, input=as_parquet()).stderr


MEMORY = """
import sys, tracemalloc
import numpy as np
from graphkm.online import read_stream

class Endless:  # 200 MB of text that is nowhere in memory
    def __init__(self, line):
        self.block, self.left = line * 4096, 200_000_000 // (len(line) * 4096)
    def read(self, size=-1):
        self.left -= 1
        return self.block if self.left >= 0 else b""

format, line = sys.argv[1], sys.argv[2].encode() + b"\\n"
stream = read_stream(Endless(line), format=format, n_features=9, label=0, header=False)
tracemalloc.start()
n_rows = sum(len(chunk.y) for chunk in stream)
print(n_rows * len(line), tracemalloc.get_traced_memory()[1])
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("format", "line"),
    [
        ("csv", "1,0.25,-3.5,17,0.001,1e5,7,8,9,10"),
        pytest.param(
            "libsvm", "1 1:0.25 2:-3.5 3:17 4:0.001 5:1e5 8:7.123", marks=pytest.mark.slow
        ),
    ],
)
@pytest.mark.xdist_group("memory")
def test_memory_does_not_grow_with_the_stream(format, line):
    command = [sys.executable, "-c", MEMORY, format, line]
    done = subprocess.run(command, capture_output=True, check=True)
    n_bytes, peak = map(int, done.stdout.split())
    assert n_bytes > 199_000_000
    assert peak < 32 * 2**20


# ------------------------------------------------------------------- chunks


def test_chunks_do_not_share_memory_with_what_is_gone():
    chunks = list(cut_into_chunks([(np.zeros((1000, 2)), np.zeros(1000))], 999))
    assert [len(chunk.y) for chunk in chunks] == [999, 1]
    assert chunks[1].X.base is None


def test_a_chunk_is_x_y_and_a_row():
    X, y, first_row = Chunk(np.zeros((1, 2)), np.zeros(1))
    assert first_row == 0
    assert len(X) == len(y) == 1
