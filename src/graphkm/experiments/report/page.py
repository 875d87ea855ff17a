"""The report as one HTML page that needs nothing else."""

from __future__ import annotations

from html import escape
from importlib.resources import files

from .plots import INK
from .sections import Section
from .tables import Entry, TableData

TITLE = "The GKM paper, reproduced"


def write_page(sections: list[Section], plots: dict[str, str], subtitle: str) -> str:
    """Return the page: style, script and figures are inside it."""
    links = "".join(
        f'<a href="#{each.anchor}">{escape(_short(each.title))}</a>' for each in sections
    )
    body = "".join(_section(each, plots) for each in sections)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{TITLE}</title><style>{_asset('style.css')}</style></head><body>"
        f"<header><h1>{TITLE}</h1><p>{escape(subtitle)}</p><nav>{links}</nav></header>"
        f"<main>{body}</main><script>{_asset('sort.js')}</script></body></html>\n"
    )


def _asset(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


def _short(title: str) -> str:
    return title.split(" (")[0]


def _section(section: Section, plots: dict[str, str]) -> str:
    lines = "".join(f"<li>{escape(line)}</li>" for line in section.lines)
    text = f"<ul>{lines}</ul>" if len(section.lines) > 1 else "".join(
        f"<p>{escape(line)}</p>" for line in section.lines
    )  # fmt: skip
    figures = "".join(_figure(name, plots) for name in section.figures if name in plots)
    tables = "".join(map(_table, section.tables))
    folded = "".join(
        f"<details><summary>{escape(each.title)}</summary>{_table(each)}</details>"
        for each in section.folded
    )
    return (
        f'<section id="{section.anchor}"><h2>{escape(section.title)}</h2>'
        f"{text}{figures}{tables}{folded}</section>"
    )


def _figure(name: str, plots: dict[str, str]) -> str:
    svg = plots[name].replace(INK, "currentColor")
    return f'<figure id="plot-{name}" class="plot">{svg}</figure>'


def _table(table: TableData) -> str:
    heads = "".join(
        f'<th scope="col"{_kind(table, k)}><button type="button">{escape(name)}</button></th>'
        for k, name in enumerate(table.columns)
    )
    rows = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in table.rows)
    caption = f'<p class="note">{escape(table.caption)}</p>' if table.caption else ""
    return (
        f"<h3>{escape(table.title)}</h3>{caption}"
        f'<div class="scroll"><table><thead><tr>{heads}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _kind(table: TableData, column: int) -> str:
    numbers = any(row[column].number is not None for row in table.rows)
    return "" if numbers else ' class="text"'


def _cell(entry: Entry) -> str:
    kind = f' class="{entry.mood}"' if entry.mood else ""
    number = "" if entry.number is None else f' data-v="{entry.number!r}"'
    note = f"<small>{escape(entry.note)}</small>" if entry.note else ""
    return f"<td{kind}{number}>{escape(entry.text)}{note}</td>"
