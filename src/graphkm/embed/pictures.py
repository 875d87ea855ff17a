"""Picture files of every kind, arrays and images of Pillow: all as upright grey or RGB images.

An image may have 100 megapixels. Larger ones are refused before they are decoded, because small
files can hold huge images. JPEG files are decoded at a reduced scale; others take up to 4 bytes a
pixel for a moment, and are reduced then.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._util.progress import progress_bar
from .._util.warnings import quiet
from .encoder import file_digest, needed
from .reading import listed

MOST_PIXELS = 100_000_000
"""Images with more are refused."""
INSTALL = '"graphkm[image]"'
_LONGEST = 300  # letters of a name in a message
_SIDE = 1024  # what models look at is smaller; so larger images are reduced at once
_ORIENTATION = 0x0112  # the tag in EXIF
# What turns an image upright: FLIP_LEFT_RIGHT, ROTATE_180 and so on, by the tag's values.
_UPRIGHT = {2: 0, 3: 3, 4: 1, 5: 5, 6: 4, 7: 6, 8: 2}


class PictureError(ValueError):
    """A file or an array is no picture that can be read; the message names it."""


def pillow() -> Any:
    """Return the module PIL.Image, or say how to install it."""
    return needed("PIL.Image", "Reading images", INSTALL)


def as_pictures(X: Any) -> list[Any]:
    """Return paths, images of Pillow and arrays as a list, checked.

    Parameters
    ----------
    X : list, array or column of paths or images; array of shape (n, height, width[, channels])
        The images.

    Examples
    --------
    >>> [item.shape for item in as_pictures(np.zeros((2, 5, 4)))]
    [(5, 4), (5, 4)]
    """
    if isinstance(X, str | os.PathLike) or not hasattr(X, "__iter__"):
        raise TypeError(f"Give a list of paths or images, not {type(X).__name__}.")
    whole = isinstance(X, np.ndarray) and X.dtype.kind in "buif"
    if whole and X.ndim not in (3, 4):
        raise ValueError(
            f"An array of images has the shape (n, height, width) or (n, height, width, channels), "
            f"not {X.shape}. Reshape its rows."
        )
    image = pillow().Image
    return [_checked(row, value, image) for row, value in enumerate(X if whole else listed(X))]


def read_picture(item: Any) -> Any:
    """Return one item as an upright image of Pillow, grey (L) or RGB.

    Transparent parts become white. Of several frames the first one counts.

    Examples
    --------
    >>> read_picture(np.zeros((5, 4, 3), np.uint8)).size
    (4, 5)
    """
    image = pillow()
    if isinstance(item, np.ndarray):
        return image.fromarray(item)
    if not isinstance(item, Path):
        return _opaque(_small(item))
    try:
        with quiet(category=image.DecompressionBombWarning), image.open(item) as file:
            if file.width * file.height > MOST_PIXELS:
                raise PictureError(f"{file.width:,} x {file.height:,} pixels, more than allowed")
            file.draft(None, (_SIDE, _SIDE))
            file.load()
            return _upright(_opaque(_small(file)), file)
    except Exception as error:  # decoders raise whatever they stumble over
        raise PictureError(_complaint(item, error)) from error


def picture_key(item: Any) -> bytes:
    """Return a hash of what an item holds: a file's bytes, whatever its name, or pixels."""
    if isinstance(item, Path):
        try:
            return bytes.fromhex(file_digest(item))
        except OSError as error:
            raise PictureError(_complaint(item, error)) from error
    image = read_picture(item)
    total = hashlib.sha256(f"{image.mode} {image.size} ".encode())
    total.update(image.tobytes())
    return total.digest()


def broken_pictures(paths: Iterable[Any], *, verbose: int = 0) -> dict[int, str]:
    """Return which files cannot be read as pictures, and why.

    Parameters
    ----------
    paths : iterable of paths
        The files.
    verbose : int, default=0
        Whether a progress bar is shown.

    Returns
    -------
    dict
        A message for each broken file, by its place among the paths.

    Examples
    --------
    >>> from graphkm.embed import broken_pictures
    >>> print(broken_pictures(["no.png"])[0])
    no.png cannot be read as a picture (there is no such file). Replace it or leave it out.
    """
    files = [Path(path) for path in paths]
    broken = {}
    with progress_bar(verbose, total=len(files), unit="file") as bar:
        for place, path in enumerate(files):
            try:
                read_picture(path)
            except PictureError as error:
                broken[place] = str(error)
            bar.update(1)
    return broken


# ---------------------------------------------------------------- one item


def _checked(row: int, value: Any, image: type) -> Any:
    if isinstance(value, str | os.PathLike):
        return Path(value).expanduser()
    if isinstance(value, image):
        return value
    if isinstance(value, np.ndarray) and value.dtype.kind in "buif":
        return _bytes_of(row, value)
    raise TypeError(
        f"Row {row:,} is no image but {type(value).__name__}. Give a path, an image of Pillow or "
        "an array of pixels."
    )


def _bytes_of(row: int, values: NDArray) -> NDArray[np.uint8]:
    """Return pixels as bytes: whole numbers go from 0 to 255, or 65,535, and others from 0 to 1."""
    if values.ndim == 3 and values.shape[2] == 1:
        values = values[:, :, 0]
    if values.size == 0 or values.ndim not in (2, 3) or values.shape[2:] not in ((), (3,), (4,)):
        raise PictureError(
            f"Image {row:,} has the shape {values.shape}; it has to be (height, width) or "
            "(height, width, channels) with 1, 3 or 4 channels. Move the channels to the end."
        )
    if values.dtype == np.uint8:
        return np.ascontiguousarray(values)
    if values.dtype == np.uint16:
        return (values >> 8).astype(np.uint8)
    top = 1 if values.dtype.kind in "bf" else 255
    if not (values.min() >= 0 and values.max() <= top):  # NaN is refused as well
        raise PictureError(
            f"Image {row:,} has values from {values.min()} to {values.max()}; values of the type "
            f"{values.dtype} have to lie between 0 and {top}. Divide them, or turn them into uint8."
        )
    return np.rint(values * (255.0 / top)).astype(np.uint8)


def _small(image: Any) -> Any:
    """Return an image whose shorter side is not much longer than what models look at."""
    if image.mode in ("1", "P", "PA"):  # these cannot be reduced
        image = image.convert("L" if image.mode == "1" else "RGBA")
    if image.mode == "F" or image.mode.startswith("I"):
        image = _eight_bits(image)
    factor = min(image.size) // _SIDE
    return image.reduce(factor) if factor > 1 else image


def _eight_bits(image: Any) -> Any:
    """Return a grey image of 16 bits, or of real numbers, with 8 bits."""
    values = np.asarray(image)
    if image.mode == "F":
        values = values * 255 if values.max() <= 1 else values
        return pillow().fromarray(np.clip(np.nan_to_num(values), 0, 255).astype(np.uint8))
    return pillow().fromarray((np.clip(values, 0, 65535) >> 8).astype(np.uint8))


def _opaque(image: Any) -> Any:
    """Return an image in grey or RGB, transparent parts over white."""
    if image.mode in ("LA", "La", "RGBA", "RGBa") or "transparency" in image.info:
        layer = image.convert("RGBA")
        return (
            pillow()
            .alpha_composite(pillow().new("RGBA", layer.size, "white"), layer)
            .convert("RGB")
        )
    return image if image.mode == "L" else image.convert("RGB")


def _upright(image: Any, file: Any) -> Any:
    """Return an image as its camera was held; notes that cannot be read do not count."""
    turn = None
    with suppress(Exception):
        turn = _UPRIGHT.get(file.getexif().get(_ORIENTATION))
    return image if turn is None else image.transpose(pillow().Transpose(turn))


def _complaint(path: Path, error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        why = "there is no such file"
    elif os.path.isfile(path) and os.path.getsize(path) == 0:  # no error for impossible names
        why = "the file is empty"
    elif isinstance(error, pillow().DecompressionBombError | PictureError):
        why = f"it has more than {MOST_PIXELS // 10**6} megapixels"
    elif isinstance(error, pillow().UnidentifiedImageError):
        why = "it is of no known format"
    else:
        told = getattr(error, "strerror", None) or str(error)  # without the name, which may be long
        why = told or type(error).__name__
    name = str(path) if len(str(path)) <= _LONGEST else f"{str(path)[:_LONGEST]}..."
    return f"{name} cannot be read as a picture ({why}). Replace it or leave it out."
