"""Guidelines for those who label: Markdown as parts that the page builds, and never as markup.

Headings, paragraphs, lists, quotations, code, emphasis and links are known. All else stays the text
that it is: HTML is shown, and does nothing. Links lead to http, https and mailto only.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

Part = list[Any]
"""A name of an element, then texts and parts inside it; a link has its address first."""

LARGEST = 1_000_000
"""Bytes of a file of guidelines, at most."""

_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*$")
_ITEM = re.compile(r"(\s*)(?:[-*+]|(\d{1,9})[.)])\s+(.*)")
_RULE = re.compile(r"\s*([-*_])(\s*\1){2,}\s*$")
_FENCE = re.compile(r"\s*(```+|~~~+)")
_INLINE = re.compile(
    r"(?P<code>`+)(?P<inner>.+?)(?P=code)"
    r"|\*\*(?P<strong>\S(?:.*?\S)?)\*\*"
    r"|(?<![\w*])\*(?P<em>[^\s*](?:[^*]*[^\s*])?)\*(?![\w*])"
    r"|(?<!\w)_(?P<em2>[^\s_](?:[^_]*[^\s_])?)_(?!\w)"
    r"|\[(?P<text>[^\]\[]+)\]\((?P<to>(?:https?://|mailto:)[^\s()<>\"]+)\)"
)


class Guidelines:
    """A file of guidelines; it is read anew whenever it is asked for.

    Parameters
    ----------
    path : Path
        Markdown in UTF-8.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.parts()  # says at once if it cannot be read

    def parts(self) -> list[Part]:
        """Return the guidelines as parts; raise OSError or ValueError if they cannot be read."""
        with open(self._path, "rb") as file:
            found = file.read(LARGEST + 1)
        if len(found) > LARGEST:
            raise ValueError(f"guidelines have at most {LARGEST:,} bytes")
        return parts_of(found.decode("utf-8-sig"))


def parts_of(text: str) -> list[Part]:
    r"""Return the parts of a Markdown text.

    Examples
    --------
    >>> parts_of("# Cats\n\nA **cat** is <b>small</b>.")
    [['h2', 'Cats'], ['p', 'A ', ['strong', 'cat'], ' is <b>small</b>.']]
    >>> parts_of("- one\n- [two](javascript:alert)")
    [['ul', ['li', 'one'], ['li', '[two](javascript:alert)']]]
    """
    lines = text.expandtabs(4).splitlines()
    found: list[Part] = []
    at = 0
    while at < len(lines):
        part, at = _block(lines, at)
        found += part
    return found


def _block(lines: list[str], at: int) -> tuple[list[Part], int]:
    """Return the part that begins at a line, and where the next one begins."""
    line = lines[at]
    if not line.strip():
        return [], at + 1
    if fence := _FENCE.match(line):
        end = next((k for k in range(at + 1, len(lines)) if lines[k].strip().startswith(fence[1])),
                   len(lines))  # fmt: skip
        return [["pre", "\n".join(lines[at + 1 : end])]], end + 1
    if heading := _HEADING.match(line):  # the page has its own h1
        return [[f"h{min(6, len(heading[1]) + 1)}", *_inline(heading[2])]], at + 1
    if _RULE.match(line):
        return [["hr"]], at + 1
    if line.lstrip().startswith(">"):
        end = _while(lines, at, lambda one: one.lstrip().startswith(">"))
        inner = "\n".join(one.lstrip()[1:].removeprefix(" ") for one in lines[at:end])
        # A mark inside a mark is text: nothing is nested without end.
        return [["blockquote", *_inline(" ".join(inner.split()))]], end
    if _ITEM.match(line):
        end = _while(lines, at, lambda one: bool(_ITEM.match(one)) or one.startswith("  "))
        return [_list(lines[at:end])], end
    end = _while(lines, at, lambda one: bool(one.strip()) and not _starts(one), first=True)
    return [["p", *_inline(" ".join(one.strip() for one in lines[at:end]))]], end


def _starts(line: str) -> bool:
    """Return whether a line ends the paragraph before it."""
    marks = (_HEADING, _ITEM, _RULE, _FENCE)
    return line.lstrip().startswith(">") or any(mark.match(line) for mark in marks)


def _while(lines: list[str], at: int, goes_on: Any, first: bool = False) -> int:
    end = at + first
    while end < len(lines) and goes_on(lines[end]):
        end += 1
    return max(end, at + 1)


def _list(lines: list[str]) -> Part:
    """Return a list, whose items may have a list of their own."""
    found: list[tuple[str, list[str]]] = []
    least = len(lines[0]) - len(lines[0].lstrip())
    ordered = bool(_ITEM.match(lines[0])[2])  # type: ignore[index]
    for line in lines:
        item = _ITEM.match(line)
        if item and len(item[1]) <= least + 1:
            found.append((item[3], []))
        else:
            found[-1][1].append(line)
    items = []
    for text, below in found:
        start = next((k for k, line in enumerate(below) if _ITEM.match(line)), len(below))
        words = " ".join([text, *(line.strip() for line in below[:start])])
        inner = [_flat(below[start:])] if below[start:] else []
        items.append(["li", *_inline(words), *inner])
    return ["ol" if ordered else "ul", *items]


def _flat(lines: list[str]) -> Part:
    """Return a list in a list; deeper ones join it."""
    items: list[str] = []
    for line in lines:
        item = _ITEM.match(line)
        if item:
            items.append(item[3])
        elif items:
            items[-1] += " " + line.strip()
    return ["ul", *(["li", *_inline(text)] for text in items)]


def _inline(text: str) -> list[Any]:
    """Return texts, and parts for what is emphasised, code or a link."""
    found: list[Any] = []
    at = 0
    for hit in _INLINE.finditer(text):
        if hit.start() > at:
            found.append(text[at : hit.start()])
        if hit["code"]:
            found.append(["code", hit["inner"].strip()])
        elif hit["strong"]:
            found.append(["strong", hit["strong"]])
        elif hit["to"]:
            found.append(["a", hit["to"], hit["text"]])
        else:
            found.append(["em", hit["em"] or hit["em2"]])
        at = hit.end()
    return [*found, *([text[at:]] if at < len(text) else [])]
