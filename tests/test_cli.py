"""The command itself: help, examples that run, completion, exit codes, start-up."""

from __future__ import annotations

import csv
import fcntl
import io
import json
import os
import pty
import re
import shlex
import signal
import struct
import subprocess
import sys
import termios
from contextlib import chdir, redirect_stderr, redirect_stdout
from itertools import pairwise

import numpy as np
import pytest
from typer.main import get_command

from cli_runner import moons, process, run, write_csv
from graphkm.cli import main
from graphkm.cli.app import app
from label_server import label_page

COMMANDS = get_command(app).commands
SERVERS = ("label", "label-studio-backend")  # they run until they are stopped
MODELS = ("train", "predict", "evaluate", "suggest", "screen", "stream", "info", "export", "demo")


def examples(name):
    """Return the examples of a sub-command's help."""
    return re.findall(r"Example: (.+)", COMMANDS[name].epilog)


@pytest.fixture(scope="module")
def workshop(tmp_path_factory):
    """Return a folder with the files that examples name."""
    folder = tmp_path_factory.mktemp("workshop")
    X, y, names = moons(200, 20)
    write_csv(folder / "few_labels.csv", X, y)
    write_csv(folder / "labelled.csv", X[y != ""], y[y != ""], label="kind")
    write_csv(folder / "unlabelled.csv", X[y == ""])
    write_csv(folder / "new_rows.csv", X[:50])
    test = (folder / "test_rows.csv").open("w")
    with test:
        test.write("x,z,label,kind\n")
        test.writelines(f"{a},{b},{n},{n}\n" for (a, b), n in zip(X, names, strict=True))
    write_csv(folder / "rows.csv", X, y)
    write_papers(folder, X, y, names)
    write_songs(folder, X)
    write_texts_and_photos(folder)
    write_folders(folder)
    trained = ("moons.gkm", "model.gkm", "machine.gkm", "papers.gkm", "rows.gkm")
    for example in examples("train"):
        if example.startswith("graphkm ") and any(f" {name}" in example for name in trained):
            done = run_example(example, folder)
            assert done.returncode == 0, done.stderr
    return folder


def write_folders(folder):
    """Write folders of tables: rows, and texts in Parquet."""
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    for name, table in (("rows", "few_labels.csv"), ("reviews", "texts.csv")):
        (folder / name).mkdir()
        with (folder / table).open(newline="") as file:
            lines = list(csv.DictReader(file))
        for k, part in enumerate((lines[::2], lines[1::2])):
            if name == "reviews":
                parquet.write_table(pa.Table.from_pylist(part), folder / name / f"{k}.parquet")
                continue
            with (folder / name / f"{k}.csv").open("w", newline="") as file:
                out = csv.DictWriter(file, list(part[0]))
                out.writeheader()
                out.writerows(part)


def write_songs(folder, X):
    """Write rows with two labels each: in columns of their own, and as names in one column."""
    columns, tags = ["x,z,happy,quiet"], ["x,z,tags"]
    for k, (a, b) in enumerate(X):
        happy, quiet = bool(a > 0), bool(b > 0.2)
        told = ";".join(["happy"] * happy + ["quiet"] * quiet) or "-"
        columns.append(f"{a},{b},{int(happy)},{int(quiet)}" if k < 40 else f"{a},{b},,")
        tags.append(f"{a},{b},{told if k < 40 else ''}")
    (folder / "songs.csv").write_text("\n".join(columns) + "\n")
    (folder / "tagged.csv").write_text("\n".join(tags) + "\n")


def write_papers(folder, X, y, names):
    """Write papers that cite the next one of their kind, and new ones that cite them."""
    ids = [f"p{k}" for k in range(len(X))]
    for name, labels, some in (
        ("papers", y, slice(None, 150)),
        ("new_papers", names, slice(150, None)),
    ):
        lines = [f"{i},{a},{b},{n}" for i, (a, b), n in zip(ids, X, labels, strict=True)]
        (folder / f"{name}.csv").write_text("\n".join(["paper,x,z,label", *lines[some]]) + "\n")
    alike = [np.flatnonzero(names == name) for name in ("cat", "dog")]
    cites = [(ids[u], ids[v]) for each in alike for u, v in pairwise(each)]
    new = set(ids[150:])
    for name, wanted in (("cites", False), ("new_cites", True)):
        lines = [f"{u},{v}" for u, v in cites if bool({u, v} & new) is wanted]
        (folder / f"{name}.csv").write_text("\n".join(["source,target", *lines]) + "\n")


def write_texts_and_photos(folder):
    """Write a table of texts, and a folder of pictures; half of them have labels."""
    said = {"good": "a great phone, I love it", "bad": "it broke, I want my money back"}
    rows = [(f"{said[name]} {k}", name * (k < 6)) for k in range(12) for name in said]
    lines = [f'"{text}",{label}' for text, label in rows]
    (folder / "texts.csv").write_text("\n".join(["review,label", *lines]) + "\n")
    Image = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(0)
    for k in range(24):
        name = ("dark", "light")[k % 2] if k < 12 else "unlabelled"
        (folder / "photos" / name).mkdir(parents=True, exist_ok=True)
        grey = rng.integers(0, 90, (9, 9), dtype=np.uint8) + np.uint8(150 * (k % 2))
        Image.fromarray(grey).save(folder / "photos" / name / f"{k}.png")


def run_example(example, folder):
    """Run a line of the shell: in this process, or as it stands where it has more than graphkm."""
    program, *arguments = shlex.split(example)
    if program == "graphkm":
        out, err = io.StringIO(), io.StringIO()
        with chdir(folder), redirect_stdout(out), redirect_stderr(err):
            code = run(*arguments)
        return subprocess.CompletedProcess(example, code, out.getvalue(), err.getvalue())
    command = example.replace("graphkm ", f"{shlex.quote(sys.executable)} -m graphkm.cli ", 1)
    return subprocess.run(
        command, shell=True, capture_output=True, text=True, check=False, cwd=folder
    )


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "example"),
    [(name, example) for name in COMMANDS for example in examples(name) if name not in SERVERS],
)
def test_examples_run(name, example, workshop):
    if "onnx" in example:
        pytest.importorskip("onnx")
    if "--text" in example:
        pytest.importorskip("tokenizers")
    done = run_example(example, workshop)
    assert done.returncode == 0, done.stderr
    assert done.stdout or "--out" in example
    if "--json" in example:
        assert isinstance(json.loads(done.stdout), dict)


@pytest.mark.long
@pytest.mark.parametrize("example", examples("label"))
def test_the_labelling_page_opens_and_ends_with_ctrl_c(example, workshop):
    pytest.importorskip("starlette")
    pytest.importorskip("pyarrow")
    _, _, *arguments = shlex.split(example)
    people, demo = 2 * ("--people" in arguments), "--demo" in arguments
    with label_page(workshop, *arguments, people=people) as opened:
        page = opened[0] if people else opened
        if demo:  # everybody gets an address of their own
            status, headers, _ = page.request("GET", "")
            assert status == 303
            page.token = headers["location"].strip("/")
        assert page.get("api/state")["rows"] > 100
        page.process.send_signal(signal.SIGINT)
        assert page.process.wait(30) == 0
        said = "nothing was saved" if demo else "labels are in"
        assert said in page.process.stderr.read()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(name, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    assert run(name, "--help") == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert examples(name)
    for example in examples(name):
        assert f"Example: {example}" in printed


def test_all_commands_are_listed_and_exit_codes_told(capsys):
    assert run("--help") == 0
    printed = " ".join(capsys.readouterr().out.split())
    for word in (*MODELS, "label", "datasets", "130 interrupted", "2 wrong usage"):
        assert word in printed


def test_the_sets_are_listed(capsys):
    assert run("datasets") == 0
    assert "covtype" in capsys.readouterr().out


def test_the_version(capsys):
    from importlib.metadata import version

    assert run("--version") == 0
    assert capsys.readouterr().out == f"graphkm {version('graphkm')}\n"


@pytest.mark.dear
@pytest.mark.parametrize("arguments", [["--help"], ["train", "--help"], ["--version"]])
def test_help_does_not_wait_for_scikit_learn(arguments):
    code = (
        "import sys\nfrom graphkm.cli import main\n"
        f"try:\n    main({arguments})\nexcept SystemExit:\n    pass\n"
        "slow = {'sklearn', 'numpy', 'scipy', 'pyarrow', 'matplotlib'} & set(sys.modules)\n"
        "sys.exit(f'imported {slow}' if slow else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


SLOW = (
    # A module inside tells scipy.stats and pandas from their stand-ins.
    "scipy.stats._stats_py pandas.core sklearn.model_selection sklearn.metrics sklearn.compose "
    "sklearn.impute sklearn.neighbors sklearn.linear_model sklearn.ensemble pyarrow matplotlib "
    "onnx onnxruntime dask distributed skops polars typer.rich_utils"
)


# A search tree of scikit-learn imports all of these. Its old versions always import pandas.
@pytest.mark.long
@pytest.mark.parametrize("scale", ["standard", "none"])
def test_predict_imports_what_it_needs_alone(tmp_path, scale):
    X, y, _ = moons(100, 20)
    train = write_csv(tmp_path / "few.csv", X, y)
    new = write_csv(tmp_path / "new.csv", X)
    model = tmp_path / "m.gkm"
    assert run("train", train, model, "--method", "gkm", "--scale", scale) == 0
    script = (
        "import sys, sklearn.base\n"
        "theirs = set(sys.modules)\n"
        "from graphkm.cli import main\n"
        f"try: main(['predict', {str(model)!r}, {str(new)!r}])\n"
        "except SystemExit as end: assert not end.code\n"
        f"slow = {{*{SLOW.split()!r}}} & set(sys.modules) - theirs\n"
        "sys.exit(f'imported {slow}' if slow else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 101


@pytest.mark.long
@pytest.mark.parametrize(
    "way",
    [
        "import scipy.stats; assert scipy.stats.norm.cdf(0) == 0.5",
        "from scipy import stats; assert stats.norm.cdf(0) == 0.5",
        "from scipy.stats import norm; assert norm.cdf(0) == 0.5",
        "import scipy.stats.distributions as d; assert d.norm.cdf(0) == 0.5",
        "import numpy; assert numpy.f2py.get_include()",
        "from sklearn.preprocessing import PowerTransformer as P; P().fit([[1.0], [2.0], [4.0]])",
        "import pandas as pd; from graphkm import GKMClassifier; "
        "X = pd.DataFrame({'x': [0.0, 0.1, 0.9, 1.0]}); "
        "model = GKMClassifier(unlabeled='').fit(X, ['a', '', '', 'b']); "
        "assert model.feature_names_in_.tolist() == ['x']",
    ],
)
def test_what_is_postponed_is_there_when_it_is_asked_for(way):
    begin = "from graphkm.cli.starting import import_scikit_learn; import_scikit_learn(); "
    subprocess.run([sys.executable, "-c", begin + way], check=True)


@pytest.mark.long
def test_shell_completion(tmp_path):
    done = process(
        _GRAPHKM_COMPLETE="complete_bash", COMP_WORDS="graphkm ev", COMP_CWORD="1", folder=tmp_path
    )
    assert done.stdout.split() == ["evaluate"]
    done = process(
        _GRAPHKM_COMPLETE="complete_bash", COMP_WORDS="graphkm train --sca", COMP_CWORD="2"
    )
    assert done.stdout.split() == ["--scale"]
    done = process(_GRAPHKM_COMPLETE="source_bash")
    assert "complete" in done.stdout and "graphkm" in done.stdout


def test_wrong_usage_ends_with_2():
    for arguments in (
        ("train",),
        ("train", "a.csv", "m.gkm", "--colour", "red"),
        ("train", "a.csv", "m.gkm", "--threads", "0"),
        ("nothing",),
        ("predict", "m.gkm", "a.csv", "--json"),
        ("demo", "--points", "60", "--labels", "50"),
    ):
        assert run(*arguments) == 2


@pytest.mark.long
def test_debug_shows_where_an_error_comes_from(tmp_path):
    with pytest.raises(FileNotFoundError):
        main(["--debug", "train", str(tmp_path / "no.csv"), str(tmp_path / "m.gkm")])
    done = process("--debug", "train", "no.csv", "m.gkm", folder=tmp_path)
    assert "Traceback" in done.stderr and done.returncode == 1
    done = process("train", "no.csv", "m.gkm", folder=tmp_path)
    assert done.stderr == "graphkm: no.csv: no such file or directory.\n"
    assert done.returncode == 3


@pytest.mark.long
def test_progress_is_for_terminals_only(workshop):
    arguments = [
        "-m",
        "graphkm.cli",
        "train",
        "few_labels.csv",
        "t.gkm",
        "--method",
        "gkm",
        "--search",
    ]
    quiet = process(*arguments[2:], folder=workshop)
    assert quiet.returncode == 0 and quiet.stderr == ""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=workshop,
        stderr=follower,
        stdout=subprocess.PIPE,
        check=False,
        env={**os.environ, "TQDM_DELAY": "0"},
    )
    os.close(follower)
    shown = os.read(leader, 100_000)
    os.close(leader)
    assert done.returncode == 0 and b"search" in shown and b"candidate" in shown


@pytest.mark.long
@pytest.mark.slow
def test_summaries_are_plain_lines_in_a_pipe_and_wrap_in_a_terminal(workshop):
    arguments = ["evaluate", "moons.gkm", "test_rows.csv"]
    piped = process(*arguments, folder=workshop, COLUMNS="30", FORCE_COLOR="1", TERM="xterm")
    lines = piped.stdout.splitlines()
    assert piped.returncode == 0 and "\x1b" not in piped.stdout
    assert [line for line in lines if line.endswith("% (mean over the classes)")]
    assert all(line == line.rstrip() for line in lines)
    table = [line.split() for line in lines[-3:]]
    assert table[0] == ["true", "\\", "predicted", "cat", "dog"]
    assert [row[0] for row in table[1:]] == ["cat", "dog"]
    assert sum(int(cell) for row in table[1:] for cell in row[1:]) == 200
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 30, 0, 0))
    environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")}
    command = [sys.executable, "-m", "graphkm.cli", *arguments]
    subprocess.run(command, cwd=workshop, stdout=follower, check=True, env=environment)
    os.close(follower)
    shown = os.read(leader, 100_000).decode().splitlines()
    os.close(leader)
    assert len(shown) > len(lines) and max(map(len, shown)) <= 30


@pytest.mark.long
def test_a_closed_pipe_is_no_error_to_speak_of(workshop):
    command = f"{shlex.quote(sys.executable)} -m graphkm.cli predict moons.gkm new_rows.csv"
    done = subprocess.run(
        f"{command} | head -1", shell=True, cwd=workshop, capture_output=True, text=True, check=True
    )
    assert done.stdout == "prediction,decision\n" and "Traceback" not in done.stderr
