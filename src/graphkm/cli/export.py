"""`graphkm export`: a model for other programs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from .grouping import spread
from .options import AsJson, Model

EXAMPLE = "graphkm export moons.gkm --to libsvm"
MORE_EXAMPLES = ("graphkm export moons.gkm --to onnx --out moons.onnx",)


class Target(StrEnum):
    """Formats of models."""

    libsvm = "libsvm"
    onnx = "onnx"


@spread
def export(
    model: Model,
    to: Annotated[Target, typer.Option("--to", help="The format.", show_default=False)],
    out: Annotated[
        Path | None,
        typer.Option("--out", help="The file to write; by default MODEL with the format's name."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write a model as LIBSVM's svm-predict or ONNX runtimes read it."""
    from ..exchange import to_libsvm, to_onnx
    from .model_files import read_model
    from .printing import show
    from .writing import require_folder

    path = out or model.with_suffix(f".{to.value}")
    require_folder(path)
    fitted, _ = read_model(model)
    if to is Target.libsvm:
        to_libsvm(fitted, path)
    else:
        to_onnx(fitted, path=path)
    show({"written": str(path)}, {"model": model, "to": to.value, "out": path}, as_json)
