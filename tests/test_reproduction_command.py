"""The command of the experiments: what it prints, and that errors are sentences."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from reproduction.command import main
from reproduction.ledger import Ledger


def run(*arguments):
    """Run the command in this process; return its exit code."""
    try:
        main(list(arguments))
    except SystemExit as end:
        return end.code
    return 0


@pytest.mark.long
def test_run_then_report(tmp_path, capsys):
    out = str(tmp_path / "results")
    assert run("run", "graph", "--quick", "--out", out) == 0
    assert "[1/1] graph made_curve knn tenth run 1: ok" in capsys.readouterr().out
    assert run("report", out) == 0
    printed = capsys.readouterr().out.split()
    assert [Path(name).name for name in printed] == ["report.md", "report-graph.svg"]
    assert all(Path(name).parent == Path(out) for name in printed)
    assert all(Path(name).stat().st_size > 1000 for name in printed)


@pytest.mark.slow
def test_sets_can_be_named_with_commas(tmp_path, capsys):
    out = str(tmp_path)
    assert run("run", "unlabeled", "--quick", "--datasets", "made_moons,", "--out", out) == 0
    rows = Ledger(tmp_path).rows()
    assert {row["dataset"] for row in rows} == {"made_moons"}
    assert {row["hidden"] for row in rows} == {50, 60, 70, 80, 90}
    assert all(row["status"] == "ok" for row in rows)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "nothing"), "There is no experiment 'nothing'; the names are sets,"),
        (
            ("run", "losses", "--datasets", "iris"),
            "There is no set 'iris'; the names are made_moons,",
        ),
        (("run", "convergence", "--datasets", "a1a"), "does not use a1a"),
        (("report", "no-such-folder"), "holds no results"),
    ],
)
def test_errors_are_sentences(arguments, message, capsys):
    assert run(*arguments) == 1
    printed = capsys.readouterr().err
    assert message in printed and "Traceback" not in printed
    assert printed.startswith("reproduction: ")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--full",), "unrecognized arguments: --full"),
        (("--jobs", "0"), "--jobs: 0 is below 1"),
        (("--minutes", "nan"), "--minutes: nan is below 0.05"),
        (("--memory", "much"), "--memory: invalid float value"),
    ],
)
def test_options_that_cannot_be_are_wrong_usage(options, message, capsys):
    assert run("run", "losses", *options) == 2
    assert message in capsys.readouterr().err


@pytest.mark.long
def test_the_command_is_a_program():
    root = Path(__file__).resolve().parents[1]
    command = [sys.executable, "-m", "reproduction", "--help"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    assert "run" in done.stdout and "report" in done.stdout


def test_debug_shows_where_an_error_comes_from():
    with pytest.raises(ValueError, match="no experiment"):
        main(["--debug", "run", "nothing"])


@pytest.mark.long
def test_settings_of_another_run_are_refused(tmp_path, capsys):
    assert run("run", "graph", "--quick", "--out", str(tmp_path)) == 0
    assert run("run", "graph", "--out", str(tmp_path)) == 1
    assert "other settings" in capsys.readouterr().err


@pytest.mark.long
def test_without_files_and_network_it_says_what_to_do(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("GRAPHKM_DATA", str(tmp_path / "empty"))
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    arguments = ("--quick", "--datasets", "g50c", "--out", str(tmp_path / "results"))
    assert run("run", "convergence", *arguments) == 3
    printed = capsys.readouterr().err
    assert "g50c could not be read" in printed and "GRAPHKM_DATA" in printed
    assert "made_moons,made_g50c needs no files" in printed
