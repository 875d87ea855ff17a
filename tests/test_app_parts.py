"""The parts of the labelling page, without a server: reading, journal, live model, session."""

from __future__ import annotations

import csv
import datetime
import errno
import json
import os
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("pyarrow")

from sklearn.datasets import dump_svmlight_file, make_blobs
from sklearn.metrics.pairwise import cosine_similarity, rbf_kernel

from graphkm.active import Cover
from graphkm.app.classes import AnswerError
from graphkm.app.journal import Answer, Journal
from graphkm.app.journal_file import JournalError
from graphkm.app.judging import wilson
from graphkm.app.live_model import LiveModel
from graphkm.app.material import in_units
from graphkm.app.neighbours import Neighbours
from graphkm.app.reading import read_material
from graphkm.app.session import MeanwhileError
from graphkm.embed import MissingModelError
from graphkm.io import DataFileError
from label_team import Alone

pytestmark = pytest.mark.usefixtures("one_model")


def write(path, text):
    path.write_text(text)
    return path


@pytest.fixture
def rows(tmp_path):
    """Return a table of four clusters, in a file."""
    X, truth = make_blobs(120, centers=4, n_features=2, cluster_std=0.3, random_state=0)
    lines = [f"{a!r},{b!r}" for a, b in X.tolist()]
    write(tmp_path / "rows.csv", "x,z\n" + "\n".join(lines) + "\n")
    return read_material(tmp_path / "rows.csv"), truth


def read_labels(path):
    with open(path, newline="") as file:
        return list(csv.reader(file))


# ------------------------------------------------------------------- reading


def test_a_table_with_words_numbers_holes_and_labels(tmp_path):
    text = 'nr;soil;x;day;who;Label\n1;"a; b";1,5;31.12.2024;A;cat\n2;c;;01.01.2025;A;?\n4;;5;;A;\n'
    found = read_material(write(tmp_path / "rows.csv", text), id="nr")
    assert found.names == ["soil", "x", "day"] and found.label == "Label" and found.vectors is None
    assert found.kinds == ["word", "decimal comma", "DD.MM.YYYY"]
    assert found.X[0].tolist() == ["a; b", 1.5, 20088.0] and np.isnan(found.X[1, 1])
    assert found.given.tolist() == ["cat", None, None]
    assert found.shown(0)[:3] == [("nr", "1"), ("soil", "a; b"), ("x", "1,5")]
    assert "1 category (soil)" in found.notes[0] and "who (one value only, A)" in found.notes[1]
    assert "nr (it identifies rows)" in found.notes[1] and ": 3, filled in" in found.notes[2]
    assert found.line(1, "dog") == ["2", "c", "", "01.01.2025", "A", "dog"]  # as it stands there
    cells = [name for name, _ in found.page(0, ["day", "x"])["cells"]]
    assert cells == ["day", "x", "nr", "soil", "who"]
    numbers, names = in_units(found)
    assert names == ["x", "day", "soil", "soil", "soil"]
    np.testing.assert_array_equal(numbers[:, 2:], [[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    np.testing.assert_allclose(numbers[:, :2].mean(axis=0), 0, atol=1e-12)


def test_a_table_without_names(tmp_path):
    found = read_material(write(tmp_path / "rows.csv", "1,2\n3,4\n5,7\n"))
    assert found.columns() is None and found.shown(1) == [("1", "3"), ("2", "4")]
    journal = Journal(tmp_path / "labels.csv", found)
    journal.add(Answer(2, "label", "a"))
    journal.close()
    assert read_labels(tmp_path / "labels.csv") == [["5", "7", "a"]]


def test_parquet_and_libsvm(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pa.table({"x": [1.0, 2.0], "label": ["a", None]})
    parquet.write_table(table, tmp_path / "rows.parquet")
    found = read_material(tmp_path / "rows.parquet")
    assert found.given.tolist() == ["a", None] and found.X.tolist() == [[1.0], [2.0]]
    X = np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 0.5]])
    dump_svmlight_file(X, [1, -1], str(tmp_path / "rows.libsvm"), zero_based=False)
    found = read_material(tmp_path / "rows.libsvm")
    assert found.given.tolist() == ["1", "-1"]
    assert found.shown(1) == [("1", "1"), ("3", "0.5")]
    from_zero = read_material(write(tmp_path / "zero.libsvm", "1 0:5 2:1\n0 1:2\n"), unlabeled="0")
    assert from_zero.zero_based and from_zero.shown(0) == [("0", "5"), ("2", "1")]
    assert from_zero.given.tolist() == ["1", None]


def test_parquet_is_shown_as_it_is_and_written_as_train_reads_it(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    days = [datetime.date(2024, 1, 31), None, datetime.date(1970, 1, 2)]
    big = [2**60 + 1, 2**60 + 2, 2**60 + 3]
    table = pa.table({"key": big, "on": [True, False, None], "day": days, "s": ["a\nb", None, "c"]})
    parquet.write_table(table, tmp_path / "rows.parquet")
    found = read_material(tmp_path / "rows.parquet", id="key")
    assert found.shown(0) == [("key", str(big[0])), ("on", "True"), ("day", "2024-01-31"),
                              ("s", "a\nb")]  # fmt: skip
    assert found.line(0, "x") == [str(big[0]), "True", "2024-01-31", "a b", "x"]
    assert found.X[2, 1] == 1.0 and found.kinds == ["true or false", "YYYY-MM-DD", "word"]
    (tmp_path / "rows.csv").write_text(
        "key,on,day,s\n1,True,2024-01-31,a b\n2,False,,c\n3,,1970-01-02,\n"
    )
    assert read_material(tmp_path / "rows.csv", id="key").kinds == found.kinds


def test_quotes_of_several_lines_and_other_encodings(tmp_path):
    text = 'größe,note,label\n1,"ein\nlanger ""Text""",süß\n2,kurz,None\n3,Süden,sauer\n'
    (tmp_path / "rows.csv").write_bytes(text.encode("cp1252"))
    with pytest.warns(UserWarning, match="was read as Windows-1252"):
        found = read_material(tmp_path / "rows.csv")
    assert found.given.tolist() == ["süß", None, "sauer"]
    assert found.shown(0) == [("größe", "1"), ("note", 'ein\nlanger "Text"')]
    with pytest.warns(UserWarning, match="was read as Windows-1252"):
        texts = read_material(tmp_path / "rows.csv", text="note")
    assert texts.shown(0) == found.shown(0) and texts.given.tolist() == found.given.tolist()
    assert texts.page(2)["text"] == "Süden"
    (tmp_path / "rows.csv").write_bytes(("sep=,\n" + text).encode("utf-16"))
    for options in ({}, {"text": "note"}, {"encoding": "utf-16"}):
        assert read_material(tmp_path / "rows.csv", **options).shown(0) == found.shown(0)


def test_texts_become_vectors_and_stay_as_they_are_in_the_file(tmp_path):
    pytest.importorskip("tokenizers")
    texts = [
        f"a cheap red car number {k}" if k % 2 else f"the old dog sleeps {k}" for k in range(20)
    ]
    text = "body\n" + "\n".join(texts) + "\n"
    found = read_material(write(tmp_path / "rows.csv", text), text="body")
    assert found.page(0)["text"] == texts[0] and found.page(0)["cells"] == []
    same = np.linalg.norm(found.vectors[0] - found.vectors[2])
    assert same < np.linalg.norm(found.vectors[0] - found.vectors[1])
    assert found.X[:, 0].tolist() == texts and found.names == ["body"] and found.kinds == ["text"]
    assert found.columns() == ["body", "label"] and found.line(1, "car") == [texts[1], "car"]
    assert in_units(found)[0] is found.vectors
    assert "from the texts in body" in found.notes[0]


def test_a_text_among_numbers_words_and_identifiers(tmp_path):
    pytest.importorskip("tokenizers")
    lines = [f"A{k};{k % 5},5;{'ab'[k % 2]};text number {k};{'cat' * (k < 2)}" for k in range(30)]
    text = "key;size;hue;body;label\n" + "\n".join(lines) + "\n"
    found = read_material(write(tmp_path / "rows.csv", text), text="body", id="key")
    assert found.names == ["size", "hue", "body"] and found.text == "body"
    assert found.kinds == ["decimal comma", "word", "text"]
    assert found.X[3].tolist() == [3.5, "b", "text number 3"]
    assert found.columns() == ["key", "size", "hue", "body", "label"]  # the table's own columns
    assert found.line(3, "dog") == ["A3", "3,5", "b", "text number 3", "dog"]
    assert in_units(found)[0] is found.vectors
    assert any("save learn from the other columns too: 1 with" in note for note in found.notes)
    assert any("key (it identifies rows)" in note for note in found.notes)
    assert not any("body (" in note for note in found.notes)


def test_a_text_in_a_table_without_names(tmp_path):
    pytest.importorskip("tokenizers")
    lines = [f"{k},some words {k},{k * k}" for k in range(5)]
    found = read_material(
        write(tmp_path / "rows.csv", "\n".join(lines) + "\n"), text="2", header=False
    )
    assert found.X[2].tolist() == [2.0, "some words 2", 4.0]
    assert found.columns() is None and found.line(2, "a") == ["2", "some words 2", "4", "a"]


ODD_TEXTS = {
    "empty": "",
    "blank": "   ",
    "a megabyte": "word " * 200_000,
    "emoji": "\U0001f408\u200d\U0001f5a4 \U0001f1e9\U0001f1ea",
    "right to left": "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
    "markup": "<script>window.hacked = 1</script>",
    "lines": "one\ntwo",
}


def test_odd_texts_have_vectors_and_are_shown(tmp_path):
    pytest.importorskip("tokenizers")
    with open(tmp_path / "rows.csv", "w", newline="") as file:
        csv.writer(file).writerows([("name", "body"), *ODD_TEXTS.items()])
    found = read_material(tmp_path / "rows.csv", text="body", id="name")
    assert found.vectors.shape == (7, 256) and np.isfinite(found.vectors).all()
    assert not found.vectors[:2].any() and found.vectors[2:].any(axis=1).all()
    assert any("2 of the 7 texts in body are empty" in note for note in found.notes)
    pages = [found.page(row)["text"] for row in range(7)]
    assert pages[3:] == list(ODD_TEXTS.values())[3:] and len(pages[2]) <= 5002
    assert pages[2].endswith("word …")
    assert found.snippet(6) == "one two" and len(found.snippet(2)) < 170
    assert found.line(6, "x") == ["lines", "one two", "x"]
    (tmp_path / "none.csv").write_text("body,x\n,1\n ,2\n")
    with pytest.raises(DataFileError, match="all 2 texts in body are empty"):
        read_material(tmp_path / "none.csv", text="body")


def test_a_bar_is_shown_and_vectors_come_from_the_cache(tmp_path, capsys, monkeypatch):
    pytest.importorskip("tokenizers")
    lines = [f"{'ab' * k} number {k}" for k in range(40)]
    path = write(tmp_path / "rows.csv", "body\n" + "\n".join(lines) + "\n")
    monkeypatch.setenv("GRAPHKM_CACHE", str(tmp_path / "cache"))
    first = read_material(path, text="body", verbose=1)
    assert "40/40" in capsys.readouterr().err
    monkeypatch.setattr("graphkm.embed.word_pieces.mean_of_pieces", None)  # it would fail
    again = read_material(path, text="body")
    assert capsys.readouterr().err == "" and np.array_equal(first.vectors, again.vectors)


def test_a_missing_encoder_is_named(tmp_path, monkeypatch):
    path = write(tmp_path / "rows.csv", "body\na b\nc d\n")
    with pytest.raises(MissingModelError, match="no folder or file"):
        read_material(path, text="body", encoder=str(tmp_path / "nowhere"))
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(ImportError, match=r"pip install \"graphkm\[text\]\""):
        read_material(path, text="body")


def test_images_from_a_folder_and_from_a_column(tmp_path):
    Image = pytest.importorskip("PIL.Image")
    (tmp_path / "in").mkdir()
    for k in range(3):
        Image.new("L", (10, 10), 100 * k).save(tmp_path / "in" / f"{k}.png")
    found = read_material(tmp_path / "in")
    assert found.vectors.shape == (3, 1108) and found.page(2)["image"]
    assert found.X[:, 0].tolist() == [str(tmp_path / "in" / f"{k}.png") for k in range(3)]
    assert found.names == ["file"] and found.kinds == ["image"]
    assert np.all(np.diff(found.vectors[:, 0]) > 0)
    assert found.columns() == ["file", "label"] and found.line(1, "grey") == ["1.png", "grey"]
    (tmp_path / "rows.csv").write_text("path,x\nin/0.png,1\n../secret.png,2\nin/no.png,3\n")
    found = read_material(tmp_path / "rows.csv", images="path")
    assert [found.images(k) is not None for k in range(3)] == [True, False, False]
    assert found.vectors is None and found.names == ["x"]
    assert "does not learn from the images: row 2 names" in found.notes[0]
    (tmp_path / "only.csv").write_text("path\nin/0.png\n../secret.png\n")
    with pytest.raises(DataFileError, match=r"row 2 names the image '\.\./secret\.png'"):
        read_material(tmp_path / "only.csv", images="path")
    (tmp_path / "both.csv").write_text("x,path,who\n1,in/0.png,A\n2,in/1.png,A\n4,in/2.png,A\n")
    found = read_material(tmp_path / "both.csv", images="path")
    assert found.X[1].tolist() == [2.0, str(tmp_path / "in" / "1.png")]
    assert found.kinds == ["number", "image"] and found.vectors.shape == (3, 1108)
    assert found.columns() == ["x", "path", "who", "label"]
    assert found.line(1, "b") == ["2", "in/1.png", "A", "b"]


def test_links_out_of_the_folder_have_no_image(tmp_path):
    Image = pytest.importorskip("PIL.Image")
    Image.new("L", (10, 10), 9).save(tmp_path / "outside.png")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "link.png").symlink_to(tmp_path / "outside.png")
    (tmp_path / "in" / "page.svg").write_text("<svg/>")
    (tmp_path / "in" / "rows.csv").write_text("path,x\nlink.png,1\npage.svg,2\n\x00,3\n")
    found = read_material(tmp_path / "in" / "rows.csv", images="path")
    assert [found.images(k) for k in range(3)] == [None, None, None]
    with pytest.raises(DataFileError, match=r"it holds 0 images; .* links lead out .*: link\.png"):
        read_material(tmp_path / "in")
    for name in ("a.png", "b.png"):
        (tmp_path / "in" / name).write_text("no picture")
    with pytest.raises(DataFileError, match=r"a\.png cannot be read as a picture"):
        read_material(tmp_path / "in")


def test_links_out_of_the_folder_have_no_text(tmp_path):
    pytest.importorskip("tokenizers")
    (tmp_path / "secret.txt").write_text("the password")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "link.txt").symlink_to(tmp_path / "secret.txt")
    for k in range(2):
        (tmp_path / "in" / f"{k}.txt").write_text(f"words {k}")
    found = read_material(tmp_path / "in")
    assert found.X[:, 0].tolist() == ["words 0", "words 1"]
    assert any("links lead out of the folder: link.txt" in note for note in found.notes)


def test_broken_images_are_named_and_the_others_are_labelled(tmp_path):
    Image = pytest.importorskip("PIL.Image")
    for k in range(4):
        Image.new("L", (60, 60), 60 * k).save(tmp_path / f"{k}.png")
    good = (tmp_path / "1.png").read_bytes()
    (tmp_path / "1.png").write_bytes(good[: len(good) // 2])  # cut off
    (tmp_path / "5.jpg").write_text("no picture")
    (tmp_path / "rows.csv").write_text("path,label\n0.png,a\n1.png,b\n2.png,c\n5.jpg,d\n3.png,e\n")
    for found in (
        read_material(tmp_path),
        read_material(tmp_path / "rows.csv", images="path"),
    ):
        assert any("cannot be read as pictures: 1.png, 5.jpg." in note for note in found.notes)
        assert [Path(path).name for path in found.X[:, 0]] == ["0.png", "2.png", "3.png"]
        assert len(found.vectors) == 3 and np.all(np.diff(found.vectors[:, 0]) > 0)
        assert [found.line(row, "x")[0] for row in range(3)] == ["0.png", "2.png", "3.png"]
        assert [found.images(row).name for row in range(3)] == ["0.png", "2.png", "3.png"]
    assert found.given.tolist() == ["a", "c", "e"]


def test_images_in_the_cache_are_not_decoded_again(tmp_path, monkeypatch):
    Image = pytest.importorskip("PIL.Image")
    monkeypatch.setenv("GRAPHKM_CACHE", str(tmp_path / "cache"))
    (tmp_path / "in").mkdir()
    for k in range(3):
        Image.new("L", (10, 10), 100 * k).save(tmp_path / "in" / f"{k}.png")
    first = read_material(tmp_path / "in")
    monkeypatch.setattr("graphkm.embed.images.read_picture", None)  # it would fail
    monkeypatch.setattr("graphkm.embed.pictures.read_picture", None)
    assert np.array_equal(read_material(tmp_path / "in").vectors, first.vectors)


def test_odd_images_are_read_or_named(tmp_path):
    Image = pytest.importorskip("PIL.Image")
    (tmp_path / "zero.png").touch()
    Image.new("1", (10_000, 5_000)).save(tmp_path / "large.png")  # 50 megapixels
    frames = [Image.new("L", (20, 20), 90 * k) for k in range(3)]
    frames[0].save(tmp_path / "moving.gif", save_all=True, append_images=frames[1:])
    Image.new("CMYK", (20, 20), (200, 10, 10, 10)).save(tmp_path / "print.jpg")
    Image.new("L", (20, 20), 9).save(tmp_path / "scan.tif")
    found = read_material(tmp_path)
    assert [found.line(row, "x")[0] for row in range(3)] == ["large.png", "moving.gif", "print.jpg"]
    assert np.isfinite(found.vectors).all()
    assert any("cannot be read as pictures: zero.png." in note for note in found.notes)
    assert any("browsers do not show them: scan.tif." in note for note in found.notes)


def test_a_folder_of_texts_and_sub_folders(tmp_path):
    pytest.importorskip("tokenizers")
    for name, text in {"cat/1.txt": "meow", "dog/1.txt": "woof woof", "dog/2.txt": ""}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    found = read_material(tmp_path)
    assert found.given.tolist() == [None, None]  # folders may stand for anything
    assert any("not taken as labels" in note for note in found.notes)
    assert any("they hold no text: dog/2.txt" in note for note in found.notes)
    assert found.columns() == ["file", "label"] and found.line(1, "x") == ["dog/1.txt", "x"]
    assert found.page(0)["text"] == "meow" and found.page(0)["cells"] == [("file", "cat/1.txt")]
    (tmp_path / "Unlabelled").mkdir()
    (tmp_path / "Unlabelled" / "1.txt").write_text("who?")
    found = read_material(tmp_path)
    assert found.given.tolist() == [None, "cat", "dog"]
    assert any("sub-folders are labels: cat, dog." in note for note in found.notes)


def test_a_file_of_labels_with_word_columns_is_replaced_and_kept(tmp_path):
    pytest.importorskip("tokenizers")
    found = read_material(write(tmp_path / "rows.csv", "body\na b\nc d\ne f\n"), text="body")
    journal = Journal(tmp_path / "labels.csv", found)
    journal.add(Answer(1, "label", "x"))
    journal.close()
    old = "body,words_1,words_2,label\nc d,0.5,-0.25,x\n"  # as it was before
    (tmp_path / "labels.csv").write_text(old)
    Journal(tmp_path / "labels.csv", found).close()
    assert read_labels(tmp_path / "labels.csv") == [["body", "label"], ["c d", "x"]]
    assert (tmp_path / "labels.csv.previous").read_text() == old


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("x,z\n1,2\n", {}, "1 rows; two at least"),
        (
            "name\n" + "".join(f"n{k}\n" for k in range(30)),
            {},
            "no feature is left .*different texts",
        ),
        ("", {}, "is empty"),
        ("x\n1e200\n-1e200\n", {}, "squares overflow"),
        ("x,z\n", {}, "holds no rows"),
        ("x,label\n1,2\n3,cat\n", {"regression": True}, "row 2: the label 'cat' is not a number"),
        ("x\n1\n2\n", {"label": "kind"}, "--label kind"),
        ("x,x\n1,2\n3,4\n", {}, "several columns are called 'x'"),
        ("x,z\n1,2\n3\n", {}, "1 fields where 2 are expected"),
    ],
)
def test_files_that_cannot_be_labelled(tmp_path, text, options, words):
    with pytest.raises(DataFileError, match=words):
        read_material(write(tmp_path / "rows.csv", text), **options)


# ------------------------------------------------------------------- journal


def test_answers_survive_and_the_file_of_labels_is_exact(tmp_path, rows):
    material, _ = rows
    out = tmp_path / "labels.csv"
    journal = Journal(out, material)
    journal.add(Answer(3, "label", "a"))
    journal.add(Answer(5, "label", 'b, "quoted"'))
    journal.add(Answer(3, "label", "c"))  # changed
    journal.add(Answer(7, "unknown"))
    journal.add(Answer(8, "label", "a"))
    journal.add(Answer(8, "undo"))
    assert journal.labels() == {3: "c", 5: 'b, "quoted"'}
    journal.close()
    again = Journal(out, material)
    assert again.answers == journal.answers
    table = read_labels(out)
    assert table[0] == ["x", "z", "label"]
    assert {line[2] for line in table[1:]} == {"c", 'b, "quoted"'}
    np.testing.assert_array_equal(
        [[float(v) for v in line[:2]] for line in table[1:]], material.X[[3, 5]]
    )
    again.close()


def test_the_line_is_on_the_disk_before_add_returns(tmp_path, rows, monkeypatch):
    material, _ = rows
    journal = Journal(tmp_path / "labels.csv", material)
    flushed = []
    monkeypatch.setattr("os.fsync", lambda handle: flushed.append(handle))
    journal.add(Answer(1, "label", "a"))
    assert journal.file.handle.fileno() in flushed
    lines = (tmp_path / "labels.csv.journal").read_text().splitlines()
    assert json.loads(lines[-1])["label"] == "a"
    journal.close()


def test_a_full_disk_loses_nothing_that_was_acknowledged(tmp_path, rows, monkeypatch):
    material, _ = rows
    out, real, full = tmp_path / "labels.csv", os.fsync, []

    def fsync(handle):
        if len(full) == 1:  # for the first flush that follows
            full.append(handle)
            raise OSError(errno.ENOSPC, "No space left on device")
        real(handle)

    journal = Journal(out, material)
    journal.add(Answer(1, "label", "a"))
    before = journal.place.read_bytes()
    monkeypatch.setattr("os.fsync", fsync)
    full.append(None)
    with pytest.raises(OSError, match="No space"):
        journal.add(Answer(2, "label", "b"))
    assert journal.place.read_bytes() == before and journal.labels() == {1: "a"}
    journal.add(Answer(3, "label", "c"))
    journal.close()
    again = Journal(out, material)
    assert again.labels() == {1: "a", 3: "c"}
    assert [line[-1] for line in read_labels(out)[1:]] == ["a", "c"]
    # The journal has the answer, and the file of labels could not be written: it is made anew.
    monkeypatch.setattr(again._material.__class__, "line", None)
    with pytest.raises(TypeError):
        again.add(Answer(4, "label", "d"))
    monkeypatch.undo()
    again.add(Answer(5, "label", "e"))
    assert sorted(line[-1] for line in read_labels(out)[1:]) == ["a", "c", "d", "e"]
    again.close()


def test_a_torn_line_is_dropped_and_a_damaged_one_refused(tmp_path, rows):
    material, _ = rows
    out, place = tmp_path / "labels.csv", tmp_path / "labels.csv.journal"
    journal = Journal(out, material)
    journal.add(Answer(1, "label", "a"))
    journal.close()
    with place.open("ab") as file:
        file.write(b'{"row": 2, "kind": "la')  # killed while writing
    journal = Journal(out, material)
    assert journal.labels() == {1: "a"}
    journal.add(Answer(4, "label", "b"))
    journal.close()
    journal = Journal(out, material)
    assert journal.labels() == {1: "a", 4: "b"}
    journal.close()
    text = place.read_text().replace('"row": 1', '"row": 10000')
    place.write_text(text)
    with pytest.raises(JournalError, match="line 2 is damaged"):
        Journal(out, material)


@pytest.mark.long
def test_every_flipped_bit_of_the_journal_is_noticed(tmp_path, rows):
    material, _ = rows
    out, place = tmp_path / "labels.csv", tmp_path / "labels.csv.journal"
    journal = Journal(out, material)
    journal.add(Answer(1, "label", "cat"))
    journal.add(Answer(2, "label", "dog"))
    journal.close()
    whole = place.read_bytes()
    second = whole.index(b"\n") + 1
    for bit in [*range(0, 8 * second, 41), *range(8 * second, 8 * len(whole))]:
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        place.write_bytes(damaged)
        try:
            again = Journal(out, material)
        except JournalError:
            continue
        # The last line's end alone: the line has its checksum, and is taken for what it is.
        assert bit // 8 == len(whole) - 1 and again.labels() == {1: "cat", 2: "dog"}
        again.close()
        assert place.read_bytes() == whole
    lines = whole.splitlines(keepends=True)
    place.write_bytes(lines[0] + lines[1] + lines[2].split(b', "crc32"')[0] + b"}\n")
    with pytest.raises(JournalError, match=r"line 3 is damaged \(it has no checksum\)"):
        Journal(out, material)


def test_a_journal_without_checksums_is_read_and_continued(tmp_path, rows):
    material, _ = rows
    out, place = tmp_path / "labels.csv", tmp_path / "labels.csv.journal"
    old = [
        {"graphkm": 1, "rows": material.fingerprint()},
        {"row": 1, "kind": "label", "label": "a", "said": None, "how": "check"},
    ]
    place.write_text("".join(json.dumps(line) + "\n" for line in old))
    journal = Journal(out, material)
    journal.add(Answer(2, "label", "b"))
    journal.close()
    journal = Journal(out, material)
    assert journal.labels() == {1: "a", 2: "b"}
    journal.close()


@pytest.mark.xdist_group("limits")
def test_a_file_of_labels_that_cannot_grow_refuses_no_answer(tmp_path):
    resource = pytest.importorskip("resource")
    cells = "\n".join(f"{k}," + "x" * 900 + str(k) for k in range(40))  # long lines of labels
    material = read_material(write(tmp_path / "rows.csv", f"x,name\n{cells}\n"), drop=["name"])
    out = tmp_path / "labels.csv"
    session = Alone(material, Journal(out, material))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8000, limits[1]))  # bytes of a file
    try:
        for row in range(20):
            state = session.answer(row, "label", f"c{row % 2}")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (
        state["labelled"] == 20 and "Your answers are kept in labels.csv.journal" in state["behind"]
    )
    assert len(read_labels(out)) < 21
    assert session.answer(20, "label", "c0")["behind"] == ""
    assert len(read_labels(out)) == 22
    session.end()
    again = Journal(out, material)
    assert len(again.labels()) == 21
    again.close()


def test_what_was_changed_by_hand_in_the_file_of_labels_is_kept(tmp_path, rows):
    material, _ = rows
    out, kept = tmp_path / "labels.csv", tmp_path / "labels.csv.previous"
    journal = Journal(out, material)
    journal.add(Answer(1, "label", "a"))
    before = out.read_bytes()
    journal.add(Answer(2, "label", "b"))
    journal.close()
    out.write_bytes(before)  # as if the process was killed before the second line
    Journal(out, material).close()
    assert not kept.exists()
    changed = before.replace(b",a\n", b",c\n")
    out.write_bytes(changed)
    Journal(out, material).close()
    assert kept.read_bytes() == changed and [line[-1] for line in read_labels(out)[1:]] == [
        "a",
        "b",
    ]


def test_other_rows_a_foreign_file_and_a_second_page_are_refused(tmp_path, rows):
    material, _ = rows
    out = tmp_path / "labels.csv"
    journal = Journal(out, material)
    with pytest.raises(JournalError, match="in use"):
        Journal(out, material)
    journal.close()
    other = read_material(write(tmp_path / "other.csv", "x,z\n1,2\n3,4\n"))
    with pytest.raises(JournalError, match="belongs to other rows"):
        Journal(out, other)
    foreign = write(tmp_path / "mine.csv", "x,z,label\n")
    with pytest.raises(JournalError, match="not written by the labelling page"):
        Journal(foreign, material)
    assert foreign.read_text() == "x,z,label\n"


# ---------------------------------------------------------------- live model


def test_the_live_model_is_ridge_regression_and_its_held_out_answers_are_true(rows):
    material, truth = rows
    X = material.X / material.X.std(axis=0)
    cover = Cover(X)
    model = LiveModel(X, cover)
    known = np.random.default_rng(0).permutation(120)[:15]
    targets = np.eye(4)[truth[known]]
    fit = model.fit(known, targets)
    share, reach, width, noise = fit.setting

    def kernel(a, b):
        near = rbf_kernel(X[a], X[b], gamma=(1.0, 4.0)[width] * model._gamma)
        return (1 - share) * near + share * cover.covariance(b, a, (0.1, 0.01)[reach])

    def scores(where, rows, wanted, mean):
        K = kernel(rows, rows) + noise * np.eye(len(rows))
        return mean + kernel(where, rows) @ np.linalg.solve(K, wanted - mean)

    mean = targets.mean(axis=0)
    everywhere = scores(np.arange(120), known, targets, mean)
    np.testing.assert_allclose(fit.scores, everywhere, atol=1e-4)
    for k in range(15):
        others = np.arange(15) != k
        alone = scores(known[[k]], known[others], targets[others], mean)
        np.testing.assert_allclose(fit.held_out[[k]], alone, atol=1e-4)
    assert np.mean(fit.scores.argmax(axis=1) == truth) > 0.95


def literal_landmarks(kernel, landmarks, rows, targets, mean, noise, where):
    """Return kernel ridge regression over landmarks by its normal equations."""
    K = kernel(rows, landmarks)
    own = kernel(landmarks, landmarks) + 1e-6 * np.eye(len(landmarks))
    weights = np.linalg.solve(K.T @ K + noise * own, K.T @ (targets - mean))
    return mean + kernel(where, landmarks) @ weights


@pytest.mark.dear
@pytest.mark.parametrize("seed", [0, 1])
def test_of_many_labels_landmarks_are_left_and_held_out_answers_stay_true(rows, monkeypatch, seed):
    monkeypatch.setattr("graphkm.app.live_model._LANDMARKS", 25)
    material, truth = rows
    X = material.X / material.X.std(axis=0)
    cover = Cover(X)
    model = LiveModel(X, cover)
    assert model._near.shape == (120, 25)
    known = np.random.default_rng(seed).permutation(120)[:50]
    targets = np.eye(4)[truth[known]]
    targets[3] = np.roll(targets[3], 1)  # a wrong label
    fit = model.fit(known, targets)
    share, reach, width, noise = fit.setting

    def kernel(a, b):
        near = rbf_kernel(X[a], X[b], gamma=(1.0, 4.0)[width] * model._gamma)
        return (1 - share) * near + share * cover.covariance(b, a, (0.1, 0.01)[reach])

    mean, landmarks = targets.mean(axis=0), model._landmarks
    found = literal_landmarks(kernel, landmarks, known, targets, mean, noise, np.arange(120))
    np.testing.assert_allclose(fit.scores, found, atol=2e-3)
    assert np.isin(known, landmarks).any() and not np.isin(known, landmarks).all()
    for k, row in enumerate(known):
        others, left = np.arange(50) != k, landmarks[landmarks != row]
        alone = literal_landmarks(
            kernel, left, known[others], targets[others], mean, noise, known[[k]]
        )
        np.testing.assert_allclose(fit.held_out[[k]], alone, atol=2e-3)


@pytest.mark.long
def test_labels_that_come_go_and_change_leave_the_model_that_is_fitted_at_once(rows, monkeypatch):
    monkeypatch.setattr("graphkm.app.live_model._LANDMARKS", 25)
    material, truth = rows
    X = material.X / material.X.std(axis=0)
    cover, rng = Cover(X), np.random.default_rng(0)
    model, known = LiveModel(X, cover), list(range(20))
    targets = np.eye(4)[truth]
    for step in range(60):  # over the border between few labels and many, and back
        if step < 35 or step > 50:
            known.append(next(r for r in rng.permutation(120).tolist() if r not in known))
        else:
            known.remove(known[int(rng.integers(len(known)))])
        targets[rng.integers(120)] = np.eye(4)[rng.integers(4)]
        chosen = np.array(known)
        fit = model.fit(chosen, targets[chosen])
        if step % 10 == 0 or 4 < step < 8:
            again = LiveModel(X, cover)
            again._landmarks, again._enough_for = model._landmarks, model._enough_for
            once = again.fit(chosen, targets[chosen])
            assert fit.setting == once.setting
            for name in ("scores", "held_out", "without"):
                np.testing.assert_allclose(getattr(fit, name), getattr(once, name), atol=1e-3)


@pytest.mark.long
def test_no_label_adds_to_the_memory_of_the_model(monkeypatch):
    monkeypatch.setattr("graphkm.app.live_model._LANDMARKS", 40)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    model, sizes = LiveModel(X, Cover(X)), []
    for n in (50, 400, 800):
        known = np.arange(n)
        model.fit(known, np.eye(2)[(X[known, 0] > 0).astype(int)])
        pieces = [*vars(model).values()]
        pieces += [value for one in model._machines.values() for value in vars(one).values()]
        sizes.append(sum(v.nbytes for v in pieces if isinstance(v, np.ndarray)))
    # A label has 40 features of four bytes and a leverage, in three machines of two matrices each.
    # A column of kernel values alone would have 8,000 bytes.
    assert sizes[2] - sizes[0] <= 3 * (800 * (40 * 4 + 8) + 2 * 40 * 40 * 8)


def test_wilson_is_that_of_statsmodels():
    # statsmodels.stats.proportion.proportion_confint(45, 50, method="wilson")
    np.testing.assert_allclose(wilson(0.9, 50), (0.786397, 0.956524), atol=1e-4)
    assert wilson(1.0, 10)[1] == 1.0 and wilson(0.0, 10)[0] == 0.0


# ------------------------------------------------------------------- session


def test_neighbours_are_labelled_rows_in_the_order_of_the_cosine():
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(50, 6)) + 3.0
    known = np.arange(0, 50, 2)
    centred = vectors - vectors.mean(axis=0)
    for row in (0, 7):
        others = known[known != row]
        cosines = cosine_similarity(centred[[row]], centred[others])[0]
        best = np.argsort(-cosines)[:3]
        found = Neighbours(vectors)(row, known)
        assert [other for other, _ in found] == others[best].tolist()
        np.testing.assert_allclose([alike for _, alike in found], cosines[best], rtol=1e-6)
    assert Neighbours(vectors)(0, np.array([0])) == []
    assert Neighbours(np.ones((3, 2)))(0, np.array([1, 2])) == []  # all alike: nothing stands out


@pytest.fixture
def session(tmp_path, rows):
    material, truth = rows
    made = Alone(material, Journal(tmp_path / "labels.csv", material))
    made.start()
    yield made, truth
    made.end()


def settled(session):
    end = time.monotonic() + 60
    while True:
        state = session.state()
        if state["current"]:
            return state
        assert time.monotonic() < end, state
        time.sleep(0.02)


def test_a_session_learns_from_start_to_end(session):
    session, truth = session
    state = settled(session)
    for _ in range(40):
        row = state["queue"][0]
        session.answer(row, "label", f"class {truth[row]}")
        state = settled(session)
        assert row not in state["queue"]
    drawn = [answer.how == "check" for answer in session.journal.answers[12:]]
    assert 5 <= sum(drawn) <= 9  # one in four, although the queue is made anew after every answer
    assert state["labelled"] == 40 and sorted(state["classes"]) == [f"class {k}" for k in range(4)]
    assert sum(state["counts"]) == 40
    assert state["accuracy"]["value"] > 0.9 and state["accuracy"]["rows"] >= 8
    assert state["accuracy"]["low"] < state["accuracy"]["value"] <= state["accuracy"]["high"]
    assert state["history"][-1]["labels"] == 40
    assert state["steady"]["enough"]
    colours, places = session.colours(), session.map()
    words = np.array(state["classes"])[np.array(colours["predicted"], dtype=int)]
    wanted = [f"class {truth[row]}" for row in places["rows"]]
    assert np.mean(words == wanted) > 0.95
    assert len(colours["labelled"]) == 40


def test_a_wrong_answer_is_worth_a_second_look(session):
    session, truth = session
    for row in range(40):
        session.answer(row, "label", f"c{truth[row]}")
    session.answer(50, "label", f"c{(truth[50] + 1) % 4}")
    first = settled(session)["mistakes"][0]
    assert first == {"row": 50, "label": f"c{(truth[50] + 1) % 4}", "said": f"c{truth[50]}"}
    session.answer(50, "label", f"c{truth[50]}")
    assert all(entry["row"] != 50 for entry in settled(session)["mistakes"])


def test_skip_unknown_and_undo(session):
    session, _ = session
    first, second = session.state()["queue"][:2]
    assert session.answer(first, "skip")["queue"][0] == second
    state = session.answer(second, "unknown")
    assert state["unknown"] == 1 and state["labelled"] == 0
    state = session.undo()
    assert state["queue"][0] == second and state["unknown"] == 0
    state = session.undo()
    assert state["queue"][0] == first and not state["canUndo"]
    with pytest.raises(AnswerError, match="no answer to take back"):
        session.undo()


def test_changed_answers(session):
    session, _ = session
    session.answer(5, "unknown")
    session.answer(5, "label", "a")
    assert session.state()["unknown"] == 0  # it is known now
    session.answer(5, "label", "b")
    assert session.undo()["counts"] == [1, 0] and session.row(5)["label"] == "a"


def test_few_rows_one_class_and_rows_that_are_all_alike(tmp_path):
    for name, lines in (("few", "1,2\n3,4\n5,6\n"), ("alike", "1,1\n" * 12)):
        material = read_material(write(tmp_path / f"{name}.csv", "x,z\n" + lines))
        session = Alone(material, Journal(tmp_path / f"{name}_labels.csv", material))
        session.start()
        for k in range(len(material)):
            row = settled(session)["queue"][0]
            state = session.answer(row, "label", "ab"[k == len(material) - 1])
        assert state["queue"] == [] and state["labelled"] == len(material)
        state = settled(session)
        assert state["learning"] == "" and len(session.colours()["predicted"]) == len(material)
        json.dumps([state, session.map()], allow_nan=False)
        session.end()


def test_a_model_is_written_once_at_a_time(tmp_path, rows):
    material, _ = rows
    began, go_on = threading.Event(), threading.Event()

    def save(labels):
        began.set()
        assert go_on.wait(30)
        return "saved"

    session = Alone(material, Journal(tmp_path / "labels.csv", material), save=save)
    first = threading.Thread(target=session.write_model)
    first.start()
    assert began.wait(30)
    with pytest.raises(AnswerError, match="being trained already"):
        session.write_model()
    session.answer(0, "label", "a")  # which need not wait
    go_on.set()
    first.join()
    assert session.write_model() == "saved"
    session.end()


@pytest.mark.long
def test_the_rows_that_are_looked_at_stay_while_the_model_changes(session):
    session, truth = session
    settled(session)
    for row in range(30):
        session.answer(row, "label", f"c{truth[row]}")
        head = session.state()["queue"][:2]
        settled(session)
        assert session.state()["queue"][:2] == head


@pytest.mark.parametrize(
    ("label", "words"),
    [
        (None, "empty"),
        ("  ", "empty"),
        ("x" * 201, "letters"),
        ("a\nb", "one line"),
        ("NaN", "marks rows without a label"),
        ("\ud800", "no text"),
        ("a\x00b", "no text"),
    ],
)
def test_answers_that_are_refused(session, label, words):
    session, _ = session
    with pytest.raises(AnswerError, match=words):
        session.answer(0, "label", label)
    with pytest.raises(AnswerError, match="no row 120"):
        session.answer(120, "skip")
    state = session.state()
    assert state["labelled"] == 0 and state["classes"] == []
    json.dumps(state, ensure_ascii=False).encode()  # as the server sends it


def test_a_class_is_the_same_in_any_case_unless_both_were_named(tmp_path, rows, session):
    session, _ = session
    session.answer(0, "label", "cat")
    assert session.answer(1, "label", " Cat ")["classes"] == ["cat"]
    session.answer(2, "label", "Caf\u00e9")
    assert session.answer(3, "label", "cafe\u0301")["counts"] == [2, 2]
    assert session.journal.labels()[1] == "cat"
    material, _ = rows
    both = Alone(material, Journal(tmp_path / "b.csv", material), classes=["a", "A"])
    both.answer(0, "label", "a")
    state = both.answer(1, "label", "A")
    assert state["counts"] == [1, 1] and "'a' and 'A' differ only" in state["notes"][-1]
    both.end()
    text = "x,label\n1,dog\n2,Cat \n3,Dog\n4,\n"
    found = read_material(write(tmp_path / "given.csv", text))
    assert found.given.tolist() == ["dog", "Cat", "Dog", None]  # files are taken at their word
    given = Alone(found, Journal(tmp_path / "c.csv", found))
    assert "'dog' and 'Dog' differ only" in given.state()["notes"][-1]
    assert given.answer(3, "label", "CAT")["counts"] == [1, 2, 1]
    given.end()


def test_two_tabs_that_answer_the_same_row_are_told(session):
    session, _ = session
    seen = session.row(5)["answer"]
    assert seen is None
    session.answer(5, "label", "dog", seen)  # the first tab
    with pytest.raises(MeanwhileError, match=r"row 6 meanwhile: it has the answer 'dog'"):
        session.answer(5, "label", "cat", seen)
    with pytest.raises(MeanwhileError):
        session.answer(5, "unknown", None, seen)
    assert session.row(5)["label"] == "dog" and session.state()["classes"] == ["dog"]
    session.answer(5, "label", "dog", seen)  # the same answer is no conflict
    session.answer(5, "label", "cat", session.row(5)["answer"])  # nor one to what is there now
    assert session.row(5)["label"] == "cat"
    last = session.state()["recent"][0]
    session.answer(6, "unknown", None, None)
    with pytest.raises(MeanwhileError, match='row 7 has the answer "do not know"'):
        session.undo(last)
    session.undo(session.state()["recent"][0])
    assert session.undo(session.state()["recent"][0])["recent"][0]["label"] == "dog"


@pytest.mark.long
@pytest.mark.parametrize("unit", [2e4, 2e-6])
def test_quantities_and_fixed_classes(tmp_path, rows, unit):
    material, _ = rows
    journal = Journal(tmp_path / "labels.csv", material)
    session = Alone(material, journal, regression=True)
    session.start()
    for bad in ("much", "nan", "inf", "1_000", "1,5", "1e300"):
        with pytest.raises(AnswerError, match=r"not a number|not finite|square overflows"):
            session.answer(0, "label", bad)
    for row in range(0, 120, 3):
        session.answer(row, "label", repr(float(unit * material.X[row, 0])))
    state = settled(session)
    wanted = unit * material.X[session.map()["rows"], 0]
    found = np.array(session.colours()["predicted"])
    assert np.abs(found - wanted).mean() < 0.2 * wanted.std()
    assert state["shares"] == []
    session.end()
    fixed = Alone(material, Journal(tmp_path / "b.csv", material), classes=["a", "b"])
    with pytest.raises(AnswerError, match="not one of the classes a, b"):
        fixed.answer(0, "label", "c")
    fixed.end()


@pytest.mark.long
def test_a_restart_draws_the_same_curve(tmp_path, rows):
    material, truth = rows
    first = Alone(material, Journal(tmp_path / "labels.csv", material))
    first.start()
    for _ in range(40):
        row = settled(first)["queue"][0]
        first.answer(row, "label", f"c{truth[row]}")
    before = settled(first)
    first.end()
    again = Alone(material, Journal(tmp_path / "labels.csv", material))
    again.start()
    after = settled(again)
    again.end()
    assert after["labelled"] == 40 and after["accuracy"] == before["accuracy"]
    assert len(after["history"]) >= 2
    known = {point["labels"]: point["value"] for point in before["history"]}
    assert all(known.get(p["labels"], p["value"]) == p["value"] for p in after["history"])
