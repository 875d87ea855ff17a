"""How many threads BLAS has, wherever the library factorises a matrix."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread
from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.naive_bayes import GaussianNB
from threadpoolctl import ThreadpoolController

from graphkm import Newton, SemiSupervisedClassifier, Sums
from graphkm._util import threads as _threads
from graphkm.baselines import LaplacianRegressor, LaplacianSVC
from graphkm.gkm import GKMClassifier, GKMClassifierCV, GKMRegressor, GKMRegressorCV

N, LABELED, MANY = 120, 20, 60
LIMIT = 50**3  # between the labelled rows' matrices and those of all rows

ROWS = GKMClassifier(loss="logistic", solver="row_newton")  # whose steps use every label
FEW = {"C_graphs": [1.0, 100.0], "graphs": [(5, 1), (8, 4)]}
MODELS = {
    "newton": GKMClassifier(random_state=0, solver="newton"),
    "newton, p = 1.5": GKMClassifier(random_state=0, solver="newton", smoothness=1.5),
    "landmarks": GKMClassifier(random_state=0, solver=Newton(n_landmarks=100, landmarks="greedy")),
    "rows": ROWS,
    "values": GKMRegressor(random_state=0, solver="newton"),
    "search": GKMClassifierCV(random_state=0, **FEW),
    "search of rows": GKMClassifierCV(ROWS, C_graphs=[1.0], graphs=[(5, 1)]),
    "search on folds": GKMClassifierCV(
        random_state=0, C_graphs=[1.0], graphs=[(5, 1)], Cs=[1.0], cv=2
    ),
    "search of values": GKMRegressorCV(random_state=0, **FEW),
    "Laplacian": LaplacianSVC(solver="newton", loss="hinge"),
    "Laplacian with a constant": LaplacianSVC(solver="newton", fit_intercept=True),
    "Laplacian values": LaplacianRegressor(solver="newton"),
}


class Watch:
    """Notes, at every call of SciPy's linear algebra, the matrix and the threads of BLAS."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.pools = ThreadpoolController().select(user_api="blas")
        self.calls: list[tuple[str, tuple[int, ...], int]] = []
        for name, module in list(sys.modules.items()):
            if name.startswith("graphkm."):
                for each, function in vars(module).items():
                    if callable(function) and _is_linear_algebra(function):
                        monkeypatch.setattr(module, each, self._watched(each, function))

    def threads(self) -> int:
        """Return the most threads that NumPy and SciPy may use now; others bring BLAS, too."""
        found = [pool for pool in self.pools.info() if _is_ours(pool["filepath"])]
        return max(pool["num_threads"] for pool in found or self.pools.info())

    def _watched(self, name: str, function: Any) -> Any:
        def call(A: Any, *others: Any, **options: Any) -> Any:
            matrix = others[0] if isinstance(A, float) else A  # BLAS takes a factor before it
            matrix = matrix[0] if isinstance(matrix, tuple) else matrix  # and some have pivots
            self.calls.append((name, matrix.shape, self.threads()))
            return function(A, *others, **options)

        return call


def _is_ours(path: str) -> bool:
    package = path.rsplit("site-packages", 1)[-1]
    return "numpy" in package or "scipy" in package


def _is_linear_algebra(function: Any) -> bool:
    if isinstance(function, type):
        return False
    wrapper = type(function).__name__ == "fortran"  # LAPACK itself
    return wrapper or str(getattr(function, "__module__", "")).startswith("scipy.linalg")


@pytest.fixture
def watch(monkeypatch):
    """Return a watch while BLAS has two threads, however many there are of cores."""
    watch = Watch(monkeypatch)
    with watch.pools.limit(limits=2):
        yield watch


def fit(name):
    X, truth = make_moons(N, noise=0.1, random_state=0)
    y = truth.astype(float)
    y[MANY if "rows" in name else LABELED :] = np.nan  # matrices of rows are between labels
    clone(MODELS[name]).fit(X, y)


def is_small(shape):
    return shape[0] * shape[1] ** 2 <= LIMIT


@pytest.mark.long
@pytest.mark.parametrize("name", MODELS)
def test_small_problems_are_factorised_on_one_thread(name, watch):
    fit(name)
    assert len(watch.calls) > 0
    assert [call for call in watch.calls if call[2] != 1] == []
    assert watch.threads() == 2  # what it was before


@pytest.mark.long
@pytest.mark.parametrize("name", MODELS)
def test_large_matrices_are_factorised_on_all_threads_and_small_ones_on_one(
    name, watch, monkeypatch
):
    monkeypatch.setattr(_threads, "_SMALL", LIMIT)
    fit(name)
    factorised = [call for call in watch.calls if call[0] != "solve_triangular"]
    assert [call for call in factorised if call[2] != (1 if is_small(call[1]) else 2)] == []
    assert not all(is_small(shape) for _, shape, _ in factorised)


class Noting(GaussianNB):
    """Notes the threads of every BLAS when it is fitted and when it is asked."""

    seen: ClassVar[list[int]] = []

    def fit(self, X, y):
        self.note()
        return super().fit(X, y)

    def predict_proba(self, X):
        self.note()
        return super().predict_proba(X)

    def note(self):
        found = ThreadpoolController().select(user_api="blas")
        self.seen.extend(pool["num_threads"] for pool in found.info())


class Failing(Noting):
    """A model that fails."""

    def predict_proba(self, X):
        raise ZeroDivisionError


def front_door(seed=0, model=None):
    X, truth = make_moons(N, noise=0.1, random_state=seed)
    y = np.where(np.arange(N) < LABELED, truth, -1)
    return SemiSupervisedClassifier(model or Noting(), random_state=seed).fit(X, y), X


def test_the_front_door_fits_and_predicts_on_one_thread(watch):
    Noting.seen.clear()
    model, X = front_door()
    fitted = len(Noting.seen)
    assert fitted > 0
    assert model.score(X, model.predict(X)) == 1.0
    assert len(Noting.seen) > fitted
    assert {*Noting.seen, *(threads for _, _, threads in watch.calls)} == {1}
    assert watch.threads() == 2  # what it was before
    with pytest.raises(ZeroDivisionError):
        front_door(model=Failing())
    assert watch.threads() == 2
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(front_door, range(2)))
    assert watch.threads() == 2
    assert set(Noting.seen) == {1}


def learnt_stream():
    X, truth = make_moons(400, noise=0.3, random_state=0)
    stream = GKMClassifier(random_state=0, solver=Sums(n_landmarks=40))
    return X, stream.partial_fit(X, np.where(np.arange(400) % 2, truth, -1), classes=[0, 1])


@pytest.mark.parametrize(
    "ask",
    [
        lambda stream, X: pickle.dumps(stream),
        lambda stream, X: stream.decision_function(X),
        lambda stream, X: stream.predict_proba(X),
    ],
)
def test_whoever_asks_a_stream_of_sums_it_is_solved_on_one_thread(ask, watch):
    """The number of threads decides the last bits, and C magnifies them."""
    X, stream = learnt_stream()
    watch.calls.clear()
    ask(stream, X)
    assert len(watch.calls) > 0
    assert [call for call in watch.calls if call[2] != 1] == []


def test_every_user_of_linear_algebra_is_watched():
    """What is imported from SciPy under another name, or as a module, would not be seen."""
    users = {
        name
        for name, module in sys.modules.items()
        if name.startswith("graphkm.")
        and any(_is_linear_algebra(value) for value in vars(module).values() if callable(value))
    }
    assert users >= {
        "graphkm.ridge.factors",
        "graphkm.solvers.graph_kernel",
        "graphkm.solvers.landmark_features",
        "graphkm.solvers.landmarks",
        "graphkm.fields.kernel",
        "graphkm.ridge.left_out",
        "graphkm.baselines.laplacian_newton",
    }


@pytest.mark.parametrize(
    ("shape", "threads"),
    [((4096, 4096), 1), ((4097, 4097), 2), ((10**5, 800), 1), ((10**5, 900), 2)],
)
def test_work_decides(shape, threads, watch):
    with _threads.blas_threads_for(*shape):
        assert watch.threads() == threads
    with _threads.one_blas_thread(), _threads.one_blas_thread():
        with _threads.blas_threads_for(*shape):
            assert watch.threads() == threads
        assert watch.threads() == 1
    assert watch.threads() == 2


def test_large_work_keeps_the_limits_of_other_threads(watch):
    with ThreadPoolExecutor(1) as threads, _threads.one_blas_thread():
        assert threads.submit(threads_of_large_work, watch).result() == 1
        assert threads_of_large_work(watch) == 2


def threads_of_large_work(watch):
    with _threads.one_blas_thread(), _threads.blas_threads_for(10**4, 10**4):
        return watch.threads()


def test_limits_of_others_are_kept(watch):
    with watch.pools.limit(limits=1), _threads.blas_threads_for(10**4, 10**4):
        assert watch.threads() == 1


def test_the_last_user_restores_what_the_first_one_found(watch):
    """Two threads that overlap: the second sees the limit of the first, and must not keep it."""
    second_is_in, first_is_out = Event(), Event()
    seen = []

    def second():
        with _threads.blas_threads_for(10, 10):
            second_is_in.set()
            first_is_out.wait()
            seen.append(watch.threads())

    with _threads.blas_threads_for(10, 10):
        other = Thread(target=second)
        other.start()
        second_is_in.wait()
    first_is_out.set()
    other.join()
    assert seen == [1]
    assert watch.threads() == 2


def test_limits_end_with_errors_and_with_generators_left_in_another_thread(watch):
    def limited() -> Iterator[int]:
        with _threads.blas_threads_for(10, 10):
            yield watch.threads()

    with pytest.raises(ZeroDivisionError), _threads.blas_threads_for(10, 10):
        assert watch.threads() == 1 // 0
    steps = limited()
    assert next(steps) == 1
    closing = Thread(target=steps.close)
    closing.start()
    closing.join()
    assert watch.threads() == 2


def test_a_search_inside_a_fit_ends_before_it_or_after_it(watch):
    fit, search = _threads.blas_threads_for(10, 10), _threads.one_thread()
    for first, second in ((fit, search), (_threads.one_thread(), _threads.blas_threads_for(9, 9))):
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert watch.threads() == 1
        second.__exit__(None, None, None)
        assert watch.threads() == 2
