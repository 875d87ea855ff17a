"""`TextEmbedder`: texts as vectors."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from .embedder import Embedder
from .encoder import Encoder, Rows
from .reading import as_texts
from .text_models import find_text_model


class TextEmbedder(Embedder):
    """Texts as the vectors of a model.

    A vector has length 1. An empty text, or a missing one, is a row of zeros. Only the first 20,000
    characters of a text count, unless the model is a callable.

    Parameters
    ----------
    model : str, path or callable, default="auto"
        - "auto": vectors of word pieces that come with ``pip install "graphkm[text]"``. They need
          no network. A text's vector is the mean of its pieces' vectors.
        - A name or a folder of a model of sentence-transformers, model2vec or fastembed, if that
          package is installed. A name is tried in this order; ``"fastembed:NAME"`` asks only one.
        - A folder or a file in ONNX with its ``tokenizer.json``. It needs onnxruntime and
          tokenizers.
        - A function that takes a list of texts and returns an array with one row for each.
    batch_size : int, default=64
        How many texts the model gets at a time.
    cache : "auto", path or None, default="auto"
        The folder where vectors are kept, so that the same text is computed once. "auto" is the
        folder in the environment variable GRAPHKM_CACHE, or graphkm's in the user's cache. None
        keeps nothing. Vectors of callables are not kept.
    verbose : int, default=0
        Whether a progress bar is shown.

    Attributes
    ----------
    model_ : str
        The model's name.
    hash_ : str or None
        SHA-256 of the model's files and of the settings that change vectors; None for callables.
    n_features_out_ : int
        The length of a vector.

    Examples
    --------
    >>> from graphkm.embed import TextEmbedder
    >>> rows = TextEmbedder(cache=None).fit_transform(["a cat", "the kitten", "stock market"])
    >>> rows.shape
    (3, 256)
    >>> bool(rows[0] @ rows[1] > rows[0] @ rows[2])
    True
    """

    def __init__(
        self,
        model: Any = "auto",
        *,
        batch_size: int = 64,
        cache: Any = "auto",
        verbose: int = 0,
    ) -> None:
        self.model = model
        self.batch_size = batch_size
        self.cache = cache
        self.verbose = verbose

    def transform(self, X: Any) -> Rows:
        """Return the vectors of texts.

        Parameters
        ----------
        X : list, 1-D array, Series, or frame of one column
            The texts.

        Returns
        -------
        ndarray of float32 of shape (n_texts, n_columns)
        """
        texts = self._items(X)
        self._model_of_fit()
        full = [row for row, text in enumerate(texts) if text]
        rows = np.zeros((len(texts), self.n_features_out_), np.float32)
        rows[full] = self._vectors([texts[row] for row in full])
        return rows

    def _find_model(self) -> Encoder:
        return find_text_model(self.model)

    def _items(self, X: Any) -> Sequence[str]:
        return as_texts(X)

    def _key(self, item: str) -> bytes:
        return hashlib.sha256(item.encode()).digest()

    def _loaded(self, item: str) -> str:
        return item

    def _length(self, item: str) -> int:
        return len(item)

    def _probe(self, items: Sequence[str]) -> str:
        return next(filter(None, items), "text")

    def _finished(self, rows: Rows) -> Rows:
        lengths = np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
        return (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.string = False, True
        return tags
