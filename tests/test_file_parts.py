"""Files in parts: joined, the parts hold what the file holds."""

from __future__ import annotations

import gzip

import pytest

from graphkm.io import DataFileError, file_parts
from graphkm.io.cells import texts
from graphkm.io.columns import AllBesideLabel
from graphkm.io.file_parts import cut_file, data_files, put_together
from graphkm.io.row_files import open_table

READING = {"unlabeled": None, "delimiter": None}


def cells_of(source, format, header):
    with open_table(source, format, name="x") as opened:
        columns, pieces = opened.cells(AllBesideLabel(None), header=header, **READING)
        found = [piece.columns for piece in pieces]
    every = range(columns.head.width)
    return [[text for piece in found for text in texts(piece[k])] for k in every]


def joined(found):
    return [[text for own in found for text in own[k]] for k in range(2)]


TEXTS = {
    "names": (True, b"a,b\n" + b"".join(b"%d,word %d\n" % (i, i) for i in range(50))),
    "no names": (False, b"".join(b"%d,word %d\n" % (i, i) for i in range(50))),
    "a mark": (True, b"\xef\xbb\xbfa,b\n" + b"1,x\n2,y\n" * 20),
    "Excel": (True, b"sep=;\na;b\n" + b"1;x\n2;y,z\n" * 20),
    "quotes": (True, b"a,b\n" + b'1,"x\ny"\n2,"he said ""no"""\n3,plain\n' * 20),
    "quoted names": (True, b'"a\n(cm)",b\n' + b"1,x\n2,y\n" * 20),
    "a quote in a field": (True, b"a,b\n" + b"1,x\n2,y\n" * 20 + b'3,6"" pipe\n' + b"4,z\n" * 9),
    "blank lines": (True, b"\n\na,b\n" + b"1,x\n\n2,y\n" * 20),
    "Windows": (True, b"a,b\r\n" + b"1,x\r\n2,y\r\n" * 20),
    "no last newline": (True, b"a,b\n" + b"1,x\n2,y\n" * 20 + b"3,z"),
}


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("size", [16, 40, 10**6])
def test_parts_of_csv_hold_its_rows(kind, size, tmp_path, monkeypatch):
    monkeypatch.setattr(file_parts, "_CUT", max(size, 32))
    named, text = TEXTS[kind]
    path = tmp_path / "a.csv"
    path.write_bytes(text)
    parts = cut_file(str(path), named)
    found = [cells_of(part.source(), "csv", named) for part in parts]
    whole = cells_of(str(path), "csv", named)
    assert joined(found) == whole
    assert sum(part.n_rows for part in parts) >= len(whole[0])
    assert len(parts) > 1 or len(text) <= size
    together = put_together(parts, 10**9, 10**9)
    assert [part.number for part in together] == [0]
    assert cells_of(together[0].source(), "csv", named) == whole


def test_parts_of_parquet_are_row_groups(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = str(tmp_path / "a.parquet")
    table = pa.table({"a": range(100), "b": [f"w{i}" for i in range(100)]})
    parquet.write_table(table, path, row_group_size=30)
    parts = cut_file(path, True)
    assert [part.n_rows for part in parts] == [30, 30, 30, 10]
    found = [cells_of(part.source(), "parquet", True) for part in parts]
    assert joined(found) == cells_of(path, "parquet", True)
    assert [(part.start, part.stop, part.number) for part in put_together(parts, 60, 1)] == [
        (0, 2, 0),
        (2, 4, 1),
    ]
    assert parts[1].name == f"{path} (from row group 1 on)"


def test_compressed_files_and_wide_texts_are_one_part(tmp_path, monkeypatch):
    monkeypatch.setattr(file_parts, "_CUT", 32)
    text = "a,b\n" + "1,x\n2,y\n" * 40
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "b.csv").write_bytes(text.encode("utf-16"))
    for name in ("a.csv.gz", "b.csv"):
        (part,) = cut_file(str(tmp_path / name), True)
        assert part.n_rows >= 80
        assert len(cells_of(part.source(), "csv", True)[0]) == 80


def test_files_of_folders_and_patterns(tmp_path):
    (tmp_path / "in").mkdir()
    for name in ("b.csv", "in/a.csv", ".hidden.csv", "_temporary.csv", "read.me"):
        (tmp_path / name).write_text("x\n")
    assert data_files(str(tmp_path)) == [str(tmp_path / "b.csv"), str(tmp_path / "in" / "a.csv")]
    assert data_files(str(tmp_path / "*.csv")) == [str(tmp_path / "b.csv")]
    (tmp_path / "c.parquet").touch()
    with pytest.raises(DataFileError, match="two formats, 2 of csv and 1 of parquet"):
        data_files(str(tmp_path))
    with pytest.raises(DataFileError, match="no such file"):
        data_files(str(tmp_path / "*.tsv"))
    with pytest.raises(DataFileError, match=r"read\.me: its name tells neither"):
        data_files(str(tmp_path / "read.me"))
