"""Encoders of texts and images in a file: what they are called, and what they have counted.

A file has no weights of a model. It has the model's name and its hash. The model is found again
when rows are encoded, and one of another hash is refused. So files stay small and hold no code.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ..embed import ImageEmbedder, TextEmbedder, Words
from .codec import Kind, State
from .state_machines import require

_HASH = 64  # digits of SHA-256
_WIDEST = 2**24  # numbers of a vector
_OF_WORDS = ("words_", "word_idf_", "pieces_", "piece_idf_")
_OF_MODEL = ("model_", "hash_", "n_features_out_")


def check_encoder_model(encoder: Any) -> None:
    """Raise if an embedder has a model that a file cannot name."""
    if callable(encoder.model):
        name = getattr(encoder.model, "__qualname__", type(encoder.model).__name__)
        raise ValueError(
            f"This {type(encoder).__name__} has the function {name} as its model, and a file holds "
            "no code, so it cannot be saved. Give a model by its name, its folder or its file in "
            "ONNX; or encode rows yourself, and fit to the vectors."
        )


def check_local(encoder: Any) -> None:
    """Raise unless an embedder from a file names a model, and no place where to write."""
    named = type(encoder.model) is str and encoder.model
    require(named, f"the model of its encoder is {str(encoder.model)[:40]}")
    usual = encoder.cache is None or encoder.cache == "auto"
    require(usual, f"its vectors are kept at {str(encoder.cache)[:40]}")


def _embedder_parameters(encoder: Any) -> State:
    """Return the parameters without the settings of this machine: its cache and its terminal."""
    check_encoder_model(encoder)
    cache = None if encoder.cache is None else "auto"
    own = {"model": os.fspath(encoder.model), "cache": cache, "verbose": 0}
    return encoder.get_params(deep=False) | own


def _embedder_state(encoder: Any) -> State:
    return {name: getattr(encoder, name) for name in _OF_MODEL}


def _restore_embedder(encoder: Any, state: State) -> None:
    require(set(state) == set(_OF_MODEL), "an encoder is not complete")
    check_local(encoder)
    for name in ("batch_size", "verbose", "size"):
        value = getattr(encoder, name, 0)
        require(type(value) is int and 0 <= value < 2**31, f"the {name} of its encoder is {value}")
    name, digest, width = (state[key] for key in _OF_MODEL)
    hexadecimal = type(digest) is str and len(digest) == _HASH and digest.isalnum()
    require(type(name) is str and name, "the model of its encoder has no name")
    require(digest is None or hexadecimal, "the model of its encoder has no hash")
    require(type(width) is int and 0 < width <= _WIDEST, f"its vectors have {width} numbers")
    encoder.model_, encoder.hash_, encoder.n_features_out_ = name, digest, width


def _words_state(encoder: Words) -> State:
    return {name: getattr(encoder, name) for name in _OF_WORDS}


def _restore_words(encoder: Words, state: State) -> None:
    require(set(state) == set(_OF_WORDS), "its words are not complete")
    for terms, weights in (("words_", "word_idf_"), ("pieces_", "piece_idf_")):
        found, idf = np.asarray(state[terms]), state[weights]
        texts = found.ndim == 1 and all(isinstance(each, str) for each in found)
        require(texts and len(set(found)) == len(found), "its words are no words")
        fits = isinstance(idf, np.ndarray) and idf.shape == found.shape and idf.dtype == np.float64
        require(fits and np.isfinite(idf).all() and (idf > 0).all(), "its words have no weights")
        setattr(encoder, terms, found.astype(object))
        setattr(encoder, weights, idf)
    encoder.n_features_out_ = len(encoder.words_) + len(encoder.pieces_)
    require(encoder.n_features_out_ > 0, "it has no words")


EMBEDDERS = (TextEmbedder, ImageEmbedder)
ENCODERS = (
    *(Kind(cls, _embedder_state, _restore_embedder, _embedder_parameters) for cls in EMBEDDERS),
    Kind(Words, _words_state, _restore_words),
)


def width_of(encoder: Any) -> int:
    """Return how many columns a fitted encoder of a view makes; ValueError for other objects."""
    if hasattr(encoder, "steps"):
        encoder = encoder.steps[-1][1]
    if type(encoder) in (kind.cls for kind in ENCODERS):
        return int(encoder.n_features_out_)
    from .state_preparations import FOR_VIEWS, output_width  # slow to import

    known = type(encoder) in FOR_VIEWS and hasattr(encoder, "n_features_in_")
    require(known, f"a view is made by {str(encoder)[:40]}")
    return output_width(encoder)
