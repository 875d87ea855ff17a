"""Public data sets, made ones, and the hiding of labels.

=========  ==================================================================================
fetchers   `fetch_a1a`, ...: one per data set; all of them call `fetch_dataset` (fetching)
catalog    the sets and what is said of them; `list_datasets`
blocks     their files and addresses; contents: digests of what these hold
loading    from files to X, y, splits: codes, scaling
storage    the data folder: present, or downloaded; right, or refused
download   pooch, with transfers that resume, one process at a time (locking)
readers    LIBSVM text (by graphkm.io), MATLAB, IDX, CSV; digest: a hash of what was read
makers     `make_two_moons`, `make_g50c`
hiding     `hide_labels`
=========  ==================================================================================
"""

from .catalog import DatasetInfo, list_datasets
from .errors import DamagedFileError, DatasetError
from .fetchers import (
    fetch_a1a,
    fetch_australian,
    fetch_cod_rna,
    fetch_coil20,
    fetch_covtype,
    fetch_g50c,
    fetch_ijcnn1,
    fetch_mnist,
    fetch_mushrooms,
    fetch_ssl_digit1,
    fetch_ssl_g241c,
    fetch_ssl_text,
    fetch_ssl_usps,
    fetch_svmguide1,
    fetch_svmguide2,
    fetch_svmguide3,
    fetch_usps,
    fetch_uspst,
    fetch_w5a,
    fetch_w8a,
)
from .fetching import fetch_dataset
from .hiding import hide_labels
from .makers import make_g50c, make_two_moons

__all__ = [
    "DamagedFileError",
    "DatasetError",
    "DatasetInfo",
    "fetch_a1a",
    "fetch_australian",
    "fetch_cod_rna",
    "fetch_coil20",
    "fetch_covtype",
    "fetch_dataset",
    "fetch_g50c",
    "fetch_ijcnn1",
    "fetch_mnist",
    "fetch_mushrooms",
    "fetch_ssl_digit1",
    "fetch_ssl_g241c",
    "fetch_ssl_text",
    "fetch_ssl_usps",
    "fetch_svmguide1",
    "fetch_svmguide2",
    "fetch_svmguide3",
    "fetch_usps",
    "fetch_uspst",
    "fetch_w5a",
    "fetch_w8a",
    "hide_labels",
    "list_datasets",
    "make_g50c",
    "make_two_moons",
]
