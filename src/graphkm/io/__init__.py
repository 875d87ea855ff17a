"""Reading data files, whole or in pieces, with bounded memory.

=========  ==================================================================================
libsvm     `read_libsvm`: LIBSVM's text format, by the compiled parser
tables     CSV, by the same parser of numbers; labels as numbers or words
parquet    Parquet, through pyarrow
text       blocks of whole lines, and the loop that goes on behind bad ones
bad_rows   errors by default; counted and reported with `on_bad_row="skip"`
files      paths, open files and standard input; gzip, bz2 and xz known by their first bytes
=========  ==================================================================================

Everything here returns plain arrays and knows nothing of models.
"""

from .bad_rows import BadRows, BadRowWarning
from .files import DataFileError
from .libsvm import read_libsvm

__all__ = ["BadRowWarning", "BadRows", "DataFileError", "read_libsvm"]
