"""What a stream cannot follow: parameters that need all rows at once."""

from __future__ import annotations

from typing import Any

from scipy.sparse import csr_array, issparse

from ..kernels import Precomputed
from .base import BaseGKM


def can_stream(estimator: BaseGKM) -> bool:
    """Return whether there is a partial_fit; an AttributeError says why not."""
    e = estimator
    if e.solver == "newton":
        raise AttributeError(
            "partial_fit takes stochastic steps, and solver='newton'; pass solver='sgd' or 'auto'."
        )
    if e.kernel == "precomputed" or isinstance(e.kernel, Precomputed):
        raise AttributeError(
            "partial_fit needs the rows themselves, and kernel='precomputed' has none."
        )
    return True


def refuse_to_stream(estimator: BaseGKM) -> None:
    """Raise for parameters that a stream cannot follow."""
    e = estimator
    for name, allowed, why in (
        ("graph", ("knn", "full", "bipartite"), "can be drawn from rows that are kept"),
        ("edge_sampling", ("uniform",), "can be drawn without knowing all edges"),
        ("laplacian", ("auto", "unnormalized"), "need no degrees, which change"),
        ("laplacian_degree", ("auto", 1), "follow from single edges"),
    ):
        value = getattr(e, name)
        if value not in allowed and not (name == "graph" and e.C_graph == 0):
            words = ", ".join(map(repr, allowed))
            raise ValueError(
                f"partial_fit cannot use {name}={value!r}; pass one of {words}, which {why}."
            )
    if e.C_graph == "guaranteed":
        raise ValueError(
            "C_graph='guaranteed' follows from the number of labels, which a stream changes; "
            "pass a number."
        )
    if e.graph_gamma == "local":
        raise ValueError(
            "graph_gamma='local' needs the neighbours of every row, which a stream changes; "
            "pass a number, or None for the kernel's."
        )


def varies(X: Any) -> bool:
    """Return whether any column has two different values."""
    if issparse(X):
        X = csr_array(X)
        return bool((X - X[[0] * X.shape[0]]).count_nonzero()) if X.shape[0] > 1 else False
    return bool((X[0] != X).any())
