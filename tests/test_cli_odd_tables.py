"""Tables as other programs write them, on the command line: against pandas and plain numbers."""

from __future__ import annotations

import datetime
import decimal
import json
import re

import numpy as np
import pytest

from cli_runner import process, read_predictions
from cli_runner import run_machine as run
from graphkm.exchange import load_model

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

pytestmark = pytest.mark.usefixtures("one_model")
N = 90


def table(n=N, seed=0):
    """Return numbers and a city that tells the class, and labels of every third row."""
    rng = np.random.default_rng(seed)
    size, city = rng.normal(10, 3, n).round(2), rng.choice(["Genève", "Zürich", "Bern"], n)
    truth = np.where(size + 4 * (city == "Genève") > 11, "good", "bad")
    label = np.where(np.arange(n) % 3 == 0, truth, "")
    return pd.DataFrame({"size": size, "stadt": city, "label": label}).astype(
        {"stadt": object, "label": object}
    )


def train(folder, file, *flags):
    assert run("train", folder / file, folder / "m.gkm", *flags) == 0


def summary(capsys, *arguments):
    capsys.readouterr()
    assert run(*arguments, "--json") == 0
    return json.loads(capsys.readouterr().out.splitlines()[-1])


def decisions(folder, file, *flags, model="m.gkm"):
    out = folder / "out.csv"
    assert run("predict", folder / model, folder / file, "--out", out, *flags) == 0
    header, rows = read_predictions(out)
    return np.array([float(row[header.index("decision")]) for row in rows])


# --------------------------------------------------------------------- identifiers

BIG = 2**60
IDENTIFIERS = [
    ([BIG + k for k in range(N)], "int64", [str(BIG + k) for k in range(N)]),
    ([2**63 + k for k in range(N)], "uint64", [str(2**63 + k) for k in range(N)]),
    ([f"0{k}\nx" for k in range(N)], "string", [f"0{k}\nx" for k in range(N)]),
    (
        [decimal.Decimal(f"{10**20 + k}.50") for k in range(N)],
        pa.decimal128(30, 2),
        [f"{10**20 + k}.50" for k in range(N)],
    ),
    (
        [datetime.date(2024, 1, 1) + datetime.timedelta(k) for k in range(N)],
        "date32",
        [str(datetime.date(2024, 1, 1) + datetime.timedelta(k)) for k in range(N)],
    ),
    (
        [10**18 + k for k in range(N)],
        pa.timestamp("ns"),
        [f"2001-09-09 01:46:40.{k:09d}".rstrip("0").rstrip(".") for k in range(N)],
    ),
    ([None, *range(1, N)], "float64", ["", *map(str, range(1, N))]),
]


@pytest.mark.dear
@pytest.mark.parametrize(
    ("values", "kind", "expected"), IDENTIFIERS, ids=[str(kind) for _, kind, _ in IDENTIFIERS]
)
def test_identifiers_travel_as_they_are(tmp_path, values, kind, expected):
    from pyarrow import parquet

    kind = getattr(pa, kind)() if isinstance(kind, str) else kind
    rows = pa.Table.from_pandas(table()).append_column("id", pa.array(values, kind))
    parquet.write_table(rows, tmp_path / "a.parquet")
    train(tmp_path, "a.parquet", "--id", "id", "--label", "label")
    decisions(tmp_path, "a.parquet", "--keep", "size")
    header, rows = read_predictions(tmp_path / "out.csv")
    assert header[:2] == ["id", "size"] and [row[0] for row in rows] == expected
    assert [float(row[1]) for row in rows] == table()["size"].tolist()


@pytest.mark.long
def test_whole_numbers_that_are_categories_do_not_collide(tmp_path):
    frame = table().assign(stadt=BIG + np.arange(N) % 3)
    frame.to_parquet(tmp_path / "a.parquet", index=False)
    frame.to_csv(tmp_path / "a.csv", index=False)
    train(tmp_path, "a.csv", "--categorical", "stadt")
    np.testing.assert_array_equal(decisions(tmp_path, "a.csv"), decisions(tmp_path, "a.parquet"))
    assert len(load_model(tmp_path / "m.gkm")[0].transformers_[1][1][-1].categories_[0]) == 3


# ------------------------------------------------------------------------ encodings


@pytest.mark.long
@pytest.mark.parametrize("codec", ["latin-1", "utf-16", "utf-8-sig"])
def test_a_model_does_not_depend_on_the_encoding(tmp_path, capsys, codec):
    table().to_csv(tmp_path / "utf8.csv", index=False)
    table().to_csv(tmp_path / "other.csv", index=False, encoding=codec)
    train(tmp_path, "utf8.csv")
    expected = decisions(tmp_path, "utf8.csv")
    np.testing.assert_array_equal(decisions(tmp_path, "other.csv"), expected)
    told = summary(capsys, "train", tmp_path / "other.csv", tmp_path / "m.gkm")
    np.testing.assert_array_equal(decisions(tmp_path, "utf8.csv"), expected)
    taken = {"latin-1": "windows-1252", "utf-16": "utf-16-le", "utf-8-sig": "utf-8"}[codec]
    assert told["encoding"] == taken
    args = ("predict", tmp_path / "m.gkm", tmp_path / "other.csv", "--out", tmp_path / "p.csv")
    assert summary(capsys, *args)["encoding"] == taken
    said = capsys.readouterr()
    assert run("train", tmp_path / "other.csv", tmp_path / "m.gkm") == 0
    said = capsys.readouterr()
    shown = re.search(rf"^encoding +{taken}$", said.out, re.MULTILINE) is not None
    assert shown is (taken != "utf-8")
    guessed = "was read as Windows-1252; if it is of another encoding, pass --encoding." in said.err
    assert guessed is (codec == "latin-1")
    assert run("info", tmp_path / "m.gkm") == 0
    assert (taken in capsys.readouterr().out) is (taken != "utf-8")


def test_a_given_encoding(tmp_path, capsys):
    table().to_csv(tmp_path / "a.csv", index=False, encoding="cp850")
    args = ("train", tmp_path / "a.csv", tmp_path / "m.gkm")
    assert summary(capsys, *args, "--encoding", "cp850")["encoding"] == "cp850"
    encoder = load_model(tmp_path / "m.gkm")[0].transformers_[1][1][-1]
    assert encoder.categories_[0].tolist() == ["Bern", "Genève", "Zürich"]
    assert run(*args, "--encoding", "utf-8") == 1
    assert "is not utf-8" in (said := capsys.readouterr().err)
    assert "pass --encoding windows-1252" in said
    assert run(*args, "--encoding", "klingon") == 2
    assert "--encoding klingon is no encoding of texts." in capsys.readouterr().err


@pytest.mark.long
@pytest.mark.slow
def test_a_stream_in_another_encoding(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(40_000, 2)), columns=["größe", "z"])
    frame["label"] = np.where(frame["z"] > 0, "süß", "sauer")
    for codec in ("utf-8", "utf-16", "cp1252"):
        frame.to_csv(tmp_path / f"{codec}.csv", index=False, encoding=codec)
        text = (tmp_path / f"{codec}.csv").read_bytes()
        done = process("stream", tmp_path / f"{codec}.csv", tmp_path / f"{codec}.gkm", "--json")
        assert done.returncode == 0, done.stderr
        assert len(text) > 2**20
    models = [load_model(tmp_path / f"{codec}.gkm") for codec in ("utf-8", "utf-16", "cp1252")]
    expected = models[0].decision_function(frame[["größe", "z"]].to_numpy())
    for model in models[1:]:
        assert model.classes_.tolist() == ["sauer", "süß"]
        found = model.decision_function(frame[["größe", "z"]].to_numpy())
        np.testing.assert_array_equal(found, expected)


@pytest.mark.long
def test_the_first_line_of_excel(tmp_path):
    text = table().to_csv(index=False, sep=";", decimal=",")
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    (tmp_path / "excel.csv").write_text("sep=;\n" + text, encoding="utf-8-sig")
    train(tmp_path, "a.csv")
    expected = decisions(tmp_path, "a.csv")
    train(tmp_path, "excel.csv")
    np.testing.assert_array_equal(decisions(tmp_path, "excel.csv"), expected)


# --------------------------------------------------------------- lines and bad rows


@pytest.mark.long
def test_newlines_in_quotes_as_pandas_writes_them(tmp_path, capsys):
    frame = table()
    frame.to_csv(tmp_path / "plain.csv", index=False)
    frame.insert(1, "note", [f'row {k},\n"more"\nof it' for k in range(N)])
    frame.loc[5, "size"] = np.nan
    frame.to_csv(tmp_path / "a.csv", index=False)
    told = summary(capsys, "train", tmp_path / "a.csv", tmp_path / "m.gkm")
    assert told["rows"] == N and list(told["left_out"]) == ["note"]
    np.testing.assert_array_equal(
        np.delete(decisions(tmp_path, "a.csv", "--keep", "note"), 5),
        np.delete(decisions(tmp_path, "plain.csv"), 5),
    )
    header, rows = read_predictions(tmp_path / "out.csv")
    decisions(tmp_path, "a.csv", "--keep", "note")
    header, rows = read_predictions(tmp_path / "out.csv")
    assert [row[header.index("note")] for row in rows] == frame["note"].tolist()
    # Numbers alone are read by the compiled parser, which skips the column.
    frame.drop(columns="stadt").dropna().to_csv(tmp_path / "b.csv", index=False)
    train(tmp_path, "b.csv", "--drop", "note")
    assert len(decisions(tmp_path, "b.csv")) == N - 1
    dropped = ("stream", tmp_path / "b.csv", tmp_path / "s.gkm", "--drop", "note")
    assert summary(capsys, *dropped)["rows"] == N - 1


def test_bad_rows_alone_are_skipped(tmp_path, capsys):
    frame = table()
    frame.loc[::4, "size"] = np.nan
    frame.to_csv(tmp_path / "a.csv", index=False)
    lines = (tmp_path / "a.csv").read_text().splitlines()
    (tmp_path / "a.csv").write_text("\n".join([*lines[:9], "too,many,cells,here", *lines[9:]]))
    args = ("train", tmp_path / "a.csv", tmp_path / "m.gkm")
    assert run(*args) == 1
    assert "line 10: there are 4 fields" in capsys.readouterr().err
    assert summary(capsys, *args, "--skip-bad-rows")["rows"] == N
    assert summary(capsys, *args, "--skip-bad-rows", "--missing", "drop")["rows"] == (
        int(frame["size"].notna().sum())
    )
    assert run(*args, "--skip-bad-rows", "--missing", "error") == 1
    assert "line 2: a value is missing" in capsys.readouterr().err


# -------------------------------------------------------------- kinds of columns


def typed(n=N, gaps=False):
    rng = np.random.default_rng(1)
    frame = table(n)
    frame.insert(0, "on", rng.random(n) < 0.5)
    frame.insert(
        1, "day", pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 99, n), "D")
    )
    seconds = pd.to_timedelta(rng.integers(0, 10**7, n), "s")
    frame.insert(2, "at", pd.Timestamp("2024-03-01 10:00:00.25") + seconds)
    frame["label"] = np.where(np.arange(n) % 2 == 0, np.where(frame["on"], "good", "bad"), "")
    if gaps:
        frame["on"] = frame["on"].astype(object).where(np.arange(n) % 7 > 0, None)
        frame["day"] = frame["day"].where(np.arange(n) % 5 > 0, None)
    return frame


@pytest.mark.long
@pytest.mark.parametrize("drop", ["", "stadt"])
@pytest.mark.parametrize("gaps", [False, True])
def test_truth_values_and_times_mean_the_same_in_every_format(tmp_path, drop, gaps):
    frame = typed(gaps=gaps).drop(columns=drop or [])
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_parquet(tmp_path / "a.parquet", index=False)
    found = []
    for kind in ("csv", "parquet"):
        assert run("train", tmp_path / f"a.{kind}", tmp_path / f"{kind}.gkm") == 0
        for data in ("a.csv", "a.parquet"):
            found.append(decisions(tmp_path, data, model=f"{kind}.gkm"))
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], atol=1e-6)
    numbers = frame.assign(
        on=frame["on"].astype(float),
        day=(frame["day"] - pd.Timestamp(0)).dt.total_seconds() / 86_400,
        at=(frame["at"] - pd.Timestamp(0)).dt.total_seconds() / 86_400,
    )
    numbers.to_csv(tmp_path / "numbers.csv", index=False)
    train(tmp_path, "numbers.csv")
    np.testing.assert_allclose(found[0], decisions(tmp_path, "numbers.csv"), atol=1e-5)


def test_categories_of_truth_values_and_days_are_the_same_words(tmp_path):
    frame = typed()[["on", "day", "size", "label"]]
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_parquet(tmp_path / "a.parquet", index=False)
    train(tmp_path, "a.csv", "--categorical", "on,day")
    np.testing.assert_array_equal(decisions(tmp_path, "a.csv"), decisions(tmp_path, "a.parquet"))


def test_truth_values_as_labels(tmp_path, capsys):
    frame = table()[["size", "label"]].assign(label=table()["size"] > 10)
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_parquet(tmp_path / "a.parquet", index=False)
    for kind in ("csv", "parquet"):
        told = summary(capsys, "train", tmp_path / f"a.{kind}", tmp_path / "m.gkm")
        assert told["classes"] == ["False", "True"]
        for data in ("a.csv", "a.parquet"):
            assert summary(capsys, "evaluate", tmp_path / "m.gkm", tmp_path / data)["labelled"] == N


@pytest.mark.long
def test_dates_are_not_taken_for_numbers(tmp_path, capsys):
    frame = typed()[["size", "day", "label"]]
    frame.to_parquet(tmp_path / "days.parquet", index=False)
    frame.assign(day=np.arange(N) / 4).to_parquet(tmp_path / "numbers.parquet", index=False)
    for name, other, message in (
        ("days", "numbers", "holds numbers, where the model knows dates"),
        ("numbers", "days", "holds dates, where the model knows numbers"),
    ):
        train(tmp_path, f"{name}.parquet", "--missing", "impute")
        capsys.readouterr()
        assert run("predict", tmp_path / "m.gkm", tmp_path / f"{other}.parquet") == 1
        assert message in capsys.readouterr().err


# -------------------------------------------------------------------------- labels


@pytest.mark.long
@pytest.mark.parametrize("mark", ["None", "null", "N/A", "<NA>", "NA"])
@pytest.mark.parametrize("labels", ["words", "numbers"])
@pytest.mark.parametrize("more", [(), ("--drop", "stadt")])
def test_marks_of_missing_labels_are_those_of_missing_values(tmp_path, capsys, mark, labels, more):
    frame = table()
    if labels == "numbers":
        frame["label"] = frame["label"].map({"good": "1", "bad": "0", "": ""})
    frame["label"] = frame["label"].replace("", mark)
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_parquet(tmp_path / "a.parquet", index=False)
    for kind in ("csv", "parquet"):
        told = summary(capsys, "train", tmp_path / f"a.{kind}", tmp_path / "m.gkm", *more)
        assert told["labelled"] == 30
        assert list(map(str, told["classes"])) == sorted(set(frame["label"]) - {mark})
        if kind == "csv" and labels == "numbers":
            assert told["classes"] == [0, 1]
        tested = summary(capsys, "evaluate", tmp_path / "m.gkm", tmp_path / f"a.{kind}")
        assert tested["labelled"] == 30


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_dates_and_texts_are_no_classes(tmp_path, capsys, kind):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=401), "y": rng.normal(size=401)})
    frame["label"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(401), "D")
    write = {"csv": pd.DataFrame.to_csv, "parquet": pd.DataFrame.to_parquet}[kind]
    args = ("train", tmp_path / f"a.{kind}", tmp_path / "m.gkm")
    write(frame, args[1], index=False)
    assert run(*args) == 2
    said = capsys.readouterr().err
    assert "its labels are 401 different dates in 401 labelled rows, like '2024-01-01'" in said
    assert "--task classify" in said and not (tmp_path / "m.gkm").exists()
    write(frame.assign(label=[f"text {k}" for k in range(401)]), args[1], index=False)
    assert run(*args) == 2
    assert "401 different texts in 401 labelled rows" in capsys.readouterr().err
    assert run("stream", *args[1:]) == 2
    assert "401 different texts" in capsys.readouterr().err


@pytest.mark.long
@pytest.mark.parametrize("command", ["train", "stream"])
def test_many_classes_of_few_labels(tmp_path, command):
    frame = pd.DataFrame({"x": np.arange(63) % 21 / 4, "y": np.arange(63) / 8})
    for n, flags, code in ((21, (), 2), (21, ("--task", "classify"), 0), (63, (), 0)):
        some = frame.head(n).assign(label=[f"kind {k % 21}" for k in range(n)])
        some.to_csv(tmp_path / "a.csv", index=False)
        args = (command, tmp_path / "a.csv", tmp_path / f"{n}.gkm", *flags)
        assert run(*args) == code


def test_columns_that_are_all_the_same_are_an_error(tmp_path, capsys):
    rows = "".join(f"1,red,{cell},{'ab'[k % 2]}\n" for k, cell in enumerate(["7", "", "7", "7"]))
    args = ("train", tmp_path / "a.csv", tmp_path / "m.gkm")
    for header in ("x,colour,z,label\n", ""):
        args[1].write_text(header + rows)
        assert run(*args, *([] if header else ["--no-header"])) == 1
        said = capsys.readouterr().err
        assert "every column has the same value in all rows" in said
        assert "(one value only, red)" in said and not args[2].exists()
    args[1].write_text("x,z,label\n1,2,a\n1,2,b\n")
    assert run(*args) == 1 and run(*args, "--method", "gkm", "--search") == 1


# ------------------------------------------------------------------------- amounts


@pytest.mark.long
@pytest.mark.parametrize(
    ("write", "kind"),
    [
        (lambda v: f"EUR {v:,.2f}", "EUR 1,234.5"),
        (lambda v: f"${v:,.2f}", "$ 1,234.5"),
        (lambda v: f"{v:,.2f}", "1,234.5"),
        (lambda v: f"{v:.2f} %", "1,234.5 %"),
        (lambda v: f"{v:.2f}%", "1,234.5 %"),
        (lambda v: f"{v:,.2f}".replace(",", "'") + " CHF", "1,234.5 CHF"),
        (lambda v: f"{v:,.2f} €".translate(str.maketrans(",.", ".,")), "1.234,5 €"),
        (lambda v: f"{v:,.2f} €".translate(str.maketrans(",.", "\u00a0,")), "1.234,5 €"),
    ],
)
def test_amounts_are_numbers(tmp_path, capsys, write, kind):
    rng = np.random.default_rng(0)
    price = (rng.normal(0, 3000, N)).round(2)
    frame = table().assign(price=price)[["price", "stadt", "label"]]
    frame["label"] = np.where(np.arange(N) % 2 == 0, np.where(price > 500, "good", "bad"), "")
    frame.loc[3, "price"] = np.nan
    frame.to_csv(tmp_path / "numbers.csv", index=False)
    texts = [write(value) if value == value else "" for value in frame["price"]]
    frame.assign(price=texts).to_csv(tmp_path / "amounts.csv", index=False)
    train(tmp_path, "numbers.csv")
    expected = decisions(tmp_path, "numbers.csv")
    told = summary(capsys, "train", tmp_path / "amounts.csv", tmp_path / "m.gkm")
    assert told["kinds"] == {"price": kind, "stadt": "word"} and told["left_out"] == {}
    np.testing.assert_allclose(decisions(tmp_path, "amounts.csv"), expected, atol=1e-9)
    assert run("info", tmp_path / "m.gkm") == 0
    assert f"1 amount like {kind} (price)" in capsys.readouterr().out
    frame.assign(price="GBP 7").to_csv(tmp_path / "other.csv", index=False)
    assert run("predict", tmp_path / "m.gkm", tmp_path / "other.csv") == 1
    said = capsys.readouterr().err
    assert f"the value of 'GBP 7' is not an amount like {kind}, in column 'price'" in said


@pytest.mark.dear
@pytest.mark.parametrize(
    "cells",
    [
        ["EUR 1", "USD 2"],
        ["RUN 1", "RUN 2"],
        ["EUR 001", "EUR 002"],
        ["12 %", "12"],
        ["-EUR -1", "EUR 2"],
        ["$1.5.2", "$1"],
        ["1,23.5 €", "2.5 €"],
        ["100 200", "100 300"],
    ],
)
def test_what_has_not_one_pattern_stays_a_word(tmp_path, capsys, cells):
    frame = table().assign(stadt=[cells[k % 2] for k in range(N)])
    frame.to_csv(tmp_path / "a.csv", index=False)
    told = summary(capsys, "train", tmp_path / "a.csv", tmp_path / "m.gkm")
    assert told["categories"] == ["stadt"]


def test_an_amount_with_two_meanings_is_refused(tmp_path, capsys):
    table().assign(stadt="1,234 €").to_csv(tmp_path / "a.csv", index=False)
    assert run("train", tmp_path / "a.csv", tmp_path / "m.gkm") == 1
    assert "may be a fraction or a number above a thousand" in capsys.readouterr().err


@pytest.mark.dear
@pytest.mark.parametrize("write", ["{:.2f} %", "EUR {:,.2f}"])
def test_amounts_as_labels_are_quantities(tmp_path, capsys, write):
    frame = table()[["size"]].assign(label=(1000 * table()["size"]).round() + 0.25)
    frame.to_csv(tmp_path / "numbers.csv", index=False)
    frame["label"] = [write.format(value) for value in frame["label"]]
    frame.to_csv(tmp_path / "amounts.csv", index=False)
    for name in ("numbers", "amounts"):
        told = summary(capsys, "train", tmp_path / f"{name}.csv", tmp_path / "m.gkm")
        assert told["task"] == "regress"
        out = tmp_path / f"{name}.out"
        assert run("predict", tmp_path / "m.gkm", tmp_path / f"{name}.csv", "--out", out) == 0
        assert run("evaluate", tmp_path / "m.gkm", tmp_path / f"{name}.csv") == 0
    one, two = (read_predictions(tmp_path / f"{name}.out")[1] for name in ("numbers", "amounts"))
    np.testing.assert_allclose(np.array(one, dtype=float), np.array(two, dtype=float), rtol=1e-6)
