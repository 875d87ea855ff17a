"""Eight threads with different data, against the results of one thread."""

from __future__ import annotations

import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.datasets import make_moons
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import ThreadpoolController

from graphkm import (
    GKMClassifier,
    GKMClassifierCV,
    GKMRegressor,
    GKMRegressorCV,
    KernelRidgeClassifierCV,
    KernelRidgeCV,
    SemiSupervisedClassifier,
    SemiSupervisedRegressor,
)
from graphkm._util.warnings import _FILTER, heard, quiet
from graphkm.backends import config_context, device
from graphkm.backends.host import HostBackend
from graphkm.baselines import LaplacianRegressor, LaplacianSVC, TransductiveSVC
from graphkm.expansion import KernelExpansion
from graphkm.kernels import SquaredExponential

THREADS = 8

FEW = {"C_graphs": [1.0], "graphs": [(5, 1)], "random_state": 0}
MODELS = [
    GKMClassifier(random_state=0),
    GKMClassifier(random_state=0, solver="sgd"),
    GKMRegressor(random_state=0),
    GKMClassifierCV(**FEW, Cs=[1.0], cv=2),
    GKMRegressorCV(**FEW),
    SemiSupervisedClassifier(
        DecisionTreeClassifier(random_state=0), graph="anchors", random_state=0
    ),
    SemiSupervisedRegressor(KernelRidgeCV(), random_state=0),
    SemiSupervisedClassifier(LogisticRegression(), random_state=0),
    SemiSupervisedRegressor(Ridge(), random_state=0),
    KernelRidgeCV(random_state=0),
    KernelRidgeClassifierCV(random_state=0),
    LaplacianSVC(),
    LaplacianRegressor(),
    TransductiveSVC(),
]


def at_once(function, *arguments):
    """Return what a function returns in eight threads; each has its own of the arguments."""
    with ThreadPoolExecutor(THREADS) as threads:
        return list(threads.map(function, *arguments))


# ------------------------------------------------------------------ fits and predictions


@pytest.fixture
def two_blas_threads():
    """Give BLAS two threads, as a process has them that nobody has limited.

    A BLAS that was built without threads has one whatever it is told; cvxpy's solvers bring one.
    """
    pools = ThreadpoolController().select(user_api="blas")
    pools.lib_controllers = [
        pool
        for pool in pools.lib_controllers
        if getattr(pool, "threading_layer", None) != "disabled"
    ]
    before = [pool.num_threads for pool in pools.lib_controllers]
    set_threads(pools, [2] * len(before))
    yield pools
    set_threads(pools, before)


def set_threads(pools, numbers):
    for pool, number in zip(pools.lib_controllers, numbers, strict=True):
        pool.set_num_threads(number)
        if hasattr(pool, "clear_controlling_thread"):  # from threadpoolctl 3.8 on
            pool.clear_controlling_thread(force=True)


def rows(seed):
    return make_moons(50 + seed, noise=0.2, random_state=seed)


def fitted(model, seed):
    """Return a model fitted to rows of which some have a label; of kernel ridge, all have one."""
    X, truth = rows(seed)
    few = np.where(np.arange(len(X)) < 20, truth, np.nan)
    return clone(model).fit(
        X, truth if isinstance(model, KernelRidgeCV | KernelRidgeClassifierCV) else few
    )


def scores_of(model, X):
    return model.decision_function(X) if is_classifier(model) else model.predict(X)


def fitted_scores(model, seed):
    own = fitted(model, seed)
    return np.append(scores_of(own, rows(seed)[0]), getattr(own, "transduction_", 0))


@pytest.mark.long
@pytest.mark.parametrize("model", MODELS, ids=lambda model: repr(model).replace("\n", ""))
def test_threads_fit_and_predict_what_one_does(model, two_blas_threads):
    seeds, shared = range(THREADS), fitted(model, 0)
    news = [rows(seed)[0] for seed in seeds]
    wanted = [fitted_scores(model, seed) for seed in seeds]
    wanted += [scores_of(shared, X) for X in news]
    filters = list(warnings.filters)  # imports have added theirs by now
    found = at_once(fitted_scores, [model] * THREADS, seeds)
    found += at_once(scores_of, [shared] * THREADS, news)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)
    if isinstance(model, SemiSupervisedClassifier | SemiSupervisedRegressor):
        warnings.filters[:] = filters  # its models are scikit-learn's, which exchange them
    else:
        assert warnings.filters == filters
    assert {pool["num_threads"] for pool in two_blas_threads.info()} == {2}


# ------------------------------------------------------------------ f on two backends


class OtherBackend(HostBackend):
    """Another processor, whose stores may be told to wait while they are filled."""

    def __init__(self):
        self.filling, self.go_on = Event(), Event()
        self.go_on.set()

    def store(self, *args, **options):
        store = super().store(*args, **options)
        append = store.append

        def wait_and_append(rows):
            self.filling.set()
            assert self.go_on.wait(60)
            append(rows)

        store.append = wait_and_append
        return store


@pytest.fixture
def other(monkeypatch):
    """Return a second backend, under the name of the card."""
    backends = {"cpu": HostBackend(), "cuda": OtherBackend()}
    monkeypatch.setattr(device, "backend_for", backends.get)
    return backends["cuda"]


def expansion(n=200, seed=0):
    rng = np.random.default_rng(seed)
    f = KernelExpansion(SquaredExponential(gamma=0.5), rng.normal(size=(n, 3)), dtype=np.float64)
    f.set(np.arange(n), rng.normal(size=(n, 1)))
    return f


def scores_on(name, f, X):
    with config_context(device=name):
        return f.scores(X)


def test_a_thread_that_moves_f_leaves_it_whole_for_others(other):
    f, X = expansion(), np.random.default_rng(1).normal(size=(50, 3))
    wanted = f.scores(X)
    other.go_on.clear()
    with ThreadPoolExecutor(1) as threads:
        try:
            moved = threads.submit(scores_on, "cuda", f, X)
            assert other.filling.wait(60)
            np.testing.assert_array_equal(f.scores(X), wanted)
        finally:
            other.go_on.set()
        np.testing.assert_array_equal(moved.result(), wanted)
    assert len(f) == 200


def test_threads_on_two_backends_share_f(other):
    f = expansion()
    rows = [np.random.default_rng(seed).normal(size=(40, 3)) for seed in range(THREADS)]
    wanted = [f.scores(X) for X in rows]
    for _ in range(20):
        names = ["cpu", "cuda"] * (THREADS // 2)
        found = at_once(scores_on, names, [f] * THREADS, rows)
        np.testing.assert_array_equal(found, wanted)


# ------------------------------------------------------------------ warnings


def warn_often(name):
    for number in range(50):
        warnings.warn(f"{name} {number}", UserWarning, stacklevel=1)
    return name


def heard_from(name):
    with heard() as found:
        with quiet("quiet", category=UserWarning):
            warn_often("quiet one")
        warn_often(name)
    return found


def test_threads_hear_their_own_warnings_and_leave_the_filters_as_they_were():
    before, shown = list(warnings.filters), warnings.showwarning
    names = [f"thread {number}" for number in range(THREADS)]
    for name, found in zip(names, at_once(heard_from, names), strict=True):
        assert found == [(UserWarning, f"{name} {number}") for number in range(50)]
    assert (warnings.filters, warnings.showwarning) == (before, shown)


def test_a_thread_that_hears_nothing_warns_as_usual():
    listening, warned = Event(), Event()

    def listen():
        with heard() as found, quiet():
            listening.set()
            assert warned.wait(60)
        return found

    with ThreadPoolExecutor(1) as threads:
        heard_there = threads.submit(listen)
        assert listening.wait(60)
        with pytest.raises(UserWarning, match="mine"):  # as every warning in tests
            warnings.warn("mine", UserWarning, stacklevel=1)
        with pytest.warns(UserWarning, match="mine"):
            warnings.warn("mine", UserWarning, stacklevel=1)
        warned.set()
        assert heard_there.result() == []


def test_what_was_shown_before_is_heard_again():
    with pytest.warns(UserWarning, match="once"):
        warnings.simplefilter("default")
        for _ in range(2):
            with heard() as found:
                warn_once()
            assert found == [(UserWarning, "once")]
            warn_once()


def warn_once():
    warnings.warn("once", UserWarning, stacklevel=1)


def test_scikit_learns_workers_leave_out_what_is_left_out():
    with quiet(category=UserWarning):
        assert Parallel(1)([delayed(warn_often)("here")]) == ["here"]
    with pytest.raises(UserWarning, match="there"), quiet("here"):
        Parallel(1)([delayed(warn_often)("there")])
    assert pickle.loads(pickle.dumps(_FILTER))[2] is _FILTER[2]  # processes get the filters


def test_fits_of_dask_wait_for_nobody():
    """Each of two fits ends only when both are under way."""
    fitted_with = pytest.importorskip("graphkm.dask.tasks").fitted_with
    both = Barrier(2, timeout=60)

    def fit(name):
        both.wait()
        warnings.warn(name, UserWarning, stacklevel=1)
        return name

    with ThreadPoolExecutor(2) as threads:
        found = list(threads.map(lambda name: fitted_with(fit, name), "ab"))
    assert [(each.model, each.warnings) for each in found] == [
        (name, [(UserWarning, name)]) for name in "ab"
    ]
