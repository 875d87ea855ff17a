"""Reading data files, whole or in pieces, with bounded memory.

==========  ==================================================================================
row_files   `open_table`: a file of rows in any format
columns     which columns of a table are features, and which one is the label
csv         CSV, by the compiled parser; labels as numbers or words
records     rows of CSV as lines, where quotes hold several
cells       tables of any content: every cell as text, or as Parquet has it
kinds       what the cells of a column hold: numbers, decimal commas, dates, true and false, words
amounts     numbers with a currency, a percent sign or thousands separators
libsvm      LIBSVM's text format, by the compiled parser; `read_libsvm`
parquet     Parquet, through pyarrow
encodings   the encoding of a text: given, marked or judged; its bytes as UTF-8
text        blocks of whole lines, and the loop that continues after bad ones
bad_rows    errors by default; counted and reported with `on_bad_row="skip"`
file_parts  files in parts for many processes: CSV cut between rows, Parquet by row groups
files       paths, open files and standard input; gzip, bz2 and xz by their first bytes
==========  ==================================================================================

The command line and the streams use these readers. They return plain arrays.
"""

from .bad_rows import BadRows, BadRowWarning
from .files import DataFileError
from .libsvm import read_libsvm

__all__ = ["BadRowWarning", "BadRows", "DataFileError", "read_libsvm"]
