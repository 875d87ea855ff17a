"""Every example runs as a user would run it, draws one figure, and shows what its text says."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).parents[1] / "examples"
# The figure that is left when an example ends is saved: one without any would save an empty page.
RUNNER = """
import runpy, sys
import matplotlib.pyplot as plt
runpy.run_path(sys.argv[1], run_name="__main__")
assert len(plt.get_fignums()) == 1, f"{len(plt.get_fignums())} figures"
assert plt.gcf().axes and all(ax.has_data() for ax in plt.gcf().axes)
"""


@pytest.fixture
def run(tmp_path):
    """Return a function that runs an example in a folder of its own and returns its output."""

    def run(name):
        folder = tmp_path / "examples"
        folder.mkdir()
        script = shutil.copy(EXAMPLES / f"{name}.py", folder)
        # One thread each: the suite should not depend on how busy the other cores are.
        environment = os.environ | {"MPLBACKEND": "Agg", "OMP_NUM_THREADS": "1"}
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", RUNNER, script],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def numbers(output, beginning):
    """Return the numbers of the line that begins so; per cent as printed."""
    (line,) = (line for line in output.splitlines() if line.strip().startswith(beginning))
    return [float(n) for n in re.findall(r"[-+]?\d+\.\d+", line[len(beginning) :])]


def test_every_example_is_tested():
    tests = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}
    assert {path.stem for path in EXAMPLES.rglob("*.py")} <= tests


@pytest.mark.long
def test_two_moons(run, tmp_path):
    out = run("two_moons")
    assert "1000 points, 8 labels" in out
    for page in ("README.md", "docs/index.md"):  # one number of labels beside the picture
        assert "92 %" in (text := (EXAMPLES.parent / page).read_text(encoding="utf-8"))
        assert "eight labels" in text and "six labels" not in text
    one_draw = out.split("mean of ten draws")[0].rsplit("\n", 1)[0]
    alone = numbers(one_draw, "SVC, labelled points only")[0]
    together = numbers(one_draw, "graphkm, with the unlabelled")[0]
    assert (alone, together) == pytest.approx((92, 100), abs=1.5)  # the README's caption
    assert (tmp_path / "out" / "two_moons.png").stat().st_size > 50_000


@pytest.mark.slow  # `make docs` runs it, too
def test_texts(run):
    pytest.importorskip("tokenizers")
    out = run("tutorial/texts")
    (alone,), (ours,) = (numbers(out, each) for each in ("words and a", "SemiSupervisedClassifier"))
    assert ours > alone + 3
    (suggested,), (_,) = numbers(out, "24 more, suggested"), numbers(out, "24 more, by chance")
    assert suggested > ours


@pytest.mark.slow  # `make docs` runs it, too
def test_table(run):
    out = run("tutorial/table")
    (mean, worst), (theirs, _) = numbers(out, "SemiSupervised"), numbers(out, "random forest")
    assert mean > theirs and worst > 90
    inside, alone = numbers(out, "truth inside the set")
    assert inside > 90 and alone > 60
    assert re.search(r"^[23] of the 3 slips", out, re.MULTILINE)
    assert "60 more labels" in out


@pytest.mark.slow  # `make docs` runs it, too
def test_graph(run):
    pytest.importorskip("tokenizers")
    out = run("tutorial/graph")
    (spreading,) = numbers(out, "label spreading")
    lines = [line for line in out.splitlines() if " labels, " in line]
    links, texts, both = (float(re.search(r"([\d.]+)%", line)[1]) for line in lines)
    assert links > spreading
    assert both > texts - 3  # "they do little harm"


@pytest.mark.slow  # `make docs` runs it, too
def test_comparing_classifiers(run):
    out = run("comparing_classifiers")
    alone = numbers(out, "SVC, labels only")
    for name in ("forest, SVC, graph", "SemiSupervised"):
        ours = numbers(out, name)
        assert ours[0] > alone[0]  # moons
        assert ours[1] > alone[1] + 10  # rings
        assert ours[3] > alone[3] - 2  # "a method should not lose by them"
    ours = numbers(out, "GKMClassifierCV")
    assert all(ours[i] > alone[i] + 3 for i in (0, 1))
    assert ours[3] > alone[3] - 2


@pytest.mark.slow  # `make docs` runs it, too
def test_digits(run):
    out = run("digits")
    svc, ours = numbers(out, "SVC, labelled images only"), numbers(out, f"{'GKMClassifier':28}")
    assert ours[0] > svc[0] + 5  # one label per class
    assert abs(ours[4] - svc[4]) < 3  # "gone at twenty per class"


@pytest.mark.slow  # `make docs` runs it, too
def test_text_topics(run):
    out = run("text_topics")
    svc, ours = numbers(out, "SVC, labelled documents only"), numbers(out, "GKMClassifier")
    assert ours[0] > svc[0] + 5
    assert ours[4] > svc[4] - 2  # "leaves it out"


@pytest.mark.slow  # `make docs` runs it, too
def test_regression(run):
    arcs, sheet, table = run("regression").split("R^2 on the other rows")[1:]
    assert numbers(arcs, "GKMRegressorCV") > numbers(arcs, "SVR")
    assert numbers(sheet, "SVR")[0] > 0.5
    # "five neighbours are better than every kernel machine here"
    others = ("SVR", "GKMRegressor ", "GKMRegressorCV")
    assert numbers(table, "5 neighbours")[0] > max(numbers(table, name)[0] for name in others)


@pytest.mark.slow  # `make docs` runs it, too
def test_choosing_a_graph(run):
    moons, clouds = run("choosing_a_graph").split("accuracy on the unlabelled rows")[1:]
    assert numbers(moons, "knn")[0] > numbers(moons, "no graph")[0]
    assert numbers(clouds, "knn")[0] < numbers(clouds, "no graph")[0]  # "every graph misleads"


@pytest.mark.slow  # `make docs` runs it, too
def test_forest_and_graph(run):
    out = run("forest_and_graph")
    (alone,), (both,) = (numbers(out, name) for name in ("forest alone", "forest and graph"))
    assert both > alone + 3
    alone, both, share = numbers(out, "digits")
    assert both > alone + 5 and share < 5  # "the neighbours say most"
    alone, both, share = numbers(out, "table")
    assert both > alone - 1 and share > 80  # "the forest gets the weight"


@pytest.mark.slow  # `make docs` runs it, too
def test_drifting_stream(run):
    out = run("drifting_stream")
    assert numbers(out, "GKMClassifier, keeps everything")[0] < 60
    assert numbers(out, "GKMClassifier, half_life=100 ")[0] > 85


@pytest.mark.slow  # `make docs` runs it, too
def test_comparing_solvers(run):
    out = run("comparing_solvers")
    written_out, said = numbers(out, "newton: J =")[:2]
    assert written_out == pytest.approx(said, abs=2e-4)
    first, last = numbers(out, "sgd,    128 steps")[0], numbers(out, "sgd,  16384 steps")[0]
    assert 0 < last < first / 20  # as 1 / T over a factor of 128
    assert "After T steps the expected objective" in out


@pytest.mark.slow  # `make docs` runs it, too
def test_exporting(run):
    out = run("exporting")
    assert "largest difference 0.0e+00" in out.splitlines()[0]  # the own file
    libsvm = float(re.search(r"LIBSVM: .*difference (\S+),", out)[1])
    assert 0 < libsvm < 1e-9
    assert "same label 100.0%" in out
