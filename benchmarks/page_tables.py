"""Fill the tables of the pages from benchmarks/results: no figure is pasted by hand.

    make tables                       # or python benchmarks/page_tables.py

A page has the place of a table between two comments, ``<!-- table: NAME -->`` and
``<!-- end of table -->``, and `VIEWS` says what NAME is. `tests/test_tables.py` fails where a page
and its file of results differ.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from functools import cache, partial
from pathlib import Path

import numpy as np

import cluster_plan
import doubtful
import explain
import first_fit
import given_graphs
import gpu
import gpu_neighbours
import images
import labels
import large_graphs
import learning_curves
import neighbour_costs
import novelty
import round_trips
import row_map
import screening
import screening_order
import sets
import texts
from _common import RESULTS, ROOT, stored, table
from leaderboard import report as board
from leaderboard import results
from leaderboard import tables as few_labels
from leaderboard.cells import KINDS as SET_KINDS
from leaderboard.cells import SHORT
from leaderboard.methods import NAMES
from ratchet.judging import BETTER, Result, read

DOCS = ROOT / "docs"
PAGES = (ROOT / "README.md", *sorted([*DOCS.glob("*.md"), *DOCS.glob("guide/*.md")]))
BLOCK = re.compile(r"(<!-- table: (?P<name>[^\n]+?) -->\n).*?(<!-- end of table -->)", re.DOTALL)


CLUSTERED = ("moons", "g50c", "uspst", "digit1", "usps", "g241c", "text", "coil20", "mnist")
KINDS = ("cells", "with clusters", "tables", "of up to 10 labels")


# ----------------------------------------------------------------- few labels


def _cells(kind: str = "all") -> few_labels.pd.DataFrame:
    """Return the cells of all sets, of those with clusters or manifolds, or of tables."""
    frame = few_labels.frame_of(stored("few_labels"))
    plain = frame["set"].isin(SET_KINDS["tables"])
    return frame[{"all": plain | ~plain, "clusters": ~plain, "tables": plain}[kind]]


# ---------------------------------------------------------------- leaderboard


@cache
def _board() -> few_labels.pd.DataFrame:
    return board.frame(results.read(RESULTS / "leaderboard.csv"))


def _board_kind(
    kind: str, column: str, view: Callable[[few_labels.pd.DataFrame, str], str] = few_labels.across
) -> str:
    own = board.by_kind(_board()).get(kind)
    return "Nothing is measured yet." if own is None else view(own, column)


def _board_costs(column: str) -> str:
    """Return medians over cells, with methods down and kinds of sets across."""
    kinds = board.by_kind(_board())
    found = {kind: few_labels.wide(own, column).median() for kind, own in kinds.items()}
    frame = few_labels.pd.DataFrame(found)
    order = few_labels.wide(_board(), column).columns
    lines = [
        [name, *("-" if np.isnan(v) else f"{v:.3g}" if v < 100 else f"{v:.0f}" for v in row)]
        for name, row in zip(order, frame.loc[order].to_numpy(), strict=True)
    ]
    return table(["method", *frame], lines)


def _board_cells() -> str:
    """Return which cells of the short form are measured, and which are missing."""
    draws: dict[tuple[str, str], set[str]] = {}
    for line in results.read(RESULTS / "leaderboard.csv"):
        draws.setdefault((line["set"], line["labels"]), set()).add(line["split"])
    lines = []
    for kind, names in SET_KINDS.items():
        short = [(name, str(SHORT[name])) for name in names if name in SHORT]
        there = {cell: len(found) for cell, found in draws.items() if cell[0] in names}
        done = [f"{' '.join(cell)} ({n} draw{'s' * (n > 1)})" for cell, n in there.items()]
        left = [" ".join(cell) for cell in short if cell not in there]
        lines.append([kind, ", ".join(done) or "none", ", ".join(left) or "none"])
    return table(["kind", "measured: set, labels", "not measured yet"], lines)


def _board_failures() -> str:
    """Return the fits without a result, and why."""
    every = results.read(RESULTS / "leaderboard.csv")
    lines = [
        [NAMES.get(each["method"], each["method"]), f"{each['set']} {each['labels']}", _why(each)]
        for each in every
        if each["status"] != "ok"
    ]
    return table(["method", "set, labels", "why"], lines) if lines else "All fits have a result."


def _why(line: dict[str, str]) -> str:
    limits = {
        "over the limit": f"over the limit of {line['limit_seconds']} CPU seconds",
        "did not fit": f"more than {line['limit_gb']} GB of memory",
    }
    return limits.get(line["status"], line["status"])


def _board_runs() -> str:
    """Return who measured what, when, and with which versions."""
    found: dict[tuple[str, str], set[str]] = {}
    days: dict[tuple[str, str], list[str]] = {}
    for line in results.read(RESULTS / "leaderboard.csv"):
        key = line["run"], f"{line['package']} {line['version']}".strip() or "not said"
        found.setdefault(key, set()).add(line["method"])
        days.setdefault(key, []).append(line["measured"])
    lines = [
        [
            run,
            package,
            ", ".join(sorted(names)),
            min(days[run, package]),
            str(len(days[run, package])),
        ]
        for (run, package), names in found.items()
    ]
    return table(["run", "package", "methods", "measured from", "fits"], lines)


def _published() -> str:
    rows = stored("published")
    heads = list(rows[0])
    return table(heads, [list(row.values()) for row in rows])


# ---------------------------------------------------------------- calibration

OURS = ("SemiSupervisedClassifier", "GKMClassifier", "GKMClassifierCV")


def _ours_first(model: str) -> int:
    return OURS.index(model) if model in OURS else len(OURS)


def _calibration() -> str:
    found = {
        (row["set"], row["labels"], row["model"]): (float(row["brier"]), float(row["error"]))
        for row in stored("calibration")
    }
    models = sorted(dict.fromkeys(model for *_, model in found), key=_ours_first)
    cells = list(dict.fromkeys(key[:2] for key in found))
    values = np.array([[found[*cell, model] for model in models] for cell in cells])
    lines = [
        [*names, *(f"{brier:.3f}, {error:.3f}" for brier, error in row)]
        for names, row in zip([*cells, ("mean", "")], [*values, values.mean(axis=0)], strict=True)
    ]
    return table(["set", "labels", *models], lines)


# --------------------------------------------------------------- large tables

TITLES = {
    "covtype-2": "COVTYPE, 2 classes",
    "covtype-7": "COVTYPE, 7 classes",
    "ijcnn1": "IJCNN1",
    "cod-rna": "COD-RNA",
    "a1a": "A1A",
    "w8a": "W8A",
    "mushrooms": "MUSHROOMS",
    "mnist-500": "MNIST",
}
COLUMNS = {
    "own": "`SemiSupervisedClassifier`",
    "own on a card": "the same on a card",
    "forest": "forest",
    "boosting": "boosting",
}
DRAWN = {"sheet": "a curved sheet with noise", "blobs": "Gaussian blobs that overlap"}
DIMENSIONS = {"sheet": "4", "blobs": "20"}
SIZES = ("50k", "100k", "200k", "500k")


def _large(name: str, method: str) -> dict[str, float]:
    """Return the means of a set and a method over draws; nothing where there are none."""
    own = [row for row in stored("large_tables") if row["set"] == name and row["method"] == method]
    numbers = ("rows", "labels", "new", "hidden", "seconds", "cpu_seconds", "peak_mb")
    kept = [key for key in numbers if own and all(row[key] for row in own)]
    return {key: float(np.mean([float(row[key]) for row in own])) for key in kept}


def _large_tables() -> str:
    lines = []
    for name, title in TITLES.items():
        found = {method: _large(name, method) for method in COLUMNS}
        if ours := found["own"]:
            best = max(round(each["new"], 2) for each in found.values() if each)
            texts = [_best(each.get("new"), best) for each in found.values()]
            sizes = [f"{ours[key]:,.0f}" for key in ("rows", "labels")]
            lines.append([title, *sizes, f"{ours['hidden']:.2f}", *texts])
    return table(["set", "rows", "labels", "hidden rows", *COLUMNS.values()], lines)


def _best(value: float | None, best: float) -> str:
    if value is None:
        return ""
    return f"**{value:.2f}**" if round(value, 2) >= best else f"{value:.2f}"


def _large_table_costs() -> str:
    lines = []
    for name, title in TITLES.items():
        found = {method: _large(name, method) for method in COLUMNS}
        if found["own"]:
            texts = [_costs(each) for each in found.values()]
            lines.append([title, *texts])
    return table(["set", *COLUMNS.values()], lines)


def _costs(own: dict[str, float]) -> str:
    if not own:
        return ""
    return f"{own['cpu_seconds']:.1f}, {own['seconds']:.1f}, {own['peak_mb']:,.0f}"


def _growth() -> str:
    lines = []
    for kind, title in DRAWN.items():
        found = [_large(f"{kind}-{size}", "own") for size in SIZES]
        if all(found):
            rows, cpu = (np.array([each[key] for each in found]) for key in ("rows", "cpu_seconds"))
            slope = np.polyfit(np.log(rows), np.log(cpu), 1)[0]
            texts = [f"{each:.1f}" for each in cpu]
            lines.append([title, DIMENSIONS[kind], ", ".join(texts), f"{slope:.2f}"])
    heads = ["rows", "dimensions", "CPU s at 50,000, 100,000, 200,000, 500,000", "exponent"]
    return table(heads, lines)


# ------------------------------------------------------------------- accuracy


def _accuracy(metric: str) -> str:
    """Return the means of our estimators and of the rivals, cell by cell."""
    results = [each for each in read(RESULTS / "accuracy.csv") if each.metric == metric]
    names = list(dict.fromkeys(each.estimator for each in sorted(results, key=lambda e: e.rival)))
    cells: dict[str, dict[str, Result]] = {}
    for each in results:
        cells.setdefault(each.cell, {})[each.estimator] = each
    lines = [_accuracy_line(cell, own, names) for cell, own in cells.items()]
    means = [
        f"{np.mean([own[name].mean for own in cells.values()]):.1f}"
        if all(name in own for own in cells.values())
        else ""
        for name in names
    ]
    return table(["cell", *names], [*lines, ["mean", *means]])


def _accuracy_in_short() -> str:
    """Return the means of every estimator over kinds of cells, and its worst cell.

    In its worst cell it is farthest behind the best rival of that cell, chosen in hindsight.
    """
    results = [each for each in read(RESULTS / "accuracy.csv") if each.metric == "accuracy"]
    found = few_labels.pd.DataFrame(
        {(each.cell, each.estimator): {"mean": each.mean} for each in results}
    ).T["mean"]
    means = found.unstack()
    labels = few_labels.pd.Series({each.cell: each.labels for each in results})[means.index]
    clustered = means.index.str.split().str[0].isin(CLUSTERED)
    kinds = [labels > 0, clustered, ~clustered, labels <= 10]
    best = means[[*{each.estimator for each in results if each.rival}]].max(axis=1)
    lines = []
    for name in means.mean().sort_values(ascending=False).index:
        own = next(each for each in results if each.estimator == name)
        shown = [means.loc[kind, name] for kind in kinds]
        texts = ["" if kind.isna().any() else f"{kind.mean():.1f}" for kind in shown]
        worst = (means[name] - best).min()
        title = f"{name}, labelled rows only" if own.rival else f"`{name}`"
        lines.append([title, *texts, f"{worst:+.1f}"])
    heads = [f"{kind.sum()} {what}" for kind, what in zip(kinds, KINDS, strict=True)]
    return table(["method", *heads, "worst"], lines)


def _accuracy_line(cell: str, own: dict[str, Result], names: Iterable[str]) -> list[str]:
    best = max(BETTER[each.metric] * each.mean for each in own.values())
    line = [cell]
    for name in names:
        shown = f"{own[name].mean:.1f}" if name in own else ""
        is_best = name in own and BETTER[own[name].metric] * own[name].mean >= best
        line.append(f"**{shown}**" if is_best else shown)
    return line


# ----------------------------------------------------------------- thresholds


def _row_steps() -> str:
    found = {(row["step"], row["kind"]): row for row in stored("row_steps")}
    steps, kinds = (list(dict.fromkeys(key[at] for key in found)) for at in (0, 1))

    def shown(step: str, kind: str) -> str:
        row = found.get((step, kind))
        return f"{row['difference']} ± {row['standard_error']}" if row else ""

    return table(
        ["step", *kinds], [[step, *(shown(step, kind) for kind in kinds)] for step in steps]
    )


# -------------------------------------------------------------- many machines

DASK = {
    "seconds": "seconds of the clock",
    "passes": "of which passes over the rows",
    "cpu_labels": "CPU seconds: labels",
    "cpu_move": "two moves of the anchors",
    "cpu_join": "joining them",
    "cpu_members": "members",
    "worker_gib": "largest memory of a worker, GiB",
    "client_gib": "largest memory of the client, GiB",
    "accuracy": "accuracy on new rows",
    "labels_alone": "the models of the labels alone",
    "sample": "a local fit to a sample of 100,000 rows",
}


def _dask_scale() -> str:
    runs = stored("dask_scale")
    shares = {"accuracy", "labels_alone", "sample"}

    def shown(run: dict[str, str], key: str) -> str:
        return f"{100 * float(run[key]):.1f} %" if key in shares and run[key] else run[key]

    lines = [[name, *(shown(run, key) for run in runs)] for key, name in DASK.items()]
    passes = ("cpu_labels", "cpu_move", "cpu_join")
    each = [sum(float(run[k]) for k in passes) / int(run["rows"]) * 1e6 for run in runs]
    lines.insert(5, ["all passes, CPU seconds per million rows", *(f"{own:.0f}" for own in each)])
    for name, key in (("moves", "sent_move"), ("joins", "sent_join")):
        told = [f"{float(run[key]):.3g}" if run[key] else "not measured" for run in runs]
        lines.insert(-3, [f"sent between workers by the {name}, MB", *told])
    kept = [line for line in lines if any(line[1:])]
    return table(["", *(f"{int(run['rows']):,} rows" for run in runs)], kept)


def _anchor_search() -> str:
    heads = ["columns", "anchors", "nearest", "CPU seconds per million rows", "scikit-learn"]
    lines = [
        [run["columns"], f"{int(run['anchors']):,}", run["k"], run["own"], run["scikit_learn"]]
        for run in stored("anchor_search")
    ]
    return table(heads, lines)


VIEWS: dict[str, Callable[[], str]] = {
    "leaderboard": lambda: few_labels.board(board.single(_board())),
    **{
        f"leaderboard {kind}": partial(_board_kind, kind, "accuracy")
        for kind in ("clusters and manifolds", "tables", "images", "graphs", "texts")
    },
    "leaderboard macro F1": partial(_board_kind, "several labels", "macro_f1"),
    "leaderboard ranking loss": partial(
        _board_kind, "several labels", "ranking_loss", few_labels.medians
    ),
    "leaderboard CPU seconds": partial(_board_costs, "cpu_seconds"),
    "leaderboard memory": partial(_board_costs, "peak_mb"),
    "leaderboard cells": _board_cells,
    "leaderboard failures": _board_failures,
    "leaderboard runs": _board_runs,
    "leaderboard published": _published,
    "few_labels accuracy": lambda: few_labels.spread(_cells(), "accuracy"),
    "few_labels over all cells": lambda: few_labels.summary(_cells()),
    "few_labels over clusters": lambda: few_labels.summary(_cells("clusters")),
    "few_labels over tables": lambda: few_labels.summary(_cells("tables")),
    "large_tables accuracy": _large_tables,
    "large_tables costs": _large_table_costs,
    "large_tables growth": _growth,
    "row_steps": _row_steps,
    "dask_scale": _dask_scale,
    "anchor_search": _anchor_search,
    "cluster_checks": lambda: table(*cluster_plan.checks(stored("cluster_checks"))),
    "cluster_plan": lambda: table(*cluster_plan.summary(stored("cluster_plan"))),
    "gpu": lambda: table(*gpu.summary(stored("gpu"))),
    "gpu_neighbours": lambda: table(*gpu_neighbours.summary(stored("gpu_neighbours"))),
    "first_fit": lambda: table(*first_fit.summary(stored("first_fit"))),
    "given_graphs": lambda: table(*given_graphs.summary(stored("given_graphs"))),
    "texts": lambda: table(*texts.summary(stored("texts"))),
    "labels f1": lambda: table(*labels.summary(stored("labels"), "f1")),
    "labels ranking": lambda: table(*labels.summary(stored("labels"), "ranking")),
    "images": lambda: table(*images.summary(stored("images"))),
    "large_graphs": lambda: table(*large_graphs.summary(stored("large_graphs"))),
    "explain": lambda: table(*explain.summary(stored("explain"))),
    "doubtful": lambda: table(*doubtful.summary(stored("doubtful"))),
    "row_map": lambda: table(*row_map.summary(stored("row_map"))),
    "neighbour_costs": lambda: table(*neighbour_costs.summary(stored("neighbour_costs"))),
    "neighbour_shares": lambda: table(*neighbour_costs.shares(stored("neighbour_shares"))),
    "novelty": lambda: table(*novelty.summary(stored("novelty"))),
    "calibration": _calibration,
    "learning_curves": lambda: table(*learning_curves.summary(stored("learning_curves"))),
    "round_trips": lambda: table(*round_trips.summary(stored("round_trips"))),
    "round_trips cells": lambda: table(*round_trips.odd_cells(stored("round_trips"))),
    "screening": lambda: table(*screening.summary(stored("screening"))),
    "screening order": lambda: table(*screening_order.summary(stored("screening_order"))),
    "sets": lambda: table(*sets.summary(stored("sets"))),
    "accuracy": partial(_accuracy, "accuracy"),
    "accuracy in short": _accuracy_in_short,
    "accuracy R^2": partial(_accuracy, "R^2"),
    "accuracy Brier": partial(_accuracy, "Brier"),
}


def filled(text: str) -> str:
    """Return a page with its tables made anew."""

    def block(match: re.Match[str]) -> str:
        name = match["name"]
        if name not in VIEWS:
            raise SystemExit(f"there is no table {name!r}; there are {', '.join(VIEWS)}")
        return f"{match[1]}\n{VIEWS[name]()}\n\n{match[3]}"

    return BLOCK.sub(block, text)


def main(pages: Iterable[Path] = PAGES) -> int:
    for page in pages:
        text = page.read_text("utf-8")
        if (new := filled(text)) != text:
            page.write_text(new, "utf-8")
            print(f"{page.relative_to(ROOT)}: new figures")
    return 0


if __name__ == "__main__":
    sys.exit(main())
