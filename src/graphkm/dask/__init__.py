"""Estimators for rows on many machines: Dask arrays and frames.

All that a field on anchors needs from the rows are sums over them (`graphkm.graphs.anchors`). `fit`
maps every partition to its sums and adds these in a tree of fixed shape. Only the labelled rows and
the anchors leave their partitions.

=======================  ===========================================================
collections              Dask arrays and frames as lists of partitions
runner                   where tasks run, what they are called, and lost workers
tasks                    what is done with a partition: pure functions
passes                   a fit: the passes over the rows, one after another
many_labels              the library's own machine by sums over labelled rows
search                   the choice among fitted models
answers                  predictions that stay lazy
base                     what the estimators share
classifiers, regressors  the estimators
cv                       the search
=======================  ===========================================================
"""

try:
    from .classifiers import GKMClassifier, GraphCorrectedClassifier
    from .cv import GKMClassifierCV
    from .regressors import GKMRegressor, GraphCorrectedRegressor
except ModuleNotFoundError as error:
    missing = (error.name or "").partition(".")[0]
    if missing in ("dask", "distributed"):
        raise ImportError(
            f"graphkm.dask needs {missing}, which is not installed; pip install 'graphkm[dask]'"
        ) from error
    raise

__all__ = [
    "GKMClassifier",
    "GKMClassifierCV",
    "GKMRegressor",
    "GraphCorrectedClassifier",
    "GraphCorrectedRegressor",
]
