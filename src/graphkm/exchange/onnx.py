"""Models as ONNX graphs.

Each function f is one SVMRegressor, and the label is computed from f, as in the library. The
operator SVMClassifier is not used: with several classes its scores are votes of pairs, not f, and
it needs a copy of the centres for every class.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from ..kernels import Polynomial, SquaredExponential
from .container import write_parts
from .onnx_probabilities import probability_nodes
from .plain import PlainModel, plain_model

_ML = "ai.onnx.ml"
_OPSET, _ML_OPSET, _IR = 16, 1, 8  # of 2022: all current runtimes support them


def to_onnx(model: Any, path: str | os.PathLike[str] | None = None) -> Any:
    """Return a fitted model as an ONNX graph.

    Its input X is float32 of shape (n, n_features). A classifier has the outputs "label", as
    `predict`, "scores", as `decision_function`, and "probabilities", as `predict_proba` (unless
    the model has none); a regressor has "prediction". The runtime
    computes in single precision, whatever the model's precision is.

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
        from onnx import TensorProto, checker, helper
    except ImportError as error:
        raise ImportError('to_onnx needs onnx: pip install "graphkm[onnx]".') from error
    plain = plain_model(model, "ONNX")
    width = plain.centres.shape[1]
    nodes = _functions(plain, helper)
    value = helper.make_tensor_value_info
    if plain.classes is None:
        nodes.append(helper.make_node("Reshape", ["f", "flat"], ["prediction"]))
        outputs = [value("prediction", TensorProto.FLOAT, ["n"])]
        constants = [helper.make_tensor("flat", TensorProto.INT64, [1], [-1])]
    else:
        more, constants, kind = _decision(plain, helper, TensorProto)
        nodes += more
        shape: list[str | int] = ["n"] + [len(plain.classes)] * (len(plain.classes) > 2)
        outputs = [value("label", kind, ["n"]), value("scores", TensorProto.FLOAT, shape)]
        if plain.calibration is not None:
            k = len(plain.classes)
            more, numbers = probability_nodes(plain.calibration, k, helper, TensorProto)
            nodes, constants = nodes + more, constants + numbers
            outputs.append(value("probabilities", TensorProto.FLOAT, ["n", k]))
    inputs = [value("X", TensorProto.FLOAT, ["n", width])]
    graph = helper.make_graph(nodes, "graphkm", inputs, outputs, constants)
    opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_ML, _ML_OPSET)]
    proto = helper.make_model(graph, producer_name="graphkm", opset_imports=opsets, ir_version=_IR)
    checker.check_model(proto)
    if path is not None:
        write_parts(path, [proto.SerializeToString()])
    return proto


def _functions(plain: PlainModel, helper: Any) -> list[Any]:
    """Return the nodes that compute f, of shape (n, n_outputs), from X."""
    nodes, rows = [], "X"
    if plain.scale is not None and plain.shift is not None:
        offset = (-plain.shift / plain.scale).tolist()
        options = {"domain": _ML, "offset": offset, "scale": plain.scale.tolist()}
        nodes.append(helper.make_node("Scaler", ["X"], ["scaled"], **options))
        rows = "scaled"
    kernel = plain.kernel
    name = {SquaredExponential: "RBF", Polynomial: "POLY"}.get(type(kernel), "LINEAR")
    numbers = [float(getattr(kernel, part, 0) or 0) for part in ("gamma", "coef0", "degree")]
    centres = plain.centres.toarray() if issparse(plain.centres) else plain.centres
    parts = [f"f{c}" for c in range(plain.coefficients.shape[1])]
    for part, a, b in zip(parts, plain.coefficients.T, plain.intercept, strict=True):
        used = np.flatnonzero(a) if a.any() else [0]
        node = helper.make_node(
            "SVMRegressor",
            [rows],
            [part],
            domain=_ML,
            kernel_type=name,
            kernel_params=numbers,
            n_supports=len(used),
            support_vectors=centres[used].ravel().tolist(),
            coefficients=a[used].tolist(),
            rho=[float(b)],
        )
        nodes.append(node)
    nodes.append(helper.make_node("Concat", parts, ["f"], axis=1))
    return nodes


def _decision(plain: PlainModel, helper: Any, types: Any) -> tuple[list[Any], list[Any], int]:
    """Return the nodes that compute label and scores from f, constants, and the labels' type."""
    assert plain.classes is not None
    kind, labels = _labels(plain.classes, types)
    constants = [helper.make_tensor("classes", kind, [len(labels)], labels)]
    if len(labels) == 2:
        nodes = [
            helper.make_node("Reshape", ["f", "flat"], ["scores"]),
            helper.make_node("GreaterOrEqual", ["scores", "zero"], ["second"]),
            helper.make_node("Cast", ["second"], ["code"], to=types.INT64),
        ]
        constants.append(helper.make_tensor("flat", types.INT64, [1], [-1]))
        constants.append(helper.make_tensor("zero", types.FLOAT, [], [0.0]))
    else:
        nodes = [
            helper.make_node("Identity", ["f"], ["scores"]),
            helper.make_node("ArgMax", ["f"], ["code"], axis=1, keepdims=0),
        ]
    nodes.append(helper.make_node("Gather", ["classes", "code"], ["label"], axis=0))
    return nodes, constants, kind


def _labels(classes: NDArray[Any], types: Any) -> tuple[int, list[Any]]:
    """Return the labels' type in ONNX, and the labels."""
    kinds = {"b": types.BOOL, "i": types.INT64, "u": types.UINT64, "f": types.DOUBLE}
    if classes.dtype.kind in kinds:
        return kinds[classes.dtype.kind], classes.tolist()
    return types.STRING, [str(label).encode() for label in classes.tolist()]
