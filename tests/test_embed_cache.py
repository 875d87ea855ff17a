"""The cache of vectors: what it keeps, and what goes wrong around it."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import tiny_models
from graphkm.embed import ImageEmbedder, PictureError, TextEmbedder
from graphkm.embed import cache as cache_module
from graphkm.embed.cache import CacheWarning, VectorCache, cache_folder

TEXTS = [f"text number {k}" for k in range(40)]


def key(number):
    return number.to_bytes(32, "big")


def row(number, width=8):
    return np.random.default_rng(number).normal(size=width).astype(np.float32)


def forbid(embedder):
    """Let a fitted embedder's model raise when it is asked."""
    encoder = vars(embedder)["_encoder"]
    object.__setattr__(encoder, "encode", lambda items: pytest.fail(f"computed {len(items)}"))


# ------------------------------------------------------------------ what is kept


def test_the_second_time_nothing_is_computed(tmp_path):
    embedder = TextEmbedder(cache=tmp_path).fit(TEXTS)
    rows = embedder.transform(TEXTS)
    np.testing.assert_array_equal(rows, TextEmbedder(cache=None).fit_transform(TEXTS))
    forbid(embedder)
    np.testing.assert_array_equal(
        embedder.transform(TEXTS[::-1] + TEXTS), np.vstack([rows[::-1], rows])
    )


def test_equal_texts_are_computed_once(tmp_path):
    tiny_models.text_model(tmp_path / "model")
    embedder = TextEmbedder(tmp_path / "model", cache=tmp_path).fit(["cat"])
    encoder, seen = vars(embedder)["_encoder"], []
    before = encoder.encode
    object.__setattr__(encoder, "encode", lambda items: seen.extend(items) or before(items))
    embedder.transform(["dog", "cat", "dog", "dog", ""])
    assert seen == ["dog"]  # fit has asked for the cat


def test_a_warm_cache_needs_no_library(tmp_path, monkeypatch):
    tiny_models.text_model(tmp_path / "model")
    rows = TextEmbedder(tmp_path / "model", cache=tmp_path).fit_transform(["cat", "dog"])
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    again = TextEmbedder(tmp_path / "model", cache=tmp_path).fit_transform(["cat", "dog"])
    np.testing.assert_array_equal(again, rows)


def test_images_are_told_by_their_bytes(tmp_path):
    Image.new("L", (9, 9), 50).save(tmp_path / "a.png")
    embedder = ImageEmbedder("pixels", cache=tmp_path).fit([tmp_path / "a.png"])
    rows = embedder.transform([tmp_path / "a.png"])
    (tmp_path / "a.png").rename(tmp_path / "b.png")
    Image.new("L", (9, 9), 200).save(tmp_path / "a.png")
    assert embedder.transform([tmp_path / "a.png"])[0, 0] == np.float32(200) / np.float32(255)
    array = np.full((9, 9), 7, np.uint8)
    kept = embedder.transform([array])
    forbid(embedder)
    np.testing.assert_array_equal(embedder.transform([tmp_path / "b.png"]), rows)
    np.testing.assert_array_equal(
        embedder.transform([array, Image.fromarray(array)]), [*kept, *kept]
    )


def test_models_do_not_share(tmp_path):
    image = np.random.default_rng(0).random((1, 28, 28))
    for model in ("pixels", "gradients", "auto", "pixels"):
        ImageEmbedder(model, cache=tmp_path).fit_transform(image)
    assert len(list(tmp_path.glob("vectors/*.sqlite"))) == 3


def test_what_was_computed_before_an_error_is_kept(tmp_path):
    for k in range(5):
        Image.new("L", (9, 9), k).save(tmp_path / f"{k}.png")
    (tmp_path / "4.png").write_bytes(b"broken")
    paths = [tmp_path / f"{k}.png" for k in range(5)]
    embedder = ImageEmbedder(cache=tmp_path, batch_size=2).fit(paths[:1])
    with pytest.raises(PictureError, match=r"4\.png"):
        embedder.transform(paths)
    forbid(embedder)
    assert embedder.transform(paths[:4]).shape == (4, 1108)


def test_functions_are_not_cached(tmp_path):
    TextEmbedder(lambda some: np.ones((len(some), 2)), cache=tmp_path).fit_transform(TEXTS)
    assert not list(tmp_path.iterdir())


def test_the_oldest_go(tmp_path):
    cache = VectorCache(tmp_path, "m", most_bytes=10 * 8 * 4)
    for start in range(0, 30, 6):
        cache.write(
            [key(k) for k in range(start, start + 6)],
            np.stack([row(k) for k in range(start, start + 6)]),
        )
    assert sorted(cache.read(map(key, range(30)))) == [key(k) for k in range(20, 30)]


def test_more_keys_than_one_question_takes(tmp_path):
    cache = VectorCache(tmp_path, "m")
    rows = np.arange(3000, dtype=np.float32).reshape(1500, 2)
    cache.write([key(k) for k in range(1500)], rows)
    found = cache.read(map(key, range(2000)))
    np.testing.assert_array_equal(np.stack([found[key(k)] for k in range(1500)]), rows)
    assert len(found) == 1500


# ------------------------------------------------------------------ where it is


def test_the_folder(monkeypatch, tmp_path):
    assert cache_folder(tmp_path) == tmp_path
    monkeypatch.setenv("GRAPHKM_CACHE", str(tmp_path / "named"))
    assert cache_folder() == tmp_path / "named"
    monkeypatch.delenv("GRAPHKM_CACHE")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    for platform, place in [
        ("linux", ".cache/graphkm"),
        ("darwin", "Library/Caches/graphkm"),
        ("win32", "AppData/Local/graphkm/Cache"),
    ]:
        monkeypatch.setattr(cache_module.sys, "platform", platform)
        assert cache_folder() == tmp_path / place
    monkeypatch.setattr(cache_module.sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "graphkm"


def test_a_user_without_a_home(monkeypatch):
    def nobody():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("GRAPHKM_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", nobody)
    with pytest.warns(CacheWarning, match="has no folder"):
        assert TextEmbedder().fit_transform(TEXTS).any()


@pytest.mark.parametrize("cache", [True, 3, ["a"]])
def test_what_is_no_folder(cache):
    with pytest.raises(TypeError, match="cache must be 'auto', a folder or None"):
        TextEmbedder(cache=cache).fit_transform(TEXTS)


# ------------------------------------------------------------------ what goes wrong


def database_of(folder):
    (path,) = folder.glob("vectors/*.sqlite")
    return path


@pytest.mark.dear
@pytest.mark.parametrize("damage", ["noise", "cut", "pages", "other table"])
def test_a_damaged_database_is_set_aside(tmp_path, damage):
    texts = [f"{k} words" for k in range(300)]
    rows = TextEmbedder(cache=tmp_path).fit_transform(texts)
    path = database_of(tmp_path)
    raw = bytearray(path.read_bytes())
    if damage == "noise":
        raw = bytearray(np.random.default_rng(0).bytes(5000))
    elif damage == "cut":
        raw = raw[: len(raw) // 2]
    elif damage == "pages":
        raw[4096:] = np.random.default_rng(0).bytes(len(raw) - 4096)
    path.write_bytes(raw)
    if damage == "other table":
        path.unlink()
        with sqlite3.connect(path) as database:
            database.execute("CREATE TABLE vectors (name TEXT)")
        database.close()
    with pytest.warns(CacheWarning, match=r"is damaged .*set aside"):
        again = TextEmbedder(cache=tmp_path).fit_transform(texts)
    np.testing.assert_array_equal(again, rows)
    assert path.with_suffix(".damaged").exists()
    embedder = TextEmbedder(cache=tmp_path).fit(texts)
    forbid(embedder)  # the new database holds them
    np.testing.assert_array_equal(embedder.transform(texts), rows)


def test_a_changed_bit_of_a_vector_is_noticed(tmp_path):
    cache = VectorCache(tmp_path, "m")
    cache.write([key(0), key(1)], np.stack([row(0), row(1)]))
    raw = cache.path.read_bytes()
    place = raw.index(row(0).tobytes())
    cache.path.write_bytes(raw[:place] + bytes([raw[place] ^ 1]) + raw[place + 1 :])
    assert list(cache.read([key(0), key(1)])) == [key(1)]
    cache.write([key(0)], row(0)[None])
    np.testing.assert_array_equal(cache.read([key(0)])[key(0)], row(0))


def test_a_journal_left_over_does_not_reach_the_new_database(tmp_path):
    cache = VectorCache(tmp_path, "m")
    cache.write([key(0)], row(0)[None])
    journal = cache.path.with_name(cache.path.name + "-journal")
    cache.path.write_bytes(b"x" * 5000)
    journal.write_bytes(b"y" * 600)
    with pytest.warns(CacheWarning):
        assert cache.read([key(0)]) == {}
    assert not journal.exists()


@pytest.mark.skipif(os.name == "nt", reason="folders have no such permission")
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write")
def test_a_folder_that_cannot_be_written(tmp_path):
    tmp_path.chmod(0o500)
    try:
        with pytest.warns(CacheWarning, match="cannot be used"):
            rows = TextEmbedder(cache=tmp_path).fit_transform(TEXTS)
    finally:
        tmp_path.chmod(0o700)
    np.testing.assert_array_equal(rows, TextEmbedder(cache=None).fit_transform(TEXTS))


def test_a_folder_that_is_a_file(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.warns(CacheWarning, match="cannot be used") as caught:
        rows = TextEmbedder(cache=tmp_path / "file", batch_size=3).fit_transform(TEXTS)
    assert rows.any(axis=1).all() and len(caught) == 1


@pytest.mark.parametrize(
    ("limit", "words"), [("max_page_count = 4", "disk is full"), ("query_only = 1", "readonly")]
)
def test_a_full_disk_and_a_database_that_cannot_be_written(tmp_path, monkeypatch, limit, words):
    class Limited(sqlite3.Connection):
        def executemany(self, *args):
            self.execute(f"PRAGMA {limit}")
            return super().executemany(*args)

    real = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *args, **kw: real(*args, factory=Limited, **kw))
    with pytest.warns(CacheWarning, match=f"cannot be used .*{words}") as caught:
        rows = TextEmbedder(cache=tmp_path).fit_transform(TEXTS)
    assert len(caught) == 1
    np.testing.assert_array_equal(rows, TextEmbedder(cache=None).fit_transform(TEXTS))
    assert database_of(tmp_path).exists()  # it is whole, so it stays


def test_another_process_that_holds_the_database_for_long(tmp_path, monkeypatch):
    monkeypatch.setattr(cache_module, "_PATIENCE", 0.05)
    cache = VectorCache(tmp_path, "m")
    cache.write([key(0)], row(0)[None])
    holder = sqlite3.connect(cache.path)
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.warns(CacheWarning, match="locked"):
        assert cache.read([key(0)]) == {}
    holder.rollback()
    holder.close()
    assert list(VectorCache(tmp_path, "m").read([key(0)])) == [key(0)]


def test_threads_share_a_database(tmp_path):
    def work(part):
        cache = VectorCache(tmp_path, "m")
        for k in range(part, 60, 3):
            cache.write([key(k)], row(k)[None])

    threads = [threading.Thread(target=work, args=(part,)) for part in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(VectorCache(tmp_path, "m").read(map(key, range(60)))) == 60


# ------------------------------------------------------------------ processes

WRITER = """
import sys
import numpy as np
from pathlib import Path
from graphkm.embed.cache import VectorCache
cache, first, last = VectorCache(Path(sys.argv[1]), "m"), int(sys.argv[2]), int(sys.argv[3])
print("ready", flush=True)
for start in range(first, last, 20):
    numbers = range(start, start + 20)
    rows = [np.random.default_rng(k).normal(size=8).astype(np.float32) for k in numbers]
    cache.write([k.to_bytes(32, "big") for k in numbers], np.stack(rows))
"""


def writer(folder, first, last):
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", WRITER, str(folder), str(first), str(last)],
        stdout=subprocess.PIPE,
    )


def whole_groups(folder, last):
    """Check every vector that is kept; return how many groups of 20 there are, each whole."""
    found = VectorCache(folder, "m").read(map(key, range(last)))
    for name, values in found.items():
        np.testing.assert_array_equal(values, row(int.from_bytes(name, "big")))
    groups = {int.from_bytes(name, "big") // 20 for name in found}
    assert len(found) == 20 * len(groups)
    return len(groups)


@pytest.mark.long
def test_two_processes_at_once(tmp_path):
    both = [writer(tmp_path, 0, 1000), writer(tmp_path, 500, 1500)]
    assert [each.wait() for each in both] == [0, 0]
    for each in both:
        each.stdout.close()
    assert whole_groups(tmp_path, 1500) == 75


@pytest.mark.long
@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
@pytest.mark.parametrize("pause", [0.01, 0.11, 0.23])
def test_a_killed_process_leaves_a_whole_database(tmp_path, pause):
    before = 0
    for _ in range(2):
        process = writer(tmp_path, 0, 10**6)
        process.stdout.readline()
        time.sleep(pause)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        after = whole_groups(tmp_path, 200_000)
        assert after >= before
        before = after
    cache = VectorCache(tmp_path, "m")
    cache.write([key(999_999)], row(999_999)[None])
    assert list(cache.read([key(999_999)])) == [key(999_999)]
