"""One fetcher per data set; `fetch_dataset` describes their options."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict, Unpack

from .loading import fetch_dataset
from .storage import Folder


class Options(TypedDict, total=False):
    """What every fetcher takes; see `fetch_dataset`."""

    data_home: Folder
    download_if_missing: bool
    return_X_y: bool


def fetch_a1a(*, subset: str = "train", **options: Unpack[Options]) -> Any:
    """Fetch A1A: the smallest cut of UCI's Adult: who earns more than 50,000 dollars.

    1,605 rows (30,956 more for testing), 123 features, sparse; two classes.
    """
    return fetch_dataset("a1a", subset=subset, **options)


def fetch_australian(*, scaled: bool = True, **options: Unpack[Options]) -> Any:
    """Fetch AUSTRALIAN: credit card applications.

    690 rows, 14 features, in [-1, 1] if `scaled`; two classes.
    """
    return fetch_dataset("australian", scaled=scaled, **options)


def fetch_cod_rna(*, scaled: bool = True, **options: Unpack[Options]) -> Any:
    """Fetch COD-RNA: non-coding RNAs.

    59,535 rows, 8 features, in [-1, 1] if `scaled`; two classes.
    """
    return fetch_dataset("cod_rna", scaled=scaled, **options)


def fetch_coil20(*, classes: Sequence[int] | None = None, **options: Unpack[Options]) -> Any:
    """Fetch COIL20: photographs of 20 objects, 72 views of each.

    1,440 rows, 1,024 pixels in [0, 1]; `classes` selects some of the objects 0, ..., 19. The paper
    uses two.
    """
    return fetch_dataset("coil20", classes=classes, **options)


def fetch_covtype(*, binary: bool = True, scaled: bool = True, **options: Unpack[Options]) -> Any:
    """Fetch COVTYPE: forest cover types.

    581,012 rows, 54 features, float32, in [0, 1] if `scaled`. The paper's task is `binary`:
    Lodgepole Pine (1) against all others (0). False gives the seven classes.
    """
    return fetch_dataset("covtype", binary=binary, scaled=scaled, **options)


def fetch_g50c(**options: Unpack[Options]) -> Any:
    """Fetch G50C: two Gaussians with a Bayes error of 5 %.

    550 rows, 50 features; ten official splits of 50 labels. `make_g50c` draws data like it.
    """
    return fetch_dataset("g50c", **options)


def fetch_ijcnn1(**options: Unpack[Options]) -> Any:
    """Fetch IJCNN1: the IJCNN 2001 challenge.

    49,990 rows (training and validation), 22 features in [-1, 1]; two classes.
    """
    return fetch_dataset("ijcnn1", **options)


def fetch_mnist(*, subset: str = "all", **options: Unpack[Options]) -> Any:
    """Fetch MNIST: handwritten digits.

    70,000 rows, the last 10,000 for testing; 784 pixels in [0, 1], float32.
    """
    return fetch_dataset("mnist", subset=subset, **options)


def fetch_mushrooms(**options: Unpack[Options]) -> Any:
    """Fetch MUSHROOMS: which mushrooms are poisonous (0) and which edible (1).

    8,124 rows, 112 features, sparse.
    """
    return fetch_dataset("mushrooms", **options)


def fetch_ssl_digit1(*, n_labels: int = 100, **options: Unpack[Options]) -> Any:
    """Fetch the Digit1 benchmark of Chapelle, Schoelkopf and Zien.

    1,500 rows, 241 features; two classes; 12 official splits of `n_labels` (10 or 100) labels.
    """
    return fetch_dataset("ssl_digit1", n_labels=n_labels, **options)


def fetch_ssl_g241c(*, n_labels: int = 100, **options: Unpack[Options]) -> Any:
    """Fetch the g241c benchmark of Chapelle, Schoelkopf and Zien.

    1,500 rows, 241 features; two classes; 12 official splits of `n_labels` (10 or 100) labels.
    """
    return fetch_dataset("ssl_g241c", n_labels=n_labels, **options)


def fetch_ssl_text(*, n_labels: int = 100, **options: Unpack[Options]) -> Any:
    """Fetch the Text benchmark of Chapelle, Schoelkopf and Zien.

    1,500 rows, 11,960 features, sparse; two classes; 12 official splits of `n_labels` (10 or 100)
    labels.
    """
    return fetch_dataset("ssl_text", n_labels=n_labels, **options)


def fetch_ssl_usps(*, n_labels: int = 100, **options: Unpack[Options]) -> Any:
    """Fetch the USPS benchmark of Chapelle, Schoelkopf and Zien.

    1,500 rows, 241 features; two classes; 12 official splits of `n_labels` (10 or 100) labels.
    """
    return fetch_dataset("ssl_usps", n_labels=n_labels, **options)


def fetch_svmguide1(
    *, subset: str = "train", scaled: bool = True, **options: Unpack[Options]
) -> Any:
    """Fetch SVMGUIDE1: particles in astronomy.

    3,089 rows (4,000 more for testing), 4 features, in [-1, 1] if `scaled`; two classes.
    """
    return fetch_dataset("svmguide1", subset=subset, scaled=scaled, **options)


def fetch_svmguide2(**options: Unpack[Options]) -> Any:
    """Fetch SVMGUIDE2: bioinformatics.

    391 rows, 20 features; three classes.
    """
    return fetch_dataset("svmguide2", **options)


def fetch_svmguide3(**options: Unpack[Options]) -> Any:
    """Fetch SVMGUIDE3: customers of a car maker.

    1,243 rows, 22 features, the last of which is zero; two classes.
    """
    return fetch_dataset("svmguide3", **options)


def fetch_usps(*, subset: str = "all", **options: Unpack[Options]) -> Any:
    """Fetch USPS: handwritten digits of the US Postal Service.

    9,298 rows, the last 2,007 for testing; 256 pixels in [-1, 1].
    """
    return fetch_dataset("usps", subset=subset, **options)


def fetch_uspst(*, classes: Sequence[int] | None = None, **options: Unpack[Options]) -> Any:
    """Fetch USPST: digits of the US Postal Service, smoothed.

    2,007 rows, 256 pixels in [-1, 1]; ten official splits of 50 labels. ``classes=(0, 1)`` is the
    paper's task.
    """
    return fetch_dataset("uspst", classes=classes, **options)


def fetch_w5a(**options: Unpack[Options]) -> Any:
    """Fetch W5A: web pages by their words.

    9,888 rows, 300 features, sparse; two classes, 3 % of the rows in the second.
    """
    return fetch_dataset("w5a", **options)


def fetch_w8a(**options: Unpack[Options]) -> Any:
    """Fetch W8A: web pages by their words.

    49,749 rows, 300 features, sparse; two classes, 3 % of the rows in the second.
    """
    return fetch_dataset("w8a", **options)
