"""Libraries that search for nearest neighbours, against exact search: recall, time, memory.

    python benchmarks/neighbor_search.py [--quick] [--sets mnist,covtype] [--searches faiss-ivf,...]

The 10 nearest other rows of every row of

- mnist: 70,000 x 784, in [0, 1];
- covtype: 581,012 x 54, min-max scaled to [0, 1];
- mixture: 697,526 x 15, twenty Gaussians.

Recall is that of a sample of 1,000 rows whose true neighbours brute force finds; a neighbour
counts if it is as near as the tenth true one, since many rows of COVTYPE are at equal distances.
Exact searches are timed on their index and 1,000 queries, and the queries' time is scaled up to
all rows. Every search has two threads and a process of its own, which loads the rows from a file;
its time contains everything after that, compilation by Numba included, and its memory is what it
holds at most beyond the rows. "repeatable" says whether the neighbours found are the same with
one thread, with two, and with two again, on 5,000 of the rows. A library that is not installed is
left out.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import lzma
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from _common import Figure, data_file, peak_memory, script, table
from graphkm.neighbours.distances import squared_distances

K, THREADS, SAMPLE = 10, 2, 1000
QUICK_ROWS = {"mnist": 5_000, "covtype": 20_000, "mixture": 20_000}
COLUMNS = ["set", "rows", "search", "settings", "recall", "CPU s", "wall s", "MiB", "repeatable"]

# ------------------------------------------------------------------ searches
# Each returns the indices of K or more near rows of every row, itself among them or not.


def graphkm_approximate(X: np.ndarray, threads: int) -> np.ndarray:
    from graphkm.neighbours.index import NeighbourIndex

    return NeighbourIndex(X, "approximate", threads).neighbours(K)[0]


def faiss_ivf(X: np.ndarray, threads: int, lists: float, probes: int) -> np.ndarray:
    import faiss

    faiss.omp_set_num_threads(threads)
    cells = int(lists * np.sqrt(len(X)))
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(X.shape[1]), X.shape[1], cells)
    index.cp.max_points_per_centroid, index.cp.niter, index.nprobe = 64, 10, probes
    index.train(X)
    index.add(X)
    return index.search(X, K + 1)[1]


def faiss_hnsw(X: np.ndarray, threads: int, m: int, build: int, query: int) -> np.ndarray:
    import faiss

    faiss.omp_set_num_threads(threads)
    index = faiss.IndexHNSWFlat(X.shape[1], m)
    index.hnsw.efConstruction, index.hnsw.efSearch = build, query
    index.add(X)
    return index.search(X, K + 1)[1]


def faiss_nndescent(X: np.ndarray, threads: int, degree: int) -> np.ndarray:
    import faiss

    faiss.omp_set_num_threads(threads)
    index = faiss.IndexNNDescentFlat(X.shape[1], degree)
    index.nndescent.L = degree + 20
    index.add(X)
    graph = faiss.vector_to_array(index.nndescent.final_graph).reshape(len(X), -1)
    return graph[:, : K + 1]


def pynndescent(X: np.ndarray, threads: int) -> np.ndarray:
    from pynndescent import NNDescent

    index = NNDescent(X, n_neighbors=K + 1, random_state=0, n_jobs=threads)
    return index.neighbor_graph[0]


def usearch(X: np.ndarray, threads: int, m: int, build: int, query: int) -> np.ndarray:
    from usearch.index import Index

    index = Index(
        ndim=X.shape[1],
        metric="l2sq",
        dtype="f32",
        connectivity=m,
        expansion_add=build,
        expansion_search=query,
    )
    index.add(np.arange(len(X)), X, threads=threads)
    return index.search(X, K + 1, threads=threads).keys.astype(np.int64)


def hnswlib(X: np.ndarray, threads: int, m: int, build: int, query: int) -> np.ndarray:
    from hnswlib import Index

    index = Index("l2", X.shape[1])
    index.init_index(len(X), ef_construction=build, M=m, random_seed=0)
    index.add_items(X, num_threads=threads)
    index.set_ef(query)
    return index.knn_query(X, K + 1, num_threads=threads)[0].astype(np.int64)


def sklearn_exact(X: np.ndarray, threads: int, algorithm: str, queries: np.ndarray) -> np.ndarray:
    from sklearn.neighbors import NearestNeighbors

    index = NearestNeighbors(n_neighbors=K + 1, algorithm=algorithm, n_jobs=threads).fit(X)
    return index.kneighbors(X[queries], return_distance=False)


class Search(NamedTuple):
    """A function, the package it needs, and its settings for each set.

    Of the few settings tried on parts of mnist and covtype these were the cheapest to reach 0.95;
    those for mixture are guesses.
    """

    run: Callable[..., np.ndarray]
    package: str
    settings: dict[str, dict[str, Any]]

    @property
    def exact(self) -> bool:
        """Whether only a sample is searched, and its time scaled up."""
        return self.run is sklearn_exact


def _same(**settings: Any) -> dict[str, dict[str, Any]]:
    return dict.fromkeys(QUICK_ROWS, settings)


_GRAPH = {
    "mnist": {"m": 10, "build": 40, "query": 20},
    "covtype": {"m": 16, "build": 80, "query": 40},
    "mixture": {"m": 16, "build": 80, "query": 40},
}
SEARCHES = {
    "graphkm": Search(graphkm_approximate, "faiss", _same()),
    "faiss-ivf": Search(
        faiss_ivf,
        "faiss",
        {
            "mnist": {"lists": 1, "probes": 6},
            "covtype": {"lists": 1.4, "probes": 2},
            "mixture": {"lists": 1.4, "probes": 16},
        },
    ),
    "faiss-hnsw": Search(faiss_hnsw, "faiss", _GRAPH),
    "faiss-nndescent": Search(faiss_nndescent, "faiss", _same(degree=24)),
    "hnswlib": Search(hnswlib, "hnswlib", _GRAPH),
    "usearch": Search(usearch, "usearch", _GRAPH),
    "pynndescent": Search(pynndescent, "pynndescent", _same()),
    "sklearn-brute": Search(sklearn_exact, "sklearn", _same(algorithm="brute")),
    "sklearn-tree": Search(sklearn_exact, "sklearn", {"mixture": {"algorithm": "kd_tree"}}),
}

# ---------------------------------------------------------------------- data


def load(name: str) -> np.ndarray:
    if name == "mnist":
        files = [data_file(f"mnist/mnist-{p}-images-idx3-ubyte.gz") for p in ("train", "t10k")]
        texts = [gzip.decompress(file.read_bytes()) for file in files]
        parts = [np.frombuffer(text, np.uint8, offset=16) for text in texts]
        return np.concatenate(parts).reshape(-1, 784) / np.float32(255)
    if name == "covtype":
        with lzma.open(data_file("covtype.csv.xz"), "rt") as file:
            X = np.loadtxt(file, dtype=np.float32, delimiter=",", skiprows=1)[:, :-1]
        low, high = X.min(axis=0), X.max(axis=0)
        return (X - low) / np.where(high > low, high - low, 1)
    rng = np.random.default_rng(0)
    centres = 3 * rng.normal(size=(20, 15))
    return (centres[rng.integers(20, size=697_526)] + rng.normal(size=(697_526, 15))).astype("f4")


def prepare(folder: Path, name: str, n_rows: int | None) -> int:
    """Write the rows, the sample and the distances to its tenth neighbours; return n."""
    from sklearn.neighbors import NearestNeighbors

    rng = np.random.default_rng(0)
    X = load(name)
    X = np.ascontiguousarray(X[np.sort(rng.permutation(len(X))[:n_rows])])
    sample = np.sort(rng.permutation(len(X))[:SAMPLE])
    search = NearestNeighbors(n_neighbors=K + 1, algorithm="brute").fit(X)
    true = search.kneighbors(X[sample], return_distance=False)
    np.save(folder / "X.npy", X)
    np.save(folder / "sample.npy", sample)
    np.save(folder / "reach.npy", best(X, sample, true)[:, -1])
    return len(X)


def best(X: np.ndarray, rows: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Return the distances of the K nearest rows found, each other row counted once."""
    out = np.full((len(rows), K), np.inf)
    for i, row in enumerate(rows):
        near = np.setdiff1d(found[i][found[i] >= 0], row).astype(np.int64)
        d2 = np.sort(squared_distances(X, np.full(len(near), row), near))[:K]
        out[i, : len(d2)] = np.sqrt(d2)
    return out


# -------------------------------------------------------------------- worker


def work(folder: Path, name: str, data: str) -> dict[str, Any]:
    search = SEARCHES[name]
    settings = search.settings[data]
    X, sample, reach = (np.load(folder / f"{part}.npy") for part in ("X", "sample", "reach"))
    before = peak_memory()
    if search.exact:
        search.run(X[:100], THREADS, **settings, queries=np.arange(9))  # imports
        first, _ = timed(search.run, X, THREADS, **settings, queries=sample[:1])
        every, near = timed(search.run, X, THREADS, **settings, queries=sample)
        times = first + (every - first).clip(0) * (len(X) / len(sample))
    else:
        times, found = timed(search.run, X, THREADS, **settings)
        near = found[sample]
    recall = np.mean(best(X, sample, near) <= reach[:, None] * (1 + 1e-6))
    memory = (peak_memory() - before) / 2**20
    few = X[:5000]
    kept = set() if search.exact else {digest(search.run(few, t, **settings)) for t in (1, 2, 2)}
    return {
        "settings": ", ".join(f"{key}={value}" for key, value in settings.items()),
        "recall": float(recall),
        "cpu": float(times[0]),
        "wall": float(times[1]),
        "memory": memory,
        "repeatable": len(kept) <= 1,
    }


def timed(search: Callable[..., np.ndarray], *a: Any, **k: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return CPU and wall seconds, and the answer."""
    start = np.array([time.process_time(), time.perf_counter()])
    answer = search(*a, **k)
    return np.array([time.process_time(), time.perf_counter()]) - start, answer


def digest(near: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(near, dtype=np.int64).tobytes()).hexdigest()


# -------------------------------------------------------------------- report


def measure(folder: Path, name: str, data: str) -> dict[str, Any] | None:
    """Run one search in a process of its own; None, with a message, if it cannot run."""
    if find_spec(SEARCHES[name].package) is None:
        print(f"skipped: {name} needs the package {SEARCHES[name].package}", flush=True)
        return None
    command = [sys.executable, __file__, "--worker", f"{folder},{name},{data}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"failed: {name} on {data}: {done.stderr.strip().splitlines()[-1:]}", flush=True)
        return None
    return json.loads((folder / "result.json").read_text())


def run(arguments: argparse.Namespace) -> list[Figure]:
    if arguments.worker:
        folder, name, data = arguments.worker.rsplit(",", 2)
        (Path(folder) / "result.json").write_text(json.dumps(work(Path(folder), name, data)))
        return []
    rows = []
    for data in arguments.sets.split(","):
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            n = prepare(folder, data, QUICK_ROWS[data] if arguments.quick else arguments.rows)
            for name in (s for s in arguments.searches.split(",") if data in SEARCHES[s].settings):
                got = measure(folder, name, data)
                if got is not None:
                    rows.append(row(data, n, name, got))
                    print(" | ".join(rows[-1]), flush=True)
    print("\n" + table(COLUMNS, rows))
    return []


def row(data: str, n: int, name: str, got: dict[str, Any]) -> list[str]:
    sign = "~" if SEARCHES[name].exact else ""
    return [
        data,
        f"{n:,}",
        name,
        got["settings"],
        f"{got['recall']:.3f}",
        f"{sign}{got['cpu']:.0f}" if got["cpu"] >= 10 else f"{sign}{got['cpu']:.1f}",
        f"{sign}{got['wall']:.0f}" if got["wall"] >= 10 else f"{sign}{got['wall']:.1f}",
        f"{got['memory']:.0f}",
        "" if SEARCHES[name].exact else "yes" if got["repeatable"] else "no",
    ]


if __name__ == "__main__":
    script(
        run,
        sets={"default": "mnist,covtype,mixture", "help": "data sets, separated by commas"},
        searches={"default": ",".join(SEARCHES), "help": "searches, separated by commas"},
        rows={"type": int, "default": None, "help": "rows of each set, drawn at random"},
        worker={"help": argparse.SUPPRESS},
    )
