"""The labelling page in a real browser: Chromium, driven by Playwright."""

from __future__ import annotations

import csv
import os
import shutil
import time

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("pyarrow")
pytest.importorskip("playwright")

from playwright.sync_api import sync_playwright

from cli_runner import moons, run, write_csv
from label_server import label_page

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
    pytest.mark.xdist_group("browser"),
    pytest.mark.long,
]
HOSTILE = [
    "<script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 1'>",
    '"><svg onload=window.hacked=1>',
    "javascript:window.hacked=1",
    "{{7*7}}${7*7}</td></table>",
]


@pytest.fixture(scope="module")
def chromium():
    """Return a browser."""
    with sync_playwright() as driver:
        # As root, as in containers, Chromium has no sandbox.
        safe = [] if os.getuid() else ["--no-sandbox"]
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=safe)
        yield opened
        opened.close()


@pytest.fixture
def tab(chromium):
    """Return a function that opens a page, and checks at the end that nothing went wrong on it."""
    contexts, complaints = [], []

    def open_tab(address, width=1300, height=900, **more):
        context = chromium.new_context(viewport={"width": width, "height": height}, **more)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
        page.goto(address)
        until(page, "state !== null && shown !== null")
        return page

    yield open_tab
    for context in contexts:
        context.close()
    # Chromium notes an answer with the status 409; what the page makes of it is tested.
    assert [text for text in complaints if "409 (Conflict)" not in text] == []


def until(page, condition, seconds=60):
    """Wait until an expression is true on the page; its policy allows no other way."""
    end = time.monotonic() + seconds
    while not page.evaluate(condition):
        assert time.monotonic() < end, condition
        time.sleep(0.02)


def press_all(page, *keys):
    """Press keys that pick labels."""
    for key in keys:
        page.keyboard.press(key)


def press(page, key):
    """Press a key that answers, and wait for the next row."""
    row = page.evaluate("shown")
    page.keyboard.press(key)
    until(page, f"!busy && shown !== {row}")
    return row


@pytest.fixture
def rows(tmp_path):
    X, _, names = moons(150, 0)
    write_csv(tmp_path / "rows.csv", X)
    return tmp_path, names


OUTLINE = "getComputedStyle(document.activeElement).outlineStyle"
ARGUMENTS = ("rows.csv", "--out", "labels.csv", "--classes", "cat,dog")


def test_ten_rows_by_keys_undo_kill_and_train(rows, tab):
    folder, names = rows
    given = {}
    with label_page(folder, *ARGUMENTS) as server:
        page = tab(server.address)
        for _ in range(10):
            row = page.evaluate("shown")
            given[row] = names[row]
            press(page, "12"[names[row] == "dog"])
        last = list(given)[-1]
        page.keyboard.press("u")
        until(page, f"!busy && shown === {last}")
        assert "9 of 150 labelled" in page.inner_text("#progress")
        page.close()
        server.kill()
    del given[last]
    with label_page(folder, *ARGUMENTS) as server:
        page = tab(server.address)
        until(page, "state.labelled === 9")
        found = page.evaluate("fetch('api/colours').then((a) => a.json())")["labelled"]
        assert {int(row): ["cat", "dog"][code] for row, code in found.items()} == given
        page.close()
    assert run("train", folder / "labels.csv", folder / "m.gkm") == 0


@pytest.mark.slow
def test_everything_by_keyboard_alone(rows, tab):
    folder, _ = rows
    with label_page(folder, "rows.csv", "--out", "labels.csv") as server:
        page = tab(server.address)
        first = page.evaluate("shown")
        page.keyboard.press("c")  # to the field of new classes
        page.keyboard.type("cat s")  # letters are text there, and no shortcuts
        page.keyboard.press("Enter")
        until(page, f"!busy && shown !== {first}")
        assert page.evaluate("state.classes") == ["cat s"]
        skipped = press(page, "s")
        unknown = press(page, "d")
        until(page, "state.unknown === 1")
        page.keyboard.press("g")
        page.keyboard.type(str(first + 1))
        page.keyboard.press("Enter")
        until(page, f"shown === {first}")
        assert "label: cat s" in page.inner_text("#row-said")
        assert page.get_attribute("#answers button", "aria-pressed") == "true"
        page.keyboard.press("c")
        page.keyboard.type("dog")
        page.keyboard.press("Enter")  # an earlier answer is changed
        until(page, "state.classes.length === 2 && state.counts[1] === 1 && state.counts[0] === 0")
        # Every control is reached by Tab, and shows it.
        seen = set()
        page.evaluate("document.activeElement.blur()")
        for _ in range(40):
            page.keyboard.press("Tab")
            seen.add(page.evaluate("document.activeElement.id || document.activeElement.tagName"))
            active = "document.activeElement"  # the body, when Tab has left the page
            outline = page.evaluate(f"{active} === document.body || {OUTLINE}")
            assert outline not in ("none", False)
        assert {"skip", "unknown", "undo", "new-label", "go-row", "save", "predict"} <= seen
        assert skipped != unknown
        page.close()


@pytest.mark.slow
def test_mouse_map_and_history(rows, tab):
    folder, names = rows
    with label_page(folder, *ARGUMENTS) as server:
        page = tab(server.address)
        for _ in range(60):  # until five rows were drawn at random, and the accuracy is known
            press(page, "12"[names[page.evaluate("shown")] == "dog"])
            until(page, "state.current")
            if page.evaluate("state.accuracy !== null"):
                break
        until(page, "state.current && map.colours.predicted.length === 150")
        row = page.evaluate("map.places.rows.findIndex((r) => !(r in map.colours.labelled))")
        box = page.locator("#map").bounding_box()
        x, y = page.evaluate(f"[map.places.x[{row}], map.places.y[{row}]]")
        spot = (8 + x / 1000 * (box["width"] - 16), 8 + (1 - y / 1000) * (box["height"] - 16))
        page.mouse.move(box["x"] + spot[0], box["y"] + spot[1])
        assert page.inner_text("#hover").startswith("row ")
        page.mouse.click(box["x"] + spot[0], box["y"] + spot[1])
        until(page, "chosen !== null && shown === chosen")
        clicked = page.evaluate("shown")
        page.click(f"#answers button >> nth={int(names[clicked] == 'dog')}")
        until(page, f"!busy && {clicked} in map.colours.labelled && chosen === null")
        until(page, "state.current && state.accuracy !== null", 60)
        assert (
            "%" in page.inner_text("#accuracy") and "points" in page.inner_text("#gain") + "points"
        )
        page.click("#recent button >> nth=2")
        until(page, "chosen !== null")
        assert page.evaluate("document.activeElement.id") == "row-title"
        page.keyboard.press("n")
        until(page, "chosen === null")
        page.keyboard.press("w")
        until(page, "document.getElementById('saved').textContent.includes('holds a model')", 120)
        assert (folder / "labels.gkm").exists()
        page.close()


@pytest.mark.slow
def test_hostile_cells_are_text(tmp_path, tab):
    lines = [f'"{k}","{HOSTILE[k % 5].replace(chr(34), chr(34) * 2)}"' for k in range(20)]
    (tmp_path / "rows.csv").write_text("x,<b>name</b>\n" + "\n".join(lines) + "\n")
    with label_page(tmp_path, "rows.csv", "--out", "labels.csv") as server:
        page = tab(server.address)
        for k in range(5):
            page.evaluate(f"show({k})")
            until(
                page,
                f"shown === {k} && $('row-title').textContent === 'Row {k + 1}'",
            )
            assert HOSTILE[k] in page.inner_text("#row")
            page.evaluate(f"answer('label', {HOSTILE[k]!r})")  # and a hostile class
            until(page, f"!busy && state.labelled === {k + 1}")
        assert "<b>name</b>" in page.inner_text("#row")
        until(page, "state.current")
        assert page.evaluate("window.hacked") is None
        assert (
            page.evaluate("document.querySelectorAll('#row script, #row img, svg svg').length") == 0
        )
        words = (
            page.inner_text("#answers") + page.inner_text("#legend") + page.inner_text("#recent")
        )
        assert all(words.count(text) >= 2 for text in HOSTILE)
        page.close()


def test_texts_and_their_neighbours_are_text(tmp_path, tab):
    pytest.importorskip("tokenizers")
    hebrew, long = "\u05e9\u05dc\u05d5\u05dd", "verylong" * 40
    texts = [*HOSTILE, hebrew, f"{long} \U0001f408", "a dog", "the cat", "a cat and a dog"]
    with open(tmp_path / "rows.csv", "w", newline="") as file:
        csv.writer(file).writerows([["body"], *([text] for text in texts)])
    arguments = ("rows.csv", "--text", "body", "--out", "labels.csv")
    with label_page(tmp_path, *arguments) as server:
        for row in range(len(texts) - 1):
            label = HOSTILE[row % 2] if row < 5 else "other"
            server.post("api/answer", {"row": row, "kind": "label", "label": label})
        for width in (1280, 390):
            page = tab(server.address, width=width)
            shown = ""
            for k in range(len(texts)):
                page.evaluate(f"show({k})")
                until(page, f"shown === {k} && $('row-title').textContent === 'Row {k + 1}'")
                assert texts[k] == page.inner_text("#row p")
                shown += page.inner_text("#near")
            assert all(text in shown for text in HOSTILE) and "% alike" in shown
            assert page.evaluate("window.hacked") is None
            marks = "document.querySelectorAll('#near script, #near img, #near svg').length"
            assert page.evaluate(marks) == 0
            page.evaluate("show(5)")
            until(page, "shown === 5")
            assert page.evaluate("getComputedStyle($('row').children[0]).direction") == "rtl"
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            page.evaluate("show(9)")
            until(page, "shown === 9")
            other = page.evaluate("fetch('api/row/9').then((a) => a.json())")["near"][0]["row"]
            page.click("#near-rows button >> nth=0")  # a neighbour is shown when it is clicked
            until(page, f"shown === {other}")
            assert page.evaluate("document.activeElement.id") == "row-title"
            page.close()


@pytest.mark.slow
def test_images_neighbours_and_predictions(tmp_path, tab):
    Image = pytest.importorskip("PIL.Image")
    (tmp_path / "photos").mkdir()
    for k in range(12):
        shades = Image.linear_gradient("L").resize((16, 16))
        shades.rotate(90 * (k % 2)).save(tmp_path / "photos" / f"{k:02d}.png")
    with label_page(tmp_path, "photos", "--out", "labels.csv", "--classes", "up,side") as server:
        page = tab(server.address, width=390)
        assert page.evaluate("$('near').hidden")
        for _ in range(6):
            press(page, "12"[page.evaluate("shown") % 2])
        until(page, "!$('near').hidden && $('near-rows').children.length === 3")
        until(page, "[...document.querySelectorAll('#near img')].every((i) => i.naturalWidth > 0)")
        sources = page.evaluate("[...document.querySelectorAll('#near img')].map((i) => i.src)")
        assert all(source.startswith(f"{server.address}image/") for source in sources)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.keyboard.press("p")
        until(page, "$('saved').textContent.includes('holds the predictions of all 12 rows')", 120)
        assert (tmp_path / "labels.predictions.csv").exists()
        page.close()


@pytest.mark.slow
def test_two_tabs_follow_each_other(rows, tab):
    folder, _ = rows
    with label_page(folder, *ARGUMENTS) as server:
        one, other = tab(server.address), tab(server.address)
        row = press(one, "1")
        until(other, f"state.labelled === 1 && shown !== {row}")
        press(other, "2")
        until(one, "state.labelled === 2")
        assert one.evaluate("state.recent") == other.evaluate("state.recent")
        one.close()
        other.close()


@pytest.mark.slow
def test_two_tabs_at_the_same_row_are_told_of_each_other(rows, tab):
    folder, _ = rows
    with label_page(folder, *ARGUMENTS) as server:
        one, other = tab(server.address), tab(server.address, width=412)
        for page in (one, other):
            page.evaluate("show(7)")
            until(page, "shown === 7")
        press(one, "1")
        until(other, "state.labelled === 1")
        other.keyboard.press("2")
        until(other, "!busy && document.getElementById('message').textContent !== ''")
        said = other.inner_text("#message")
        assert "row 8 meanwhile: it has the answer 'cat'" in said and "'dog' was not kept" in said
        until(other, "document.getElementById('row-said').textContent.startsWith('label: cat')")
        assert other.evaluate("shown") == 7 and server.get("api/row/7")["label"] == "cat"
        press(other, "2")  # once more, knowing it
        assert server.get("api/row/7")["label"] == "dog" and other.inner_text("#message") == ""
        # An undo takes back what the tab shows as the last answer, and nothing else.
        one.evaluate("events.close()")  # a tab that hears nothing for a while
        last = one.evaluate("state.recent[0]")
        row = press(other, "1")
        one.keyboard.press("u")
        until(one, "!busy && document.getElementById('message').textContent !== ''")
        assert "Nothing was taken back" in one.inner_text("#message") and last["row"] == 7
        one.keyboard.press("u")
        until(one, f"!busy && shown === {row}")
        assert server.get("api/state")["labelled"] == 1
        one.close()
        other.close()


def test_a_class_in_other_letters_is_the_known_one(rows, tab):
    folder, _ = rows
    with label_page(folder, "rows.csv", "--out", "labels.csv") as server:
        page = tab(server.address)
        for word in ("cat", " CAT"):
            row = page.evaluate("shown")
            page.keyboard.press("c")
            page.keyboard.type(word)
            page.keyboard.press("Enter")
            until(page, f"!busy && shown !== {row}")
        assert page.evaluate("state.classes") == ["cat"] and page.evaluate("state.counts") == [2]
        assert page.inner_text("#message").startswith("Taken as cat")
        assert page.evaluate("document.getElementById('new-label').value") == ""
        page.close()


@pytest.mark.slow
def test_another_page_cannot_read_or_answer(rows, tab, chromium, tmp_path):
    folder, _ = rows
    other = tmp_path / "other"
    other.mkdir()
    (other / "rows.csv").write_text("x,z\n1,2\n3,4\n5,7\n")
    with label_page(folder, *ARGUMENTS) as server, label_page(other, *ARGUMENTS) as foreign:
        # The other server's page is another origin, and its own policy is switched off.
        context = chromium.new_context(bypass_csp=True)
        page = context.new_page()
        page.goto(foreign.address)
        target = f"{server.address}api/"
        found = page.evaluate(
            """async (target) => {
              const tries = [
                () => fetch(target + "state").then((a) => a.text()),
                () => fetch(target + "answer", {method: "POST", body: "{}",
                  headers: {"Content-Type": "application/json"}}).then((a) => a.status),
                () => fetch(target + "answer", {method: "POST", mode: "no-cors",
                  body: '{"row": 0, "kind": "label", "label": "cat"}'}).then((a) => a.type),
              ];
              const told = [];
              for (const one of tries) told.push(await one().catch(() => "failed"));
              return told;
            }""",
            target,
        )
        assert found[:2] == ["failed", "failed"] and found[2] in ("opaque", "failed")
        assert server.get("api/state")["labelled"] == 0
        context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [412, 1300])
def test_it_fits_and_can_be_read(page_for_looks, tab, width, scheme):
    page = tab(page_for_looks.address, width=width, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    worst = page.evaluate(
        """() => {
          const numbers = (c) => c.match(/[\\d.]+/g).map(Number);
          const light = (c) => numbers(c).slice(0, 3).map((v) => v / 255)
            .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
            .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
          const ground = (e) => {
            while (e) {
              const c = getComputedStyle(e).backgroundColor;
              if ((numbers(c)[3] ?? 1) > 0) return c;
              e = e.parentElement;
            }
            return "rgb(255, 255, 255)";
          };
          let worst = [99, ""];
          const kinds = "h1, h2, h3, p, dt, dd, td, th, label, button, kbd, li";
          for (const e of document.querySelectorAll(kinds)) {
            if (!e.textContent.trim() || e.disabled || e.closest("[hidden]")) continue;
            const pair = [light(getComputedStyle(e).color), light(ground(e))];
            const [a, b] = pair.sort((x, y) => y - x);
            const contrast = (a + 0.05) / (b + 0.05);
            if (contrast < worst[0]) worst = [contrast, e.outerHTML.slice(0, 80)];
          }
          return worst;
        }"""
    )
    assert worst[0] >= 4.5, worst  # WCAG AA
    unnamed = page.evaluate(
        """[...document.querySelectorAll("button, input, progress, canvas, svg")].filter((e) =>
          !(e.textContent.trim() || e.getAttribute("aria-label") || (e.labels && e.labels.length)))
          .map((e) => e.outerHTML)"""
    )
    assert unnamed == []
    small = page.evaluate(
        """[...document.querySelectorAll("button, input")].filter((e) => e.offsetParent &&
          e.getBoundingClientRect().height < 24).map((e) => e.id)"""
    )
    assert small == []
    page.close()


@pytest.fixture(scope="module")
def page_for_looks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("looks")
    X, _, names = moons(150, 0)
    write_csv(folder / "rows.csv", X)
    with label_page(folder, *ARGUMENTS) as server:
        for row in range(30):
            server.post("api/answer", {"row": row, "kind": "label", "label": names[row]})
        server.learnt()
        yield server


def test_several_labels_are_picked_with_keys_and_confirmed_with_enter(tmp_path, tab):
    X, _, _ = moons(60, 0)
    write_csv(tmp_path / "rows.csv", X)
    arguments = ("rows.csv", "--out", "labels.csv", "--classes", "red,round,old", "--several")
    with label_page(tmp_path, *arguments) as server:
        page = tab(server.address)
        first = page.evaluate("shown")
        boxes = page.get_by_role("group", name="Answers").get_by_role("checkbox")
        assert boxes.count() == 3
        press_all(page, "1", "3", "2", "2")  # the second is picked, and not picked again
        checked = page.get_by_role("checkbox", checked=True)
        assert [name.split()[0] for name in checked.all_inner_texts()] == ["red", "old"]
        assert page.get_by_role("button", name="Confirm 2 labels").is_visible()
        assert server.get("api/state")["labelled"] == 0  # nothing counts before Enter
        press(page, "Enter")
        second = page.evaluate("shown")
        assert page.get_by_role("checkbox", checked=True).count() == 0
        press(page, "Enter")  # none of the labels
        assert page.evaluate("state.recent.map((a) => a.label)") == ["-", "red;old"]
        # A click picks and keeps the focus; Enter confirms then too.
        third = page.evaluate("shown")
        boxes.nth(1).click()
        press(page, "Enter")
        assert page.evaluate("state.recent[0].label") == "round"
        press(page, "u")
        assert page.evaluate("shown") == third
        press_all(page, "1", "2")
        page.get_by_role("button", name="Confirm 2 labels").click()
        until(page, "state.labelled === 3 && state.current")
        # The model's opinion is hidden until it is asked for, or the row has an answer.
        until(page, "!busy")
        assert "%" not in page.locator("#answers").inner_text()
        page.keyboard.press("m")
        until(page, "document.getElementById('answers').innerText.split('%').length === 4")
        assert page.locator("#chances").get_attribute("aria-pressed") == "true"
        page.keyboard.press("m")
        page.evaluate(f"show({first})")
        until(page, f"shown === {first}")
        until(page, "document.getElementById('answers').innerText.includes('%')")
        assert "label: red, old" in page.locator("#row-said").inner_text()
        assert page.get_by_role("checkbox", checked=True).count() == 2
        assert page.locator("#recent").inner_text().count("none of the labels") == 1
        given = {first: "red;old", second: "-", third: "red;round"}
    with open(tmp_path / "labels.csv", newline="") as file:
        assert [line[-1] for line in csv.reader(file)][1:] == list(given.values())


def test_a_new_one_of_several_labels_on_a_phone(tmp_path, tab):
    X, _, _ = moons(40, 0)
    write_csv(tmp_path / "rows.csv", X)
    with label_page(tmp_path, "rows.csv", "--out", "labels.csv", "--several") as server:
        page = tab(server.address, width=390, height=800)
        for name in ("old", "New One"):
            page.fill("#new-label", name)
            page.get_by_role("button", name="Add").click()
        assert server.get("api/state")["labelled"] == 0
        press(page, "Enter")
        assert server.get("api/state")["classes"] == ["old", "New One"]
        page.fill("#new-label", "OLD")  # means the one that is known
        page.get_by_role("button", name="Add").click()
        assert page.get_by_role("checkbox").count() == 2
        press(page, "Enter")
        assert page.evaluate("state.recent[0].label") == "old"
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_two_people_see_their_own_answers_and_who_is_reliable(tmp_path, tab):
    X, _, names = moons(40, 0)
    write_csv(tmp_path / "rows.csv", X)
    arguments = ("rows.csv", "--out", "labels.csv", "--classes", "cat,dog", "--annotator")
    with label_page(tmp_path, *arguments, "eva") as server:
        for row in range(20):
            server.post("api/answer", {"row": row, "kind": "label", "label": names[row]})
    with label_page(tmp_path, *arguments, "tom", "--second") as server:
        for row in range(10):
            server.post("api/answer", {"row": row, "kind": "label", "label": names[row]})
        server.learnt()
        page = tab(server.address)
        assert "tom answers" in page.locator("#progress").inner_text()
        until(page, "state.current && !document.getElementById('people').hidden")
        table = page.locator("#reliability").inner_text()
        assert "eva" in table and "tom" in table and "100.0 %" in table
        page.evaluate("show(15)")  # eva answered it, and tom did not
        until(page, "shown === 15")
        assert "eva" not in page.locator("#row-said").inner_text()
        assert page.locator("#answers [aria-pressed=true]").count() == 0
        until(page, "state.second.length > 0")
        page.evaluate("show(state.second[0])")
        until(page, "document.getElementById('row-said').innerText.includes('somebody else')")
        page.evaluate("show(3)")
        until(page, "shown === 3")
        assert f"eva: {names[3]}" in page.locator("#row-said").inner_text()


def with_wrong_labels(server, names, wrong, n=40):
    """Give labels to the first rows, some of them wrong."""
    other = {"cat": "dog", "dog": "cat"}
    for row in range(n):
        label = other[names[row]] if row in wrong else names[row]
        server.post("api/answer", {"row": row, "kind": "label", "label": label})
    server.learnt()


def test_labels_that_look_wrong_are_reviewed_with_the_keyboard(rows, tab):
    folder, names = rows
    with label_page(folder, *ARGUMENTS) as server:
        with_wrong_labels(server, names, (3, 11))
        page = tab(server.address)
        until(page, "state.current")
        page.keyboard.press("r")
        until(page, "document.querySelectorAll('#review-list .doubt').length >= 2")
        assert page.locator("#tab-review").get_attribute("aria-selected") == "true"
        assert page.locator("#label-view").is_hidden() and page.locator("#review-view").is_visible()
        said = page.locator("#review-words").inner_text()
        assert "of 40 labels is wrong" in said or "of 40 labels are wrong" in said
        first = page.locator(".doubt").first
        title = first.locator("h3").inner_text()
        row = int(title.split(":")[0].removeprefix("Row ")) - 1
        assert row in (3, 11) and f"the model {names[row]}" in title
        assert f"{names[row]} row" in first.locator(".evidence").inner_text()
        page.keyboard.press("1")  # it would answer a row that nobody sees
        assert server.get("api/state")["labelled"] == 40
        page.keyboard.press("Tab")  # from the title to the first button: Keep
        assert page.evaluate("document.activeElement.innerText").startswith("Keep")
        assert page.evaluate(OUTLINE) == "solid"
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.innerText") == f"Change to {names[row]}"
        page.keyboard.press("Enter")
        until(
            page,
            f"document.getElementById('review-message').innerText.includes('Row {row + 1} is')",
        )
        assert server.get(f"api/row/{row}")["label"] == names[row]
        other = 14 - row
        keep = page.locator(f"button[data-row='{other}']", has_text="Keep")
        until(page, f"document.querySelector(\"button[data-row='{other}']\") !== null")
        keep.click()
        until(page, f"document.querySelector(\"button[data-row='{other}']\") === null")
        assert server.get(f"api/row/{other}")["label"] != names[other]
        page.locator("#tab-review").focus()
        page.keyboard.press("ArrowLeft")
        assert page.locator("#label-view").is_visible() and page.locator("#review-view").is_hidden()
        assert page.evaluate("document.activeElement.id") == "tab-label"
        for _ in range(20):  # one in four is drawn at random, and tells how good the model is
            row = server.get("api/state")["queue"][0]
            server.post("api/answer", {"row": row, "kind": "label", "label": names[row]})
        until(page, "document.getElementById('outlook').innerText.includes(' more labels: ')")
        page.close()  # it still learns, and would miss the server


def test_a_doubtful_row_is_shown_for_another_answer_and_gets_a_new_class(rows, tab):
    folder, names = rows
    with label_page(folder, *ARGUMENTS) as server:
        with_wrong_labels(server, names, (3,))
        page = tab(server.address, width=390, height=800)
        until(page, "state.current")
        page.locator("#tab-review").click()
        until(page, "document.querySelector(\"button[data-row='3']\") !== null")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.locator("button[data-row='3']", has_text="Show the row").click()
        until(page, "shown === 3")
        assert page.locator("#label-view").is_visible()
        assert "None of these: new class" in page.locator("#new").inner_text()
        page.fill("#new-label", HOSTILE[0])
        page.keyboard.press("Enter")
        until(page, "state.classes.length === 3")
        assert server.get("api/row/3")["label"] == HOSTILE[0]
        assert page.evaluate("window.hacked") is None
        page.close()


def test_a_search_for_one_class_says_what_is_found_and_never_that_it_is_over(rows, tab):
    folder, names = rows
    with label_page(folder, *ARGUMENTS, "--relevant", "dog") as server:
        page = tab(server.address)
        found = 0
        for _ in range(45):  # from 40 labels on, steady predictions end the search for labels
            row = page.evaluate("shown")
            found += names[row] == "dog"
            press(page, "12"[names[row] == "dog"])
        until(page, f"state.current && state.counts[1] === {found}")
        assert page.inner_text("#stop").startswith(f"{found} rows of dog are found.")
        assert found > 30
        page.close()
