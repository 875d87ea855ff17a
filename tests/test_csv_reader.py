"""Reading CSV text: against pandas, Python's float, and damaged files."""

from __future__ import annotations

import csv
import io
import re
import tracemalloc

import numpy as np
import pandas as pd
import pytest

from graphkm import _native
from graphkm.io import BadRowWarning, DataFileError
from graphkm.io.columns import Columns
from graphkm.io.row_files import joined, open_table
from graphkm.online import read_stream
from mutations import mutated


def read(text, **options):
    """Return all rows and labels."""
    chunks = list(read_stream(io.BytesIO(text), format="csv", **options))
    return np.concatenate([chunk.X for chunk in chunks]), np.concatenate([c.y for c in chunks])


def test_agrees_with_pandas():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(3000, 7)) * 10.0 ** rng.integers(-30, 30, size=(3000, 7)))
    frame.columns = [f"x{k}" for k in range(7)]
    frame.insert(3, "label", rng.choice(["cat", "dog", "a, b"], size=3000))
    text = frame.to_csv(index=False).encode()
    X, y = read(text, chunk_size=64)
    assert X.tobytes() == frame.drop(columns="label").to_numpy().tobytes()
    assert y.tolist() == frame["label"].tolist()


def test_numbers_as_labels_are_floats():
    X, y = read(b"label,x\n1,2\n?,3\n,4\nnan,5\n-1,6\n")
    np.testing.assert_array_equal(y, [1, np.nan, np.nan, np.nan, -1])
    assert X.ravel().tolist() == [2, 3, 4, 5, 6]


def test_words_as_labels_are_objects():
    _, y = read(b'x,label\n1,cat\n2,?\n3,\n4," b, ""c"""\n5, 7 \n', label="label")
    assert y.dtype == object
    assert y.tolist() == ["cat", None, None, ' b, "c"', "7"]


def test_the_first_labels_decide():
    unlabelled = b"1,?\n" * 100_000  # more than a block
    _, y = read(unlabelled + b"1,cat\n", label=1)
    assert y[-1] == "cat"
    with pytest.raises(DataFileError, match=r"line 200001: the label 'cat' is not a number"):
        read(b"1,0\n" * 200_000 + b"1,cat\n", label=1)
    _, y = read(b"1,0\n2,1\n", label=1, labels="text")
    assert y.tolist() == ["0", "1"]


@pytest.mark.parametrize(
    ("labels", "marker"), [(b"1 2 NA 3", "NA"), (b"1 2 -1 3", -1), (b"1 2 -1.0 3", -1)]
)
def test_markers(labels, marker):
    text = b"\n".join(b"5," + value for value in labels.split())
    _, y = read(text, label=-1, unlabeled=marker)
    np.testing.assert_array_equal(y, [1, 2, np.nan, 3])


def test_a_marker_among_words():
    _, y = read(b"1,cat\n2,none\n", label=-1, unlabeled="none", header=False)
    assert y.tolist() == ["cat", None]


def test_no_label_column():
    X, y = read(b"1,2\n3,4\n", label=None)
    assert X.tolist() == [[1, 2], [3, 4]]
    assert np.isnan(y).all()


@pytest.mark.parametrize(
    ("text", "options", "n_rows"),
    [
        (b"a,b\n1,2\n", {"label": 1}, 1),
        (b"1,2\n3,4\n", {"label": 1}, 2),
        (b"0,1,target\n5,6,7\n", {"label": -1}, 1),
        (b"5,6,cat\n5,6,dog\n", {"label": -1}, 2),
        (b"5,?,\n5,6,dog\n", {"label": 1, "header": False, "on_bad_row": "skip"}, 0),
        (b"5,6,NA\n5,6,1\n", {"label": -1, "unlabeled": "NA"}, 2),
        (b"5,6,?\n5,6,1\n", {"label": -1}, 2),
        (b"0,1\n2,3\n", {"label": "1"}, 1),
        (b"0,1\n2,3\n", {"label": 1, "header": True}, 1),
    ],
)
@pytest.mark.filterwarnings("ignore::graphkm.io.BadRowWarning")
def test_headers(text, options, n_rows):
    stream = read_stream(io.BytesIO(text), format="csv", **options)
    assert sum(len(chunk.y) for chunk in stream) == n_rows


@pytest.mark.parametrize("text", [b"0,1,2\n5,6,1\n", b"5,6,cat\n5,6,?\n", b"0,1,y\n5,6,\n"])
def test_a_doubtful_header_is_not_guessed(text):
    for doubtful in (text, text.split(b"\n")[0]):
        with pytest.raises(DataFileError, match="may hold names or values"):
            read(doubtful, label=-1)
    for header in (False, True):
        assert len(read(text, label=-1, header=header)[1]) == 2 - header


@pytest.mark.parametrize("delimiter", [";", "\t", " ", "|"])
def test_delimiters(delimiter):
    text = "a,label\n1.5,2\n".replace(",", delimiter).encode()
    assert read(text, delimiter=delimiter)[0].tolist() == [[1.5]]


def test_spaces_quotes_blank_lines_and_line_ends():
    X, y = read(b'\xef\xbb\xbf\r\n "x" , "label"\r\n\r\n "1.5" ,\t2 \r\n 3 ,"4"')
    assert X.ravel().tolist() == [1.5, 3]
    assert y.tolist() == [2, 4]


BAD = [
    (b"1", "there are 1 fields where 3 are expected: '1'"),
    (b"1,2,3,4", "there are 4 fields where 3 are expected: '1,2,3,4'"),
    (b"x,2", "there are 2 fields where 3 are expected: 'x,2'"),
    (b"1,,3", "a value is missing"),
    (b"1,?,3", "a value is missing"),
    (b"nan,1,3", "the value of 'nan' is not finite"),
    (b"-inf,1,3", "the value of '-inf' is not finite"),
    (b"x,1,3", "the value of 'x' is not a number"),
    (b"1 2,1,3", "the value of '1 2' is not a number"),
    (b'"1,1,3', "the quotes of '1,1,3' are not closed"),
    (b'"1"2,1,3', "the quotes of '1' are not closed, or more text follows"),
    (b'1,2,"3""', "the quotes of '3\"\"' are not closed"),
    (b"1,2,cat", "the label 'cat' is not a number"),
    (b"1,2,inf", "the label 'inf' is infinite"),
]


@pytest.mark.parametrize(("line", "reason"), BAD)
def test_a_bad_line_is_named(line, reason):
    text = b"a,b,label\n1,2,3\n\n" + line + b"\n1,2,3\n"
    with pytest.raises(DataFileError, match=f"line 4: {re.escape(reason)}"):
        read(text, labels="number")
    with pytest.warns(BadRowWarning, match="1 row was left out .* line 4: "):
        X, y = read(text, labels="number", on_bad_row="skip")
    assert X.tolist() == [[1, 2], [1, 2]]
    assert y.tolist() == [3, 3]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (b"", {}, "is empty"),
        (b"\n\n", {}, "is empty"),
        (b"a,b\n1,2\n", {}, "no column is called 'label'; the columns are 'a', 'b'"),
        (b"a,a\n1,2\n", {"label": "a"}, "several columns are called 'a'"),
        (b"1,2\n", {"label": 2}, "label=2 where there are 2 columns"),
        (b"1\n", {"label": 0}, "no feature is left"),
        (b"1,2\n", {"label": 1, "n_features": 5}, "has 1 features where n_features=5"),
    ],
)
def test_wrong_columns(text, options, message):
    with pytest.raises(DataFileError, match=message):
        read(text, **options)


def test_the_binding_checks_its_arguments():
    def parse(
        values=(2, 2),
        labels=2,
        places=(0, 1),
        delimiter=b",",
        text=b"1,2\n",
        dtype="i4",
        markers=b"",
    ):
        kinds, spans = np.empty(2, np.uint8), np.empty((2, 2), np.int64)
        arrays = np.empty(values), np.empty(labels), kinds, spans, np.array(places, dtype)
        return _native.parse_csv(text, 0, 0, *arrays, delimiter, markers, True)

    assert parse()[:4] == (4, 1, 1, 0)
    with pytest.raises(ValueError, match="labels has 3 entries"):
        parse(labels=3)
    for places, message in (
        ((0, 1, 2), "no place among the features"),
        ((0, 1, -3), "no place among the features"),
        ((0, 1, -2, -2), "several label columns"),
        ((0, 0, 1), "exactly one column"),
        ((0, -1), "exactly one column"),
        ((), "exactly one column"),
    ):
        with pytest.raises(ValueError, match=message):
            parse(places=places)
    for dtype in ("i8", "f8"):
        with pytest.raises(TypeError):
            parse(dtype=dtype)
    with pytest.raises(ValueError, match="no features"):
        parse(values=(2, 0))
    for delimiter in (b"", b",,", b"1", b"\n"):
        with pytest.raises(ValueError, match="delimiter"):
            parse(delimiter=delimiter)
    with pytest.raises(ValueError, match="more rows than room"):
        parse(text=b"1,2\n" * 3)
    with pytest.raises(ValueError, match="a marker does not end with a newline"):
        parse(markers=b"NA")


# ---------------------------------------------------------- skipped columns


class Some:
    """Reads these features, in this order, and the label."""

    def __init__(self, features, label=None):
        self.features, self.label = features, label

    def likely_label(self, width):
        return self.label

    def choose(self, head):
        return Columns(head, tuple(self.features), self.label)


def read_some(text, features, label=None, on_bad_row="error", **options):
    """Return the rows and labels of some columns."""
    with open_table(io.BytesIO(text), "csv", on_bad_row=on_bad_row) as table:
        return joined(table.columns(Some(features, label), header=False, **options)[1])


@pytest.mark.long
@pytest.mark.parametrize("features", [[0], [4, 0], [3, 1, 2], [5, 4, 3, 2, 1, 0], [2, 5]])
@pytest.mark.parametrize("label", [None, 6])
def test_skipping_columns_is_reading_all_and_dropping_some(features, label):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(20_000, 6))
    labels = rng.choice(["cat", "a, b", ""], size=len(values))
    frame = pd.DataFrame(values).assign(label=labels)
    text = frame.to_csv(index=False, header=False).encode()
    assert len(text) > 2**21  # several blocks
    everything, y_all = read_some(text, range(6), 6)
    assert everything.tobytes() == values.tobytes()
    X, y = read_some(text, features, label)
    assert X.tobytes() == everything[:, features].tobytes()
    assert y.tolist() == y_all.tolist() if label else np.isnan(y).all()


ANY_TEXT = [
    "", "?", "nan", "1e999", "word", "two words", "6\" pipe", '"a, b"', '"say ""hi"""', '"a"b',
    '""', "' '", "#", "\x00", "é", "\t", "1;2|3", " \r", "-", '  "x"  ',
]  # fmt: skip


@pytest.mark.parametrize("word", ANY_TEXT)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_skipped_column_may_hold_any_text(word, place):
    lines = []
    for k in range(3):
        fields = [str(k), str(k + 0.5)]
        fields.insert(place, word if k != 1 else "7")
        lines.append(",".join(fields))
    features = [k for k in range(3) if k != place]
    X, y = read_some("\n".join(lines).encode(), features[::-1], labels="number", delimiter=",")
    assert X.tolist() == [[0.5, 0], [1.5, 1], [2.5, 2]]
    assert np.isnan(y).all()


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"id,1", "there are 2 fields where 4 are expected: 'id,1'"),
        (b"id,1,2,3,4", "there are 5 fields where 4 are expected: 'id,1,2,3,4'"),
        (b"id,x,2,b", "the value of 'x' is not a number"),
        (b"id,,2,b", "a value is missing"),
        (b"id,1,2,cat", "the label 'cat' is not a number"),
        (b'"id,1,2,3', "the quotes of 'id,1,2,3' are not closed"),
        (b'id,1,"2,3', "the quotes of '2,3' are not closed"),
    ],
)
def test_a_bad_line_is_named_where_columns_are_skipped(line, reason):
    text = b"a,1,b,3\n\n" + line + b"\nc,2,?,4\n"
    with pytest.raises(DataFileError, match=f"line 3: {re.escape(reason)}"):
        read_some(text, [1], 3, labels="number")
    with pytest.warns(BadRowWarning, match="1 row was left out .* line 3: "):
        X, y = read_some(text, [1], 3, labels="number", on_bad_row="skip")
    assert X.tolist() == [[1], [2]] and y.tolist() == [3, 4]


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::graphkm.io.BadRowWarning")
@pytest.mark.filterwarnings("ignore:.*was read as Windows-1252:UserWarning")
def test_mutated_files_with_skipped_columns():
    rng = np.random.default_rng(0)
    n_rows = 0
    for _ in range(2000):
        text = b"1,2,first\n" + mutated(VALID, TOKENS, rng)
        options = {"labels": "text", "on_bad_row": "skip", "delimiter": ","}
        everything, y_all = read_some(text, [0, 1], 2, **options)
        for k in (0, 1):  # a row may be good without the other column, and is never lost
            X, y = read_some(text, [k], 2, **options)
            rows = list(zip(X[:, 0], y, strict=True))
            expected = list(zip(everything[:, k], y_all, strict=True))
            kept = iter(rows)
            assert all(row in kept for row in expected), text
            n_rows += len(rows) - len(expected)
    assert n_rows > 100


# -------------------------------------------------------------------- fuzz

VALID = b'1.5,-2,cat\n3e5, 7 ,"d,og"\n.5,8,?\n0,0.125,9\n'
TOKENS = [
    b",", b'"', b'""', b"\n", b"nan", b"1e999", b"?", b" ", b"\x00", b"\xff", b"x", b"\t",
    b"1,2,3\n",
]  # fmt: skip


def decoded(text):
    """Return a text of UTF-8, else of Windows-1252; None if it has letters of both."""
    try:
        return text.decode()
    except UnicodeDecodeError:
        if not text.decode("utf-8", "ignore").isascii():
            return None
        letters = (bytes([byte]) for byte in text)
        return "".join(letter.decode("cp1252", "ignore") or chr(letter[0]) for letter in letters)


def good_rows(text):
    """Return what Python's own CSV reader and float make of the lines that are good."""
    rows = []
    for line in text.split("\n"):
        fields = next(csv.reader([line.strip(" \t\r\v\f")], skipinitialspace=True), [])
        try:
            values = [float(field) for field in fields[:2]]
        except ValueError:
            continue
        plain = "".join(fields[:2]).isascii() and "_" not in "".join(fields[:2])
        if len(fields) == 3 and np.isfinite(values).all() and plain:
            rows.append((*values, fields[2].strip(" \t\r\v\f")))
    return rows


def fuzz(n_files, seed):
    rng = np.random.default_rng(seed)
    n_compared = 0
    options = {"label": 2, "labels": "text", "header": False, "on_bad_row": "skip"}
    tracemalloc.start()
    try:
        for _ in range(n_files):
            text = b"1,2,first\n" + mutated(VALID, TOKENS, rng)
            stream = read_stream(io.BytesIO(text), format="csv", **options)
            rows = [(*x, y) for chunk in stream for x, y in zip(chunk.X, chunk.y, strict=True)]
            # Python's reader takes quotes anywhere, which are errors here, and refuses a lone CR.
            quoted = re.search(rb'[,\n] *"d,og" *[,\n]', text)
            known = decoded(text)
            if text.count(b'"') == 2 and quoted and b"\r" not in text and known is not None:
                n_compared += 1
                missing = {"", "?", "nan", "+nan", "-nan"}
                expected = [
                    (a, b, None if y.lower() in missing else y) for a, b, y in good_rows(known)
                ]
                assert rows == expected, text
        assert tracemalloc.get_traced_memory()[1] < 2**25
    finally:
        tracemalloc.stop()
    assert n_compared > 0.2 * n_files


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::graphkm.io.BadRowWarning")
@pytest.mark.filterwarnings("ignore:.*was read as Windows-1252:UserWarning")
def test_mutated_files():
    fuzz(2000, seed=0)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::graphkm.io.BadRowWarning")
@pytest.mark.filterwarnings("ignore:.*was read as Windows-1252:UserWarning")
def test_ten_thousand_mutated_files():
    fuzz(10_000, seed=1)
