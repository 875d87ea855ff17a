"""Text models of sentence-transformers, model2vec and fastembed, where these are installed.

A folder is told by its files, so its vectors can come from the cache without loading the library.
A name is loaded by its library, as it always does, and told by its weights.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from .encoder import Encoder, MissingModelError, digest, first_line, weights_digest
from .reading import LONGEST, cut

_IGNORED = (".md", ".txt~", ".lock")  # files that change no vector


class Library:
    """One library: its names, how it loads a model, how that encodes, and what it is told by."""

    def __init__(
        self,
        package: str,
        module: str,
        load: Callable[[Any, str], Any],
        encode: Callable[[Any, list[str]], Any],
        hash_of: Callable[[Any, str], str | None],
    ) -> None:
        self.package, self.module = package, module
        self._load, self._encode, self._hash_of = load, encode, hash_of

    def from_name(self, name: str) -> Encoder:
        """Return a model by its name; ImportError without the library, ValueError without it."""
        model = self.loaded(name)
        label = f"{self.package}:{name}"
        settings = f"{self.package}, {LONGEST} characters"
        return Encoder(
            label,
            self._hash_of(model, settings),
            None,
            lambda texts: self._encode(model, cut(texts)),
        )

    def from_folder(self, folder: Path) -> Encoder:
        """Return the model in a folder, which is loaded when it is needed."""
        files = {
            path.relative_to(folder).as_posix(): path
            for path in folder.rglob("*")
            if path.is_file() and path.suffix not in _IGNORED and not path.name.startswith(".")
        }
        load = cache(lambda: self.loaded(str(folder)))
        return Encoder(
            f"{self.package}:{folder.name}",
            digest(f"{self.package}, {LONGEST} characters", files),
            None,
            lambda texts: self._encode(load(), cut(texts)),
        )

    def loaded(self, name: str) -> Any:
        """Return the library's model."""
        try:
            module = importlib.import_module(self.module)
        except ImportError as error:
            raise ImportError(
                f"The model {name} needs {self.package} ({first_line(error)}): run pip install "
                f"{self.package}"
            ) from error
        try:
            return self._load(module, name)
        except Exception as error:  # each library has errors of its own
            raise MissingModelError(
                f"{self.package} cannot load the model {name} ({first_line(error)}). Check the "
                "name and the network, or download the model and give its folder."
            ) from error


def _encode_sentences(model: Any, texts: list[str]) -> Any:
    return model.encode(
        texts, batch_size=len(texts), show_progress_bar=False, convert_to_numpy=True
    )


def _hash_sentences(model: Any, settings: str) -> str:
    length = getattr(model, "max_seq_length", None)
    return weights_digest(f"{settings}, {length} pieces", model.state_dict())


def _hash_static(model: Any, settings: str) -> str:
    words = model.tokenizer.to_str() if hasattr(model.tokenizer, "to_str") else ""
    return weights_digest(f"{settings}, {words}", {"embedding": model.embedding})


SENTENCES = Library(
    "sentence-transformers",
    "sentence_transformers",
    lambda module, name: module.SentenceTransformer(name),
    _encode_sentences,
    _hash_sentences,
)
MODEL2VEC = Library(
    "model2vec",
    "model2vec",
    lambda module, name: module.StaticModel.from_pretrained(name),
    lambda model, texts: model.encode(texts),
    _hash_static,
)
# Where fastembed keeps its files is its own affair, so their hash is not known.
FASTEMBED = Library(
    "fastembed",
    "fastembed",
    lambda module, name: module.TextEmbedding(model_name=name),
    lambda model, texts: np.stack(list(model.embed(texts, batch_size=len(texts)))),
    lambda model, settings: None,
)
LIBRARIES = {each.package: each for each in (SENTENCES, MODEL2VEC, FASTEMBED)}
"""The libraries in the order in which a name is tried."""
