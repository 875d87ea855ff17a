"""What a fitted front door says: of new rows, and of its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .._util.warnings import quiet
from ..estimators.given_rows import rows_as_numbers
from ..estimators.transduction import (
    kept_transduced,
    set_transduced,
    state_of_copy,
    transduce_later,
    transduced,
)
from ..graphs.given_edges import Ids
from ..graphs.row_ids import without_ids
from .blocks import as_blocks
from .given_graphs import links_of, new_rows
from .mixed_views import AnyMixture, MixedViews
from .target import Target
from .training import Training
from .views import View, Views, as_given, see


class Answering(ABC):
    """A mixture that is asked for labels or quantities."""

    mixture_: AnyMixture
    views_: dict[str, View]

    def numbers(self, answers: NDArray[Any]) -> NDArray[Any]:
        """Return labels as class numbers, and targets as they are."""
        return answers

    @abstractmethod
    def _answers(self, found: NDArray[np.float64]) -> NDArray[Any]:
        """Return labels or targets from what the mixture says."""

    def predict(self, X: Any, affinity: Any = None, ids: Any = None) -> NDArray[Any]:
        """Return the label of every row of X, or its quantity.

        Parameters
        ----------
        X : array, frame or CSR matrix of shape (n, n_features), or None
            The rows; None for a model that knows edges alone.
        affinity : matrix, edges, or list or dict of them, optional
            Edges from these rows to rows of the fit: a matrix of shape (n, n_samples), or pairs of
            a row of X and a row of the fit. A row without edges is told by its features.
        ids : array-like of shape (n,) or str, optional
            What edges call these rows, as in `fit`.
        """
        return self._answers(self._mixed(X, affinity, ids))

    def _mixed(self, X: Any, affinity: Any = None, ids: Any = None) -> NDArray[np.float64]:
        """Return class probabilities, or quantities, of new rows."""
        check_is_fitted(self, "mixture_")
        if affinity is not None or ids is not None or X is None:
            return self._mixed_by_edges(X, affinity, ids)
        X = self._seen(X)
        blocks = None if isinstance(X, Views) else as_blocks(X)
        if blocks is not None:
            return np.concatenate([self._mixed(block.rows) for block in blocks])
        return self.mixture_.at(*self._given_and_numbers(X))

    def seen_rows(self, X: Any) -> tuple[Any, Any]:
        """Return rows as models see them, and as numbers; a dict of them for several views."""
        check_is_fitted(self, "mixture_")
        return self._given_and_numbers(self._seen(X))

    def _given_and_numbers(self, X: Any) -> tuple[Any, Any]:
        rows = self._numbers(X, reset=False)
        return as_given(X, rows), rows

    def _seen(self, X: Any) -> Any:
        """Return the views of rows that count in the mixture; X itself for plain rows."""
        views: dict[str, View] | None = getattr(self, "views_", None)
        if views is None:
            if isinstance(X, Mapping) and not hasattr(X, "shape"):
                raise ValueError(
                    "X is a dict, but the model has learnt from plain rows; pass rows."
                )
            return X
        assert isinstance(self.mixture_, MixedViews)
        return see(views, X, self.mixture_.views)

    def _numbers(self, X: Any, *, reset: bool) -> Any:
        """Return rows as numbers, checked; of every view, if there are several."""
        if not isinstance(X, Views):
            return rows_as_numbers(self, X, reset=reset)
        rows = Views({name: self.views_[name].numbers(X[name], reset=reset) for name in X})
        if reset:
            self.n_features_in_ = rows.shape[1]
            self.__dict__.pop("feature_names_in_", None)
        return rows

    def _mixed_by_edges(self, X: Any, affinity: Any, ids: Any) -> NDArray[np.float64]:
        """Return what the mixture says of new rows that edges join to known rows."""
        linked = self.mixture_.linked
        if linked is None:
            raise ValueError(
                "The model was fitted without an affinity, so new rows cannot be joined to known "
                "ones; pass X alone, or fit with affinity=..."
            )
        if X is None and (self.mixture_.parts or self.mixture_.nodes is not None):
            raise ValueError(
                "X is None, and the model has learnt from rows; pass the rows, and their edges as "
                "affinity=..."
            )
        X, names = without_ids(X, ids)
        X = self._seen(X)
        if affinity is None:
            if X is None:
                raise ValueError(
                    "The model knows edges alone; pass those of the new rows to known rows as "
                    "affinity=... (transduction_ has the labels of the known rows)."
                )
            return self._mixed(X)
        rows = None if X is None else self._numbers(X, reset=False)
        n = new_rows(affinity, names) if rows is None else rows.shape[0]
        links = links_of(affinity, Ids(n, names), linked.ids)
        rows = np.empty((n, 0)) if rows is None else rows
        return self.mixture_.at(as_given(X, rows), rows, links)

    @property
    def transduction_(self) -> NDArray[Any]:
        """Labels or targets of the training rows; given ones are kept."""
        check_is_fitted(self, "mixture_")
        found = transduced(self)
        if found is None:
            raise AttributeError(
                "transduction_ is not known: the rows were read in blocks, or the model is a copy "
                "of one whose X was large and has changed. Call predict on the training rows "
                "instead."
            )
        classes = self.mixture_.classes
        return found.copy() if classes is None else np.asarray(classes[found])

    def __getstate__(self) -> Any:
        """Compute what a copy or a file has to hold."""
        found, state = kept_transduced(self), super().__getstate__()
        assert isinstance(state, dict)
        state = {name: value for name, value in state.items() if name != "evidence_"}
        return state_of_copy(state, found)

    def _keep_answers(self, training: Training, target: Target) -> NDArray[np.float64] | None:
        """Keep what the fit says of its own rows, and return it if it is computed already.

        It is computed when it is asked for; but with edges now, because only the fit has them.
        """
        if training.links is None:
            transduce_later(self, training.given, partial(_transduced, target=target))
            return None
        found = training.said(self.mixture_)
        set_transduced(self, self.numbers(target.kept(self._answers(found))))
        return found


def _transduced(model: Any, rows: Any, target: Target) -> NDArray[Any]:
    """Return class numbers, labels or targets of all training rows; what is known is kept."""
    with quiet("X does not have valid feature names"):  # rows from a model file have none
        answers = np.asarray(model.predict(rows))
    found: NDArray[Any] = model.numbers(target.kept(answers))
    return found
