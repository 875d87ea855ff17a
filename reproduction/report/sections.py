"""The report's text: headings, sentences, figures and tables, in order."""

from __future__ import annotations

from ..experiments import COMPARISON, CONVERGENCE, GRAPH, LOSSES_AND_POWERS, UNLABELED
from ..figures import NEIGHBORS
from ..ledger import Row
from ..paper import REMARKS
from .findings import findings, findings_table
from .results import Results
from .tables import Table, comparison_table, losses_tables, short, unlabeled_tables


def write_markdown(results: Results, figures: dict[str, str]) -> str:
    """Return the report; `figures` has the file names of the figures that were drawn."""
    protocol = results.protocol
    parts = [
        "# The GKM paper, reproduced",
        "“Scalable Semi-supervised Learning with Graph-based Kernel Machine” (arXiv 1606.06793), "
        "its tables and figures with our numbers beside the paper's. Protocol: "
        f"{protocol.name}{', as printed' * protocol.as_printed}; {len(results.rows):,} results.",
    ]

    def section(title: str, text: str, drawn: list[str], tables: list[Table]) -> None:
        """Add a section unless it is empty."""
        images = [f"![{title}]({figures[name]})" for name in drawn if name in figures]
        body = [text, *images, *(table.markdown() for table in tables)]
        if any(body):
            parts.extend([f"## {title}", *body])

    section("What came of it", _items(findings(results)), [], [findings_table(results)])
    section(COMPARISON.title, "", ["accuracy", "time"], [comparison_table(results)])
    section(LOSSES_AND_POWERS.title, "", [], losses_tables(results))
    section(UNLABELED.title, "", ["unlabeled"], unlabeled_tables(results))
    tables = [_convergence_table(results)]
    section(CONVERGENCE.title, _on_convergence(results), ["convergence"], tables)
    sheet = f"A bent sheet of 500 points, each joined to its {NEIGHBORS} nearest neighbours."
    section(GRAPH.title, sheet if results.of_kind("graph") else "", ["graph"], [])
    tables = [_failures(results), _parameters(results)]
    section("How it was made", _items(_making(results)), [], tables)
    return "\n\n".join(part for part in parts if part) + "\n"


def _items(lines: list[str]) -> str:
    """Return a list, or the sentence itself if there is only one."""
    return "\n".join(f"- {line}" for line in lines) if len(lines) > 1 else "".join(lines)


def _convergence_rows(results: Results) -> list[Row]:
    return sorted(results.of_kind("convergence"), key=lambda row: row["method"])


def _on_convergence(results: Results) -> str:
    rows = _convergence_rows(results)
    if not rows:
        return ""
    return (
        "J at the average of T steps less J's minimum, times T; the theorem bounds its expectation "
        "by 2G² (dotted). The minimum is the batch solver's, certified to "
        f"{max(row['minimum_certified_to'] for row in rows):.1e} of itself at worst. Lines are "
        f"means of {len(rows[0]['gaps'])} runs, shades one standard deviation."
    )


def _convergence_table(results: Results) -> Table:
    rows = [
        [
            row["method"].removeprefix("gkm-"),
            f"{row['minimum']:.6g}",
            short(row["steps"][-1] * sum(gaps[-1] for gaps in row["gaps"]) / len(row["gaps"])),
            short(row["bound"]),
            f"{row['parameters']['C_graph']:.3g}",
        ]
        for row in _convergence_rows(results)
    ]
    columns = ["loss and p", "J's minimum", "ΔJ x T at the last T", "2G²", "C_graph"]
    return Table("Figure 2 in numbers", columns, rows)


def _making(results: Results) -> list[str]:
    lines = [results.protocol.describe()]
    for each in results.environments:
        versions = ", ".join(f"{name} {number}" for name, number in each["versions"].items())
        lines.append(
            f"Made on {each['processor']}, {each['cores']} cores, one thread per fit: {versions}."
        )
    return lines + [f"Of the paper: {remark}" for remark in REMARKS]


def _failures(results: Results) -> Table:
    failed = [row for row in results.rows if row["status"] == "error"]
    rows = [[row["key"], row.get("reason", "")] for row in failed]
    return Table("Cells that failed", ["cell", "error"], rows)


def _parameters(results: Results) -> Table:
    rows = [
        [
            row["dataset"],
            row["method"],
            str(row["hidden"]),
            str(row["run"] + 1),
            ", ".join(f"{name} = {value:g}" for name, value in row["parameters"].items()),
            f"{100 * row['cv_accuracy']:.2f}",
            f"{row['chosen_on_rows']:,}",
            short(row["cpu_seconds"]),
        ]
        for row in results.of_kind("choice")
    ]
    columns = ["set", "method", "% hidden", "run", "parameters", "accuracy in CV, %", "on rows",
               "CPU s"]  # fmt: skip
    return Table("Parameters chosen", columns, rows, folded=True)
