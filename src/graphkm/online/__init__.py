"""Learning from streams that may be interrupted.

==========  ======================================================================
training    `train`: a stream from its beginning to its end, with checkpoints
==========  ======================================================================
"""

from .._container import CheckpointError
from .training import load, train

__all__ = ["CheckpointError", "load", "train"]
