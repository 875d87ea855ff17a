"""The map of the labelling page beside principal components: which keeps neighbours together.

    python benchmarks/row_map.py [--draws 1] [--sets ag_news,banking77] [--rows 4000] [--store]

Rows are those of `class_sets.py`. "trust" is scikit-learn's `trustworthiness` with 12 neighbours:
1 if all rows that are near on the map are near in truth. "class" is the share of rows whose nearest
row on the map is of the same class. Both are of places as the page has them, whole numbers from 0
to 1000. "components" are the two leading ones, which the page shows first, and "map" is what
follows them. Its landmarks are 1,500 rows, so the other rows lie between landmarks. CPU seconds
are those of the map.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from _common import Figure, script, seconds, store, stored, table
from class_sets import drawn
from graphkm.app.places import first_places, map_places

SETS = ("ag_news", "banking77", "usps")
WAYS = {"components": first_places, "map": map_places}


def measured(name: str, seed: int, rows: int) -> dict[str, Any]:
    """Return the figures of one draw."""
    from sklearn.manifold import trustworthiness
    from sklearn.neighbors import NearestNeighbors

    X, y = drawn(name, seed, rows)
    X = np.asarray(X, dtype=np.float64)
    found: dict[str, Any] = {"set": name, "seed": seed, "rows": len(y)}
    for way, place in WAYS.items():
        took: list[Any] = []
        found[f"{way}, CPU s"] = seconds(lambda place=place, took=took: took.append(place(X)))
        places = took[-1].astype(np.float64)
        found[f"{way}, trust"] = float(trustworthiness(X, places, n_neighbors=12))
        nearest = NearestNeighbors(n_neighbors=1).fit(places).kneighbors()[1][:, 0]
        found[f"{way}, class"] = 100 * float(np.mean(y[nearest] == y))
    return found


def summary(rows: list[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Return the heads and lines of the table: means over draws."""
    lines = []
    for name in dict.fromkeys(row["set"] for row in rows):
        own = [row for row in rows if row["set"] == name]

        def mean(key: str, own: list[dict[str, Any]] = own) -> float:
            return float(np.mean([float(row[key]) for row in own]))

        cells = [f"{mean(f'{way}, trust'):.3f}" for way in WAYS]
        cells += [f"{mean(f'{way}, class'):.1f}" for way in WAYS]
        lines.append([name, f"{mean('rows'):,.0f}", *cells, f"{mean('map, CPU s'):.1f}"])
    heads = [f"{what}, {way}" for what in ("trust", "class %") for way in WAYS]
    return ["set", "rows", *heads, "CPU s"], lines


def run(arguments: argparse.Namespace) -> list[Figure]:
    draws = range(1 if arguments.quick else arguments.draws)
    sets = ["banking77"] if arguments.quick else arguments.sets.split(",")
    rows = [measured(name, seed, arguments.rows) for name in sets for seed in draws]
    if arguments.store:
        store("row_map", rows, ("set", "seed"))
        rows = stored("row_map")
    heads, lines = summary(rows)
    print(table(heads, lines))
    return [
        Figure(f"map of {line[0]}: {head}", float(value), "")
        for line in lines
        for head, value in zip(heads[2:], line[2:], strict=True)
    ]


if __name__ == "__main__":
    script(
        run,
        draws={"type": int, "default": 1, "help": "draws of rows"},
        sets={"default": ",".join(SETS), "help": "sets, separated by commas"},
        rows={"type": int, "default": 4000, "help": "rows of a draw, at most"},
        store={"action": "store_true", "help": "put the figures into benchmarks/results"},
    )
