"""Who may speak to the labelling page, and what it shows: links, hosts, guidelines, texts."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import signal
import ssl
import stat
import subprocess
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import pytest

pytest.importorskip("starlette")

import graphkm.app
from cli_runner import run
from graphkm.app.guidelines import LARGEST, Guidelines, parts_of
from graphkm.app.knocking import TRIES, Knocking
from graphkm.app.links import LinksError, kept_links
from graphkm.app.security import Site, complaint
from label_server import label_page

STATIC = Path(graphkm.app.__file__).with_name("static")


# ---------------------------------------------------------------- links


def test_links_last_until_new_ones_are_made(tmp_path):
    path = tmp_path / "labels.csv.links"
    door, made = kept_links(path, ["eva", "tom"])
    assert {door.admits(secret) for secret in made.values()} == {("eva",), ("tom",)}
    assert not any(secret in path.read_text() for secret in made.values())  # only hashes
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    again, more = kept_links(path, ["eva", "uwe"])
    assert list(more) == ["uwe"] and again.admits(made["eva"]) == ("eva",)
    assert again.admits(made["tom"]) is None  # he is not among the people now
    last, new = kept_links(path, ["eva"], new=True)
    assert last.admits(made["eva"]) is None and last.admits(new["eva"]) == ("eva",)
    assert kept_links(path, ["tom"])[0].admits(made["tom"]) == ("tom",)
    assert len({*made.values(), *more.values(), *new.values()}) == 4
    assert all(len(secret) >= 32 for secret in made.values())


@pytest.mark.parametrize("odd", ["", "{", "[]", '{"graphkm_links": 1}',
                                 '{"graphkm_links": 1, "people": {"eva": "short"}}'])  # fmt: skip
def test_a_file_that_holds_no_links_is_refused(tmp_path, odd):
    (tmp_path / "l.links").write_text(odd)
    with pytest.raises(LinksError, match="no file of links"):
        kept_links(tmp_path / "l.links", ["eva"])


def test_who_guesses_has_to_wait_and_nobody_else():
    now = [0.0]
    knocking = Knocking(clock=lambda: now[0])
    knocking.right("192.0.2.1", ("eva",))
    for _ in range(TRIES):
        assert knocking.waits("192.0.2.1", ("tom",)) == 0
        knocking.wrong("192.0.2.1")
    assert knocking.waits("192.0.2.1", ("tom",)) > 0  # with a right link as well
    assert knocking.waits("192.0.2.1", ("eva",)) == 0  # who was in before
    assert knocking.waits("192.0.2.2", ("tom",)) == 0
    now[0] += knocking.waits("192.0.2.1", ("tom",))
    assert knocking.waits("192.0.2.1", ("tom",)) == 0
    for k in range(20_000):
        knocking.wrong(f"address {k}")
    assert len(knocking._left) <= 10_000


HOSTS = [
    (Site("127.0.0.1", 80), "127.0.0.1", True),
    (Site("127.0.0.1", 8000), "127.0.0.1", False),
    (Site("127.0.0.1", 8000), "192.168.1.5:8000", False),
    (Site("0.0.0.0", 8000), "192.168.1.5:8000", True),
    (Site("0.0.0.0", 8000), "[::1]:8000", True),
    (Site("0.0.0.0", 8000), "evil.example:8000", False),
    (Site("0.0.0.0", 8000), "192.168.1.5.evil.example:8000", False),
    (Site("labels.local", 8000), "labels.local:8000", True),
    (Site("0.0.0.0", 8000), "192.168.1.5:x", False),
    (Site("0.0.0.0", 8000), "", False),
    (Site("127.0.0.1", 8000, address="https://labels.example.org"), "labels.example.org", True),
    (Site("127.0.0.1", 8000, address="https://labels.example.org"), "other.example.org", False),
]


@pytest.mark.parametrize(("site", "host", "own"), HOSTS)
def test_hosts(site, host, own):
    assert site.is_own(host) == own
    assert (complaint("GET", {"host": host}, site) is None) == own


def test_origins():
    plain, safe = Site("0.0.0.0", 8000), Site("0.0.0.0", 8000, secure=True)
    proxied = Site("127.0.0.1", 8000, address="https://labels.example.org/")
    assert plain.is_from("http://192.168.1.5:8000") and not plain.is_from(
        "https://192.168.1.5:8000"
    )
    assert safe.is_from("https://192.168.1.5:8000") and not safe.is_from("http://192.168.1.5:8000")
    assert proxied.is_from("https://labels.example.org")
    assert not proxied.is_from("http://labels.example.org") and not proxied.is_from("null")
    assert safe.address_of("s").startswith("https://") and not plain.local and proxied.local
    assert Site("::1", 8000).address_of("s") == "http://[::1]:8000/s/"
    assert proxied.address_of("s") == "https://labels.example.org/s/"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--people", "eva,,tom"], "1 to 100 letters"),
        (["--people", "eva,Eva"], "stands there twice"),
        (["--people", "eva", "--annotator", "tom"], "do not go together"),
        (["--new-links"], "name the people"),
        (["--demo", "--people", "eva"], "do not go together"),
        (["--tls-key", "k.pem"], "goes with --tls-cert"),
        (["--address", "labels"], "name a scheme and a host"),
        (["--lang", "xx"], "the page speaks de, en, fr"),
        (["--host", "203.0.113.7"], "an address of this computer"),
        (["--tls-cert", "rows.csv"], "no certificate"),
        (["--guidelines", "bytes.md"], "no text in UTF-8"),
    ],
)
def test_options_that_are_refused(tmp_path, monkeypatch, capsys, options, words):
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("x,z\n1,2\n3,5\n4,4\n")
    Path("bytes.md").write_bytes(b"\xff\xfe\xff")
    out = [] if "--demo" in options else ["--out", "labels.csv"]
    assert run("label", "rows.csv", *out, *options) == 2
    assert words in " ".join(capsys.readouterr().err.split())
    assert not Path("labels.csv").exists()


def test_without_out_and_without_demo(tmp_path, capsys):
    (tmp_path / "rows.csv").write_text("x,z\n1,2\n3,5\n")
    assert run("label", tmp_path / "rows.csv") == 2
    assert "pass --demo to save nothing" in capsys.readouterr().err
    assert run("label", tmp_path / "rows.csv", "--demo", "--out", tmp_path / "l.csv") == 2


# ---------------------------------------------------------------- the server


def rows_in(folder):
    (folder / "rows.csv").write_text("x,z\n" + "\n".join(f"{k},{k % 5}" for k in range(20)) + "\n")


@pytest.mark.long
def test_wrong_links_have_to_wait_and_people_who_are_in_go_on(tmp_path):
    rows_in(tmp_path)
    arguments = ("rows.csv", "--out", "labels.csv", "--people", "eva,tom", "--host", "0.0.0.0")
    with label_page(tmp_path, *arguments, people=2) as (eva, tom):
        eva.address = eva.address.replace(urlsplit(eva.address).hostname, "127.0.0.1")
        assert eva.get("api/state")["annotator"] == "eva"
        found = [eva.request("GET", "api/state", token=f"guess{k}")[0] for k in range(TRIES + 3)]
        assert found == [403] * TRIES + [429] * 3
        status, headers, body = tom.request("GET", "api/state")  # not even with the right one
        assert status == 429 and int(headers["retry-after"]) > 0 and b"wait a minute" in body
        assert eva.get("api/state")["annotator"] == "eva"
        for host, wanted in (("192.0.2.7", 200), ("evil.example", 403)):
            host = f"{host}:{eva.port}"
            assert eva.request("GET", "api/state", Host=host)[0] == wanted
        eva.process.send_signal(signal.SIGINT)
        assert eva.process.wait(60) == 0
        assert "open to the network without TLS" in eva.process.stderr.read()
    assert (tmp_path / "labels.csv.links").exists()


@pytest.mark.long
@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_tls(tmp_path):
    rows_in(tmp_path)
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem"]
    make += ["-out", "cert.pem", "-subj", "/CN=localhost", "-days", "2"]
    subprocess.run(
        [*make, "-addext", "subjectAltName=IP:127.0.0.1"], cwd=tmp_path, check=True,
        capture_output=True,
    )  # fmt: skip
    arguments = ("rows.csv", "--out", "labels.csv", "--people", "eva")
    tls = ("--tls-cert", "cert.pem", "--tls-key", "key.pem")
    with label_page(tmp_path, *arguments, *tls, people=1) as (eva,):
        assert eva.address.startswith("https://127.0.0.1:")
        trusted = ssl.create_default_context(cafile=tmp_path / "cert.pem")
        origin = eva.address.rsplit("/", 2)[0]
        for sender, wanted in ((origin, 200), (origin.replace("https", "http"), 403)):
            answer = json.dumps({"row": 3, "kind": "label", "label": "a"}).encode()
            headers = {"Content-Type": "application/json", "Origin": sender}
            asked = urllib.request.Request(eva.address + "api/answer", answer, headers)
            try:
                with urllib.request.urlopen(asked, timeout=60, context=trusted) as found:
                    assert found.status == wanted and json.load(found)["labelled"] == 1
            except urllib.error.HTTPError as error:
                assert error.code == wanted
        with pytest.raises((OSError, http.client.HTTPException)):
            urllib.request.urlopen(eva.address.replace("https", "http"), timeout=30)
    assert "a,eva,4" in (tmp_path / "labels.csv").read_text()


# ---------------------------------------------------------------- guidelines


def words_of(part):
    return part if isinstance(part, str) else "".join(map(words_of, part[1:]))


def test_guidelines_are_parts_that_have_all_words():
    text = (
        "# One `code`\nTwo *three* and **four** five_six_seven\nsame line\n\n"
        "* a\n* b\n  more\n  1. c\n\n3) x\n4) y\n\n> quoted\n> on\n\n---\n~~~\n<b>&amp;\n~~~\n"
        "[text](https://example.org/a_b) and [bad](javascript:alert(1))"
    )
    parts = parts_of(text)
    names = [part[0] for part in parts]
    assert names == ["h2", "p", "ul", "ol", "blockquote", "hr", "pre", "p"]
    assert parts[0] == ["h2", "One ", ["code", "code"]]
    assert parts[1] == ["p", "Two ", ["em", "three"], " and ", ["strong", "four"],
                        " five_six_seven same line"]  # fmt: skip
    assert parts[2] == ["ul", ["li", "a"], ["li", "b more", ["ul", ["li", "c"]]]]
    assert parts[6] == ["pre", "<b>&amp;"]
    assert parts[7][1] == ["a", "https://example.org/a_b", "text"]
    assert "[bad](javascript:alert(1))" in words_of(parts[7])


def test_the_parser_agrees_with_an_independent_one():
    markdown = pytest.importorskip("markdown_it")
    text = (
        "## Head\n\nA *b* **c** `d` e.\nNext line.\n\n- one\n- two\n\n1. x\n2. y\n\n> quote\n\n"
        "[t](https://example.org)\n"
    )
    html = markdown.MarkdownIt().render(text)
    wanted = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html)).split()
    said = " ".join(
        words_of(part)
        if part[0] not in ("ul", "ol")
        else " ".join(words_of(item) for item in part[1:])
        for part in parts_of(text)
    )
    said = said.replace("https://example.org", "")  # the first entry of a link
    assert said.split() == wanted


ODD = ["", "\n\n", "```", "- ", "* * *", "#", "> ", "**", "[x](", "_" * 500, "*a" * 2000]
ODD += ["[" * 5000, "`" * 999, "\t- x\n- y", "1. a\n\n\n2. b", "\u0000\u202e", "(" * 5000]


@pytest.mark.parametrize("text", ODD, ids=range(len(ODD)))
def test_odd_guidelines_are_shown(text):
    for part in parts_of(text):
        assert part[0] in ("p", "ul", "ol", "pre", "hr", "blockquote") or part[0][0] == "h"


def test_guidelines_are_read_anew_and_not_too_large(tmp_path):
    path = tmp_path / "g.md"
    path.write_text("one", encoding="utf-8-sig")
    guide = Guidelines(path)
    path.write_text("# two\nCafé", encoding="utf-8")
    assert guide.parts() == [["h2", "two"], ["p", "Café"]]
    path.write_bytes(b"x" * (LARGEST + 1))
    with pytest.raises(ValueError, match="at most"):
        guide.parts()


# ---------------------------------------------------------------- languages


def languages():
    return {p.stem: json.loads(p.read_text("utf-8")) for p in sorted((STATIC / "texts").iterdir())}


def gaps(text):
    forms = text.values() if isinstance(text, dict) else [text]
    return [set(re.findall(r"\{(\w+)\}", form)) for form in forms]


def test_every_language_has_every_text_with_the_same_gaps():
    found = languages()
    assert {"en", "de", "fr"} <= set(found)
    for code, texts in found.items():
        assert list(texts) == list(found["en"]), code
        for key, text in texts.items():
            plural = isinstance(found["en"][key], dict)
            assert isinstance(text, dict) == plural and (not plural or "other" in text), (code, key)
            wanted = set().union(*gaps(found["en"][key]))
            every = [{*each, "n"} if plural else each for each in gaps(text)]
            assert all(each == ({*wanted, "n"} if plural else wanted) for each in every), (
                code,
                key,
            )
            assert "<" not in str(text), (code, key)


def test_every_text_of_the_page_is_in_the_files():
    texts = languages()["en"]
    code = "".join(p.read_text("utf-8") for p in sorted(STATIC.glob("*.js")))
    page = (STATIC / "index.html").read_text("utf-8")
    used = set(re.findall(r"say\(\"(\w+)\"", code))
    used |= set(re.findall(r"data-(?:say|name)=\"(\w+)\"", page))
    assert used <= set(texts)
    built = ("key_", "error_", "kind_", "new_", "none_new_", "class_", "label_")
    assert not [k for k in texts if k not in used | {"language"} and f'"{k}"' not in code
                and not k.startswith(built)]  # fmt: skip
    for element, key in re.findall(r"<(\w+)[^>]*data-say=\"(\w+)\"[^>]*>", page):
        assert key in texts, element


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_plural_forms_and_numbers_are_those_of_the_language():
    code = (STATIC / "texts.js").read_text("utf-8")
    script = (
        "globalThis.document = {documentElement: {}, querySelectorAll: () => []};"
        + code
        + """
        const texts = JSON.parse(require('fs').readFileSync(0, 'utf-8'));
        const told = {};
        for (const lang of Object.keys(texts)) {
          words.take(lang, texts[lang]);
          told[lang] = [0, 1, 2, 5, 1234].map((n) => say('labels', { n })).concat(
            words.percent(0.125));
          const forms = new Intl.PluralRules(lang).resolvedOptions().pluralCategories;
          for (const [key, text] of Object.entries(texts[lang]))
            if (typeof text === 'object') for (const form of forms)
              if (!(form in text)) throw new Error(`${lang} ${key} ${form}`);
        }
        // A language with six forms, from right to left.
        words.take('ar', {direction: 'rtl', labels: {zero: 'z', one: 'o', two: 't', few: 'f{n}',
          many: 'm', other: 'x'}});
        told.ar = [0, 1, 2, 5, 11, 100].map((n) => say('labels', { n }));
        told.dir = document.documentElement.dir;
        console.log(JSON.stringify(told));
        """
    )
    done = subprocess.run(["node", "-e", script], input=json.dumps(languages()),
                          capture_output=True, text=True, check=True)  # fmt: skip
    told = json.loads(done.stdout)
    assert told["en"] == ["0 labels", "1 label", "2 labels", "5 labels", "1,234 labels", "12.5 %"]
    assert told["de"] == ["0 Labels", "1 Label", "2 Labels", "5 Labels", "1.234 Labels", "12,5 %"]
    assert told["fr"][:3] == ["0 étiquette", "1 étiquette", "2 étiquettes"]
    assert told["ar"][:3] == ["z", "o", "t"] and told["ar"][4:] == ["m", "x"]
    assert told["ar"][3].startswith("f") and told["dir"] == "rtl"
