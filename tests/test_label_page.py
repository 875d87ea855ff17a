"""`graphkm label` as a process: nothing is lost, and nobody else gets in."""

from __future__ import annotations

import csv
import http.client
import json
import signal
import socket
import sys

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("pyarrow")

from cli_runner import moons, process, read_predictions, run, write_csv
from graphkm import SemiSupervisedClassifier
from graphkm.active import uncertainty
from graphkm.app.knocking import TRIES
from graphkm.app.reading import read_material
from graphkm.cli.label_predictions import predictor
from graphkm.cli.model_files import read_model
from label_server import label_page


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Return a folder with rows, and their true labels."""
    folder = tmp_path_factory.mktemp("label")
    X, _, names = moons(200, 0)
    write_csv(folder / "rows.csv", X)
    return folder, names


@pytest.fixture(scope="module")
def page(table):
    """Return a page that stays open for tests that change no answer."""
    with label_page(table[0], "rows.csv", "--out", "guarded.csv", "--classes", "cat,dog") as opened:
        yield opened


@pytest.mark.long
def test_answers_survive_a_kill_and_a_model_is_trained_from_the_file(table):
    folder, names = table
    arguments = ("rows.csv", "--out", "labels.csv", "--classes", "cat,dog")
    given = {}
    with label_page(folder, *arguments) as page:
        for _ in range(12):
            row = page.learnt()["queue"][0]
            page.post("api/answer", {"row": row, "kind": "label", "label": names[row]})
            given[row] = names[row]
        last = row
        page.post("api/undo", {})
        del given[last]
        page.post("api/answer", {"row": last, "kind": "unknown"})
        page.kill()
    with label_page(folder, *arguments) as page:
        state = page.learnt()
        assert state["labelled"] == 11 and state["unknown"] == 1
        labelled = page.get("api/colours")["labelled"]
        assert {int(row): state["classes"][k] for row, k in labelled.items()} == given
        assert last not in state["queue"]
        said = page.post("api/model", {})["said"]
        assert "labels.gkm holds a model of 11 labels and 200 rows." in said
        assert "nlabelled rows" in said and "Its heaviest member is " in said
    with open(folder / "labels.csv", newline="") as file:
        head, *lines = csv.reader(file)
    assert head == ["x", "z", "label"] and len(lines) == 11
    more = ("--unlabeled-data", folder / "rows.csv")
    assert run("train", folder / "labels.csv", folder / "m.gkm", *more) == 0
    X, _, names = moons(200, 0)
    for name in ("m.gkm", "labels.gkm"):
        assert isinstance(read_model(folder / name)[0][-1], SemiSupervisedClassifier)
        assert np.mean(read_model(folder / name)[0].predict(X) == names) > 0.9


def plants(n=80, seed=0):
    """Return the lines of a table with words, gaps, dates and commas, and the kind of each row."""
    rng = np.random.default_rng(seed)
    kinds = np.array(["fern", "moss"])[rng.integers(2, size=n)]
    lines = ["nr;soil;height;found;finder"]
    for k, kind in enumerate(kinds):
        soil = "" if k % 9 == 4 else ("forest", "stone")[kind == "moss"] if k % 5 else "water"
        tall = "" if k % 7 == 3 else f"{rng.normal(40 if kind == 'fern' else 5, 3):.1f}"
        lines.append(f"P{k};{soil};{tall.replace('.', ',')};{1 + k % 28:02d}.06.2024;Ada")
    return lines, kinds


@pytest.mark.long
@pytest.mark.slow
def test_a_table_of_words_and_gaps_from_the_page_to_predictions(tmp_path):
    lines, kinds = plants()
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    arguments = ("rows.csv", "--out", "labels.csv", "--id", "nr")
    with label_page(tmp_path, *arguments) as page:
        state = page.learnt()
        assert any("1 category (soil)" in note for note in state["notes"])
        rows = [k for k in range(80) if k % 7 != 3 and k % 9 != 4][
            :3
        ]  # without a gap, as it may be
        for k in range(16):
            row = rows[k] if k < 3 else page.learnt()["queue"][0]
            page.post("api/answer", {"row": row, "kind": "label", "label": kinds[row]})
        state = page.learnt()
        colours, places = page.get("api/colours"), page.get("api/map")["rows"]
        live = np.array(state["classes"])[np.array(colours["predicted"], dtype=int)]
        assert np.mean(live == kinds[places]) > 0.9
        assert "labels.gkm" in page.post("api/model", {})["said"]
    more = ("--unlabeled-data", tmp_path / "rows.csv", "--id", "nr")
    assert run("train", tmp_path / "labels.csv", tmp_path / "m.gkm", *more) == 0
    for name in ("m.gkm", "labels.gkm"):
        out = tmp_path / "p.csv"
        assert run("predict", tmp_path / name, tmp_path / "rows.csv", "--out", out) == 0
        header, found = read_predictions(out)
        assert header[:2] == ["nr", "prediction"] and found[3][0] == "P3"
        assert np.mean([line[1] for line in found] == kinds) > 0.9


@pytest.mark.long
@pytest.mark.slow
def test_a_table_without_names_whose_first_column_is_the_label(tmp_path):
    X, y, names = moons(60, 20)
    lines = [f"{label or '?'},{a!r},{b!r}" for label, (a, b) in zip(y, X.tolist(), strict=True)]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    arguments = ("rows.csv", "--out", "labels.csv", "--label", "1", "--no-header")
    with label_page(tmp_path, *arguments) as page:
        assert page.learnt()["labelled"] == 20
        page.post("api/model", {})
    out = tmp_path / "p.csv"
    rows = (tmp_path / "rows.csv", "--no-header", "--out", out)
    assert run("predict", tmp_path / "labels.gkm", *rows) == 0
    assert np.mean([line[0] for line in read_predictions(out)[1]] == names) > 0.8


@pytest.mark.long
def test_predictions_of_all_rows_have_the_columns_of_the_table(tmp_path):
    X, _, names = moons(200, 0)
    lines = [f"K{k},{a!r},{b!r}" for k, (a, b) in enumerate(X.tolist())]
    (tmp_path / "rows.csv").write_text("key,x,z\n" + "\n".join(lines) + "\n")
    out = tmp_path / "labels.predictions.csv"
    with label_page(tmp_path, "rows.csv", "--out", "labels.csv", "--id", "key") as page:
        status, _, body = page.request("POST", "api/predictions", {})
        assert status == 400 and b"at least two labels" in body and not out.exists()
        for row in range(0, 48, 4):
            page.post("api/answer", {"row": row, "kind": "label", "label": names[row]})
        said = page.post("api/predictions", {})["said"]
        assert said.startswith("labels.predictions.csv holds the predictions of all 200 rows by")
        assert "the model in labels.gkm." in said and "holds a model of 12 labels" in said
        assert (tmp_path / "labels.gkm").exists()
        first = out.read_bytes()
        said = page.post("api/predictions", {})["said"]  # the model has not changed
        assert "holds a model" not in said and "labels.predictions.csv.previous" in said
        assert out.read_bytes() == first
        page.post("api/answer", {"row": 1, "kind": "label", "label": names[1]})
        assert "holds a model of 13 labels" in page.post("api/predictions", {})["said"]
    head, *found = csv.reader(out.read_text().splitlines())
    assert head == ["key", "x", "z", "label", "prediction", "probability"] and len(found) == 200
    assert [line[:3] for line in found] == [line.split(",") for line in lines]
    assert {k: line[3] for k, line in enumerate(found) if line[3]} == {
        row: names[row] for row in (1, *range(0, 48, 4))
    }
    assert np.mean([line[4] for line in found] == names) > 0.9
    assert all(0.4 <= float(line[5]) <= 1 for line in found)
    assert run("predict", tmp_path / "labels.gkm", tmp_path / "rows.csv", "--out", out) == 0
    assert [line[1] for line in read_predictions(out)[1]] == [line[4] for line in found]


@pytest.mark.long
def test_predictions_of_quantities_and_of_odd_tables(tmp_path):
    rows = [f"{k},{k % 7},{2 * k}" for k in range(40)]
    (tmp_path / "rows.csv").write_text("x,prediction,label\n" + "\n".join(rows) + "\n")
    assert run("train", tmp_path / "rows.csv", tmp_path / "m.gkm", "--task", "regress") == 0
    write = predictor(
        read_material(tmp_path / "rows.csv", regression=True),
        tmp_path / "m.gkm",
        tmp_path / "p.csv",
    )
    assert "all 40 rows" in write({3: "6"})
    head, *found = csv.reader((tmp_path / "p.csv").read_text().splitlines())
    assert head == ["x", "prediction", "label", "prediction_3"]  # no name stands twice
    assert found[3][:3] == ["3", "3", "6"] and abs(float(found[20][3]) - 40) < 5
    lines = [f"{k % 2} 1:{k % 2 + 0.1 * k} 3:2" for k in range(30)]
    (tmp_path / "rows.libsvm").write_text("\n".join(lines) + "\n")
    assert run("train", tmp_path / "rows.libsvm", tmp_path / "s.gkm") == 0
    rows = read_material(tmp_path / "rows.libsvm")
    predictor(rows, tmp_path / "s.gkm", tmp_path / "s.csv")({0: "0"})
    head, *found = csv.reader((tmp_path / "s.csv").read_text().splitlines())
    assert head == ["row", "label", "prediction", "probability"]
    assert found[0][:2] == ["1", "0"] and found[29][:2] == ["30", ""]


SUBJECTS = {
    "money": ("the card was charged twice", "my bank account shows a wrong amount", "pay the bill"),
    "animals": ("the dog sleeps all day", "a cat hunts mice", "birds sing in the old tree"),
}


def subjects(n=60):
    """Return texts and their subjects."""
    kinds = [("animals", "money")[k % 3 == 0] for k in range(n)]
    texts = [f"{SUBJECTS[kind][k // 3 % 3]}, said person {k}" for k, kind in enumerate(kinds)]
    texts[5] = "<script>window.hacked = 1</script> the dog, \U0001f408 and \u05db\u05dc\u05d1"
    return texts, kinds


@pytest.mark.long
@pytest.mark.slow
def test_texts_from_the_page_to_predictions(tmp_path):
    pytest.importorskip("tokenizers")
    texts, kinds = subjects()
    with open(tmp_path / "texts.csv", "w", newline="") as file:
        lines = [(f"T{k}", text, k % 5) for k, text in enumerate(texts)]
        csv.writer(file).writerows([("key", "body", "stars"), *lines])
    arguments = ("texts.csv", "--text", "body", "--id", "key", "--out", "labels.csv")
    with label_page(tmp_path, *arguments) as page:
        assert page.get("api/row/5")["near"] == []
        for row in range(24):
            page.post("api/answer", {"row": row, "kind": "label", "label": kinds[row]})
        near = page.get("api/row/30")["near"]
        assert [other["label"] for other in near] == [kinds[30]] * 3
        assert near[0]["alike"] >= near[1]["alike"] > 0 and near[0]["text"] == texts[near[0]["row"]]
        assert all(other["row"] != 12 for other in page.get("api/row/12")["near"])
        said = page.post("api/predictions", {})["said"]
        assert "labels.predictions.csv holds" in said and "labels.gkm" in said
        assert any("save learn from the other columns" in n for n in page.get("api/state")["notes"])
    head, *found = csv.reader((tmp_path / "labels.csv").read_text().splitlines())
    assert head == ["key", "body", "stars", "label"] and found[5][1] == texts[5]
    head, *found = csv.reader((tmp_path / "labels.predictions.csv").read_text().splitlines())
    assert head == ["key", "body", "stars", "label", "prediction", "probability"]
    assert [line[0] for line in found] == [f"T{k}" for k in range(60)]
    assert np.mean(np.array([line[4] for line in found]) == kinds) > 0.9
    out = tmp_path / "p.csv"
    assert run("predict", tmp_path / "labels.gkm", tmp_path / "texts.csv", "--out", out) == 0
    header, lines = read_predictions(out)
    assert header[:2] == ["key", "prediction"]
    assert [line[1] for line in lines] == [line[4] for line in found]
    more = ("--text", "body", "--id", "key", "--unlabeled-data", tmp_path / "texts.csv")
    assert run("train", tmp_path / "labels.csv", tmp_path / "m.gkm", *more) == 0
    with label_page(tmp_path, *arguments[:-1], "next.csv", "--model", "m.gkm") as page:
        state = page.learnt()
        assert "m.gkm chooses the rows" in state["first"] and sorted(state["classes"]) == sorted(
            SUBJECTS
        )


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["images", "texts"])
def test_folders_from_the_page_to_predictions(tmp_path, kind):
    Image = pytest.importorskip("PIL.Image")
    pytest.importorskip("tokenizers")
    folder = tmp_path / "files"
    folder.mkdir()
    rng = np.random.default_rng(0)
    texts, kinds = subjects(40)
    for k, name in enumerate(kinds):
        if kind == "texts":
            (folder / f"{k:02d}.txt").write_text(texts[k])
        else:
            rows = rng.integers(0, 60, (20, 20)).astype(np.uint8)
            rows[:, :8] += np.uint8(150 * (name == "money"))
            Image.fromarray(rows).save(folder / f"{k:02d}.png")
    with label_page(tmp_path, "files", "--out", "labels.csv") as page:
        for row in range(20):
            page.post("api/answer", {"row": row, "kind": "label", "label": kinds[row]})
        near = page.get("api/row/30")["near"]
        assert near[0]["label"] == kinds[30] and near[0]["image"] is (kind == "images")
        assert "predictions of all 40 rows" in page.post("api/predictions", {})["said"]
    head, *found = csv.reader((tmp_path / "labels.csv").read_text().splitlines())
    end = "txt" if kind == "texts" else "png"
    assert head == ["file", "label"] and found[7] == [f"07.{end}", kinds[7]]
    head, *found = csv.reader((tmp_path / "labels.predictions.csv").read_text().splitlines())
    assert head == ["file", "label", "prediction", "probability"]
    assert [line[0] for line in found] == [f"{k:02d}.{end}" for k in range(40)]
    assert np.mean(np.array([line[2] for line in found]) == kinds) > 0.9
    out = tmp_path / "p.csv"
    assert run("predict", tmp_path / "labels.gkm", folder, "--out", out) == 0
    said = {line[0]: line[1] for line in read_predictions(out)[1]}
    assert said == {line[0]: line[2] for line in found}


@pytest.mark.long
def test_a_model_that_exists_chooses_the_first_rows(tmp_path, capsys):
    X, y, names = moons(200, 20)
    write_csv(tmp_path / "known.csv", X, y)
    write_csv(tmp_path / "rows.csv", X + 0.01)
    assert run("train", tmp_path / "known.csv", tmp_path / "m.gkm") == 0
    before = (tmp_path / "m.gkm").read_bytes()
    unsure = uncertainty(read_model(tmp_path / "m.gkm")[0], X + 0.01)
    arguments = ("rows.csv", "--out", "labels.csv", "--model", "m.gkm")
    with label_page(tmp_path, *arguments) as page:
        state = page.learnt()
        assert state["classes"] == ["cat", "dog"] and "m.gkm chooses the rows" in state["first"]
        # The first two are held, and every fourth is drawn at random.
        assert np.median(unsure[state["queue"][2:]]) > np.quantile(unsure, 0.75)
        for row in (list(names).index("cat"), list(names).index("dog")):
            page.post("api/answer", {"row": row, "kind": "label", "label": names[row]})
        assert page.learnt()["first"] == ""
        assert (tmp_path / "m.gkm").read_bytes() == before
        assert "m.gkm.previous" in page.post("api/model", {})["said"]
    assert (tmp_path / "m.gkm.previous").read_bytes() == before
    (tmp_path / "other.csv").write_text("x,q\n1,2\n3,4\n")
    (tmp_path / "text.gkm").write_text("no model")
    for data, model, more, code, words in (
        ("other.csv", "m.gkm", (), 2, "lacks 1 of the model's 2 columns: z"),
        ("rows.csv", "m.gkm", ("--regression",), 2, "a model of classes; drop --regression"),
        ("rows.csv", "m.gkm", ("--classes", "cat,bird"), 2, "knows the class dog"),
        ("rows.csv", "text.gkm", (), 3, "it is not a graphkm model"),
    ):
        out = ("--out", tmp_path / "l.csv", "--model", tmp_path / model)
        assert run("label", tmp_path / data, *out, *more) == code
        assert words in capsys.readouterr().err
        assert not (tmp_path / "l.csv").exists()


@pytest.mark.long
def test_a_model_that_exists_and_rows_that_are_others(tmp_path, capsys):
    Image = pytest.importorskip("PIL.Image")
    (tmp_path / "photos").mkdir()
    lines = []
    for k in range(30):
        Image.new("L", (9, 9), 8 * k).save(tmp_path / "photos" / f"{k}.png")
        lines.append(f"photos/{k}.png,{k % 2 + 0.01 * k},{'' if k % 3 else 'ab'[k % 2]}\n")
    (tmp_path / "rows.csv").write_text("path,x,label\n" + "".join(lines))
    train = ("train", tmp_path / "rows.csv", tmp_path / "m.gkm", "--drop", "path")
    assert run(*train) == 0
    (tmp_path / "photos" / "3.png").write_bytes(b"")
    out = ("--out", tmp_path / "l.csv", "--model", tmp_path / "m.gkm")
    for data, more, words in (
        ("rows.csv", ("--images", "path"), "it reads 30 rows, and 29 can be shown"),
        ("photos", (), "it has learnt from x, and"),
    ):
        assert run("label", tmp_path / data, *out, *more) == 2
        assert words in capsys.readouterr().err and not (tmp_path / "l.csv").exists()


@pytest.mark.long
def test_two_tabs_see_the_same_state(table):
    folder, names = table
    with label_page(folder, "rows.csv", "--out", "tabs.csv", "--classes", "cat,dog") as page:
        connection = http.client.HTTPConnection("127.0.0.1", page.port, timeout=30)
        connection.request("GET", f"/{page.token}/api/events")
        stream = connection.getresponse()
        assert stream.getheader("content-type").startswith("text/event-stream")

        def until(labelled):
            while True:
                line = stream.readline()
                if line.startswith(b"data: "):
                    state = json.loads(line[6:])
                    if state["labelled"] == labelled:
                        return state

        until(0)
        page.post("api/answer", {"row": 7, "kind": "label", "label": names[7]})
        assert until(1)["recent"][0] == {"row": 7, "kind": "label", "label": names[7]}
        connection.close()


# -------------------------------------------------------------------- safety


def test_it_listens_on_this_machine_only(page):
    # On Linux 127.0.0.2 is this machine too, and reaches servers that listen everywhere.
    if not sys.platform.startswith("linux"):
        pytest.skip("only Linux has a second address that is always there")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", page.port), timeout=5)


def test_a_wrong_token_reads_and_writes_nothing(page):
    """An address may try ten wrong links at once; tests/test_app_links.py has what comes then."""
    body = {"row": 0, "kind": "label", "label": "cat"}
    asked = [("GET", path, None) for path in ("api/state", "static/page.js")]
    asked += [("POST", "api/answer", body)]
    tries = [(token, *each) for token in ("", "wrong", "x" * 32) for each in asked]
    tries += [("wrong", "GET", "api/row/0", None)]
    assert len(tries) == TRIES
    assert page.get("api/state")["labelled"] == 0  # who was let in once does not wait
    for token, *request in tries:
        assert page.request(*request, token=token)[0] == 403
    assert page.get("api/state")["labelled"] == 0


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:{port}"},
        {"Host": None},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "https://127.0.0.1:{port}"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
)
def test_other_pages_read_and_write_nothing(page, headers):
    headers = {k: v and v.format(port=page.port) for k, v in headers.items()}
    body = {"row": 0, "kind": "label", "label": "cat"}
    refused = (400, 403) if headers.get("Host", "") is None else (403,)
    for request in (("POST", "api/answer", body), ("GET", "api/row/0")):
        try:
            assert page.request(*request, **headers)[0] in refused
        except ConnectionResetError:  # of what is no HTTP the server reads no body
            assert 400 in refused
    assert page.get("api/state")["labelled"] == 0


def test_the_own_origin_passes(page):
    origin = {"Origin": f"http://127.0.0.1:{page.port}", "Sec_Fetch_Site": "same-origin"}
    assert page.request("GET", "api/state", **origin)[0] == 200


def test_simple_posts_of_forms_and_large_bodies_are_refused(page):
    body = b'{"row": 0, "kind": "label", "label": "cat"}'
    plain = {"Content_Type": "text/plain"}
    assert page.request("POST", "api/answer", raw=body, **plain)[0] == 415
    assert page.request("POST", "api/answer", raw=b" " * 70_000)[0] == 413
    chunked = {"Transfer_Encoding": "chunked", "Content_Length": None}
    assert page.request("POST", "api/answer", raw=b"0\r\n\r\n", **chunked)[0] == 413
    assert page.get("api/state")["labelled"] == 0


@pytest.mark.parametrize(
    "body",
    [
        {},
        [],
        {"row": "0", "kind": "label", "label": "cat"},
        {"row": True, "kind": "label", "label": "cat"},
        {"row": -1, "kind": "label", "label": "cat"},
        {"row": 200, "kind": "skip"},
        {"row": 0, "kind": "undo"},
        {"row": 0, "kind": "label", "label": 3},
        {"row": 0, "kind": "label", "label": "bird"},
        {"row": 0, "kind": "label"},
    ],
)
def test_answers_that_make_no_sense(page, body):
    status, _, found = page.request("POST", "api/answer", body)
    assert status == 400 and json.loads(found)["error"]
    assert page.get("api/state")["labelled"] == 0


DEEP = b"[" * 30_000
ODD_BODIES = [
    b"",
    b"null",
    b"3",
    b'"x"',
    b"[]",
    b"{",
    b"\xff\xfe",
    b"\x00",
    DEEP,
    b'{"row": 0, "kind": "label", "label": ' + DEEP,
    b'{"row": NaN, "kind": "label", "label": "cat"}',
    b'{"row": 1e400, "kind": "label", "label": "cat"}',
    b'{"row": %s, "kind": "label", "label": "cat"}' % (b"9" * 5000),
    b'{"row": %s, "kind": "label", "label": "cat"}' % (b"9" * 50),
    b'{"row": -1, "kind": "skip"}',
    b'{"row": 0.5, "kind": "skip"}',
    b'{"row": {"a": 1}, "kind": ["label"]}',
    b'{"row": 0, "kind": {}, "label": "cat"}',
    b'{"row": 0, "kind": "label", "label": ["cat"]}',
    b'{"row": 0, "kind": "label", "label": "\\ud800"}',
    b'{"row": 0, "kind": "label", "label": "\\u0000"}',
    b'{"row": 0, "kind": "label", "label": "cat", "seen": {"kind": "label", "label": NaN}}',
    b'{"row": 0, "kind": "label", "label": "cat", "seen": 3}',
    b'{"kind": "label", "label": "cat"}',
    b'{"row": 0}',
]
ODD_PATHS = [
    "no/such/page",
    "api/row/",
    "api/row/-1",
    "api/row/x",
    "api/row/1.5",
    "api/row/200",
    "api/row/" + "9" * 5000,
    "api/row/%00",
    "api/row/%D9%A3",  # a digit of another script
    "image/0",
    "image/" + "9" * 5000,
    "image/..%2f..%2fetc%2fpasswd",
    "static/%00",
    "static/" + "a" * 5000,
    "static/",
    "static/%ff",
    "//",
    "api/answer",
    "api/undo",
]


def one_sentence(found, allowed):
    status, _, body = found
    assert status in allowed, found
    said = json.loads(body)["error"]
    assert said.endswith(".") and "\n" not in said and "Error" not in said
    return said


@pytest.mark.long
def test_odd_requests_get_a_sentence_and_print_nothing(tmp_path):
    X, _, _ = moons(200, 0)
    write_csv(tmp_path / "rows.csv", X)
    with label_page(tmp_path, "rows.csv", "--out", "labels.csv", "--classes", "cat,dog") as page:
        page.learnt()
        for body in ODD_BODIES:
            one_sentence(page.request("POST", "api/answer", raw=body), (400, 409))
            one_sentence(page.request("POST", "api/undo", raw=body), (400, 409))
        for path in ODD_PATHS:
            one_sentence(page.request("GET", path), (404, 405))
        for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "GÖT".encode().hex()):
            for path in ("", "api/state", "api/answer", "api/row/0", "static/page.js"):
                one_sentence(page.request(method, path), (405,))
        one_sentence(page.request("POST", "api/answer", raw=b"x" * 70_000), (413,))
        one_sentence(page.request("POST", "api/answer", {}, Content_Type="text/plain"), (415,))
        for lost in (b"{", b'{"row": 0, "kind": "label", "label": "cat"'):  # cut off in the middle
            with socket.create_connection(("127.0.0.1", page.port)) as connection:
                head = f"POST /{page.token}/api/answer HTTP/1.1\r\nHost: 127.0.0.1:{page.port}\r\n"
                more = "Content-Type: application/json\r\nContent-Length: 500\r\n\r\n"
                connection.sendall((head + more).encode() + lost)
        assert page.get("api/state")["labelled"] == 0
        page.post("api/answer", {"row": 0, "kind": "label", "label": "cat"})  # it is in order
        page.process.send_signal(signal.SIGINT)
        assert page.process.wait(60) == 0
        said = page.process.stderr.read().splitlines()
    assert len(said) == 1 and "1 labels are in labels.csv" in said[0], said


@pytest.mark.long
def test_half_a_letter_as_a_label_breaks_no_later_request(tmp_path):
    X, _, _ = moons(60, 0)
    write_csv(tmp_path / "rows.csv", X)
    with label_page(tmp_path, "rows.csv", "--out", "labels.csv") as page:
        raw = b'{"row": 0, "kind": "label", "label": "\\ud800"}'
        assert "no text" in one_sentence(page.request("POST", "api/answer", raw=raw), (400,))
        state = page.post("api/answer", {"row": 1, "kind": "label", "label": "Katze \U0001f408"})
        assert state["classes"] == ["Katze \U0001f408"] and page.get("api/state")["labelled"] == 1


@pytest.mark.long
@pytest.mark.parametrize("training", [False, True])
def test_control_c_with_open_tabs_ends_with_a_sentence(tmp_path, training):
    X, _, names = moons(200, 0)
    write_csv(tmp_path / "rows.csv", X)
    with label_page(tmp_path, "rows.csv", "--out", "labels.csv", "--classes", "cat,dog") as page:
        tabs = []
        for _ in range(2):
            tab = http.client.HTTPConnection("127.0.0.1", page.port, timeout=30)
            tab.request("GET", f"/{page.token}/api/events")
            assert tab.getresponse().readline().startswith(b"data: ")
            tabs.append(tab)
        for row in range(10):
            page.post("api/answer", {"row": row, "kind": "label", "label": names[row]})
        if training:  # and a model is asked for
            asked = http.client.HTTPConnection("127.0.0.1", page.port, timeout=30)
            asked.request(
                "POST", f"/{page.token}/api/model", "{}", {"Content-Type": "application/json"}
            )
            tabs.append(asked)
        page.process.send_signal(signal.SIGINT)
        assert page.process.wait(60) == 0
        said = page.process.stderr.read().splitlines()
        for tab in tabs:
            tab.close()
    assert "graphkm: 10 labels are in labels.csv. Start again to continue." in said
    assert len(said) <= 1 + training, said


@pytest.mark.long
def test_a_second_tab_is_told_and_may_answer_again(tmp_path):
    X, _, _ = moons(60, 0)
    write_csv(tmp_path / "rows.csv", X)
    with label_page(tmp_path, "rows.csv", "--out", "labels.csv", "--classes", "Cat,dog") as page:
        answer = {"row": 3, "kind": "label", "seen": page.get("api/row/3")["answer"]}
        page.post("api/answer", {**answer, "label": "dog"})
        said = one_sentence(page.request("POST", "api/answer", {**answer, "label": "Cat"}), (409,))
        assert "'dog'" in said and "'Cat' was not kept" in said
        answer["seen"] = page.get("api/row/3")["answer"]
        assert page.post("api/answer", {**answer, "label": "Cat"})["counts"] == [1, 0]


def test_headers_keep_scripts_and_frames_out(page):
    for path in ("", "api/state", "static/page.js", "no/such/page"):
        status, headers, _ = page.request("GET", path)
        assert status == (404 if path.startswith("no") else 200)
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"


def test_nothing_outside_the_static_folder_is_served(page):
    for path in ("static/../server.py", "static/%2e%2e/server.py", "static/..%2fserver.py"):
        status, _, found = page.request("GET", path)
        assert status == 404 and b"Starlette" not in found


@pytest.mark.long
def test_images_come_from_the_folder_only(tmp_path):
    Image = pytest.importorskip("PIL.Image")
    (tmp_path / "data").mkdir()
    Image.new("L", (8, 8), 9).save(tmp_path / "data" / "a.png")
    Image.new("L", (8, 8), 9).save(tmp_path / "secret.png")
    (tmp_path / "data" / "link.png").symlink_to(tmp_path / "secret.png")
    (tmp_path / "data" / "page.svg").write_text("<svg onload='alert(1)'/>")
    names = [
        "a.png",
        "../secret.png",
        str(tmp_path / "secret.png"),
        "link.png",
        "page.svg",
        "no.png",
    ]
    lines = "".join(f"{name},{k}\n" for k, name in enumerate(names))
    (tmp_path / "data" / "rows.csv").write_text("path,x\n" + lines)
    arguments = ("data/rows.csv", "--out", "labels.csv", "--images", "path")
    with label_page(tmp_path, *arguments) as page:
        found = [page.request("GET", f"image/{row}") for row in range(len(names) + 1)]
        assert [status for status, _, _ in found] == [200, 404, 404, 404, 404, 404, 404]
        assert found[0][1]["content-type"] == "image/png"
        assert found[0][2] == (tmp_path / "data" / "a.png").read_bytes()


# ------------------------------------------------------------------- the command


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("no.csv", "--out", "l.csv"), 3, "no.csv: no such file"),
        (("rows.csv", "--out", "l.txt"), 2, "ends in .csv"),
        (("rows.csv", "--out", "rows.csv"), 2, "is an input, and would be replaced"),
        (("rows.csv", "--out", "l.csv", "--classes", "a"), 2, "two or more different classes"),
        (
            ("rows.csv", "--out", "l.csv", "--classes", "a,b", "--regression"),
            2,
            "do not go together",
        ),
        (
            ("rows.csv", "--out", "l.csv", "--text", "body"),
            2,
            "no such column; the columns are x, z",
        ),
        (("rows.csv", "--out", "mine.csv"), 2, "not written by the labelling page"),
        (("rows.csv", "--out", "l.csv", "--encoder", "x"), 2, "these rows have none"),
        (
            ("words.csv", "--out", "l.csv", "--text", "body", "--encoder", "./no"),
            2,
            "no folder or file no",
        ),
    ],
)
def test_wrong_usage(table, capsys, monkeypatch, arguments, code, words):
    folder, _ = table
    (folder / "mine.csv").write_text("x,z,label\n")
    (folder / "words.csv").write_text("body\na b\nc d\n")
    monkeypatch.chdir(folder)
    assert run("label", *arguments) == code
    assert words in capsys.readouterr().err


@pytest.mark.long
def test_labels_of_the_file_count_and_a_mark_is_none(tmp_path):
    X, _, names = moons(60, 0)
    write_csv(tmp_path / "rows.csv", X, [*names[:20], *["-1"] * 40])
    arguments = ("rows.csv", "--out", "labels.csv", "--unlabeled", "-1")
    with label_page(tmp_path, *arguments) as page:
        state = page.learnt()
        assert state["labelled"] == 20 and sorted(state["classes"]) == ["cat", "dog"]
        assert all(row >= 20 for row in state["queue"])


@pytest.mark.long
def test_the_extra_is_named_where_it_is_missing(tmp_path):
    write_csv(tmp_path / "rows.csv", np.eye(3)[:, :2])
    (tmp_path / "starlette.py").write_text("raise ImportError('no', name='starlette')")
    done = process("label", "rows.csv", "--out", "l.csv", folder=tmp_path, PYTHONPATH=str(tmp_path))
    assert done.returncode == 2 and 'pip install "graphkm[app]"' in done.stderr
