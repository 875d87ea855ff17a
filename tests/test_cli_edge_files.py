"""Files of edges and ids of rows, as the command line reads them; and what is wrong with them."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from cli_runner import write_libsvm, write_parquet, wrong
from graphkm.cli.edge_files import Calls, named_files, read_edges
from graphkm.cli.holding_out import drawn_rows, labels_hidden
from graphkm.cli.learning_rows import read_rows
from graphkm.cli.links import read_links
from graphkm.cli.opening import Source
from graphkm.cli.options import LearningFileOptions, Task
from graphkm.cli.row_ids import training_ids
from graphkm.graphs.given_edges import Ids

# ------------------------------------------------------------------ files of edges

WHOLE = Calls(None, "Advice.")
WORDS = Calls(frozenset(["007", "7", "a b"]), "Advice.")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("e.csv", "0,1,2\n1,2,0.5\n"),
        ("e.csv", "source,target,weight\n0,1,2\n1,2,0.5\n"),
        ("e.csv", "weight,kind,target,source,year\n2,x,1,0,1999\n0.5,y,2,1,2001\n"),
        ("e.csv", "from,to,strength\n0,1,2\n1,2,0.5\n"),
        ("e.csv", ",source,target,strength\n7,0,1,2\n8,1,2,0.5\n"),
        ("e.csv", "0.0,1.0,2\n1.0,2.0,0.5\n"),
        ("e.tsv", "0\t1\t2\n1\t2\t0.5\n"),
        ("e.txt", "0 1 2\n1 2 0.5\n"),
        ("e.csv", '"0";"1";"2"\n"1";"2";"0.5"\n'),
    ],
)
def test_tables_of_edges(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    found = read_edges(str(tmp_path / name), WHOLE)
    np.testing.assert_array_equal(found.edge_index, [[0, 1], [1, 2]])
    np.testing.assert_array_equal(found.edge_weight, [2.0, 0.5])


def test_parquet_of_edges(tmp_path):
    ends = np.array([[0, 1], [1, 2]])
    write_parquet(tmp_path / "e.parquet", ends, names=("source", "target"), weight=[2.0, 0.5])
    write_parquet(tmp_path / "t.parquet", ends.astype(str).astype(object), names=("u", "v"))
    found = read_edges(str(tmp_path / "e.parquet"), WHOLE)
    np.testing.assert_array_equal(found.edge_index, ends.T)
    np.testing.assert_array_equal(found.edge_weight, [2.0, 0.5])
    for calls, expected in ((WHOLE, ends.T), (Calls(frozenset("012"), ""), ends.T.astype(str))):
        found = read_edges(str(tmp_path / "t.parquet"), calls)
        np.testing.assert_array_equal(found.edge_index.astype(expected.dtype), expected)


@pytest.mark.parametrize("header", ["", "a,b\n", "source,target\n"])
def test_a_first_line_without_any_id_holds_names(tmp_path, header):
    (tmp_path / "e.csv").write_text(f"{header}007,7\na b,007\n")
    found = read_edges(str(tmp_path / "e.csv"), WORDS)
    assert found.edge_index.tolist() == [["007", "a b"], ["7", "007"]]
    (tmp_path / "e.csv").write_text("7,x\n7,007\n")  # x is an unknown id, and no name
    assert read_edges(str(tmp_path / "e.csv"), WORDS).edge_index.shape == (2, 2)


def test_names_of_graphs(tmp_path):
    strange = tmp_path / "a=b.csv"
    strange.write_text("0,1\n")
    assert named_files([str(strange), "x=-"], "rows.csv") == {"a=b": str(strange), "x": "-"}


def rows_with(tmp_path, ids, name="rows.csv"):
    lines = [f"{each},{k},{k % 3},{'uv'[k % 2]}\n" for k, each in enumerate(ids)]
    (tmp_path / name).write_text("id,a,b,label\n" + "".join(lines))
    return Source.at(str(tmp_path / name))


@pytest.mark.parametrize(
    ("ids", "kind"),
    [(["7", "8", "10"], "i"), (["007", "8", "10"], "U"), (["7", "x", "9"], "U")],
)
def test_ids_are_numbers_only_if_all_of_them_are(tmp_path, ids, kind):
    options = LearningFileOptions(id="id")
    source, more = rows_with(tmp_path, ids), rows_with(tmp_path, ["11", "12"], "more.csv")
    rows = read_rows(source, options, Task.auto, more)
    found = training_ids(source, more, options, rows.note)
    assert found.dtype.kind == kind and found.astype(str).tolist() == [*ids, "11", "12"]
    assert len(rows.y) == len(found)


def test_texts_and_numbers_stay_what_they_are_in_new_files(tmp_path):
    (tmp_path / "e.csv").write_text("n1,007\n7,n2\n")
    for names, expected in (
        (["007", "7"], [[1, 0], [0, 1]]),
        ([7, 8], None),  # 007 is no whole number as files have it, beside ids that are texts
    ):
        known = SimpleNamespace(linked=SimpleNamespace(ids=Ids(2, names)))
        asked = {"e": str(tmp_path / "e.csv")}, SimpleNamespace(mixture_=known), 2
        if expected is None:
            with pytest.raises(ValueError, match="the first is '007'"):
                read_links(*asked, ["n1", "n2"], "id")
        else:
            links = read_links(*asked, ["n1", "n2"], "id")
            np.testing.assert_array_equal(links.weights["e"].toarray(), expected)


def test_held_out_rows_stay_in_the_graph(tmp_path):
    rows = read_rows(rows_with(tmp_path, range(20)), LearningFileOptions(id="id"), Task.auto)
    places = drawn_rows(rows, 0.2, 0)
    hidden, held_out = labels_hidden(rows, places)
    assert hidden.X is rows.X and hidden.note.n_labeled == 20 - len(places)
    assert not hidden.labeled[places].any() and rows.labeled.all()
    answers = np.arange(20)
    told = held_out.answers(SimpleNamespace(transduction_=answers), "predict")
    np.testing.assert_array_equal(told, answers[places])
    np.testing.assert_array_equal(held_out.y, rows.y[places])


# ------------------------------------------------------------------ errors


@pytest.fixture
def train(tmp_path):
    """Return the first words of a command, with edges as its last one."""
    rows_with(tmp_path, [f"p{k}" for k in range(30)])
    (tmp_path / "cites.csv").write_text("source,target\np1,p2\n")
    return "train", tmp_path / "rows.csv", tmp_path / "m.gkm", "--edges", tmp_path / "cites.csv"


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        (
            "source,target\np1,p99\n",
            "cites.csv: 1 ends of edges are no rows, the first is 'p99'; ids of rows are 'p0', "
            "'p1', 'p2', .... Leave these edges out, or pass the ids of the rows as --id",
        ),
        (
            "p1,p2,1,2,3\n",
            "cites.csv has 5 columns (p1, p2, 1, 2, 3); name two columns source and target (and "
            "one weight), or keep two or three columns.",
        ),
        ("source\np1\n", "cites.csv has 1 column (source); name two columns source"),
        ("", "cites.csv is empty."),
        ("source,target\n", "cites.csv holds no edges."),
        (
            "source,target,weight\np1,p2,-1\n",
            "cites.csv: 1 weights of edges are negative; the first is -1.0, from 'p1' to 'p2'.",
        ),
        (
            "source,target,weight\np1,p2,far\n",
            "cites.csv, line 2: the value of 'far' is not a number. Edges have the ids of the "
            "column 'id', like 'p0'.",
        ),
        ("source,target,weight\np1,p2,\n", "cites.csv, line 2: a value is missing."),
        (
            "source,target\np1,p2\np1,p2,p3\n",
            "cites.csv, line 3: there are 3 fields where 2 are expected",
        ),
        ("source,target\np1,p1\n", "cites.csv joins no row to another one"),
    ],
)
def test_what_is_wrong_with_edges_is_named(train, tmp_path, capsys, edges, message):
    (tmp_path / "cites.csv").write_text(edges)
    code, said = wrong(capsys, *train, "--id", "id")
    assert code == 1 and message in said, said
    assert not (tmp_path / "m.gkm").exists()


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ("0,1\n3,30\n", "the first is 30; rows have the numbers 0 to 29"),
        ("0,1\n3,0.5\n", "an edge ends at 0.5, which is no whole number. Edges have the numbers"),
        ("0,1\n3,p7\n", "cites.csv, line 2: the value of 'p7' is not a number"),
        ("p1,p2\np2,p3\n", "cites.csv, line 2: the value of 'p2' is not a number"),
        ("0,1\n,3\n", "unless --id names their column."),
    ],
)
def test_row_numbers_that_are_none(train, tmp_path, capsys, edges, message):
    (tmp_path / "cites.csv").write_text(edges)
    code, said = wrong(capsys, *train, "--drop", "id")
    assert code == 1 and message in said, said


@pytest.mark.parametrize(
    ("more", "code", "message"),
    [
        ("--id nr", 2, "rows.csv has no such column; the columns are id, a, b, label."),
        ("--id b", 1, "rows.csv: the rows 1 and 4 have the id '0' in the column 'b'"),
        ("--id id --method gkm", 2, "--edges belongs to --method mixture, and the method is gkm"),
        ("--id id --method tsvm", 2, "the method is tsvm"),
        ("--id id --skip-bad-rows", 2, "--skip-bad-rows leaves rows out"),
        ("--id id --missing drop", 2, "--missing drop leaves rows out"),
        ("--id id --edges none.csv", 3, "none.csv: no such file or directory."),
        ("--id id --edges cites=other.csv", 2, "cites is another graph; write --edges NAME=FILE."),
        ("--id id --edges all=other.csv", 2, "all stands for all graphs at once"),
        ("--id id --edges x=", 2, "--edges x=: write --edges FILE or --edges NAME=FILE."),
        ("--edges - --unlabeled-data -", 2, "standard input, which can be read only once"),
    ],
)
def test_options_that_do_not_go_together(train, capsys, more, code, message):
    found, said = wrong(capsys, *train, *more.split())
    assert found == code and message in said, said


def test_rows_without_an_id_are_named(train, tmp_path, capsys):
    rows_with(tmp_path, ["x", "", "z"])
    _, said = wrong(capsys, *train, "--id", "id")
    assert "rows.csv: row 2 has no id in the column 'id'" in said
    rng = np.random.default_rng(0)
    write_libsvm(tmp_path / "rows.svm", rng.normal(size=(20, 3)), np.arange(20) % 2)
    given = ("train", tmp_path / "rows.svm", *train[2:], "--id", "id")
    code, said = wrong(capsys, *given)
    assert code == 2 and "--id id" in said and "Leave --id out" in said


def test_libsvm_has_no_edges(train, tmp_path, capsys):
    (tmp_path / "e.svm").write_text("1 1:2 3:4\n")
    _, said = wrong(capsys, *train[:-1], tmp_path / "e.svm", "--id", "id")
    assert "e.svm looks like LIBSVM, which has no edges" in said
