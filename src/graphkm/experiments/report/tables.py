"""Tables as data: what HTML and Markdown both show."""

from __future__ import annotations

from dataclasses import dataclass

from .. import comparison, losses, unlabeled
from ..catalog import METHODS
from ..paper import paper_values, unlabeled_values
from .results import Results, Summary

CLOSE = 1.5  # points within which an accuracy counts as the paper's


@dataclass(frozen=True)
class Entry:
    """A cell of a table: its text, a number to sort by, smaller text below, and a mood."""

    text: str
    number: float | None = None
    note: str = ""
    mood: str = ""  # "good", "bad" or nothing


@dataclass(frozen=True)
class TableData:
    """A table, with its columns' names and a sentence of explanation."""

    title: str
    columns: list[str]
    rows: list[list[Entry]]
    caption: str = ""


def accuracy_entry(summary: Summary | None, paper: float | None, measure: str) -> Entry:
    """Return our mean with its deviation, the paper's value and the difference."""
    if summary is None:
        return Entry("")
    if summary.status != "ok":
        note = summary.reason if paper is None else f"paper {paper:.2f}"
        return Entry(summary.status, None, note, "bad" if summary.status == "error" else "")
    ours = summary.mean[measure]
    text = f"{ours:.2f} ± {summary.deviation[measure]:.2f}"
    if paper is None:
        return Entry(text, ours)
    apart = ours - paper
    mood = "bad" if apart < -CLOSE else "good" if apart > CLOSE else ""
    return Entry(text, ours, f"paper {paper:.2f}, {apart:+.2f}", mood)


def amount_entry(summary: Summary | None, paper: float | None, measure: str) -> Entry:
    """Return our time or memory, and the paper's."""
    if summary is None or measure not in summary.mean:
        return Entry("")
    ours = summary.mean[measure]
    return Entry(short(ours), ours, "" if paper is None else f"paper {short(paper)}")


def short(value: float) -> str:
    """Return three digits or so.

    Examples
    --------
    >>> short(0.0123), short(12.345), short(69498.0)
    ('0.012', '12.3', '69,498')
    """
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3f}" if value < 1 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


# ----------------------------------------------------------------- the tables


def losses_tables(results: Results) -> list[TableData]:
    """Return Tables 2 and 3: accuracy and time, at 80 % and 90 %."""
    tables = []
    for number, hidden in ((2, 80), (3, 90)):
        names = results.datasets(losses.METHOD_NAMES, (hidden,))
        columns = ["set", *(METHODS[m].title.removeprefix("GKM ") for m in losses.METHOD_NAMES)]
        for measure, ours, what in (
            ("accuracy", "accuracy", "accuracy in per cent"),
            ("seconds", "cpu_seconds", "training time in CPU seconds"),
        ):
            make = accuracy_entry if measure == "accuracy" else amount_entry
            rows = [
                [Entry(name)] + [
                    make(results.get(name, method, hidden),
                         paper_values().get((name, method, hidden, measure)), ours)
                    for method in losses.METHOD_NAMES
                ]
                for name in names
            ]  # fmt: skip
            tables.append(TableData(f"Table {number}: {what}, {hidden} % hidden", columns, rows))
    return tables


def unlabeled_tables(results: Results) -> list[TableData]:
    """Return Table 4: accuracy and F1 against the share of hidden labels."""
    shares = sorted(unlabeled.HIDDEN)
    (method,) = unlabeled.METHOD_NAMES
    names = results.datasets(unlabeled.METHOD_NAMES, (50, 60, 70))
    tables = []
    for measure, what in (("accuracy", "accuracy"), ("f1", "F1 score")):
        rows = [
            [Entry(name)] + [
                accuracy_entry(results.get(name, method, share),
                               unlabeled_values().get((name, share, measure)), measure)
                for share in shares
            ]
            for name in names
        ]  # fmt: skip
        columns = ["set", *(f"{share} % hidden" for share in shares)]
        tables.append(TableData(f"Table 4: {what} in per cent, hinge, p = 1", columns, rows))
    return tables


def comparison_table(results: Results) -> TableData:
    """Return Table 5: accuracy, time and memory of all methods."""
    columns = ["set", "method", "accuracy, 80 %", "accuracy, 90 %", "CPU s, 80 %", "CPU s, 90 %",
               "memory MB", "runs"]  # fmt: skip
    rows = []
    for name in results.datasets(comparison.METHOD_NAMES, comparison.HIDDEN):
        for method in comparison.METHOD_NAMES:
            found = {share: results.get(name, method, share) for share in (80, 90)}
            if not any(found.values()):
                continue
            rows.append(_comparison_row(name, method, found))
    caption = (
        "GKM's rows: hinge loss, the stochastic solver with the paper's steps. “No graph” leaves "
        "the graph term out; “best settings” is GKMClassifierCV: the batch solver, graphs of "
        "nearest neighbours, its own search, whose time is included. Memory is that of the "
        "training rows and of all that training holds at once beside them."
    )
    return TableData("Table 5: comparison of methods", columns, rows, caption)


def _comparison_row(name: str, method: str, found: dict[int, Summary | None]) -> list[Entry]:
    def paper(share: int, measure: str) -> float | None:
        return paper_value(name, method, share, measure)

    runs = max((each.runs for each in found.values() if each is not None), default=0)
    return [
        Entry(name),
        Entry(METHODS[method].title),
        *(accuracy_entry(found[share], paper(share, "accuracy"), "accuracy") for share in (80, 90)),
        *(amount_entry(found[share], paper(share, "seconds"), "cpu_seconds") for share in (80, 90)),
        amount_entry(found[90] or found[80], paper(90, "memory_mb"), "memory_mb"),
        Entry(str(runs), runs),
    ]


def paper_value(name: str, method: str, hidden: int, measure: str) -> float | None:
    """Return the paper's number for a row of Table 5.

    Its row GKM stands beside ours with p = 2, whose numbers it repeats; ours with p = 1 stands
    beside Tables 2 and 3.
    """
    if method == "gkm-hinge-p2" or (method == "gkm-hinge-p1" and measure == "memory_mb"):
        method = "gkm"
    return paper_values().get((name, method, hidden, measure))
