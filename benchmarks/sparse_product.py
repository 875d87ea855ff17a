"""The kernel product of CSR rows against the same rows dense.

Measured: 4,096 queries x 16,384 centres of W8A (300 features, about 12 of them non-zero; synthetic
rows of that shape where the set is absent), float32, one thread, CPU time, the two in turns,
minimum of several runs.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from _common import Figure, SkipError, in_turns, load_libsvm, script
from graphkm.backends import make_store
from graphkm.kernels import SquaredExponential

TARGET = 4.0
D, NONZEROS = 300, 12


def sparse_rows(n: int) -> tuple[csr_array, str]:
    """Return n rows of W8A, shuffled, or of synthetic data; and their name."""
    rng = np.random.default_rng(0)
    try:
        X, _ = load_libsvm("w8a.libsvm.bz2", D)
    except SkipError:
        columns = [np.sort(rng.choice(D, NONZEROS, replace=False)) for _ in range(n)]
        indptr = NONZEROS * np.arange(n + 1)
        ones = np.ones(n * NONZEROS, np.float32)
        return narrow(csr_array((ones, np.concatenate(columns), indptr), (n, D))), "synthetic"
    return narrow(csr_array(X)[rng.permutation(X.shape[0])[:n]]), "W8A"


def narrow(X: csr_array) -> csr_array:
    """Return X with the 32-bit indices that compiled code takes."""
    return csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), X.shape)


def filled_store(centres: Any, a: np.ndarray, *, sparse: bool) -> Any:
    kernel = SquaredExponential(gamma=0.05)
    store = make_store(kernel, D, 1, sparse=sparse, dtype=np.float32, n_threads=1)
    store.append(centres)
    store.set(np.arange(len(a)), a)
    return store


def run(arguments: argparse.Namespace) -> list[Figure]:
    n_queries, n_centres = (512, 2048) if arguments.quick else (4096, 16384)
    X, name = sparse_rows(n_queries + n_centres)
    Q, S = narrow(X[:n_queries]), narrow(X[n_queries:])
    a = np.random.default_rng(1).standard_normal((n_centres, 1))
    sparse = partial(filled_store(S, a, sparse=True).product, Q)
    dense = partial(filled_store(S.toarray(), a, sparse=False).product, Q.toarray())
    np.testing.assert_allclose(sparse(), dense(), atol=1e-4 * np.abs(a).sum() ** 0.5)
    times = in_turns([sparse, dense], 3 if arguments.quick else 7)
    rates = [n_queries * n_centres / taken / 1e9 for taken in times]
    print(f"{name}: {X.nnz / X.shape[0]:.1f} of {D} features non-zero in {X.shape[0]:,} rows")
    print(f"evaluations per CPU second: CSR {rates[0]:.3f}e9, dense {rates[1]:.3f}e9")
    return [Figure(f"CSR / dense product, {name}", rates[0] / rates[1], "x", TARGET)]


if __name__ == "__main__":
    script(run)
