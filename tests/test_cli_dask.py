"""`train --dask` and `predict --dask`: folders of files, as one file that is read as a whole."""

from __future__ import annotations

import csv
import json
import shutil
from contextlib import contextmanager

import numpy as np
import pytest

from cli_runner import process, read_predictions, run, wrong
from graphkm.cli import part_predictions, part_sample, part_training
from graphkm.cli.model_files import read_model
from graphkm.io import file_parts

dask = pytest.importorskip("dask", reason="dask is not installed: pip install 'graphkm[dask]'")
pytest.importorskip("distributed", reason="distributed is not installed")

import graphkm.dask.workers  # noqa: E402
from graphkm.dask.runner import Runner  # noqa: E402

pytestmark = pytest.mark.xdist_group("dask")
FEW = ("--set", "n_anchors=60", "--cv", "3")


@pytest.fixture
def here(monkeypatch):
    """Tasks run in this process, one after another."""

    @contextmanager
    def workers(*_, shown):
        with dask.config.set(scheduler="sync"):
            yield Runner(shown=shown)

    monkeypatch.setattr(graphkm.dask.workers, "workers", workers)


@pytest.fixture
def small_parts(monkeypatch):
    """Files are cut into many parts."""
    monkeypatch.setattr(file_parts, "_CUT", 2**11)
    monkeypatch.setattr(part_training, "_NUMBERS", 2**9)
    monkeypatch.setattr(part_training, "_BYTES", 2**12)
    monkeypatch.setattr(part_predictions, "_BYTES", 2**12)


def table(n=600, seed=0):
    """Rows of two moons with words, dates and gaps, and few labels; header and rows of texts."""
    from sklearn.datasets import make_moons

    rng = np.random.default_rng(seed)
    X, truth = make_moons(n, noise=0.1, random_state=seed)
    rows = []
    for i, (x, z) in enumerate(X.tolist()):
        hue = rng.choice(["red", "blue, dark", 'a "new"\none'])
        size = "" if rng.random() < 0.1 else repr(float(rng.normal()))
        day = f"{rng.integers(13, 29)}.0{rng.integers(1, 10)}.2024"
        label = ["dög", "cat"][truth[i]] if rng.random() < 0.1 else ""
        rows.append([f"r{i}", repr(x), hue, repr(z), size, day, label])
    return ["row", "x", "hue", "z", "size", "day", "label"], rows


def write(path, header, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    return path


@pytest.fixture
def files(tmp_path):
    """One file of all rows, and a folder with the same rows in three files."""
    header, rows = table()
    whole = write(tmp_path / "all.csv", header, rows)
    folder = tmp_path / "rows"
    folder.mkdir()
    for k, start in enumerate((0, 100, 450)):
        write(folder / f"{k}.csv", header, rows[start : (100, 450, 600)[k]])
    return whole, folder


def as_parquet(folder, to):
    """Write the files of a folder as Parquet with small row groups; numbers are numbers."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    to.mkdir()
    for path in sorted(folder.iterdir()):
        with open(path, newline="", encoding="utf-8") as file:
            header, *rows = csv.reader(file)
        columns = dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))
        for name in ("x", "z", "size"):
            columns[name] = [float(cell) if cell else None for cell in columns[name]]
        columns["label"] = [cell or None for cell in columns["label"]]
        parquet.write_table(pa.table(columns), to / f"{path.stem}.parquet", row_group_size=70)
    return to


def assert_alike(one, two, data):
    """Two model files predict the same, and say the same of files."""
    (first, a), (second, b) = read_model(one), read_model(two)
    assert [m.name for m in first[-1].members_] == [m.name for m in second[-1].members_]
    weights = [[m.weight for m in each[-1].members_] for each in (first, second)]
    np.testing.assert_allclose(*weights, atol=1e-9)
    assert (a.kinds, a.columns, a.n_rows, a.n_labeled, a.left_out, a.missing, a.task, a.labels) == (
        (b.kinds, b.columns, b.n_rows, b.n_labeled, b.left_out, b.missing, b.task, b.labels)
    )
    for model, out in ((one, "one.csv"), (two, "two.csv")):
        assert run("predict", model, data, "--proba", "--out", data.parent / out) == 0
    (h, mine), (g, theirs) = (read_predictions(data.parent / f"{k}.csv") for k in ("one", "two"))
    assert h == g and [row[1] for row in mine] == [row[1] for row in theirs]
    numbers = [np.array([row[2:] for row in rows], float) for rows in (mine, theirs)]
    np.testing.assert_allclose(*numbers, atol=1e-8)


def test_a_folder_is_learnt_with_anchors_by_default(tmp_path, here):
    header, rows = table(120)
    (tmp_path / "rows").mkdir()
    for k in range(2):
        write(tmp_path / "rows" / f"{k}.csv", header, rows[60 * k : 60 * (k + 1)])
    whole = write(tmp_path / "all.csv", header, rows)
    one, two = tmp_path / "one.gkm", tmp_path / "two.gkm"
    assert run("train", whole, one, "--id", "row", "--cv", "3", "--graph", "anchors") == 0
    assert run("train", tmp_path / "rows", two, "--id", "row", "--cv", "3", "--dask") == 0
    assert_alike(one, two, whole)


@pytest.mark.long
@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_a_folder_gives_the_model_of_one_file(format, files, tmp_path, here, small_parts, capsys):
    whole, folder = files
    if format == "parquet":
        folder = as_parquet(folder, tmp_path / "pq")
    one, two = tmp_path / "one.gkm", tmp_path / "two.gkm"
    about = ("--id", "row", *FEW)
    assert run("train", whole, one, "--graph", "anchors", *about) == 0
    capsys.readouterr()
    assert run("train", folder, two, "--dask", *about, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["files"] == 3 and told["parts"] > 6 and told["rows"] == told["sample"] == 600
    assert_alike(one, two, whole)
    assert run("info", two) == 0 and run("evaluate", two, whole) == 0


@pytest.mark.long
def test_predictions_of_a_folder_are_those_of_one_file(files, tmp_path, here, small_parts, capsys):
    whole, folder = files
    model, out = tmp_path / "m.gkm", tmp_path / "said"
    assert run("train", whole, model, "--id", "row", *FEW, "--graph", "anchors") == 0
    assert (
        run("predict", model, whole, "--proba", "--keep", "hue", "--out", tmp_path / "a.csv") == 0
    )
    ask = ("predict", model, folder, "--dask", "--proba", "--keep", "hue", "--out", out)
    assert run(*ask) == 0
    names = sorted(path.name for path in out.glob("*.csv"))
    assert len(names) > 3 and names[0] == "0-00000.csv"
    header, wanted = read_predictions(tmp_path / "a.csv")
    found = [read_predictions(out / name) for name in names]
    assert all(own == header for own, _ in found)
    assert [row for _, rows in found for row in rows] == wanted

    # One file is missing, as after an interruption: it alone is written again.
    lost = (out / names[1]).read_bytes()
    before = {name: (out / name).stat().st_mtime_ns for name in names}
    (out / names[1]).unlink()
    capsys.readouterr()
    assert run(*ask, "--json") == 0
    assert json.loads(capsys.readouterr().out)["written"] == 1
    assert (out / names[1]).read_bytes() == lost
    after = {name: (out / name).stat().st_mtime_ns for name in names}
    assert {name for name in names if before[name] != after[name]} == {names[1]}

    # Another question, model or file is another folder.
    code, said = wrong(capsys, *ask, "--novelty")
    assert code == 2 and "another model" in said
    pq = as_parquet(folder, tmp_path / "pq")
    typed = tmp_path / "typed"
    more = ("--dask", "--sets", "0.9", "--out-format", "parquet", "--out", typed)
    assert run("predict", model, pq, *more) == 0
    import pandas as pd

    frame = pd.read_parquet(typed)  # the journal is passed over
    assert list(frame["row"]) == [row[0] for row in wanted]
    assert list(frame["prediction"]) == [row[2] for row in wanted]
    assert {*frame["set"]} <= {"cat", "dög", "cat;dög", "-"} and frame["decision"].dtype == float


def test_a_small_sample_of_many_rows_has_the_labelled_ones(files, here, small_parts, monkeypatch):
    _, folder = files
    monkeypatch.setattr(part_sample, "SAMPLE", 50)
    monkeypatch.setattr(part_sample, "_LEAST", 4)
    options = part_training.LearningFileOptions(id="row")
    names = part_training.data_files(str(folder))
    options, first = part_sample.settled(names[0], options)
    with graphkm.dask.workers.workers(shown=False) as runner:
        seen = part_training._look(
            names, str(folder), options, first, part_training.Task.auto, runner
        )
    assert sum(part.n_rows for part in seen.parts) == 600
    _, rows = table()
    assert seen.n_labeled == sum(row[-1] != "" for row in rows)
    assert 50 < len(seen.rows.y) < 300 and {*seen.rows.classes} == {"dög", "cat"}


@pytest.mark.parametrize(
    "more, code, expected",
    [
        (("--workers", "2"), 2, "--workers belongs to --dask"),
        (("--dask", "--edges", "e.csv"), 2, "--edges does not go with --dask"),
        (("--dask", "--graph", "knn"), 2, "joined by anchors alone"),
        (("--dask", "--method", "gkm"), 2, "--method gkm does not go with --dask"),
        (("--dask", "--worker-memory", "much"), 2, "write a size like 2GB"),
        (("--dask", "--scheduler", "tcp://127.0.0.1:1", "--workers", "2"), 2, "its own workers"),
        (("--dask", "--missing", "drop"), 2, "--missing drop does not go with --dask"),
        (("--dask", "--label", "none"), 2, "none"),
    ],
)
def test_wrong_options(more, code, expected, files, tmp_path, here, capsys):
    found, said = wrong(capsys, "train", files[1], tmp_path / "m.gkm", *more)
    assert found == code and expected in said
    assert not (tmp_path / "m.gkm").exists()


def test_files_that_differ_and_values_that_fit_no_column(files, tmp_path, here, capsys):
    _, folder = files
    header, rows = table(50, seed=1)
    odd = write(folder / "9.csv", [*header[:-2], "date", "label"], rows)
    code, said = wrong(capsys, "train", folder, tmp_path / "m.gkm", "--dask", "--id", "row")
    assert code == 1 and "9.csv has other columns (date, day) than" in said
    odd.unlink()
    shutil.rmtree(folder)
    folder.mkdir()
    code, said = wrong(capsys, "train", folder, tmp_path / "m.gkm", "--dask")
    assert code == 1 and "holds no CSV and no Parquet files" in said


def test_predictions_need_a_folder_of_their_own(files, tmp_path, here, capsys):
    whole, folder = files
    model = tmp_path / "m.gkm"
    assert run("train", whole, model, "--method", "gkm", "--drop", "hue", "--id", "row") == 0
    capsys.readouterr()
    code, said = wrong(capsys, "predict", model, folder, "--dask")
    assert code == 2 and "name a folder" in said
    code, said = wrong(capsys, "predict", model, folder, "--dask", "--out", folder)
    assert code == 2 and "not empty" in said
    code, said = wrong(capsys, "predict", model, folder, "--dask", "--out", whole)
    assert code == 2 and "this is a file" in said


@pytest.mark.slow
def test_real_workers(files, tmp_path):
    _, folder = files
    model, out = tmp_path / "m.gkm", tmp_path / "said"
    own = ("--dask", "--workers", "2", "--worker-memory", "1GB")
    done = process("train", folder, model, *own, "--id", "row", *FEW)
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert "600 with 5 features, in 3 files" in done.stdout
    done = process("predict", model, f"{folder}/*.csv", *own, "--out", out)
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert len(list(out.glob("*.csv"))) == 3
    done = process("train", folder, model, "--dask", "--scheduler", "tcp://127.0.0.1:9")
    assert (
        done.returncode == 3 and "No scheduler of Dask answers at tcp://127.0.0.1:9" in done.stderr
    )


# ------------------------------------------------------------------ texts


WORDS = {
    "a": ["kitten", "puppy", "paw", "whiskers", "bark", "leash", "purring", "kennel"],
    "b": ["shares", "market", "dividend", "bonds", "broker", "profit", "interest", "stock"],
}
FILLERS = ["the", "very", "a", "quite", "some", "more", "and", "of", "with", "new"]


@pytest.fixture
def reviews(tmp_path):
    """One file of texts with numbers and few labels, and a folder with the same rows."""
    rng = np.random.default_rng(0)
    rows = []
    for i in range(240):
        kind = "ab"[i % 2]
        words = [*rng.choice(WORDS[kind], 3), *rng.choice(FILLERS, 3)]
        text = "" if i == 17 else " ".join(rng.permutation(words))
        label = kind if i % 6 < 2 else ""
        rows.append([f"r{i}", text, repr(float(rng.normal() + (kind == "b"))), label])
    header = ["row", "review", "stars", "label"]
    whole = write(tmp_path / "all.csv", header, rows)
    folder = tmp_path / "rows"
    folder.mkdir()
    for k, (start, stop) in enumerate(((0, 50), (50, 170), (170, 240))):
        write(folder / f"{k}.csv", header, rows[start:stop])
    return whole, folder, [("ab"[i % 2]) for i in range(240)]


@pytest.mark.long
@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_texts_are_encoded_in_the_parts(format, reviews, tmp_path, here, small_parts, capsys):
    """The model is that of one file with the same views; its files predict by themselves."""
    from sklearn.preprocessing import StandardScaler

    from graphkm import SemiSupervisedClassifier
    from graphkm.embed import TextEmbedder
    from graphkm.graphs import Anchors

    whole, folder, truth = reviews
    if format == "parquet":
        pa = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        to = tmp_path / "pq"
        to.mkdir()
        for path in sorted(folder.iterdir()):
            header, rows = read_predictions(path)
            columns = dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))
            columns["stars"] = [float(cell) for cell in columns["stars"]]
            columns["label"] = [cell or None for cell in columns["label"]]
            parquet.write_table(pa.table(columns), to / f"{path.stem}.parquet", row_group_size=30)
        folder = to
    model = tmp_path / "texts.gkm"
    about = ("--id", "row", "--text", "review", "--label", "label", *FEW)
    assert run("train", folder, model, "--dask", *about, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["files"] == 3 and told["parts"] > 3 and told["rows"] == 240

    fitted, note = read_model(model)
    assert sorted(fitted.views_) == ["columns", "vectors"]
    assert note.encoders["vectors"]["column"] == "review" and note.encoders["vectors"]["hash"]
    _, rows = read_predictions(whole)
    X = np.array([[row[1], float(row[2])] for row in rows], dtype=object)
    y = np.array([row[3] or None for row in rows], dtype=object)
    views = {"columns": (StandardScaler(), [1]), "vectors": (TextEmbedder(), 0)}
    local = SemiSupervisedClassifier(graph=Anchors(60), views=views, cv=3, random_state=0)
    local.fit(X, y)
    mine, other = ({m.name: m.weight for m in each.members_} for each in (fitted, local))
    # Linear members of vectors measure the spread of all rows, which here are the labelled ones.
    assert mine == pytest.approx(other, abs=0.03)

    out = tmp_path / "said"
    assert run("predict", model, folder, "--dask", "--out", out) == 0
    found = [row for path in sorted(out.glob("*.csv")) for row in read_predictions(path)[1]]
    assert [row[0] for row in found] == [row[0] for row in rows]
    right = np.mean([row[1] == kind for row, kind in zip(found, truth, strict=True)])
    assert right > 0.95
    assert run("predict", model, whole, "--out", tmp_path / "one.csv") == 0
    _, alone = read_predictions(tmp_path / "one.csv")
    assert [row[:2] for row in alone] == [row[:2] for row in found]
    scores = [np.array([float(row[2]) for row in own]) for own in (alone, found)]
    np.testing.assert_allclose(*scores, atol=1e-9)


def test_options_of_texts(reviews, capsys):
    _, folder, _ = reviews
    model = folder.parent / "m.gkm"
    code, said = wrong(capsys, "train", folder, model, "--dask", "--encoder", "auto:x")
    assert code == 2 and "--text" in said
    code, said = wrong(capsys, "train", folder, model, "--dask", "--images", "review")
    assert code == 2 and "--images does not go with --dask" in said
