"""Reading LIBSVM text: against scikit-learn's loader, Python's float, and damaged files."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_file

from graphkm import _native
from graphkm.io import BadRows, BadRowWarning, DataFileError, read_libsvm
from graphkm.io.files import OpenFile
from graphkm.io.libsvm import LibsvmParser, libsvm_pieces
from graphkm.io.text import Lines, line_blocks
from mutations import mutated

PLAIN = b"+1 1:0.5 3:-2e-3 7:1\n-1 2:1\n"
ODD = (
    b"# only a comment\n\n  \t\n1.5 qid:3 1:.5 2:1.  # text: with 3:4\r\n-0 \t4:1E5\x0b5:+7\n"
    b"2e1\n3 9:0 10:-0.0#9\n7 123456:0.1"
)


def read(text, **options):
    return read_libsvm(io.BytesIO(text), **options)


def assert_same(ours, theirs):
    (X, y), (X_other, y_other) = ours, theirs
    assert X.indptr.tolist() == X_other.indptr.tolist()
    assert X.indices.tolist() == X_other.indices.tolist()
    assert X.data.tobytes() == X_other.data.tobytes()
    assert y.tobytes() == y_other.tobytes()
    if X.nnz:
        assert X.shape == X_other.shape


@pytest.mark.parametrize("text", [PLAIN, ODD, PLAIN.replace(b"\n", b"\r\n")])
@pytest.mark.parametrize("zero_based", [True, False, "auto"])
def test_agrees_with_sklearn(text, zero_based):
    theirs = load_svmlight_file(io.BytesIO(text), zero_based=zero_based)
    assert_same(read(text, zero_based=zero_based), theirs)


def test_an_index_0_makes_auto_count_from_0():
    text = PLAIN + b"1 0:4\n"
    assert_same(read(text), load_svmlight_file(io.BytesIO(text)))
    assert read(text)[0].shape == (3, 8)


def test_n_features():
    assert read(PLAIN, n_features=20)[0].shape == (2, 20)
    with pytest.raises(DataFileError, match=r"line 1: the index of '7:1' is beyond the 6 features"):
        read(PLAIN, n_features=6, zero_based=False)
    with pytest.raises(DataFileError, match="Pass n_features=8"):
        read(b"1 0:1 7:1\n", n_features=7)


@pytest.mark.parametrize(("zero_based", "last"), [(True, 6), (False, 7)])
def test_the_last_column_and_the_one_behind_it(zero_based, last):
    options = {"n_features": 7, "zero_based": zero_based}
    assert read(f"1 {last}:5\n".encode(), **options)[0].toarray()[0, 6] == 5.0
    with pytest.raises(DataFileError, match="line 2"):
        read(f"1 {last}:5\n1 {last + 1}:5\n".encode(), **options)


def test_rows_are_canonical_csr():
    X, _ = read(PLAIN)
    X.check_format()
    assert X.has_canonical_format
    assert X.indices.dtype == X.indptr.dtype == np.int32


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed(pack):
    assert_same(read(pack(ODD)), read(ODD))


@pytest.mark.long
def test_many_blocks():
    rng = np.random.default_rng(0)
    lines = []
    for row in range(20_000):
        columns = np.flatnonzero(rng.random(30) < 0.3) + 1
        values = " ".join(f"{k}:{rng.normal()!r}" for k in columns)
        lines.append(f"{row % 3} {values}")
    text = "\n".join(lines).encode()
    assert len(text) > 3_000_000
    assert_same(read(text), load_svmlight_file(io.BytesIO(text)))


@pytest.mark.parametrize("size", [1, 2, 7, 31])
def test_any_block_size_gives_the_same_rows(size):
    opened = OpenFile(io.BytesIO(ODD), "odd", compressed=False)
    lines = Lines(line_blocks(opened, size), BadRows("odd"))
    pieces = list(lines.parse(LibsvmParser(1, 2**31 - 1)))
    y, counts, indices, values = (np.concatenate(column) for column in zip(*pieces, strict=True))
    X, labels = read(ODD, zero_based=False)
    assert y.tobytes() == labels.tobytes()
    assert counts.tolist() == np.diff(X.indptr).tolist()
    assert indices.tolist() == X.indices.tolist()
    assert values.tobytes() == X.data.tobytes()


# -------------------------------------------------------------------- labels


def test_unlabelled_rows_are_nan():
    _, y = read(b"? 1:1\n1 1:1\nnan 1:1\n?# nothing\n")
    assert np.isnan(y).tolist() == [True, False, True, True]


def test_a_marker_of_unlabelled_rows():
    assert np.isnan(read(b"0 1:1\n1 1:1\n", unlabeled=0)[1]).tolist() == [True, False]


# ------------------------------------------------------------------- numbers

HARD = [
    "0", "-0", "+.5", "5.", "1e22", "1e23", "9007199254740993", "9007199254740992e22", "1e-22",
    "1e-23", "123456789012345678", "1234567890123456789", "12345678901234567890", "4.9e-324",
    "2.4703282292062327e-324", "2.4703282292062328e-324", "1e-400", "0e999999999999999999",
    "1.7976931348623157e308", "2.2250738585072011e-308", "0.1" + "0" * 400 + "1",
    "1" + "0" * 300, "0." + "0" * 300 + "7", "1" * 800 + "e-790", "8.988465674311580e307",
    "9007199254740993" + "0" * 30 + "e-30", "1e-99999999999999999999",
    "18446744073709551617", "1844674407370955161.7",  # 1 and more, if 64 bits overflow
]  # fmt: skip


@pytest.mark.parametrize("digits", HARD)
def test_hard_numbers_are_those_of_python(digits):
    X, y = read(f"{digits} 1:-{digits.removeprefix('+').removeprefix('-')}\n".encode())
    assert y[0].tobytes() == np.float64(digits).tobytes()
    assert X.data[0].tobytes() == np.float64("-" + digits.lstrip("+-")).tobytes()


@pytest.mark.long
@settings(max_examples=500, deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=50))
def test_floats_survive_their_shortest_text(values):
    text = "\n".join(f"0 1:{value!r}" for value in values).encode()
    assert read(text)[0].data.tobytes() == np.array(values).tobytes()


NUMBER = r"[+-]?([0-9]{1,25}\.?[0-9]{0,25}|\.[0-9]{1,25})([eE][+-]?[0-9]{1,3})?"


@pytest.mark.long
@settings(max_examples=300, deadline=None)
@given(st.from_regex(NUMBER, fullmatch=True))
def test_any_digits_are_read_as_python_reads_them(digits):
    value = float(digits)
    if np.isinf(value):
        with pytest.raises(DataFileError, match="not finite"):
            read(f"0 1:{digits}".encode())
    else:
        assert read(f"0 1:{digits}".encode())[0].data.tobytes() == np.float64(value).tobytes()


# -------------------------------------------------------------- bad lines

BAD = [
    (b"x 1:1", "the label 'x' is not a number"),
    (b"1:1 2:1", "the label '1:1' is not a number"),
    (b"1,2 1:1", "the label '1,2' is not a number"),
    (b"1x 1:1", "the label '1x' is not a number"),
    (b"0x10 1:1", "the label '0x10' is not a number"),
    (b"inf 1:1", "the label 'inf' is infinite"),
    (b"1 5", "'5' is not of the form index:value"),
    (b"1 :5", "the index of ':5' is not a whole number"),
    (b"1 a:5", "the index of 'a:5' is not a whole number"),
    (b"1 -1:5", "the index of '-1:5' is not a whole number"),
    (b"1 1.5:5", "the index of '1.5:5' is not a whole number"),
    (b"1 2147483648:5", "the index of '2147483648:5' is above 2147483647"),
    (b"1 99999999999999999999999:5", "is above 2147483647"),
    (b"1 3:1 2:1", "the index of '2:1' is not above the one before"),
    (b"1 3:1 3:1", "the index of '3:1' is not above the one before"),
    (b"1 1:", "the value of '1:' is not a number"),
    (b"1 1:x", "the value of '1:x' is not a number"),
    (b"1 1: 5", "the value of '1:' is not a number"),
    (b"1 1:1e", "the value of '1:1e' is not a number"),
    (b"1 1:1_0", "the value of '1:1_0' is not a number"),
    (b"1 1:2:3", "the value of '1:2:3' is not a number"),
    (b"1 1:nan", "the value of '1:nan' is not finite"),
    (b"1 1:-Infinity", "the value of '1:-Infinity' is not finite"),
    (b"1 1:1e999", "the value of '1:1e999' is not finite"),
    (b"1 qid:x 1:1", "'qid:x' is not a whole number after qid:"),
    (b"1 1:\xff\x00", "the value of '1:\\\\xff\\x00' is not a number"),
]


@pytest.mark.parametrize(("line", "reason"), BAD)
def test_a_bad_line_is_named(line, reason):
    with pytest.raises(DataFileError, match=f"line 3: .*{re.escape(reason)}"):
        read(b"1 1:1\n\n" + line + b"\n1 1:1\n")


def test_index_0_where_indices_count_from_1():
    with pytest.raises(DataFileError, match=r"line 1: the index of '0:1' is 0.*zero_based=True"):
        read(b"1 0:1\n", zero_based=False)


def test_bad_lines_can_be_left_out():
    text = b"\n".join(line for bad, _ in BAD for line in (bad, b"3 2:1"))
    with pytest.warns(BadRowWarning, match=rf"{len(BAD)} rows were left out .* line 1: "):
        X, y = read(text, on_bad_row="skip")
    assert_same((X, y), read(b"3 2:1\n" * len(BAD)))


def test_a_line_of_bad_options():
    with pytest.raises(ValueError, match="on_bad_row='drop'"):
        read(PLAIN, on_bad_row="drop")
    with pytest.raises(ValueError, match="zero_based='maybe'"):
        read(PLAIN, zero_based="maybe")
    with pytest.raises(ValueError, match="n_features=0"):
        read(PLAIN, n_features=0)


def test_a_file_without_lines_is_refused_before_it_fills_memory(monkeypatch):
    monkeypatch.setattr("graphkm.io.text.MAX_LINE", 2**20)
    with pytest.raises(DataFileError, match="a line of more than 1,048,576 bytes"):
        read(b"1" * 2**22)


# ---------------------------------------------------------- dropped features


def kept(text, drop, zero_based):
    """Return what is left if everything is read and columns are dropped afterwards."""
    X, y = read(text, zero_based=zero_based)
    first = int(zero_based is False)
    places = {index - first for index in drop}
    return X[:, [k for k in range(X.shape[1]) if k not in places]], y


@pytest.mark.parametrize("drop", [[1], [7], [2, 3], [7, 1, 1], [4, 5, 6], [1, 2, 3, 7]])
@pytest.mark.parametrize("zero_based", [True, False])
def test_dropping_features_is_reading_all_and_dropping_some(drop, zero_based):
    ours = read(PLAIN, drop=drop, zero_based=zero_based)
    assert_same(ours, kept(PLAIN, drop, zero_based))
    assert ours[0].shape == (2, 8 - (not zero_based) - len(set(drop)))
    ours[0].check_format()


@pytest.mark.long
@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sets(st.integers(0, 12)), min_size=1, max_size=5),
    st.sets(st.integers(0, 12), max_size=6),
    st.sampled_from([True, "auto"]),
)
def test_any_features_may_be_dropped_from_any_rows(rows, drop, zero_based):
    full = ["1 " + " ".join(f"{k}:{k + 0.5}" for k in range(13))]  # it shows the file's width
    lines = full + ["2 " + " ".join(f"{k}:{k + 0.5}" for k in sorted(row)) for row in rows]
    text = "\n".join(lines).encode()
    ours = read(text, drop=sorted(drop), zero_based=zero_based)
    assert_same(ours, kept(text, drop, True))


def test_a_dropped_feature_may_hold_any_text_without_blanks():
    text = b"1 1:a:b,\xff 2:5 3:nan 4:\n2 2:6 3:1e999#3:x\n"
    X, y = read(text, drop=[1, 3, 4])
    assert X.toarray().tolist() == [[5.0], [6.0]] and y.tolist() == [1.0, 2.0]


def test_a_dropped_feature_counts_even_if_no_row_has_it():
    assert read(PLAIN, drop=[9])[0].shape == (2, 8)
    assert read(PLAIN, drop=[0])[0].shape == (2, 7)  # only indices from 0 have a feature 0
    assert read(PLAIN, drop=[0])[0].indices.tolist() == [0, 2, 6, 1]
    assert read(PLAIN, drop=[3], n_features=20)[0].shape == (2, 19)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"1 2:x 1:5", "the index of '1:5' is not above the one before"),
        (b"1 3:1 2:x", "the index of '2:x' is not above the one before"),
        (b"1 2:x 2:x", "the index of '2:x' is not above the one before"),
        (b"1 2:x 10:1", "the index of '10:1' is beyond the 9 features"),
        (b"1 2:x 3:y", "the value of '3:y' is not a number"),
        (b"1 2", "'2' is not of the form index:value"),
    ],
)
def test_indices_beside_dropped_features_are_still_checked(line, reason):
    with pytest.raises(DataFileError, match=f"line 3: {re.escape(reason)}"):
        read(b"1 2:x\n\n" + line + b"\n", drop=[2], n_features=9, zero_based=False)


def test_features_that_cannot_be_dropped():
    with pytest.raises(ValueError, match=r"drop=0: there is no such feature; .* from 1 to 7"):
        read(PLAIN, drop=[2, 0], zero_based=False, n_features=7)
    with pytest.raises(ValueError, match="drop=8: there is no such feature"):
        read(PLAIN, drop=[8], zero_based=False, n_features=7)


# ----------------------------------------------------------------- binding

NONE = np.empty(0, np.int32)


def arrays(n_rows=4, n_values=4):
    return (
        np.empty(n_rows),
        np.zeros(n_rows + 1, np.int32),
        np.empty(n_values, np.int32),
        np.empty(n_values),
    )


def test_the_parser_stops_at_the_last_complete_line():
    labels, indptr, indices, values = arrays()
    done = _native.parse_libsvm(b"1 2:3\n4 5:", 0, 0, labels, indptr, indices, values, 1, 9, NONE)
    assert done[:4] == (6, 1, 1, 0)
    assert (labels[0], indices[0], values[0]) == (1, 1, 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [(b"1\n" * 5, "more rows than room"), (b"1 1:1 2:1 3:1 4:1 5:1\n", "more values")],
)
def test_the_parser_never_writes_behind_its_arrays(text, message):
    with pytest.raises(ValueError, match=message):
        _native.parse_libsvm(text, 0, 0, *arrays(), 0, 9, NONE)


def test_the_binding_checks_its_arguments():
    labels, indptr, indices, values = arrays()
    with pytest.raises(ValueError, match="indptr has 4 entries"):
        _native.parse_libsvm(b"1\n", 0, 0, labels, indptr[:4].copy(), indices, values, 0, 9, NONE)
    with pytest.raises(ValueError, match="indices has 3 entries"):
        _native.parse_libsvm(b"1\n", 0, 0, labels, indptr, indices[:3].copy(), values, 0, 9, NONE)
    with pytest.raises(ValueError, match="offset"):
        _native.parse_libsvm(b"1\n", 3, 0, *arrays(), 0, 9, NONE)
    with pytest.raises(ValueError, match="row lies behind"):
        _native.parse_libsvm(b"1\n", 0, 5, *arrays(), 0, 9, NONE)
    with pytest.raises(ValueError, match="indptr points behind"):
        _native.parse_libsvm(
            b"1\n", 0, 0, labels, indptr + np.int32(9), indices, values, 0, 9, NONE
        )
    with pytest.raises(TypeError):
        _native.parse_libsvm(
            b"1\n", 0, 0, labels, indptr.astype(np.int64), indices, values, 0, 9, NONE
        )
    for dropped in ([3, 2], [2, 2], [0]):
        with pytest.raises(ValueError, match="dropped features must increase"):
            _native.parse_libsvm(b"1\n", 0, 0, *arrays(), 1, 9, np.array(dropped, np.int32))
    for dropped in (np.array([2]), np.array([[2]], np.int32)):
        with pytest.raises(TypeError):
            _native.parse_libsvm(b"1\n", 0, 0, *arrays(), 1, 9, dropped)


# -------------------------------------------------------------------- fuzz

TOKENS = [
    b"nan", b"inf", b"1e999", b"1e-999", b"qid:1 ", b"qid:", b" 1:1", b":", b"::", b"#", b"\n",
    b"\r", b"99999999999:1", b"2147483647:1", b" 0:1", b"-", b"+", b"_", b"\x00", b"\xff", b"e",
    b"1" * 50,    b"0x1p3", b" ", b"?", b"\xef\xbb\xbf", b".",
]  # fmt: skip
# Where we are stricter than scikit-learn. (It takes the bytes of a BOM for part of a label.)
STRICTER = r"not finite|infinite|_|index of '[+-]|qid|above 2147483647"


def check_against_sklearn(text):
    try:
        theirs = load_svmlight_file(io.BytesIO(text), zero_based=True)
    except (ValueError, OverflowError):
        theirs = None
    try:
        ours = read(text, zero_based=True)
    except DataFileError as error:
        assert theirs is None or re.search(STRICTER, str(error)), (text, str(error))
        return False
    if theirs is None:
        assert b"?" in text or text.startswith(b"\xef\xbb\xbf"), text
    else:
        assert_same(ours, theirs)
    return True


def check_pieces(text, drop=()):
    """Bad lines left out one by one leave what a file of the good lines holds."""
    opened = OpenFile(io.BytesIO(text), "fuzz", compressed=False)
    bad_rows = BadRows("fuzz", "skip")
    lines = Lines(line_blocks(opened), bad_rows)
    pieces = list(libsvm_pieces(lines, 200_000, zero_based=True, unlabeled=None, drop=drop))
    n_lines = text.count(b"\n") + 1
    assert sum(len(y) for _, y in pieces) + bad_rows.count <= n_lines
    for X, _ in pieces:
        X.check_format()


def fuzz(n_files, seed):
    rng = np.random.default_rng(seed)
    n_read = 0
    tracemalloc.start()
    try:
        for _ in range(n_files):
            text = mutated((PLAIN, ODD)[rng.integers(2)], TOKENS, rng)
            n_read += check_against_sklearn(text)
            check_pieces(text)
            check_pieces(text, drop=(1, 3, 4, 9))
        assert tracemalloc.get_traced_memory()[1] < 2**25
    finally:
        tracemalloc.stop()
    assert 0.05 * n_files < n_read < 0.95 * n_files  # mutations neither harmless nor all fatal


@pytest.mark.long
def test_mutated_files():
    fuzz(1000, seed=0)


@pytest.mark.slow
def test_ten_thousand_mutated_files():
    fuzz(10_000, seed=1)
