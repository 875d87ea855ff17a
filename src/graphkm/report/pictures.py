"""Pictures of rows inside the page."""

from __future__ import annotations

import base64
from io import BytesIO
from pathlib import Path
from typing import Any

from ..embed.pictures import PictureError, read_picture
from .html import Markup, element

_SIDE = 96  # pixels
_BEHIND = 2  # of the picture's own pixels for one of the page: screens may be fine


def picture(place: Any) -> Markup:
    """Return a small copy of a picture file as an element, or its name if it cannot be read.

    Examples
    --------
    >>> picture("nowhere.png")
    '<span>nowhere.png</span>'
    """
    path = Path(str(place))
    try:
        image = read_picture(path)
    except (PictureError, ImportError):
        return element("span", path.name)
    image.thumbnail((_BEHIND * _SIDE, _BEHIND * _SIDE))
    written = BytesIO()
    image.save(written, "PNG")
    code = base64.b64encode(written.getvalue()).decode("ascii")
    return element("img", src=f"data:image/png;base64,{code}", alt=path.name)
