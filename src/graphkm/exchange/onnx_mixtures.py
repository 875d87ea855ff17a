"""The front door's mixture as nodes of an ONNX graph, step for step as `Mixed.at`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..members.member import LEAST
from ..semi.mixed import Part
from ..semi.mixed_views import AnyMixture, MixedViews
from .onnx_fields import Reached, add_far, add_field, add_reached
from .onnx_machines import Answers
from .onnx_members import add_quantities, add_shares
from .onnx_nodes import Nodes


def add_mixture(graph: Nodes, rows: str, mixed: AnyMixture) -> Answers:
    """Add the nodes that compute all answers of a mixture from rows."""
    if isinstance(mixed, MixedViews):
        raise ValueError(
            f"The model has learnt from several views ({', '.join(mixed.views)}), and an ONNX "
            "graph takes one matrix of rows; save it with graphkm.exchange.save_model, or fit to "
            "the rows of one view."
        )
    if mixed.by_column:
        raise ValueError(
            "The model predicts several columns, and an ONNX graph is made for one class or one "
            "quantity per row; save it with graphkm.exchange.save_model."
        )
    if mixed.linked is not None:
        raise ValueError(
            "The model was fitted with an affinity, and an ONNX graph takes rows without edges; "
            "save it with graphkm.exchange.save_model, or fit without affinity."
        )
    reached = None if mixed.nodes is None else add_reached(graph, rows, mixed.nodes)
    asked: dict[int, str] = {}  # a model and its corrections ask it once
    terms = []
    for part in mixed.parts:
        own = id(part.model)
        if own not in asked:
            asked[own] = _model(graph, rows, part, mixed.classes)
        said = _said(graph, asked[own], part, reached, mixed.classes is not None)
        terms.append(graph.add("Mul", said, float(part.weight)))
    if mixed.values is not None:
        assert reached is not None
        terms.append(add_field(graph, reached, mixed.values))
        far = mixed.weight * np.asarray(mixed.prior, np.float64)[None, :]
        terms.append(graph.add("Mul", add_far(graph, reached), far))
    found = graph.add("Sum", *terms)
    if mixed.classes is None:
        origin, spread = (np.ravel(each)[None, :] for each in mixed.units)
        return Answers(None, graph.add("Add", graph.add("Mul", found, spread), origin))
    if mixed.tilt is not None:  # the classes have sizes
        found = graph.add("Mul", found, np.exp(mixed.tilt - mixed.tilt.max())[None, :])
    total = graph.add("ReduceSum", found, np.array([1]), keepdims=1)
    return _decided(graph, graph.add("Div", found, total), mixed.classes)


def _model(graph: Nodes, rows: str, part: Part, classes: NDArray[np.generic] | None) -> str:
    """Add what a model says: class shares, none of them below the least that counts; quantities."""
    if classes is None:
        return add_quantities(graph, rows, part.model)
    return graph.add("Max", add_shares(graph, rows, part.model, classes), LEAST)


def _said(graph: Nodes, said: str, part: Part, reached: Reached | None, sure: bool) -> str:
    """Add the field of a part, and its temperature."""
    if part.field is not None:
        assert reached is not None
        said = graph.add("Add", said, add_field(graph, reached, part.field))
    if not sure:
        return said
    scores = graph.add("Log", graph.add("Max", said, LEAST))
    return graph.add("Softmax", graph.add("Mul", scores, float(part.temperature)), axis=1)


def _decided(graph: Nodes, shares: str, classes: NDArray[np.generic]) -> Answers:
    """Add label and scores: of two classes the second one wins a tie."""
    add, logs = graph.add, graph.add("Log", shares)
    if len(classes) > 2:
        return Answers(classes, logs, add("ArgMax", shares, axis=1, keepdims=0), shares)
    flat = np.array([-1])
    first, second = (
        [add("Reshape", add("Gather", values, np.array([c]), axis=1), flat) for c in (0, 1)]
        for values in (shares, logs)
    )
    code = add("Cast", add("GreaterOrEqual", first[1], first[0]), to=graph.types.INT64)
    return Answers(classes, add("Sub", second[1], second[0]), code, shares)
