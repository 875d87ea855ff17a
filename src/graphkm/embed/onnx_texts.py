"""Transformers in ONNX with their tokenizers: onnxruntime and tokenizers run them, nothing else."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .encoder import Encoder, MissingModelError, digest, first_line, needed, read_notes
from .onnx_files import fixed, open_session, parts_of, run_session
from .reading import LONGEST, cut

_USUAL_LENGTH = 256  # pieces of a text that count, if nothing says more
_NO_LENGTH = 100_000  # tokenizers without a limit name a huge one
_MODULES = {"Transformer", "Pooling", "Normalize"}
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")


class _Files(NamedTuple):
    model: Path
    tokenizer: Path
    folder: Path


def onnx_file(place: Path) -> Path | None:
    """Return the graph that a path means: itself, or model.onnx or the only one in a folder."""
    if place.is_file():
        return place if place.suffix == ".onnx" else None
    for name in ("model.onnx", "onnx/model.onnx"):
        if (place / name).is_file():
            return place / name
    found = sorted(place.glob("*.onnx"))
    return found[0] if len(found) == 1 else None


def onnx_text_model(place: Path) -> Encoder:
    """Return the model of a file or folder.

    Inputs are those of `_INPUTS` that the graph has. An output with a vector for each piece becomes
    their mean, or the first piece's vector if ``1_Pooling/config.json`` says so.
    """
    files = _find_files(place)
    pooling, length = _pooling(files.folder), _length(files)
    settings = f"onnx, {pooling}, {length} pieces, {LONGEST} characters"
    named = {"tokenizer.json": files.tokenizer, **parts_of(files.model)}
    load = cache(lambda: _Network(files, pooling, length))
    return Encoder(
        f"onnx:{place.name}", digest(settings, named), None, lambda texts: load()(cut(texts))
    )


class _Network:
    """A tokenizer and a session of onnxruntime."""

    def __init__(self, files: _Files, pooling: str, length: int) -> None:
        tokenizers = needed("tokenizers", "A text model in ONNX", '"graphkm[text]"')
        self.path, self.session = files.model, open_session(files.model)
        self.inputs = {node.name: node for node in self.session.get_inputs()}
        unknown = sorted(set(self.inputs) - set(_INPUTS))
        if unknown or "input_ids" not in self.inputs:
            raise MissingModelError(
                f"{files.model} has the inputs {', '.join(self.inputs)}. A text model has to have "
                f"input_ids, and may have {' and '.join(_INPUTS[1:])}, and no others."
            )
        self.output = _sentence_output(self.session)
        self.pooling = pooling
        self.n_texts, self.n_pieces = map(fixed, self.inputs["input_ids"].shape)
        try:
            self.tokenizer = tokenizers.Tokenizer.from_file(str(files.tokenizer))
        except Exception as error:  # the package raises no other class
            raise MissingModelError(
                f"{files.tokenizer} is no tokenizer ({first_line(error)}). Download it again."
            ) from error
        self.pad = (self.tokenizer.padding or {}).get("pad_id", 0)
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(min(length, self.n_pieces or length))

    def __call__(self, texts: list[str]) -> NDArray:
        """Return a row for each text."""
        step = self.n_texts or len(texts)
        if len(texts) % step:
            raise ValueError(f"The graph takes {step} texts at a time; export it for any number.")
        runs = [self._run(texts[start : start + step]) for start in range(0, len(texts), step)]
        return np.concatenate(runs)

    def _run(self, texts: list[str]) -> NDArray:
        pieces = self.tokenizer.encode_batch(texts)
        width = self.n_pieces or max(1, *(len(each.ids) for each in pieces))
        feed = {name: np.zeros((len(texts), width), np.int64) for name in _INPUTS}
        feed["input_ids"] += self.pad
        for row, each in enumerate(pieces):
            n = len(each.ids)
            feed["input_ids"][row, :n] = each.ids
            feed["attention_mask"][row, :n] = each.attention_mask
            feed["token_type_ids"][row, :n] = each.type_ids
        given = {name: _typed(feed[name], node.type) for name, node in self.inputs.items()}
        values = run_session(self.session, self.path, self.output, given)
        if values.ndim != 3:
            return values.astype(np.float32)
        if self.pooling == "first piece":
            return values[:, 0].astype(np.float32)
        mask = feed["attention_mask"][:, :, None].astype(np.float32)
        return (values * mask).sum(axis=1) / np.maximum(mask.sum(axis=1), 1)


def _typed(values: NDArray, kind: str) -> NDArray:
    return values.astype(np.int32) if kind == "tensor(int32)" else values


def _sentence_output(session: Any) -> str:
    """Return the name of the output with a vector for each text, or else the first one."""
    names = [node.name for node in session.get_outputs()]
    return "sentence_embedding" if "sentence_embedding" in names else names[0]


def _find_files(place: Path) -> _Files:
    model = onnx_file(place)
    if model is None:
        raise MissingModelError(f"{place} holds no model.onnx. Name the file itself.")
    above = [model.parent.parent] if model.parent.name == "onnx" else []
    for folder in [model.parent, *above]:
        if (folder / "tokenizer.json").is_file():
            return _Files(model, folder / "tokenizer.json", folder)
    raise MissingModelError(
        f"There is no tokenizer.json beside {model}. A text model needs the tokenizer that it was "
        "trained with: copy it there."
    )


def _pooling(folder: Path) -> str:
    modules = [module["type"].rpartition(".")[2] for module in read_notes(folder / "modules.json")]
    if set(modules) - _MODULES:
        raise MissingModelError(
            f"{folder} has the modules {', '.join(modules)}, which an ONNX file of a transformer "
            "does not hold; use the model through sentence-transformers."
        )
    notes = read_notes(folder / "1_Pooling" / "config.json")
    chosen = [name for name, value in notes.items() if name.startswith("pooling_mode_") and value]
    if not chosen or chosen == ["pooling_mode_mean_tokens"]:
        return "mean"
    if chosen == ["pooling_mode_cls_token"]:
        return "first piece"
    raise MissingModelError(
        f"{folder} asks for {', '.join(chosen)}. Only the mean and the first piece are known here; "
        "use the model through sentence-transformers."
    )


def _length(files: _Files) -> int:
    """Return how many pieces of a text count, as the files beside the model say."""
    truncation = read_notes(files.tokenizer).get("truncation") or {}
    said = (
        read_notes(files.folder / "sentence_bert_config.json").get("max_seq_length"),
        truncation.get("max_length"),
        read_notes(files.folder / "tokenizer_config.json").get("model_max_length"),
    )
    lengths = [int(each) for each in said if each and each < _NO_LENGTH]
    return lengths[0] if lengths else _USUAL_LENGTH
