"""Public data sets, generated ones, and the hiding of labels.

=========  ==================================================================================
catalog    the sets and their public files; `list_datasets`
reading    bytes to arrays (LIBSVM text by graphkm.io, MATLAB, IDX, CSV); a digest of arrays
storage    the data folder: files in it are read and checked, others downloaded by pooch
loading    `fetch_dataset`: files to X, y and splits; codes, scaling
fetchers   `fetch_a1a`, ...: one per data set; all of them call `fetch_dataset`
makers     `make_two_moons`, `make_g50c`
hiding     `hide_labels`
=========  ==================================================================================
"""

from .catalog import DatasetInfo, list_datasets
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
from .hiding import hide_labels
from .loading import fetch_dataset
from .makers import make_g50c, make_two_moons
from .reading import DamagedFileError, DatasetError

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
