"""Estimators for rows on many machines: Dask arrays and frames.

All that a field on anchors needs from the rows are sums over them (`graphkm.graphs.anchors`). `fit`
maps every partition to its sums and adds these in a tree of fixed shape. Only the labelled rows and
the anchors leave their partitions.

==============  ===========================================================
collections     Dask arrays and frames as lists of partitions
runner          where tasks run, what they are called, and lost workers
tasks           what is done with a partition: pure functions
passes          a fit: the passes over the rows, one after another
answers         predictions that stay lazy
estimators      `GraphCorrectedClassifier`, `GKMClassifier`, and the regressors
==============  ===========================================================
"""

from importlib.util import find_spec

if find_spec("dask") is None or find_spec("distributed") is None:
    raise ImportError("graphkm.dask needs dask and distributed; pip install 'graphkm[dask]'")

from .estimators import (
    GKMClassifier,
    GKMRegressor,
    GraphCorrectedClassifier,
    GraphCorrectedRegressor,
)

__all__ = [
    "GKMClassifier",
    "GKMRegressor",
    "GraphCorrectedClassifier",
    "GraphCorrectedRegressor",
]
