"""Models as ONNX graphs.

f is a product of kernel values and coefficients, and the label is computed from f, as in the
library. The operators SVMRegressor and SVMClassifier are not used. They sum in single precision,
where large coefficients that cancel lose their digits; they need a copy of the centres for every
class; and with several classes the scores of the second are votes of pairs, not f.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from ..kernels import Linear, Polynomial
from .container import write_parts
from .onnx_nodes import Nodes
from .onnx_probabilities import add_probabilities
from .plain import PlainModel, plain_model

_OPSET, _IR = 16, 8  # of 2022: all current runtimes support them


def to_onnx(model: Any, path: str | os.PathLike[str] | None = None) -> Any:
    """Return a fitted model as an ONNX graph.

    Its input X is float32 of shape (n, n_features). A classifier has the outputs "label", as
    `predict`, "scores", as `decision_function`, and "probabilities", as `predict_proba` (unless
    the model has none); a regressor has "prediction". Between them the runtime computes in double
    precision. So the outputs are those of the model at the rows as float32, rounded to float32.

    A model with a field (``field_``) has no such form, and is refused.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this library with kernel "rbf", "linear" or "poly", or a pipeline of
        scalers that ends with one.
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
    plain = plain_model(model, "ONNX")
    graph, types, value = Nodes(onnx), onnx.TensorProto, onnx.helper.make_tensor_value_info
    _add_functions(graph, plain)
    if plain.classes is None:
        flat = graph.add("Reshape", "f", np.array([-1]))
        outputs = [value(_add_output(graph, flat, "prediction"), types.FLOAT, ["n"])]
    else:
        k, shown = len(plain.classes), _add_decision(graph, plain.classes)
        shape: list[str | int] = ["n"] if k == 2 else ["n", k]
        outputs = [value("label", _label_type(plain.classes, types), ["n"])]
        outputs += [value(_add_output(graph, shown, "scores"), types.FLOAT, shape)]
        if plain.calibration is not None:
            found = add_probabilities(graph, plain.calibration, k)
            found = _add_output(graph, found, "probabilities")
            outputs += [value(found, types.FLOAT, ["n", k])]
    inputs = [value("X", types.FLOAT, ["n", plain.centres.shape[1]])]
    made = onnx.helper.make_graph(graph.nodes, "graphkm", inputs, outputs, graph.constants)
    opset = [onnx.helper.make_opsetid("", _OPSET)]
    options = {"producer_name": "graphkm", "opset_imports": opset, "ir_version": _IR}
    proto = onnx.helper.make_model(made, **options)
    onnx.checker.check_model(proto)
    if path is not None:
        write_parts(path, [proto.SerializeToString()])
    return proto


def _add_functions(graph: Nodes, plain: PlainModel) -> None:
    """Add the nodes that compute "f", of shape (n, n_outputs), from "X"."""
    add, kernel = graph.add, plain.kernel
    rows = add("Cast", "X", to=graph.types.DOUBLE)
    if plain.scale is not None:
        rows = add("Add", add("Mul", rows, plain.scale), plain.shift)
    centres = plain.centres.toarray() if issparse(plain.centres) else plain.centres
    centres = np.asarray(centres, np.float64)
    if isinstance(kernel, Linear | Polynomial):
        values = add("MatMul", rows, centres.T)
        if isinstance(kernel, Polynomial):
            values = add("Add", add("Mul", values, float(kernel.gamma)), float(kernel.coef0))  # type: ignore[arg-type]
            values = add("Pow", values, float(kernel.degree))
    else:
        # Around their mean no digit of d^2 = x.x - 2 x.c + c.c is lost.
        mean = centres.mean(axis=0)
        rows, centres = add("Sub", rows, mean), centres - mean
        own = add("ReduceSum", add("Mul", rows, rows), np.array([1]), keepdims=1)
        d2 = add("Add", add("MatMul", rows, -2.0 * centres.T), np.square(centres).sum(axis=1))
        d2 = add("Relu", add("Add", d2, own))
        values = add("Exp", add("Mul", d2, -float(kernel.gamma)))  # type: ignore[attr-defined]
    add("Add", add("MatMul", values, plain.coefficients), plain.intercept, name="f")


def _add_decision(graph: Nodes, classes: NDArray[Any]) -> str:
    """Add the nodes that compute "label" and "code" from "f", and return those of the scores."""
    add, scores = graph.add, "f"
    if len(classes) == 2:
        scores = add("Reshape", "f", np.array([-1]))
        add("Cast", add("GreaterOrEqual", scores, 0.0), to=graph.types.INT64, name="code")
    else:
        add("ArgMax", "f", axis=1, keepdims=0, name="code")
    wide = {"b": bool, "i": np.int64, "u": np.uint64, "f": np.float64}.get(classes.dtype.kind)
    known = classes.astype(str).astype(object) if wide is None else classes.astype(wide)
    add("Gather", known, "code", axis=0, name="label")
    return scores


def _add_output(graph: Nodes, values: str, name: str) -> str:
    return graph.add("Cast", values, to=graph.types.FLOAT, name=name)


def _label_type(classes: NDArray[Any], types: Any) -> int:
    """Return the labels' type in ONNX."""
    kinds = {"b": types.BOOL, "i": types.INT64, "u": types.UINT64, "f": types.DOUBLE}
    return int(kinds.get(classes.dtype.kind, types.STRING))
