"""Tables as people have them, on the command line: against pandas and scikit-learn."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from cli_runner import process, read_predictions
from cli_runner import run_machine as run
from graphkm import GKMClassifier, SemiSupervisedClassifier
from graphkm.cli.model_files import read_model
from graphkm.exchange import load_model, save_model

pd = pytest.importorskip("pandas")

pytestmark = pytest.mark.usefixtures("one_model")
N = 120


def shop(n=N, seed=0):
    """Return a frame with numbers, gaps, categories, a date and an identifier; and all labels."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "id": np.arange(1000, 1000 + n),
            "name": [f"thing {k}" for k in range(n)],
            "size": rng.normal(10, 3, n).round(2),
            "colour": rng.choice(["red", "green", "blue"], n),
            "price": rng.gamma(2, 50, n).round(1),
            "sold": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n), "D"),
        }
    ).astype({"colour": object, "name": object})
    truth = np.where(frame["size"] + 4 * (frame["colour"] == "red") > 11, "good", "bad")
    frame.loc[rng.random(n) < 0.1, "size"] = np.nan
    frame.loc[rng.random(n) < 0.1, "colour"] = np.nan
    label = pd.Series(np.where(np.arange(n) % 3 == 0, truth, None), dtype=object)
    return frame.assign(label=label), truth


@pytest.fixture
def folder(tmp_path):
    frame, _ = shop()
    frame.to_csv(tmp_path / "shop.csv", index=False)
    return tmp_path


def summary(capsys, *arguments):
    assert run(*arguments, "--json") == 0
    return json.loads(capsys.readouterr().out.splitlines()[-1])


def decisions(path):
    header, rows = read_predictions(path)
    return np.array([float(row[header.index("decision")]) for row in rows])


FLAGS = ("--id", "id", "--seed", "0")
GKM = ("--method", "gkm")
SEARCH = (*GKM, "--search")


@pytest.mark.long
@pytest.mark.parametrize(
    ("more", "estimator"),
    [
        (GKM, GKMClassifier(random_state=0, unlabeled=None)),
        (
            ("--threads", "1", "--method", "mixture"),
            SemiSupervisedClassifier(random_state=0, unlabeled=None, n_jobs=1),
        ),
    ],
)
def test_the_pipeline_is_the_one_of_scikit_learn(folder, capsys, more, estimator):
    told = summary(capsys, "train", folder / "shop.csv", folder / "m.gkm", *FLAGS, *more)
    assert told["categories"] == ["colour"] and told["label"] == "label"
    assert list(told["left_out"]) == ["name"] and told["missing_values"] > 10
    assert run("predict", folder / "m.gkm", folder / "shop.csv", "--out", folder / "p.csv") == 0
    frame, _ = shop()
    frame["sold"] = (frame["sold"] - pd.Timestamp("1970-01-01")).dt.days.astype(float)
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    words = make_pipeline(
        SimpleImputer(strategy="constant", fill_value="missing"),
        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
    )
    columns = [("n", numbers, ["size", "price", "sold"]), ("w", words, ["colour"])]
    model = make_pipeline(ColumnTransformer(columns), clone(estimator))
    y = frame["label"].astype(object).where(frame["label"].notna(), None).to_numpy()
    expected = model.fit(frame, y).decision_function(frame)
    np.testing.assert_allclose(decisions(folder / "p.csv"), expected, atol=1e-6)
    loaded = read_model(folder / "m.gkm")[0]  # takes frames, by the names of their columns
    rows = frame[["colour", "sold", "price", "size"]]
    np.testing.assert_allclose(loaded.decision_function(rows), expected, atol=1e-6)


def test_predictions_carry_identifiers_and_other_columns(folder):
    assert run("train", folder / "shop.csv", folder / "m.gkm", *FLAGS) == 0
    out = ("--out", folder / "p.csv")
    assert run("predict", folder / "m.gkm", folder / "shop.csv", *out, "--keep", "name,label") == 0
    header, rows = read_predictions(folder / "p.csv")
    assert header == ["id", "name", "label", "prediction", "decision"] and len(rows) == N
    assert rows[7][:2] == ["1007", "thing 7"]
    assert run("predict", folder / "m.gkm", folder / "shop.csv", *out, "--id", "name") == 0
    assert read_predictions(folder / "p.csv")[0] == ["name", "prediction", "decision"]
    assert run("predict", folder / "m.gkm", folder / "shop.csv", *out, "--keep", "nothing") == 2
    without, _ = shop()
    without.drop(columns="id").to_csv(folder / "new.csv", index=False)
    assert run("predict", folder / "m.gkm", folder / "new.csv", *out) == 0
    assert read_predictions(folder / "p.csv")[0] == ["prediction", "decision"]


@pytest.mark.long
def test_columns_of_numbers_carry_identifiers_in_chunks(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(25_000, 2)), columns=["x", "z"])
    frame.insert(0, "id", [f"r{k}" for k in range(len(frame))])
    frame["label"] = np.where(np.arange(len(frame)) < 40, (frame["x"] > 0).astype(int), np.nan)
    frame.head(200).to_csv(tmp_path / "a.csv", index=False)
    frame.to_csv(tmp_path / "b.csv", index=False)
    assert run("train", tmp_path / "a.csv", tmp_path / "m.gkm", "--id", "id") == 0
    for flags in ((), ("--drop", "id")):
        out = tmp_path / f"p{len(flags)}.csv"
        assert run("predict", tmp_path / "m.gkm", tmp_path / "b.csv", "--out", out, *flags) == 0
    _, rows = read_predictions(tmp_path / "p0.csv")
    assert [row[0] for row in rows] == frame["id"].tolist()
    model = read_model(tmp_path / "m.gkm")[0]
    given = np.array([float(row[2]) for row in rows])
    expected = model.decision_function(frame[["x", "z"]].to_numpy())
    np.testing.assert_allclose(given, expected, atol=1e-6)


@pytest.mark.long
def test_an_order_of_columns_and_new_categories(folder, capsys):
    assert run("train", folder / "shop.csv", folder / "m.gkm", *FLAGS) == 0
    frame, _ = shop()
    frame.iloc[:, ::-1].to_csv(folder / "turned.csv", index=False)
    for name in ("shop.csv", "turned.csv"):
        out = ("--out", folder / f"p_{name}")
        assert run("predict", folder / "m.gkm", folder / name, *out) == 0
    assert (folder / "p_shop.csv").read_bytes() == (folder / "p_turned.csv").read_bytes()
    frame.assign(colour="violet").to_csv(folder / "new.csv", index=False)
    assert run("predict", folder / "m.gkm", folder / "new.csv", "--out", folder / "p.csv") == 0
    model = read_model(folder / "m.gkm")[0]
    new = pd.DataFrame({"size": [1.0], "colour": ["violet"], "price": [2.0], "sold": [3.0]})
    rows = model[0].transform(new)
    assert (rows[0, 3:] == 0).all() and rows.shape == (1, 7)  # red, green, blue and missing
    frame.drop(columns=["colour", "price"]).to_csv(folder / "less.csv", index=False)
    capsys.readouterr()
    assert run("predict", folder / "m.gkm", folder / "less.csv") == 1
    assert "lacks 2 of the model's 4 columns: colour, price" in capsys.readouterr().err


@pytest.mark.long
def test_gaps_are_filled_dropped_or_refused(folder, capsys):
    frame, _ = shop()
    used = ["size", "colour", "price", "sold"]
    whole = int(frame[used].notna().all(axis=1).sum())
    args = ("train", folder / "shop.csv", folder / "m.gkm", *FLAGS)
    assert summary(capsys, *args)["rows"] == N
    assert summary(capsys, *args, "--missing", "drop")["rows"] == whole < N
    assert run(*args, "--missing", "error") == 1
    assert "in column 'size'. Fix it, or pass --missing impute" in capsys.readouterr().err
    # A model without an imputer says so.
    frame.loc[frame[used].notna().all(axis=1)].to_csv(folder / "whole.csv", index=False)
    clean = ("train", folder / "whole.csv", folder / "m.gkm", *FLAGS, "--drop", "colour")
    assert run(*clean, "--missing", "drop") == 0
    capsys.readouterr()
    assert run("predict", folder / "m.gkm", folder / "shop.csv", "--out", folder / "p.csv") == 1
    assert "A model that is trained with --missing impute" in capsys.readouterr().err
    assert not (folder / "p.csv").exists()
    assert run(*clean, "--missing", "impute") == 0
    assert run("predict", folder / "m.gkm", folder / "shop.csv", "--out", folder / "p.csv") == 0


def test_plain_numbers_need_no_imputer_unless_asked(tmp_path, capsys):
    frame, _ = shop()
    frame = frame[["price", "id", "label"]].rename(columns={"id": "count"})
    frame.to_csv(tmp_path / "a.csv", index=False)
    assert run("train", tmp_path / "a.csv", tmp_path / "m.gkm") == 0
    assert [name for name, _ in read_model(tmp_path / "m.gkm")[0].steps] == ["scaler", "estimator"]
    frame.assign(price=np.nan).to_csv(tmp_path / "new.csv", index=False)
    capsys.readouterr()
    assert run("predict", tmp_path / "m.gkm", tmp_path / "new.csv") == 1
    assert "line 2: a value is missing" in capsys.readouterr().err
    assert run("train", tmp_path / "a.csv", tmp_path / "m.gkm", "--missing", "impute") == 0
    assert run("predict", tmp_path / "m.gkm", tmp_path / "new.csv", "--out", tmp_path / "p") == 0


def test_columns_that_say_nothing_are_left_out(folder, capsys):
    frame, _ = shop()
    frame = frame.assign(empty=np.nan, same=7, one="x").iloc[:, [7, 8, 9, 0, 1, 2, 3, 4, 5, 6]]
    frame.to_csv(folder / "more.csv", index=False)
    told = summary(capsys, "train", folder / "more.csv", folder / "m.gkm", *FLAGS)
    assert told["features"] == 4
    assert told["left_out"] == {
        "empty": "no value",
        "name": "120 different texts in 120 rows",
        "same": "one value only, 7",
        "one": "one value only, x",
    }
    assert run("predict", folder / "m.gkm", folder / "shop.csv", "--out", folder / "p.csv") == 0


@pytest.mark.dear
@pytest.mark.parametrize("saved_by", ["command line", "python"])
def test_categories_that_the_model_does_not_know_are_noted(folder, capsys, saved_by):
    frame = shop()[0].drop(columns="sold")
    frame["shape"] = np.where(np.arange(len(frame)) % 2, "round", "flat")
    frame.to_csv(folder / "rows.csv", index=False)
    assert run("train", folder / "rows.csv", folder / "m.gkm", *FLAGS, *GKM) == 0
    if saved_by == "python":
        save_model(load_model(folder / "m.gkm"), folder / "m.gkm")
    args = ("predict", folder / "m.gkm", folder / "new.csv", "--out", folder / "p.csv")
    frame.to_csv(folder / "new.csv", index=False)  # with gaps, which are no new categories
    capsys.readouterr()
    assert run(*args) == 0 and capsys.readouterr().err == ""
    new = frame.head(100).assign(colour="violet")
    new.loc[:2, "shape"] = ["square", "oval", "square"]
    new.to_csv(folder / "new.csv", index=False)
    assert run(*args) == 0
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "new.csv has categories that the model" in said
    assert "colour in all 100 rows ('violet')" in said
    assert "shape in 3 of 100 rows ('square', 'oval')" in said
    assert run(*args, "--json") == 0
    told = capsys.readouterr()
    assert told.err == said
    assert json.loads(told.out)["unknown_categories"] == {"colour": 100, "shape": 3}


def test_which_columns_are_categories(folder, capsys):
    args = ("train", folder / "shop.csv", folder / "m.gkm", *FLAGS)
    assert run(*args, "--categorical", "none") == 1
    assert "the column 'name' holds words ('thing 0')" in capsys.readouterr().err
    frame, _ = shop()
    frame = frame.drop(columns="name").assign(zip=np.arange(N) % 4)
    frame.to_csv(folder / "shop.csv", index=False)
    assert summary(capsys, *args, "--categorical", "colour,zip")["categories"] == ["colour", "zip"]
    encoder = read_model(folder / "m.gkm")[0][0].transformers_[1][1][-1]
    assert encoder.categories_[1].tolist() == list("0123")
    assert run(*args, "--categorical", "zip") == 1
    assert "'colour' holds words" in capsys.readouterr().err
    assert run(*args, "--categorical", "taste") == 2
    assert "--categorical taste: " in capsys.readouterr().err


@pytest.mark.long
def test_rare_categories_are_alike(tmp_path):
    rng = np.random.default_rng(0)
    words = [f"w{k}" for k in np.minimum(rng.zipf(1.3, 600), 200)]
    frame = pd.DataFrame({"x": rng.normal(size=600), "word": words})
    frame["label"] = np.where(np.arange(600) % 4 == 0, np.where(frame["x"] > 0, "a", "b"), "")
    frame.to_csv(tmp_path / "a.csv", index=False)
    assert frame["word"].nunique() > 60
    assert run("train", tmp_path / "a.csv", tmp_path / "m.gkm") == 0
    encoder = read_model(tmp_path / "m.gkm")[0][0].transformers_[1][1][-1]
    most = frame["word"].value_counts()
    assert len(encoder.categories_[0]) == 50
    assert most[encoder.categories_[0].tolist()].min() >= most.iloc[49]


@pytest.mark.long
@pytest.mark.parametrize("date", ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%d.%m.%Y", "%Y/%m/%d"])
def test_decimal_commas_and_dates(folder, capsys, date):
    frame, _ = shop()
    frame = frame.drop(columns="name")
    frame.to_csv(folder / "point.csv", index=False)
    frame.to_csv(folder / "comma.csv", index=False, sep=";", decimal=",", date_format=date)
    for name in ("point", "comma"):
        assert run("train", folder / f"{name}.csv", folder / f"{name}.gkm", *FLAGS) == 0
        out = ("--out", folder / f"{name}.out")
        assert run("predict", folder / f"{name}.gkm", folder / f"{name}.csv", *out) == 0
    assert (folder / "point.out").read_bytes() == (folder / "comma.out").read_bytes()


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        (["01/02/2024", "03/04/2024"], "may be DD/MM/YYYY or MM/DD/YYYY; write YYYY-MM-DD"),
        (['"1,234"', '"5,678"'], "may be a fraction or a number above a thousand"),
    ],
)
def test_what_has_two_meanings_is_refused(tmp_path, capsys, cells, reason):
    rows = "".join(f"{k},{cells[k % 2]},{'ab'[k % 2]}\n" for k in range(8))
    (tmp_path / "a.csv").write_text("x,when,label\n" + rows)
    assert run("train", tmp_path / "a.csv", tmp_path / "m.gkm") == 1
    said = capsys.readouterr().err
    assert "in the column 'when'" in said and reason in said


def test_a_later_word_in_a_column_of_numbers(folder, capsys):
    assert run("train", folder / "shop.csv", folder / "m.gkm", *FLAGS) == 0
    frame, _ = shop()
    frame.astype({"price": object}).assign(price="cheap").to_csv(folder / "new.csv", index=False)
    capsys.readouterr()
    assert run("predict", folder / "m.gkm", folder / "new.csv") == 1
    assert "line 2: the value of 'cheap' is not a number, in column 'price'" in (
        capsys.readouterr().err
    )


@pytest.mark.long
def test_the_index_of_pandas_is_no_feature(tmp_path, capsys):
    frame, _ = shop()
    frame = frame[["price", "id", "label"]].rename(columns={"id": "count"}).sample(N)
    frame.to_csv(tmp_path / "a.csv")
    frame.reset_index().rename(columns={"index": "Unnamed: 0"}).to_csv(
        tmp_path / "b.csv", index=False
    )
    frame.to_parquet(tmp_path / "a.parquet")
    frame.rename_axis("when").to_parquet(tmp_path / "b.parquet")
    for name in ("a.csv", "b.csv", "a.parquet", "b.parquet"):
        assert summary(capsys, "train", tmp_path / name, tmp_path / "m.gkm")["features"] == 2
        assert run("evaluate", tmp_path / "m.gkm", tmp_path / name) == 0


@pytest.mark.long
def test_parquet_and_csv_agree(folder):
    frame, _ = shop()
    frame.astype({"colour": "category"}).to_parquet(folder / "shop.parquet", index=False)
    for kind in ("csv", "parquet"):
        assert run("train", folder / f"shop.{kind}", folder / f"{kind}.gkm", *FLAGS) == 0
        out = ("--out", folder / f"{kind}.out")
        assert run("predict", folder / f"{kind}.gkm", folder / f"shop.{kind}", *out) == 0
    assert (folder / "csv.out").read_bytes() == (folder / "parquet.out").read_bytes()


@pytest.mark.dear
@pytest.mark.parametrize("name", ["Label", "LABEL", "label"])
def test_the_label_is_found_whatever_its_case(folder, capsys, name):
    frame, _ = shop()
    frame = frame.rename(columns={"label": name})[[name, "size", "price"]]
    frame.to_csv(folder / "a.csv", index=False)
    told = summary(capsys, "train", folder / "a.csv", folder / "m.gkm")
    assert told["label"] == name and told["label_guessed"] is False
    frame.rename(columns={name: "label"}).to_csv(folder / "b.csv", index=False)
    assert run("evaluate", folder / "m.gkm", folder / "b.csv") == 0


@pytest.mark.long
def test_a_guess_says_so_and_regresses_nothing(tmp_path, capsys):
    from sklearn.datasets import load_wine

    wine = load_wine(as_frame=True)
    wine.data.insert(0, "class", wine.target)
    wine.data.to_csv(tmp_path / "wine.csv", index=False)
    for command, *flags in (("train",), ("train", *SEARCH), ("stream",)):
        assert run(command, tmp_path / "wine.csv", tmp_path / "m.gkm", *flags) == 2
        assert "no column is called label. The last one, 'proline'" in capsys.readouterr().err
    assert run("train", tmp_path / "wine.csv", tmp_path / "m.gkm", "--label", "class") == 0
    frame, _ = shop()
    frame.rename(columns={"label": "kind"}).to_csv(tmp_path / "b.csv", index=False)
    capsys.readouterr()
    for flags in ((), SEARCH):
        assert run("train", tmp_path / "b.csv", tmp_path / "m.gkm", *flags) == 0
        assert "the column 'kind', a guess: it is the last one" in capsys.readouterr().out
    assert run("info", tmp_path / "m.gkm") == 0
    assert "a guess" in capsys.readouterr().out


@pytest.mark.long
def test_what_may_be_an_identifier_or_a_mark_is_noted(folder, capsys):
    frame, _ = shop()
    frame["label"] = frame["label"].fillna("NA")
    frame.to_csv(folder / "a.csv", index=False, na_rep="NA")
    assert run("train", folder / "a.csv", folder / "m.gkm") == 0
    said = capsys.readouterr().err
    assert "if it identifies rows, pass --id id." in said
    told = summary(capsys, "train", folder / "a.csv", folder / "m.gkm")
    assert told["classes"] == ["bad", "good"]  # NA is a gap, as in any other column
    frame["label"] = frame["label"].replace("NA", "-1")
    frame.to_csv(folder / "a.csv", index=False)
    assert run("train", folder / "a.csv", folder / "m.gkm") == 0
    assert "pass --unlabeled -1" in capsys.readouterr().err


@pytest.mark.long
@pytest.mark.parametrize("flags", [(), ("--graph", "anchors")])
def test_other_models_and_commands(folder, capsys, flags):
    pytest.importorskip("skops")
    args = (folder / "shop.csv", folder / "m.gkm", *FLAGS, "--method", "mixture")
    assert run("train", *args, *flags, "--holdout", "0.3") == 0
    assert run("evaluate", folder / "m.gkm", folder / "shop.csv") == 0
    assert run("info", folder / "m.gkm") == 0
    printed = capsys.readouterr().out
    assert "1 category (colour)" in printed and "filled in" in printed
    assert run("export", folder / "m.gkm", "--to", "onnx") == 1
    assert run("train", *args, *SEARCH) == 0
    assert run("evaluate", folder / "m.gkm", folder / "shop.csv") == 0


def test_streams_say_what_they_take(folder, capsys):
    args = ("stream", folder / "shop.csv", folder / "m.gkm", "--id", "id")
    for more, code, message in (
        ((), 1, "the column 'name' holds words ('thing 0'), and a stream learns from numbers."),
        (("--missing", "impute"), 2, "--missing impute needs all rows"),
        (("--categorical", "colour"), 2, "--categorical needs all rows"),
    ):
        assert run(*args, *more) == code
        assert message in capsys.readouterr().err
    dropped = [flag for name in ("name", "colour", "sold") for flag in ("--drop", name)]
    assert run(*args, *dropped, "--missing", "drop") == 0
    assert "the column 'label'" in capsys.readouterr().out


def test_more_unlabelled_rows(folder, capsys):
    frame, _ = shop(seed=1)
    frame.drop(columns="label").to_csv(folder / "more.csv", index=False)
    args = ("train", folder / "shop.csv", folder / "m.gkm", *FLAGS)
    assert summary(capsys, *args, "--unlabeled-data", folder / "more.csv")["rows"] == 2 * N


def test_columns_are_judged_by_both_files(folder, capsys):
    # In the few labelled rows no value is missing, dates are ambiguous and words are constant.
    (folder / "few.csv").write_text("a,day,soil,label\n1,01/02/2024,wet,x\n2,03/04/2024,wet,y\n")
    (folder / "more.csv").write_text("soil,a,day\ndry,,31/12/2024\nwet,3,05/06/2024\n")
    args = ("train", folder / "few.csv", folder / "m.gkm", "--unlabeled-data", folder / "more.csv")
    told = summary(capsys, *args)
    assert told["categories"] == ["soil"] and told["left_out"] == {}
    assert told["missing_values"] == 1 and told["rows"] == 4 and told["labelled"] == 2
    assert run("info", folder / "m.gkm") == 0
    assert "1 date like DD/MM/YYYY (day)" in capsys.readouterr().out
    assert run("predict", folder / "m.gkm", folder / "more.csv") == 0


@pytest.mark.long
def test_a_table_from_standard_input(folder):
    text = (folder / "shop.csv").read_text()
    done = process("train", "-", folder / "m.gkm", *FLAGS, stdin=text)
    assert done.returncode == 0 and "1 category (colour)" in done.stdout
    done = process("predict", folder / "m.gkm", "-", "--keep", "name", stdin=text)
    assert done.stdout.splitlines()[1].startswith("1000,thing 0,")


def test_a_pipeline_of_python_on_the_command_line(folder, capsys):
    frame, truth = shop()
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    words = make_pipeline(
        SimpleImputer(strategy="constant", fill_value="none"),
        OneHotEncoder(handle_unknown="ignore"),
    )
    columns = ColumnTransformer([("n", numbers, ["size", "price"]), ("w", words, ["colour"])])
    rows = frame[["size", "price", "colour"]]
    model = make_pipeline(columns, GKMClassifier(unlabeled=None, random_state=0)).fit(rows, truth)
    save_model(model, folder / "m.gkm")
    assert run("predict", folder / "m.gkm", folder / "shop.csv", "--out", folder / "p.csv") == 0
    np.testing.assert_allclose(
        decisions(folder / "p.csv"), model.decision_function(rows), atol=1e-6
    )


def test_without_names(tmp_path, capsys):
    frame, _ = shop()
    frame = frame[["id", "size", "colour", "price", "label"]]
    frame.to_csv(tmp_path / "a.csv", index=False, header=False)
    args = ("train", tmp_path / "a.csv", tmp_path / "m.gkm")
    assert run(*args) == 1
    assert "may hold names or values. Pass --header or --no-header." in capsys.readouterr().err
    assert run(*args, "--no-header", "--id", "1") == 0
    assert "1 category (2)" in capsys.readouterr().out
    new = frame.drop(columns="label")
    new.to_csv(tmp_path / "new.csv", index=False, header=False)
    for name, n in (("new.csv", N), ("a.csv", N)):
        flags = ("--no-header", "--out", tmp_path / f"{name}.out")
        assert run("predict", tmp_path / "m.gkm", tmp_path / name, *flags) == 0
        with open(tmp_path / f"{name}.out") as file:
            assert len(list(csv.reader(file))) == n + 1
    assert (tmp_path / "new.csv.out").read_bytes() == (tmp_path / "a.csv.out").read_bytes()
