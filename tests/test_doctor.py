"""`graphkm doctor` where packages are absent, too old, broken, or crash the process."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from cli_runner import process, run
from graphkm.doctor import examine, lines, verdict
from graphkm.doctor.children import ask
from graphkm.doctor.findings import broken, notes
from graphkm.doctor.machine import folder, variables
from graphkm.doctor.requirements import Requirement, numbers, requirements

pytestmark = pytest.mark.skipif(os.name == "nt", reason="it plants programs of the shell")


@pytest.fixture(scope="module")
def facts():
    """Return what the doctor finds here, once."""
    return examine()


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """Return a function that plants modules and programs before those that are installed."""

    def plant(**files):
        for name, text in files.items():
            path = tmp_path / (name.replace("_", "-") if text.startswith("#!") else f"{name}.py")
            path.write_text(text)
            path.chmod(0o755)
        found = os.environ | {
            "PYTHONPATH": str(tmp_path),
            "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
            "OMP_NUM_THREADS": "1",
        }
        command = [sys.executable, "-m", "graphkm.doctor", "--json"]
        done = subprocess.run(command, capture_output=True, text=True, env=found, check=False)
        return done.returncode, json.loads(done.stdout)

    return plant


@pytest.mark.long
def test_all_is_well_here(facts):
    assert facts["broken"] == []
    assert facts["compiled"]["used"] in facts["compiled"]["possible"]
    assert facts["fit"]["accuracy"] > 0.95 and facts["fit"]["cpu_seconds"] > 0
    assert any(pool["user_api"] == "blas" for pool in facts["blas"]["pools"])
    assert facts["needed"]["numpy"]["version"] == __import__("numpy").__version__
    assert json.loads(json.dumps(facts)) == facts
    table = lines(facts)
    assert all(isinstance(text, str) and text for _, text in table)
    assert {"graphkm", "compiled code", "BLAS", "memory", "card", "self test"} <= {
        name for name, _ in table
    }
    assert verdict(facts)[-1] == "All that graphkm needs is here and works."


@pytest.mark.long
def test_optional_packages_that_crash_are_notes(planted):
    """A crash, an import error and noise on the output: all is told, and the exit code is 0."""
    code, facts = planted(
        pooch="import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
        typer="print('noise'); raise ImportError('no typer today')",
        nvidia_smi="#!/bin/sh\necho 'NVIDIA H200, 580.1, 143771 MiB'\n",
    )
    assert code == 0 and facts["broken"] == []
    told = " ".join(facts["notes"])
    assert "the process ended with SIGSEGV" in told and "graphkm[datasets]" in told
    assert "no typer today" in told and "graphkm[cli]" in told
    assert facts["cards"]["cards"][0]["driver"] == "580.1"
    if not facts["extras"]["cuda"]["cupy-cuda13x"]["version"]:
        assert "There is a card, and CuPy is missing" in told
    assert facts["extras"]["cli"]["rich"]["wrong"] is None  # asked after the crash


@pytest.mark.long
def test_a_broken_package_that_is_needed_is_told(planted):
    code, facts = planted(scipy="raise ImportError('libopenblas.so.0: no such file')")
    assert code == 1
    told = facts["broken"][0]  # scikit-learn follows, for the same reason
    assert told.startswith("scipy") and "libopenblas.so.0" in told and "pip install" in told


@pytest.mark.long
def test_compiled_code_that_cannot_be_used_is_told(monkeypatch):
    done = process("doctor", GRAPHKM_ISA="abacus", OMP_NUM_THREADS="1")
    assert done.returncode == 1
    assert "BROKEN: The compiled code cannot be used" in done.stdout and "abacus" in done.stdout


@pytest.mark.long
def test_without_typer_the_command_names_the_other_way(tmp_path):
    (tmp_path / "typer.py").write_text("raise ModuleNotFoundError(name='typer')")
    done = process("doctor", PYTHONPATH=str(tmp_path))
    assert done.returncode == 1 and "python -m graphkm.doctor" in done.stderr


def test_what_is_broken_and_what_is_noted():
    """Every sentence says what to do."""
    good = {"version": "2.4", "wanted": ">=1.26", "wrong": None}
    facts = {
        "needed": {"numpy": good},
        "compiled": {"used": "avx2", "possible": ["avx2"]},
        "fit": {"accuracy": 1.0},
        "extras": {"plot": {"matplotlib": good}, "cuda": {"cupy-cuda13x": {"version": None}}},
        "cards": {"cards": [], "why": "no driver"},
        "folders": {},
    }
    facts["extras"]["cuda"]["cupy-cuda13x"]["wrong"] = "missing"
    assert broken(facts) == notes(facts) == []
    assert "GRAPHKM_ISA=portable" in broken(facts | {"fit": {"accuracy": 0.5}})[0]
    assert "SIGILL" in broken(facts | {"fit": {"error": "the process ended with SIGILL"}})[0]
    missing = good | {"version": None, "wrong": "missing"}
    (told,) = broken(facts | {"needed": {"numpy": missing}, "fit": {"error": "no numpy"}})
    assert told == 'numpy: missing. Run pip install --upgrade --force-reinstall "numpy>=1.26"'
    unwritable = {"vectors": {"path": "/cache", "writable": False}}
    assert notes(facts | {"folders": unwritable}) == ["Nothing can be written to /cache"]
    assert notes(facts | {"card": {"error": "no driver"}}) == ["CuPy cannot use a card: no driver"]


@pytest.mark.parametrize(
    ("sign", "version", "installed", "fits"),
    [
        (">=", "1.26", "1.26.0", True),
        (">=", "1.26", "1.9.3", False),
        (">=", "2.10", "2.9", False),
        (">=", "2", "2.0.0rc1", True),
        ("==", "0.2.2.post0", "0.2.2.post0", True),
        ("==", "0.2.2.post0", "0.3.0", False),
        ("", "", "7", True),
        (">=", "1", None, False),
    ],
)
def test_versions_that_fit(sign, version, installed, fits):
    assert Requirement("some", sign, version, installed).fits is fits


def test_versions_are_compared_by_their_numbers():
    assert numbers("1.2.0") == numbers("1.2") < numbers("1.10") < numbers("2026.1.0.dev3")


def test_lines_of_other_systems_do_not_count(monkeypatch):
    asked = [
        "numpy>=1.26",
        'numpy>=2; sys_platform == "nowhere"',
        'pillow>=10; extra == "image"',
        'graphkm[image]; extra == "app"',
        'pytest>=8; extra == "test"',
    ]
    monkeypatch.setattr("importlib.metadata.requires", lambda name: asked)
    needed, extras = requirements()
    assert [str(each) for each in needed] == ["numpy>=1.26"]
    assert {name: [str(each) for each in group] for name, group in extras.items()} == {
        "image": ["pillow>=10"]
    }
    monkeypatch.setattr("sys.platform", "nowhere")
    assert [str(each) for each in requirements()[0]] == ["numpy>=2"]


def test_a_child_answers_every_question():
    told = ask("importing", ["json", "no_such_package", "string"])
    assert list(told) == ["json", "no_such_package", "string"]
    assert told["string"] == {"version": None}
    assert "ModuleNotFoundError" in told["no_such_package"]["error"]


def test_variables_and_folders(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPHKM_ISA", "portable")
    monkeypatch.setenv("AWS_SECRET", "hidden")
    assert variables()["GRAPHKM_ISA"] == "portable" and "AWS_SECRET" not in variables()
    (tmp_path / "a").write_bytes(b"12345")
    assert folder(tmp_path) == {
        "path": str(tmp_path), "exists": True, "bytes": 5, "writable": True
    }  # fmt: skip
    assert folder(tmp_path / "a" / "b")["writable"] is False  # a file stands in the way


def test_the_command_prints_what_the_module_finds(monkeypatch, capsys):
    """The exit code and both forms, of findings that are made up."""
    made = {"broken": ["numpy is gone"], "notes": []}
    monkeypatch.setattr("graphkm.doctor.examine", lambda: made)
    monkeypatch.setattr("graphkm.doctor.lines", lambda facts: [("BLAS", "one"), ("", "two")])
    assert run("doctor") == 1
    printed = capsys.readouterr().out.splitlines()
    assert printed == ["BLAS  one", "      two", "", "BROKEN: numpy is gone."]
    assert run("doctor", "--json") == 1
    assert json.loads(capsys.readouterr().out) == made
