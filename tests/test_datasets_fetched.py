"""The fetchers on the real files, where they are at hand: sizes, classes, ranges, splits."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from graphkm import datasets
from graphkm.datasets import reading
from graphkm.datasets.catalog import CATALOG
from graphkm.datasets.storage import obtain
from graphkm.io.files import open_source

_FOLDER = Path(
    os.environ.get("GRAPHKM_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data"
)


@pytest.fixture
def fetch(monkeypatch):
    """Return a function that fetches a set by name, without a network."""
    monkeypatch.setattr("graphkm.datasets.storage.download", None)

    def fetch(name, **options):
        try:
            return datasets.fetch_dataset(
                name, data_home=_FOLDER, download_if_missing=False, **options
            )
        except datasets.DamagedFileError:
            raise
        except datasets.DatasetError as error:
            pytest.skip(str(error))

    return fetch


# From the public descriptions of the sets: rows, features, rows per class.
_SIZES = {
    "a1a": (1605, 123, [1210, 395]),
    "australian": (690, 14, [383, 307]),
    "cod_rna": (59535, 8, [39690, 19845]),
    "coil20": (1440, 1024, [72] * 20),
    "covtype": (581012, 54, [297711, 283301]),
    "g50c": (550, 50, [275, 275]),
    "ijcnn1": (49990, 22, [45137, 4853]),
    "mnist": (70000, 784, [6903, 7877, 6990, 7141, 6824, 6313, 6876, 7293, 6825, 6958]),
    "mushrooms": (8124, 112, [3916, 4208]),
    "ssl_digit1": (1500, 241, [766, 734]),
    "ssl_g241c": (1500, 241, [750, 750]),
    "ssl_text": (1500, 11960, [750, 750]),
    "ssl_usps": (1500, 241, [1200, 300]),
    "svmguide1": (3089, 4, [1089, 2000]),
    "svmguide2": (391, 20, [221, 117, 53]),
    "svmguide3": (1243, 22, [947, 296]),
    "usps": (9298, 256, [1553, 1269, 929, 824, 852, 716, 834, 792, 708, 821]),
    "uspst": (2007, 256, [327, 273, 206, 178, 196, 140, 174, 173, 160, 180]),
    "w5a": (9888, 300, [9607, 281]),
    "w8a": (49749, 300, [48270, 1479]),
}
_SPARSE = {"a1a", "mushrooms", "ssl_text", "w5a", "w8a"}
_SINGLE = {"covtype", "mnist"}
_SSL_BOOK = ("digit1", "g241c", "text", "usps")
_UNIT_RANGE = {"coil20", "covtype", "mnist", "a1a", "mushrooms", "w5a", "w8a"}
_SIGNED_RANGE = {"australian", "cod_rna", "svmguide1", "usps"}


def test_sizes_cover_the_catalogue():
    assert {info.name for info in datasets.list_datasets()} == set(_SIZES)


@pytest.mark.long
@pytest.mark.parametrize("name", _SIZES)
def test_sizes_classes_and_ranges(fetch, name):
    rows, features, counts = _SIZES[name]
    bunch = fetch(name)
    X, y = bunch.data, bunch.target
    assert X.shape == (rows, features)
    assert y.dtype == np.int64
    np.testing.assert_array_equal(np.bincount(y), counts)
    assert len(bunch.target_names) == len(counts)
    assert sparse.issparse(X) == (name in _SPARSE)
    assert X.dtype == (np.float32 if name in _SINGLE else np.float64)
    if name in _UNIT_RANGE:
        assert (X.min(), X.max()) == (0, 1)
    if name in _SIGNED_RANGE:
        assert (X.min(), X.max()) == (-1, 1)
    info = next(one for one in datasets.list_datasets() if one.name == name)
    assert info.features == features
    assert info.source in bunch.DESCR


@pytest.mark.parametrize(
    ("name", "n_splits", "n_labels"),
    [
        ("g50c", 10, 50),
        ("uspst", 10, 50),
        *(
            (f"ssl_{name}", 12, n)
            for name in ("digit1", "g241c", "text", "usps")
            for n in (10, 100)
        ),
    ],
)
def test_official_splits(fetch, name, n_splits, n_labels):
    options = {"n_labels": n_labels} if name.startswith("ssl_") else {}
    bunch = fetch(name, **options)
    assert len(bunch.splits) == n_splits
    for rows in bunch.splits:
        assert len(set(rows)) == len(rows) == n_labels
        assert rows.min() >= 0
        assert rows.max() < len(bunch.target)
        # Splits in which a class has no label were left out by their makers.
        assert set(bunch.target[rows]) == set(range(len(bunch.target_names)))
    dataset = CATALOG[name]
    file = dataset.splits[n_labels] if dataset.splits else dataset.parts["train"][0]
    lists = obtain(file, _FOLDER)
    for rows, rest in zip(bunch.splits, lists["unlabeled"], strict=True):
        # The files count from 1, and name every row once.
        everything = np.sort(np.concatenate([rows, rest.astype(int) - 1]))
        np.testing.assert_array_equal(everything, np.arange(len(bunch.target)))


@pytest.mark.dear
@pytest.mark.parametrize(("name", "file"), [("australian", "australian"), ("cod_rna", "cod-rna")])
def test_scaling_agrees_with_published_scaled_files(fetch, name, file):
    X, y = fetch(name, return_X_y=True)
    path = _FOLDER / f"{file}_scale.libsvm.bz2"
    if not path.exists():
        pytest.skip(f"{path} is absent")
    expected, labels = load_svmlight_file(str(path), n_features=X.shape[1])
    np.testing.assert_allclose(X, expected.toarray(), atol=6e-6)  # printed with six digits
    np.testing.assert_array_equal(y, labels > 0)


@pytest.mark.long
def test_covtype_with_all_its_classes_and_raw(fetch):
    bunch = fetch("covtype", binary=False, scaled=False)
    np.testing.assert_array_equal(
        np.bincount(bunch.target), [211840, 283301, 35754, 2747, 9493, 17367, 20510]
    )
    np.testing.assert_array_equal(
        bunch.data[0, :10], [2596, 51, 3, 258, 0, 510, 221, 232, 148, 6279]
    )
    assert (bunch.data.min(), bunch.data.max()) == (-173, 7173)
    assert len(set(bunch.feature_names)) == 54
    assert bunch.target_names[1] == "Lodgepole Pine"


@pytest.mark.dear
@pytest.mark.parametrize(
    ("name", "n_train", "n_test"),
    [
        ("a1a", 1605, 30956),
        ("svmguide1", 3089, 4000),
        ("usps", 7291, 2007),
        ("mnist", 60000, 10000),
    ],
)
def test_parts(fetch, name, n_train, n_test):
    train, test, both = (fetch(name, subset=s).data for s in ("train", "test", "all"))
    assert (train.shape[0], test.shape[0], both.shape[0]) == (n_train, n_test, n_train + n_test)
    assert abs(both[:n_train] - train).max() == 0
    assert abs(both[n_train:] - test).max() == 0
    info = next(one for one in datasets.list_datasets() if one.name == name)
    assert info.rows == n_train + n_test


def test_the_paper_s_two_digits(fetch):
    X, y = fetch("uspst", classes=(0, 1), return_X_y=True)
    assert X.shape == (600, 256)
    np.testing.assert_array_equal(np.bincount(y), [327, 273])


def test_w5a_is_a_part_of_w8a(fetch):
    small, large = (
        {
            (row.tobytes(), label)
            for row, label in zip(X.toarray().astype(np.uint8), y.tolist(), strict=True)
        }
        for X, y in (fetch(name, return_X_y=True) for name in ("w5a", "w8a"))
    )
    assert small <= large


# ------------------------------------------------------- as their homes have them

_FILES = {
    file.name: file
    for one in CATALOG.values()
    for file in [f for part in one.parts.values() for f in part] + list(one.splits.values())
}


@pytest.mark.slow
@pytest.mark.parametrize("name", _FILES)
def test_files_in_the_form_of_their_homes(name, tmp_path):
    """Unpacked, without a line of names, or as text: the same content under the public name."""
    file = _FILES[name]
    ((copy, read_copy),) = file.copies
    if not (_FOLDER / copy).exists():
        pytest.skip(f"{copy} is absent from {_FOLDER}")
    with open_source(_FOLDER / copy) as opened:
        content = opened.file.read()
    if name == "covtype.data.gz":
        content = content[content.index(b"\n") + 1 :]
    if name.startswith("usps."):
        content = _libsvm_text(**reading.read_file(_FOLDER / copy, read_copy))
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    obtain(file, tmp_path, download_if_missing=False)
    if file.sha256 is not None:
        assert hashlib.sha256(content).hexdigest() == file.sha256


def _libsvm_text(X, y):
    lines = (
        f"{label} " + " ".join(f"{k}:{value:.6f}" for k, value in enumerate(row, 1))
        for row, label in zip(X.tolist(), y, strict=True)
    )
    return ("\n".join(lines) + "\n").encode()
