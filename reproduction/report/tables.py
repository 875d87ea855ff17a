"""The paper's tables with our numbers, in Markdown."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from ..experiments import COMPARISON, LOSSES_AND_POWERS, UNLABELED
from ..methods import METHODS
from ..paper import paper_values, unlabeled_values
from .results import Results, Summary

CLOSE = 1.5
"""An accuracy counts as equal to the paper's if it differs by at most this many points."""


@dataclass(frozen=True)
class Table:
    """A table of texts with an explanation; a folded table opens on a click."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    caption: str = ""
    folded: bool = False

    def markdown(self) -> str:
        r"""Return the table with its title; nothing if there are no rows.

        Examples
        --------
        >>> print(Table("Letters", ["a", "b"], [["1|2", "<b>"]]).markdown())
        ### Letters
        <BLANKLINE>
        | a | b |
        |---|---|
        | 1\|2 | &lt;b&gt; |
        """
        if not self.rows:
            return ""
        lines = [self.columns, *([_cell(text) for text in row] for row in self.rows)]
        head, *body = ["| " + " | ".join(line) + " |" for line in lines]
        grid = "\n".join([head, "|" + "---|" * len(self.columns), *body])
        if self.folded:
            return f"<details><summary>{self.title}</summary>\n\n{grid}\n\n</details>"
        return "\n\n".join(part for part in (f"### {self.title}", self.caption, grid) if part)


def _cell(text: str) -> str:
    return escape(" ".join(text.split()), quote=False).replace("|", "\\|")


def beside_paper(text: str, ours: float, paper: float, note: str) -> str:
    """Return a text with a note in brackets, and a mark if we differ from the paper.

    Examples
    --------
    >>> beside_paper("94.00", 94.0, 92.0, "+2.00"), beside_paper("90", 90.0, 95.0, "-5.00")
    ('94.00 (+2.00) ▲', '90 (-5.00) ▼')
    """
    mark = " ▼" if ours - paper < -CLOSE else " ▲" if ours - paper > CLOSE else ""
    return f"{text} ({note}){mark}"


def short(value: float) -> str:
    """Return a number with about three digits.

    Examples
    --------
    >>> short(0.0123), short(12.345), short(69498.0)
    ('0.012', '12.3', '69,498')
    """
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3f}" if value < 1 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _accuracy(summary: Summary | None, paper: float | None, measure: str) -> str:
    """Return our mean with its deviation, the paper's value and the difference."""
    if summary is None:
        return ""
    if summary.status != "ok":
        note = summary.reason if paper is None else f"paper {paper:.2f}"
        return summary.status + (f" ({note})" if note else "")
    ours = summary.mean[measure]
    text = f"{ours:.2f} ± {summary.deviation[measure]:.2f}"
    if paper is None:
        return text
    return beside_paper(text, ours, paper, f"paper {paper:.2f}, {ours - paper:+.2f}")


def _amount(summary: Summary | None, paper: float | None, measure: str) -> str:
    """Return our time or memory, and the paper's."""
    if summary is None or measure not in summary.mean:
        return ""
    return short(summary.mean[measure]) + ("" if paper is None else f" (paper {short(paper)})")


# ----------------------------------------------------------------- the tables


def losses_tables(results: Results) -> list[Table]:
    """Return Tables 2 and 3: accuracy and time, at 80 % and 90 %."""
    methods = LOSSES_AND_POWERS.methods
    columns = ["set", *(METHODS[method].title.removeprefix("GKM ") for method in methods)]
    tables = []
    for number, hidden in ((2, 80), (3, 90)):
        for measure, ours, what, text in (
            ("accuracy", "accuracy", "accuracy in per cent", _accuracy),
            ("seconds", "cpu_seconds", "training time in CPU seconds", _amount),
        ):
            rows = [
                [name] + [
                    text(results.get(name, method, hidden),
                         paper_values().get((name, method, hidden, measure)), ours)
                    for method in methods
                ]
                for name in results.datasets(methods, (hidden,))
            ]  # fmt: skip
            tables.append(Table(f"Table {number}: {what}, {hidden} % hidden", columns, rows))
    return tables


def unlabeled_tables(results: Results) -> list[Table]:
    """Return Table 4: accuracy and F1 against the share of hidden labels."""
    shares = sorted(UNLABELED.hidden)
    (method,) = UNLABELED.methods
    columns = ["set", *(f"{share} % hidden" for share in shares)]
    tables = []
    for measure, what in (("accuracy", "accuracy"), ("f1", "F1 score")):
        rows = [
            [name] + [
                _accuracy(results.get(name, method, share),
                          unlabeled_values().get((name, share, measure)), measure)
                for share in shares
            ]
            for name in results.datasets(UNLABELED.methods, (50, 60, 70))
        ]  # fmt: skip
        tables.append(Table(f"Table 4: {what} in per cent, hinge, p = 1", columns, rows))
    return tables


def comparison_table(results: Results) -> Table:
    """Return Table 5: accuracy, time and memory of all methods."""
    columns = ["set", "method", "accuracy, 80 %", "accuracy, 90 %", "CPU s, 80 %", "CPU s, 90 %",
               "memory MB", "runs"]  # fmt: skip
    rows = []
    for name in results.datasets(COMPARISON.methods, COMPARISON.hidden):
        for method in COMPARISON.methods:
            found = {share: results.get(name, method, share) for share in (80, 90)}
            if any(found.values()):
                rows.append(_comparison_row(name, method, found))
    caption = (
        "GKM's rows: hinge loss, the stochastic solver with the paper's steps. “No graph” leaves "
        "the graph term out; “best settings” is GKMClassifierCV: the batch solver, graphs of "
        "nearest neighbours, its own search, whose time is included. Memory is that of the "
        "training rows and of all that training holds at once beside them."
    )
    return Table("Table 5: comparison of methods", columns, rows, caption)


def _comparison_row(name: str, method: str, found: dict[int, Summary | None]) -> list[str]:
    def paper(share: int, measure: str) -> float | None:
        # The paper's row GKM stands beside ours with p = 2, whose numbers it repeats. Ours with
        # p = 1 stands beside Tables 2 and 3.
        gkm = method == "gkm-hinge-p2" or (method == "gkm-hinge-p1" and measure == "memory_mb")
        return paper_values().get((name, "gkm" if gkm else method, share, measure))

    return [
        name,
        METHODS[method].title,
        *(_accuracy(found[share], paper(share, "accuracy"), "accuracy") for share in (80, 90)),
        *(_amount(found[share], paper(share, "seconds"), "cpu_seconds") for share in (80, 90)),
        _amount(found[90] or found[80], paper(90, "memory_mb"), "memory_mb"),
        str(max(each.runs for each in found.values() if each is not None)),
    ]
