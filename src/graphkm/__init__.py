"""Kernel machines smoothed over a graph: learning from few labels and many unlabelled points.

A map of the package, from the ground up; every layer imports only from those above it.

=======================================  =====================================================
losses, smoothness, kernels, theory      formulas: what is minimised, and what is guaranteed
io                                       LIBSVM, CSV and Parquet files
graphs                                   edges between rows: drawn, listed, weighted
backends, expansion                      sums of kernels over centres, in compiled code
objective                                J(w): the parts put together
solvers                                  stochastic gradient descent in exact blocks; Newton
estimators                               `GKMClassifier`, `GKMRegressor`, and their CV twins
online                                   streams of chunks, progressive evaluation, checkpoints
baselines                                the methods they are measured against
model_selection                          folds of partly labelled data
exchange                                 models as files, for others and from others
datasets                                 public data sets, made ones, hiding of labels
cli                                      the command `graphkm`
=======================================  =====================================================
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .estimators import GKMClassifier, GKMClassifierCV, GKMRegressor, GKMRegressorCV

__all__ = [
    "GKMClassifier",
    "GKMClassifierCV",
    "GKMRegressor",
    "GKMRegressorCV",
    "__version__",
]


def __getattr__(name: str) -> Any:
    """Look names up when they are asked for.

    The command line shows its help without waiting for scikit-learn, and without looking up the
    version, which takes milliseconds.
    """
    if name == "__version__":
        from importlib.metadata import version

        return version("graphkm")
    if name in __all__:
        from . import estimators

        return getattr(estimators, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
