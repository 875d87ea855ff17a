"""How fast an NVIDIA card is beside the processor: kernels, neighbours, fields and whole fits.

    python benchmarks/gpu.py [--parts sums,covtype_fit,mnist_fit] [--cpu] [--store]

The parts are sums, neighbours, field, covtype_fit, mnist_fit, sgd and anchors; all by default.
They need CuPy and a card. Everything runs once before it is timed, so that kernels are compiled; a
figure is the median of five runs of the clock, or of fewer where a run takes long. ``--cpu`` runs
the same fits on all cores of the processor, once. torch is the rival of single kernels, where it is
installed. The share of the card's limit counts what the algorithm needs: three products on tensor
cores for each multiplication of single precision, one of 16 bits for each pair of rows whose
distance is compared, or bytes.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import graphkm
from _common import SkipError, data_file, environment, store, table
from graphkm import SGD, GKMClassifier, SemiSupervisedClassifier
from graphkm.backends import DeviceError, backend_for
from graphkm.fields.system import FieldData, FieldSystem, Strength
from graphkm.graphs import RowNodes
from graphkm.graphs.anchors import AnchorNodes
from graphkm.kernels import SquaredExponential
from graphkm.neighbours.index import NeighbourIndex, Neighbours

TENSOR = 494e12  # operations per second: TF32 without sparsity, NVIDIA's data sheet of the H200
HALVES = 989e12  # the same of 16-bit numbers
STRENGTHS = [Strength(C, eps) for C in (0.3, 3.0) for eps in (0.5, 0.1, 0.03, 0.01)]
MEMORY = 4.8e12  # bytes per second, the same
HEADS = ["what", "measured", "target", "known before", "share of the limit"]
ROWS: list[list[str]] = []


def report(name: str, value: str, target: str = "", known: str = "", share: str = "") -> None:
    ROWS.append([name, value, target, known, share])
    print(" | ".join(ROWS[-1]), flush=True)


def summary(lines: list[dict[str, str]]) -> tuple[list[str], list[list[str]]]:
    """Return the heads and the lines of the page's table."""
    heads = ["what", "measured", "share of the limit"]
    return heads, [[line[head] for head in heads] for line in lines]


def clock(work: Callable[[], Any], repeats: int = 5, warm: bool = True) -> tuple[float, Any]:
    """Return the median time, and what the last run returned."""
    import cupy

    taken, result = [], work() if warm else None
    for _ in range(repeats):
        cupy.cuda.Device().synchronize()
        start = time.perf_counter()
        result = work()
        cupy.cuda.Device().synchronize()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken), result


# ---------------------------------------------------------------------- data


def covtype() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return training rows, labels with 90 % hidden, all labels, and new rows with theirs."""
    import pandas as pd

    values = pd.read_csv(data_file("covtype.csv.xz")).to_numpy()
    X, y = values[:, :-1].astype(np.float32), (values[:, -1] == 2).astype(np.int64)
    X = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(X))
    X, y, cut = X[order], y[order], 522_910
    known = np.where(rng.random(cut) < 0.1, y[:cut], -1)
    return X[:cut], known, y[:cut], X[cut:], y[cut:]


def mnist(n: int) -> tuple[np.ndarray, np.ndarray]:
    from table_sets import LARGE

    X, y = LARGE["mnist"]()
    order = np.random.default_rng(0).permutation(len(y))[:n]
    return np.asarray(X[order], dtype=np.float32), y[order]


# --------------------------------------------------------------------- parts


def sums(_: bool) -> None:
    """Time the fused product, in evaluations of the kernel per second."""
    from graphkm.backends.cuda.store import CudaStore

    n, m, rng = 65_536, 131_072, np.random.default_rng(0)
    for d, target, known in (
        (8, 1400, "1,367"),
        (24, 700, "665"),
        (56, 350, "323"),
        (128, 150, "125"),
        (304, 70, "49"),
    ):
        X, S = rng.random((n, d), np.float32), rng.random((m, d), np.float32)
        a = rng.normal(size=(m, 1))
        store = CudaStore(
            SquaredExponential(gamma=1 / d), d, 1, sparse=False, dtype=np.dtype(np.float32)
        )
        store.append(S)
        store.set(np.arange(m), a)
        rows = store.on_card(X)
        taken, found = clock(partial(store.product_on_card, rows))
        few = X[:200].astype(np.float64)
        squares = (
            np.square(few).sum(1)[:, None]
            + np.square(S.astype(np.float64)).sum(1)
            - 2 * few @ S.T.astype(np.float64)
        )
        K = np.exp(-squares / d)
        error = np.abs(found[:200].get() - K @ a).max() / np.abs(a).sum()
        rate = n * m / taken / 1e9
        share = rate * 1e9 * 2 * (-(-d // 8) * 8) * 3 / TENSOR
        report(
            f"fused rbf product, d = {d}",
            f"{rate:,.0f} billion/s (error {error:.0e} of the absolute coefficients)",
            f">= {target:,}",
            known,
            f"{share:.0%} of TF32 arithmetic",
        )
        with contextlib.suppress(ImportError):
            report(f"torch, unfused, d = {d}", f"{torch_rate(rows[:, :d], S, a, d):,.0f} billion/s")


def torch_rate(rows: Any, S: np.ndarray, a: np.ndarray, d: int) -> float:
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    n = 16_384
    Q = torch.as_tensor(rows[:n].get(), device="cuda")
    C, b = torch.as_tensor(S, device="cuda"), torch.as_tensor(a[:, 0], device="cuda").float()
    q2, c2 = (Q * Q).sum(1), (C * C).sum(1)

    def product() -> Any:
        out = torch.empty(n, device="cuda")
        for i in range(0, n, 2048):
            G = torch.addmm(c2[None], Q[i : i + 2048], C.T, alpha=-2)
            G += q2[i : i + 2048, None]
            out[i : i + 2048] = G.mul_(-1 / d).exp_() @ b
        torch.cuda.synchronize()
        return out

    return n * len(S) / clock(product)[0] / 1e9


def neighbours(cpu: bool) -> None:
    """Time the search for the ten nearest rows of all rows."""
    nearest_ten("COVTYPE", covtype()[0], 2.0, "5.2 s", cpu)
    nearest_ten("MNIST", mnist(70_000)[0], 0.15, "0.18 s", cpu)


def nearest_ten(name: str, X: np.ndarray, target: float, known: str, cpu: bool) -> None:
    n, d = X.shape
    search = backend_for("cuda").search(X)
    taken, (near, _) = clock(lambda: search.nearest(None, 10))
    report(
        f"10 nearest neighbours, {name} ({n:,} x {d})",
        f"{taken:.3f} s",
        f"<= {target:g} s",
        known,
        f"{n * n * 2 * d / taken / HALVES:.0%} of 16-bit arithmetic",
    )
    with graphkm.config_context(device="cuda"):
        whole, _ = clock(lambda: NeighbourIndex(X).neighbours(10), 3)
    report(f"the same with the rows in the processor's memory, {name}", f"{whole:.3f} s")
    some = np.random.default_rng(0).choice(n, 500, replace=False)
    truth = NeighbourIndex(X, "exact").nearest_to(X[some], 11)[0]
    pairs = zip(near[some], truth, strict=True)
    found = np.mean([len(set(one) & set(other)) / 10 for one, other in pairs])
    report(f"share of the exact neighbours found, {name}", f"{found:.5f}")
    if cpu:
        start, work = time.perf_counter(), time.process_time()
        NeighbourIndex(X, n_jobs=-1).neighbours(10)
        report(
            f"the processor's search, {name}",
            f"{time.perf_counter() - start:.1f} s, {time.process_time() - work:.0f} CPU s",
        )


def field(_: bool) -> None:
    """Time fields of all strengths on COVTYPE, after the neighbours."""
    X, known, *_ = covtype()
    with graphkm.config_context(device="cuda"):
        index = NeighbourIndex(X)
        graph = RowNodes.graph_of(Neighbours.of(index, 10))
        labeled = np.flatnonzero(known >= 0)
        values = np.stack([known[labeled] - 0.5, 0.5 - known[labeled]] * 2, axis=1)
        cut = len(labeled) * 4 // 5
        train, test = labeled[:cut], labeled[cut:]
        data = FieldData.of(graph, train, np.ones(cut), values[:cut])
        system = FieldSystem(graph.similarity)
        taken, _ = clock(lambda: list(system.along(data, STRENGTHS, graph.rows[test])))
        steps = _steps(system, data, STRENGTHS, graph.rows[test])
    n, nonzeros, K = len(X), graph.similarity.nnz, values.shape[1]
    each = 8 * nonzeros + 4 * n * K * 12  # the matrix once, a dozen passes over tables
    report(
        f"fields of {len(STRENGTHS)} strengths on COVTYPE, 10 % labels",
        f"{taken:.3f} s in {steps} steps",
        "<= 0.1 s",
        "one solve 0.02 s",
        f"{steps * each / taken / MEMORY:.0%} of the memory's rate",
    )


def _steps(system: FieldSystem, data: FieldData, strengths: list[Strength], at: Any) -> int:
    """Return how many steps of conjugate gradients the fields take."""
    columns, count = system._similarity, 0
    original = columns.turn

    def counted(*given: Any) -> None:
        nonlocal count
        count += 1
        original(*given)

    columns.turn = counted  # type: ignore[method-assign]
    list(system.along(data, strengths, at))
    del columns.turn  # type: ignore[attr-defined]
    return count


def covtype_fit(cpu: bool) -> None:
    """Time the front door on COVTYPE with a tenth of the labels."""
    X, known, truth, new, new_truth = covtype()
    hidden = known < 0

    def fit() -> Any:
        return SemiSupervisedClassifier(random_state=0).fit(X, known)

    both("SemiSupervisedClassifier, COVTYPE", fit, "", cpu, repeats=2)
    with graphkm.config_context(device="cuda"):
        model = fit()
        on_hidden = (model.transduction_ == truth)[hidden].mean()
        on_new = (model.predict(new) == new_truth).mean()
    report(
        "its accuracy on hidden and on new rows, COVTYPE",
        f"{on_hidden:.2%}, {on_new:.2%}",
        ">= 93 %",
    )


def mnist_fit(cpu: bool) -> None:
    """Time the front door on MNIST with 500 labels."""
    X, truth = mnist(63_000)
    y = np.full(len(truth), -1)
    rng = np.random.default_rng(0)
    for c in range(10):
        own = rng.choice(np.flatnonzero(truth == c), 50, replace=False)
        y[own] = c
    model = both(
        "SemiSupervisedClassifier, MNIST, 500 labels",
        lambda: SemiSupervisedClassifier(random_state=0).fit(X, y),
        "<= 4 s",
        cpu,
    )
    report(
        "its accuracy on hidden rows, MNIST", f"{(model.transduction_ == truth)[y < 0].mean():.2%}"
    )


def sgd(cpu: bool) -> None:
    """Time the paper's stochastic steps on COVTYPE."""
    X, known, _, new, new_truth = covtype()

    def fit() -> Any:
        solver = SGD(step="explicit", max_iter=len(X) // 5)
        return GKMClassifier(
            1.0, 1.0, gamma=32.0, graph="bipartite", smoothness=1, solver=solver, random_state=0
        ).fit(X, known)

    name = f"stochastic fit of COVTYPE, {len(X) // 5:,} steps"
    model = both(name, fit, "<= 1.0 s", cpu, known="8.5 s on one core")
    report(
        "its accuracy on new rows, stochastic fit",
        f"{(model.predict(new) == new_truth).mean():.2%}",
    )


def anchors(_: bool) -> None:
    """Time ten million rows: anchors, sums over rows, a field."""
    n, d, m = 10_000_000, 20, 20_000
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(50, d)).astype(np.float32) * 3
    group = rng.integers(0, 50, n)
    X = centres[group]
    X += rng.standard_normal((n, d), np.float32)
    labeled = rng.choice(n, 500, replace=False)

    def whole() -> Any:
        graph = AnchorNodes.graph(X, m, passes=2, seed=0, kept=labeled)
        one = (group[labeled] % 2)[:, None]
        data = FieldData.of(graph, np.arange(500), np.ones(500), np.hstack([one, 1 - one]) - 0.5)
        values = FieldSystem(graph.similarity).solve(data, Strength(3.0, 0.01))
        return graph, values

    with graphkm.config_context(device="cuda"):
        taken, (graph, values) = clock(whole)
        some = rng.choice(n, 20_000, replace=False)
        said = (graph.nodes.weights(X[some]) @ values).argmin(axis=1)
    report(
        f"{n:,} x {d} rows, {m:,} anchors: two passes, sums and a field",
        f"{taken:.1f} s",
        "<= 10 s",
        "",
        f"{3 * n * m * 2 * 24 * 3 / taken / TENSOR:.0%} of TF32 arithmetic",
    )
    report("its accuracy, 10,000,000 rows", f"{(said == group[some] % 2).mean():.2%}")


def both(
    name: str, fit: Callable[[], Any], target: str, cpu: bool, known: str = "", repeats: int = 5
) -> Any:
    with graphkm.config_context(device="cuda"):
        taken, model = clock(fit, repeats)
    report(name, f"{taken:.2f} s", target, known)
    if cpu:
        start, work = time.perf_counter(), time.process_time()
        fit()
        clocked, used = time.perf_counter() - start, time.process_time() - work
        report(f"{name}: the processor", f"{clocked:.1f} s, {used:.0f} CPU s")
    return model


PARTS = {
    each.__name__: each for each in (sums, neighbours, field, covtype_fit, mnist_fit, sgd, anchors)
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--cpu", action="store_true", help="the same fits on the processor, too")
    parser.add_argument("--store", action="store_true", help="keep the figures for the pages")
    arguments = parser.parse_args()
    try:
        backend_for("cuda")
    except DeviceError as reason:
        raise SystemExit(str(reason)) from None
    import cupy

    card = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    print(f"{environment()}; {card}, CuPy {cupy.__version__}", flush=True)
    for part in arguments.parts.split(","):
        try:
            PARTS[part](arguments.cpu)
        except SkipError as reason:
            print(f"{part}: skipped, {reason}", flush=True)
        if arguments.store:
            store("gpu", [dict(zip(HEADS, row, strict=True)) for row in ROWS], HEADS[:1])
    print("\n" + table(HEADS, ROWS))
