"""What both embedders share: a model that is found in `fit`, the cache, batches and the bar."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from time import monotonic
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .._util.parameters import check_count
from .._util.progress import progress_bar
from .cache import VectorCache, open_cache
from .encoder import Encoder, Rows

_KEPT_AT_ONCE = 512  # rows that wait for the cache; more cost less time each
_KEPT_AFTER = 5.0  # seconds: a kill loses no more work of a slow model


class _Keeper:
    """Writes rows to the cache, many at a time, and the last ones also after an error."""

    def __init__(self, cache: VectorCache | None) -> None:
        self.cache = cache
        self.keys: list[Any] = []
        self.rows: list[Rows] = []
        self.since = monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.write()

    def take(self, keys: list[Any], rows: Rows) -> None:
        """Take the rows of a batch."""
        self.keys += keys
        self.rows.append(rows)
        if len(self.keys) >= _KEPT_AT_ONCE or monotonic() - self.since > _KEPT_AFTER:
            self.write()

    def write(self) -> None:
        """Write what waits."""
        if self.cache is not None and self.keys:
            self.cache.write(self.keys, np.concatenate(self.rows))
        self.keys, self.rows, self.since = [], [], monotonic()


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
        width = encoder.n_features
        if width is None:  # an item that is in the cache tells without loading the model
            width = self._rows_of([self._probe(items)], encoder, None).shape[1]
        self.n_features_out_ = width
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
        """Return one row for each item."""
        encoder = self._model_of_fit()
        if not items:
            return np.empty((0, self.n_features_out_), np.float32)
        return self._rows_of(items, encoder, self.n_features_out_)

    def _rows_of(self, items: Sequence[Any], encoder: Encoder, width: int | None) -> Rows:
        """Return rows from the cache, or computed."""
        cache = open_cache(self.cache, encoder.hash)
        # Without a cache nothing is hashed, and every item is its own.
        keys: list[Any] = [self._key(item) for item in items] if cache else [*range(len(items))]
        rows: dict[Any, Any] = cache.read(dict.fromkeys(keys)) if cache else {}
        missing = {key: item for key, item in zip(keys, items, strict=True) if key not in rows}
        with (
            progress_bar(self.verbose, total=len(items), unit="row") as bar,
            _Keeper(cache) as keeper,
        ):
            bar.update(len(items) - len(missing))
            for some, found in self._computed(missing, encoder, width):
                rows.update(zip(some, found, strict=True))
                keeper.take(some, found)
                bar.update(len(some))
        return np.stack([rows[key] for key in keys])

    def _computed(
        self, missing: dict[Any, Any], encoder: Encoder, width: int | None
    ) -> Iterator[tuple[list[Any], Rows]]:
        """Yield the keys and rows of one batch after another."""
        order = sorted(missing, key=lambda key: self._length(missing[key]))
        for start in range(0, len(order), self.batch_size):
            keys = order[start : start + self.batch_size]
            rows = self._finished(encoder.rows([self._loaded(missing[key]) for key in keys]))
            width = width or rows.shape[1]
            if rows.shape[1] != width:
                raise ValueError(
                    f"The model {encoder.name} returned vectors of length {rows.shape[1]:,}, but "
                    f"before of length {width:,}."
                )
            yield keys, rows

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

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("_encoder", None)
        return state
