"""Results as frames of pandas, which is not needed otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def as_frame(columns: Mapping[Any, Any]) -> Any:
    """Return a frame with these columns.

    Examples
    --------
    >>> as_frame({"size": [1, 2]}).shape
    (2, 1)
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("A frame needs pandas; install it with: pip install pandas") from error
    return pd.DataFrame(dict(columns))
