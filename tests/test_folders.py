"""Folders of pictures and text files as rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from graphkm.io import DataFileError
from graphkm.tables.encoders import image_views, text_views
from graphkm.tables.folders import read_folder

pytest.importorskip("PIL")


def _write(folder: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def _picture(path: Path, seed: int) -> None:
    from PIL import Image

    path.parent.mkdir(parents=True, exist_ok=True)
    noise = np.random.default_rng(seed).integers(0, 255, (9, 7), dtype=np.uint8)
    Image.fromarray(noise).save(path)


def test_folders_are_classes_and_some_names_mean_none(tmp_path):
    for k, name in enumerate(
        ("dog/b.png", "cat/2020/a.PNG", "top.png", "Unlabelled/c.png", "unknown/d.png")
    ):
        _picture(tmp_path / name, k)
    found = read_folder(tmp_path)
    assert found.kind == "images"
    assert found.names == [
        "Unlabelled/c.png", "cat/2020/a.PNG", "dog/b.png", "top.png", "unknown/d.png"
    ]  # fmt: skip
    assert found.labels == [None, "cat", "dog", None, None]
    assert found.items == [str(tmp_path / name) for name in found.names]
    assert found.notes == []


def test_broken_pictures_are_named_and_left_out(tmp_path):
    _picture(tmp_path / "cat" / "a.png", 0)
    _write(tmp_path, {"cat/empty.png": b"", "dog/junk.jpg": b"no picture", ".hidden.png": b"x"})
    found = read_folder(tmp_path)
    assert found.names == ["cat/a.png"]
    assert found.notes == [
        "Left out, because they cannot be read as pictures: cat/empty.png, dog/junk.jpg."
    ]


def test_texts_of_several_encodings(tmp_path):
    files = {
        "a/emoji.txt": "\ufeffgood 👍".encode(),
        "a/hebrew.txt": "שלום".encode(),
        "b/wide.txt": "Grüße".encode("utf-16"),
        "b/windows.txt": "Grüße".encode("cp1252"),
        "b/bytes.txt": b"\x00\x01\x02",
        "b/blank.txt": b" \n\t",
    }
    found = read_folder(_write(tmp_path, files))
    assert found.kind == "texts"
    assert dict(zip(found.names, found.items, strict=True)) == {
        "a/emoji.txt": "good 👍",
        "a/hebrew.txt": "שלום",
        "b/wide.txt": "Grüße",
        "b/windows.txt": "Grüße",
    }
    assert found.notes == [
        "Left out, because they hold no text: b/blank.txt.",
        "Left out, because they hold bytes that are no text: b/bytes.txt.",
        "Read as Windows-1252, because they are not UTF-8: b/windows.txt.",
    ]


def test_a_long_text_is_cut_between_characters(tmp_path):
    found = read_folder(_write(tmp_path, {"long.txt": b"x" + "é".encode() * 2**20}))
    assert found.notes == []
    assert set(found.items[0][1:]) == {"é"}
    assert len(found.items[0]) >= 20_000


def test_the_more_frequent_kind_counts_and_the_other_is_told(tmp_path):
    _picture(tmp_path / "a.png", 0)
    found = read_folder(_write(tmp_path, {"x.txt": b"one", "y.txt": b"two", "z.csv": b"1,2"}))
    assert found.kind == "texts"
    assert found.notes == [f"Passed over: 1 picture beside the texts of {tmp_path}."]


def test_many_lost_files_are_counted(tmp_path):
    files = {f"{k:02}.txt": b"" for k in range(13)} | {"full.txt": b"text"}
    (note,) = read_folder(_write(tmp_path, files)).notes
    assert note.endswith("08.txt, 09.txt and 3 more.")


@pytest.mark.parametrize("files", [{}, {"a.csv": b"1"}, {"a.txt": b""}, {"a.png": b"junk"}])
def test_a_folder_without_rows_is_an_error_that_names_it(tmp_path, files):
    with pytest.raises(DataFileError, match=tmp_path.name):
        read_folder(_write(tmp_path, files))


def test_usual_views():
    texts, images = text_views("auto", 3), image_views("auto", "photo")
    assert {name: column for name, (_, column) in texts.items()} == {"vectors": 3, "words": 3}
    assert [encoder.model for encoder, _ in images.values()] == ["pixels", "gradients"]
    assert image_views("model.onnx")["vectors"].model == "model.onnx"
