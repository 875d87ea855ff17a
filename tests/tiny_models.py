"""Tiny models in ONNX, made here, so that tests need no download."""

from __future__ import annotations

import json

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "cat", "dog", "red", "blue"]
TABLE = np.random.default_rng(0).normal(size=(len(WORDS), 3)).astype(np.float32)


def text_model(folder, *, inputs=("input_ids", "attention_mask"), pooled=False, shape=("b", "t")):
    """Write model.onnx and tokenizer.json: each word has the vector of its number in TABLE."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    folder.mkdir(parents=True, exist_ok=True)
    words = Tokenizer(models.WordLevel({word: k for k, word in enumerate(WORDS)}, "[UNK]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    words.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    words.save(str(folder / "tokenizer.json"))
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["pieces"])]
    output = helper.make_tensor_value_info("pieces", TensorProto.FLOAT, [*shape, 3])
    if pooled:
        nodes.append(
            helper.make_node("ReduceMax", ["pieces"], ["sentence_embedding"], axes=[1], keepdims=0)
        )
        output = helper.make_tensor_value_info(
            "sentence_embedding", TensorProto.FLOAT, [shape[0], 3]
        )
    given = [helper.make_tensor_value_info(name, TensorProto.INT64, list(shape)) for name in inputs]
    write(folder / "model.onnx", nodes, given, [output], {"table": TABLE})


def image_model(path, *, shape=("b", 3, 8, 8), spatial=True):
    """Write a network whose output is its input, or the means of its channels."""
    given = [helper.make_tensor_value_info("pixels", TensorProto.FLOAT, list(shape))]
    if spatial:
        nodes = [helper.make_node("Identity", ["pixels"], ["out"])]
        out = [helper.make_tensor_value_info("out", TensorProto.FLOAT, list(shape))]
    else:
        nodes = [helper.make_node("ReduceMean", ["pixels"], ["out"], axes=[2, 3], keepdims=0)]
        out = [helper.make_tensor_value_info("out", TensorProto.FLOAT, list(shape[:2]))]
    write(path, nodes, given, out, {})


def write(path, nodes, inputs, outputs, tensors):
    """Write a graph."""
    kept = [numpy_helper.from_array(values, name) for name, values in tensors.items()]
    graph = helper.make_graph(nodes, "tiny", inputs, outputs, kept)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, str(path))


def note(path, **values):
    """Write a file in JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(values))
