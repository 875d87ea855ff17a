"""Reading, recognising and finding the files of data sets."""

from __future__ import annotations

import bz2
import gzip
import lzma
import sys

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat

from graphkm.datasets import DamagedFileError, DatasetError, fetch_dataset, list_datasets, reading
from graphkm.datasets.catalog import CATALOG, Dataset, PublicFile
from graphkm.datasets.loading import load, select_classes
from graphkm.datasets.reading import content_digest
from graphkm.datasets.storage import data_folder, obtain

TRAIN = np.array([[0.0, 5.0], [10.0, 7.0], [5.0, 9.0]])
TEST = np.array([[20.0, 5.0]])
NOWHERE = "http://127.0.0.1:1/never-asked"


def as_text(X, y):
    return "".join(f"{label} 1:{a} 2:{b}\n" for (a, b), label in zip(X, y, strict=True)).encode()


def tiny_file(name, X, y):
    read = reading.dense(reading.libsvm(2))
    digest = content_digest({"X": X, "y": np.array(y)})
    return PublicFile(name, NOWHERE, read, digest, copies=((f"{name}.libsvm.bz2", read),))


@pytest.fixture
def tiny(tmp_path):
    """Return a set of two parts, and its folder, in which one file is packed and one is not."""
    (tmp_path / "tiny.libsvm.bz2").write_bytes(bz2.compress(as_text(TRAIN, [-1, 1, 1])))
    (tmp_path / "tiny.t").write_bytes(as_text(TEST, [-1]))
    parts = {
        "train": (tiny_file("tiny", TRAIN, [-1, 1, 1]),),
        "test": (tiny_file("tiny.t", TEST, [-1]),),
    }
    return Dataset("tiny", "Tiny.", 4, 2, (-1, 1), "here", parts, ("no", "yes"), scale=(-1, 1))


# -------------------------------------------------------------------- digest


def test_digest_sees_values_and_not_their_packing():
    X = np.array([[0.0, 2.0], [1.5, 0.0]])
    assert content_digest({"X": X}) == content_digest({"X": np.asfortranarray(X, np.float32)})
    assert content_digest({"X": X}) == content_digest({"X": np.array([[-0.0, 2], [1.5, 0]])})
    stored_zero = sparse.csr_matrix(([2.0, 0.0, 1.5], ([0, 0, 1], [1, 0, 0])), (2, 2))
    assert content_digest({"X": stored_zero}) == content_digest({"X": sparse.csc_matrix(X)})


@pytest.mark.parametrize("kind", [np.array, sparse.csr_matrix])
def test_digest_sees_every_change(kind):
    X = np.array([[0.0, 2.0], [1.5, 0.0]])
    others = [X[::-1], X.T, X + np.eye(2)[::-1] * 1e-12, X[:, :1], np.hstack([X, np.zeros((2, 1))])]
    digests = {content_digest({"X": kind(values)}) for values in [X, *others]}
    assert len(digests) == 6
    assert content_digest({"X": kind(X)}) != content_digest({"Z": kind(X)})


def test_digest_of_more_than_one_block_of_numbers():
    X = np.zeros(2**21 + 3)
    one = content_digest({"X": X})
    X[-1] = 1
    assert content_digest({"X": X}) != one


# ------------------------------------------------------------------- formats

_PACKERS = {"plain": bytes, "bz2": bz2.compress, "gz": gzip.compress, "xz": lzma.compress}


@pytest.mark.parametrize("pack", _PACKERS.values(), ids=_PACKERS)
def test_compression_is_seen_by_content(tmp_path, pack):
    path = tmp_path / "name.says.nothing"
    path.write_bytes(pack(as_text(TRAIN, [-1, 1, 1])))
    arrays = reading.read_file(path, reading.dense(reading.libsvm(2)))
    np.testing.assert_array_equal(arrays["X"], TRAIN)
    np.testing.assert_array_equal(arrays["y"], [-1, 1, 1])


@pytest.mark.parametrize("pack", [bz2.compress, gzip.compress, lzma.compress])
def test_cut_file_is_damaged(tmp_path, pack):
    packed = pack(as_text(TRAIN, [-1, 1, 1]))
    path = tmp_path / "cut"
    path.write_bytes(packed[: len(packed) * 2 // 3])
    with pytest.raises(DamagedFileError, match="cut cannot be read"):
        reading.read_file(path, reading.libsvm(2))


def test_empty_file_is_damaged(tmp_path):
    (tmp_path / "empty").touch()
    for read in (reading.idx("X"), reading.integer_csv, reading.usps_npz("train"), reading.mat()):
        with pytest.raises(DamagedFileError):
            reading.read_file(tmp_path / "empty", read)


def test_matlab_file(tmp_path):
    rows = sparse.csc_matrix(TRAIN)
    savemat(tmp_path / "m", {"X": rows, "Y": np.array([[1], [2], [1]])}, appendmat=False)
    arrays = reading.read_file(tmp_path / "m", reading.mat(X="X", y="Y"))
    assert arrays["X"].format == "csr"
    np.testing.assert_array_equal(arrays["X"].toarray(), TRAIN)
    np.testing.assert_array_equal(arrays["y"], [1, 2, 1])
    with pytest.raises(DamagedFileError, match="absent"):
        reading.read_file(tmp_path / "m", reading.mat(X="absent"))


def test_idx_file(tmp_path):
    images = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    head = b"\0\0\x08\x03" + np.array([2, 3, 4], ">i4").tobytes()
    (tmp_path / "idx").write_bytes(gzip.compress(head + images.tobytes()))
    arrays = reading.read_file(tmp_path / "idx", reading.idx("X"))
    np.testing.assert_array_equal(arrays["X"], images.reshape(2, 12))
    (tmp_path / "idx").write_bytes(head + images.tobytes()[:-1])
    with pytest.raises(DamagedFileError):
        reading.read_file(tmp_path / "idx", reading.idx("X"))


@pytest.mark.parametrize("head", ["", "Elevation,Aspect,Cover_Type\n"])
def test_csv_with_and_without_names(tmp_path, head):
    (tmp_path / "csv").write_text(head + "1,-2,5\n3,4,6\n")
    arrays = reading.read_file(tmp_path / "csv", reading.integer_csv)
    np.testing.assert_array_equal(arrays["X"], [[1, -2], [3, 4]])
    np.testing.assert_array_equal(arrays["y"], [5, 6])


# -------------------------------------------------------------------- folder


def test_folder_is_argument_then_variable_then_cache(tmp_path, monkeypatch):
    pooch = pytest.importorskip("pooch")
    monkeypatch.setenv("GRAPHKM_DATA", str(tmp_path / "variable"))
    assert data_folder(tmp_path / "argument") == tmp_path / "argument"
    assert data_folder() == tmp_path / "variable"
    monkeypatch.setenv("GRAPHKM_DATA", "")
    assert str(data_folder()) == str(pooch.os_cache("graphkm"))


def test_present_files_need_no_network_no_pooch_and_no_writing(tiny, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    monkeypatch.setitem(sys.modules, "filelock", None)
    monkeypatch.setitem(sys.modules, "requests", None)
    monkeypatch.setenv("GRAPHKM_DATA", str(tmp_path))
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert load(tiny, subset="all").data.shape == (4, 2)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before


def test_without_pooch_says_what_to_install(tiny, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    monkeypatch.delenv("GRAPHKM_DATA", raising=False)
    with pytest.raises(ImportError, match=r'pip install "graphkm\[datasets\]"'):
        load(tiny)
    with pytest.raises(ImportError, match=r'graphkm\[datasets\]".* Place the file tiny from http'):
        load(tiny, data_home=tmp_path / "empty")


def test_without_filelock_says_what_to_install(tiny, tmp_path, monkeypatch):
    pytest.importorskip("pooch")
    monkeypatch.setitem(sys.modules, "filelock", None)
    with pytest.raises(ImportError, match=r'needs filelock: run pip install "graphkm\[datasets\]"'):
        load(tiny, data_home=tmp_path / "empty")


def test_damaged_file_is_named_and_left_alone(tiny, tmp_path):
    path = tmp_path / "tiny.libsvm.bz2"
    path.write_bytes(bz2.compress(as_text(TRAIN + 1, [-1, 1, 1])))
    before = path.read_bytes()
    with pytest.raises(DamagedFileError, match="holds other data than it should") as caught:
        load(tiny, data_home=tmp_path)
    assert str(path) in str(caught.value)
    assert "Remove this file" in str(caught.value)
    assert path.read_bytes() == before


def test_no_download_if_not_wanted(tiny, tmp_path):
    with pytest.raises(DatasetError, match=r"download_if_missing is False. Place the file tiny"):
        obtain(tiny.parts["train"][0], tmp_path / "empty", download_if_missing=False)
    assert not (tmp_path / "empty").exists()


# ------------------------------------------------------------------- loading


def test_parts_codes_and_scaling_by_the_training_rows(tiny, tmp_path):
    train = load(tiny, data_home=tmp_path)
    np.testing.assert_allclose(train.data, [[-1, -1], [1, 0], [0, 1]])
    np.testing.assert_array_equal(train.target, [0, 1, 1])
    assert train.target.dtype == np.int64
    assert train.target_names == ["no", "yes"]
    assert train.splits is None
    test = load(tiny, subset="test", data_home=tmp_path)
    np.testing.assert_allclose(test.data, [[3, -1]])
    both = load(tiny, subset="all", scaled=False, data_home=tmp_path)
    np.testing.assert_array_equal(both.data, np.vstack([TRAIN, TEST]))
    np.testing.assert_array_equal(both.target, [0, 1, 1, 0])
    with pytest.raises(ValueError, match="subset='valid' is none of 'train', 'test', 'all'"):
        load(tiny, subset="valid", data_home=tmp_path)


def test_selected_classes_are_renumbered_in_order(tiny, tmp_path):
    bunch = load(tiny, scaled=False, data_home=tmp_path)
    bunch.update(target=np.array([0, 2, 1]), target_names=["a", "b", "c"], splits=[[0]])
    chosen = select_classes(bunch, (2, 0))
    np.testing.assert_array_equal(chosen.data, TRAIN[[0, 1]])
    np.testing.assert_array_equal(chosen.target, [1, 0])
    assert chosen.target_names == ["c", "a"]
    assert chosen.splits is None
    for wrong in [(0,), (0, 0), (0, 3)]:
        with pytest.raises(ValueError, match=r"at least two different classes among 0, ..., 2"):
            select_classes(bunch, wrong)


# ------------------------------------------------------------------- catalog


def test_catalog_is_consistent():
    for one in CATALOG.values():
        assert len(one.labels) == len(one.target_names)
        assert list(one.labels) == sorted(one.labels)
        assert "train" in one.parts
    names = [info.name for info in list_datasets()]
    assert names == list(CATALOG)
    assert len(names) == 20
    files = [
        file
        for one in CATALOG.values()
        for file in [f for part in one.parts.values() for f in part] + list(one.splits.values())
    ]
    assert len({file.name for file in files}) == len({file.url for file in files}) == len(files)


@pytest.mark.parametrize("name", CATALOG)
def test_a_missing_file_is_named(name, tmp_path):
    file = CATALOG[name].parts["train"][0]
    with pytest.raises(DatasetError) as caught:
        fetch_dataset(name, data_home=tmp_path, download_if_missing=False)
    assert str(tmp_path / file.name) in str(caught.value)


def test_options_that_do_not_apply_are_refused():
    with pytest.raises(ValueError, match="scaled=True does not apply to w8a"):
        fetch_dataset("w8a", scaled=True)
    with pytest.raises(ValueError, match="n_labels=50: ssl_text has official splits of 10 or 100"):
        fetch_dataset("ssl_text", n_labels=50)
    with pytest.raises(ValueError, match="name='adult' is no data set"):
        fetch_dataset("adult")
