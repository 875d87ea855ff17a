"""A summary of the comparison with the paper: one table and a few sentences."""

from __future__ import annotations

from dataclasses import dataclass

from ..paper import paper_values
from ..sets import PAPER_12, SETS
from .results import Results
from .tables import CLOSE, Table, beside_paper, short

_LARGE = 8000  # rows from which on training time is compared
_GKM = {"gkm-hinge-p1": "p = 1", "gkm-hinge-p2": "p = 2", "gkm-best": "best settings"}


@dataclass(frozen=True)
class _Finding:
    """GKM's accuracies on one set, with 90 % of the labels hidden."""

    dataset: str
    paper: float
    ours: dict[str, float]  # by method
    best_on_test: float | None  # of the whole grid


def _find(results: Results) -> list[_Finding]:
    found = []
    for name in results.datasets(tuple(_GKM), (90,)):
        paper = paper_values().get((name, "gkm", 90, "accuracy"))
        summaries = {method: results.get(name, method, 90) for method in _GKM}
        ours = {m: s.mean["accuracy"] for m, s in summaries.items() if s is not None and s.mean}
        if paper is None or not ours:
            continue
        grids = [summaries["gkm-hinge-p1"], summaries["gkm-hinge-p2"]]
        limits = [each.best_on_test for each in grids if each is not None and each.best_on_test]
        found.append(_Finding(name, paper, ours, max(limits, default=None)))
    return found


def findings_table(results: Results) -> Table:
    """Return GKM beside the paper's GKM, set by set, at 90 % hidden labels."""
    rows = [
        [
            each.dataset,
            f"{each.paper:.2f}",
            *(_beside_paper(each, method) for method in _GKM),
            "" if each.best_on_test is None else f"{each.best_on_test:.2f}",
            _times_faster(results, each.dataset)[0],
        ]
        for each in _find(results)
    ]
    columns = ["set", "paper", *_GKM.values(), "grid's best on test", "LapSVM's time / GKM's"]
    caption = (
        f"Accuracy in per cent; ▲ and ▼: more than {CLOSE} points above and below the paper. "
        "“Grid's best on test” is the accuracy if the paper's grid could be searched with the test "
        "rows' labels, averaged over runs (small sets): no choice of parameters gives more."
    )
    return Table("GKM beside the paper's GKM, 90 % of the labels hidden", columns, rows, caption)


def _beside_paper(finding: _Finding, method: str) -> str:
    ours, paper = finding.ours.get(method), finding.paper
    return "" if ours is None else beside_paper(f"{ours:.2f}", ours, paper, f"{ours - paper:+.2f}")


def _times_faster(results: Results, name: str) -> tuple[str, float | None]:
    """Return LapSVM's time divided by GKM's: as text, and as a number if both finished."""
    gkm, lap = results.get(name, "gkm-hinge-p1", 90), results.get(name, "lapsvm", 90)
    if gkm is None or lap is None or not gkm.mean:
        return "", None
    if not lap.mean:
        return f"LapSVM {lap.status}", None
    ratio = lap.mean["cpu_seconds"] / max(gkm.mean["cpu_seconds"], 1e-9)
    return f"{short(ratio)} x", ratio


def findings(results: Results) -> list[str]:
    """Return sentences about what was reached and what was not."""
    lines = []
    found = [each for each in _find(results) if each.dataset in PAPER_12]
    if found:
        titles = ("hinge, p = 1", "hinge, p = 2", "best settings")
        lines += [_count(found, *each) for each in zip(_GKM, titles, strict=True)]
    beyond = [
        each.dataset
        for each in found
        if each.best_on_test is not None and each.paper - each.best_on_test > CLOSE
    ]
    if beyond:
        lines.append(
            f"On {', '.join(beyond)} even the grid's best on the test rows stays more than "
            f"{CLOSE} points below the paper's number."
        )
    return lines + _speed(results) + _memory(results)


def _count(found: list[_Finding], method: str, what: str) -> str:
    known = [each for each in found if method in each.ours]
    far = [each.dataset for each in known if each.ours[method] - each.paper < -CLOSE]
    text = (
        f"GKM ({what}): within {CLOSE} points of the paper, or better, on "
        f"{len(known) - len(far)} of {len(known)} sets"
    )
    return f"{text}; not on {', '.join(far)}." if far else f"{text}."


def _speed(results: Results) -> list[str]:
    ratios, stopped = {}, []
    for name in (name for name, each in SETS.items() if each.rows > _LARGE):
        text, ratio = _times_faster(results, name)
        if ratio is not None:
            ratios[name] = ratio
        elif text:
            stopped.append(f"{name} ({text})")
    lines = []
    if ratios:
        slowest = min(ratios, key=lambda name: ratios[name])
        lines.append(
            f"On sets of more than {_LARGE:,} rows GKM trains at least {short(ratios[slowest])} "
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
