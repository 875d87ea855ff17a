"""The public homes: which file of theirs holds what, and under which names it may lie here.

A `sha256` is given only where a public file is known byte for byte; `contents` knows of every file
what it must hold.
"""

from __future__ import annotations

from . import readers
from .contents import CONTENTS
from .registry import Block, Copy

LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"
MNIST = "https://ossci-datasets.s3.amazonaws.com/mnist"
SSL_BOOK = "http://olivier.chapelle.cc/ssl-book"
_GITHUB = "https://raw.githubusercontent.com"
_SPLITS = {"labeled": "idxLabs", "unlabeled": "idxUnls"}


def _block(local: Copy, home: Copy) -> Block:
    return Block(CONTENTS[home.name], (local, home))


def libsvm_block(path: str, n_features: int, *, sparse: bool) -> Block:
    """Return a file of LIBSVM's page; it may also be called FILE.libsvm.bz2 here."""
    read = readers.libsvm(n_features)
    read = read if sparse else readers.dense(read)
    name = path.split("/")[-1]
    local = f"{name.removesuffix('.bz2')}.libsvm.bz2"
    return _block(Copy(local, read), Copy(name, read, f"{LIBSVM}/{path}"))


def usps_block(name: str, subset: str) -> Block:
    """Return a part of USPS: a file of LIBSVM's page, or a half of usps.npz here."""
    read = readers.dense(readers.libsvm(256))
    local = Copy("usps.npz", readers.usps_npz(subset))
    return _block(local, Copy(name, read, f"{LIBSVM}/multiclass/{name}"))


def mnist_block(name: str, array: str) -> Block:
    """Return a file of MNIST."""
    read = readers.idx(array)
    local = Copy(f"mnist/mnist-{name}", read)
    return _block(local, Copy(f"mnist/{name}", read, f"{MNIST}/{name}"))


def ssl_data_block(number: int, name: str) -> Block:
    """Return the rows of a set of the book."""
    read = readers.mat(X="X", y="y")
    return _ssl_block(f"set{number}_{name}", f"SSL,set={number},data.mat", read)


def ssl_splits_block(number: int, name: str, n_labels: int) -> Block:
    """Return the official splits of a set of the book."""
    local = f"set{number}_{name}_splits_labeled{n_labels}"
    home = f"SSL,set={number},splits,labeled={n_labels}.mat"
    return _ssl_block(local, home, readers.mat(**_SPLITS))


def _ssl_block(local: str, home: str, read: readers.Reader) -> Block:
    return _block(
        Copy(f"ssl-book/{local}.mat.xz", read),
        Copy(f"ssl-book/{home}", read, f"{SSL_BOOK}/{home}"),
    )


def coil20_block() -> Block:
    """Return COIL20 in 32 x 32 pixels."""
    read = readers.mat(X="X", y="Y")
    commit = "48cffad4e88ff4b9d2f1c7baffb314d1b3303792"
    url = f"{_GITHUB}/jundongl/scikit-feature/{commit}/skfeature/data/COIL20.mat"
    sha256 = "4595ebdda07f47b0eb014fcfaddc22b452f9aed9c1d9261a0d5bc336c1ee1344"
    return _block(Copy("coil20.mat", read), Copy("COIL20.mat", read, url, sha256))


def covtype_block() -> Block:
    """Return COVTYPE as UCI has it, kept where scikit-learn's own fetcher finds it."""
    read = readers.integer_csv
    url = "https://ndownloader.figshare.com/files/5976039"
    return _block(Copy("covtype.csv.xz", read), Copy("covtype.data.gz", read, url))


def g50c_block() -> Block:
    """Return G50C with its splits."""
    read = readers.mat(X="X", y="y", **_SPLITS)
    commit = "3bfb6747be357718693c759a480f744a653c6468"
    url = f"{_GITHUB}/dancoombs/s3vm-sgd/{commit}/data/g50c.mat"
    sha256 = "9f0d95cb5884d817c1165861b347a428bcc255566d1e74c871bd0de58b23423f"
    return _block(Copy("g50c_lds.mat.xz", read), Copy("g50c.mat", read, url, sha256))


def uspst_block() -> Block:
    """Return USPST with its splits."""
    read = readers.mat(X="X", y="y", **_SPLITS)
    commit = "c96d22fd79e28287ed8b400b00d6251214cdf3e9"
    url = f"{_GITHUB}/edche/star_svm/{commit}/data/uspst.mat"
    return _block(Copy("uspst_lds.mat.xz", read), Copy("uspst.mat", read, url))
