"""The report in Markdown, with its figures as files beside it."""

from __future__ import annotations

from .page import TITLE
from .sections import Section
from .tables import Entry, TableData

_MARKS = {"good": " ▲", "bad": " ▼"}


def write_markdown(sections: list[Section], figures: dict[str, str], subtitle: str) -> str:
    """Return the text; `figures` are the names of their files."""
    parts = [f"# {TITLE}", subtitle]
    for section in sections:
        parts.append(f"## {section.title}")
        several = len(section.lines) > 1
        parts.append("\n".join(f"- {line}" if several else line for line in section.lines))
        parts += [f"![{section.title}]({figures[n]})" for n in section.figures if n in figures]
        for table in section.tables:
            parts += [f"### {table.title}", table.caption, _table(table)]
        for table in section.folded:
            parts.append(
                f"<details><summary>{table.title}</summary>\n\n{_table(table)}\n\n</details>"
            )
    return "\n\n".join(part for part in parts if part) + "\n"


def _table(table: TableData) -> str:
    lines = [
        "| " + " | ".join(table.columns) + " |",
        "|" + "|".join("---" for _ in table.columns) + "|",
    ]
    lines += ["| " + " | ".join(map(_cell, row)) + " |" for row in table.rows]
    return "\n".join(lines)


def _cell(entry: Entry) -> str:
    note = f" ({entry.note})" if entry.note else ""
    return f"{entry.text}{note}{_MARKS.get(entry.mood, '')}".replace("|", "\\|").replace("\n", " ")
