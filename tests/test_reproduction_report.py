"""The report: complete, well-formed, and honest about failures."""

from __future__ import annotations

import re
from dataclasses import asdict

import pytest
from markdown_it import MarkdownIt

from reproduction.cells import NO_FIT, OVER, Cell
from reproduction.ledger import Ledger, ResultsError
from reproduction.protocol import Protocol
from reproduction.report import write_report
from reproduction.report.findings import findings
from reproduction.report.results import Results

ENVIRONMENT = {"processor": "abacus", "cores": 2, "versions": {"numpy": "2.0"}}


def row(cell, **values):
    common = {"key": cell.key, **asdict(cell), "status": "ok", "environment": ENVIRONMENT}
    return common | values


def fit_row(dataset, method, hidden, run=0, accuracy=0.9, seconds=1.0, **values):
    return row(
        Cell("fit", dataset, method, hidden, run), accuracy=accuracy, f1=accuracy,
        cpu_seconds=seconds, memory_mb=150.0, data_mb=100.0, **values,
    )  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder of made-up results with everything that can happen."""
    folder = tmp_path_factory.mktemp("results")
    ledger = Ledger(folder)
    ledger.keep_protocol(Protocol.named("economical").as_dict())
    for k, accuracy in enumerate((0.93, 0.95)):
        ledger.append(fit_row("g50c", "gkm-hinge-p1", 90, k, accuracy, 0.01))
        ledger.append(fit_row("ijcnn1", "gkm-hinge-p1", 90, k, accuracy, 0.5))
    for hidden in (50, 60, 70, 80):
        ledger.append(fit_row("g50c", "gkm-hinge-p1", hidden, 0, 0.96, 0.01))
    ledger.append(fit_row("ijcnn1", "lapsvm", 90, seconds=20.0))
    ledger.append(fit_row("covtype", "gkm-hinge-p1", 90, seconds=8.0, accuracy=0.87))
    ledger.append(row(Cell("fit", "covtype", "lapsvm", 90, 0), status=OVER))
    ledger.append(row(Cell("fit", "covtype", "gkm-best", 90, 0), status=NO_FIT, reason="64 GiB"))
    broken = "ValueError: <b>odd</b>"
    ledger.append(row(Cell("fit", "g50c", "cccp", 90, 0), status="error", reason=broken))
    ledger.append(row(
        Cell("choice", "g50c", "gkm-hinge-p1", 90, 0), parameters={"gamma": 0.5, "C": 2.0},
        cv_accuracy=0.9, chosen_on_rows=495, cpu_seconds=0.1, best_on_test=0.945,
    ))  # fmt: skip
    for loss in ("hinge", "logistic"):
        for p in (1, 2, 3):
            ledger.append(row(
                Cell("convergence", "g50c", f"gkm-{loss}-p{p}", 90, 0), steps=[32, 64],
                gaps=[[3.0, 1.0], [2.0, 1.5]], accuracies=[[0.8, 0.9], [0.7, 0.9]], bound=500.0,
                minimum=12.0, minimum_certified_to=5e-9, parameters={"C_graph": 0.5},
            ))  # fmt: skip
    ledger.append(row(
        Cell("graph", "made_curve", "knn", 0, 0), points=[[0, 0, 0], [1, 1, 1], [0, 1, 2]],
        edges=[[0, 1], [1, 2]], classes=[0, 1, 1],
    ))  # fmt: skip
    write_report(folder)
    return folder


@pytest.fixture(scope="module")
def markdown(folder):
    return (folder / "report.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(markdown):
    """Return the report as HTML, by the parser that Sphinx uses for Markdown."""
    return MarkdownIt("commonmark").enable("table").render(markdown)


@pytest.mark.long
def test_the_sections_and_tables_are_complete(page):
    sections = re.findall(r"<h2>(.*?)</h2>", page)
    assert [title.split(" (")[0] for title in sections] == [
        "What came of it",
        "Comparison of methods",
        "Losses and smoothness",
        "Share of hidden labels",
        "Convergence",
        "A spectral graph",
        "How it was made",
    ]
    titles = re.findall(r"<h3>(.*?)</h3>", page)
    for number in (2, 3, 4, 5):
        assert any(title.startswith(f"Table {number}:") for title in titles)
    # Every title but that of the folded table is a heading with its table.
    assert page.count("<table>") == len(titles) + page.count("<details>") == 11
    for table in re.findall(r"<table>.*?</table>", page, flags=re.S):
        head, *rows = re.findall(r"<tr>.*?</tr>", table, flags=re.S)
        assert rows
        assert {row.count("</td>") for row in rows} == {head.count("</th>")}


@pytest.mark.long
def test_ours_the_papers_and_the_difference_stand_together(markdown):
    assert "94.00 ± 1.41 (paper 97.27, -3.27) ▼" in markdown
    assert "94.00 ± 1.41 (paper 92.84, +1.16) |" in markdown


@pytest.mark.long
def test_what_did_not_work_is_shown_as_such(page):
    assert OVER in page and NO_FIT in page
    assert "fit/g50c/cccp/90/0" in page
    assert "<b>odd" not in page and "&lt;b&gt;odd" in page


def test_findings_say_what_was_reached(folder):
    said = " ".join(findings(Results(Ledger(folder))))
    assert "GKM (hinge, p = 1): within 1.5 points of the paper, or better, on 2 of 3 sets" in said
    assert "not on g50c." in said
    assert "On g50c even the grid's best on the test rows stays more than 1.5 points below" in said
    assert "GKM trains at least 40.0 times faster than LapSVM (least on ijcnn1)" in said
    assert f"covtype (LapSVM {OVER})" in said
    assert "150 MB" in said and "1.50 times the data" in said


@pytest.mark.long
def test_the_figures_lie_beside_it(folder, markdown):
    figures = re.findall(r"!\[.*?\]\((.*?)\)", markdown)
    assert len(figures) == 5
    assert all((folder / name).stat().st_size > 1000 for name in figures)
    assert not list(folder.glob("*.part")) and not list(folder.glob(".*.part"))


def test_an_empty_folder_is_an_error(tmp_path):
    Ledger(tmp_path).keep_protocol(Protocol.named("quick").as_dict())
    with pytest.raises(ResultsError, match="holds no results yet"):
        write_report(tmp_path)


def test_a_report_can_be_made_while_results_are_few(tmp_path):
    ledger = Ledger(tmp_path)
    ledger.keep_protocol(Protocol.named("quick").as_dict())
    ledger.append(row(Cell("fit", "g50c", "lapsvm", 90, 0), status=OVER))
    assert OVER in write_report(tmp_path)[0].read_text(encoding="utf-8")
