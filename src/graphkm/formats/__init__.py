"""Files of other labelling tools: read into one shape, and written from it.

============  ================================================================================
shape         the shape: rows, the answers of people to them, and the guesses of models
values        labels and quantities as cells of a table
left_out      what a format cannot carry, in words
names         options, and columns that tools add
tables        lines of a table: CSV, and JSONL with one flat object for each line
csv_text      CSV as text: every cell as it is
label_studio  tasks of Label Studio, with annotations and predictions
label_config  the labelling interface of Label Studio, in XML
json_min      Label Studio's short export
argilla       records of argilla
prodigy       examples of Prodigy
coco          categories of pictures, as COCO has them
files         `read_annotations` and `write_annotations`: files, and which format they have
============  ================================================================================

Models are not known here. `graphkm convert` is the command.
"""

from .files import FORMATS, read_annotations, write_annotations
from .shape import Annotations, AnnotationsError, Answer, Guess, Row

__all__ = [
    "FORMATS",
    "Annotations",
    "AnnotationsError",
    "Answer",
    "Guess",
    "Row",
    "read_annotations",
    "write_annotations",
]
