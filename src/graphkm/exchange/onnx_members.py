"""The models in a mixture as nodes of an ONNX graph: class shares, or quantities."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..judge.held_out import HeldOut
from ..judge.units import PLAIN
from ..kernel_ridge import KernelRidgeClassifierCV
from ..members.of_all_rows import OfAllRows
from .kernel_form import plain_model, scalers_of
from .onnx_lines import OF_QUANTITIES, OF_SCORES, SURE, add_line, add_logistic
from .onnx_machines import add_functions, add_machine
from .onnx_nodes import Nodes
from .onnx_scalers import add_scalers
from .onnx_trees import BAGS, BOOSTED, add_bag, add_boosted
from .storable import MIXED, MODELS, is_pipeline


def add_quantities(graph: Nodes, rows: str, held: HeldOut) -> str:
    """Add the nodes that compute what a regressor predicts, of shape (n, 1)."""
    model = held.model.model if isinstance(held.model, OfAllRows) else held.model
    rows, model = _behind_scalers(graph, rows, model)
    said = _told(graph, rows, model)
    if held.units == PLAIN:
        return said
    origin, spread = (np.full((1, 1), each) for each in held.units)
    return graph.add("Div", graph.add("Sub", said, origin), spread)


def add_shares(graph: Nodes, rows: str, held: HeldOut, classes: NDArray[Any]) -> str:
    """Add the nodes that compute `class_shares`, of shape (n, n_classes)."""
    model = held.model
    if isinstance(model, OfAllRows):  # it knows numbers of classes
        inside, k = model.model, len(classes)
        found = _of_all_classes(graph, rows, inside, np.arange(k))
        sure = hasattr(inside, "predict_proba")
        return found if sure else graph.add("Softmax", found, axis=1)
    if isinstance(model, KernelRidgeClassifierCV):
        found = _columns(graph, add_functions(graph, rows, plain_model(model, "ONNX")), model, 1.0)
        return _placed(graph, graph.add("Add", found, 1.0 / len(model.classes_)), model, classes)
    found = _of_all_classes(graph, rows, model, classes)
    if held.heat is None:
        return found
    return graph.add("Softmax", graph.add("Mul", found, float(held.heat)), axis=1)


def _of_all_classes(graph: Nodes, rows: str, model: Any, classes: NDArray[Any]) -> str:
    """Add probabilities, or scores, with one column for each class."""
    rows, last = _behind_scalers(graph, rows, model)
    found = _told(graph, rows, last)
    if not hasattr(last, "predict_proba"):
        found = _columns(graph, found, last, 0.5)
    return _placed(graph, found, last, classes)


def _told(graph: Nodes, rows: str, model: Any) -> str:
    """Add quantities or probabilities; scores of a classifier without probabilities."""
    name, theirs = type(model).__name__, type(model).__module__.startswith("sklearn.")
    if type(model) in MODELS and not isinstance(model, MIXED):
        answers = add_machine(graph, rows, plain_model(model, "ONNX"))
        return answers.probabilities or _as_matrix(graph, answers.scores, model)
    if theirs and name in SURE:
        return add_logistic(graph, rows, model)
    if theirs and name in OF_SCORES + OF_QUANTITIES:
        return add_line(graph, rows, model)
    if theirs and name in [start + end for start in BAGS for end in ("Classifier", "Regressor")]:
        return add_bag(graph, rows, model)
    if theirs and name in (BOOSTED + "Classifier", BOOSTED + "Regressor"):
        return add_boosted(graph, rows, model)
    raise ValueError(
        f"The mixture holds a {name}, and ONNX graphs of this library have no form for that. They "
        "have one for the library's kernel machines, linear models, logistic regression, decision "
        "trees, forests, extra trees and HistGradientBoosting, alone or behind scalers. Fit with "
        "estimator='auto' or with such models; or keep the model with skops.io.dump or joblib.dump."
    )


def _behind_scalers(graph: Nodes, rows: str, model: Any) -> tuple[str, Any]:
    """Return the rows that the last step of a pipeline sees, and this step."""
    if not is_pipeline(model):
        return rows, model
    return add_scalers(graph, rows, scalers_of(model, "ONNX")), model.steps[-1][1]


def _as_matrix(graph: Nodes, scores: str, model: Any) -> str:
    """Return scores with columns; those of two classes are one."""
    width = len(getattr(model, "classes_", ()))
    return graph.add("Reshape", scores, np.array([-1, width if width > 2 else 1]))


def _columns(graph: Nodes, f: str, model: Any, factor: float) -> str:
    """Return scores of all classes of a model: of two classes, -f and f times a factor."""
    if len(model.classes_) > 2:
        return f
    both = graph.add("Concat", graph.add("Neg", f), f, axis=1)
    return both if factor == 1.0 else graph.add("Mul", both, factor)


def _placed(graph: Nodes, found: str, model: Any, classes: NDArray[Any]) -> str:
    """Return columns for all classes: one that a model has not seen has share 0."""
    known = model.classes_
    if len(known) == len(classes):
        return found
    if not (hasattr(model, "predict_proba") or hasattr(model, "shares")):
        raise ValueError(
            f"This {type(model).__name__} knows {len(known)} of {len(classes)} classes, and has no "
            "probabilities; pass a classifier that has some."
        )
    put = np.zeros((len(known), len(classes)))
    put[np.arange(len(known)), np.searchsorted(classes, known)] = 1.0
    return graph.add("MatMul", found, put)
