"""The report: complete, self-contained, honest about failures, and alive in a browser."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import asdict
from html.parser import HTMLParser

import pytest

from graphkm.experiments import Ledger, Protocol, ResultsError
from graphkm.experiments.cells import NO_FIT, OVER, Cell
from graphkm.experiments.report import write_report
from graphkm.experiments.report.findings import findings
from graphkm.experiments.report.results import Results

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
def page(folder):
    return (folder / "report.html").read_text(encoding="utf-8")


class Tags(HTMLParser):
    """Collects elements and checks that they are closed."""

    VOID = ("meta", "br", "path", "use", "rect", "line", "circle", "image", "polygon")

    def __init__(self, text):
        super().__init__()
        self.open, self.seen = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag


def test_the_page_is_well_formed_and_needs_nothing_else(page):
    tags = Tags(page)
    assert tags.open == []
    for tag, attributes in tags.seen:
        assert tag not in ("link", "iframe", "img")
        for name in ("src", "href", "xlink:href"):
            assert (attributes.get(name) or "#").startswith("#")
    assert "http" not in re.sub(
        r'xmlns(:\w+)?="[^"]*"|<metadata>.*?</metadata>', "", page, flags=re.S
    )
    anchors = {attributes["id"] for tag, attributes in tags.seen if tag == "section"}
    links = {attributes["href"][1:] for tag, attributes in tags.seen if tag == "a"}
    assert links == anchors
    assert {"findings", "comparison", "losses", "unlabeled", "convergence", "graph"} <= anchors


def test_ours_the_papers_and_the_difference_stand_together(page):
    assert "94.00 ± 1.41<small>paper 97.27, -3.27</small>" in page
    assert "94.00 ± 1.41<small>paper 92.84, +1.16</small>" in page


def test_what_did_not_work_is_shown_as_such(page, folder):
    markdown = (folder / "report.md").read_text(encoding="utf-8")
    for text in (page, markdown):
        assert OVER in text and NO_FIT in text
        assert "fit/g50c/cccp/90/0" in text
    assert "<b>odd" not in page and "&lt;b&gt;odd" in page


def test_findings_say_what_was_reached(folder):
    said = " ".join(findings(Results(Ledger(folder))))
    assert "GKM (hinge, p = 1): within 1.5 points of the paper, or better, on 2 of 3 sets" in said
    assert "not on g50c." in said
    assert "On g50c even the grid's best on the test rows stays more than 1.5 points below" in said
    assert "GKM trains at least 40.0 times faster than LapSVM (least on ijcnn1)" in said
    assert f"covtype (LapSVM {OVER})" in said
    assert "150 MB" in said and "1.50 times the data" in said


def test_the_twin_in_markdown_has_the_same_tables_and_its_figures(folder, page):
    markdown = (folder / "report.md").read_text(encoding="utf-8")
    for title in re.findall(r"<h3>(.*?)</h3>", page):
        assert title.replace("&#x27;", "'") in markdown
    figures = re.findall(r"!\[.*?\]\((.*?)\)", markdown)
    assert len(figures) == 5
    assert all((folder / name).stat().st_size > 1000 for name in figures)
    assert not list(folder.glob("*.part"))


def test_an_empty_folder_is_an_error(tmp_path):
    Ledger(tmp_path).keep_protocol(Protocol.named("quick").as_dict())
    with pytest.raises(ResultsError, match="holds no results yet"):
        write_report(tmp_path)


def test_a_report_can_be_made_while_results_are_few(tmp_path):
    ledger = Ledger(tmp_path)
    ledger.keep_protocol(Protocol.named("quick").as_dict())
    ledger.append(row(Cell("fit", "g50c", "lapsvm", 90, 0), status=OVER))
    assert OVER in write_report(tmp_path)[0].read_text(encoding="utf-8")


# -------------------------------------------------------------- in a browser

BROWSER = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
PROBE = """
<script>
const seen = {errors: [], tables: document.querySelectorAll("table").length,
  plots: [...document.querySelectorAll(".plot svg")].map((s) => s.clientHeight > 100),
  overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth};
window.addEventListener("error", (e) => seen.errors.push(e.message));
const table = document.querySelector("#comparison table"), column = 3;
const values = () => [...table.tBodies[0].rows].map((row) => row.cells[column].dataset.v)
  .filter((v) => v !== undefined).map(Number);
const button = table.tHead.rows[0].cells[column].querySelector("button");
button.click(); seen.up = values(); button.click(); seen.down = values();
const rows = [...table.tBodies[0].rows];
seen.last = "v" in rows[rows.length - 1].cells[column].dataset;
document.title = JSON.stringify(seen);
</script>"""


@pytest.mark.skipif(BROWSER is None, reason="Chromium is not installed")
@pytest.mark.parametrize("width", [1280, 500])
def test_a_browser_shows_and_sorts_it(page, tmp_path, width):
    path = tmp_path / "page.html"
    path.write_text(page.replace("</body>", PROBE + "</body>"), encoding="utf-8")
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--window-size={width},900",
               f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", path.as_uri()]  # fmt: skip
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    title = re.search(r"<title>(.*?)</title>", shown, flags=re.S)
    seen = json.loads(title.group(1))
    assert seen["errors"] == []
    assert seen["tables"] >= 8
    assert len(seen["plots"]) == 5 and all(seen["plots"])
    assert seen["overflow"] <= 0  # tables scroll in their own frames, the page does not
    assert seen["up"] == sorted(seen["up"]) and len(set(seen["up"])) > 1
    assert seen["down"] == seen["up"][::-1]
    assert seen["last"] is False  # cells without a number come last
