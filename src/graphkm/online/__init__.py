"""Learning from streams, which may be interrupted.

===========  ================================================================================
streams      `read_stream`: files and standard input as chunks, from any row on
chunks       `Chunk`, and pieces of any size cut into chunks of one size
training     `train`: a stream from its beginning to its end, with checkpoints
prequential  `prequential`: test on every chunk, then train on it
===========  ================================================================================
"""

from .._container import CheckpointError
from .chunks import Chunk
from .prequential import PrequentialResult, prequential
from .streams import FileStream, read_stream
from .training import OtherStreamError, load, train

__all__ = [
    "CheckpointError",
    "Chunk",
    "FileStream",
    "OtherStreamError",
    "PrequentialResult",
    "load",
    "prequential",
    "read_stream",
    "train",
]
