"""Round trips through the files of labelling tools: what is compared, and what is lost.

    python benchmarks/round_trips.py [--rows 500] [--store]

For each kind of label (one class, several labels, a quantity) rows are made up with a fixed seed:
cells with newlines, commas, semicolons, quotes, formulas, surrounding blanks and letters of many
scripts, ids, answers of up to three people, skips, and predictions with scores. They go from a
table to the format and back to a table, and what came back is compared with what there was.

Where not all came back, what did stands before a stroke. "noted" is what the notes of the writer
count as left out, and "lost" what is missing besides. Lost must be 0.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from _common import Figure, script, store, table
from graphkm.formats import FORMATS, Annotations, Answer, Guess, Row
from graphkm.formats import read_annotations as read
from graphkm.formats import write_annotations as write

TEXTS = (
    *("two\nlines", "carriage\r\nreturn", "a, b", "x;y", 'say "hi"', '"', "", "=1+1", " blanks "),
    *(
        "größer",
        "日本語のテキスト",
        "👍🏽 yes",
        "שלום, עולם",
        "tab\there",
        "0012",
        "NA",
        "-",
        "plain",
    ),
)
ODD = {
    "newlines": re.compile(r"[\r\n]"),
    "commas or semicolons": re.compile("[,;]"),
    "quotes": re.compile('"'),
    "letters beyond ASCII": re.compile(r"[^\x00-\x7f]"),
}
CLASSES = ("good", "so, so", 'say "no"', "größer", "日本語", "two words")
PEOPLE = ("eva", "tom@example.org", "Zoë", "7")
KINDS = ("class", "several", "quantity")
PARTS = ("cells", "ids", "labels", "names", "skips", "predictions")


def made_up(kind: str, n: int) -> Annotations:
    """Return rows with everything that the shape can hold."""
    rng = np.random.default_rng(KINDS.index(kind))

    def value() -> Any:
        if kind == "quantity":
            return float(rng.normal()) if rng.random() < 0.5 else int(rng.integers(-9, 10**6))
        many = 1 if kind == "class" else int(rng.integers(0, 4))
        return tuple(CLASSES[k] for k in rng.choice(len(CLASSES), many, replace=False))

    rows = []
    for k in range(n):
        texts = rng.choice(len(TEXTS), 2)
        cells = {"file_name": f"{k}.png", "text": TEXTS[texts[0]], "größe, cm": TEXTS[texts[1]]}
        answers = []
        for who in rng.permutation(PEOPLE)[: rng.integers(0, 4)]:
            status = rng.choice(["given", "given", "given", "skipped", "unknown"])
            answers.append(Answer(value() if status == "given" else None, str(who), str(status)))
        guesses = [Guess(value(), round(float(rng.random()), 6), "m 1")] * int(rng.integers(0, 2))
        rows.append(Row(cells, str(10 * k + 1), tuple(answers), tuple(guesses)))
    return Annotations(rows, "label", kind)


def items(rows: list[Row]) -> dict[str, Counter]:
    """Return everything that rows hold, each with the place of its row."""
    found = {part: Counter() for part in PARTS}
    for place, row in enumerate(rows):
        found["cells"].update((place, *cell) for cell in row.cells.items())
        found["ids"].update([(place, row.id)])
        given = [a for a in row.answers if a.status == "given"]
        found["labels"].update((place, a.value) for a in given)
        found["names"].update((place, a.who, a.value) for a in given)
        found["skips"].update((place, a.who, a.status) for a in row.answers if a not in given)
        found["predictions"].update((place, g) for g in row.guesses)
    return found


def trip(kind: str, format: str, n: int, folder: Path) -> dict[str, Any]:
    """Return counts of what was there, of what came back, and of what the notes name."""
    start = made_up(kind, n)
    write(start, folder / "start.csv", "csv")
    notes = write(read(folder / "start.csv", "csv", kind=kind), folder / "other", format)
    write(read(folder / "other", format, kind=kind), folder / "end.csv", "csv")
    there, back = items(start.rows), items(read(folder / "end.csv", "csv", kind=kind).rows)
    named = sum(int(text.replace(",", "")) for text in re.findall(r" \(([\d,]+)\)", str(notes)))
    line: dict[str, Any] = {"rows": n}
    for part in PARTS:
        line[part] = there[part].total()
        line[f"{part} kept"] = (there[part] & back[part]).total()
    for name, odd in ODD.items():
        line[name] = sum(bool(odd.search(text)) for _, _, text in there["cells"])
        cells = there["cells"] & back["cells"]
        line[f"{name} kept"] = sum(bool(odd.search(text)) for _, _, text in cells)
    missing = sum(line[part] - line[f"{part} kept"] for part in PARTS if part != "names")
    missing += line["names"] - line["names kept"] - (line["labels"] - line["labels kept"])
    return line | {"named": named, "lost": missing - named, "notes": " ".join(notes)}


def lines(n: int) -> list[dict[str, Any]]:
    """Return a line for each format, over all kinds of labels that it can hold."""
    found = []
    for format in FORMATS:
        total: Counter = Counter()
        with tempfile.TemporaryDirectory() as folder:
            for kind in KINDS:
                if (format, kind) != ("coco", "quantity"):  # which is an error
                    counts = trip(kind, format, n, Path(folder))
                    counts.pop("notes")
                    total.update(counts)
        found.append({"format": format, **total})
    return found


def summary(results: list[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Return the heads and the lines of the page's table."""
    heads = ["format", "rows", *PARTS, "noted", "lost"]
    cells = []
    for each in results:
        parts = [_kept(each, part) for part in PARTS]
        cells.append(
            [f"`{each['format']}`", f"{int(each['rows']):,}", *parts, _number(each["named"])]
        )
        cells[-1].append(str(int(each["lost"])))
    return heads, cells


def odd_cells(results: list[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Return the heads and the lines of the table of cells with odd contents."""
    heads = ["format", *(f"with {name}" for name in ODD)]
    return heads, [[f"`{e['format']}`", *(_kept(e, name) for name in ODD)] for e in results]


def _number(count: Any) -> str:
    return f"{int(count):,}" if int(count) else ""


def _kept(line: dict[str, Any], part: str) -> str:
    kept, there = int(line[f"{part} kept"]), int(line[part])
    return f"{there:,}" if kept == there else f"{kept:,}/{there:,}"


def run(arguments: argparse.Namespace) -> list[Figure]:
    found = lines(20 if arguments.quick else arguments.rows)
    print(table(*summary(found)) + "\n\n" + table(*odd_cells(found)))
    if arguments.store:
        store("round_trips", found, ("format",))
    lost = sum(each["lost"] for each in found)
    return [Figure("things lost without a note", float(lost), "", 0.0, False)]


if __name__ == "__main__":
    script(
        run,
        rows={"type": int, "default": 500, "help": "rows for each kind of label"},
        store={"action": "store_true"},
    )
