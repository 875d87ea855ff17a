"""What follows from the rows alone: their graph, their map, what is alike, and what they say.

It is the same whoever labels them, so it is made once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..active import Cover
from .material import Material, in_units
from .neighbours import AlikeRows
from .places import first_places, map_places
from .texts import Texts

_LAST = 2  # the stage of the last map


class Ground:
    """Rows in comparable units, and what is computed from them in the background.

    Parameters
    ----------
    material : Material
        The rows.

    Attributes
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        The rows, in comparable units.
    names : list of str
        For each column of X, the column of the table that it comes from.
    stage : int
        0 as long as there is no map; it grows with each better one.
    """

    def __init__(self, material: Material) -> None:
        self.material = material
        self.X, self.names = in_units(material)
        self.alike, self.texts = AlikeRows(material), Texts(material)
        self.stage = 0
        self._cover: Cover | None = None
        self._places: NDArray[np.int64] | None = None
        self._lock, self._changed = threading.Lock(), list[Callable[[], None]]()

    def cover(self) -> Cover:
        """Return the graph of the rows; the first call builds it, and the map after it."""
        with self._lock:
            if self._cover is None:
                self._cover = Cover(self.X)
                self._set(first_places(self.X[self._cover.rows]))
                threading.Thread(target=self._draw, name="graphkm-map", daemon=True).start()
            return self._cover

    def tell(self, changed: Callable[[], None]) -> None:
        """Have something called once there is a better map."""
        if self.stage < _LAST:
            self._changed.append(changed)

    def map(self) -> dict[str, Any]:
        """Return the places of the rows on the map."""
        cover, places = self._cover, self._places
        if cover is None or places is None:
            return {"rows": [], "x": [], "y": [], "stage": 0}
        x, y = places.T.tolist()
        return {"rows": cover.rows.tolist(), "x": x, "y": y, "stage": self.stage}

    def _draw(self) -> None:
        assert self._cover is not None
        self._set(map_places(self.X[self._cover.rows]))
        for changed in self._changed:
            changed()
        self._changed.clear()  # those who wait may be gone long before the rows are

    def _set(self, places: NDArray[np.int64]) -> None:
        self._places = places
        self.stage += 1
