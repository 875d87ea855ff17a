"""The labelled rows that are most alike a row, in the space of the encoder."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .material import Material

_SHOWN = 3  # neighbours of a row


class Neighbours:
    """Finds the labelled rows whose vectors point in the direction of a row's vector.

    Directions are seen from the mean of all rows: vectors of texts have much in common, and so have
    those of pictures, which tells nothing.

    Parameters
    ----------
    vectors : ndarray of shape (n_samples, n_features)
        What the encoder made of the rows.

    Examples
    --------
    >>> vectors = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.1, 0.9]])
    >>> [(row, round(alike, 2)) for row, alike in Neighbours(vectors)(0, np.array([1, 2, 3]))]
    [(1, 1.0)]
    """

    def __init__(self, vectors: NDArray[np.floating]) -> None:
        self._vectors, self._mean = vectors, vectors.mean(axis=0)

    def __call__(self, row: int, labelled: NDArray[np.int64]) -> list[tuple[int, float]]:
        """Return the nearest labelled rows, and the cosines of the angles, which are above 0."""
        others = labelled[labelled != row]
        if not len(others):
            return []
        alike = self._directions(others) @ self._directions(np.array([row]))[0]
        best = np.argsort(-alike, kind="stable")[:_SHOWN]
        return [(int(others[k]), min(1.0, float(alike[k]))) for k in best if alike[k] > 0]

    def _directions(self, rows: NDArray[np.int64]) -> NDArray[np.floating]:
        centred = self._vectors[rows] - self._mean
        length = np.linalg.norm(centred, axis=1, keepdims=True)
        return np.asarray(centred / np.where(length > 0, length, 1.0))


class AlikeRows:
    """Tells of the labelled rows that are most alike a row, if an encoder made vectors of rows.

    Parameters
    ----------
    material : Material
        The rows.
    """

    def __init__(self, material: Material) -> None:
        self._material = material
        self._near = None if material.vectors is None else Neighbours(material.vectors)

    def __call__(self, row: int, labels: dict[int, str]) -> list[dict[str, Any]]:
        """Return the nearest of the labelled rows, as the page shows them."""
        if self._near is None:
            return []
        return [
            {
                "row": other,
                "label": labels[other],
                "alike": round(alike, 3),
                "text": self._material.snippet(other),
                "image": self._material.images is not None,
            }
            for other, alike in self._near(row, np.array(sorted(labels), dtype=np.int64))
        ]
