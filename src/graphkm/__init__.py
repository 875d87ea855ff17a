"""Kernel machines smoothed over a graph: learning from few labels and many unlabelled points.

A map of the package, from the ground up; every layer imports only from those above it.

=======================================  =====================================================
_util                                    small helpers of every layer
losses, smoothness, kernels, theory      formulas: what is minimised, and what is guaranteed
reference                                the paper's algorithm, literally and slowly, to be read
io                                       LIBSVM, CSV and Parquet files
embed                                    texts and images as rows
backends, expansion                      sums of kernels over centres, in compiled code
neighbours                               the nearest rows of every row
graphs                                   edges between rows: drawn, listed, weighted
objective                                J(w): the parts put together
ridge, fields                            least squares; functions that follow a graph
solvers                                  stochastic gradient descent in exact blocks; Newton
streams                                  the same on rows that come once and in pieces
judge                                    folds, held-out values, the weights of a mixture
estimators                               what all estimators share
kernel_ridge, baselines                  models of the labelled rows; published methods
model_selection                          folds of partly labelled data
members                                  ways to learn: models, clusters, fields
semi                                     `SemiSupervisedClassifier`, `SemiSupervisedRegressor`
positive                                 `PositiveUnlabeledClassifier`: one class is known
gkm                                      `GKMClassifier`, `GKMRegressor`, and their CV twins
active                                   which rows to label next
annotators                               answers of several people, and who is reliable
inspection                               why this answer, how sure, and which labels look wrong
report                                   a page on a model
online                                   streams of chunks, progressive evaluation, checkpoints
dask                                     the front door for rows on many machines
exchange                                 models as files, from and for other programs
report                                   a page on a model and its rows
tables                                   tables of any content, turned into numbers
formats                                  files of other labelling tools
datasets                                 public and artificial data sets, hidden labels
app                                      the labelling page
studio                                   a backend for Label Studio
doctor                                   what is installed here, and whether it works
cli                                      the command `graphkm`
=======================================  =====================================================
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .backends import config_context
    from .gkm import GKMClassifier, GKMClassifierCV, GKMRegressor, GKMRegressorCV
    from .graphs import KNN, Anchors, Bipartite, Epsilon, Full
    from .kernel_ridge import KernelRidgeClassifierCV, KernelRidgeCV
    from .positive import PositiveUnlabeledClassifier
    from .semi import SemiSupervisedClassifier, SemiSupervisedRegressor
    from .smoothness import IteratedLaplacian, Power
    from .solvers import SGD, Newton, RowNewton, Sums

__all__ = [
    "KNN",
    "SGD",
    "Anchors",
    "Bipartite",
    "Epsilon",
    "Full",
    "GKMClassifier",
    "GKMClassifierCV",
    "GKMRegressor",
    "GKMRegressorCV",
    "IteratedLaplacian",
    "KernelRidgeCV",
    "KernelRidgeClassifierCV",
    "Newton",
    "PositiveUnlabeledClassifier",
    "Power",
    "RowNewton",
    "SemiSupervisedClassifier",
    "SemiSupervisedRegressor",
    "Sums",
    "__version__",
    "config_context",
]

_HOMES = {
    "backends": ("config_context",),
    "gkm": (
        "GKMClassifier",
        "GKMClassifierCV",
        "GKMRegressor",
        "GKMRegressorCV",
    ),
    "graphs": ("KNN", "Anchors", "Bipartite", "Epsilon", "Full"),
    "kernel_ridge": ("KernelRidgeClassifierCV", "KernelRidgeCV"),
    "positive": ("PositiveUnlabeledClassifier",),
    "semi": ("SemiSupervisedClassifier", "SemiSupervisedRegressor"),
    "smoothness": ("IteratedLaplacian", "Power"),
    "solvers": ("SGD", "Newton", "RowNewton", "Sums"),
}


def __getattr__(name: str) -> Any:
    """Look names up when they are asked for.

    The command line shows its help without waiting for scikit-learn, and without looking up the
    version, which takes milliseconds.
    """
    if name == "__version__":
        from importlib.metadata import version

        return version("graphkm")
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f".{home}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
