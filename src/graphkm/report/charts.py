"""Charts as SVG elements. What they show stands in a table beside each, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .html import Markup, element

Array = NDArray[np.float64]
Range = tuple[float, float]

# The picture's size, and the room for ticks and names of axes: left, right, above, below.
_WIDTH, _HEIGHT = 460.0, 320.0
_LEFT, _RIGHT, _TOP, _BELOW = 64.0, 28.0, 12.0, 50.0


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Return round numbers from low to high.

    Examples
    --------
    >>> ticks(0.0, 1.0)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    >>> ticks(17.0, 230.0)
    [50.0, 100.0, 150.0, 200.0]
    """
    rough = (high - low) / about
    power = 10.0 ** np.floor(np.log10(rough))
    step = float(power * next(each for each in (1.0, 2.0, 2.5, 5.0, 10.0) if each * power >= rough))
    first, last = int(np.ceil(low / step - 1e-9)), int(np.floor(high / step + 1e-9))
    return [float(f"{k * step:.12g}") for k in range(first, last + 1)]


def around(values: Any) -> Range:
    """Return a range with all finite values, and a little room; never an empty one.

    Examples
    --------
    >>> around([0.0, 10.0, float("nan")]), around([3.0, 3.0])
    ((-0.5, 10.5), (2.5, 3.5))
    """
    found = np.asarray(values, dtype=np.float64)
    found = found[np.isfinite(found)]
    if not len(found):
        return 0.0, 1.0
    low, high = float(found.min()), float(found.max())
    room = 0.05 * (high - low) or 0.5
    return low - room, high + room


@dataclass
class Chart:
    """Axes, and what is drawn between them.

    Parameters
    ----------
    title : str
        What the chart shows, for people who do not see it.
    across, up : str
        What the two axes measure.
    x, y : tuple of float
        Their ranges.
    percent : {"", "x", "y", "xy"}
        Which axes are shares, which are shown in percent.

    Examples
    --------
    >>> chart = Chart("A line", "labels", "accuracy", (0.0, 10.0), (0.0, 1.0))
    >>> chart.line([0.0, 10.0], [0.0, 1.0])
    >>> picture = chart.svg()
    >>> picture.startswith("<svg"), 'role="img"' in picture, "<polyline" in picture
    (True, True, True)
    """

    title: str
    across: str
    up: str
    x: Range
    y: Range
    percent: str = ""
    _drawn: list[Markup] = field(default_factory=list)

    def _across(self, value: float) -> float:
        share = (value - self.x[0]) / (self.x[1] - self.x[0])
        return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)

    def _up(self, value: float) -> float:
        share = (value - self.y[0]) / (self.y[1] - self.y[0])
        return _HEIGHT - _BELOW - share * (_HEIGHT - _TOP - _BELOW)

    def _points(self, xs: Sequence[float] | Array, ys: Sequence[float] | Array) -> str:
        pairs = zip(xs, ys, strict=True)
        return " ".join(f"{self._across(a):.1f},{self._up(b):.1f}" for a, b in pairs)

    def line(self, xs: Any, ys: Any, kind: str = "line") -> None:
        """Draw a line; `kind` is its class: "line", or "even" for a broken one."""
        self._drawn.append(element("polyline", points=self._points(xs, ys), class_=kind))

    def band(self, xs: Any, low: Any, high: Any) -> None:
        """Draw the area between two lines."""
        every = [*xs, *reversed(list(xs))]
        ends = [*low, *reversed(list(high))]
        self._drawn.append(element("polygon", points=self._points(every, ends), class_="band"))

    def dots(self, xs: Any, ys: Any, told: Sequence[str] = (), kind: str = "dot") -> None:
        """Draw dots; `told` is what each says if it is pointed at."""
        for place, (a, b) in enumerate(zip(xs, ys, strict=True)):
            words = [element("title", told[place])] if told else []
            self._drawn.append(
                element(
                    "circle",
                    *words,
                    cx=float(self._across(a)),
                    cy=float(self._up(b)),
                    r=2.2 if kind == "small" else 4.0,
                    class_=kind,
                )
            )

    def bars_around(self, xs: Any, low: Any, high: Any) -> None:
        """Draw upright intervals."""
        for a, down, top in zip(xs, low, high, strict=True):
            place = float(self._across(a))
            ends = {"y1": float(self._up(down)), "y2": float(self._up(top))}
            self._drawn.append(element("line", x1=place, x2=place, **ends, class_="range"))

    def columns(self, xs: Any, heights: Any, width: float) -> None:
        """Draw upright bars from zero."""
        for a, height in zip(xs, heights, strict=True):
            left, right = self._across(a - width / 2), self._across(a + width / 2)
            top, bottom = self._up(height), self._up(0.0)
            self._drawn.append(
                element(
                    "rect",
                    x=float(left),
                    y=float(top),
                    width=float(right - left),
                    height=float(bottom - top),
                    class_="bar",
                )
            )

    def svg(self) -> Markup:
        """Return the chart as an element."""
        return element(
            "svg",
            element("title", self.title),
            *self._axes(),
            element("g", *self._drawn),
            viewBox=f"0 0 {_WIDTH:g} {_HEIGHT:g}",
            role="img",
            aria_label=self.title,
            class_="chart",
        )

    def _axes(self) -> list[Markup]:
        left, right = self._across(self.x[0]), self._across(self.x[1])
        bottom, top = self._up(self.y[0]), self._up(self.y[1])
        made = []
        for value in ticks(*self.x):
            at = float(self._across(value))
            made.append(element("line", x1=at, x2=at, y1=float(bottom), y2=float(top), class_="g"))
            words = _tick(value, "x" in self.percent)
            made.append(element("text", words, x=at, y=bottom + 16.0, text_anchor="middle"))
        for value in ticks(*self.y):
            at = float(self._up(value))
            made.append(element("line", x1=float(left), x2=float(right), y1=at, y2=at, class_="g"))
            words = _tick(value, "y" in self.percent)
            made.append(element("text", words, x=left - 6.0, y=at + 4.0, text_anchor="end"))
        middle = (top + bottom) / 2
        turn = f"rotate(-90 14 {middle:.1f})"
        made.append(
            element("text", self.across, x=(left + right) / 2, y=_HEIGHT - 12.0, class_="name")
        )
        made.append(element("text", self.up, x=14.0, y=middle, transform=turn, class_="name"))
        return made


def _tick(value: float, percent: bool) -> str:
    return f"{100 * value:g} %" if percent else f"{value:,.6g}"
