"""What onnxruntime says of graphs, and of single nodes."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime

from graphkm.exchange.onnx_nodes import TREES, Nodes


def answers(proto, rows):
    """Return the outputs of a graph at rows, by name."""
    onnx.checker.check_model(proto, full_check=True)
    session = onnxruntime.InferenceSession(
        proto.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in session.get_outputs()]
    given = {session.get_inputs()[0].name: np.asarray(rows, np.float32)}
    return dict(zip(names, session.run(None, given), strict=True))


def computed(add, rows):
    """Return what nodes compute in double precision; `add` takes a graph and the name of rows."""
    graph, types = Nodes(onnx), onnx.TensorProto
    value, opset = onnx.helper.make_tensor_value_info, onnx.helper.make_opsetid
    start = graph.add("Cast", "X", to=types.DOUBLE)
    graph.add("Identity", add(graph, start), name="out")
    shapes = (
        [value("X", types.FLOAT, ["n", rows.shape[1]])],
        [value("out", types.DOUBLE, ["n", "k"])],
    )
    made = onnx.helper.make_graph(graph.nodes, "part", *shapes, graph.constants)
    opsets = [opset("", 16), opset(TREES, 3)]
    proto = onnx.helper.make_model(made, opset_imports=opsets, ir_version=8)
    return answers(proto, rows)["out"]


def rows_of(n, seed=0, d=5):
    """Return rows that single precision holds as they are, on scales of their own."""
    rng = np.random.default_rng(seed)
    scales = np.array([1.0, 3.0, 0.2, 10.0, 0.5, 1.0])[:d]
    return (rng.normal(size=(n, d)) * scales + scales).astype(np.float32).astype(np.float64)
