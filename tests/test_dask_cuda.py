"""Two Dask workers that share one card: the model of the processor."""

from __future__ import annotations

import os

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from dask_rows import PROCESSES, cut
from graphkm.backends import DeviceError, active, backend_for
from graphkm.graphs import Anchors

dask = pytest.importorskip("dask", reason="dask is not installed: pip install 'graphkm[dask]'")
pytest.importorskip("distributed", reason="distributed is not installed")

from distributed import Client, LocalCluster  # noqa: E402

from graphkm.dask import SemiSupervisedClassifier, passes  # noqa: E402

pytestmark = [pytest.mark.cuda, pytest.mark.xdist_group("dask")]


@pytest.fixture(scope="module")
def workers():
    """Two processes with one thread each, and the card."""
    try:
        backend_for("cuda")
    except DeviceError as reason:
        pytest.skip(str(reason))
    with (
        dask.config.set({"distributed.nanny.environ.GRAPHKM_DEVICE": "cuda"}),
        LocalCluster(n_workers=2, silence_logs=50, **PROCESSES) as started,
        Client(started) as client,
    ):
        yield client


def device():
    return os.getpid(), active().name


def told(function, folder, *args):
    """Do a task, and leave a file that tells the process and its device."""
    process, name = device()
    (folder / f"{name}-{process}").touch()
    return function(*args)


def clouds(n=40_000, d=16, labels=200):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, n)
    X = (rng.normal(size=(3, d)) * 1.2)[truth] + rng.normal(size=(n, d))
    return X.astype(np.float32), np.where(np.arange(n) < labels, truth, -1), truth


def test_workers_use_the_card(workers):
    assert {name for _, name in workers.run(device).values()} == {"cuda"}
    assert device()[1] == "cpu"  # the client does not


def test_two_workers_share_a_fit_on_one_card(workers, monkeypatch, tmp_path):
    """Both search on the card, and the model is that of the processor, but for rounding."""
    from functools import partial

    X, y, truth = clouds()
    rows, labels = cut(X, y, 2500)
    model = SemiSupervisedClassifier(LogisticRegression(), graph=Anchors(1500), random_state=0)
    with dask.config.set(scheduler="sync"):
        wanted = clone(model).fit(rows, labels)
    for name in ("sum_by_anchor", "join_anchors"):
        function = partial(told, getattr(passes, name), tmp_path)
        monkeypatch.setattr(passes, name, function)
    model.fit(rows, labels)
    used = {path.name for path in tmp_path.iterdir()}
    assert used == {f"{name}-{process}" for process, name in workers.run(device).values()}
    mine, other = ({m.name: m.weight for m in each.members_} for each in (model, wanted))
    assert mine == pytest.approx(other, abs=1e-3)
    one, two = (each.to_local() for each in (model, wanted))
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X), atol=1e-3)
    assert np.mean(one.predict(X) == truth) > 0.8
    np.testing.assert_allclose(
        one.mixture_.nodes.points, two.mixture_.nodes.points, rtol=1e-4, atol=1e-5
    )
