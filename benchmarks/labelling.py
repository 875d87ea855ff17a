"""The labelling page: the time of an answer and of a new model, and the gain of the page's order.

    python benchmarks/labelling.py [--part times,many,mnist] [--images 10000] [--seeds 1]

Everything goes through the page's own interface: the command `graphkm label` runs as a process, and
answers are posted to it as the page posts them. "answer" is the wall time from the post to the
next row, when a person sees it. "model" is the processor time of a fit and of all that follows
from it. "until shown" is the wall time from an answer until the page shows a model that knows it.
Wall times are medians, followed by 95th percentiles.

"many" is about thousands of answers. The journal holds them when the page starts, and ten more are
given. "memory" is the most that the process had in use, and "added" is how much more it had in use
than a page with ten answers.

MNIST is a folder of images. Answers are the true labels, in the order of the page or at random.
The model is fitted after every answer. Accuracy is that on the images without a label: of the live
model, and of the model that the page saves, which is `GKMClassifier` on all rows.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from _common import Figure, script, table
from graphkm.app.journal_lines import with_checksum
from graphkm.cli.model_files import read_model
from leaderboard.row_sets import SETS

COUNTS = (50, 100, 200)


class Page:
    """A running labelling page."""

    def __init__(self, address: str, process: int = 0) -> None:
        self.address, self._process = address, process

    def ask(self, path: str, body: Any = None) -> Any:
        """Return the answer to a request."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.address + path, data, headers)
        with urllib.request.urlopen(request, timeout=600) as answer:
            return json.load(answer)

    def memory(self) -> tuple[float, float]:
        """Return megabytes in use, and the most so far; zeros where the system does not say."""
        place = Path(f"/proc/{self._process}/status")
        if not place.exists():
            return 0.0, 0.0
        words = dict(line.split(":", 1) for line in place.read_text().splitlines())
        now, most = (float(words[name].split()[0]) * 1024 / 1e6 for name in ("VmRSS", "VmHWM"))
        return now, most

    def current(self) -> dict[str, Any]:
        """Return the state once the model has seen every answer."""
        while not (state := self.ask("api/state"))["current"]:
            time.sleep(0.01)
        return state


@contextmanager
def labelling(*arguments: Any) -> Iterator[Page]:
    command = [sys.executable, "-m", "graphkm.cli", "label", *map(str, arguments), "--no-browser"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.readline()
    try:
        yield Page(process.stdout.readline().strip(), process.pid)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)


# -------------------------------------------------------------------- times


def clusters(folder: Path, n: int) -> tuple[tuple[Any, ...], np.ndarray]:
    """Return the command for n rows of 20 columns in five clusters, and their classes."""
    rng = np.random.default_rng(0)
    truth = rng.integers(5, size=n)
    X = rng.normal(size=(n, 20)) + 1.5 * rng.normal(size=(5, 20))[truth]
    rows = folder / "rows.csv"
    head = ",".join(f"x{k}" for k in range(20))
    np.savetxt(rows, X, delimiter=",", header=head, comments="", fmt="%.6g")
    return (rows, "--out", folder / "labels.csv", "--classes", "0,1,2,3,4"), truth


def timed(page: Page, truth: np.ndarray, answers: int) -> dict[str, list[float]]:
    """Return the times of answers in the page's order."""
    times: dict[str, list[float]] = {"answer": [], "until shown": [], "model": []}
    state = page.current()
    for _ in range(answers):
        row = state["queue"][0]
        body = {"row": row, "kind": "label", "label": str(truth[row])}
        start = time.perf_counter()
        state = page.ask("api/answer", body)
        page.ask(f"api/row/{state['queue'][0]}")
        times["answer"].append(time.perf_counter() - start)
        state = page.current()
        times["until shown"].append(time.perf_counter() - start)
        times["model"].append(state["modelSeconds"])
    return times


def measured(n: int, answers: int) -> dict[str, list[float]]:
    """Return the times of answers to n rows of 20 columns in five clusters."""
    with tempfile.TemporaryDirectory() as folder:
        command, truth = clusters(Path(folder), n)
        with labelling(*command) as page:
            return timed(page, truth, answers)


def after(n: int, known: int, answers: int) -> tuple[dict[str, list[float]], float, float]:
    """Return the times of answers that follow many, and the memory of the page."""
    with tempfile.TemporaryDirectory() as folder:
        command, truth = clusters(Path(folder), n)
        with labelling(*command) as page:
            page.current()
        journal = Path(folder, "labels.csv.journal")
        drawn = np.random.default_rng(1).permutation(n)[:known].tolist()
        with journal.open("a") as file:
            for k, row in enumerate(drawn):
                how = ("check", "suggested", "suggested", "suggested")[k % 4]
                entry = {"row": row, "kind": "label", "label": str(truth[row]), "how": how}
                file.write(with_checksum(json.dumps(entry).encode()).decode() + "\n")
        with labelling(*command) as page:
            return timed(page, truth, answers), *page.memory()


def run_many(quick: bool) -> list[Figure]:
    n, figures, lines = (2_000 if quick else 20_000), [], []
    base = 0.0
    for known in (10, 1_000) if quick else (10, 100, 1_000, 2_000, 5_000):
        times, now, most = after(n, known, 10)
        base = base or now
        model = float(np.median(times["model"])), max(times["model"])
        lines.append(
            [f"{known:,}", *(f"{v:.2f}" for v in model), f"{now - base:.0f}", f"{most:.0f}"]
        )
        limit = (0.5, 300.0) if known == 5_000 else (None, None)
        figures += [
            Figure(f"model after {known:,} answers", model[0], "s", limit[0], False),
            Figure(f"memory added by {known:,} answers", now - base, "MB", limit[1], False),
        ]
    head = ["answers", "model, processor s", "the slowest", "added MB", "most MB"]
    print(f"\n{n:,} rows, ten answers after many\n" + table(head, lines))
    return figures


def run_times(quick: bool) -> list[Figure]:
    figures = []
    for n in (2_000,) if quick else (10_000, 100_000):
        times = measured(n, 10 if quick else 100)
        print(f"{n:,} rows, {len(times['answer'])} answers, one after another")
        for name, values in times.items():
            print(f"  {name}: {np.median(values):.3f} s, {np.percentile(values, 95):.3f} s")
        limit = {10_000: ("answer", 0.2), 100_000: ("model", 2.0)}.get(n)
        for name, values in times.items():
            target = limit[1] if limit and limit[0] == name else None
            figures.append(Figure(f"{name}, {n:,} rows", np.median(values), "s", target, False))
    return figures


# -------------------------------------------------------------------- MNIST


def write_images(folder: Path, n: int) -> np.ndarray:
    """Write the first n images, and return their digits."""
    from PIL import Image

    cell = SETS["mnist"]()[0]
    folder.mkdir()
    for k in range(n):
        pixels = np.round(255 * cell.X[k]).astype(np.uint8).reshape(28, 28)
        Image.fromarray(pixels).save(folder / f"{k:05d}.png")
    return cell.y[:n]


def answered(folder: Path, truth: np.ndarray, order: str, seed: int) -> list[tuple[float, float]]:
    """Return the accuracies of the live and of the saved model after some answers."""
    out = folder / f"{order}{seed}.csv"
    at_random = np.random.default_rng(seed).permutation(len(truth)).tolist()
    found = []
    classes = ",".join(map(str, range(10)))
    with labelling(folder / "images", "--out", out, "--classes", classes) as page:
        state = page.current()
        rows = np.array(page.ask("api/map")["rows"])
        for k in range(1, COUNTS[-1] + 1):
            row = state["queue"][0] if order == "page" else at_random[k - 1]
            page.ask("api/answer", {"row": row, "kind": "label", "label": str(truth[row])})
            state = page.current()
            if k in COUNTS:
                colours = page.ask("api/colours")
                hidden = ~np.isin(rows, [int(row) for row in colours["labelled"]])
                live = np.array(colours["predicted"])[hidden] == truth[rows[hidden]]
                page.ask("api/model", {})
                found.append((float(live.mean()), saved_accuracy(out, folder, truth, colours)))
    return found


def saved_accuracy(out: Path, folder: Path, truth: np.ndarray, colours: dict[str, Any]) -> float:
    from graphkm.app.reading import read_material

    hidden = np.setdiff1d(np.arange(len(truth)), [int(row) for row in colours["labelled"]])
    X = read_material(folder / "images").X[hidden]
    said = read_model(out.with_suffix(".gkm"))[0].predict(X)
    return float(np.mean(said.astype(int) == truth[hidden]))


def run_mnist(n: int, seeds: int) -> list[Figure]:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        truth = write_images(folder / "images", n)
        means = {
            order: np.mean([answered(folder, truth, order, s) for s in range(seeds)], axis=0)
            for order in ("page", "random")
        }
    lines = [
        [f"{order}, {kind}", *(f"{100 * value:.1f}" for value in values[:, k])]
        for k, kind in enumerate(("live model", "saved model"))
        for order, values in means.items()
    ]
    head = ["accuracy in %", *(f"{n} answers" for n in COUNTS)]
    print(f"\n{n:,} images of MNIST\n" + table(head, lines))
    return [
        Figure(f"MNIST, {order}, {count} answers", 100 * float(means[order][k, 1]), "%")
        for order in means
        for k, count in enumerate(COUNTS)
    ]


def run(arguments: argparse.Namespace) -> list[Figure]:
    parts = arguments.part.split(",")
    figures = run_times(arguments.quick) if "times" in parts else []
    if "many" in parts:
        figures += run_many(arguments.quick)
    if "mnist" in parts and not arguments.quick:
        figures += run_mnist(arguments.images, arguments.seeds)
    return figures


if __name__ == "__main__":
    script(
        run,
        part={"default": "times,many,mnist", "help": "some of times, many and mnist"},
        images={"type": int, "default": 10_000},
        seeds={"type": int, "default": 1},
    )
