"""Given graphs on the command line: the same answers as in Python, in any process."""

from __future__ import annotations

import gzip
import io
import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from cli_runner import process, read_predictions, run, wrong
from graphkm import SemiSupervisedClassifier, SemiSupervisedRegressor
from graphkm.cli.model_files import read_model
from graphkm.exchange import save_model
from graphkm.exchange.skops_files import is_skops_file
from graphkm.io.files import STDIN

pd = pytest.importorskip("pandas")

CLASSES = np.array(["art", "law", "zoo"], dtype=object)
KNOWN, NEW = 120, 30
QUICK = ("--threads", "1", "--seed", "0")


def papers(seed=0):
    """Return papers of three fields that mostly cite their own: a frame, all labels and pairs."""
    rng = np.random.default_rng(seed)
    n = KNOWN + NEW
    truth = rng.integers(0, 3, n)
    chance = np.where(truth[:, None] == truth, 0.15, 0.01)
    pairs = np.argwhere(np.triu(rng.random((n, n)) < chance, 1))
    frame = pd.DataFrame(rng.normal(size=(n, 3)) + 0.4 * np.eye(3)[truth], columns=list("abc"))
    frame.insert(1, "paper", [f"p{k:03d}" for k in range(n)])
    labels = CLASSES[truth]
    labels[np.arange(n) >= 24] = None
    return frame.assign(label=labels), CLASSES[truth], pairs


def numbers(frame):
    """Return the features in the order of memory that files have: sums depend on it."""
    return np.ascontiguousarray(frame[list("abc")].to_numpy())


def by_ids(pairs):
    names = np.array(papers()[0]["paper"])
    return pd.DataFrame({"source": names[pairs[:, 0]], "target": names[pairs[:, 1]]})


@pytest.fixture(scope="module")
def library():
    """Return a folder of files, and what the library makes of the same rows and edges."""
    frame, truth, pairs = papers()
    old = (pairs < KNOWN).all(axis=1)
    X = numbers(frame)
    scaler = StandardScaler().fit(X[:KNOWN])
    y = frame["label"].to_numpy(dtype=object)[:KNOWN]
    model = SemiSupervisedClassifier(random_state=0, unlabeled=None, n_jobs=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("graphkm.members.models._TREES", 100)  # the other process has as many
        model.fit(
            scaler.transform(X[:KNOWN]),
            y,
            affinity={"cites": by_ids(pairs[old])},
            ids=frame["paper"].to_numpy()[:KNOWN],
        )
    new = SimpleNamespace(
        X=scaler.transform(X[KNOWN:]),
        ids=frame["paper"].to_numpy()[KNOWN:],
        edges=by_ids(pairs[~old]),
        truth=truth[KNOWN:],
    )
    return SimpleNamespace(model=model, new=new)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with files, and a model that another process has trained on them."""
    place = tmp_path_factory.mktemp("edges")
    frame, truth, pairs = papers()
    old = (pairs < KNOWN).all(axis=1)
    frame[:KNOWN].to_csv(place / "papers.csv", index=False)
    frame[KNOWN:].assign(label=truth[KNOWN:]).to_csv(place / "new.csv", index=False)
    by_ids(pairs[old]).to_csv(place / "cites.csv", index=False)
    by_ids(pairs[~old]).to_csv(place / "new_cites.csv", index=False)
    done = process(
        *("train", "papers.csv", "papers.gkm", "--edges", "cites.csv", "--id", "paper", *QUICK),
        folder=place,
    )
    assert done.returncode == 0, done.stderr
    (place / "report.txt").write_text(done.stdout)
    return place


def probabilities(path, classes=CLASSES):
    header, rows = read_predictions(path)
    places = [header.index(f"probability_{name}") for name in classes]
    return np.array([[float(row[k]) for k in places] for row in rows])


# ------------------------------------------------------------------ the same as in Python


@pytest.mark.long
def test_predictions_are_those_of_the_library(folder, library):
    done = process(
        *("predict", "papers.gkm", "new.csv", "--edges", "new_cites.csv", "--proba"),
        *("--out", "p.csv"),
        folder=folder,
    )
    assert done.returncode == 0 and not done.stderr
    header, rows = read_predictions(folder / "p.csv")
    new = library.new
    assert header[:2] == ["paper", "prediction"]
    assert [row[0] for row in rows] == list(new.ids)
    expected = library.model.predict_proba(new.X, affinity=new.edges, ids=new.ids)
    np.testing.assert_allclose(probabilities(folder / "p.csv"), expected, rtol=1e-12)
    told = [row[1] for row in rows]
    assert told == list(library.model.predict(new.X, affinity=new.edges, ids=new.ids))
    assert np.mean(np.array(told) == new.truth) > 0.85


@pytest.mark.long
def test_the_file_is_read_although_a_forest_counts(folder, library):
    """A mixture on edges with a model of scikit-learn inside is a skops file."""
    assert is_skops_file(folder / "papers.gkm")
    model, note = read_model(folder / "papers.gkm")
    assert note.id == "paper" and list(note.edges) == ["cites"]
    np.testing.assert_array_equal(model[-1].transduction_, library.model.transduction_)


@pytest.mark.long
def test_without_edges_features_decide_alone(folder, library, capsys):
    out = ("--out", folder / "p.csv", "--proba")
    assert run("predict", folder / "papers.gkm", folder / "new.csv", *out) == 0
    assert "learnt from edges, and none are given here" in capsys.readouterr().err
    expected = library.model.predict_proba(library.new.X)
    np.testing.assert_allclose(probabilities(folder / "p.csv"), expected, rtol=1e-12)


def test_a_row_of_training_gets_what_the_fit_says_of_it(folder, library, capsys):
    given = ("--edges", folder / "cites.csv", "--out", folder / "p.csv", "--proba")
    assert run("predict", folder / "papers.gkm", folder / "papers.csv", *given) == 0
    assert f"{KNOWN} of {KNOWN} rows have ids of rows that the model" in capsys.readouterr().err
    expected = library.model.label_distributions_
    np.testing.assert_allclose(probabilities(folder / "p.csv"), expected, rtol=1e-6)


def test_evaluate_takes_edges(folder, library, capsys):
    new = library.new
    for given, more in ((("--edges", folder / "new_cites.csv"), True), ((), False)):
        links = {"affinity": new.edges, "ids": new.ids} if more else {}
        assert run("evaluate", folder / "papers.gkm", folder / "new.csv", *given, "--json") == 0
        told = json.loads(capsys.readouterr().out)
        assert told["accuracy"] == library.model.score(new.X, new.truth, **links)


def test_the_report_and_info_name_the_graph(folder, library, capsys):
    printed = (folder / "report.txt").read_text()
    assert run("info", folder / "papers.gkm") == 0
    for text in (printed, capsys.readouterr().out):
        assert "they call rows by the column 'paper'" in text
        assert all(member.name in text for member in library.model.members_[:10])
        assert ", cites, " in text and "the unlabelled rows and the edges" in text.lower()
    assert run("info", folder / "papers.gkm", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["edges"] == {"cites": len(pd.read_csv(folder / "cites.csv"))}


def test_suggest_goes_by_features_and_export_says_what_to_do(folder, capsys):
    assert run("suggest", folder / "papers.gkm", folder / "papers.csv", "-n", "2") == 0
    said = capsys.readouterr()
    assert len(said.out.splitlines()) == 3 and "features of rows decide alone" in said.err
    for target in ("onnx", "libsvm"):
        code, told = wrong(capsys, "export", folder / "papers.gkm", "--to", target)
        assert code == 1 and "trained with --edges" in told and "Train without --edges" in told


@pytest.mark.long
def test_several_graphs_by_row_numbers(tmp_path, capsys):
    frame, _, pairs = papers()
    old = (pairs < KNOWN).all(axis=1)
    rng = np.random.default_rng(1)
    weights = rng.random(int(old.sum())).round(3)
    frame[:KNOWN].drop(columns="paper").to_csv(tmp_path / "rows.csv", index=False)
    chance = rng.integers(0, KNOWN, size=(200, 2))
    with gzip.open(tmp_path / "c.tsv.gz", "wt") as file:
        file.writelines(f"{u}\t{v}\t{w}\n" for (u, v), w in zip(pairs[old], weights, strict=True))
    np.savetxt(tmp_path / "chance.txt", chance, fmt="%d")
    given = ("--edges", f"cites={tmp_path / 'c.tsv.gz'}", "--edges", tmp_path / "chance.txt")
    files = (tmp_path / "rows.csv", tmp_path / "m.gkm")
    assert run("train", *files, *given, *QUICK, "--scale", "none", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["edges"] == {"cites": len(weights), "chance": 200}
    X, y = numbers(frame), frame["label"].to_numpy(dtype=object)[:KNOWN]
    model = SemiSupervisedClassifier(random_state=0, unlabeled=None, n_jobs=1)
    cites = np.column_stack([pairs[old], weights])
    model.fit(X[:KNOWN], y, affinity={"cites": cites, "chance": chance})
    assert [each["name"] for each in told["members"]] == [each.name for each in model.members_]
    frame[KNOWN:].to_csv(tmp_path / "new.csv", index=False)
    links = np.array([(v - KNOWN, u) for u, v in pairs[~old] if u < KNOWN])
    np.savetxt(tmp_path / "links.csv", links, fmt="%d", delimiter=",")
    given = ("--edges", tmp_path / "links.csv", "--proba", "--out", tmp_path / "p.csv")
    assert run("predict", tmp_path / "m.gkm", tmp_path / "new.csv", *given) == 0
    expected = model.predict_proba(X[KNOWN:], affinity=links)
    np.testing.assert_allclose(probabilities(tmp_path / "p.csv"), expected, rtol=1e-12)


@pytest.mark.long
def test_quantities_along_edges(tmp_path):
    rng = np.random.default_rng(0)
    at = np.sort(rng.uniform(0, 6, 90))
    pairs = np.argwhere(np.triu(np.abs(at[:, None] - at) < 0.2, 1))
    frame = pd.DataFrame({"a": rng.normal(size=90), "b": rng.normal(size=90)})
    frame["label"] = np.where(np.arange(90) % 3 == 0, np.sin(at), np.nan)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    pd.DataFrame(pairs, columns=["source", "target"]).to_csv(tmp_path / "e.csv", index=False)
    files = (tmp_path / "rows.csv", tmp_path / "m.gkm", "--edges", tmp_path / "e.csv")
    assert run("train", *files, *QUICK, "--scale", "none") == 0
    X = frame[["a", "b"]].to_numpy()
    model = SemiSupervisedRegressor(random_state=0, unlabeled=None, n_jobs=1)
    model.fit(X, frame["label"].to_numpy(), affinity=pairs)
    (tmp_path / "new.csv").write_text("a,b\n0.5,1.5\n")
    (tmp_path / "links.csv").write_text("source,target,weight\n0,7,2\n0,8,1\n")
    given = ("--edges", tmp_path / "links.csv", "--out", tmp_path / "p.csv")
    assert run("predict", tmp_path / "m.gkm", tmp_path / "new.csv", *given) == 0
    expected = model.predict(np.array([[0.5, 1.5]]), affinity=[(0, 7, 2.0), (0, 8, 1.0)])
    assert float(read_predictions(tmp_path / "p.csv")[1][0][0]) == pytest.approx(expected[0])


# ------------------------------------------------------------------ models of Python


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Return a folder with models that were saved in Python, and how to ask them there."""
    place = tmp_path_factory.mktemp("saved")
    frame, _, pairs = papers()
    pairs = pairs[(pairs < KNOWN).all(axis=1)]
    X, y = numbers(frame)[:KNOWN], frame["label"].to_numpy(dtype=object)[:KNOWN]
    models = {}
    ids = {"numbers": None, "whole": np.arange(KNOWN) + 1000, "texts": frame["paper"][:KNOWN]}
    for name, each in ids.items():
        names = np.arange(KNOWN) if each is None else np.asarray(each)
        model = SemiSupervisedClassifier(None, random_state=0, unlabeled=None)
        edges = [(names[u], names[v]) for u, v in pairs]
        models[name] = model.fit(X, y, affinity=edges, ids=None if each is None else names)
        save_model(model, place / f"{name}.gkm")
    alone = SemiSupervisedClassifier(random_state=0, unlabeled=None)
    save_model(alone.fit(None, y, affinity=pairs), place / "alone.gkm")
    (place / "new.csv").write_text("a,b,c,id\n1,2,3,2000\n4,5,6,n7\n0,0,0,2001\n")
    return place, models


ROWS = np.array([[1.0, 2, 3], [4, 5, 6], [0, 0, 0]])


@pytest.mark.dear
@pytest.mark.parametrize(
    ("name", "edges", "pairs"),
    [
        ("numbers", "0,3\n1,4\n", [(0, 3), (1, 4)]),
        ("whole", "2000,1003\n1004,n7\n", [(0, 3), (1, 4)]),
        ("texts", "2000,p003\np004,n7\n2000,n7\np001,p002\n", [(0, 3), (1, 4)]),
    ],
)
def test_models_of_python_take_edges(saved, tmp_path, name, edges, pairs):
    place, models = saved
    (tmp_path / "e.csv").write_text(edges)
    id = ("--drop", "id") if name == "numbers" else ("--id", "id")
    given = ("--edges", tmp_path / "e.csv", *id, "--proba")
    asked = ("predict", place / f"{name}.gkm", place / "new.csv", *given)
    assert run(*asked, "--out", tmp_path / "p.csv") == 0
    expected = models["numbers"].predict_proba(ROWS, affinity=pairs)
    np.testing.assert_allclose(probabilities(tmp_path / "p.csv"), expected, rtol=1e-6)


def test_models_of_edges_alone_are_for_python(saved, tmp_path, capsys):
    (tmp_path / "e.csv").write_text("0,3\n")
    for given in ((), ("--edges", tmp_path / "e.csv")):
        place = saved[0]
        run("predict", place / "alone.gkm", place / "new.csv", *given)
        assert "learnt from edges alone" in capsys.readouterr().err


def test_rows_and_edges_from_pipes(folder, tmp_path, monkeypatch):
    files = {name: folder / f"{name}.csv" for name in ("new", "new_cites")}

    def told(rows, edges):
        out = tmp_path / "p.csv"
        assert run("predict", folder / "papers.gkm", rows, "--edges", edges, "--out", out) == 0
        return out.read_text()

    expected = told(files["new"], files["new_cites"])
    for piped in files:
        stdin = io.TextIOWrapper(io.BytesIO(files[piped].read_bytes()))
        monkeypatch.setattr(sys, "stdin", stdin)
        given = [STDIN if name == piped else path for name, path in files.items()]
        assert told(*given) == expected


# ------------------------------------------------------------------ errors


def test_the_edges_are_not_replaced(folder, capsys):
    given = ("--edges", folder / "cites.csv", "--id", "paper")
    code, said = wrong(capsys, "train", folder / "papers.csv", folder / "cites.csv", *given)
    assert code == 2 and "is an input" in said
    given = ("--edges", folder / "new_cites.csv", "--out", folder / "new_cites.csv")
    code, said = wrong(capsys, "predict", folder / "papers.gkm", folder / "new.csv", *given)
    assert code == 2 and "is an input" in said


def test_new_rows_that_cannot_be_joined(folder, saved, tmp_path, capsys):
    asked = ("predict", folder / "papers.gkm")
    edges = ("--edges", folder / "new_cites.csv")
    code, said = wrong(capsys, *asked, folder / "new.csv", *edges, "--id", "nr")
    assert code == 2 and "--id nr" in said and "has no such column" in said
    (tmp_path / "bare.csv").write_text("a,b,c\n1,2,3\n")
    code, said = wrong(capsys, *asked, tmp_path / "bare.csv", *edges)
    assert code == 2 and "--id paper" in said and "has no such column" in said
    (tmp_path / "e.csv").write_text("source,target\np130,p999\n")
    code, said = wrong(capsys, *asked, folder / "new.csv", "--edges", tmp_path / "e.csv")
    assert code == 1 and f"{tmp_path / 'e.csv'}: 1 ends of edges are no rows" in said
    assert "'p999'" in said
    place = saved[0]
    (tmp_path / "e.csv").write_text("0,p003\n")
    given = (place / "new.csv", "--edges", tmp_path / "e.csv")
    code, said = wrong(capsys, "predict", place / "texts.gkm", *given)
    assert code == 2 and "calls its rows by ids, like 'p000'" in said and "--id" in said
    frame, _, _ = papers()
    y = frame["label"].to_numpy(dtype=object)[:KNOWN]
    X = numbers(frame)[:KNOWN]
    plain = SemiSupervisedClassifier(None, random_state=0, unlabeled=None).fit(X, y)
    save_model(plain, tmp_path / "plain.gkm")
    code, said = wrong(capsys, "predict", tmp_path / "plain.gkm", *given)
    assert code == 2 and "was trained without edges" in said and "Leave --edges out" in said
