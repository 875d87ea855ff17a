"""The front door for rows on many machines: Dask arrays and frames.

A graph of anchors needs only sums over the rows (`graphkm.graphs.anchors`). `fit` maps every
partition to its sums and adds these in a tree of fixed shape. Only the labelled rows and
the anchors leave their partitions: one worker fits the local estimator to them.

Given graphs stay on the workers, too, in blocks of rows. Their members multiply the graphs with
tables that have a line for each row, and only these tables travel.

==============  ===========================================================
collections     Dask arrays and frames as lists of partitions
runner          where tasks run, what they are called, and lost workers
fusing          tasks that make for themselves what no other task needs
tasks           what is done with a partition: pure functions
passes          a fit: the passes over the rows, one after another
edge_tasks      what is done with a partition of edges
row_tasks       what members of given graphs need of a partition of rows
blocks          sparse matrices whose rows lie on the workers
edges           given graphs whose edges lie on the workers
elsewhere       all rows of a fit with given graphs
edge_fit        a fit with given graphs
workers         worker processes of this machine, or of a cluster, for parts of files
part_fit        a fit to rows that tasks read from parts of files
told            what a model tells of a row, and what labels of a partition say of it
answers         predictions that stay lazy
base            what both estimators share
classifier      `SemiSupervisedClassifier`
regressor       `SemiSupervisedRegressor`
==============  ===========================================================
"""

try:
    from .classifier import SemiSupervisedClassifier
    from .regressor import SemiSupervisedRegressor
except ModuleNotFoundError as error:
    missing = (error.name or "").partition(".")[0]
    if missing in ("dask", "distributed"):
        raise ImportError(
            f"graphkm.dask needs {missing}, which is not installed; pip install 'graphkm[dask]'"
        ) from error
    raise

__all__ = ["SemiSupervisedClassifier", "SemiSupervisedRegressor"]
