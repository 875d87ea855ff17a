"""The dual solver and TransductiveSVC: time against LIBSVM, error on G50C, growth with rows.

- A plain support vector machine trained through `TransductiveSVC` (all rows labelled) against
  `sklearn.svm.SVC`, which is LIBSVM, on A1A, a tenth of IJCNN1 and MUSHROOMS: CPU time of `fit`,
  the same rows (CSR), kernel, C, tolerance (1e-3) and cache (200 MB).
- `TransductiveSVC` as it is by default on the ten official splits of G50C: error on the rows
  whose labels are hidden, and that of a support vector machine on the labelled rows alone.
- The exponent of CPU time in the number of rows on COD-RNA, a tenth of them labelled: 2 means
  twice the rows take four times as long.

    python benchmarks/smo.py [--quick]
"""

from __future__ import annotations

import argparse
import lzma
from typing import Any

import numpy as np
from scipy.io import loadmat
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from _common import Figure, data_file, in_turns, load_libsvm, script, seconds
from graphkm.baselines import TransductiveSVC
from graphkm.kernels import resolve_gamma

SETS = (("a1a", 123, 1.0), ("ijcnn1", 22, 0.1), ("mushrooms", 112, 1.0))
COSTS = (1.0, 100.0)


def narrow(X: Any) -> Any:
    """Return CSR rows as LIBSVM takes them: 32-bit indices, float64 values."""
    X = X.astype(np.float64)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X


def against_libsvm(name: str, d: int, share: float, C: float, quick: bool) -> list[Figure]:
    X, y = load_libsvm(f"{name}.libsvm.bz2", d)
    rows = np.random.default_rng(0).permutation(len(y))[: round(share * len(y))]
    if quick:
        rows = rows[:500]
    X, codes = narrow(X[rows]), (y[rows] == y.max()).astype(int)
    gamma = resolve_gamma("spread", X)
    ours = TransductiveSVC(C=C, gamma=gamma, unlabeled=None, cache_size=200, n_jobs=1)
    libsvm = SVC(C=C, gamma=gamma, cache_size=200)
    time_ours, time_libsvm = in_turns(
        [lambda: ours.fit(X, codes), lambda: libsvm.fit(X, codes)], 1 if quick else 5
    )
    differ = np.abs(ours.decision_function(X) - libsvm.decision_function(X)).max()
    label = f"{name}, C = {C:g}, {len(codes):,} rows"
    return [
        Figure(f"{label}: ours", time_ours, "CPU s"),
        Figure(f"{label}: LIBSVM", time_libsvm, "CPU s"),
        Figure(f"{label}: LIBSVM / ours", time_libsvm / time_ours, "x", 1),
        Figure(f"{label}: largest difference of scores", float(differ)),
    ]


def g50c(quick: bool) -> list[Figure]:
    with lzma.open(data_file("g50c_lds.mat.xz")) as file:
        data = loadmat(file)
    X, truth = np.asarray(data["X"], float), data["y"].ravel().astype(int)
    splits = data["idxLabs"][: 2 if quick else 10] - 1
    errors, alone, times = [], [], []
    for labeled in splits:
        hidden = np.setdiff1d(np.arange(len(truth)), labeled)
        y = np.zeros(len(truth), int)
        y[labeled] = truth[labeled]
        model = TransductiveSVC(unlabeled=0)
        times.append(seconds(lambda model=model, y=y: model.fit(X, y)))
        svc = TransductiveSVC(unlabeled=0, C_unlabeled=0).fit(X, y)
        errors.append(np.mean(model.predict(X[hidden]) != truth[hidden]))
        alone.append(np.mean(svc.predict(X[hidden]) != truth[hidden]))
    return [
        Figure("G50C: error", 100 * float(np.mean(errors)), "%", 6.5, at_least=False),
        Figure("G50C: error's deviation over splits", 100 * float(np.std(errors)), "%"),
        Figure("G50C: error of the labelled rows alone", 100 * float(np.mean(alone)), "%"),
        Figure("G50C: a fit", float(np.median(times)), "CPU s"),
    ]


def growth(quick: bool) -> list[Figure]:
    X, y = load_libsvm("cod-rna_scale.libsvm.bz2", 8)
    X, order = X.toarray(), np.random.default_rng(0).permutation(len(y))
    sizes = [500, 1000, 2000] if quick else [2500, 5000, 10_000, 20_000]
    figures, times = [], []
    for n in sizes:
        rows, codes = X[order[:n]], (y[order[:n]] > 0).astype(int)
        codes[n // 10 :] = -1
        model = TransductiveSVC(n_jobs=1)
        times.append(min(seconds(lambda m=model, r=rows, c=codes: m.fit(r, c)) for _ in range(2)))
        figures.append(Figure(f"COD-RNA, {n:,} rows, {model.n_rounds_} rounds", times[-1], "CPU s"))
    slope = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
    return [*figures, Figure("exponent of time in rows", slope, "", 2, at_least=False)]


def run(arguments: argparse.Namespace) -> list[Figure]:
    quick = arguments.quick
    with threadpool_limits(1):
        figures = [
            figure
            for name, d, share in SETS
            for C in COSTS
            for figure in against_libsvm(name, d, share, C, quick)
        ]
        return [*figures, *g50c(quick), *growth(quick)]


if __name__ == "__main__":
    script(run)
