"""The paper's tables with our numbers, in Markdown."""

from __future__ import annotations

from html import escape
from itertools import product
from typing import Any

import numpy as np

from ..experiments import COMPARED, GRID, GROWING, RIVALS
from ..experiments import SHARES as ALL_SHARES
from ..methods import METHODS
from ..paper import paper_values, unlabeled_values
from ..sets import PAPER_SETS, SETS
from .explaining import SHARES, SHOWN, VARIANTS, counts, explanation, possible_hits
from .results import Results, Spread

CLOSE = 1.5  # points by which an accuracy may differ from one that counts as equal

_PROTOCOLS = [f"a {part}, {objective}" for part, objective in VARIANTS]


def all_tables(results: Results) -> dict[str, str]:
    """Return every table but the verdicts, by its name in page.md; "" if it has no rows."""
    failures = [[row["cell"], row["error"]] for row in results.tables["failures"]]
    return {
        "protocols": _protocols(results),
        **{f"losses_{hidden}": _losses(results, hidden) for hidden in (80, 90)},
        "every_cell": _every_cell(results),
        "comparison": _comparison(results),
        "costs": _costs(results),
        **{f"shares_{measure}": _shares(results, measure) for measure in ("accuracy", "f1")},
        "curves": _curves(results),
        "sets": _sets(results),
        "failures": markdown(["cell", "error"], failures),
    }


def markdown(columns: list[str], rows: list[list[str]]) -> str:
    r"""Return a table; nothing if there are no rows.

    Examples
    --------
    >>> print(markdown(["a", "b"], [["1|2", "<b>"]]))
    | a | b |
    |---|---|
    | 1\|2 | &lt;b&gt; |
    """
    if not rows:
        return ""
    body = [[escape(" ".join(text.split()), quote=False).replace("|", "\\|") for text in row]
            for row in rows]  # fmt: skip
    head, *lines = ["| " + " | ".join(row) + " |" for row in (columns, *body)]
    return "\n".join([head, "|" + "---|" * len(columns), *lines])


def beside_paper(ours: Spread | None, paper: float | None) -> str:
    """Return an accuracy with the paper's, their difference, and a mark if that is large.

    Examples
    --------
    >>> beside_paper(Spread(94.0, 1.0, 93.0, 95.0, 3), 92.0)
    '94.00 ± 1.00 (paper 92.00, +2.00) ▲'
    >>> beside_paper(Spread(90.0, 0.0, 90.0, 90.0, 1), 95.0)
    '90.00 (paper 95.00, -5.00) ▼'
    """
    if ours is None or paper is None:
        return with_spread(ours)
    apart = ours.mean - paper
    mark = " ▼" if apart < -CLOSE else " ▲" if apart > CLOSE else ""
    return f"{with_spread(ours)} (paper {paper:.2f}, {apart:+.2f}){mark}"


def with_spread(ours: Spread | None, form: Any = "{:.2f}".format) -> str:
    """Return a mean ± the standard deviation, which a single run does not have."""
    if ours is None:
        return ""
    return form(ours.mean) + (f" ± {form(ours.sd)}" if ours.runs > 1 else "")


def short(value: float) -> str:
    """Return a number with about three digits."""
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3f}" if value < 1 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _protocols(results: Results) -> str:
    """Return how many of the paper's numbers each protocol can explain, for the small sets."""
    lines = {}  # the hits on five tenths and on a fifth, and three counts for each protocol
    for name in SHOWN:
        explained = [counts(results, name, variant) for variant in VARIANTS]
        if None not in explained:
            lines[name] = np.concatenate([list(possible_hits(name).values()), *explained])
    if lines:
        lines[f"all {12 * len(lines)}"] = np.sum(list(lines.values()), axis=0)
    rows = [
        [name, *map(str, line[:2]), *(" + ".join(map(str, by)) for by in line[2:].reshape(-1, 3))]
        for name, line in lines.items()
    ]
    return markdown(["set", "hits on five tenths", "hits on a fifth", *_PROTOCOLS], rows)


def _losses(results: Results, hidden: int) -> str:
    rows = [
        [name, *(_accuracy(results, name, method, hidden, method) for method in GRID)]
        for name in PAPER_SETS
    ]
    columns = ["set", *(METHODS[method].title.removeprefix("GKM ") for method in GRID)]
    return markdown(columns, [row for row in rows if any(row[1:])])


def _accuracy(results: Results, name: str, method: str, hidden: int, printed: str) -> str:
    """Return an accuracy beside the one that the paper prints for a method of its own."""
    row = results.get(name, method, hidden) or {"status": "ok"}
    paper = paper_values().get((name, printed, hidden, "accuracy"))
    if row["status"] == "ok":
        return beside_paper(results.spread(name, method, hidden), paper)
    text = ": ".join(filter(None, (row["status"], str(row["reason"]))))
    return text + ("" if paper is None else f" (paper {paper:.2f})")


def _every_cell(results: Results) -> str:
    rows = []
    for name, method, hidden in product(PAPER_SETS, GRID, SHARES):
        paper = paper_values().get((name, method, hidden, "accuracy"))
        answers = [explanation(results, name, method, hidden, each) for each in VARIANTS]
        texts = ["" if answer is None else _explained(*answer) for answer in answers]
        printed = "" if paper is None else f"{paper:.2f}"
        if any(texts):
            rows.append([name, method.removeprefix("gkm-"), str(hidden), printed, *texts])
    return markdown(["set", "method", "% hidden", "paper", *_PROTOCOLS], rows)


def _explained(chosen: Spread, best: Spread, why: str) -> str:
    text = f"{chosen.mean:.1f} ± {chosen.sd:.1f} / {best.mean:.1f} / {best.most:.1f}"
    return text + (f" ({why})" if why else "")


def _sets(results: Results) -> str:
    """Return Table 1 with its contradictions."""
    rows = []
    for row in sorted(results.tables["sets"], key=lambda row: list(SETS).index(row["dataset"])):
        printed, ours = SETS[row["dataset"]].printed, (row["rows"], row["columns"])
        apart = [f"{what} {theirs:,}" for what, theirs, own
                 in zip(("rows", "columns"), printed or ours, ours, strict=True)
                 if theirs != own]  # fmt: skip
        note = "not in Table 1" if printed is None else ", ".join(apart)
        share = max(map(int, str(row["classes"]).split())) / row["rows"]
        rows.append([row["dataset"], *(f"{own:,}" for own in ours), f"{100 * share:.1f}", note])
    return markdown(["set", "rows", "columns", "larger class, %", "the paper has"], rows)


def _shares(results: Results, measure: str) -> str:
    """Return Table 4: accuracy or F1 against the share of hidden labels."""
    rows, shares = [], ALL_SHARES[::-1]
    for name in PAPER_SETS:
        ours = [results.spread(name, "gkm-hinge-p1", h, measure=measure) for h in shares]
        printed = [unlabeled_values().get((name, h, measure)) for h in shares]
        texts = [with_spread(own) + ("" if paper is None else f" (paper {paper:.2f})")
                 for own, paper in zip(ours, printed, strict=True)]  # fmt: skip
        if all(ours[:3]):
            rows.append([name, *texts, _like(results, name)])
    columns = ["set", *(f"{share} % hidden" for share in shares), "nearest row of the paper"]
    return markdown(columns, rows)


def _like(results: Results, name: str) -> str:
    """Return the row of the paper's Table 4 that is nearest to ours in accuracy and F1."""
    apart: dict[str, float] = {}
    for (other, hidden, measure), paper in unlabeled_values().items():
        ours = results.spread(name, "gkm-hinge-p1", hidden, measure=measure)
        if hidden <= 70 and ours is not None:
            apart[other] = apart.get(other, 0.0) + abs(ours.mean - paper)
    return min(apart, key=lambda other: apart[other])


def _comparison(results: Results) -> str:
    """Return Table 5: accuracy, time and memory of all methods."""
    rows = []
    for name, method in product(PAPER_SETS, COMPARED):
        cells = [cell for h in (80, 90) if (cell := results.get(name, method, h))]
        if not cells:
            continue
        # The paper's row GKM stands beside ours with p = 2, whose numbers it repeats. Ours with
        # p = 1 stands beside Tables 2 and 3.
        printed = "gkm" if method == "gkm-hinge-p2" else method
        any_gkm = "gkm" if method == "gkm-hinge-p1" else printed
        rows.append([
            name, METHODS[method].title,
            *(_accuracy(results, name, method, hidden, printed) for hidden in (80, 90)),
            *(with_spread(results.spread(name, each, 90, measure=what), "{:.1f}".format)
              for each, what in ((method, "f1"), ("gkm-hinge-p1", "majority"))),
            *(_amount(results, name, method, hidden, "cpu_seconds", (printed, "seconds"))
              for hidden in (80, 90)),
            _amount(results, name, method, 90, "memory_mb", (any_gkm, "memory_mb")),
            str(max(cell["runs"] for cell in cells)),
        ])  # fmt: skip
    columns = ["set", "method", "accuracy, 80 %", "accuracy, 90 %", "F1, 90 %", "larger class, %",
               "CPU s, 80 %", "CPU s, 90 %", "memory MB", "runs"]  # fmt: skip
    return markdown(columns, rows)


def _amount(
    results: Results, name: str, method: str, hidden: int, measure: str, printed: tuple[str, str]
) -> str:
    ours = results.spread(name, method, hidden, measure=measure)
    paper = paper_values().get((name, printed[0], hidden, printed[1]))
    return with_spread(ours, short) + (f" (paper {short(paper)})" if ours and paper else "")


def exponent(results: Results, name: str, method: str, column: str = "cpu_seconds") -> str:
    """Return the power of the rows with which a cost grows, from 8,000 rows on."""
    points = [(row["rows"], row[column]) for row in results.costs(name, method)
              if row["status"] == "ok" and row["rows"] >= 8000 and row[column] > 0]  # fmt: skip
    if len(points) < 3:
        return ""
    x, y = np.log(np.array(points, dtype=float)).T
    (slope, _), covariance = np.polyfit(x, y, 1, cov="unscaled")
    rest = y - np.polyval(np.polyfit(x, y, 1), x)
    error = 2 * np.sqrt(covariance[0, 0] * (rest @ rest) / (len(x) - 2))
    return f"{slope:.2f} ± {error:.2f}"


def _costs(results: Results) -> str:
    """Return times and memory on growing parts of the four largest sets."""
    rows = []
    for name, method in product(GROWING, ("gkm-hinge-p1", *RIVALS)):
        costs = results.costs(name, method)
        ended = [row for row in costs if row["status"] == "ok"]
        beyond = [f"{row['rows']:,} rows: {row['status']}" for row in costs if row not in ended]
        paper = paper_values().get((name, method.removesuffix("-hinge-p1"), 90, "seconds"))
        last = [f"{ended[-1]['rows']:,}", short(ended[-1]["cpu_seconds"]),
                short(ended[-1]["memory_mb"])] if ended else [""] * 3  # fmt: skip
        powers = [exponent(results, name, method, c) for c in ("cpu_seconds", "memory_mb")]
        if costs:
            rows.append([name, METHODS[method].title, *last, *powers, (beyond or [""])[0],
                         short(paper) if paper else ""])  # fmt: skip
    columns = ["set", "method", "most rows that ended", "CPU s", "MB",
               "time grows as rows to the power", "memory", "beyond", "paper's s"]  # fmt: skip
    return markdown(columns, rows)


def _curves(results: Results) -> str:
    """Return Figure 2 in numbers."""
    rows = results.tables["convergence"]
    last = max((row["steps"] for row in rows), default=0)
    lines = [
        [row["objective"], METHODS[row["method"]].title.removeprefix("GKM "),
         f"{row['minimum']:.6g}", f"{short(row['gap'] * last)} ± {short(row['gap_sd'] * last)}",
         f"{row['slope']:+.2f} ± {row['slope_sd']:.2f}", short(row["bound"]),
         f"{row['C_graph']:.3g}"]
        for row in sorted(rows, key=lambda row: (row["objective"], row["method"]))
        if row["steps"] == last
    ]  # fmt: skip
    columns = ["objective", "loss and p", "J's minimum", f"ΔJ x T at T = {last:,}",
               "power of T with which ΔJ x T grows in the last decade", "2G²",
               "C_graph"]  # fmt: skip
    return markdown(columns, lines)
