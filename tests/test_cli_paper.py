"""The paper by the command: what it prints, and that errors are sentences."""

from __future__ import annotations

import pytest

from cli_runner import run
from graphkm.cli import main
from graphkm.experiments import Ledger


def test_reproduce_then_report(tmp_path, capsys):
    out = str(tmp_path / "results")
    assert run("reproduce", "graph", "--quick", "--out", out) == 0
    assert "[1/1] made_curve knn: ok" in capsys.readouterr().out
    assert run("report", out) == 0
    printed = capsys.readouterr().out.split()
    assert printed[0].endswith("report.html") and (tmp_path / "results" / "report.md").exists()


@pytest.mark.slow
def test_sets_can_be_named_with_commas(tmp_path, capsys):
    out = str(tmp_path)
    assert run("reproduce", "unlabeled", "--quick", "--datasets", "made_moons,", "--out", out) == 0
    rows = Ledger(tmp_path).rows()
    assert {row["dataset"] for row in rows} == {"made_moons"}
    assert {row["hidden"] for row in rows} == {50, 60, 70, 80, 90}
    assert all(row["status"] == "ok" for row in rows)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("reproduce", "nothing"), "There is no experiment 'nothing'; the names are graph,"),
        (("reproduce", "losses", "--datasets", "iris"), "There is no set 'iris' here"),
        (("reproduce", "convergence", "--datasets", "a1a"), "does not use a1a"),
        (("report", "no-such-folder"), "holds no results"),
    ],
)
def test_errors_are_sentences(arguments, message, capsys):
    assert run(*arguments) == 1
    printed = capsys.readouterr().err
    assert message in printed and "Traceback" not in printed
    assert printed.startswith("graphkm: ")


def test_options_that_exclude_each_other_are_wrong_usage(capsys):
    assert run("reproduce", "losses", "--quick", "--full") == 2
    assert "exclude each other" in capsys.readouterr().err


def test_debug_shows_where_an_error_comes_from():
    with pytest.raises(ValueError, match="no experiment"):
        main(["--debug", "reproduce", "nothing"])


def test_settings_of_another_run_are_refused(tmp_path, capsys):
    assert run("reproduce", "graph", "--quick", "--out", str(tmp_path)) == 0
    assert run("reproduce", "graph", "--full", "--out", str(tmp_path)) == 1
    assert "other settings" in capsys.readouterr().err


def test_without_files_and_network_it_says_what_to_do(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("GRAPHKM_DATA", str(tmp_path / "empty"))
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    arguments = ("--quick", "--datasets", "g50c", "--out", str(tmp_path / "results"))
    assert run("reproduce", "convergence", *arguments) == 3
    printed = capsys.readouterr().err
    assert "g50c could not be read" in printed and "GRAPHKM_DATA" in printed
    assert "made_moons,made_g50c needs no files" in printed


def test_the_sets_are_listed(capsys):
    assert run("datasets") == 0
    assert "covtype" in capsys.readouterr().out
