"""The command `graphkm report`, and its page in a real browser: Chromium, driven by Playwright."""

from __future__ import annotations

import csv
import json
import os
import shutil

import numpy as np
import pytest

pytest.importorskip("pyarrow")

from cli_runner import run, run_machine, write_csv, wrong

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
LABELS = ["<script>window.hacked = 1</script>", "<img src=x onerror='window.hacked = 1'>"]
COLUMN = '"><svg onload=window.hacked=1>'
pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Return a folder with a table of hostile names, a model of it and its report."""
    folder = tmp_path_factory.mktemp("report")
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 120)
    X = rng.normal(size=(120, 2)) + 1.5 * truth[:, None]
    with open(folder / "rows.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["code", COLUMN, "z", "label"])
        for k, (a, b) in enumerate(X):
            label = LABELS[truth[k]] if k < 50 else ""
            writer.writerow([f"<b>{k}</b>", a, b, label])
    table = folder / "rows.csv"
    assert run("train", table, folder / "model.gkm", "--id", "code", "--label", "label") == 0
    assert run("report", folder / "model.gkm", table, "--out", folder / "report.html") == 0
    return folder


def test_the_command_writes_a_page_and_says_so(written, capsys):
    out = written / "other.html"
    rows = written / "rows.csv"
    arguments = ("report", written / "model.gkm", rows, "--out", out, "--curve", "0", "--json")
    assert run(*arguments) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["rows"] == 120 and facts["labelled"] == 50 and facts["rows_of_training"]
    page = out.read_text(encoding="utf-8")
    assert "it was not asked for" in page
    assert "&lt;b&gt;" in page and "<b>" not in page  # rows are called by their ids
    assert "expected with 100 more labels" in (written / "report.html").read_text(encoding="utf-8")


def test_the_same_model_and_rows_give_the_same_page(written):
    pages = []
    for name in ("a.html", "b.html"):
        arguments = ("--out", written / name, "--curve", "0")
        assert run("report", written / "model.gkm", written / "rows.csv", *arguments) == 0
        pages.append((written / name).read_bytes())
    assert pages[0] == pages[1]


def test_errors_of_the_command(written, capsys):
    model, rows = written / "model.gkm", written / "rows.csv"
    write_csv(written / "short.csv", np.ones((3, 1)), names=("z",))
    code, said = wrong(capsys, "report", model, written / "short.csv", "--out", written / "c.html")
    assert code == 1 and "lacks 1 of the model's 2 columns" in said
    assert not (written / "c.html").exists()
    code, said = wrong(capsys, "report", model, rows, "--out", rows)
    assert code == 2 and "is an input" in said
    machine = written / "machine.gkm"
    assert run_machine("train", rows, machine, "--id", "code", "--label", "label") == 0
    capsys.readouterr()
    code, said = wrong(capsys, "report", machine, rows, "--out", written / "c.html")
    assert code == 2 and "GKMClassifier, which holds no labels out" in said


# ------------------------------------------------------------------ in a browser


@pytest.fixture(scope="module")
def chromium():
    """Return a browser."""
    driver_of = pytest.importorskip("playwright.sync_api").sync_playwright
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    with driver_of() as driver:
        # As root, as in containers, Chromium has no sandbox.
        safe = [] if os.getuid() else ["--no-sandbox"]
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=safe)
        yield opened
        opened.close()


@pytest.fixture
def page(chromium, written):
    """Return the report in a browser; nothing may go wrong on it, and nothing is fetched."""
    opened = chromium.new_page(viewport={"width": 1200, "height": 900})
    complaints, asked = [], []
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("console", lambda message: complaints.append(message.text))
    opened.on("request", lambda request: asked.append(request.url))
    opened.goto(f"file://{written / 'report.html'}")
    yield opened
    assert complaints == []
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert opened.evaluate("window.hacked") is None
    opened.close()


CONTRAST = """() => {
  const light = rgb => {
    const [r, g, b] = rgb.map(c => c / 255)
      .map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const colour = text => text.match(/[\\d.]+/g).map(Number);
  const over = (top, below) => {
    const a = top.length > 3 ? top[3] : 1;
    return [0, 1, 2].map(k => a * top[k] + (1 - a) * below[k]);
  };
  const behind = node => node ? over(colour(getComputedStyle(node).backgroundColor),
    behind(node.parentElement)) : [255, 255, 255];
  let worst = 21;
  for (const node of document.querySelectorAll("h1, h2, p, a, dt, dd, th, td, caption, svg text")) {
    if (!node.textContent.trim()) continue;
    const style = getComputedStyle(node);
    const text = light(colour(node.closest("svg") ? style.fill : style.color).slice(0, 3));
    const ground = light(behind(node.closest("svg") ? node.closest("svg") : node));
    const [high, low] = text > ground ? [text, ground] : [ground, text];
    worst = Math.min(worst, (high + 0.05) / (low + 0.05));
  }
  return worst;
}"""


@pytest.mark.xdist_group("browser")
def test_the_page_is_seen_as_it_was_written(page):
    assert page.title() == "Report on model.gkm"
    assert page.locator("h2").count() == 10
    assert page.locator("svg[role=img]").count() == 3
    assert page.locator("td", has_text=LABELS[0]).count() > 0
    assert page.locator("td script, main img, td svg").count() == 0
    # Texts of charts lie inside their pictures.
    outside = """() => [...document.querySelectorAll("svg")].flatMap(svg => {
      const all = svg.getBoundingClientRect();
      return [...svg.querySelectorAll("text")].filter(text => {
        const own = text.getBoundingClientRect();
        return own.left < all.left - 1 || own.right > all.right + 1
          || own.top < all.top - 1 || own.bottom > all.bottom + 1;
      }).map(text => text.textContent);
    })"""
    assert page.evaluate(outside) == []


@pytest.mark.xdist_group("browser")
def test_every_text_is_readable(page):
    assert page.evaluate(CONTRAST) >= 4.5  # as WCAG asks for


@pytest.mark.xdist_group("browser")
def test_links_and_wide_tables_are_reached_with_the_keyboard(page):
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('href')") == "#data"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    page.wait_for_url("**#data")
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.getAttribute('role')") == "region":
            break
    assert page.evaluate("document.activeElement.getAttribute('aria-label')").startswith("Labels")


@pytest.mark.xdist_group("browser")
def test_a_narrow_screen_is_not_scrolled_sideways(page):
    page.set_viewport_size({"width": 360, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.xdist_group("browser")
def test_the_page_prints(page):
    assert page.pdf(format="A4").startswith(b"%PDF")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.querySelector('nav')).display") == "none"
    assert page.evaluate("getComputedStyle(document.querySelector('.wide')).overflowX") == "visible"
