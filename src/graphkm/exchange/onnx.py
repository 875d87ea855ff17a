"""Models as ONNX graphs."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .container import write_parts
from .kernel_form import plain_model, scalers_of
from .onnx_machines import Answers, add_machine
from .onnx_mixtures import add_mixture
from .onnx_nodes import TREES, Nodes, check_size
from .onnx_scalers import add_scalers
from .storable import MIXED, check_steps, is_pipeline

_OPSET, _TREES, _IR = 16, 3, 8  # versions of ONNX of 2022: all current runtimes support them


def to_onnx(model: Any, path: str | os.PathLike[str] | None = None) -> Any:
    """Return a fitted model as an ONNX graph.

    Its input X is float32 of shape (n, n_features). A classifier has the outputs "label", as
    `predict`, "scores", as `decision_function`, and "probabilities", as `predict_proba` (unless
    the model has none); a regressor has "prediction". In between the runtime computes in double
    precision, except for sums of trees. So the outputs are what the model gives for the float32
    rows, rounded to float32.

    A mixture (`SemiSupervisedClassifier`, `SemiSupervisedRegressor`) is written if every member
    that counts has a form. Kernel machines of this library, linear models, logistic regression,
    decision trees, forests, extra trees and HistGradientBoosting have one, alone or behind
    scalers. Members on the graph have one if its nodes are searched exactly. The file then holds
    all nodes, and the runtime needs memory for the distances of all rows of X from all nodes: pass
    rows in blocks. If several nodes are equally far from a row, and the row does not reach all of
    them, the runtime may choose others than the library.

    For other models an error says what to do. A machine with a field (``field_``) has no form.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this library, or a pipeline of scalers that ends with one. Kernels
        are "rbf", "linear" or "poly".
    path : path, optional
        The file to write. It is written whole or not at all.

    Returns
    -------
    onnx.ModelProto

    Examples
    --------
    >>> from graphkm import GKMClassifier
    >>> X, y = np.array([[0.0], [0.1], [0.9], [1.0]]), np.array(["a", "", "", "b"])
    >>> graph = to_onnx(GKMClassifier(unlabeled="").fit(X, y)).graph
    >>> [node.name for node in graph.output]
    ['label', 'scores', 'probabilities']
    """
    try:
        import onnx
    except ImportError as error:
        raise ImportError('to_onnx needs onnx: pip install "graphkm[onnx]".') from error
    check_is_fitted(model, msg="%(name)s is not fitted; call fit or partial_fit before writing it.")
    graph = Nodes(onnx)
    rows, last = graph.add("Cast", "X", to=graph.types.DOUBLE), model
    if is_pipeline(model):
        check_steps(model)
        rows = add_scalers(graph, rows, scalers_of(model, "ONNX"))
        last = model.steps[-1][1]
    if isinstance(last, MIXED):
        answers = add_mixture(graph, rows, last.mixture_)
    else:
        answers = add_machine(graph, rows, plain_model(last, "ONNX"))
    proto = _made(onnx, graph, last.n_features_in_, _outputs(graph, answers))
    if path is not None:
        write_parts(path, [proto.SerializeToString()])
    return proto


def _outputs(graph: Nodes, answers: Answers) -> list[tuple[str, int, list[str | int]]]:
    """Add the nodes of all outputs, and return their names, types and shapes."""
    classes = answers.classes
    if classes is None:
        flat = graph.add("Reshape", answers.scores, np.array([-1]))
        return [_single(graph, flat, "prediction", ["n"])]
    k = len(classes)
    found: list[tuple[str, int, list[str | int]]]
    found = [(_add_label(graph, answers.code, classes), _label_type(graph, classes), ["n"])]
    found += [_single(graph, answers.scores, "scores", ["n"] if k == 2 else ["n", k])]
    if answers.probabilities:
        found += [_single(graph, answers.probabilities, "probabilities", ["n", k])]
    return found


def _single(
    graph: Nodes, values: str, name: str, shape: list[str | int]
) -> tuple[str, int, list[str | int]]:
    """Add an output in single precision."""
    return graph.add("Cast", values, to=graph.types.FLOAT, name=name), graph.types.FLOAT, shape


def _add_label(graph: Nodes, code: str, classes: NDArray[Any]) -> str:
    wide = {"b": bool, "i": np.int64, "u": np.uint64, "f": np.float64}.get(classes.dtype.kind)
    known = classes.astype(str).astype(object) if wide is None else classes.astype(wide)
    return graph.add("Gather", known, code, axis=0, name="label")


def _label_type(graph: Nodes, classes: NDArray[Any]) -> int:
    """Return the labels' type in ONNX."""
    types = graph.types
    kinds = {"b": types.BOOL, "i": types.INT64, "u": types.UINT64, "f": types.DOUBLE}
    return int(kinds.get(classes.dtype.kind, types.STRING))


def _made(
    onnx: Any, graph: Nodes, n_features: int, outputs: list[tuple[str, int, list[str | int]]]
) -> Any:
    """Return the graph as a checked model."""
    value, opset = onnx.helper.make_tensor_value_info, onnx.helper.make_opsetid
    inputs = [value("X", graph.types.FLOAT, ["n", n_features])]
    shown = [value(*each) for each in outputs]
    made = onnx.helper.make_graph(graph.nodes, "graphkm", inputs, shown, graph.constants)
    opsets = [opset("", _OPSET)]
    if any(node.domain == TREES for node in graph.nodes):
        opsets += [opset(TREES, _TREES)]
    options = {"producer_name": "graphkm", "opset_imports": opsets, "ir_version": _IR}
    proto = onnx.helper.make_model(made, **options)
    check_size(proto.ByteSize())
    onnx.checker.check_model(proto)
    return proto
