"""Which model of texts a name, a folder, a file or a callable means."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .encoder import Encoder, MissingModelError, of_callable, read_notes
from .onnx_texts import onnx_file, onnx_text_model
from .text_libraries import LIBRARIES, MODEL2VEC, SENTENCES
from .word_pieces import word_pieces

_OF_SENTENCES = ("modules.json", "config_sentence_transformers.json")


def find_text_model(model: Any) -> Encoder:
    """Return the model that is meant: a callable, "auto", a folder or file, or a name."""
    if callable(model):
        return of_callable(model)
    if not isinstance(model, str | os.PathLike) or not os.fspath(model):
        raise TypeError(
            f"model has to be 'auto', a name, a folder, a file in ONNX or a function, "
            f"got {model!r}."
        )
    name = os.fspath(model)
    if name == "auto":
        return word_pieces()
    kind, _, rest = name.partition(":")
    place = Path(rest if kind == "onnx" or kind in LIBRARIES else name).expanduser()
    if kind == "onnx":
        return onnx_text_model(place)
    if kind in LIBRARIES:
        library = LIBRARIES[kind]
        return library.from_folder(place) if place.is_dir() else library.from_name(rest)
    if place.exists():
        return _from_place(place)
    if isinstance(model, os.PathLike) or place.is_absolute() or name.startswith((".", "~")):
        raise MissingModelError(f"There is no folder or file {place}. Check its name.")
    return _from_name(name)


def _from_place(place: Path) -> Encoder:
    """Return the model in a folder or file, told by the files that each kind has."""
    if _is_model2vec(place):
        return MODEL2VEC.from_folder(place)
    if any((place / name).is_file() for name in _OF_SENTENCES):
        return SENTENCES.from_folder(place)
    if onnx_file(place) is not None:
        return onnx_text_model(place)
    raise MissingModelError(
        f"{place} holds no model that is known: neither modules.json (sentence-transformers), nor "
        "config.json with tokenizer.json and model.safetensors (model2vec), nor an .onnx file with "
        "tokenizer.json."
    )


def _is_model2vec(folder: Path) -> bool:
    if not all((folder / name).is_file() for name in ("config.json", "model.safetensors")):
        return False
    config = read_notes(folder / "config.json")
    named = config.get("model_type") == "model2vec"
    return named or config.get("architectures") == ["StaticModel"]


def _from_name(name: str) -> Encoder:
    """Return the model from the first library that is installed and can load it."""
    missing, refused = [], []
    for package, library in LIBRARIES.items():
        try:
            return library.from_name(name)
        except ImportError:
            missing.append(package)
        except MissingModelError as error:
            refused.append(error)
    if not refused:
        raise ImportError(
            f"{name!r} is no folder or file here, so it is the name of a model, which needs one of "
            f"{', '.join(missing)}: run pip install {missing[0]}, or give a folder in ONNX."
        )
    looked = f" {', '.join(missing)} would be tried too, but are not installed." * bool(missing)
    raise MissingModelError(" ".join(map(str, refused)) + looked) from refused[0]
