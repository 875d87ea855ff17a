"""`graphkm export`: a model for other programs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from .options import AsJson, Model
from .spreading import spread

EXAMPLES = (
    "graphkm export machine.gkm --to libsvm",
    "graphkm export machine.gkm --to onnx --out machine.onnx",
)


class Target(StrEnum):
    """Formats of models."""

    libsvm = "libsvm"
    onnx = "onnx"


@spread
def export(
    model: Model,
    to: Annotated[Target, typer.Option(help="The format.", show_default=False)],
    out: Annotated[
        Path | None,
        typer.Option(help="The file to write; by default MODEL with the format's name."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write a model as LIBSVM's svm-predict or ONNX runtimes read it.

    The mixture that train makes goes to ONNX. Kernel machines of train --method go to both.
    LIBSVM's labels are whole numbers. Other labels are numbered, and the numbers are printed.
    For LIBSVM, scaling goes to a file of its own, for svm-scale -r. An ONNX file holds it.
    """
    from ..exchange import to_onnx
    from .links import known_rows
    from .model_files import read_model
    from .output import check_output, show

    path = out or model.with_suffix(f".{to.value}")
    check_output(path, model)
    fitted, _ = read_model(model)
    if known_rows(fitted) is not None:
        raise ValueError(
            f"{model} was trained with --edges, and no other format takes edges. Train without "
            "--edges, and export that model; or predict with graphkm predict."
        )
    lines: dict[str, str | None] = {"written": str(path)}
    facts: dict[str, Any] = {"model": model, "to": to.value, "out": path}
    if to is Target.onnx:
        to_onnx(fitted, path=path)
    else:
        _refuse_mixture(fitted, model)
        more, more_facts = _to_libsvm(fitted, path)
        lines, facts = lines | more, facts | more_facts
    show(lines, facts, as_json)


def _refuse_mixture(fitted: Any, path: Path) -> None:
    """Raise for a mixture, and say what can be written instead."""
    from ..exchange.storable import MIXED
    from .model_files import last_step

    if isinstance(last_step(fitted), MIXED):
        raise ValueError(
            f"{path} holds a mixture of members, for which LIBSVM has no form. Pass --to onnx, "
            "which has one; or write a kernel machine: train with --method gkm --solver newton, "
            "and export that."
        )


def _to_libsvm(fitted: Any, path: Path) -> tuple[dict[str, str | None], dict[str, Any]]:
    from ..exchange import to_libsvm
    from .learning_rows import label_values
    from .model_files import last_step

    whole = all(isinstance(label, int) for label in label_values(getattr(fitted, "classes_", ())))
    ranges = None if last_step(fitted) is fitted else path.with_name(path.name + ".range")
    codes = to_libsvm(fitted, path, labels="same" if whole else "codes", ranges=ranges)
    named = {} if whole else dict(zip(codes, label_values(codes.values()), strict=True))
    return {
        "scaling": None if ranges is None else f"{ranges}, for svm-scale -r",
        "labels": ", ".join(f"{k} is {label}" for k, label in named.items()) or None,
    }, {"ranges": ranges, "labels": named or None}
