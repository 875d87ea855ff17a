"""Learning from streams, which may be interrupted.

===========  ================================================================================
streams      `read_stream`: files and standard input as chunks, from any row on
chunks       `Chunk`, and pieces of any size cut into chunks of one size
training     `train`: feed a whole stream to a model, with checkpoints
prequential  `prequential`: test on every chunk, then train on it
===========  ================================================================================
"""

from .chunks import Chunk
from .prequential import PrequentialResult, prequential
from .streams import FileStream, read_stream
from .training import CheckpointError, train

__all__ = [
    "CheckpointError",
    "Chunk",
    "FileStream",
    "PrequentialResult",
    "prequential",
    "read_stream",
    "train",
]
