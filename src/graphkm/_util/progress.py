"""Progress bars: the one place that knows tqdm."""

from __future__ import annotations

from typing import Any


class _SilentBar:
    """Takes what a bar is told, and shows nothing."""

    n = 0
    total: int | None = None

    def __enter__(self) -> _SilentBar:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def _ignore(self, *_: Any, **__: Any) -> None:
        pass

    update = set_postfix = set_postfix_str = refresh = _ignore


SILENT: Any = _SilentBar()
"""A bar that nobody sees."""


def progress_bar(shown: bool | int, **options: Any) -> Any:
    """Return a bar of tqdm on standard error, or a silent one.

    tqdm is imported only if a bar is shown.

    Parameters
    ----------
    shown : bool or int
        Whether the bar is shown; `verbose` of an estimator, for example.
    **options
        What tqdm takes: `total`, `unit`, `desc` and so on.

    Examples
    --------
    >>> with progress_bar(False, total=3, unit="row") as bar:
    ...     bar.update(3)
    """
    if not shown:
        return SILENT
    from tqdm.auto import tqdm

    return tqdm(**options)
