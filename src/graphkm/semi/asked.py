"""What a user asked the front door for: models and a graph, checked before any row is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..graphs import KNN, NodesPart, resolve_nodes


def asked_nodes(graph: Any) -> NodesPart:
    """Return the part that the parameter `graph` stands for.

    Examples
    --------
    >>> type(asked_nodes("auto")).__name__
    'KNN'
    """
    return KNN() if isinstance(graph, str) and graph == "auto" else resolve_nodes(graph)


def asked_models(
    estimator: Any, check: Callable[[Any], None], *, any_graph: bool
) -> dict[str, Any] | None:
    """Return the models that the parameter `estimator` asks for, by name; None for "auto".

    `check` raises for a model of another kind. `any_graph` says whether there is a graph: models
    or a graph are needed.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> list(asked_models([SVC(), SVC(C=2.0)], lambda model: None, any_graph=True))
    ['SVC', 'SVC 2']
    """
    if isinstance(estimator, str):
        if estimator != "auto":
            raise _no_model(estimator)
        return None
    several = isinstance(estimator, list | tuple)
    models = [] if estimator is None else list(estimator) if several else [estimator]
    if not models and not any_graph:
        raise ValueError(
            "estimator=None and graph=None leave nothing to learn with; pass a model, or "
            "graph='auto'."
        )
    found: dict[str, Any] = {}
    for model in models:
        if isinstance(model, type) or not hasattr(model, "fit"):
            raise _no_model(model)
        check(model)
        name = type(model).__name__
        copies = sum(each.split(" ")[0] == name for each in found)
        found[f"{name} {copies + 1}" if copies else name] = model
    return found


def _no_model(given: Any) -> ValueError:
    return ValueError(
        "estimator must be 'auto', a model, a list of models or None, such as "
        f"LogisticRegression() or [LogisticRegression(), SVC()]; got {given!r}."
    )
