"""Models that travel: safe files of the library's own.

======  ================================================================================
files   `save_model`, `load_model`, `read_note`: every estimator here, scaled or not
======  ================================================================================
"""

from .._container import ModelFileError
from .files import load_model, read_note, save_model

__all__ = ["ModelFileError", "load_model", "read_note", "save_model"]
