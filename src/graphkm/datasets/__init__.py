"""Public data sets, generated ones, and the hiding of labels.

=========  ==================================================================================
catalog    the sets and their public files; `list_datasets`
reading    bytes to arrays (LIBSVM text by graphkm.io, MATLAB, IDX, CSV); a digest of arrays
storage    the data folder: files in it are read and checked, others downloaded by pooch
loading    `fetch_dataset`: files to X, y and splits; codes, scaling
makers     `make_two_moons`, `make_g50c`
hiding     `hide_labels`
=========  ==================================================================================
"""

from .catalog import DatasetInfo, list_datasets
from .hiding import hide_labels
from .loading import fetch_dataset
from .makers import make_g50c, make_two_moons
from .reading import DamagedFileError, DatasetError

__all__ = [
    "DamagedFileError",
    "DatasetError",
    "DatasetInfo",
    "fetch_dataset",
    "hide_labels",
    "list_datasets",
    "make_g50c",
    "make_two_moons",
]
