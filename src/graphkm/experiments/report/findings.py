"""What the comparison comes to, in one table and a few sentences."""

from __future__ import annotations

from ..paper import paper_values
from ..sets import PAPER_12, SETS
from .results import Results
from .tables import CLOSE, Entry, TableData, short

LARGE = 8000  # rows from which on training time is compared
_GKM = ("gkm-hinge-p1", "gkm-hinge-p2", "gkm-best")


def findings_table(results: Results) -> TableData:
    """Return GKM beside the paper's GKM, set by set, at 90 % hidden labels."""
    rows = []
    for name in results.datasets(_GKM, (90,)):
        paper = paper_values().get((name, "gkm", 90, "accuracy"))
        found = {method: results.get(name, method, 90) for method in _GKM}
        means = {m: s.mean["accuracy"] for m, s in found.items() if s is not None and s.mean}
        if paper is None or not means:
            continue
        first = found["gkm-hinge-p1"], found["gkm-hinge-p2"]
        limits = [each.best_on_test for each in first if each is not None and each.best_on_test]
        rows.append(
            [Entry(name), Entry(f"{paper:.2f}", paper)]
            + [_beside(means.get(method), paper) for method in _GKM]
            + [Entry(f"{max(limits):.2f}", max(limits)) if limits else Entry("")]
            + [_times_faster(results, name)]
        )
    columns = ["set", "paper", "p = 1", "p = 2", "best settings", "grid's best on test",
               "LapSVM's time / GKM's"]  # fmt: skip
    caption = (
        f"Accuracy in per cent; green and red: more than {CLOSE} points above and below the paper. "
        "“Grid's best on test” is the accuracy if the paper's grid could be searched with the test "
        "rows' labels, averaged over runs (small sets): no choice of parameters gives more."
    )
    return TableData(
        "GKM beside the paper's GKM, 90 % of the labels hidden", columns, rows, caption
    )


def _beside(value: float | None, paper: float) -> Entry:
    if value is None:
        return Entry("")
    apart = value - paper
    mood = "bad" if apart < -CLOSE else "good" if apart > CLOSE else ""
    return Entry(f"{value:.2f}", value, f"{apart:+.2f}", mood)


def _times_faster(results: Results, name: str) -> Entry:
    gkm, lap = results.get(name, "gkm-hinge-p1", 90), results.get(name, "lapsvm", 90)
    if gkm is None or lap is None or not gkm.mean:
        return Entry("")
    if not lap.mean:
        return Entry(f"LapSVM {lap.status}")
    ratio = lap.mean["cpu_seconds"] / max(gkm.mean["cpu_seconds"], 1e-9)
    return Entry(f"{short(ratio)} x", ratio)


def findings(results: Results) -> list[str]:
    """Return sentences on what was reached and what was not."""
    lines = []
    rows = [row for row in findings_table(results).rows if row[0].text in PAPER_12]
    if rows:
        lines += [
            _count(rows, column, what)
            for column, what in ((2, "hinge, p = 1"), (3, "hinge, p = 2"), (4, "best settings"))
        ]
        beyond = [r[0].text for r in rows if r[5].number and r[1].number - r[5].number > CLOSE]  # type: ignore[operator]
        if beyond:
            lines.append(
                f"On {', '.join(beyond)} even the grid's best on the test rows stays more than "
                f"{CLOSE} points below the paper's number."
            )
    lines += _speed(results) + _memory(results)
    return lines


def _count(rows: list[list[Entry]], column: int, what: str) -> str:
    known = [row for row in rows if row[column].number is not None]
    near = [row for row in known if row[column].mood != "bad"]
    far = [row[0].text for row in known if row[column].mood == "bad"]
    text = (
        f"GKM ({what}): within {CLOSE} points of the paper, or better, on {len(near)} of "
        f"{len(known)} sets"
    )
    return f"{text}; not on {', '.join(far)}." if far else f"{text}."


def _speed(results: Results) -> list[str]:
    ratios, stopped = {}, []
    for name, one in SETS.items():
        entry = _times_faster(results, name)
        if one.rows > LARGE and entry.number is not None:
            ratios[name] = entry.number
        elif one.rows > LARGE and entry.text:
            stopped.append(f"{name} ({entry.text})")
    lines = []
    if ratios:
        slowest = min(ratios, key=lambda name: ratios[name])
        lines.append(
            f"On sets of more than {LARGE:,} rows GKM trains at least {short(ratios[slowest])} "
            f"times faster than LapSVM (least on {slowest})."
        )
    if stopped:
        lines.append(f"LapSVM has no time on {', '.join(stopped)}.")
    return lines


def _memory(results: Results) -> list[str]:
    summary = results.get("covtype", "gkm-hinge-p1", 90)
    if summary is None or "memory_mb" not in summary.mean:
        return []
    used, data = summary.mean["memory_mb"], summary.mean["data_mb"]
    return [
        f"On COVTYPE training takes {used:.0f} MB with the rows themselves, which are {data:.0f} "
        f"MB: {used / data:.2f} times the data."
    ]
