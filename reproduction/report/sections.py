"""The page: page.md with the tables, the figures and some numbers of a folder of results."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from ..figures import NEIGHBORS, POINTS
from .explaining import SHOWN, possible_hits
from .results import Results
from .tables import CLOSE, all_tables
from .verdicts import verdicts_table

_PLACE = re.compile(r"^\{(\w+)\}$", re.MULTILINE)  # a line for a table or a figure


def write_markdown(results: Results, figures: dict[str, str], folder: Path) -> str:
    """Return the page for a folder; `figures` has the names of the files of figures.

    A part under a heading is left out if it has lines for tables and figures and all are empty. So
    is a section of which nothing but text would be left.
    """
    values = _numbers(results) | all_tables(results)
    values |= {"making": _making(results), "verdicts": verdicts_table(results)}
    values["map"] = "[The map](paper.md)" if (folder / "paper.md").exists() else "`docs/paper.md`"
    page, *sections = Path(__file__).with_name("page.md").read_text(encoding="utf-8").split("\n## ")
    for section in sections:
        title = section.partition("\n")[0]
        values |= {name: f"![{title}]({file})" for name, file in figures.items()}
        first, *others = section.split("\n### ")
        parts = [part for part in others if _has_something(part, values)]
        if parts or _has_something(first, values):
            page += "\n## " + _filled("\n### ".join([first, *parts]), values)
    return re.sub(r"\n{3,}", "\n\n", _filled(page, values))


def _has_something(part: str, values: dict[str, Any]) -> bool:
    return any(values.get(name) for name in _PLACE.findall(part))


def _filled(text: str, values: dict[str, Any]) -> str:
    return re.sub(r"\{(\w+)\}", lambda place: str(values.get(place[1], "")), text)


def _numbers(results: Results) -> dict[str, Any]:
    """Return the numbers that stand in the text."""
    curves = results.tables["convergence"]
    certified = max((row["minimum_certified_to"] for row in curves), default=0.0)
    hits = [possible_hits(name) for name in SHOWN]
    return {
        "numbers": 12 * len(SHOWN),
        "tenth": sum(each["tenth"] for each in hits),
        "fifth": sum(each["fifth"] for each in hits),
        "close": CLOSE,
        "most_rows": f"{results.protocol.most_rows:,}",
        "certified": f"{certified:.1e}",
        "runs": curves[0]["runs"] if curves else 0,
        "points": POINTS,
        "covtype": _of_covtype(results),
        "neighbors": NEIGHBORS,
    }


def _of_covtype(results: Results) -> str:
    """Return what GKM takes on the rows that the paper's LapSVM can have seen, and on the most."""
    rows = {row["rows"]: row["cpu_seconds"] for row in results.tables["costs"]
            if (row["dataset"], row["method"], row["status"]) == ("covtype", "gkm-hinge-p1", "ok")
            and row["hidden"] == 90}  # fmt: skip
    part, most = 95_000, max(rows, default=0)
    if part not in rows:
        return ""
    return (
        f" GKM takes 1.4 to 1.9 s on COVTYPE in the paper, and here {rows[part]:.1f} CPU s on "
        f"{part:,} rows and {rows[most]:.1f} on {most:,} (one fit each)."
    )


def _making(results: Results) -> str:
    lines = [results.protocol.describe()]
    for row in results.tables["machines"]:
        machine = json.loads(row["machine"])
        versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
        lines.append(
            f"{row['results']:,} results come from {row['cpu_hours']:.2f} CPU hours on "
            f"{machine['processor']}, {machine['cores']} cores: {versions}."
        )
    return "\n".join(f"- {line}" for line in lines)
