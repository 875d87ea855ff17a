"""The backend for Label Studio: requests as Label Studio 1.23.2 sent them, and rough treatment."""

import asyncio
import base64
import http.client
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cli_runner import wrong
from graphkm.cli.studio_models import WORK
from graphkm.formats import AnnotationsError, Guess
from graphkm.studio.models import Models, Work
from graphkm.studio.server import Addresses

RECORDED = json.loads(Path(__file__).with_name("label_studio_requests.json").read_text("utf-8"))
SETUP, CREATED, SKIPPED, UPDATED, PREDICT, DELETED, TRAINING = RECORDED["requests"]
XML = SETUP["body"]["schema"]


def copy(request, **changes):
    """Return the body of a recorded request with other values."""
    body = json.loads(json.dumps(request["body"]))
    for place, value in changes.items():
        part, *names = place.split("__")
        inside = body
        for name in [part, *names][:-1]:
            inside = inside[name]
        inside[[part, *names][-1]] = value
    return body


def said(number, text, choices, who=1, xml=XML, project=3, type="choices"):
    """Return the event of an annotation."""
    result = [{"from_name": "mood", "to_name": "txt", "type": type, "value": {type: choices}}]
    return copy(
        CREATED,
        annotation__id=100 * number + who,
        annotation__task=number,
        annotation__completed_by=who,
        annotation__result=result,
        task__id=number,
        task__data={"text": text},
        project__label_config=xml,
        project__id=project,
    )


class Fits:
    """Stands for the command line's models: a file that counts labels, and a fixed answer."""

    def __init__(self):
        self.seen = []

    def fit(self, rows, control, path):
        self.seen.append(
            {r.id: (r.cells, r.answers[0].value if r.answers else None) for r in rows.rows}
        )
        path.write_text(json.dumps(sorted(str(v) for v in self.seen[-1].items())))

    def ask(self, model, rows, version):
        return [Guess(("good",), 0.75, version) for _ in rows]

    @property
    def work(self):
        return Work(self.fit, lambda path: path.read_text(), self.ask)


class Backend:
    """A backend in this process, asked without a network."""

    def __init__(self, folder, work=None, token=None, **more):
        self.fits = Fits()
        self.models = Models(folder, work or self.fits.work, **more)
        self.app = Addresses(self.models, token).app()

    def ask(self, method, path, body=None, raw=None, **headers):
        """Return the status and what a request is answered."""
        data = raw if raw is not None else b"" if body is None else json.dumps(body).encode()
        sent = {"content-type": "application/json", "content-length": str(len(data))} | headers
        scope = {
            "type": "http", "http_version": "1.1", "method": method, "path": path,
            "raw_path": path.encode(), "root_path": "", "scheme": "http", "query_string": b"",
            "headers": [(k.encode(), v.encode()) for k, v in sent.items()],
            "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 9090),
        }  # fmt: skip
        found = []

        async def receive():
            return {"type": "http.request", "body": data, "more_body": False}

        async def send(message):
            found.append(message)

        asyncio.run(self.app(scope, receive, send))
        return found[0]["status"], json.loads(b"".join(m.get("body", b"") for m in found[1:]))

    def post(self, path, body):
        return self.ask("POST", path, body)

    def learnt(self):
        """Wait until the thread has nothing left to learn."""
        end = time.monotonic() + 120
        while self.models.is_training():
            assert time.monotonic() < end
            time.sleep(0.01)


@pytest.fixture
def backend(tmp_path):
    made = []

    def make(**more):
        made.append(Backend(tmp_path, **more))
        made[-1].models.start()
        return made[-1]

    yield make
    for each in made:
        each.models.end()


def test_a_connection_as_label_studio_makes_it(backend):
    here = backend()
    assert here.ask("GET", "/health") == (200, {"status": "UP", "model_class": "graphkm"})
    assert here.ask("GET", "/")[0] == 200
    assert here.post(SETUP["path"], SETUP["body"]) == (200, {"model_version": "none"})
    status, told = here.post(PREDICT["path"], PREDICT["body"])
    assert (status, told["results"]) == (200, [[], []])  # no model yet: no predictions
    assert here.ask("GET", "/versions") == (200, {"versions": [], "message": "ok"})


def test_annotations_are_learnt_as_they_come(backend):
    here = backend()
    here.post(PREDICT["path"], PREDICT["body"])
    assert here.post(CREATED["path"], CREATED["body"]) == (201, {"status": "ok"})
    here.learnt()
    assert here.fits.seen == []  # one class is not enough
    here.post("/webhook", said(30, "dull", ["bad"]))
    here.learnt()
    texts = {t["id"]: t["data"]["text"] for t in PREDICT["body"]["tasks"]}
    rows = here.fits.seen[-1]
    assert rows["30"] == ({"text": "dull"}, ("bad",))
    assert rows["18"] == ({"text": texts[18]}, ("good",))
    assert rows["19"] == ({"text": texts[19]}, None)  # seen when predictions were asked for
    _, told = here.post(PREDICT["path"], PREDICT["body"])
    [first], _ = told["results"]
    assert first["model_version"] == told["model_version"] == here.models.versions()[0]
    assert first["score"] == 0.75
    assert first["result"] == [
        {"from_name": "mood", "to_name": "txt", "type": "choices", "value": {"choices": ["good"]}}
    ]


def test_changes_skips_and_deletions(backend):
    here = backend()
    for body in (said(1, "a", ["good"]), said(2, "b", ["bad"]), said(3, "c", ["bad"])):
        here.post("/webhook", body)
    update = said(2, "b", ["good"]) | {"action": "ANNOTATION_UPDATED"}
    assert here.post("/webhook", update)[0] == 201
    here.post("/webhook", SKIPPED["body"])
    here.learnt()
    answers = {id: value for id, (_, value) in here.fits.seen[-1].items()}
    assert answers == {"1": ("good",), "2": ("good",), "3": ("bad",), "24": None}
    here.post("/webhook", copy(DELETED, annotations=[{"id": 201}]))
    here.learnt()
    assert here.fits.seen[-1]["2"][1] is None
    here.post(
        "/webhook", copy(DELETED, action="TASKS_DELETED", annotations=None, tasks=[{"id": 2}])
    )
    here.learnt()
    n = len(here.fits.seen)
    here.post("/webhook", TRAINING["body"])  # the button: fit again, though nothing has changed
    here.learnt()
    assert len(here.fits.seen) == n + 1
    assert "2" not in here.fits.seen[-1]


def test_most_people_decide(backend):
    here = backend()
    for who, choice in enumerate(["good", "bad", "bad"], 1):
        here.post("/webhook", said(1, "a", [choice], who))
    here.post("/webhook", said(2, "b", ["good"], 1))
    here.post("/webhook", said(2, "b", ["bad"], 2))
    here.post("/webhook", said(3, "c", ["good"], 2))
    here.learnt()
    assert {k: v[1] for k, v in here.fits.seen[-1].items()} == {
        "1": ("bad",),
        "2": None,
        "3": ("good",),
    }


def test_several_choices_and_ratings(backend):
    several = XML.replace('choice="single"', 'choice="multiple"')
    here = backend()
    here.post("/webhook", said(1, "a", ["good", "bad"], xml=several, project=4))
    here.post("/webhook", said(2, "b", [], xml=several, project=4))
    rating = '<Rating name="mood" toName="txt" maxRating="4"/>'
    stars = f'<View><Text name="txt" value="$text"/>{rating}</View>'
    here.post("/webhook", said(1, "a", 4, xml=stars, project=5, type="rating"))
    here.post("/webhook", said(2, "b", 2, xml=stars, project=5, type="rating"))
    here.learnt()
    found = [{k: v[1] for k, v in each.items()} for each in here.fits.seen]
    assert {"1": ("good", "bad"), "2": ()} in found
    assert {"1": 4, "2": 2} in found
    here.models._work = Work(None, None, lambda model, rows, version: [Guess(9.7, None, version)])
    body = copy(
        PREDICT, project="5.1", label_config=stars, tasks=[{"id": 1, "data": {"text": "x"}}]
    )
    _, told = here.post("/predict", body)
    assert told["results"][0][0]["result"][0]["value"] == {"rating": 4}


def test_the_old_way_to_train(backend):
    here = backend()
    tasks = [
        {
            "id": k,
            "data": {"text": t},
            "annotations": [{"id": k, "result": said(k, t, [c])["annotation"]["result"]}],
        }
        for k, t, c in ((1, "a", "good"), (2, "b", "bad"))
    ]
    body = {"annotations": tasks, "project": "9.1619", "label_config": XML, "params": {}}
    assert here.post("/train", body)[0] == 201
    here.learnt()
    assert here.fits.seen[-1] == {"1": ({"text": "a"}, ("good",)), "2": ({"text": "b"}, ("bad",))}


def test_a_restart_loses_nothing(tmp_path):
    first = Backend(tmp_path)
    first.models.start()
    for body in (said(1, "a", ["good"]), said(2, "é\n", ["bad"])):
        first.post("/webhook", body)
    first.learnt()
    version = first.models.versions()
    with pytest.raises(AnnotationsError, match="in use"):
        Backend(tmp_path)
    first.models.end()
    with open(tmp_path / "project-3.journal", "ab") as file:
        file.write(b'{"kind": "annota')  # what a power cut leaves
    again = Backend(tmp_path)
    assert again.models.versions() == version
    again.models.start()
    again.learnt()
    assert again.fits.seen[-1] == first.fits.seen[-1]
    again.models.end()
    text = (tmp_path / "project-3.journal").read_bytes()
    (tmp_path / "project-3.journal").write_bytes(text.replace(b"good", b"gold", 1))
    with pytest.raises(AnnotationsError, match="line 1 is damaged"):
        Backend(tmp_path)


def test_a_full_disk_acknowledges_nothing(backend, monkeypatch):
    here = backend()
    here.post("/webhook", said(1, "a", ["good"]))

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    status, told = here.post("/webhook", said(2, "b", ["bad"]))
    monkeypatch.undo()
    assert (status, told["error"]) == (507, "not kept: No space left on device.")
    assert here.models.project(3).n_answers == 1
    assert here.post("/webhook", said(2, "b", ["bad"]))[0] == 201


def test_a_fit_that_fails_is_told(backend, capsys):
    def fail(rows, control, path):
        raise ValueError("no column")

    here = backend(work=Work(fail, None, None))
    for body in (said(1, "a", ["good"]), said(2, "b", ["bad"])):
        here.post("/webhook", body)
    here.learnt()
    assert here.ask("GET", "/health")[1]["errors"] == {"3": "no column"}
    assert "project 3: no column" in capsys.readouterr().err


def test_who_may_speak(tmp_path):
    here = Backend(tmp_path, token="abc")
    assert here.ask("GET", "/health")[0] == 401
    assert here.ask("GET", "/abd/health")[0] == 401
    assert here.ask("GET", "/abc/health")[0] == 200
    assert here.post("/abc/setup", SETUP["body"])[0] == 200
    assert here.post("/setup", SETUP["body"])[0] == 401
    for password, status in (("abc", 200), ("abd", 401)):
        coded = base64.b64encode(f"me:{password}".encode()).decode()
        assert here.ask("GET", "/health", authorization=f"Basic {coded}")[0] == status
    assert here.ask("GET", "/health", authorization="Basic é!")[0] == 401
    here.models.end()


@pytest.mark.parametrize(
    ("path", "body", "why"),
    [
        ("/predict", {"project": "3.1", "tasks": 3}, "list called 'tasks'"),
        ("/predict", {"project": "../../x", "tasks": []}, "no project"),
        ("/predict", {"project": None, "tasks": []}, "no project"),
        ("/setup", {"project": "3", "schema": "<!DOCTYPE x><View/>"}, "not read"),
        ("/setup", {"project": "3", "schema": XML.replace("Text", "Image")}, "texts and tables"),
        ("/webhook", copy(CREATED, annotation__task=None), "id of its task"),
        ("/webhook", copy(CREATED, annotation__id=None), "no number"),
        ("/webhook", copy(CREATED, annotation=3), "id of its task"),
    ],
)
def test_what_cannot_be_used_is_refused_in_words(path, body, why, backend):
    here = backend()
    status, told = here.post(path, body)
    assert status == 400
    assert why in told["error"]
    assert here.ask("GET", "/health")[0] == 200


@pytest.mark.parametrize(
    ("raw", "headers", "status"),
    [
        (b"{", {}, 400),
        (b"[1]", {}, 400),
        (b"[" * 100_000, {}, 400),
        (b"{}", {"content-type": "text/plain"}, 415),
        (b"{}", {"content-length": "999999999999"}, 413),
    ],
)
def test_bodies_that_are_none(raw, headers, status, backend):
    assert backend().ask("POST", "/predict", raw=raw, **headers)[0] == status


def test_other_events_do_no_harm(backend):
    here = backend()
    for body in (
        {"action": "PROJECT_CREATED"},
        {"action": "LABEL_LINK_CREATED", "project": {"id": 1}},
    ):
        assert here.post("/webhook", body)[0] == 200


@pytest.mark.parametrize(
    ("options", "why"),
    [(("--host", "0.0.0.0"), "--token"), (("--token", "a/b"), "letters"), (("no.gkm",), "no.gkm")],
)
def test_wrong_usage(options, why, tmp_path, capsys):
    code, said = wrong(capsys, "label-studio-backend", "--state", tmp_path / "s", *options)
    assert code in (2, 3)
    assert why in said


# ------------------------------------------------------------------ with models


GOOD = ["a great film", "lovely and moving", "great fun", "superb, the best", "charming"]
BAD = ["boring and long", "a terrible waste", "awful acting", "the worst script", "dull jokes"]


@pytest.mark.long
def test_a_model_of_texts_learns(backend):
    pytest.importorskip("tokenizers")
    here = backend(work=WORK)
    for k, (good, bad) in enumerate(zip(GOOD[:4], BAD[:4], strict=True)):
        here.post("/webhook", said(2 * k, good, ["good"]))
        here.post("/webhook", said(2 * k + 1, bad, ["bad"]))
    here.learnt()
    tasks = [
        {"id": 90, "data": {"text": GOOD[4]}},
        {"id": 91, "data": {"text": BAD[0]}},
    ]
    _, told = here.post("/predict", copy(PREDICT, tasks=tasks))
    found = [each[0]["result"][0]["value"]["choices"] for each in told["results"]]
    assert found[1] == ["bad"]
    assert all(0.5 <= each[0]["score"] <= 1 for each in told["results"])


@pytest.mark.long
@pytest.mark.xdist_group("signals")
def test_a_killed_backend_goes_on(tmp_path):
    pytest.importorskip("tokenizers")

    def start():
        command = [sys.executable, "-m", "graphkm.cli", "label-studio-backend", "--port", "0"]
        process = subprocess.Popen(
            [*command, "--state", str(tmp_path / "state"), "--token", "abc"],
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        process.stdout.readline()
        port = int(process.stdout.readline().rsplit(":", 1)[1].split("/")[0])
        return process, port

    def ask(port, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        data = None if body is None else json.dumps(body)
        connection.request("GET" if data is None else "POST", f"/abc{path}", data,
                           {"Content-Type": "application/json"})  # fmt: skip
        found = json.loads(connection.getresponse().read())
        connection.close()
        return found

    process, port = start()
    for k, (good, bad) in enumerate(zip(GOOD, BAD, strict=True)):
        ask(port, "/webhook", said(2 * k, good, ["good"]))
        ask(port, "/webhook", said(2 * k + 1, bad, ["bad"]))
    process.send_signal(signal.SIGKILL)  # while it learns
    process.wait()
    process.stdout.close()
    process, port = start()
    end = time.monotonic() + 120
    while ask(port, "/is_training")["is_training"]:
        assert time.monotonic() < end
        time.sleep(0.2)
    [[told]] = ask(port, "/predict", copy(PREDICT, tasks=[{"id": 0, "data": {"text": BAD[0]}}]))[
        "results"
    ]
    assert told["result"][0]["value"] == {"choices": ["bad"]}
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 0
    process.stdout.close()
