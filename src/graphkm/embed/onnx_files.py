"""Graphs in ONNX: their files, and the sessions of onnxruntime that run them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .encoder import MissingModelError, first_line, needed

_ERRORS = 3  # onnxruntime reports errors, and no warnings about its own optimisations


def open_session(path: Path) -> Any:
    """Return a session on the processor; raise an error that names the file."""
    onnxruntime = needed("onnxruntime", "A model in ONNX", "onnxruntime")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _ERRORS
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has a dozen classes of errors without a common one
        raise MissingModelError(
            f"onnxruntime cannot load {path} ({first_line(error)}). Export or download it again."
        ) from error


def run_session(session: Any, path: Path, output: str, given: dict[str, Any]) -> Any:
    """Return one output of a graph."""
    try:
        return session.run([output], given)[0]
    except Exception as error:
        raise MissingModelError(
            f"onnxruntime cannot run {path} ({first_line(error)}). Check that the files beside it, "
            "such as its tokenizer, belong to it."
        ) from error


def parts_of(path: Path) -> dict[str, Path]:
    """Return the file of a graph and those with its large tensors, which begin with its name."""
    return {each.name: each for each in path.parent.glob(f"{path.name}*") if each.is_file()}


def fixed(dimension: Any) -> int | None:
    """Return the length of an axis if the graph fixes it.

    Examples
    --------
    >>> fixed(3), fixed("batch")
    (3, None)
    """
    return dimension if isinstance(dimension, int) and dimension > 0 else None
