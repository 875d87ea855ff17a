"""The report as a list of sections, whatever it is written as."""

from __future__ import annotations

from dataclasses import dataclass, field

from .. import comparison, convergence, graph, losses, unlabeled
from ..paper import REMARKS
from .findings import findings, findings_table
from .results import Results
from .tables import Entry, TableData, comparison_table, losses_tables, short, unlabeled_tables


@dataclass(frozen=True)
class Section:
    """A heading, what is said under it, a figure by name, tables; some of them folded away."""

    anchor: str
    title: str
    lines: list[str] = field(default_factory=list)
    figures: list[str] = field(default_factory=list)
    tables: list[TableData] = field(default_factory=list)
    folded: list[TableData] = field(default_factory=list)


def make_sections(results: Results) -> list[Section]:
    """Return the sections that there is anything to show in."""
    every = [
        _findings(results),
        Section("comparison", comparison.TITLE, [], ["accuracy", "time"],
                [comparison_table(results)]),
        Section("losses", losses.TITLE, [], [], losses_tables(results)),
        Section("unlabeled", unlabeled.TITLE, [], ["unlabeled"], unlabeled_tables(results)),
        _convergence(results),
        Section("graph", graph.TITLE, [
            f"A bent sheet of 500 points, each joined to its {graph.NEIGHBORS} nearest neighbours."
        ] if results.of_kind("graph") else [], ["graph"]),
        _making(results),
    ]  # fmt: skip
    return [_without_empty(each) for each in every if _has_anything(each, results)]


def _findings(results: Results) -> Section:
    return Section("findings", "What came of it", findings(results), [], [findings_table(results)])


def _convergence(results: Results) -> Section:
    rows = sorted(results.of_kind("convergence"), key=lambda row: row["method"])
    lines = [] if not rows else [
        "J at the average of T steps less J's minimum, times T; the theorem bounds its expectation "
        "by 2G² (dotted). The minimum is the batch solver's, certified to "
        f"{max(row['minimum_certified_to'] for row in rows):.1e} of itself at worst. Lines are "
        f"means of {len(rows[0]['gaps'])} runs, shades one standard deviation."
    ]  # fmt: skip
    entries = [
        [
            Entry(row["method"].removeprefix("gkm-")),
            Entry(f"{row['minimum']:.6g}", row["minimum"]),
            Entry(short(_last(row)), _last(row)),
            Entry(short(row["bound"]), row["bound"]),
            Entry(f"{row['parameters']['C_graph']:.3g}", row["parameters"]["C_graph"]),
        ]
        for row in rows
    ]
    columns = ["loss and p", "J's minimum", "ΔJ x T at the last T", "2G²", "C_graph"]
    tables = [TableData("Figure 2 in numbers", columns, entries)]
    return Section("convergence", convergence.TITLE, lines, ["convergence"], tables)


def _last(row: dict) -> float:
    return row["steps"][-1] * sum(gaps[-1] for gaps in row["gaps"]) / len(row["gaps"])


def _making(results: Results) -> Section:
    lines = [results.protocol.describe()]
    for each in results.environments:
        versions = ", ".join(f"{name} {number}" for name, number in each["versions"].items())
        lines.append(
            f"Made on {each['processor']}, {each['cores']} cores, one thread per fit: {versions}."
        )
    lines += [f"Of the paper: {remark}" for remark in REMARKS]
    failures = [
        [Entry(row["key"]), Entry(row.get("reason", ""), None, "", "bad")]
        for row in results.failures
    ]
    tables = [TableData("Cells that failed", ["cell", "error"], failures)]
    return Section("making", "How it was made", lines, [], tables, [_parameters(results)])


def _parameters(results: Results) -> TableData:
    rows = []
    for row in results.rows:
        if row["kind"] == "choice" and row["status"] == "ok":
            values = ", ".join(f"{name} = {value:g}" for name, value in row["parameters"].items())
            hidden, seconds = row["hidden"], row["cpu_seconds"]
            rows.append([
                Entry(row["dataset"]), Entry(row["method"]), Entry(f"{hidden}", hidden),
                Entry(str(row["run"] + 1), row["run"]), Entry(values),
                Entry(f"{100 * row['cv_accuracy']:.2f}", row["cv_accuracy"]),
                Entry(f"{row['chosen_on_rows']:,}", row["chosen_on_rows"]),
                Entry(short(seconds), seconds),
            ])  # fmt: skip
    columns = ["set", "method", "% hidden", "run", "parameters", "accuracy in CV, %", "on rows",
               "CPU s"]  # fmt: skip
    return TableData("Parameters chosen", columns, rows)


def _has_anything(section: Section, results: Results) -> bool:
    kinds = {"graph": "graph", "convergence": "convergence"}
    if section.anchor in kinds:
        return bool(results.of_kind(kinds[section.anchor]))
    return section.anchor == "making" or any(table.rows for table in section.tables)


def _without_empty(section: Section) -> Section:
    return Section(
        section.anchor, section.title, section.lines, section.figures,
        [table for table in section.tables if table.rows],
        [table for table in section.folded if table.rows],
    )  # fmt: skip
