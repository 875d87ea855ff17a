"""What both embedders share: a model that is found in `fit`, the cache, batches and the bar."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .._util.parameters import check_count
from .._util.progress import progress_bar
from .cache import VectorCache, cache_folder
from .encoder import Encoder, Rows

_KEPT_AT_ONCE = 1024  # rows that are written to the cache at a time: a kill loses no more


class Embedder(TransformerMixin, BaseEstimator):
    """A transformer from texts or images to the vectors of a model.

    The loaded model is no fitted attribute: copies and pickles find it again by its name, and
    refuse another one by its hash.
    """

    model: Any
    batch_size: int
    cache: Any
    verbose: int
    _encoder: Encoder | None = None

    @abstractmethod
    def _find_model(self) -> Encoder:
        """Return the model that the parameters name."""

    @abstractmethod
    def _items(self, X: Any) -> Sequence[Any]:
        """Return the items of X, checked."""

    @abstractmethod
    def _key(self, item: Any) -> bytes:
        """Return what an item is told by in the cache."""

    @abstractmethod
    def _loaded(self, item: Any) -> Any:
        """Return an item as the model takes it."""

    @abstractmethod
    def _probe(self, items: Sequence[Any]) -> Any:
        """Return an item that shows how long a vector is."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the model; nothing is learned from X.

        Parameters
        ----------
        X : list or array
            Texts or images, as in `transform`.
        y : ignored
            Not used.

        Returns
        -------
        self
        """
        check_count("batch_size", self.batch_size)
        items = self._items(X)
        encoder = self._encoder = self._find_model()
        self.model_, self.hash_ = encoder.name, encoder.hash
        self.n_features_out_ = (
            encoder.n_features or encoder.rows([self._loaded(self._probe(items))]).shape[1]
        )
        return self

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns.

        Parameters
        ----------
        input_features : ignored
            Not used.
        """
        check_is_fitted(self)
        return np.array([f"vector_{k + 1}" for k in range(self.n_features_out_)], dtype=object)

    def _vectors(self, items: Sequence[Any]) -> Rows:
        """Return one row for each item: from the cache, or computed."""
        encoder = self._model_of_fit()
        cache = self._open_cache(encoder)
        # Without a cache nothing is hashed, and every item is its own.
        keys = [self._key(item) for item in items] if cache else list(range(len(items)))
        rows: dict[Any, Any] = cache.read(dict.fromkeys(keys)) if cache else {}
        missing = {key: item for key, item in zip(keys, items, strict=True) if key not in rows}
        with progress_bar(self.verbose, total=len(items), unit="row") as bar:
            bar.update(len(items) - len(missing))
            self._compute(missing, rows, encoder, cache, bar)
        if not keys:
            return np.empty((0, self.n_features_out_), np.float32)
        return np.stack([rows[key] for key in keys])

    def _compute(
        self,
        missing: dict[Any, Any],
        rows: dict[Any, Any],
        encoder: Encoder,
        cache: VectorCache | None,
        bar: Any,
    ) -> None:
        """Add the rows of what is missing, and keep them in the cache as they come."""
        order = sorted(missing, key=lambda key: self._length(missing[key]))
        waiting: list[Any] = []
        for start in range(0, len(order), self.batch_size):
            keys = order[start : start + self.batch_size]
            found = self._finished(encoder.rows([self._loaded(missing[key]) for key in keys]))
            if found.shape[1] != self.n_features_out_:
                raise ValueError(
                    f"The model {encoder.name} returned vectors of length {found.shape[1]:,}, but "
                    f"of length {self.n_features_out_:,} in fit."
                )
            rows.update(zip(keys, found, strict=True))
            waiting += keys
            last = start + len(keys) == len(order)
            if cache and (last or len(waiting) >= _KEPT_AT_ONCE):
                cache.write(waiting, np.stack([rows[key] for key in waiting]))
                waiting = []
            bar.update(len(keys))

    def _length(self, item: Any) -> int:
        """Return what items are sorted by, so that those of a batch cost the same."""
        return 0

    def _finished(self, rows: Rows) -> Rows:
        """Return the model's rows as users get them."""
        return rows

    def _model_of_fit(self) -> Encoder:
        """Return the model that `fit` has found; find it again in a copy, and compare."""
        check_is_fitted(self)
        if self._encoder is None:
            encoder = self._find_model()
            if encoder.hash != self.hash_:
                raise ValueError(
                    f"This {type(self).__name__} was fitted with the model {self.model_} of hash "
                    f"{str(self.hash_)[:12]}, but here {encoder.name} has the hash "
                    f"{str(encoder.hash)[:12]}. Bring the same model, or fit again."
                )
            self._encoder = encoder
        return self._encoder

    def _open_cache(self, encoder: Encoder) -> VectorCache | None:
        if self.cache is None or encoder.hash is None:
            return None
        return VectorCache(cache_folder(self.cache), encoder.hash, self.n_features_out_)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("_encoder", None)
        return state
