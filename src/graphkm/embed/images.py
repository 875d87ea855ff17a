"""`ImageEmbedder`: images as vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._util.parameters import check_count
from .embedder import Embedder
from .encoder import Encoder, Rows
from .image_models import find_image_model
from .pictures import as_pictures, picture_key, read_picture
from .pixels import CELLS


class ImageEmbedder(Embedder):
    """Images as the vectors of a model.

    Images are turned upright, transparent parts become white, and of several frames the first one
    counts. A file that cannot be read is an error that names it; `broken_pictures` finds them
    all. An image may have 100 megapixels.

    Parameters
    ----------
    model : str, path or callable, default="auto"
        - "pixels": grey values from 0 to 1 at one scale.
        - "gradients": histograms of oriented gradients at that scale. Light and contrast do not
          matter to them.
        - "auto": both side by side. Each part of a row has at most length 1.
        - ``"timm:NAME"`` or ``"torchvision:NAME"``: a network of these packages, without its last
          layer. The package loads its weights, from the network if it has to.
        - A file in ONNX with one input of shape (batch, 3, height, width). It needs onnxruntime.
        - A function that takes a list of images of Pillow and returns an array, a row for each.
    size : int, default=28
        The side of the scaled image, a multiple of 4; only for pixels and gradients.
    batch_size : int, default=32
        How many images the model gets at a time.
    cache : "auto", path or None, default="auto"
        The folder where vectors are kept, so that the same image is computed once. "auto" is the
        folder in the environment variable GRAPHKM_CACHE, or graphkm's in the user's cache. None
        keeps nothing. A file is told by its bytes, not by its name. Vectors of callables are
        not kept.
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
    >>> import numpy as np
    >>> from graphkm.embed import ImageEmbedder
    >>> images = np.random.default_rng(0).random((3, 40, 30))
    >>> ImageEmbedder(cache=None).fit_transform(images).shape
    (3, 1108)
    """

    def __init__(
        self,
        model: Any = "auto",
        *,
        size: int = 28,
        batch_size: int = 32,
        cache: Any = "auto",
        verbose: int = 0,
    ) -> None:
        self.model = model
        self.size = size
        self.batch_size = batch_size
        self.cache = cache
        self.verbose = verbose

    def transform(self, X: Any) -> Rows:
        """Return the vectors of images.

        Parameters
        ----------
        X : list or column of paths or images of Pillow, or array
            The images. An array has the shape (n, height, width) or (n, height, width, channels).
            Its values go from 0 to 255 if they are whole, and else from 0 to 1.

        Returns
        -------
        ndarray of float32 of shape (n_images, n_columns)
        """
        check_is_fitted(self)
        return self._vectors(self._items(X))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns: pixel_1, ..., gradient_1, ..., or vector_1, ...

        Parameters
        ----------
        input_features : ignored
            Not used.
        """
        names = super().get_feature_names_out(input_features)
        n_pixels = {"pixels": len(names), "gradients": 0, "auto": self.size**2}
        if not isinstance(self.model, str) or self.model not in n_pixels:
            return names
        first = n_pixels[self.model]
        pixels = [f"pixel_{k + 1}" for k in range(first)]
        gradients = [f"gradient_{k + 1}" for k in range(len(names) - first)]
        return np.array([*pixels, *gradients], dtype=object)

    def _find_model(self) -> Encoder:
        check_count("size", self.size, least=2 * CELLS)
        if self.size % CELLS:
            raise ValueError(f"size must be a multiple of {CELLS}, got {self.size}.")
        return find_image_model(self.model, self.size)

    def _items(self, X: Any) -> Sequence[Any]:
        return as_pictures(X)

    def _key(self, item: Any) -> bytes:
        return picture_key(item)

    def _loaded(self, item: Any) -> Any:
        return read_picture(item)

    def _probe(self, items: Sequence[Any]) -> Any:
        if not items:
            raise ValueError("Give at least one image: it shows how long the model's vectors are.")
        return items[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.three_d_array = False, True
        return tags
