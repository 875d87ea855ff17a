"""Parameters by flat names, as parts: tests vary one number, whatever part it belongs to."""

from __future__ import annotations

from typing import Any

_GRAPH = {"n_neighbors", "weights", "search", "radius"}
_SMOOTHNESS = {"p", "normalized", "degree"}
_NEWTON = {"n_landmarks", "landmarks", "tol", "max_iter"}
_SGD = {"step", "edge_sampling", "max_iter", "budget"}
_SGD |= {"steps_per_row", "reservoir_size", "half_life"}


def parts(**flat: Any) -> dict[str, Any]:
    """Return constructor parameters: what belongs to a part is put into it.

    Parameters of another solver or graph than the one named are left out, so that a test can
    start from a full set of them.
    """
    from graphkm import KNN, SGD, Bipartite, Epsilon, Full, Newton, RowNewton
    from graphkm.smoothness import IteratedLaplacian, Power

    kinds = {"knn": KNN, "epsilon": Epsilon, "full": Full, "bipartite": Bipartite}
    solvers = {"newton": Newton, "row_newton": RowNewton, "sgd": SGD}
    own = dict(flat)

    def taken(names: Any) -> dict[str, Any]:
        return {name: own.pop(name) for name in list(own) if name in names}

    graph, smoothness = taken(_GRAPH), taken(_SMOOTHNESS)
    newton_or_sgd = taken(_NEWTON | _SGD)
    if graph:
        kind = kinds.get(own.get("graph", "knn"))
        if kind is not None:
            known = kind.__dataclass_fields__
            own["graph"] = kind(**{k: v for k, v in graph.items() if k in known})
    if smoothness:
        iterated = "degree" in smoothness and smoothness.get("p", 2) == 2
        smoothness.pop("p" if iterated else "degree", None)
        own["smoothness"] = (IteratedLaplacian if iterated else Power)(**smoothness)
    solver = own.get("solver", "auto")
    if newton_or_sgd and isinstance(solver, str):
        if solver == "auto":  # what belongs to one kind of solver names it
            fits = [
                k
                for k, names in (("sgd", _SGD), ("newton", _NEWTON))
                if names >= set(newton_or_sgd)
            ]
            if len(fits) != 1:
                raise ValueError(f"{sorted(newton_or_sgd)} belong to a solver; name it")
            solver = fits[0]
        kept = solvers[solver].__dataclass_fields__
        own["solver"] = solvers[solver](**{k: v for k, v in newton_or_sgd.items() if k in kept})
    return own


def gkm_classifier(*given: Any, **flat: Any) -> Any:
    """Return a GKMClassifier with parameters by flat names."""
    from graphkm import GKMClassifier

    return GKMClassifier(*given, **parts(**flat))


def gkm_regressor(*given: Any, **flat: Any) -> Any:
    """Return a GKMRegressor with parameters by flat names."""
    from graphkm import GKMRegressor

    return GKMRegressor(*given, **parts(**flat))


def laplacian_parts(**flat: Any) -> dict[str, Any]:
    """Return constructor parameters of the Laplacian machines, whose solvers are names."""
    own = {k: v for k, v in flat.items() if k in ("solver", "tol", "max_iter")}
    return parts(**{k: v for k, v in flat.items() if k not in own}) | own


def build_graph(
    kind: str, X: Any, labeled: Any, *, gamma: Any, affinity: Any = None, verbose: bool = False,
    n_jobs: int | None = None, **options: Any,
) -> Any:  # fmt: skip
    """Return the graph of this name with the weights' bandwidth `gamma`."""
    from graphkm.graphs import Affinity, resolve_graph

    own = (
        Affinity()
        if kind == "precomputed"
        else parts(graph=kind, weights=gamma, **options)["graph"]
    )
    part = resolve_graph(own)
    return part.build(X, labeled, affinity=affinity, n_jobs=n_jobs, verbose=verbose)


_SEARCH = {"Cs", "C_graphs", "gammas", "graphs", "cv", "random_state", "n_jobs", "verbose"}


def classifier_cv(**flat: Any) -> Any:
    """Return a GKMClassifierCV; what it does not know itself goes to its estimator."""
    from graphkm import GKMClassifier, GKMClassifierCV

    own = {"class_weight": "balanced"} | {k: v for k, v in flat.items() if k not in _SEARCH}
    estimator = GKMClassifier(**_of_search(own))
    return GKMClassifierCV(estimator, **{k: v for k, v in flat.items() if k in _SEARCH})


def regressor_cv(**flat: Any) -> Any:
    """Return a GKMRegressorCV; what it does not know itself goes to its estimator."""
    from graphkm import GKMRegressor, GKMRegressorCV

    estimator = GKMRegressor(**_of_search({k: v for k, v in flat.items() if k not in _SEARCH}))
    return GKMRegressorCV(estimator, **{k: v for k, v in flat.items() if k in _SEARCH})


def _of_search(flat: dict[str, Any]) -> dict[str, Any]:
    """Return parts; a Laplacian that is said to be normalised or not has its degree searched."""
    if "normalized" in flat and "p" not in flat:
        flat = {"degree": "auto"} | flat
    return parts(**flat)
