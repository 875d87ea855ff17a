"""Elements of a page. Every text is escaped, so no label, name or cell can become an element."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

_EMPTY = {"meta", "img", "line", "circle", "rect", "path"}  # elements without an end


class Markup(str):
    """Text that is HTML already."""


def element(name: str, *children: Any, **attributes: Any) -> Markup:
    """Return an element. Children that are no markup are text; attributes that are None are absent.

    An underscore at the end of an attribute's name is dropped, and others become hyphens.

    Examples
    --------
    >>> element("p", "1 < 2", element("b", "&"), class_="note", title='say "no"')
    '<p class="note" title="say &quot;no&quot;">1 &lt; 2<b>&amp;</b></p>'
    """
    told = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_shown(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _EMPTY and not children:
        return Markup(f"<{name}{told}>" if name in ("meta", "img") else f"<{name}{told}/>")
    return Markup(f"<{name}{told}>{joined(children)}</{name}>")


def joined(children: Iterable[Any]) -> Markup:
    """Return texts and elements one after another.

    Examples
    --------
    >>> joined(["a < b ", element("i", "c")])
    'a &lt; b <i>c</i>'
    """
    return Markup(
        "".join(each if isinstance(each, Markup) else escape(str(each)) for each in children)
    )


def _shown(value: Any) -> str:
    """Return an attribute's value; coordinates have two decimals."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def table(
    caption: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    numbers: Iterable[int] = (),
) -> Markup:
    """Return a table whose first column names its rows.

    Parameters
    ----------
    caption : str
        What the table shows.
    heads : sequence of str
        The names of the columns.
    rows : iterable of sequences
        Texts or elements.
    numbers : iterable of int
        The columns that are aligned to the right.

    Examples
    --------
    >>> made = table("Counts", ["class", "rows"], [["cat", 3]], numbers=[1])
    >>> '<th scope="row">cat</th><td class="n">3</td>' in made
    True
    """
    right = set(numbers)

    def side(place: int) -> str | None:
        return "n" if place in right else None

    head = [element("th", each, scope="col", class_=side(k)) for k, each in enumerate(heads)]
    lines = []
    for first, *others in rows:
        cells = [element("th", first, scope="row", class_=side(0))]
        for place, cell in enumerate(others, start=1):
            cells.append(cell if _is_cell(cell) else element("td", cell, class_=side(place)))
        lines.append(element("tr", *cells))
    made = element(
        "table",
        element("caption", caption),
        element("thead", element("tr", *head)),
        element("tbody", *lines),
    )
    # A wide table is scrolled by itself, with the keyboard too.
    return element("div", made, class_="wide", tabindex="0", role="region", aria_label=caption)


def _is_cell(cell: Any) -> bool:
    return isinstance(cell, Markup) and cell.startswith("<td")


def facts(lines: Iterable[tuple[str, Any]]) -> Markup:
    """Return a list of names and what is said of each.

    Examples
    --------
    >>> facts([("rows", "300")])
    '<dl><div><dt>rows</dt><dd>300</dd></div></dl>'
    """
    pairs = (
        element("div", element("dt", name), element("dd", told))
        for name, told in lines
        if told is not None
    )
    return element("dl", *pairs)
