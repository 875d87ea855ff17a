"""The data sets that can be fetched."""

from __future__ import annotations

from typing import Any, NamedTuple

from . import blocks
from .registry import Dataset

_CHAPELLE_ZIEN = "http://olivier.chapelle.cc/lds/"
_DIGITS = tuple(map(str, range(10)))
_SIGNS = ("-1", "+1")


def _libsvm(
    name: str, rows: int, features: int, about: str, *,
    kind: str = "binary", suffix: str = "", with_test: bool = False, sparse: bool = False,
    labels: tuple[int, ...] = (-1, 1), target_names: tuple[str, ...] = _SIGNS, **more: Any,
) -> Dataset:  # fmt: skip
    """Return a set of LIBSVM's page."""
    path = f"{kind}/{name.replace('_', '-')}"
    parts = {"train": (blocks.libsvm_block(path + suffix, features, sparse=sparse),)}
    if with_test:
        parts["test"] = (blocks.libsvm_block(f"{path}.t", features, sparse=sparse),)
    source = f"{blocks.LIBSVM}/{kind}.html"
    return Dataset(
        name, about, rows, features, labels, source, parts, target_names, sparse=sparse, **more
    )


def _ssl_book(name: str, number: int, features: int, about: str) -> Dataset:
    """Return a set of the book of Chapelle, Schoelkopf and Zien, with its splits."""
    return Dataset(
        f"ssl_{name}",
        f"{about} A benchmark of Chapelle, Schoelkopf and Zien, Semi-Supervised Learning (2006).",
        1500,
        features,
        (-1, 1),
        f"{blocks.SSL_BOOK}/benchmarks.html",
        {"train": (blocks.ssl_data_block(number, name),)},
        _SIGNS,
        {n: blocks.ssl_splits_block(number, name, n) for n in (10, 100)},
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
        {"train": (blocks.coil20_block(),)}, tuple(f"object {k}" for k in range(1, 21)),
    ),
    Dataset(
        "covtype", "Forest cover types from cartographic variables (Blackard and Dean).",
        581012, 54, tuple(range(1, 8)), "https://archive.ics.uci.edu/dataset/31/covertype",
        {"train": (blocks.covtype_block(),)},
        ("Spruce/Fir", "Lodgepole Pine", "Ponderosa Pine", "Cottonwood/Willow", "Aspen",
         "Douglas-fir", "Krummholz"),
        scale=(0, 1), dtype="float32",
    ),
    Dataset(
        "g50c", "Two Gaussians in 50 dimensions, Bayes error 5 % (Chapelle and Zien).",
        550, 50, (-1, 1), _CHAPELLE_ZIEN, {"train": (blocks.g50c_block(),)}, _SIGNS,
    ),
    _libsvm(
        "ijcnn1", 49990, 22, "The IJCNN 2001 challenge as coded by its winner; training and "
        "validation rows.", suffix=".bz2",
    ),
    Dataset(
        "mnist", "Handwritten digits, 28 x 28 pixels in [0, 1].", 70000, 784, tuple(range(10)),
        "http://yann.lecun.com/exdb/mnist/",
        {part: (blocks.mnist_block(f"{file}-images-idx3-ubyte.gz", "X"),
                blocks.mnist_block(f"{file}-labels-idx1-ubyte.gz", "y"))
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
        9298, 256, tuple(range(1, 11)), f"{blocks.LIBSVM}/multiclass.html",
        {"train": (blocks.usps_block("usps.bz2", "train"),),
         "test": (blocks.usps_block("usps.t.bz2", "test"),)},
        _DIGITS,
    ),
    Dataset(
        "uspst", "Digits of the US Postal Service, smoothed, pixels in [-1, 1] (Chapelle and "
        "Zien).", 2007, 256, tuple(range(10)), _CHAPELLE_ZIEN,
        {"train": (blocks.uspst_block(),)}, _DIGITS,
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

    Rows are those of all parts, classes those of the files. `fetch_NAME` fetches it.

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
