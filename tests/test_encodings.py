"""Encodings of tables, and quotes that hold several lines: against pandas and Python's csv."""

from __future__ import annotations

import csv
import io

import numpy as np
import pandas as pd
import pytest

from graphkm.io import BadRowWarning, DataFileError
from graphkm.io.columns import Columns
from graphkm.io.row_files import open_table
from graphkm.online import read_stream

NAMES = ["größe", "stadt", "label"]
CITIES = ["Genève", "Zürich", "Málaga", "Łódź", "東京"]
READING = {"unlabeled": None, "header": "auto", "delimiter": None}


class Everything:
    """Reads every column as a feature."""

    def likely_label(self, width):
        return "label"

    def choose(self, head):
        return Columns(head, tuple(range(head.width)), None)


def cells(text, encoding=None, **options):
    """Return the names and the rows of a table, and the encoding that was taken."""
    with open_table(io.BytesIO(text), "csv", name="a.csv", encoding=encoding, **options) as table:
        columns, pieces = table.cells(Everything(), **READING)
        rows = []
        for piece in pieces:
            rows += zip(*(piece.columns[k] for k in range(columns.head.width)), strict=True)
    return list(columns.head.names), [list(row) for row in rows], table.encoding


def frame(n, letters=5):
    rng = np.random.default_rng(0)
    cities = rng.choice(CITIES[:letters], n)
    return pd.DataFrame(dict(zip(NAMES, (rng.normal(size=n), cities, cities), strict=True)))


@pytest.mark.dear
@pytest.mark.parametrize("n", [3, 20_000])  # the second has several blocks
@pytest.mark.parametrize(
    ("codec", "taken"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8"),
        ("utf-16", "utf-16-le"),
        ("utf-16-le", "utf-16-le"),  # without a mark
        ("utf-32", "utf-32-le"),
        ("cp1252", "windows-1252"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*was read as Windows-1252:UserWarning")
def test_the_encoding_is_recognised(codec, taken, n):
    table = frame(n, 3 if codec == "cp1252" else 5)
    text = table.to_csv(index=False).encode(codec)
    known = pd.read_csv(io.BytesIO(text), encoding=codec, dtype=str)
    names, rows, encoding = cells(text)
    assert names == list(known.columns) == NAMES
    assert rows == known.to_numpy().tolist()
    assert encoding == taken


def test_a_guess_is_a_warning_and_a_given_encoding_is_none():
    text = "x,stadt\n1,Genève\n".encode("latin-1")
    with pytest.warns(UserWarning, match=r"a.csv is not UTF-8, and was read as Windows-1252"):
        assert cells(text)[1:] == ([["1", "Genève"]], "windows-1252")
    assert cells(text, "latin-1")[1:] == ([["1", "Genève"]], "iso8859-1")
    assert cells(text, "cp437")[1] == [["1", "GenΦve"]]
    with pytest.raises(
        DataFileError, match=r"a.csv, line 2: the text .* is not utf-8, .* encoding="
    ):
        cells(text, "utf-8")
    with pytest.raises(DataFileError, match=r"a.csv, line 2: its text is not ascii .* encoding="):
        cells(text, "ascii")
    with pytest.raises(ValueError, match="encoding='klingon' is no encoding of texts"):
        cells(text, "klingon")


@pytest.mark.filterwarnings("ignore:.*was read as Windows-1252:UserWarning")
def test_every_byte_of_windows_has_a_letter():
    rows = cells(b"x,label\n" + bytes(range(0x80, 0x100)) + b",1\n")[1]
    for byte, letter in zip(range(0x80, 0x100), rows[0][0], strict=True):
        known = bytes([byte]).decode("cp1252", "ignore")
        assert letter == (known or chr(byte))


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:.*was read as Windows-1252:UserWarning")
@pytest.mark.parametrize("codecs", [("utf-8", "cp1252"), ("cp1252", "utf-8")])
def test_two_encodings_are_never_mixed(codecs):
    first, then = ("1,Genève\n".encode(codec) for codec in codecs)
    text = b"x,label\n" + first * 30_000 + b"2,plain\n" * 30_000 + then  # several blocks
    with pytest.raises(DataFileError, match=r"a.csv, line 60002: .* is not .* pass encoding="):
        cells(text)
    with pytest.warns(BadRowWarning, match=r"1 row was left out of a.csv; .* line 60002: "):
        rows = cells(text, on_bad_row="skip")[1]
    assert len(rows) == 60_000 and rows[0] == ["1", "Genève"]


@pytest.mark.filterwarnings("ignore:.*was read as Windows-1252:UserWarning")
def test_letters_of_windows_that_are_utf8_by_chance():
    text = "x,label\n1,Genève\n2,Spaß”\n3,Zürich\n"
    assert b"\xdf\x94" in text.encode("cp1252")  # a letter of UTF-8
    assert cells(text.encode("cp1252"))[1] == [["1", "Genève"], ["2", "Spaß”"], ["3", "Zürich"]]


def test_one_broken_byte_in_utf8_is_named():
    text = b"x,label\n" + "1,Zürich\n".encode() * 9 + b"2,Gen\xe8ve\n"
    with pytest.raises(DataFileError, match=r"line 11: the text b'2,Gen.xe8ve' is not utf-8"):
        cells(text)


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16"])
def test_the_first_line_of_excel(sign, codec):
    lines = [f"sep={sign}", f"ä{sign}label", f'1{sign}"a{sign} b"', ""]
    names, rows, _ = cells("\r\n".join(lines).encode(codec))
    assert names == ["ä", "label"] and rows == [["1", f"a{sign} b"]]
    with pytest.raises(DataFileError, match=r"a.csv, line 4: there are 1 fields"):
        cells("\n".join([*lines[:3], "x", ""]).encode(codec))
    stream = read_stream(io.BytesIO(f"sep={sign}\nx{sign}label\n1{sign}2\n".encode()), format="csv")
    assert [chunk.X.tolist() for chunk in stream] == [[[1.0]]]


# ------------------------------------------------------- newlines inside quotes

WORDS = [
    "a",
    "",
    'say "hi"',
    "two\nlines",
    "three\r\nmore\nlines",
    "1,2,3",
    "x\n1,2,3\ny",
    "é",
    '"',
]


class Drops(io.BytesIO):
    """A file that gives a few bytes at a time."""

    size = 1

    def read(self, size=-1):
        return super().read(self.size if size < 0 else min(size, self.size))


def written(rows, quoting, end):
    out = io.StringIO()
    csv.writer(out, quoting=quoting, lineterminator=end).writerows(rows)
    return out.getvalue().encode()


@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("size", [1, 7, 64, 2**18])
def test_newlines_inside_quotes(quoting, end, size):
    rng = np.random.default_rng(0)
    rows = [[f"{k}", *rng.choice(WORDS, 2), f"{k / 8}", "ab"[k % 2]] for k in range(300)]
    names = ["number", "one\nname", "other", "part", "label"]
    text = written([names, *rows], quoting, end)
    source = Drops(text)
    source.size = size
    with open_table(source, "csv") as table:
        columns, pieces = table.cells(Everything(), **READING)
        found = []
        for piece in pieces:
            found += zip(*piece.columns.values(), strict=True)
    assert list(columns.head.names) == names
    assert found == [tuple(cell.strip() for cell in row) for row in rows]
    # The compiled parser skips them, and its messages count their lines.
    source.seek(0)
    with open_table(source, "csv") as table:
        pieces = list(table.columns(Numbers())[1])
    X, y = (np.concatenate(part) for part in zip(*pieces, strict=True))
    assert X.tolist() == [[float(row[0]), float(row[3])] for row in rows]
    assert y.tolist() == [row[4] for row in rows]
    line = 1 + len(text.splitlines())
    with pytest.raises(DataFileError, match=f"line {line}: the value of 'word' is not a number"):
        read_numbers(text + b"word,,,1,a\n")
    with pytest.raises(DataFileError, match=f"line {line}: there are 2 fields where 5"):
        cells(text + b"1,2\n")


class Numbers:
    """Reads the first column and the fourth, and the last as the label."""

    def likely_label(self, width):
        return "label"

    def choose(self, head):
        return Columns(head, (0, 3), 4)


def read_numbers(text, **options):
    with open_table(io.BytesIO(text), "csv", **options) as table:
        return list(table.columns(Numbers())[1])


def test_a_label_of_several_lines():
    text = b'a,b,c,d,label\n1,,,2,"x\ny"\n1,,,2,"say ""hi"""\n'
    assert read_numbers(text)[0][1].tolist() == ["x\ny", 'say "hi"']


@pytest.mark.parametrize("stray", [b'"1,x', b'1,"x', b'1,"x y'])
@pytest.mark.parametrize("after", [b"", b'5,"a ""quoted"" word"\n', b'"6",""\n7,"8"\n'])
def test_a_quote_that_is_not_closed_hides_no_other_line(stray, after):
    text = b"x,label\n1,a\n" + stray + b"\n2,b\n3,c\n" + after
    with pytest.raises(DataFileError, match=r"line 3: the quotes of .* are not closed"):
        cells(text)
    with pytest.warns(BadRowWarning, match=r"1 row was left out of a.csv; the first: line 3"):
        rows = cells(text, on_bad_row="skip")[1]
    known = list(csv.reader(io.StringIO(after.decode())))
    assert rows == [["1", "a"], ["2", "b"], ["3", "c"], *known]


def test_a_quote_that_is_closed_where_no_row_ends():
    # The quote of line 2 would end at that of line 4, and its row would have three fields.
    text = b'x,label\n1,"a\n2,b\n5,", c"\n'
    with pytest.raises(DataFileError, match=r"line 2: the quotes of .* are not closed"):
        cells(text)
    with pytest.warns(BadRowWarning, match="1 row was left out"):
        assert cells(text, on_bad_row="skip")[1] == [["2", "b"], ["5", ", c"]]


@pytest.mark.long
def test_a_quote_that_is_never_closed_needs_little_memory():
    text = b"x,label\n" + b'1,"a\n' + b"2,b\n" * 100_000
    with pytest.warns(BadRowWarning, match="1 row was left out"):
        assert len(cells(text, on_bad_row="skip")[1]) == 100_000
