"""COVTYPE as a stream against other online learners; solvers, memory, checkpoints, long runs.

The stream is all of COVTYPE in a random order, class 2 against the rest, features min-max scaled,
one label in ten. Every learner gets the same chunks of 4,096 rows; those that learn from labels
alone pass over the other rows, which costs them nothing. Measured in one process, in turn:

- rows per second of training, unlabelled rows included;
- rows per second of test-then-train: every chunk is predicted before it is learnt from;
- accuracy of these predictions over the whole stream and over its last tenth.

Seconds are both the clock's, in which threads help and other processes disturb, and the CPU's.

The comparison favours us: 25 of our settings (gamma, C, loss, graph, steps_per_row, reservoir_size,
ways to keep to a budget) were tried by hand on up to 300,000 rows and judged by the last 20,000,
which the last tenth contains. The SGD on random features had 9, gamma in (2, 5, 20) and alpha in
(1e-6, 1e-5, 1e-4), after 100,000 rows by the last 10,000; Nystroem features took the best of those,
and the learners of river and CapyMOA have their defaults. On this stream the graph gains nothing:
with labelled-unlabelled edges accuracy moved by less than 0.2 points in either way, with nearest
neighbours it fell by 0.2 to 0.4. For sums over 2,000 landmarks about ten values of gamma, of the
RBF and the Laplacian kernel, and three factors of C were tried on every sixth chunk of the whole
stream. A checkpoint's time is wall time: it waits for the disk.

``--memory`` streams 10 million synthetic rows and fits lines to the resident memory and to what
malloc has handed out. Two caches outside the library fill along a stream, up to a bound: NumPy's
cache of small buffers (seven of every size below 1,024 bytes, 3.5 MiB) and CPython's cache of
attribute names. The first is filled before the stream begins; otherwise memory would grow slowly
for millions of rows.

``--budgets`` measures accuracy against the budget, and ``--plot FILE`` draws it. ``--long`` streams
a million made rows whose distribution does not change, with a budget of 500 centres and all else by
default, and prints the accuracy on 5,000 new rows along the way.

``--solvers`` compares stochastic steps and sums, all else by default: on 200,000 rows of every made
stream and of COVTYPE, with one label in ten and one in a thousand. Accuracy is that on 5,000 rows
which come last and are not learnt. ``--toy`` is the second made stream with 300 centres, features
or landmarks. ``--sets`` compares both with two simple rivals on the streams of `stream_sets.py`,
50,000 rows each, three seeds: an averaged SGDClassifier on 1,000 random Fourier features, and an
SVC of all labels, fitted once at the end; both have scikit-learn's gamma="scale".
"""

from __future__ import annotations

import argparse
import ctypes
import lzma
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import vstack

from _common import Figure, data_file, script, table
from graphkm import SGD, GKMClassifier, Sums
from graphkm.exchange import save_model
from stream_sets import STREAMS

CHUNK, BUDGET, GAMMA = 4096, 2000, 20.0
TRAIN_TARGET, TEST_TARGET, SAVE_TARGET = 50_000, 20_000, 50.0
TOY_TARGET, SUMS_TARGETS = 0.89, (40_000, 0.825, 0.837)  # rows/s, all rows, last tenth
SLOW, SLOW_ROWS = ("CapyMOA OSNN", "CapyMOA SLEADE"), 20_000  # hundreds of rows a second
MEMORY_ROWS, MEMORY_CHUNK = 10_000_000, 20_000


# ---------------------------------------------------------------------- data


def covtype(n_rows: int | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, labels with -1 where they are hidden, and all labels."""
    with lzma.open(data_file("covtype.csv.xz"), "rt") as file:
        values = np.loadtxt(file, dtype=np.float32, delimiter=",", skiprows=1)
    rng = np.random.default_rng(0)
    values = values[rng.permutation(len(values))]
    X, truth = values[:, :-1], (values[:, -1] == 2).astype(np.int64)
    low, high = X.min(axis=0), X.max(axis=0)
    X = np.ascontiguousarray((X - low) / np.where(high > low, high - low, 1))
    y = np.where(rng.random(len(X)) < 0.1, truth, -1)
    return X[:n_rows], y[:n_rows], truth[:n_rows]


def parts(n: int) -> Iterator[slice]:
    return (slice(i, min(i + CHUNK, n)) for i in range(0, n, CHUNK))


# ------------------------------------------------------------------- learners


def ours(gamma: float = GAMMA, C_graph: float = 0.1, **changes: Any) -> GKMClassifier:
    settings = {"steps_per_row": 0.2, "reservoir_size": 20000, "budget": BUDGET}
    solver = SGD(**(settings | changes))
    return GKMClassifier(
        1.0, C_graph, graph="bipartite", gamma=gamma, solver=solver, random_state=0
    )


def by_sums(n_landmarks: int = BUDGET) -> GKMClassifier:
    return GKMClassifier(gamma=1.0, solver=Sums(n_landmarks), random_state=0)


class OnFeatures:
    """SGDClassifier on random or Nystroem features."""

    def __init__(self, features: Any, X: np.ndarray) -> None:
        from sklearn.linear_model import SGDClassifier

        self._features = features.fit(X)
        self._model = SGDClassifier(alpha=1e-6, average=True, random_state=0)

    def partial_fit(self, X: np.ndarray, y: np.ndarray, classes: Any) -> None:
        """Learn from a chunk."""
        known = y >= 0
        self._model.partial_fit(self._features.transform(X[known]), y[known], classes=classes)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return labels."""
        return self._model.predict(self._features.transform(X))


class AllLabels:
    """An SVC of all labelled rows so far, fitted when it is asked."""

    def __init__(self) -> None:
        self._parts: list[tuple[Any, np.ndarray]] = []

    def partial_fit(self, X: Any, y: np.ndarray, classes: Any) -> None:
        """Keep the labelled rows of a chunk."""
        self._parts.append((X[y >= 0], y[y >= 0]))

    def predict(self, X: Any) -> np.ndarray:
        """Return labels."""
        from sklearn.svm import SVC

        rows, labels = zip(*self._parts, strict=True)
        known = np.vstack(rows) if isinstance(X, np.ndarray) else vstack(rows, "csr")
        return SVC().fit(known, np.concatenate(labels)).predict(X)


class OneByOne:
    """A learner of river: rows are dictionaries, one at a time."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def partial_fit(self, X: np.ndarray, y: np.ndarray, classes: Any) -> None:
        """Learn from a chunk."""
        for row, label in zip(X[y >= 0].tolist(), y[y >= 0].tolist(), strict=True):
            self._model.learn_one(dict(enumerate(row)), label)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return labels."""
        answers = (self._model.predict_one(dict(enumerate(row))) for row in X.tolist())
        return np.array([int(bool(answer)) for answer in answers])


class OfCapyMoa:
    """A semi-supervised learner of CapyMOA, one row at a time."""

    def __init__(self, name: str, n_features: int) -> None:
        import capymoa.ssl as ssl
        from capymoa.stream import NumpyStream

        # A stream of two rows, for the description of its columns.
        self._schema = NumpyStream(np.zeros((2, n_features)), np.array([0, 1])).get_schema()
        self._model = getattr(ssl, name)(self._schema)
        self._begun = False

    def _instance(self, row: np.ndarray, label: int) -> Any:
        from capymoa.core import LabeledInstance

        return LabeledInstance.from_array(self._schema, row.astype(np.float64), label)

    def partial_fit(self, X: np.ndarray, y: np.ndarray, classes: Any) -> None:
        """Learn from a chunk."""
        for row, label in zip(X, y, strict=True):
            if label >= 0:
                self._model.train(self._instance(row, int(label)))
                self._begun = True
            elif self._begun:  # before the first label SLEADE ends in a null pointer
                self._model.train_on_unlabeled(self._instance(row, 0))

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return labels."""
        return np.array([int(self._model.predict(self._instance(row, 0)) or 0) for row in X])


def learners(X: np.ndarray) -> dict[str, Callable[[], Any]]:
    """Return everything that takes part; what is not installed fails when called."""
    from sklearn.kernel_approximation import Nystroem, RBFSampler

    def river(kind: str) -> Callable[[], Any]:
        def make() -> Any:
            from river import linear_model, tree

            model = {"ALMA": linear_model.ALMAClassifier, "PA": linear_model.PAClassifier,
                     "Hoeffding tree": tree.HoeffdingTreeClassifier}[kind]  # fmt: skip
            return OneByOne(model())

        return make

    first = X[:CHUNK]
    return {
        "graphkm, budget 2,000": ours,
        "graphkm, no graph": lambda: ours(C_graph=0),
        "graphkm, sums, 2,000 landmarks": by_sums,
        "graphkm, sums, 500 landmarks": lambda: by_sums(500),
        "SGDClassifier on RBFSampler(2000)": lambda: OnFeatures(
            RBFSampler(gamma=2.0, n_components=BUDGET, random_state=0), first
        ),
        "SGDClassifier on Nystroem(500)": lambda: OnFeatures(
            Nystroem(gamma=2.0, n_components=500, random_state=0), first
        ),
        **{f"river {kind}": river(kind) for kind in ("ALMA", "PA", "Hoeffding tree")},
        **{
            f"CapyMOA {name}": lambda name=name: OfCapyMoa(name, X.shape[1])  # type: ignore[misc]
            for name in ("OSNN", "SLEADE")
        },
    }


# ----------------------------------------------------------------- measuring


@dataclass(frozen=True)
class Rate:
    """Rows per second by the clock and by the CPU."""

    wall: float
    cpu: float

    def __str__(self) -> str:
        return f"{self.wall:,.0f} / {self.cpu:,.0f}"


class Watch:
    """Measures from its making on."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def rate(self, n_rows: int) -> Rate:
        """Return the rate at which so many rows have been dealt with."""
        wall, cpu = time.perf_counter() - self._wall, time.process_time() - self._cpu
        return Rate(n_rows / wall, n_rows / cpu)


def train_rate(make: Callable[[], Any], X: np.ndarray, y: np.ndarray) -> Rate:
    model, watch = make(), Watch()
    for part in parts(len(y)):
        model.partial_fit(X[part], y[part], classes=[0, 1])
    return watch.rate(len(y))


def test_then_train(
    make: Callable[[], Any], X: np.ndarray, y: np.ndarray, truth: np.ndarray
) -> tuple[Rate, float, float]:
    """Return the rate, and the accuracy over all rows and over the last tenth."""
    model, watch = make(), Watch()
    hits = np.zeros(len(y), bool)
    for part in parts(len(y)):
        if part.start:
            hits[part] = model.predict(X[part]) == truth[part]
        model.partial_fit(X[part], y[part], classes=[0, 1])
    rate = watch.rate(len(y))
    return rate, float(hits[CHUNK:].mean()), float(hits[-len(y) // 10 :].mean())


def compare(X: np.ndarray, y: np.ndarray, truth: np.ndarray, only: str) -> list[Figure]:
    rows, figures = [], []
    for name, make in learners(X).items():
        if only and only not in name:
            continue
        n = SLOW_ROWS if name in SLOW else len(y)
        try:
            trained = train_rate(make, X[:n], y[:n])
            rate, whole, last = test_then_train(make, X[:n], y[:n], truth[:n])
        except Exception as reason:  # not installed, or of another version: others go on
            print(f"{name}: left out ({type(reason).__name__}: {reason})", flush=True)
            continue
        name += f" ({n:,} rows)" if n < len(y) else ""
        rows.append([name, str(trained), str(rate), f"{whole:.4f}", f"{last:.4f}"])
        print(" | ".join(rows[-1]), flush=True)
        if name.startswith("graphkm, budget"):
            figures += [
                Figure("stream: training", trained.wall, "rows/s", TRAIN_TARGET),
                Figure("stream: training", trained.cpu, "rows/CPU s"),
                Figure("stream: test-then-train", rate.wall, "rows/s", TEST_TARGET),
                Figure("stream: test-then-train", rate.cpu, "rows/CPU s"),
                Figure("stream: accuracy, last tenth", last),
            ]
        if name.startswith("graphkm, sums, 2,000"):
            speed, whole_target, last_target = SUMS_TARGETS
            figures += [
                Figure("sums: training", trained.wall, "rows/s", speed),
                Figure("sums: test-then-train", rate.wall, "rows/s"),
                Figure("sums: accuracy", whole, "", whole_target),
                Figure("sums: accuracy, last tenth", last, "", last_target),
            ]
    headers = [
        "learner",
        "training, rows per s / CPU s",
        "test-then-train",
        "accuracy",
        "last tenth",
    ]
    print("\n" + table(headers, rows))
    return figures


def saving(X: np.ndarray, y: np.ndarray, model: GKMClassifier) -> Figure:
    """Return what a checkpoint of a full model takes, at the median."""
    for part in parts(min(len(y), 50_000)):
        model.partial_fit(X[part], y[part], classes=[0, 1])
    times = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(20):
            start = time.perf_counter()
            save_model(model, Path(folder) / "checkpoint")
            times.append(1000 * (time.perf_counter() - start))
    name = f"checkpoint of {len(model.support_):,} centres, {type(model.solver).__name__}"
    return Figure(name, float(np.median(times)), "ms", SAVE_TARGET, at_least=False)


def resident() -> int:
    """Return the memory the process holds now, in bytes."""
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return 1024 * int(fields["VmRSS"].split()[0])


class Mallinfo(ctypes.Structure):
    """glibc's account of its heap: ten numbers."""

    _fields_ = [("numbers", ctypes.c_size_t * 10)]


def in_use() -> float:
    """Return the bytes that malloc has given away, NaN where it does not tell."""
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "mallinfo2"):
        return np.nan
    libc.mallinfo2.restype = Mallinfo
    numbers = libc.mallinfo2().numbers
    return float(numbers[4] + numbers[7])  # in mappings of their own, and in arenas


def memory(n_rows: int, sums: bool) -> list[Figure]:
    """Return the slopes of memory over a long stream, from its first tenth on.

    The error of a slope assumes independent values, but a process's memory moves in steps. So the
    tenths are printed as well.
    """
    filling = [np.empty(size, np.uint8) for size in range(1024) for _ in range(8)]
    del filling  # into NumPy's cache
    rng = np.random.default_rng(0)
    model = by_sums(300) if sums else ours(reservoir_size=2000, steps_per_row=0.05, gamma=0.1)
    starts = np.arange(0, n_rows, MEMORY_CHUNK)
    held = np.zeros((2, len(starts)))  # of its final size: a list would grow with the stream
    for i in range(len(starts)):
        X = rng.standard_normal((MEMORY_CHUNK, 10), np.float32)
        y = np.where(rng.random(MEMORY_CHUNK) < 0.02, (X[:, 0] * X[:, 1] > 0).astype(int), -1)
        model.partial_fit(X, y, classes=[0, 1])
        held[:, i] = resident() / 2**20, in_use() / 2**20
    late, figures = starts >= n_rows // 10, []
    for name, values in zip(("resident", "malloc"), held, strict=True):
        (slope, _), covariance = np.polyfit(starts[late] / 1e6, values[late], 1, cov=True)
        error = np.sqrt(covariance[0, 0])
        print(f"{name}, {n_rows:,} rows: {slope:.4f} +- {error:.4f} MiB per million rows")
        tenths = [round(float(t[-1]), 2) for t in np.array_split(values, 10)]
        print("MiB at the end of each tenth:", tenths)
        figures.append(Figure(f"stream: memory, {name}", float(slope), "MiB per million rows"))
    return figures


def budgets(X: np.ndarray, y: np.ndarray, truth: np.ndarray, plot: Path | None) -> None:
    """Print, and draw, the accuracy of the last tenth against the budget."""
    sizes = [100, 250, 500, 1000, 2000, 4000]
    values = [test_then_train(lambda b=b: ours(budget=b), X, y, truth)[2] for b in sizes]
    free = test_then_train(lambda: ours(budget=None), X, y, truth)[2]
    print(f"\nAccuracy of the last tenth of {len(y):,} rows; {free:.4f} without a budget.\n")
    print(table(["budget", *map(str, sizes)], [["accuracy", *(f"{v:.4f}" for v in values)]]))
    if plot is None:
        return
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    axes.plot(sizes, values, "o-", label="budget")
    axes.axhline(free, color="grey", linestyle="--", label="no budget")
    axes.set(xscale="log", xlabel="budget: centres", ylabel="accuracy, last tenth of the stream")
    axes.set_title(f"COVTYPE as a stream of {len(y):,} rows, one label in ten")
    axes.legend()
    figure.savefig(plot, dpi=150)


MADE: dict[str, tuple[int, Callable[[np.ndarray], np.ndarray]]] = {
    "x0 x1 + x2 > 0": (4, lambda X: X[:, 0] * X[:, 1] + X[:, 2] > 0),
    "sin 2x0 + x1 > 0": (10, lambda X: np.sin(2 * X[:, 0]) + X[:, 1] > 0),
    "x0 + x1 x2 in four bands": (
        5,
        lambda X: np.digitize(X[:, 0] + X[:, 1] * X[:, 2], [-1, 0, 1]),
    ),
}
LONG_CHUNK, LONG_MARKS = 1000, (50_000, 200_000, 500_000, 1_000_000)


def along(
    d: int,
    label: Callable[[np.ndarray], np.ndarray],
    marks: list[int],
    C_graph: float | str,
    half_life: float | None,
) -> Any:
    """Yield the accuracy on new rows after so many rows, one in ten with its label."""
    rng = np.random.default_rng(0)
    X_test = np.random.default_rng(1).normal(size=(5000, d))
    truth = label(X_test).astype(np.int64)
    solver, classes = SGD(budget=500, half_life=half_life), np.unique(truth)
    model = GKMClassifier(C_graph=C_graph, solver=solver, random_state=0)
    for n in range(LONG_CHUNK, marks[-1] + 1, LONG_CHUNK):
        X = rng.normal(size=(LONG_CHUNK, d))
        y = np.where(rng.random(LONG_CHUNK) < 0.1, label(X), -1)
        model.partial_fit(X, y, classes=classes)
        if n in marks:
            yield model.score(X_test, truth)


def long_runs(marks: list[int]) -> None:
    """Print the accuracy along streams that do not change."""
    rows = []
    for name, (d, label) in MADE.items():
        for C_graph, graph in (("auto", "yes"), (0, "no")):
            for half_life in (None, 20_000.0):
                scores = along(d, label, marks, C_graph=C_graph, half_life=half_life)
                rows.append(
                    [
                        f"{d} features, {name}",
                        graph,
                        "none" if half_life is None else f"{half_life:,.0f}",
                        *(f"{score:.4f}" for score in scores),
                    ]
                )
                print(" | ".join(rows[-1]), flush=True)
    print("\n" + table(["stream", "graph", "half-life", *(f"{m:,}" for m in marks)], rows))


SHARES, SOLVER_ROWS = (0.1, 0.001), 200_000


def made_stream(d: int, label: Callable[[np.ndarray], np.ndarray], n: int) -> Any:
    """Return made rows and their classes."""
    X = np.random.default_rng(0).normal(size=(n, d)).astype(np.float32)
    return X, label(X).astype(np.int64)


def scored(model: Any, X: np.ndarray, y: np.ndarray, truth: np.ndarray) -> tuple[float, Rate]:
    """Return the accuracy on the last 5,000 rows after learning the others, and the rate."""
    n, watch, classes = len(y) - 5000, Watch(), np.unique(truth)
    for first in range(0, n, CHUNK):
        part = slice(first, min(first + CHUNK, n))
        model.partial_fit(X[part], y[part], classes=classes)
    rate = watch.rate(n)
    return float(np.mean(model.predict(X[n:]) == truth[n:])), rate


def solvers(n_rows: int) -> None:
    """Print what stochastic steps and sums reach, all else by default."""
    kinds = {"SGD()": SGD(), "SGD(budget=1000)": SGD(budget=1000), "Sums()": Sums()}
    sets = {name: made_stream(d, label, n_rows) for name, (d, label) in MADE.items()}
    sets["COVTYPE"] = covtype(n_rows)[::2]
    rows = []
    for name, (X, truth) in sets.items():
        for share in SHARES:
            y = np.where(np.random.default_rng(1).random(len(truth)) < share, truth, -1)
            for kind, solver in kinds.items():
                model = GKMClassifier(solver=solver, random_state=0)
                accuracy, rate = scored(model, X, y, truth)
                rows.append([name, f"{share:g}", kind, f"{accuracy:.4f}", str(rate)])
                print(" | ".join(rows[-1]), flush=True)
    headers = ["stream", "labelled", "solver", "accuracy", "rows per s / CPU s"]
    print("\n" + table(headers, rows))


def sets(n_rows: int, seeds: int) -> None:
    """Print what both solvers and two rivals reach on streams of many kinds."""
    from sklearn.kernel_approximation import RBFSampler
    from sklearn.metrics import balanced_accuracy_score

    rows = []
    for name, make in STREAMS.items():
        found: dict[str, list[tuple[float, float]]] = {}
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            X, truth, share = make(n_rows, rng)
            y = np.where(rng.random(len(truth)) < share, truth, -1)
            n = len(y) - 5000
            features = RBFSampler(gamma="scale", n_components=1000, random_state=seed)
            models = {
                "SGD()": GKMClassifier(solver=SGD(), random_state=seed),
                "Sums()": GKMClassifier(solver=Sums(), random_state=seed),
                "random features": OnFeatures(features, X[:CHUNK]),
                "SVC": AllLabels(),
            }
            for kind, model in models.items():
                for first in range(0, n, CHUNK):
                    part = slice(first, min(first + CHUNK, n))
                    model.partial_fit(X[part], y[part], classes=np.unique(truth))
                answers = model.predict(X[n:])
                right = float(np.mean(answers == truth[n:]))
                balanced = float(balanced_accuracy_score(truth[n:], answers))
                found.setdefault(kind, []).append((right, balanced))
        means = {kind: 100 * np.mean(values, axis=0) for kind, values in found.items()}
        rows.append([name, f"{share:g}", *(f"{a:.1f} / {b:.1f}" for a, b in means.values())])
        print(" | ".join(rows[-1]), flush=True)
    print("\naccuracy / balanced accuracy, in %, means over seeds\n")
    print(table(["stream", "labelled", *means], rows))


def toy(n_rows: int) -> list[Figure]:
    """Print what 300 centres, features or landmarks reach on one made stream."""
    X, truth = made_stream(*MADE["sin 2x0 + x1 > 0"], n_rows)
    y = np.where(np.random.default_rng(1).random(n_rows) < 0.1, truth, -1)
    from sklearn.kernel_approximation import RBFSampler

    features = RBFSampler(gamma=0.1, n_components=300, random_state=0)
    models = {
        "SGD(budget=300)": GKMClassifier(solver=SGD(budget=300), random_state=0),
        "SGD()": GKMClassifier(solver=SGD(), random_state=0),
        "SGDClassifier on RBFSampler(300)": OnFeatures(features, X[:CHUNK]),
        "Sums(300)": GKMClassifier(solver=Sums(300), random_state=0),
    }
    found = {name: scored(model, X, y, truth) for name, model in models.items()}
    rows = [[name, f"{accuracy:.4f}", str(rate)] for name, (accuracy, rate) in found.items()]
    print(table(["learner", "accuracy", "rows per s / CPU s"], rows))
    return [Figure("toy stream: accuracy, Sums(300)", found["Sums(300)"][0], "", TOY_TARGET)]


def run(arguments: argparse.Namespace) -> list[Figure]:
    if arguments.long:
        long_runs([2000, 5000] if arguments.quick else list(LONG_MARKS))
        return []
    if arguments.memory:
        return memory(200_000 if arguments.quick else arguments.rows or MEMORY_ROWS, arguments.sums)
    if arguments.toy:
        return toy(20_000 if arguments.quick else 200_000)
    if arguments.sets:
        sets(*((10_000, 1) if arguments.quick else (50_000, 3)))
        return []
    if arguments.solvers:
        solvers(20_000 if arguments.quick else SOLVER_ROWS)
        return []
    X, y, truth = covtype(20_000 if arguments.quick else arguments.rows)
    if arguments.budgets:
        budgets(X, y, truth, arguments.plot)
        return []
    figures = compare(X, y, truth, arguments.only)
    return [*figures, saving(X, y, ours(reservoir_size=2000)), saving(X, y, by_sums())]


if __name__ == "__main__":
    script(
        run,
        rows={"type": int, "default": None, "help": "only so many rows"},
        solvers={"action": "store_true", "help": "stochastic steps and sums, by default"},
        sets={"action": "store_true", "help": "solvers and rivals on streams of many kinds"},
        toy={"action": "store_true", "help": "a made stream with 300 centres or landmarks"},
        sums={"action": "store_true", "help": "with --memory: sums over 300 landmarks"},
        only={"default": "", "help": "only learners with this in their name"},
        memory={"action": "store_true", "help": "memory over 10 million rows"},
        long={"action": "store_true", "help": "accuracy over a million rows, with a budget"},
        budgets={"action": "store_true", "help": "accuracy against the budget"},
        plot={"type": Path, "default": None, "help": "where the curves of --budgets are drawn"},
    )
