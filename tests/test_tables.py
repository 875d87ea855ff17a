"""The tables of the pages are those of benchmarks/results."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
if not BENCHMARKS.is_dir():  # tests of a source distribution
    pytest.skip("the benchmarks are not here", allow_module_level=True)
sys.path.insert(0, str(BENCHMARKS))
try:
    import _common
    import page_tables as tables
    from leaderboard.tables import frame_of, ranks, spread, summary
finally:
    sys.path.remove(str(BENCHMARKS))

HEAD, END = "<!-- table: {} -->", "<!-- end of table -->"
PLACES = [
    (page, name)
    for page in tables.PAGES
    for name in re.findall(r"<!-- table: (.+?) -->", page.read_text("utf-8"))
]


@pytest.mark.parametrize("page", dict.fromkeys(page for page, _ in PLACES), ids=lambda p: p.stem)
def test_a_page_shows_its_results(page):
    text = page.read_text("utf-8")
    assert text.count("<!-- table: ") == text.count(END) == len(tables.BLOCK.findall(text))
    assert tables.filled(text) == text, "run `make tables`"


def test_every_table_has_its_place():
    assert sorted(name for _, name in PLACES) == sorted(tables.VIEWS)


@pytest.mark.parametrize("name", ["leaderboard", "large_tables", "calibration", "accuracy"])
def test_no_table_of_these_pages_is_pasted(name):
    text = (_common.ROOT / "docs" / f"{name}.md").read_text("utf-8")
    assert tables.BLOCK.search(text)
    assert not re.search(r"^\|", tables.BLOCK.sub("", text), re.M)


def test_another_figure_in_a_page_is_found():
    text = (_common.ROOT / "docs" / "calibration.md").read_text("utf-8")
    figure = re.search(r"\d\.\d{3}, \d\.\d{3}", text).group()
    assert tables.filled(text.replace(figure, "9.999, 9.999")) == text
    empty = f"{HEAD.format('accuracy Brier')}\n{END}\nmore\n"
    filled = tables.filled(empty)
    assert "| moons 10 " in filled and filled.endswith("more\n")
    with pytest.raises(SystemExit, match="no table 'accuracy Briar'; there are leaderboard"):
        tables.filled(empty.replace("Brier", "Briar"))


def test_tables_of_large_tables_by_hand(tmp_path, monkeypatch):
    monkeypatch.setattr(_common, "RESULTS", tmp_path)
    costs = {"cpu_seconds": 4, "seconds": 2, "peak_mb": 1500, "rows": 9000, "labels": 900}
    lines = [
        {"set": "ijcnn1", "method": "own", "seed": seed, "new": new, "hidden": 98} | costs
        for seed, new in ((100, 97), (101, 98))
    ]
    lines.append(costs | {"set": "ijcnn1", "method": "forest", "seed": 100, "new": 97.2})
    for kind, size in (("sheet", n) for n in tables.SIZES):
        n = int(size[:-1]) * 1000
        drawn = {"rows": n, "cpu_seconds": n / 1e4}
        lines.append(costs | {"set": f"{kind}-{size}", "method": "own", "seed": 100} | drawn)
    _common.store("large_tables", lines, ("set", "method", "seed"))
    shown = [cell.strip() for cell in tables._large_tables().splitlines()[2].split("|")[1:-1]]
    assert shown == ["IJCNN1", "9,000", "900", "98.00", "**97.50**", "", "97.20", ""]
    shown = [cell.strip() for cell in tables._large_table_costs().splitlines()[2].split("|")[1:-1]]
    assert shown == ["IJCNN1", "4.0, 2.0, 1,500", "", "4.0, 2.0, 1,500", ""]
    (line,) = tables._growth().splitlines()[2:]
    assert "5.0, 10.0, 20.0, 50.0" in line and "| 1.00 " in line


def test_results_replace_those_with_the_same_keys(tmp_path, monkeypatch):
    monkeypatch.setattr(_common, "RESULTS", tmp_path)
    first = [{"set": "a", "n": 1, "x": "0.5, 1"}, {"set": "b", "n": 1, "x": 2}]
    _common.store("some", first, ("set", "n"))
    _common.store(
        "some", [{"set": "b", "n": 1, "x": 3}, {"set": "b", "n": 2, "z": 4}], ("set", "n")
    )
    assert (tmp_path / "some.csv").read_text().splitlines() == [
        "set,n,x,z",
        'a,1,"0.5, 1",',
        "b,1,3,",
        "b,2,,4",
    ]
    assert _common.stored("some")[1] == {"set": "b", "n": "1", "x": "3", "z": ""}
    assert _common.stored("none") == []


LINES = [
    {"set": s, "labels": n, "method": m, "splits": 10, "tried": t, "worked": w, "status": status}
    | {"accuracy": a, "accuracy_sd": sd}
    for s, n, m, t, w, status, a, sd in (
        ("moons", 4, "SVC", 10, 10, "ok", "70.04", "1.26"),
        ("moons", 4, "GKMClassifier", 3, 3, "ok", "80.0", "2"),
        ("moons", 4, "SelfTraining", 10, 0, "over the limit", "", ""),
        ("moons", 10, "SVC", 10, 9, "ok", "90.0", "1"),
        ("moons", 10, "GKMClassifier", 10, 1, "ok", "88.0", ""),
    )
]


def test_a_table_of_few_labels_by_hand():
    rows = [[c.strip() for c in line.split("|")[1:-1]] for line in _lines(spread, "accuracy")]
    assert rows == [
        ["set, labels", "splits", "SVC", "SelfTraining", "GKMClassifier"],
        ["moons 4", "10", "70.0 ± 1.3", "over the limit", "**80.0** ± 2.0 (splits: 3)"],
        ["moons 10", "10", "**90.0** ± 1.0 (9 of 10)", "-", "88.0 (1 of 10)"],
    ]


def test_ranks_by_hand():
    found = ranks(frame_of(LINES))
    # SVC is second of three and first of two; what failed is last.
    assert found["rank"].to_dict() == {"SVC": 1.5, "SelfTraining": 3.0, "GKMClassifier": 1.5}
    assert found["cells"].to_dict() == {"SVC": 2, "SelfTraining": 1, "GKMClassifier": 2}
    assert found.loc["GKMClassifier", "gain"] == pytest.approx((9.96 - 2.0) / 2)
    rows = [[c.strip() for c in line.split("|")[1:-1]] for line in _lines(summary)]
    assert rows[3] == ["GKMClassifier", "1.50", "2", "+4.0", "-2.0 (moons 10)"]
    assert rows[2] == ["SelfTraining", "3.00", "1", "-", "-"]


def _lines(view, *given):
    lines = view(frame_of(LINES), *given).splitlines()
    return [lines[0], *lines[2:]]
