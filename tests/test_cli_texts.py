"""Texts, pictures and folders on the command line: train, predict, evaluate, suggest, info."""

from __future__ import annotations

import csv
import gzip
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from cli_runner import read_predictions, run, wrong
from graphkm import SemiSupervisedClassifier
from graphkm.cli.model_files import read_model
from graphkm.embed import TextEmbedder, Words
from graphkm.exchange import save_model

pytest.importorskip("tokenizers")
Image = pytest.importorskip("PIL.Image")

pytestmark = pytest.mark.usefixtures("one_model")

GOOD = ("I love this phone", "the screen is great", "very happy with it", "best buy of the year")
BAD = ("it broke after a week", "a terrible battery", "I want my money back", "slow and useless")
ODD = {
    1: 'two lines,\nand a "quote"',
    2: "",
    3: "👍 מצוין",
    4: "great " * 200_000,
}


def reviews(n=40):
    """Return rows: an id, a text, a number, a category, and a label for the first 16."""
    rows = []
    for k in range(n):
        side = (GOOD, BAD)[k % 2]
        text = ODD.get(k, f"{side[k % 4]}, {side[k // 4 % 4]} ({k})")
        label = ("good", "bad")[k % 2] if k < 16 else ""
        rows.append([f"r{k}", text, f"{(5, 1)[k % 2] + k % 3}", ("shop", "web")[k // 2 % 2], label])
    return rows


def write(path, rows, header=("id", "review", "stars", "place", "label")):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def picture(path, upright, seed):
    path.parent.mkdir(parents=True, exist_ok=True)
    grey = np.random.default_rng(seed).integers(0, 60, (16, 16), dtype=np.uint8)
    grey[(slice(None), slice(8, None)) if upright else (slice(8, None), slice(None))] += 150
    Image.fromarray(grey).save(path)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Return a folder with tables, folders and models of them."""
    folder = tmp_path_factory.mktemp("texts")
    rows = reviews()
    write(folder / "texts.csv", rows)
    for name, text, _, _, label in rows:
        path = folder / "notes" / (label or "unlabelled") / f"{name}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for k in range(24):
        sort = ("flat", "upright")[k % 2] if k < 12 else "unknown"
        picture(folder / "photos" / sort / f"{k:02}.png", k % 2, k)
    (folder / "photos" / "flat" / "broken.png").write_bytes(b"no picture")
    (folder / "photos" / "unknown" / "none.jpg").write_bytes(b"")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        columns = ("--drop", "id", "--drop", "stars", "--drop", "place")
        assert run("train", "texts.csv", "mixed.gkm", "--text", "review", "--id", "id") == 0
        assert run("train", "texts.csv", "texts.gkm", "--text", "review", *columns) == 0
        assert run("train", "notes", "notes.gkm") == 0
        assert run("train", "photos", "photos.gkm") == 0
        yield folder


def predicted(place, *arguments):
    assert run("predict", *arguments, "--out", place / "out.csv") == 0
    return read_predictions(place / "out.csv")


# ---------------------------------------------------------------- texts in a table


@pytest.mark.long
def test_the_summary_tells_columns_and_encoders(place, capsys):
    assert run("train", "texts.csv", "again.gkm", "--text", "review", "--id", "id") == 0
    told = capsys.readouterr().out
    assert "columns          1 text (review), 1 number, 1 category (place)" in told
    assert "texts            review, by wordllama l2_supercat 256 (hash " in told
    assert "and words and pieces of words" in told
    assert (place / "again.gkm").read_bytes() == (place / "mixed.gkm").read_bytes()


@pytest.mark.long
def test_json_has_the_encoders(place, capsys):
    assert run("train", "texts.csv", "again.gkm", "--text", "review", "--id", "id", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["kinds"] == {"review": "text", "stars": "number", "place": "word"}
    vectors, words = told["encoders"]["vectors"], told["encoders"]["words"]
    assert vectors["model"] == "wordllama l2_supercat 256" and len(vectors["hash"]) == 64
    assert words == {"model": "words and pieces of words", "hash": None, "column": "review"}
    assert told["missing_values"] == 0  # an empty text is not filled in


@pytest.mark.long
def test_a_column_of_texts_that_is_left_out_says_how_to_use_it(place, capsys):
    assert run("train", "texts.csv", "plain.gkm", "--id", "id") == 0
    told = capsys.readouterr().out
    assert "to learn from texts, pass --text review" in told
    assert read_model(place / "plain.gkm")[1].left_out == {
        "review": "39 different texts in 39 rows"
    }


def test_predictions_of_a_table(place):
    header, rows = predicted(place, "mixed.gkm", "texts.csv", "--proba")
    assert header == ["id", "prediction", "decision", "probability_bad", "probability_good"]
    assert [row[0] for row in rows] == [f"r{k}" for k in range(40)]
    model, note = read_model(place / "mixed.gkm")
    assert note.columns == ["review", "stars", "place"] and note.kinds == ["text", "number", "word"]
    X = np.empty((40, 3), dtype=object)
    for k, (_, text, stars, where, _) in enumerate(reviews()):
        X[k] = text, float(stars), where
    assert [row[1] for row in rows] == model.predict(X).tolist()
    assert [float(row[4]) for row in rows] == model.predict_proba(X)[:, 1].tolist()


@pytest.mark.long
def test_columns_in_another_order_and_a_category_that_is_new(place, capsys):
    rows = [[where, text, "x", stars] for _, text, stars, where, _ in reviews(6)]
    rows[0][0] = "market"
    write(place / "new.csv", rows, ("place", "review", "colour", "stars"))
    _, found = predicted(place, "mixed.gkm", "new.csv")
    assert "place in 1 of 6 rows ('market')" in capsys.readouterr().err
    _, before = predicted(place, "mixed.gkm", "texts.csv")
    assert [row[-1] for row in found[1:]] == [row[-1] for row in before[1:6]]


@pytest.mark.long
def test_compressed_files_pipes_and_parquet(place, monkeypatch):
    _, wanted = predicted(place, "texts.gkm", "texts.csv")
    (place / "texts.csv.gz").write_bytes(gzip.compress((place / "texts.csv").read_bytes()))
    assert predicted(place, "texts.gkm", "texts.csv.gz")[1] == wanted
    with (place / "texts.csv").open() as file:
        monkeypatch.setattr(sys, "stdin", file)
        assert predicted(place, "texts.gkm", "-")[1] == wanted
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table({"review": [row[1] for row in reviews()]}), place / "t.parquet")
    assert predicted(place, "texts.gkm", "t.parquet")[1] == wanted


@pytest.mark.long
def test_predictions_in_chunks_are_the_same(place, monkeypatch):
    _, wanted = predicted(place, "mixed.gkm", "texts.csv")
    monkeypatch.setattr("graphkm.cli.prediction_rows.CHUNK", 7)
    _, found = predicted(place, "mixed.gkm", "texts.csv")
    assert [row[:2] for row in found] == [row[:2] for row in wanted]
    np.testing.assert_allclose([float(r[2]) for r in found], [float(r[2]) for r in wanted])


@pytest.mark.long
def test_more_unlabelled_texts_and_rows_held_out(place, capsys):
    write(place / "few.csv", reviews()[:16])
    write(
        place / "more.csv", [row[:4] for row in reviews()[16:]], ("id", "review", "stars", "place")
    )
    flags = ("--text", "review", "--id", "id", "--unlabeled-data", "more.csv", "--json")
    assert run("train", "few.csv", "few.gkm", *flags) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == 40
    assert run("train", "few.csv", "held.gkm", *flags, "--holdout", "0.25") == 0
    assert json.loads(capsys.readouterr().out)["held_out"]["rows"] == 4


@pytest.mark.long
def test_a_label_before_the_texts_is_found(place, capsys):
    rows = [[label, text] for _, text, _, _, label in reviews()]
    write(place / "turned.csv", rows, ("kind", "review"))
    assert run("train", "turned.csv", "turned.gkm", "--text", "review", "--json") == 0
    assert json.loads(capsys.readouterr().out)["label"] == "kind"


@pytest.mark.long
def test_quantities_of_texts(place, capsys):
    rows = [[text, "" if k > 20 else len(text) + 0.5] for k, (_, text, *_) in enumerate(reviews())]
    write(place / "lengths.csv", rows, ("review", "label"))
    assert run("train", "lengths.csv", "lengths.gkm", "--text", "review", "--json") == 0
    assert json.loads(capsys.readouterr().out)["task"] == "regress"
    header, found = predicted(place, "lengths.gkm", "notes")
    assert header == ["file", "prediction"] and len(found) == 39


@pytest.mark.long
def test_edges_beside_texts(place, capsys):
    pairs = [f"r{k},r{k + 2}" for k in range(38)]
    (place / "edges.csv").write_text("\n".join(["source,target", *pairs]) + "\n")
    flags = ("--text", "review", "--id", "id", "--edges", "edges.csv")
    assert run("train", "texts.csv", "edges.gkm", *flags) == 0
    assert len(predicted(place, "edges.gkm", "texts.csv", "--edges", "edges.csv")[1]) == 40


def test_evaluate_and_suggest(place, capsys):
    assert run("evaluate", "mixed.gkm", "texts.csv", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["labelled"] == 16 and told["accuracy"] > 0.8
    assert run("suggest", "mixed.gkm", "texts.csv", "-n", "3") == 0
    header, *rows = csv.reader(capsys.readouterr().out.splitlines())
    assert header == ["row", "prediction", "uncertainty"]
    assert all(16 < int(row[0]) <= 40 for row in rows) and len(rows) == 3


def test_info_tells_the_encoders(place, capsys):
    assert run("info", "texts.gkm") == 0
    assert "texts            review, by wordllama l2_supercat 256 (hash" in capsys.readouterr().out
    assert run("info", "texts.gkm", "--json") == 0
    assert json.loads(capsys.readouterr().out)["encoders"]["vectors"]["hash"]


@pytest.mark.long
def test_a_model_by_its_file(place, monkeypatch, capsys):
    pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    from tiny_models import text_model

    text_model(place / "tiny")
    flags = ("--text", "review", "--drop", "id", "--encoder", "tiny")
    assert run("train", "texts.csv", "tiny.gkm", *flags, "--json") == 0
    told = json.loads(capsys.readouterr().out)["encoders"]["vectors"]
    assert told["model"].startswith("onnx") and told["hash"]
    _, wanted = predicted(place, "tiny.gkm", "texts.csv")
    (place / "elsewhere").mkdir()
    monkeypatch.chdir(place / "elsewhere")  # the model is found from any folder
    assert predicted(place, "../tiny.gkm", "../texts.csv")[1] == wanted
    text_model(place / "tiny", pooled=True)
    code, said = wrong(capsys, "predict", "../tiny.gkm", "../texts.csv")
    assert code == 1 and told["hash"][:12] in said and "Bring the same model" in said


# ---------------------------------------------------------------- folders


@pytest.mark.long
def test_a_folder_of_texts(place, capsys):
    assert run("train", "notes", "again.gkm") == 0
    printed = capsys.readouterr()
    assert "note: Left out, because they hold no text: good/r2.txt." in printed.err
    assert "rows             39 texts" in printed.out
    assert "label            the sub-folders" in printed.out
    assert "texts            by wordllama" in printed.out
    assert "labelled         15 (38.5 %)" in printed.out


@pytest.mark.dear
@pytest.mark.parametrize("model", ["notes.gkm", "texts.gkm"])
def test_a_folder_of_texts_is_predicted(place, model, capsys):
    header, rows = predicted(place, model, "notes")
    assert "good/r2.txt" in capsys.readouterr().err
    assert header == ["file", "prediction", "decision"]
    assert rows[0][0] == "bad/r1.txt" and len(rows) == 39
    assert run("evaluate", model, "notes", "--json") == 0
    assert json.loads(capsys.readouterr().out)["labelled"] == 15
    assert run("suggest", model, "notes", "-n", "2") == 0
    header, *rows = csv.reader(capsys.readouterr().out.splitlines())
    assert header[0] == "file" and all(row[0].startswith("unlabelled/") for row in rows)


def test_a_model_of_a_folder_predicts_a_table(place):
    write(place / "other.csv", [[row[1]] for row in reviews(5)], ("text",))
    header, rows = predicted(place, "notes.gkm", "other.csv")
    assert header == ["prediction", "decision"] and len(rows) == 5


def test_pictures(place, capsys):
    header, rows = predicted(place, "photos.gkm", "photos")
    said = capsys.readouterr().err
    assert "cannot be read as pictures: flat/broken.png, unknown/none.jpg." in said
    assert header[0] == "file" and len(rows) == 24
    assert {row[0]: row[1] for row in rows}["unknown/13.png"] == "upright"
    assert run("info", "photos.gkm") == 0
    told = capsys.readouterr().out
    assert "24 rows, 12 of them labelled (a folder)" in told
    assert "images           by pixels 28 (hash" in told
    assert run("train", "photos", "x.gkm", "--unlabeled-data", "photos/unknown", "--json") == 0
    assert json.loads(capsys.readouterr().out)["rows"] == 36


@pytest.mark.long
def test_a_column_of_pictures(place, capsys):
    names = sorted(path.relative_to(place) for path in place.glob("photos/*/[0-9]*.png"))
    rows = [[str(n), k, n.parent.name.replace("unknown", "")] for k, n in enumerate(names)]
    write(place / "pictures.csv", rows, ("photo", "size", "label"))
    assert run("train", "pictures.csv", "pictures.gkm", "--images", "photo") == 0
    told = capsys.readouterr().out
    assert "columns          1 image (photo), 1 number" in told
    assert "images           photo, by pixels 28 (hash" in told
    (place / "sub").mkdir()
    write(place / "sub" / "far.csv", [[f"../{n}", k] for n, k, _ in rows], ("photo", "size"))
    _, near = predicted(place, "pictures.gkm", "pictures.csv")
    assert predicted(place, "pictures.gkm", "sub/far.csv")[1] == near  # seen from the table
    write(
        place / "broken.csv", [*rows, ["photos/flat/broken.png", 3, ""]], ("photo", "size", "label")
    )
    code, said = wrong(capsys, "predict", "pictures.gkm", "broken.csv")
    assert code == 1 and "line 26" in said and "broken.png cannot be read as a picture" in said
    flags = ("--images", "photo", "--skip-bad-rows", "--json")
    assert run("train", "broken.csv", "x.gkm", *flags) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == 24


# ---------------------------------------------------------------- wrong use


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("texts.csv x.gkm --text review --method gkm", "only the mixture from texts"),
        ("photos x.gkm --method lapsvm", "photos: --method lapsvm learns from numbers"),
        ("texts.csv x.gkm --encoder tiny", "pass --text or --images"),
        ("texts.csv x.gkm --text review --images review", "name the same column, review"),
        ("texts.csv x.gkm --text nothing", "has no such column; the columns are id, review"),
        ("texts.csv x.gkm --text review --label review", "'review' is the label, or is left out"),
        ("photos x.gkm --label kind", "photos is a folder, whose rows have no columns"),
        ("photos x.gkm --text review", "photos is a folder, whose rows have no columns"),
        ("photos x.gkm --edges texts.csv", "photos is a folder; edges join the rows of a table"),
        ("photos x.gkm --task regress", "the sub-folders of photos are classes"),
        ("photos/flat x.gkm", "none of its 6 files has a label. Put some of every class into"),
        ("photos x.gkm --unlabeled-data texts.csv", "texts.csv is no folder"),
        ("photos x.gkm --unlabeled-data notes", "photos holds images, and notes holds texts"),
        ("texts.csv x.gkm --text review --encoder ./no.onnx", "There is no folder or file no.onnx"),
    ],
)
def test_wrong_use_is_told(place, capsys, arguments, said):
    assert run("train", *arguments.split()) in (1, 2)
    last = capsys.readouterr().err.splitlines()[-1]
    assert said in last


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("photos.gkm notes", "notes holds texts, and the model has learnt from images"),
        ("mixed.gkm notes", "the model has learnt from columns of a table: review, stars, place"),
        ("notes.gkm texts.csv", "lacks 1 of the model's 1 columns: text"),
        ("notes.gkm notes --keep id", "--keep id: notes is a folder"),
    ],
)
def test_rows_that_a_model_does_not_know(place, capsys, arguments, said):
    assert run("predict", *arguments.split()) in (1, 2)
    assert said in capsys.readouterr().err.splitlines()[-1]


def test_a_libsvm_file_has_no_texts(tmp_path, capsys):
    (tmp_path / "rows.svm").write_text("1 1:2\n2 1:3\n")
    code, said = wrong(capsys, "train", tmp_path / "rows.svm", tmp_path / "x", "--text", "review")
    assert code == 2 and "features of LIBSVM files are numbers" in said


def test_missing_extras_are_named(place, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "wordllama", None)
    for arguments in (("train", "texts.csv", "x.gkm", "--text", "review"),
                      ("predict", "texts.gkm", "texts.csv")):  # fmt: skip
        assert run(*arguments) == 1
        assert 'pip install "graphkm[text]"' in capsys.readouterr().err
    assert run("info", "texts.gkm") == 0


def test_a_table_of_texts_alone_has_no_label(tmp_path, capsys):
    write(tmp_path / "only.csv", [["a text"], ["another"]], ("review",))
    code, said = wrong(capsys, "train", tmp_path / "only.csv", tmp_path / "x", "--text", "review")
    assert code == 1 and "no column is left for the label beside review" in said


def test_export_refuses_several_views(place, capsys):
    pytest.importorskip("onnx")
    code, said = wrong(capsys, "export", "texts.gkm", "--to", "onnx", "--out", "x.onnx")
    assert code == 1 and "several views (vectors, words)" in said


# ---------------------------------------------------------------- models saved on the page


@pytest.mark.long
@pytest.mark.parametrize("given", ["texts.csv", "notes", "photos"])
def test_a_model_saved_on_the_page_predicts_what_it_was_made_of(place, given, capsys):
    pytest.importorskip("starlette")
    from graphkm.app.reading import read_material
    from graphkm.cli.label_saving import saver
    from graphkm.cli.options import TableOptions

    column = {"text": "review", "id": "id"} if given == "texts.csv" else {}
    rows = read_material(place / given, **column)
    labels = {k: ("good", "bad")[k % 2] for k in range(12)}
    files = TableOptions(id="id") if column else TableOptions()
    kind = {"regression": False, "several": False}
    said = saver(rows, files, place / "page.gkm", **kind)(labels)
    assert "holds a model of 12 labels" in said
    header, found = predicted(place, "page.gkm", given)
    assert header[:2] == ["id" if column else "file", "prediction"]
    model, note = read_model(place / "page.gkm")
    assert [row[1] for row in found] == model.predict(rows.X).tolist()
    assert set(note.kinds) & {"text", "image"} and note.encoders


# ---------------------------------------------------------------- models saved in Python


@pytest.mark.long
def test_a_model_of_texts_from_python(place, capsys):
    texts, labels = [row[1] for row in reviews()], [row[4] for row in reviews()]
    model = SemiSupervisedClassifier(unlabeled="", random_state=0).fit(texts, labels)
    save_model(model, place / "python.gkm")
    write(place / "column.csv", [[text] for text in texts], ("anything",))
    _, rows = predicted(place, "python.gkm", "column.csv")
    assert [row[0] for row in rows] == model.predict(texts).tolist()
    assert len(predicted(place, "python.gkm", "notes")[1]) == 39


@pytest.mark.long
def test_a_model_of_other_views_from_python_is_refused(place, capsys):
    X = np.empty((40, 2), dtype=object)
    X[:, 0], X[:, 1] = [row[1] for row in reviews()], np.arange(40.0)
    views = {"words": (Words(), 0), "vectors": (TextEmbedder(), 0), "rows": (None, [1])}
    model = SemiSupervisedClassifier(views=views, unlabeled="")
    save_model(model.fit(X, [row[4] for row in reviews()]), place / "views.gkm")
    code, said = wrong(capsys, "predict", "views.gkm", "texts.csv")
    assert code == 2 and "saved in Python" in said and "Ask it in Python" in said
    assert run("info", "views.gkm") == 0


@pytest.mark.long
def test_the_usual_members_are_kept_with_their_encoders(tmp_path, capsys, all_models):
    pytest.importorskip("skops")
    write(tmp_path / "texts.csv", reviews())
    flags = ("--text", "review", "--id", "id")
    assert run("train", tmp_path / "texts.csv", tmp_path / "m.gkm", *flags) == 0
    assert Path(tmp_path / "m.gkm").read_bytes()[:2] == b"PK"
    _, rows = predicted(tmp_path, tmp_path / "m.gkm", tmp_path / "texts.csv")
    assert len(rows) == 40
