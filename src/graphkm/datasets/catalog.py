"""The data sets that can be fetched: their shapes, files and digests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from . import reading
from .reading import Reader

# `reading.content_digest` of every file's arrays, by its name.
_DIGESTS = dict(
    line.split() for line in Path(__file__).with_name("digests.txt").read_text().splitlines()
)
_LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"
_MNIST = "https://ossci-datasets.s3.amazonaws.com/mnist"
_SSL_BOOK = "http://olivier.chapelle.cc/ssl-book"
_CHAPELLE_ZIEN = "http://olivier.chapelle.cc/lds/"
_GITHUB = "https://raw.githubusercontent.com"
_DIGITS = tuple(map(str, range(10)))
_SIGNS = ("-1", "+1")
_SPLITS = {"labeled": "idxLabs", "unlabeled": "idxUnls"}


@dataclass(frozen=True)
class PublicFile:
    """A file at a public address.

    Its copies are other files with the same arrays. They are looked for first, and never
    downloaded.
    """

    name: str  # its path in the data folder
    url: str
    read: Reader
    digest: str  # `content_digest` of its arrays
    copies: tuple[tuple[str, Reader], ...] = ()  # paths in the data folder, and their readers
    sha256: str | None = None  # of its bytes, if known


@dataclass(frozen=True)
class Dataset:
    """A data set: its files and its description."""

    name: str
    about: str  # what its rows are
    rows: int  # of all parts
    features: int
    labels: tuple[int, ...]  # in the files; they become the codes 0, 1, ... in this order
    source: str  # where it is described
    parts: Mapping[str, tuple[PublicFile, ...]]  # "train" and perhaps "test": files with X and y
    target_names: tuple[str, ...]  # what the labels mean
    splits: Mapping[int, PublicFile] = field(default_factory=dict)  # by their number of labels
    unit: float = 1.0  # features are the numbers in the files times this
    scale: tuple[float, float] | None = None  # the range of scaled columns
    dtype: str = "float64"
    sparse: bool = False  # X has CSR rows


# --------------------------------------------------------------------- files


def _file(
    name: str, url: str, read: Reader, copy: str,
    *, read_copy: Reader | None = None, sha256: str | None = None,
) -> PublicFile:  # fmt: skip
    return PublicFile(name, url, read, _DIGESTS[name], ((copy, read_copy or read),), sha256)


def _libsvm_file(path: str, features: int, *, sparse: bool) -> PublicFile:
    read = reading.libsvm(features) if sparse else reading.dense(reading.libsvm(features))
    name = path.split("/")[-1]
    return _file(name, f"{_LIBSVM}/{path}", read, f"{name.removesuffix('.bz2')}.libsvm.bz2")


def _usps_file(name: str, subset: str) -> PublicFile:
    read, read_copy = reading.dense(reading.libsvm(256)), reading.usps_npz(subset)
    return _file(name, f"{_LIBSVM}/multiclass/{name}", read, "usps.npz", read_copy=read_copy)


def _mnist_file(name: str, array: str) -> PublicFile:
    return _file(f"mnist/{name}", f"{_MNIST}/{name}", reading.idx(array), f"mnist/mnist-{name}")


def _book_file(home: str, copy: str, **variables: str) -> PublicFile:
    name, read = f"ssl-book/{home}", reading.mat(**variables)
    return _file(name, f"{_SSL_BOOK}/{home}", read, f"ssl-book/{copy}.mat.xz")


# ---------------------------------------------------------------------- sets


def _libsvm(
    name: str, rows: int, features: int, about: str, *,
    kind: str = "binary", suffix: str = "", with_test: bool = False, sparse: bool = False,
    labels: tuple[int, ...] = (-1, 1), target_names: tuple[str, ...] = _SIGNS, **more: Any,
) -> Dataset:  # fmt: skip
    """Return a set of LIBSVM's page."""
    path = f"{kind}/{name.replace('_', '-')}"
    parts = {"train": (_libsvm_file(path + suffix, features, sparse=sparse),)}
    if with_test:
        parts["test"] = (_libsvm_file(f"{path}.t", features, sparse=sparse),)
    source = f"{_LIBSVM}/{kind}.html"
    return Dataset(
        name, about, rows, features, labels, source, parts, target_names, sparse=sparse, **more
    )


def _ssl_book(name: str, number: int, features: int, about: str) -> Dataset:
    """Return a set of the book of Chapelle, Schoelkopf and Zien, with its splits."""
    home, copy = f"SSL,set={number}", f"set{number}_{name}"
    return Dataset(
        f"ssl_{name}",
        f"{about} A benchmark of Chapelle, Schoelkopf and Zien, Semi-Supervised Learning (2006).",
        1500,
        features,
        (-1, 1),
        f"{_SSL_BOOK}/benchmarks.html",
        {"train": (_book_file(f"{home},data.mat", copy, X="X", y="y"),)},
        _SIGNS,
        {
            n: _book_file(f"{home},splits,labeled={n}.mat", f"{copy}_splits_labeled{n}", **_SPLITS)
            for n in (10, 100)
        },
        sparse=name == "text",
    )


_SETS = (
    _libsvm(
        "a1a", 32561, 123, "Census records, coded as 0 and 1: who earns more than 50,000 dollars "
        "a year? The smallest cut of UCI's Adult.",
        with_test=True, sparse=True, target_names=("<=50K", ">50K"),
    ),
    _libsvm(
        "australian", 690, 14, "Credit card applications, UCI's Statlog (Australian).",
        scale=(-1, 1),
    ),
    _libsvm("cod_rna", 59535, 8, "Detecting non-coding RNAs.", scale=(-1, 1)),
    Dataset(
        "coil20", "Photographs of 20 objects, 72 views of each, 32 x 32 pixels in [0, 1].",
        1440, 1024, tuple(range(1, 21)),
        "https://www.cs.columbia.edu/CAVE/software/softlib/coil-20.php",
        {"train": (_file(
            "COIL20.mat",
            f"{_GITHUB}/jundongl/scikit-feature/48cffad4e88ff4b9d2f1c7baffb314d1b3303792/skfeature/"
            "data/COIL20.mat",
            reading.mat(X="X", y="Y"), "coil20.mat",
            sha256="4595ebdda07f47b0eb014fcfaddc22b452f9aed9c1d9261a0d5bc336c1ee1344"),)},
        tuple(f"object {k}" for k in range(1, 21)),
    ),
    Dataset(
        "covtype", "Forest cover types from cartographic variables (Blackard and Dean).",
        581012, 54, tuple(range(1, 8)), "https://archive.ics.uci.edu/dataset/31/covertype",
        {"train": (_file(  # scikit-learn's own fetcher uses this name, too
            "covtype.data.gz", "https://ndownloader.figshare.com/files/5976039",
            reading.integer_csv, "covtype.csv.xz"),)},
        ("Spruce/Fir", "Lodgepole Pine", "Ponderosa Pine", "Cottonwood/Willow", "Aspen",
         "Douglas-fir", "Krummholz"),
        scale=(0, 1), dtype="float32",
    ),
    Dataset(
        "g50c", "Two Gaussians in 50 dimensions, Bayes error 5 % (Chapelle and Zien).",
        550, 50, (-1, 1), _CHAPELLE_ZIEN,
        {"train": (_file(
            "g50c.mat",
            f"{_GITHUB}/dancoombs/s3vm-sgd/3bfb6747be357718693c759a480f744a653c6468/data/g50c.mat",
            reading.mat(X="X", y="y", **_SPLITS), "g50c_lds.mat.xz",
            sha256="9f0d95cb5884d817c1165861b347a428bcc255566d1e74c871bd0de58b23423f"),)},
        _SIGNS,
    ),
    _libsvm(
        "ijcnn1", 49990, 22, "The IJCNN 2001 challenge as coded by its winner; training and "
        "validation rows.", suffix=".bz2",
    ),
    Dataset(
        "mnist", "Handwritten digits, 28 x 28 pixels in [0, 1].", 70000, 784, tuple(range(10)),
        "http://yann.lecun.com/exdb/mnist/",
        {part: (_mnist_file(f"{file}-images-idx3-ubyte.gz", "X"),
                _mnist_file(f"{file}-labels-idx1-ubyte.gz", "y"))
         for part, file in (("train", "train"), ("test", "t10k"))},
        _DIGITS, unit=1 / 255, dtype="float32",
    ),
    _libsvm(
        "mushrooms", 8124, 112, "Which mushrooms can be eaten? UCI's Mushroom, coded as 0 and 1.",
        sparse=True, labels=(1, 2), target_names=("poisonous", "edible"),
    ),
    _ssl_book("digit1", 1, 241, "Artificial images of the digit 1, disguised."),
    _ssl_book("g241c", 5, 241, "Two Gaussians."),
    _ssl_book("text", 9, 11960, "Newsgroup articles, rows of norm 1."),
    _ssl_book("usps", 2, 241, "The digits 2 and 5 (+1) against the others (-1), disguised."),
    _libsvm(
        "svmguide1", 7089, 4, "Particles in astronomy, from LIBSVM's guide.",
        with_test=True, labels=(0, 1), target_names=("0", "1"), scale=(-1, 1),
    ),
    _libsvm(
        "svmguide2", 391, 20, "Bioinformatics, from LIBSVM's guide.",
        kind="multiclass", labels=(1, 2, 3), target_names=("1", "2", "3"),
    ),
    _libsvm(
        "svmguide3", 1243, 22, "Customers of a car maker, from LIBSVM's guide. Column 22 is all "
        "zeros, hence the paper's 21 features.",
    ),
    Dataset(
        "usps", "Handwritten digits of the US Postal Service, 16 x 16 pixels in [-1, 1].",
        9298, 256, tuple(range(1, 11)), f"{_LIBSVM}/multiclass.html",
        {"train": (_usps_file("usps.bz2", "train"),),
         "test": (_usps_file("usps.t.bz2", "test"),)},
        _DIGITS,
    ),
    Dataset(
        "uspst", "Digits of the US Postal Service, smoothed, pixels in [-1, 1] (Chapelle and "
        "Zien).", 2007, 256, tuple(range(10)), _CHAPELLE_ZIEN,
        {"train": (_file(
            "uspst.mat",
            f"{_GITHUB}/edche/star_svm/c96d22fd79e28287ed8b400b00d6251214cdf3e9/data/uspst.mat",
            reading.mat(X="X", y="y", **_SPLITS), "uspst_lds.mat.xz"),)},
        _DIGITS,
    ),
    _libsvm("w5a", 9888, 300, "Web pages by their words (Platt); a cut of W8A.", sparse=True),
    _libsvm("w8a", 49749, 300, "Web pages by their words (Platt).", sparse=True),
)  # fmt: skip

CATALOG: dict[str, Dataset] = {one.name: one for one in _SETS}
"""All data sets, by name."""


class DatasetInfo(NamedTuple):
    """One line of `list_datasets`."""

    name: str
    rows: int
    features: int
    classes: int
    source: str


def list_datasets() -> list[DatasetInfo]:
    """Return every data set that can be fetched: name, rows, features, classes, source.

    Rows are those of all parts, classes those of the files. `fetch_dataset` fetches a set.

    Examples
    --------
    >>> from graphkm.datasets import list_datasets
    >>> for info in list_datasets()[:2]:
    ...     print(info.name, info.rows, info.features, info.classes)
    a1a 32561 123 2
    australian 690 14 2
    """
    return [
        DatasetInfo(one.name, one.rows, one.features, len(one.labels), one.source)
        for one in CATALOG.values()
    ]
