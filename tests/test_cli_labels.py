"""Several labels and several quantities of a row on the command line."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from sklearn import metrics
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cli_runner import read_predictions, run, write_parquet, wrong
from graphkm import SemiSupervisedClassifier, SemiSupervisedRegressor
from graphkm.cli.holding_out import drawn_rows
from graphkm.cli.learning_rows import read_rows
from graphkm.cli.model_files import last_step, read_model
from graphkm.cli.opening import Source
from graphkm.cli.options import LearningFileOptions, Task
from graphkm.cli.several_scores import judge_labels, judge_quantities, ranking_loss
from graphkm.exchange import save_model
from graphkm.members.ranked import Ranked
from graphkm.semi.ordered import asked_order

pytestmark = pytest.mark.usefixtures("one_model")

NAMES = ["quiet", "happy", "rare"]  # not in the order of the alphabet
FEATURES = ["a", "b", "c"]
QUICK = ("--graph", "None", "--cv", "2")  # for tests of files, whatever the members are


def songs(n=120, n_labeled=60):
    """Return rows, all labels, and labels with gaps: NaN where one is not known."""
    X = np.random.default_rng(0).normal(size=(n, 3))
    truth = np.column_stack([X[:, 0] > 0, X[:, 1] + X[:, 0] > 0.5, X[:, 2] > 0.8]).astype(float)
    y = truth.copy()
    y[n_labeled:] = np.nan
    y[:n_labeled:7, 1] = np.nan
    return X, truth, y


def quantities(X):
    """Return two quantities of rows, with gaps."""
    y = np.column_stack([2 * X[:, 0] + 1.5, X[:, 1] - X[:, 2]])
    y[60:], y[::5, 0] = np.nan, np.nan
    return y


def write(path, X, y, names=NAMES, written=("0", "1"), header=True):
    """Write rows, and a column for each label; a gap is an empty cell."""
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        if header:
            writer.writerow([*FEATURES, *names])
        for row, labels in zip(X.tolist(), y, strict=True):
            told = ["" if np.isnan(each) else _cell(each, written) for each in labels]
            writer.writerow([*map(repr, row), *told])
    return path


def _cell(value, written):
    return written[int(value)] if value in (0, 1) else repr(float(value))


def write_tags(path, X, y, separator=";", names=NAMES):
    """Write rows, and one column with the names of their labels."""
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*FEATURES, "tags"])
        for row, labels in zip(X.tolist(), y, strict=True):
            told = separator.join(name for name, has in zip(names, labels, strict=True) if has == 1)
            writer.writerow([*map(repr, row), "" if np.isnan(labels).any() else told or "-"])
    return path


def read(path, task=Task.auto, more=None, **options):
    """Return the rows of a file to learn from."""
    source = None if more is None else Source.at(str(more))
    return read_rows(Source.at(str(path)), LearningFileOptions(**options), task, source)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Return a folder with files and the model of three columns of labels."""
    folder = tmp_path_factory.mktemp("songs")
    X, truth, y = songs()
    write(folder / "songs.csv", X, y)
    write(folder / "test.csv", X, truth)
    options = ("--labels", ",".join(NAMES), "--thresholds", "f1", *QUICK)
    assert run("train", folder / "songs.csv", folder / "songs.gkm", *options) == 0
    return folder


@pytest.fixture(scope="module")
def tagged(tmp_path_factory):
    """Return a folder with files and the model of one column with names of labels."""
    folder = tmp_path_factory.mktemp("tagged")
    X, truth, y = songs()
    y[np.isnan(y).any(axis=1)] = np.nan
    write_tags(folder / "tagged.csv", X, y)
    write_tags(folder / "test.csv", X, truth)
    options = ("--label", "tags", "--separator", ";", *QUICK)
    assert run("train", folder / "tagged.csv", folder / "tagged.gkm", *options) == 0
    return folder


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Return a folder with a file of two quantities, and its model."""
    folder = tmp_path_factory.mktemp("measured")
    X, _, _ = songs()
    write(folder / "rows.csv", X, quantities(X), ["mass", "size"])
    options = ("--labels", "mass,size", *QUICK)
    assert run("train", folder / "rows.csv", folder / "rows.gkm", *options) == 0
    return folder


# ------------------------------------------------------------------ what files say


@pytest.mark.parametrize(
    "written", [("0", "1"), ("no", "yes"), ("False", "True"), ("0.0", "1.0"), ("NO", "yes")]
)
def test_labels_are_read_however_they_are_written(tmp_path, written):
    X, _, y = songs()
    rows = read(write(tmp_path / "r.csv", X, y, written=written), labels="quiet,happy,rare")
    np.testing.assert_array_equal(rows.y, y)
    np.testing.assert_array_equal(rows.X, X)
    assert rows.note.task == "classify" and rows.note.targets == NAMES and rows.note.plain
    assert rows.note.n_labeled == 60 and rows.note.columns == FEATURES


def test_columns_of_parquet_hold_labels(tmp_path):
    X, _, y = songs()
    more = {
        "quiet": [None if np.isnan(each) else bool(each) for each in y[:, 0]],
        "happy": [None if np.isnan(each) else int(each) for each in y[:, 1]],
        "rare": y[:, 2],
    }
    path = write_parquet(tmp_path / "r.parquet", X, names=FEATURES, **more)
    np.testing.assert_array_equal(read(path, labels="quiet,happy,rare").y, y)


def test_columns_without_names_are_found_by_their_numbers(tmp_path):
    X, _, y = songs()
    path = write(tmp_path / "r.csv", X, y, header=False)
    rows = read(path, labels="4,6", drop=["5"], header=False)
    np.testing.assert_array_equal(rows.y, y[:, [0, 2]])
    np.testing.assert_array_equal(rows.X, X)
    assert rows.note.targets == ["4", "6"]


def test_rows_of_another_file_know_no_label(tmp_path):
    X, truth, y = songs()
    first, more = write(tmp_path / "r.csv", X, y), write(tmp_path / "m.csv", X[:9], truth[:9])
    rows = read(first, more=more, labels="quiet,happy,rare")
    assert rows.y.shape == (129, 3) and np.isnan(rows.y[120:]).all()
    tags = read(write_tags(tmp_path / "t.csv", X, truth), more=more, label="tags", separator=";")
    assert tags.y.shape == (129, 3) and np.isnan(tags.y[120:]).all()


def test_names_in_one_column_become_labels(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('a,b,tags\n1,2,"red, blue"\n2,1,-\n3,5,\n4,4,"blue,"\n5,1,?\n')
    rows = read(path, label="tags", separator=",")
    nan = np.nan
    assert rows.note.targets == ["blue", "red"]  # as Python sorts them
    np.testing.assert_array_equal(rows.y, [[1, 1], [0, 0], [nan, nan], [1, 0], [nan, nan]])
    assert rows.note.n_labeled == 3


def test_what_columns_hold_says_whether_they_are_quantities(tmp_path):
    X, _, y = songs()
    path = write(tmp_path / "r.csv", X, quantities(X), ["mass", "size"])
    rows = read(path, labels="mass,size")
    assert rows.note.task == "regress"
    np.testing.assert_array_equal(rows.y, quantities(X))
    path = write(tmp_path / "l.csv", X, y)
    assert read(path, Task.regress, labels="quiet,rare").note.task == "regress"


def test_rows_to_test_on_keep_every_rare_label_in_training():
    _, _, y = songs()
    y[:, 2] = np.where(np.isnan(y[:, 2]), np.nan, 0.0)
    y[[3, 9], 2] = 1.0

    class Drawn:
        labeled = ~np.isnan(y).all(axis=1)

        class note:  # noqa: N801
            task, several = "classify", True

    Drawn.y = y
    out = drawn_rows(Drawn, 0.5, 0)
    assert len(np.intersect1d(out, [3, 9])) == 1
    assert Drawn.labeled[out].all() and 25 <= len(out) <= 31


# ------------------------------------------------------------------ a column for each label


def test_python_gives_the_same_model_from_a_frame(trained):
    pd = pytest.importorskip("pandas")
    X, _, y = songs()
    fitted, note = read_model(trained / "songs.gkm")
    mixture = SemiSupervisedClassifier(
        graph=None, cv=2, thresholds="f1", random_state=0, unlabeled=None
    )
    same = make_pipeline(StandardScaler(), mixture).fit(X, pd.DataFrame(y, columns=NAMES))
    assert list(fitted.classes_) == list(same.classes_) == NAMES == note.targets
    np.testing.assert_allclose(fitted.predict_proba(X), same.predict_proba(X), atol=1e-12)
    np.testing.assert_allclose(last_step(fitted).thresholds_, same[-1].thresholds_, atol=1e-12)


def test_predictions_have_a_column_for_each_label(trained):
    X, _, _ = songs()
    fitted, _ = read_model(trained / "songs.gkm")
    out = trained / "p.csv"
    assert run("predict", trained / "songs.gkm", trained / "songs.csv", "--out", out) == 0
    header, rows = read_predictions(out)
    assert header == NAMES
    np.testing.assert_array_equal(np.array(rows, dtype=int), fitted.predict(X))
    assert run("predict", trained / "songs.gkm", trained / "test.csv", "--proba", "--out", out) == 0
    header, rows = read_predictions(out)
    assert header == [*NAMES, *(f"probability_{name}" for name in NAMES)]
    np.testing.assert_allclose(np.array(rows, dtype=float)[:, 3:], fitted.predict_proba(X))


def test_evaluate_says_how_good_each_label_is(trained, capsys):
    X, truth, _ = songs()
    fitted, _ = read_model(trained / "songs.gkm")
    said, shares = fitted.predict(X), fitted.predict_proba(X)
    assert run("evaluate", trained / "songs.gkm", trained / "test.csv", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["macro_f1"] == pytest.approx(metrics.f1_score(truth, said, average="macro"))
    assert found["micro_f1"] == pytest.approx(metrics.f1_score(truth, said, average="micro"))
    assert found["all_right"] == pytest.approx(metrics.accuracy_score(truth, said))
    assert found["ranking_loss"] == pytest.approx(metrics.label_ranking_loss(truth, shares))
    assert [each["label"] for each in found["labels"]] == NAMES
    wanted = metrics.precision_recall_fscore_support(truth, said)
    for name, values in zip(("precision", "recall", "f1", "having"), wanted, strict=True):
        np.testing.assert_allclose([each[name] for each in found["labels"]], values)
    thresholds = [each["threshold"] for each in found["labels"]]
    np.testing.assert_allclose(thresholds, last_step(fitted).thresholds_)
    assert run("evaluate", trained / "songs.gkm", trained / "test.csv") == 0
    told = capsys.readouterr().out
    for word in ("macro F1", "micro F1", "all labels right", "ranking loss", "threshold", "rare"):
        assert word in told


def test_unknown_labels_do_not_count_in_the_evaluation(trained, capsys):
    assert run("evaluate", trained / "songs.gkm", trained / "songs.csv", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    _, _, y = songs()
    assert (found["rows"], found["labelled"]) == (120, 60)
    assert [each["known"] for each in found["labels"]] == (~np.isnan(y)).sum(axis=0).tolist()
    assert found["rows_with_all_labels"] == int((~np.isnan(y)).all(axis=1).sum())


def test_columns_of_labels_may_have_other_names_in_another_file(trained, capsys):
    X, truth, _ = songs()
    other = write(trained / "other.csv", X, truth, ["q", "h", "r"])
    code, said = wrong(capsys, "evaluate", trained / "songs.gkm", other)
    assert code == 1 and "no columns called quiet, happy, rare" in said and "--labels" in said
    command = ("evaluate", trained / "songs.gkm", other, "--json", "--labels")
    assert run(*command, "q,h,r") == 0
    found = json.loads(capsys.readouterr().out)
    assert [each["label"] for each in found["labels"]] == NAMES
    code, said = wrong(capsys, *command, "q,h")
    assert code == 2 and "names 2 columns, and the model has 3" in said
    code, said = wrong(capsys, "evaluate", trained / "songs.gkm", other, "--label", "q")
    assert code == 2 and "--labels" in said
    some = write(trained / "some.csv", X, truth[:, :2], NAMES[:2])
    code, said = wrong(capsys, "evaluate", trained / "songs.gkm", some)
    assert code == 1 and "lacks 1 of the 3 columns of labels: rare" in said


def test_rows_are_suggested_until_all_their_labels_are_known(trained):
    out = trained / "next.csv"
    command = ("suggest", trained / "songs.gkm", trained / "songs.csv", "-n", 200, "--out", out)
    assert run(*command) == 0
    header, rows = read_predictions(out)
    assert header == ["row", *NAMES, "uncertainty"]
    _, _, y = songs()
    assert sorted(int(row[0]) - 1 for row in rows) == np.flatnonzero(np.isnan(y).any(1)).tolist()


def test_info_shows_the_labels_and_export_refuses_them(trained, capsys):
    assert run("info", trained / "songs.gkm") == 0
    told = capsys.readouterr().out
    assert "several labels per row" in told and "quiet, happy, rare" in told
    assert "thresholds" in told and "3 columns" in told
    assert run("info", trained / "songs.gkm", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["targets"] == found["classes"] == NAMES and found["separator"] is None
    code, said = wrong(capsys, "export", trained / "songs.gkm", "--to", "onnx")
    assert code == 1 and "several columns" in said


def test_train_tells_how_many_rows_know_each_label(tmp_path, capsys):
    X, _, y = songs(80, 40)
    path = write(tmp_path / "r.csv", X, y)
    options = ("--labels", "quiet,rare", "--drop", "happy", "--holdout", "0.4", *QUICK)
    assert run("train", path, tmp_path / "m.gkm", *options) == 0
    told = capsys.readouterr().out
    assert "labels" in told and "2: quiet (" in told and "rare (" in told
    assert "held-out score" in told and "macro F1" in told and "rows held out" in told


# ------------------------------------------------------------------ names in one column


def test_names_in_one_column_are_predicted_as_such(tagged, capsys):
    X, _, _ = songs()
    fitted, note = read_model(tagged / "tagged.gkm")
    assert list(fitted.classes_) == sorted(NAMES) and note.separator == ";"
    out = tagged / "p.csv"
    assert run("predict", tagged / "tagged.gkm", tagged / "test.csv", "--proba", "--out", out) == 0
    header, rows = read_predictions(out)
    assert header == ["prediction", *(f"probability_{name}" for name in sorted(NAMES))]
    wanted = [
        ";".join(name for name, has in zip(sorted(NAMES), row, strict=True) if has) or "-"
        for row in fitted.predict(X)
    ]
    assert [row[0] for row in rows] == wanted and "-" in wanted
    # What is written can be read again, and is all right.
    answers = tagged / "answers.csv"
    with open(answers, "w", newline="") as file:
        told = zip(X.tolist(), wanted, strict=True)
        csv.writer(file).writerows([[*FEATURES, "tags"], *([*row, w] for row, w in told)])
    assert run("evaluate", tagged / "tagged.gkm", answers, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["all_right"] == 1.0 and found["rows_with_all_labels"] == 120


def test_python_gives_the_same_model_from_lists_of_names(tagged):
    X, _, y = songs()
    lists = [
        None if np.isnan(row).any() else [n for n, has in zip(NAMES, row, strict=True) if has]
        for row in y
    ]
    mixture = SemiSupervisedClassifier(graph=None, cv=2, random_state=0, unlabeled=None)
    same = make_pipeline(StandardScaler(), mixture).fit(X, lists)
    fitted, _ = read_model(tagged / "tagged.gkm")
    np.testing.assert_allclose(fitted.predict_proba(X), same.predict_proba(X), atol=1e-12)


def test_names_that_the_model_does_not_know_are_told(tagged, capsys):
    path = tagged / "strange.csv"
    path.write_text("a,b,c,tags\n0.1,0.2,0.3,quiet;loud\n1,1,1,happy\n")
    assert run("evaluate", tagged / "tagged.gkm", path) == 0
    assert "does not know these labels" in (said := capsys.readouterr().err) and "loud" in said
    code, said = wrong(capsys, "evaluate", tagged / "tagged.gkm", path, "--labels", "a,b")
    assert code == 2 and "one column of labels" in said


def test_suggestions_name_labels_as_the_column_does(tagged, capsys):
    assert run("suggest", tagged / "tagged.gkm", tagged / "tagged.csv", "-n", 3) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "row,prediction,uncertainty" and len(lines) == 4


# ------------------------------------------------------------------ quantities


def test_several_quantities_are_predicted_and_scored(measured, capsys):
    X, _, _ = songs()
    y = quantities(X)
    fitted, _ = read_model(measured / "rows.gkm")
    mixture = SemiSupervisedRegressor(graph=None, cv=2, random_state=0)
    same = make_pipeline(StandardScaler(), mixture).fit(X, y)
    np.testing.assert_allclose(fitted.predict(X), same.predict(X), atol=1e-10)
    assert run("predict", measured / "rows.gkm", measured / "rows.csv") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "mass,size" and len(lines) == 121
    assert run("evaluate", measured / "rows.gkm", measured / "rows.csv", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    for k, each in enumerate(found["targets"]):
        known = ~np.isnan(y[:, k])
        said = fitted.predict(X)[known, k]
        assert each["r2"] == pytest.approx(metrics.r2_score(y[known, k], said))
        wanted = metrics.mean_absolute_error(y[known, k], said)
        assert each["mean_absolute_error"] == pytest.approx(wanted)
    assert found["r2"] == pytest.approx(np.mean([each["r2"] for each in found["targets"]]))
    assert run("evaluate", measured / "rows.gkm", measured / "rows.csv") == 0
    assert "R^2" in (told := capsys.readouterr().out) and "mass" in told
    assert run("info", measured / "rows.gkm") == 0
    assert "several numbers per row" in capsys.readouterr().out
    assert run("suggest", measured / "rows.gkm", measured / "rows.csv", "-n", 2) == 0
    assert capsys.readouterr().out.startswith("row,mass,size,uncertainty")


# ------------------------------------------------------------------ scores


def test_scores_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    truth = (rng.uniform(size=(50, 4)) < 0.4).astype(float)
    truth[:3], truth[3:5] = 0.0, 1.0  # rows without pairs
    shares = rng.uniform(size=(50, 4)).round(1)  # with ties
    assert ranking_loss(truth, shares) == pytest.approx(metrics.label_ranking_loss(truth, shares))
    said = (shares > 0.5).astype(float)
    said[:, 3] = truth[:, 3] = 0.0  # a label that no row has
    found = judge_labels(list("abcd"), truth, said, shares, np.full(4, 0.5))
    wanted = metrics.f1_score(truth, said, average="macro", zero_division=0)
    assert found["macro_f1"] == pytest.approx(wanted)


def test_scores_of_gaps_alone_are_none():
    found = judge_quantities(["a", "b"], np.array([[1.0, np.nan]]), np.zeros((1, 2)))
    assert np.isnan(found["r2"]) and [each["known"] for each in found["targets"]] == [1, 0]
    truth, said = np.array([[1.0, np.nan]]), np.ones((1, 2))
    found = judge_labels(["a", "b"], truth, said, said, np.full(2, 0.5))
    assert np.isnan(found["all_right"]) and found["rows_with_all_labels"] == 0


# ------------------------------------------------------------------ errors and notes


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--label", "quiet", "--labels", "happy,rare"), "--label and --labels"),
        (("--labels", "quiet,happy", "--separator", ";"), "--labels and --separator"),
        (("--labels", "quiet"), "name two columns or more"),
        (("--labels", "quiet,quiet"), "quiet is named twice"),
        (("--labels", "quiet,loud"), "has no such column"),
        (("--labels", "quiet,happy", "--drop", "happy"), "happy is left out by --drop"),
        (("--labels", "quiet,4"), "comes twice"),
        (("--labels", "quiet,happy", "--method", "gkm"), "--method mixture learns several"),
        (("--labels", "quiet,happy", "--ordered", "low,high"), "--ordered is for one class"),
        (("--label", "quiet", "--thresholds", "f1"), "--thresholds is for several labels"),
        (("--label", "quiet", "--separator", ""), "--separator: it is empty"),
        (("--label", "a", "--separator", ";", "--task", "regress"), "--separator is for names"),
    ],
)
def test_options_that_do_not_go_together_are_refused(tmp_path, capsys, options, told):
    X, _, y = songs()
    path = write(tmp_path / "r.csv", X, y)
    code, said = wrong(capsys, "train", path, tmp_path / "m.gkm", *options)
    assert code == 2 and told in said


@pytest.mark.parametrize(
    ("cells", "options", "code", "told"),
    [
        ("maybe", (), 1, "line 3: 'maybe' in the column 'happy' is no label"),
        ("2", (), 2, "the column 'happy' holds 2"),
        ("0.5", ("--task", "classify"), 2, "pass --task regress"),
        ("", (), 1, "no row has a value for happy"),
    ],
)
def test_values_that_are_no_labels_are_told(tmp_path, capsys, cells, options, code, told):
    path = tmp_path / "r.csv"
    path.write_text(f"a,happy,rare\n1,{'yes' * (cells == 'maybe')},no\n2,{cells},yes\n3,,\n")
    found, said = wrong(
        capsys, "train", path, tmp_path / "m.gkm", "--labels", "happy,rare", *options
    )
    assert found == code and told in said


def test_libsvm_files_and_folders_have_one_label(tmp_path, capsys):
    (tmp_path / "r.libsvm").write_text("1 1:0.5\n2 1:0.7\n")
    code, said = wrong(
        capsys, "train", tmp_path / "r.libsvm", tmp_path / "m.gkm", "--labels", "a,b"
    )
    assert code == 2 and "LIBSVM" in said
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("hello")
    code, said = wrong(capsys, "train", tmp_path / "texts", tmp_path / "m.gkm", "--separator", ";")
    assert code == 2 and "--separator" in said and "folder" in said


def test_a_separator_that_never_occurs_is_told(tmp_path, capsys):
    X, truth, _ = songs(60)
    path = write_tags(tmp_path / "t.csv", X, np.eye(3)[truth.argmax(axis=1)])
    options = ("--label", "tags", "--separator", "|", *QUICK)
    assert run("train", path, tmp_path / "m.gkm", *options) == 0
    assert "'|' is in no cell" in capsys.readouterr().err


# ------------------------------------------------------------------ models of Python, and orders


@pytest.mark.long
def test_models_of_several_labels_that_python_saved_are_taken(tmp_path, capsys):
    pd = pytest.importorskip("pandas")
    X, truth, y = songs()
    rows = pd.DataFrame(X, columns=FEATURES)
    model = SemiSupervisedClassifier(None, random_state=0)
    model.fit(rows, pd.DataFrame(y, columns=NAMES))
    save_model(model, tmp_path / "m.gkm")
    path = write(tmp_path / "test.csv", X, truth)
    assert run("evaluate", tmp_path / "m.gkm", path, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["all_right"] == pytest.approx(metrics.accuracy_score(truth, model.predict(rows)))
    assert run("predict", tmp_path / "m.gkm", path) == 0
    assert capsys.readouterr().out.splitlines()[0] == ",".join(NAMES)


def test_classes_have_an_order(tmp_path, capsys):
    X, _, _ = songs(90)
    path = tmp_path / "r.csv"
    names = np.array(["low", "mid", "high"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    lines = [f"{row[0]},{row[1]},{name}\n" for row, name in zip(X, names, strict=True)]
    path.write_text("a,b,label\n" + "".join(lines))
    options = ("--ordered", "low,mid,high", *QUICK)
    assert run("train", path, tmp_path / "m.gkm", *options) == 0
    assert "low < mid < high" in capsys.readouterr().out
    assert last_step(read_model(tmp_path / "m.gkm")[0]).order_.tolist() == ["low", "mid", "high"]
    # The threads of this machine are in no model, however deep.
    assert run("train", path, tmp_path / "t.gkm", *options, "--threads", 2) == 0
    ranked = [
        part.model.model for part in last_step(read_model(tmp_path / "t.gkm")[0]).mixture_.parts
    ]
    inside = [each.model for each in ranked if isinstance(each, Ranked)]
    assert inside and all(each.get_params().get("n_jobs") is None for each in inside)
    code, said = wrong(capsys, "train", path, tmp_path / "n.gkm", "--ordered", "low,high", *QUICK)
    assert code and "name each of them once" in said
    code, said = wrong(capsys, "train", path, tmp_path / "n.gkm", "--ordered", "numbers", *QUICK)
    assert code == 2 and "the classes are texts" in said


def test_an_order_of_whole_numbers_fits_classes_that_are_floats():
    """Labels with a gap are floats, whatever their order is given in."""
    classes = np.array([1.0, 2.0, 3.0])
    for asked in ([3, 1, 2], ["3", "1", "2"], np.array([3.0, 1.0, 2.0])):
        assert asked_order(asked, None, classes).tolist() == [3.0, 1.0, 2.0]
    for asked in ([1, 2], [1, 2, "x"], [1, 2, 2]):
        with pytest.raises(ValueError, match="name each of them once"):
            asked_order(asked, None, classes)
    with pytest.raises(ValueError, match="name each of them once"):
        asked_order(["lower", "up"], None, np.array(["lo", "up"]))


def test_suggestions_of_several_views_weigh_all_labels():
    from graphkm.active import suggest

    X, _, y = songs()
    model = SemiSupervisedClassifier(LogisticRegression(), graph=None, random_state=0)
    views = {"all": X, "some": X[:, :2]}
    assert len(suggest(model.fit(views, y), views, 3, y=y)) == 3


@pytest.mark.long
def test_texts_have_several_labels_that_are_words():
    """Their names are no rows: the name of one label would say nothing of the others."""
    from graphkm.embed import Words

    rng = np.random.default_rng(0)
    words = {"summer": ["sun", "beach", "warm", "swim"], "winter": ["snow", "ice", "cold", "ski"]}
    other = ["trip", "day", "town", "walk", "train"]
    truth = rng.integers(0, 2, (80, 2))
    names = [[name for name, has in zip(words, row, strict=True) if has] for row in truth]
    told = [[rng.choice(words[name], 2) for name in each] for each in names]
    texts = [" ".join(np.concatenate([*some, rng.choice(other, 3)])) for some in told]
    y = [each if row < 50 else None for row, each in enumerate(names)]
    model = SemiSupervisedClassifier(LogisticRegression(), views={"w": Words()}, random_state=0)
    assert (model.fit(texts, y).predict(texts[50:]) == truth[50:]).mean() > 0.9
    assert model.classes_.tolist() == [*words]
