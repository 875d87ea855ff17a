"""Mixtures with an estimator of scikit-learn inside, as skops files.

skops writes a zip file of JSON and arrays. Reading it makes objects of known types alone, and runs
no code of the file. The types are a closed list: what the models of the command line consist of.
How much memory a file would take is known, and limited, before any of it is unpacked.
scikit-learn does not check the numbers of its own trees and vectors, so a forged file can still
give any prediction, or crash the process.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

from scipy.sparse import csr_array, csr_matrix

from ..estimators import calibration
from ..expansion import KernelExpansion
from ..graphs import KNN, AnchorNodes, Anchors, RowNodes
from ..graphs.given_edges import Ids
from ..judge import held_out
from ..judge.units import Units
from ..kernel_ridge import KernelRidgeClassifierCV, KernelRidgeCV
from ..kernels import SquaredExponential
from ..members.named import LikeNames
from ..members.per_column import PerColumn
from ..members.ranked import Ranked
from ..neighbours.index import NeighbourIndex
from ..semi import mixed, mixed_views, report, views
from .container import ModelFileError, write_parts
from .state_encoders import EMBEDDERS, ENCODERS, check_encoder_model, check_local
from .storable import MIXED

_PARTS = (
    *(held_out.HeldOut, Units, calibration.Calibration, PerColumn, Ranked),
    *(RowNodes, AnchorNodes, NeighbourIndex, KNN, Anchors),
    *MIXED,
    *(mixed.Mixed, mixed.Part, mixed.Linked, Ids, report.MemberTable, report.MemberReport),
    *(KernelRidgeClassifierCV, KernelRidgeCV, KernelExpansion, SquaredExponential),
    *(csr_array, csr_matrix),
    *(mixed_views.MixedViews, views.View, views.ViewColumns, LikeNames),
    *(kind.cls for kind in ENCODERS),
)
_TRUSTED = {f"{cls.__module__}.{cls.__qualname__}" for cls in _PARTS} | {
    "numpy.dtype",
    "sklearn.tree._tree.Tree",
    "sklearn.ensemble._hist_gradient_boosting.binning._BinMapper",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    # Losses of boosting, as skops 0.13 lists them with scikit-learn 1.6.
    "_loss.CyHalfMultinomialLoss",
    "sklearn._loss.link.IdentityLink",
    "sklearn._loss.link.Interval",
    "sklearn._loss.link.LogitLink",
    "sklearn._loss.link.MultinomialLogit",
    "sklearn._loss.loss.HalfBinomialLoss",
    "sklearn._loss.loss.HalfMultinomialLoss",
    "sklearn._loss.loss.HalfSquaredError",
}

_PACKED = 100
"""The most times its own length that a file may unpack to. Models of the command line unpack to
5 to 14 times their length (a forest most), and a file of zeros to 1,000 times."""

_NO_COMMENT = b"\0\0"
"""How a zip file without a comment ends: with the comment's length."""

_HARMLESS = 2**26  # bytes that any file may unpack to: a small model may have many equal numbers


def is_skops_file(path: str | os.PathLike[str]) -> bool:
    """Return whether a file begins as skops files do; a pipe is left unread."""
    if not Path(path).is_file():
        return False
    with open(path, "rb") as file:
        return file.read(4) == b"PK\x03\x04"


def save_with_skops(model: Any, path: str | os.PathLike[str], note: dict[str, Any]) -> None:
    """Write a model and its note, whole or not at all."""
    for encoder in _embedders(model):
        check_encoder_model(encoder)
    content = _skops().dumps({"model": model, "note": note}, compression=zipfile.ZIP_DEFLATED)
    write_parts(path, [_sealed(content)], keep_previous=True)


def load_with_skops(path: str | os.PathLike[str]) -> tuple[Any, dict[str, Any]]:
    """Return the model and the note of a file; raise ModelFileError for any other content."""
    skops, content = _skops(), Path(path).read_bytes()
    try:
        _check_seal(content)
        _refuse_bombs(os.fspath(path), content)
        unknown = sorted(set(skops.get_untrusted_types(data=content)) - _TRUSTED)
        found = {} if unknown else skops.loads(content, trusted=sorted(_TRUSTED))
    except ModelFileError:
        raise
    except Exception as error:  # skops has no error of its own for files that it cannot read
        raise ModelFileError(
            f"{os.fspath(path)} is damaged, or not a graphkm model ({type(error).__name__}: "
            f"{error}); train the model again."
        ) from error
    if unknown:
        raise ModelFileError(
            f"{os.fspath(path)} holds {', '.join(unknown[:3])}, which no model of graphkm train "
            "consists of; it is not loaded."
        )
    model, note = _parts(found)
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    fitted = isinstance(last, MIXED) and hasattr(last, "mixture_")
    if not (fitted and type(note) is dict):
        raise ModelFileError(
            f"{os.fspath(path)} is a skops file, but not a model of graphkm train."
        )
    try:
        for encoder in _embedders(model):
            check_local(encoder)
    except (AttributeError, TypeError, ValueError) as error:
        raise ModelFileError(f"{os.fspath(path)} is not loaded: {error}.") from error
    return model, note


def _embedders(model: Any) -> Iterator[Any]:
    """Yield the encoders of a model's views that name another model."""
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    for view in getattr(last, "views_", {}).values():
        if isinstance(view.encoder, EMBEDDERS):
            yield view.encoder


def _sealed(content: bytes) -> bytes:
    """Return a zip file with a digest of itself as its comment: not every byte has a checksum."""
    digest = sha256(content).hexdigest().encode()
    if not content.endswith(_NO_COMMENT):
        raise ValueError("skops wrote a zip file with a comment, which this version does not know")
    return content[: -len(_NO_COMMENT)] + len(digest).to_bytes(2, "little") + digest


def _check_seal(content: bytes) -> None:
    """Raise ValueError if a zip file has a digest, and it is not its own."""
    with zipfile.ZipFile(BytesIO(content)) as file:
        digest = file.comment
    if digest:
        plain = content[: -len(digest) - len(_NO_COMMENT)] + _NO_COMMENT
        if sha256(plain).hexdigest().encode() != digest:
            raise ValueError("its digest is that of another file")


def _refuse_bombs(path: str, content: bytes) -> None:
    """Raise ModelFileError if a file would take much more memory than its own length."""
    limit = max(_HARMLESS, _PACKED * len(content))

    def check(size: int) -> None:
        if size > limit:
            raise ModelFileError(
                f"{path} has {len(content):,} bytes and would unpack to {size:,}, more than any "
                f"model does (at most {_PACKED} times its length); it is not loaded. Train the "
                "model again."
            )

    with zipfile.ZipFile(BytesIO(content)) as file:
        check(sum(info.file_size for info in file.infolist()))
        uses = Counter(_named_files(json.loads(file.read("schema.json"))))
        total = 0
        for name, count in uses.items():  # each use reads the file anew
            total += count * _unpacked(file.read(name))
            check(total)


def _named_files(schema: Any) -> Iterator[str]:
    """Yield the names of files that a schema of skops refers to, as often as it does."""
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            if isinstance(node.get("file"), str):
                yield node["file"]
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node


def _unpacked(part: bytes) -> int:
    """Return the bytes of an array; those of a sparse matrix are in a zip file of their own."""
    if not zipfile.is_zipfile(BytesIO(part)):
        return len(part)
    with zipfile.ZipFile(BytesIO(part)) as file:
        return len(part) + sum(info.file_size for info in file.infolist())


def _parts(found: Any) -> tuple[Any, Any]:
    return (found.get("model"), found.get("note")) if isinstance(found, dict) else (None, None)


def _skops() -> Any:
    try:
        import skops.io as skops
    except ImportError as error:
        raise ImportError(
            'Models of scikit-learn are kept in skops files: pip install "graphkm[cli]".'
        ) from error
    return skops
