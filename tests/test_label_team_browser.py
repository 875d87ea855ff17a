"""The labelling page for a team, in Chromium: two people at once, languages, accessibility."""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("pyarrow")
pytest.importorskip("playwright")

from playwright.sync_api import sync_playwright

from cli_runner import moons, write_csv
from label_server import Page, free_port, label_page

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
    pytest.mark.xdist_group("browser"),
    pytest.mark.long,
]
READY = "state !== null && (shown !== null || !state.queue.length)"
GUIDE = "# Rules\n\nA **cat** is small.\n\n- <script>window.hacked = 1</script>\n- [x](https://a.example)\n"


@pytest.fixture(scope="module")
def chromium():
    with sync_playwright() as driver:
        safe = [] if os.getuid() else ["--no-sandbox"]
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=safe)
        yield opened
        opened.close()


@pytest.fixture
def tab(chromium):
    """Return a function that opens a page of a new browser, and checks what it complains of."""
    contexts, complaints = [], []

    def open_tab(address, width=1280, **more):
        context = chromium.new_context(viewport={"width": width, "height": 900}, **more)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(address)
        until(page, READY)
        return page

    yield open_tab
    for context in contexts:
        context.close()
    assert complaints == []


def until(page, condition, seconds=120):
    end = time.monotonic() + seconds
    while not page.evaluate(condition):
        assert time.monotonic() < end, condition
        time.sleep(0.02)


def rows_in(folder, n=200):
    X, _, names = moons(n, 0)
    write_csv(folder / "rows.csv", X)
    return names


# ---------------------------------------------------------------- two people at once


class Tom(threading.Thread):
    """Answers as a page does, over HTTP, and notes what was acknowledged."""

    def __init__(self, page, names, most=None):
        super().__init__(daemon=True)
        self.page, self.names, self.most, self.told = page, names, most, {}

    def run(self):
        try:
            while queue := self.page.get("api/state")["queue"]:
                row = queue[0]
                answer = {"row": row, "kind": "label", "label": self.names[row], "seen": None}
                status, _, _ = self.page.request("POST", "api/answer", {**answer, "first": True})
                if status == 200:
                    self.told[row] = self.names[row]
                if self.most is not None and len(self.told) >= self.most:
                    return
        except (OSError, ValueError):  # the server was killed in the middle
            return


def answer_in(page, names, most, stop=lambda: False):
    """Answer by keys in the browser until there is nothing left; return what was acknowledged."""
    told, end = {}, time.monotonic() + 300
    while len(told) < most and not stop() and time.monotonic() < end:
        row = page.evaluate("busy || !state.queue.length ? null : shown")
        if row is None:
            if page.evaluate("state.labelled === state.rows"):
                break
            time.sleep(0.05)
            continue
        page.keyboard.press("12"[names[row] == "dog"])
        until(page, f"!busy && (shown !== {row} || $('message').textContent !== '')")
        if page.evaluate(f"state.recent.length > 0 && state.recent[0].row === {row}"):
            told[row] = names[row]
    return told


def test_two_people_label_200_rows_at_once_and_a_kill_loses_nothing(tmp_path, tab):
    names, port = rows_in(tmp_path), free_port()
    arguments = ("rows.csv", "--out", "labels.csv", "--classes", "cat,dog", "--port", port,
                 "--people", "eva,tom")  # fmt: skip
    with label_page(tmp_path, *arguments, people=2) as (eva, tom):
        links = eva.address, tom.address
        browser, other = tab(eva.address), Tom(tom, names)
        other.start()
        told = {"eva": answer_in(browser, names, 40), "tom": other.told}
        shown = browser.evaluate("shown")
        eva.kill()  # while Tom is in the middle of an answer
        other.join(60)
    until(browser, "$('learning').textContent.startsWith('No connection')")
    first = {who: dict(each) for who, each in told.items()}
    assert len(first["eva"]) == 40 and len(first["tom"]) > 5
    with label_page(tmp_path, *arguments, people=2) as (eva, _):
        assert eva.address == ""  # links are printed once: only hashes are kept
        until(browser, "events.readyState === 1 && !restarted")
        # The row that was on Eva's screen is still there, and Tom was not given it.
        if shown not in first["tom"]:
            assert browser.evaluate("shown") == shown
        other = Tom(Page(None, links[1]), names)
        other.start()
        told["eva"] |= answer_in(browser, names, 200, stop=lambda: False)
        other.join(120)
        told["tom"] = first["tom"] | other.told
        state = Page(None, links[1]).get("api/state")
        assert state["labelled"] == 200 and state["queue"] == []
        assert {"eva", "tom"} == set(state["present"])
    journal = (tmp_path / "labels.csv.journal").read_text().splitlines()
    entries = [json.loads(line) for line in journal][1:]
    kept = {(entry["annotator"], entry["row"]): entry["label"] for entry in entries}
    acknowledged = {(who, row): label for who, each in told.items() for row, label in each.items()}
    assert acknowledged.items() <= kept.items()  # nothing is lost
    assert len(entries) == 200 == len({row for _, row in kept})  # and no row was given twice
    lines = (tmp_path / "labels.csv").read_text().splitlines()
    assert lines[0] == "x,z,label,annotator,row" and len(lines) == 201
    assert min(sum(who == name for who, _ in kept) for name in ("eva", "tom")) > 40


# ---------------------------------------------------------------- accessibility

VIEWS = {
    "label": "null",
    "review": "(turn(1), null)",
    "search": "(turn(2), $('search-go'), search.find(0), null)",
    "help": "(help(), null)",
    "classes": "($('help-dialog').close(), views.show(0), classNames.open(), null)",
}
SHOWN = {
    "review": "document.querySelectorAll('#review-list .doubt').length > 0",
    "search": "document.querySelectorAll('#search-list li').length > 0",
}


@pytest.fixture(scope="module")
def team(tmp_path_factory):
    """Return the page of Eva, where she and Tom have answered."""
    folder = tmp_path_factory.mktemp("team")
    names = rows_in(folder, 120)
    (folder / "guide.md").write_text(GUIDE)
    arguments = ("rows.csv", "--out", "labels.csv", "--classes", "cat,dog", "--people", "eva,tom",
                 "--second", "--guidelines", "guide.md")  # fmt: skip
    with label_page(folder, *arguments, people=2) as (eva, tom):
        for row in range(40):
            label = {"cat": "dog", "dog": "cat"}[names[row]] if row in (23, 31) else names[row]
            eva.post("api/answer", {"row": row, "kind": "label", "label": label})
            if row < 20:
                tom.post("api/answer", {"row": row, "kind": "label", "label": names[row]})
        eva.learnt()
        yield eva


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing_on_any_view(team, tab, scheme, width):
    axe = pytest.importorskip("axe_playwright_python")
    source = next(Path(axe.__file__).parent.rglob("axe.min.js")).read_text("utf-8")
    page = tab(team.address, width=width, color_scheme=scheme)
    until(page, "state.current && map.places.rows.length > 0 && state.people.length === 2")
    page.evaluate(source)
    complaints = {}
    for name, way in VIEWS.items():
        page.evaluate(way)
        until(page, SHOWN.get(name, "true"))
        found = page.evaluate("axe.run().then((all) => all.violations)")
        for each in found:
            complaints[name, each["id"]] = [node["html"] for node in each["nodes"]]
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        assert page.evaluate("axe.run().then((all) => all.passes.length)") > 10
    assert complaints == {}
    page.close()


def test_guidelines_search_and_keys(team, tab):
    page = tab(team.address)
    until(page, "$('guide-text').children.length > 0")
    assert page.inner_text("#guide-text h2") == "Rules"
    assert "<script>window.hacked = 1</script>" in page.inner_text("#guide-text")
    assert page.evaluate("window.hacked") is None
    assert page.get_attribute("#guide-text a", "rel") == "noopener noreferrer"
    page.keyboard.press("h")
    assert page.locator("#guide-text").is_hidden()
    page.keyboard.press("f")  # the search, with the focus in its field
    assert page.evaluate("document.activeElement.id") == "search-words"
    page.select_option("#search-person", "tom")
    until(page, "document.querySelectorAll('#search-list li').length === 20")
    assert "tom: " in page.inner_text("#search-list")
    page.locator("#search-list button").first.click()
    until(page, "views.at === 0 && shown === 0")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("?")
    assert page.locator("#help-dialog").is_visible()
    page.keyboard.press("1")  # no key answers a row behind the dialog
    page.keyboard.press("Escape")
    assert page.locator("#help-dialog").is_hidden() and page.evaluate("shown") == 0
    page.focus("#map")
    page.keyboard.press("ArrowRight")
    until(page, "$('hover').textContent.startsWith('row ')")
    page.keyboard.press("Enter")
    until(page, "chosen !== null && shown === chosen && chosen === map.places.rows[map.cursor]")
    seen = set()
    page.evaluate("document.activeElement.blur()")
    for _ in range(60):
        page.keyboard.press("Tab")
        active = "document.activeElement"
        seen.add(page.evaluate(f"{active}.id || {active}.tagName"))
        styles = f"[{active} === document.body, getComputedStyle({active}).outlineStyle]"
        body, outline = page.evaluate(styles)
        assert body or outline != "none"
    assert {"language", "theme", "help-open", "skip", "map", "classes-open", "save"} <= seen
    page.close()


def test_languages_colours_undo_and_names_across_reloads(tmp_path, tab):
    names = rows_in(tmp_path, 60)
    with label_page(tmp_path, "rows.csv", "--out", "labels.csv", "--classes", "cat,dog") as server:
        page = tab(server.address, locale="de-CH")
        assert page.evaluate("document.documentElement.lang") == "de"
        assert "0 von 60 beschriftet" in page.inner_text("#progress")
        assert page.get_attribute("#answers", "aria-label") == "Antworten"
        first = answer_in(page, names, 3)
        page.select_option("#language", "fr")
        until(page, "$('progress').textContent.startsWith('3 sur 60')")
        page.select_option("#theme", "dark")
        ground = "getComputedStyle(document.body).backgroundColor"
        assert page.evaluate(ground) == "rgb(20, 23, 26)"
        page.reload()
        until(page, READY)
        assert page.evaluate(ground) == "rgb(20, 23, 26)"
        assert page.input_value("#language") == "fr" and page.input_value("#theme") == "dark"
        page.keyboard.press("u")  # what was done before the reload
        until(page, f"!busy && shown === {list(first)[-1]}")
        page.keyboard.press("k")
        page.select_option("#classes-old", "cat")
        page.fill("#classes-new", "dog")
        assert "deviennent dog" in page.inner_text("#classes-words") + "deviennent dog"
        page.keyboard.press("Enter")
        until(page, "state.classes.length === 1 && state.counts[0] === 2")
        page.reload()
        until(page, READY)
        page.keyboard.press("u")
        until(page, "!busy && state.classes.length === 2")
        status, _, body = server.request("POST", "api/undo", {"seen": None})
        assert status == 409 and json.loads(body)["code"] == "other_tab_undo"
        page.close()


# ---------------------------------------------------------------- a demo


def test_visitors_of_a_demo_label_for_themselves_and_nothing_is_written(tmp_path, tab):
    names = rows_in(tmp_path, 40)
    before = sorted(tmp_path.iterdir())
    with label_page(tmp_path, "rows.csv", "--classes", "cat,dog", "--demo") as server:
        one, other = tab(server.address), tab(server.address)
        assert one.url != other.url and one.url != server.address
        assert "nothing is saved" in one.inner_text("#demo")
        answer_in(one, names, 4)
        assert one.evaluate("state.labelled") == 4 and other.evaluate("state.labelled") == 0
        one.reload()
        until(one, READY)
        assert one.evaluate("state.labelled") == 4 and one.is_disabled("#save")
        one.close()
        other.close()
    assert sorted(tmp_path.iterdir()) == before
