"""Learning from streams.

===========  ================================================================================
streams      `read_stream`: files and standard input as chunks, from any row on
chunks       `Chunk`, and pieces of any size cut into chunks of one size
prequential  `prequential`: test on every chunk, then train on it
===========  ================================================================================
"""

from .chunks import Chunk
from .prequential import PrequentialResult, prequential
from .streams import FileStream, read_stream

__all__ = ["Chunk", "FileStream", "PrequentialResult", "prequential", "read_stream"]
