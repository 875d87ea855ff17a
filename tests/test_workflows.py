"""The workflows: what they may do, on what they run, and that the commands they call exist."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".github" / "workflows"
if not FOLDER.is_dir():  # tests of a source distribution
    pytest.skip("the workflows are not here", allow_module_level=True)
FILES = {path.stem: yaml.safe_load(path.read_text("utf-8")) for path in FOLDER.glob("*.yml")}
JOBS = {
    f"{name}/{job}": content
    for name, file in FILES.items()
    for job, content in file["jobs"].items()
}
STEPS = [(job, step) for job, content in JOBS.items() for step in content.get("steps", ())]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
# What a job may write: all others read.
WRITES = {
    "docs/publish": {"pages", "id-token"},
    "release/attest": {"attestations", "id-token"},
    "release/publish": {"id-token"},
    "release/announce": {"contents"},
}
TOOLS = {"pip", "pytest", "cibuildwheel", "graphkm.doctor"}
ARCHITECTURES = {"ubuntu-latest", "ubuntu-24.04-arm"}


def commands():
    """Yield the job and the words of every command."""
    for job, step in STEPS:
        for line in step.get("run", "").splitlines():
            yield job, line.split()


def test_there_are_all_four():
    assert {"tests", "wheels", "docs", "release"} <= set(FILES)


def test_every_command_exists():
    """A target of the Makefile, a script of this repository, or a tool that is known."""
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([\w-]+):", makefile, re.MULTILINE))
    phony = set(re.search(r"\.PHONY: ((?:.|\\\n)*?)\n\n", makefile)[1].replace("\\", "").split())
    assert phony <= targets
    seen = set()
    for job, words in commands():
        if words[0] == "make":
            assert set(words[1:]) <= phony, (job, words)
        elif words[:2] == ["python", "-m"]:
            assert words[2] in TOOLS, (job, words)
        elif words[0] == "python":
            assert (ROOT / words[1]).is_file(), (job, words)
        else:
            assert words[:3] == ["gh", "release", "create"], (job, words)
        seen.add(words[0])
    assert seen == {"make", "python", "gh"}


@pytest.mark.parametrize("name", FILES)
def test_nobody_may_do_more_than_needed(name):
    file = FILES[name]
    assert file["permissions"] in ({}, {"contents": "read"})
    assert "group" in file["concurrency"]
    for job, content in file["jobs"].items():
        written = {what for what, how in content.get("permissions", {}).items() if how == "write"}
        assert written == WRITES.get(f"{name}/{job}", set()), job
        assert "uses" in content or content["timeout-minutes"] <= 120, job


def test_no_event_gives_rights_to_strangers():
    for name, file in FILES.items():
        events = file[True]  # YAML 1.1 reads "on" as a truth value
        assert not {"pull_request_target", "workflow_run", "issue_comment"} & set(events), name


def test_actions_are_pinned_by_their_major_version():
    used = {step["uses"] for _, step in STEPS if "uses" in step}
    assert all(re.fullmatch(r"actions/[\w-]+@v\d+|pypa/[\w-]+@release/v1", each) for each in used)
    assert len({each.split("@")[0] for each in used}) == len(used)  # one version of each


def test_checkouts_leave_no_credentials():
    checkouts = [step for _, step in STEPS if step.get("uses", "").startswith("actions/checkout")]
    assert checkouts
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


def test_nothing_is_cached_where_releases_are_built():
    """A cache that another run has filled must not reach a wheel."""
    for job, step in STEPS:
        if step.get("uses", "").startswith("actions/setup-python"):
            assert ("cache" in step["with"]) is (job.split("/")[0] in ("tests", "docs")), job


def test_both_architectures_and_all_pythons_are_tried():
    matrix = JOBS["tests/test"]["strategy"]["matrix"]
    assert set(matrix["os"]) >= ARCHITECTURES
    assert set(JOBS["wheels/wheels"]["strategy"]["matrix"]["os"]) >= ARCHITECTURES
    named = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["project"]["classifiers"]))
    assert set(named) <= set(matrix["python"])
    oldest = PROJECT["project"]["requires-python"].removeprefix(">=")
    assert matrix["python"][0] == named[0] == oldest


def test_nothing_is_published_before_all_wheels_have_passed():
    needs = {
        job: FILES["release"]["jobs"][job].get("needs", []) for job in FILES["release"]["jobs"]
    }
    assert needs == {
        "notes": [],
        "build": "notes",
        "attest": "build",
        "publish": "attest",
        "announce": ["notes", "publish"],
    }
    assert FILES["release"][True] == {"push": {"tags": ["v*"]}}
    assert FILES["release"]["jobs"]["build"]["uses"] == "./.github/workflows/wheels.yml"
    assert "workflow_call" in FILES["wheels"][True]
    # PyPI trusts a workflow by its name and its environment; a called workflow would not do.
    assert JOBS["release/publish"]["environment"]["name"] == "pypi"


# ------------------------------------------------------------------ their scripts


def test_the_notes_of_a_release(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import release_notes

    log = "# Changelog\n\n## 1.2.0 (2030-01-31)\n\n- more\n\n## 1.1.0 (2029-01-01)\n\n- less\n"
    assert release_notes.notes(log, "1.2.0") == "- more\n"
    for version in ("1.1.0", "1.2", "1.2.1"):
        with pytest.raises(SystemExit, match=r"begins with '1\.2\.0"):
            release_notes.notes(log, version)
    with pytest.raises(SystemExit, match="begins with 'Unreleased'"):
        release_notes.notes("# Changelog\n\n## Unreleased\n\n## 1.2.0 (2030-01-31)\n", "1.2.0")
    with pytest.raises(SystemExit, match=r"The tag is v9\.9\.9"):
        release_notes.main("v9.9.9", str(tmp_path / "notes.md"))


def test_the_oldest_versions_are_those_of_the_project(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import oldest

    found = dict(line.split("==") for line in oldest.oldest(PROJECT["project"]))
    assert {"numpy", "scipy", "scikit-learn", "typer", "onnx"} <= set(found)
    assert not {"sphinx", "pytest", "cupy-cuda13x", "graphkm"} & set(found)
    for text in PROJECT["project"]["dependencies"]:
        name, _, lowest = text.partition(">=")
        assert ";" in text or found[name] == lowest
