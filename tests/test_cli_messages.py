"""What the command line says of mistakes: what is wrong, where, and what to do."""

from __future__ import annotations

import numpy as np
import pytest

from cli_runner import run

pytestmark = pytest.mark.usefixtures("one_model")

GKM = ("--method", "gkm")


@pytest.fixture
def table(tmp_path):
    """Return a function that writes a table with features x, z and label, and returns its path."""

    def write(cells=None, header="x,z,label", name="rows.csv"):
        rng = np.random.default_rng(0)
        rows = [[f"{a:.3f}", f"{b:.3f}", str(int(a > 0))] for a, b in rng.normal(size=(60, 2))]
        for i in range(0, 60, 2):
            rows[i][2] = ""
        for (row, column), value in (cells or {}).items():
            rows[row][column] = value
        lines = [header] * bool(header) + [",".join(row) for row in rows]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
        return tmp_path / name

    return write


def told(capsys, *arguments):
    code = run(*arguments)
    return code, " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("NA", "line 9: a value is missing, in column 'z'. Fix it, or pass --missing impute"),
        ("", "line 9: a value is missing, in column 'z'. Fix it, or pass --missing impute"),
        ("inf", "line 9: the value of 'inf' is not finite, in column 'z'. Fix it"),
    ],
)
def test_a_bad_cell_has_its_column(table, capsys, tmp_path, cell, reason):
    flags = ("--missing", "error")
    code, said = told(capsys, "train", table({(7, 1): cell}), tmp_path / "m.gkm", *flags)
    assert code == 1 and reason in said


def test_without_names_columns_have_numbers(table, capsys, tmp_path):
    file = table({(7, 1): "NA"}, header="")
    flags = ("--no-header", "--missing", "error")
    code, said = told(capsys, "train", file, tmp_path / "m.gkm", *flags)
    assert code == 1 and "a value is missing, in column 2." in said


def test_delimiters_in_quotes_do_not_count(table, capsys, tmp_path):
    file = table({(7, 0): '"1,5"', (7, 1): "NA"}, header="x,z,label")
    flags = ("--drop", "x", "--missing", "error")
    code, said = told(capsys, "train", file, tmp_path / "m.gkm", *flags)
    assert code == 1 and "in column 'z'" in said


def test_a_solver_that_cannot_stream(table, capsys, tmp_path):
    code, said = told(capsys, "stream", table(), tmp_path / "m.gkm", "--solver", "newton")
    assert code == 2 and "graphkm: stream cannot use --solver newton, which needs all rows" in said
    assert said.endswith("pass --solver sums, sgd or auto.")


def test_a_graph_that_cannot_stream(table, capsys, tmp_path):
    _, said = told(capsys, "stream", table(), tmp_path / "m.gkm", "--graph", "anchors")
    assert "graphkm: --graph anchors joins nodes, not rows" in said


def test_values_too_large_to_be_scaled(table, capsys, tmp_path):
    file = table({(7, 1): "1e300"})
    code, said = told(capsys, "train", file, tmp_path / "m.gkm")
    assert code == 1 and "The column z has values as large as 1e+300" in said
    assert run("train", file, tmp_path / "m.gkm", "--scale", "maxabs") == 0


def test_the_last_column_is_always_listed(capsys, tmp_path):
    file = tmp_path / "wide.csv"
    names = [f"c{i}" for i in range(40)] + ["y"]
    file.write_text(",".join(names) + "\n" + ",".join(["1"] * 41) + "\n")
    code, said = told(capsys, "train", file, tmp_path / "m.gkm", "--label", "target")
    assert code == 2 and "the columns are c0, c1, c2, c3, c4, c5, c6, ..., y." in said


def test_a_file_without_names_for_a_model_with_names(table, capsys, tmp_path):
    assert run("train", table(), tmp_path / "m.gkm") == 0
    capsys.readouterr()
    code, said = told(capsys, "evaluate", tmp_path / "m.gkm", table(header="", name="b.csv"))
    assert code == 1 and "lacks 2 of the model's 2 columns: x, z." in said
    assert "pass --no-header" in said


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        ((*GKM, "--loss", "foo"), "one of 'hinge', 'smooth_hinge', 'logistic'."),
        ((*GKM, "--kernel", "foo"), "'laplacian', 'cosine', 'precomputed'."),
        ((*GKM, "--graph", "foo"), "one of 'knn', 'full', 'bipartite'; got 'foo'."),
        (
            ("--graph", "foo"),
            "one of 'knn', 'anchors'; got 'foo'. Other graphs belong to --method g",
        ),
        (
            ("--kernel", "rbf"),
            "has no parameter kernel. It belongs to --method gkm, lapsvm or tsvm.",
        ),
        (
            ("--method", "lapsvm", "--loss", "l1", "--cv", "3"),
            "It belongs to --method mixture or gkm",
        ),
        (
            ("--set", "tol=1"),
            "graphkm: --set tol=1: SemiSupervisedClassifier has no parameter tol.",
        ),
        (("--search",), "--search belongs to --method gkm, and the method is mixture."),
        (
            (*GKM, "--search", "--C", "3"),
            "--C: --search chooses C; leave it out, or pass --set Cs=[3]",
        ),
        (("--graph", "epsilon"), "--graph epsilon needs a distance: pass --set radius=NUMBER."),
        ((*GKM, "--C", "-1"), "C must be 'auto' or a finite number > 0, got -1."),
        ((*GKM, "--set", "tol=-1"), "tol must be a finite number > 0"),
        (("--set", "n_neighbours=5"), "Did you mean n_neighbors?"),
    ],
)
def test_a_wrong_option_is_wrong_usage(table, capsys, tmp_path, flags, reason):
    code, said = told(capsys, "train", table(), tmp_path / "m.gkm", *flags)
    assert code == 2 and reason in said


def test_a_loss_of_the_other_task(table, capsys, tmp_path):
    assert run("train", table(), tmp_path / "m.gkm", *GKM, "--task", "regress", "--loss", "l1") == 0
    code, said = told(
        capsys, "train", table(), tmp_path / "m.gkm", *GKM, "--task", "regress", "--loss", "hinge"
    )
    assert code == 2 and "--loss hinge is no regression loss" in said


def test_lists_to_search(table, capsys, tmp_path):
    search = ("train", table(), tmp_path / "m.gkm", *GKM, "--search")
    for value in ("[]", "3"):
        code, said = told(capsys, *search, "--set", f"Cs={value}")
        assert code == 2 and f"--set Cs={value}: pass a list of values" in said


def test_a_search_takes_the_parameters_of_a_graph(table, capsys, tmp_path):
    search = ("train", table(), tmp_path / "m.gkm", *GKM, "--search", "--set", "n_neighbors=5")
    code, _ = told(capsys, *search)
    assert code == 0


@pytest.mark.dear
@pytest.mark.parametrize(("trained", "tested"), [("words", "numbers"), ("numbers", "words")])
def test_labels_of_another_kind(table, capsys, tmp_path, trained, tested):
    words = {(i, 2): ("no", "yes")[i % 4 // 2] for i in range(1, 60, 2)}
    table(words, name="words.csv")
    table(name="numbers.csv")
    assert run("train", tmp_path / f"{trained}.csv", tmp_path / "m.gkm") == 0
    capsys.readouterr()
    code, said = told(capsys, "evaluate", tmp_path / "m.gkm", tmp_path / f"{tested}.csv")
    classes = "no, yes" if trained == "words" else "0, 1"
    assert code == 1 and f"The model's classes are {classes}. Is --label right?" in said
    shown = "(0, 1) is a class of the model" if tested == "numbers" else "the label 'no' is not a"
    assert shown in said


def test_a_label_that_the_model_does_not_know(table, capsys, tmp_path):
    assert run("train", table(), tmp_path / "m.gkm") == 0
    capsys.readouterr()
    code, said = told(capsys, "evaluate", tmp_path / "m.gkm", table({(1, 2): "7"}))
    assert code == 0 and "does not know these labels of" in said and ": 7." in said
