"""Small partly labelled data and estimators whose every parameter that matters is explicit."""

from __future__ import annotations

import functools
import os
import signal
from typing import NamedTuple

import numpy as np
import pytest

from flat import parts
from graphkm import GKMClassifier, GKMRegressor, KernelRidgeClassifierCV, KernelRidgeCV
from graphkm.members import usual_models
from pairwise import pairwise

# Defaults follow measurements and may change; tests name what they depend on.
_EXPLICIT = {
    "C": 1.0,
    "C_graph": 0.05,
    "p": 2,
    "gamma": 0.5,
    "solver": "sgd",
    "graph": "knn",
    "n_neighbors": 6,
    "step": "implicit",
    "max_iter": 400,
    "fit_intercept": True,
    "random_state": 0,
}


# Checks of scikit-learn that it repeats with another kind of array.
_SAME_CHECK = (
    "check_estimator_sparse_matrix]",
    "(readonly_memmap=True)]",
    "(readonly_memmap=True,X_dtype=float32)]",
)

# Checks that fit dozens of models. For other estimators they take little time.
_LONG_CHECK = (
    "[GKMClassifier()-check_dtype_object]",
    "[GKMClassifier()-check_estimator_sparse_array]",
)


def pytest_configure(config):
    """Keep Hypothesis from judging tests by the clock; tests of wheels run without it.

    A shell's background jobs ignore Ctrl-C, and so would the processes that tests interrupt.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # Not in pyproject.toml: tests of wheels run without it.
    config.addinivalue_line("markers", "cuda: needs an NVIDIA card; run by make test-cuda")
    config.addinivalue_line(
        "markers", "slow: minutes, or one of many combinations; run by make test-slow"
    )
    config.addinivalue_line(
        "markers", "long: seconds, for processes or many fits; run by make test-long"
    )
    config.addinivalue_line(
        "markers", "dear: a second for each case, of which all but the first are long"
    )
    config.addinivalue_line(
        "markers", "xdist_group(name): tests that run one after another in one process"
    )
    if config.pluginmanager.hasplugin("hypothesispytest"):
        from hypothesis import HealthCheck, settings

        no_clock = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
        settings.register_profile("no clock", no_clock)
        settings.load_profile("no clock")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark as slow what repeats much: a check of scikit-learn with another kind of array.

    Of a product of three or more lists, so is what shows no new pair of values. Of the cases of a
    dear test, all but the first are long, and so are two checks of scikit-learn. Tests of a module
    go to one process, for their fixtures.
    """
    families: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.name.endswith(_SAME_CHECK):
            item.add_marker("slow")
        if item.name.endswith(_LONG_CHECK):
            item.add_marker("long")
        if hasattr(item, "callspec"):
            families.setdefault(item.nodeid.partition("[")[0], []).append(item)
        if not item.get_closest_marker("xdist_group"):
            item.add_marker(pytest.mark.xdist_group(item.path.stem))
    for family in families.values():
        cases = [_case(item) for item in family]
        if len(cases[0]) > 2:
            for k in set(range(len(cases))) - pairwise(cases):
                family[k].add_marker("slow")
        if family[0].get_closest_marker("dear"):
            for item in [each for each in family if not each.get_closest_marker("slow")][1:]:
                item.add_marker("long")


def _case(item):
    """Return one entry per list of parameters: the values it gives, which all cases share."""
    lists = [mark.args[0] for mark in item.iter_markers("parametrize")]
    names = [names.split(",") if isinstance(names, str) else names for names in lists]
    values = item.callspec.params
    return [tuple(id(values[name.strip()]) for name in group) for group in names]


@pytest.fixture(autouse=True, scope="session")
def _own_cache(tmp_path_factory):
    """Keep vectors of texts and images out of the user's cache."""
    before = os.environ.get("GRAPHKM_CACHE")
    os.environ["GRAPHKM_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    yield
    del os.environ["GRAPHKM_CACHE"]
    if before is not None:
        os.environ["GRAPHKM_CACHE"] = before


@pytest.fixture(autouse=True, scope="module")
def _small_forests():
    """Let forests of the usual models have 30 trees: 100 take more than half of a small fit.

    Examples of docstrings have 100, as users do, whatever was tested before them.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("graphkm.members.models._TREES", 30)
        yield


@pytest.fixture
def usual_forests(monkeypatch):
    """Let forests have as many trees as those of users: for what pages print."""
    monkeypatch.setattr("graphkm.members.models._TREES", 100)


@pytest.fixture(autouse=True, scope="session")
def _one_command():
    """Make the command of its functions once, and not for every test that calls it."""
    try:
        from typer import main
    except ImportError:
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(main, "get_command", functools.cache(main.get_command))
        yield


def _one_model(known, X, seed, n_jobs, *, alike=False):
    ridge = KernelRidgeCV if known.kind == "quantities" else KernelRidgeClassifierCV
    return {"kernel ridge": ridge(random_state=seed, n_jobs=n_jobs)}


@pytest.fixture(scope="module")
def one_model():
    """Let kernel ridge be the only usual model: forests take most of a fit's time.

    For modules of tests of files, options and pages, whatever the models are: all later tests of
    the module have it. Others, of the command and of the page as well, have all models. Processes
    of their own are not touched.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("graphkm.semi.base.usual_models", _one_model)
        yield


@pytest.fixture
def all_models(monkeypatch):
    """Let a test have all usual models in a module with `one_model`."""
    monkeypatch.setattr("graphkm.semi.base.usual_models", usual_models)


class Problem(NamedTuple):
    """Rows, labels with -1 (or NaN) where they are hidden, and all labels."""

    X: np.ndarray
    y: np.ndarray
    truth: np.ndarray


@pytest.fixture(scope="session")
def classifier():
    """Return a factory of classifiers."""
    return lambda **changes: GKMClassifier(**parts(**(_EXPLICIT | changes)))


@pytest.fixture(scope="session")
def regressor():
    """Return a factory of regressors."""
    return lambda **changes: GKMRegressor(**parts(**(_EXPLICIT | changes)))


@pytest.fixture
def two():
    """Return two classes, 24 of 80 rows labelled."""
    return _classes(2, 80, 24)


@pytest.fixture
def three():
    """Return three classes, 30 of 90 rows labelled."""
    return _classes(3, 90, 30)


@pytest.fixture
def curve():
    """Return a smooth target of two features, 30 of 80 rows known."""
    rng = np.random.default_rng(5)
    X = rng.uniform(-2, 2, (80, 2))
    truth = np.sin(1.5 * X[:, 0]) + 0.5 * X[:, 1] + 3.0
    return Problem(X, np.where(np.arange(80) < 30, truth, np.nan), truth)


def _classes(n_classes, n, n_labeled):
    rng = np.random.default_rng(n_classes)
    truth = np.arange(n) % n_classes
    X = rng.normal(size=(n, 4))
    X[:, 0] += 1.5 * truth
    X[:, 1] -= 1.5 * (truth == 1)
    return Problem(X, np.where(np.arange(n) < n_labeled, truth, -1), truth)


@pytest.fixture(scope="session")
def cluster():
    """Two worker processes with one thread each, which do nothing while no test asks them to."""
    import dask
    from distributed import LocalCluster

    idle = {
        "distributed.worker.profile.enabled": False,
        "distributed.admin.tick.interval": "1s",
        "distributed.admin.system-monitor.interval": "10s",
    }
    processes = {"n_workers": 2, "processes": True, "threads_per_worker": 1}
    with dask.config.set(idle), LocalCluster(**processes, dashboard_address=":0") as started:
        yield started


@pytest.fixture
def client(cluster):
    """The workers, for tasks of Dask."""
    from distributed import Client

    with Client(cluster) as connected:
        yield connected
