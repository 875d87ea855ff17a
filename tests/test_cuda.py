"""Estimators on a card: the decisions of the processor, from any kind of rows."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.ensemble import RandomForestClassifier

import graphkm
from graphkm import (
    KNN,
    SGD,
    Anchors,
    GKMClassifier,
    GKMClassifierCV,
    GKMRegressor,
    KernelRidgeClassifierCV,
    KernelRidgeCV,
    Newton,
    SemiSupervisedClassifier,
    SemiSupervisedRegressor,
)
from graphkm.backends import DeviceError, backend_for
from graphkm.neighbours.index import NeighbourIndex

pytestmark = pytest.mark.cuda


@pytest.fixture(scope="module", autouse=True)
def cupy():
    try:
        backend_for("cuda")
    except DeviceError as reason:
        pytest.skip(str(reason))
    import cupy

    return cupy


def clouds(n=6000, d=12, labels=120, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    X = (rng.normal(size=(3, d)) * 1.2)[truth] + rng.normal(size=(n, d))
    y = np.where(np.arange(n) < labels, truth, -1)
    return X.astype(np.float32), y, truth


MODELS = {
    "newton": GKMClassifier(1.0, 0.1, solver=Newton(n_landmarks=300), random_state=0),
    "sgd": GKMClassifier(1.0, 0.1, solver=SGD(max_iter=3000), graph="bipartite", random_state=0),
    "default": GKMClassifier(random_state=0),
    "ridge": SemiSupervisedClassifier(KernelRidgeClassifierCV(), random_state=0),
    "forest": SemiSupervisedClassifier(RandomForestClassifier(50, random_state=0), random_state=0),
    "anchors": SemiSupervisedClassifier(
        KernelRidgeClassifierCV(), graph=Anchors(n_anchors=500), random_state=0
    ),
    "search": GKMClassifierCV(random_state=0),
}


@pytest.mark.parametrize("name", MODELS)
def test_decisions_are_those_of_the_processor(name):
    X, y, truth = clouds()
    model = MODELS[name]
    with graphkm.config_context(device="cpu"):
        here = pickle.loads(pickle.dumps(model)).fit(X, y)
        wanted = here.predict(X)
    with graphkm.config_context(device="cuda"):
        there = pickle.loads(pickle.dumps(model)).fit(X, y)
        found = there.predict(X)
        np.testing.assert_allclose((here.predict(X) == wanted).mean(), 1.0, atol=0.002)
    # The processor's search for neighbours is approximate for many rows.
    assert (found == wanted).mean() > 0.995
    assert abs((found == truth).mean() - (wanted == truth).mean()) < 0.005
    copy = pickle.loads(pickle.dumps(there))
    assert (copy.predict(X) == found).mean() > 0.9995


@pytest.mark.parametrize("rows", [True, False])
def test_given_graphs_are_those_of_the_processor(rows):
    X, y, truth = clouds()
    rng = np.random.default_rng(1)
    u, v = rng.integers(0, len(X), (2, 40 * len(X)))
    kept = (truth[u] == truth[v]) | (rng.random(len(u)) < 0.3)
    edges = np.column_stack([u, v])[kept]
    found = []
    for device in ("cpu", "cuda"):
        with graphkm.config_context(device=device):
            model = SemiSupervisedClassifier(KernelRidgeClassifierCV(), random_state=0)
            if not rows:
                model = SemiSupervisedClassifier(random_state=0)
            model.fit(X if rows else None, y, affinity=edges)
        found.append(model.label_distributions_)
    assert np.mean(found[1].argmax(axis=1) == truth) > 0.95
    np.testing.assert_allclose(found[1], found[0], atol=0.02)


def test_scores_are_those_of_the_processor():
    X, y, _ = clouds(labels=3000)
    known = y >= 0
    with graphkm.config_context(device="cuda"):
        there = KernelRidgeClassifierCV(random_state=0).fit(X[known], y[known])
        scores = there.decision_function(X)
    here = KernelRidgeClassifierCV(random_state=0).fit(X[known], y[known])
    assert there.gamma_ == here.gamma_ and there.alpha_ == here.alpha_
    wanted = here.decision_function(X)
    np.testing.assert_allclose(scores, wanted, atol=1e-4 * np.abs(wanted).max())


@pytest.mark.parametrize(
    "model",
    [
        GKMRegressor(random_state=0),
        SemiSupervisedRegressor(KernelRidgeCV(random_state=0), random_state=0),
    ],
    ids=repr,
)
@pytest.mark.parametrize("unit", [1.0, 1e4])
def test_regression(model, unit):
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, size=(5000, 6)).astype(np.float32)
    truth = unit * (np.sin(X[:, 0]) + X[:, 1])
    y = np.where(np.arange(5000) < 300, truth, np.nan)
    with graphkm.config_context(device="cuda"):
        there = pickle.loads(pickle.dumps(model)).fit(X, y).predict(X)
    here = pickle.loads(pickle.dumps(model)).fit(X, y).predict(X)
    np.testing.assert_allclose(there, here, atol=0.02 * truth.std())


def test_neighbours_are_exact_and_files_need_no_card(tmp_path):
    from graphkm.exchange import load_model, save_model

    X, y, _ = clouds(8000)
    index = NeighbourIndex(X, "exact")
    near, d2 = index.neighbours(10)
    with graphkm.config_context(device="cuda"):
        found, squares = NeighbourIndex(X).neighbours(10)
        ridge = KernelRidgeClassifierCV(random_state=0)
        model = SemiSupervisedClassifier(ridge, graph=KNN(n_neighbors=10), random_state=0)
        model.fit(X, y)
        save_model(model, tmp_path / "model.gkm")
        wanted = model.predict(X[:500])
    np.testing.assert_array_equal(found, near)
    np.testing.assert_allclose(squares, d2)
    assert (load_model(tmp_path / "model.gkm").predict(X[:500]) == wanted).mean() > 0.998


def test_cupy_arrays_come_back_as_they_came(cupy):
    X, truth = make_moons(5000, noise=0.1, random_state=0)
    y = np.where(np.arange(5000) < 60, truth, -1)
    model = SemiSupervisedClassifier(KernelRidgeClassifierCV(), random_state=0)
    model.fit(cupy.asarray(X), cupy.asarray(y))
    answers = model.predict(cupy.asarray(X))
    assert isinstance(answers, cupy.ndarray)
    assert float((answers == cupy.asarray(truth)).mean()) > 0.95
    assert isinstance(model.predict_proba(cupy.asarray(X[:5])), cupy.ndarray)
    assert isinstance(model.score(cupy.asarray(X), cupy.asarray(truth)), float)
    named = np.array(["a", "b"], dtype=object)[truth]
    named[60:] = None
    texts = GKMClassifier(random_state=0).fit(cupy.asarray(X), named)
    assert set(texts.predict(cupy.asarray(X[:50]))) <= {"a", "b"}


def test_torch_tensors_come_back_as_they_came():
    torch = pytest.importorskip("torch")
    X, truth = make_moons(5000, noise=0.1, random_state=0)
    y = np.where(np.arange(5000) < 60, truth, -1)
    for device in ("cuda", "cpu"):
        rows, labels = torch.as_tensor(X, device=device), torch.as_tensor(y, device=device)
        model = GKMClassifier(random_state=0).fit(rows, labels)
        answers = model.predict(rows)
        assert isinstance(answers, torch.Tensor) and answers.device == rows.device
        assert (answers.cpu().numpy() == truth).mean() > 0.95
        assert model.decision_function(rows).device == rows.device


def test_too_little_memory_is_said_before(monkeypatch):
    from graphkm.backends.cuda import rows

    def refuse(n_bytes, what, advice):
        raise MemoryError(f"{what} needs about {n_bytes} bytes on the card. {advice}")

    X, _, _ = clouds(6000)
    monkeypatch.setattr(rows, "require_card_memory", refuse)
    with (
        graphkm.config_context(device="cuda"),
        pytest.raises(MemoryError, match=r"6,000 rows and 12 columns.*device='cpu'"),
    ):
        NeighbourIndex(X).neighbours(3)


def test_the_memory_of_the_card_is_looked_at():
    from graphkm.backends.cuda.modules import require_card_memory

    require_card_memory(2**20, "a little", "Forget it.")
    with pytest.raises(MemoryError, match=r"too much needs about .* on the card.* Forget it\."):
        require_card_memory(2**50, "too much", "Forget it.")


def test_dask_workers_use_their_card_and_may_share_it():
    distributed = pytest.importorskip("distributed")
    import dask.array as da

    from graphkm import dask
    from graphkm.backends import active

    X, y, truth = clouds(20_000)
    machine = KernelRidgeClassifierCV(random_state=0)
    about = {"graph": Anchors(n_anchors=5000), "random_state": 0}
    found = {}
    for n_workers in (1, 2):
        cluster = distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            env={"GRAPHKM_DEVICE": "cuda"},
        )
        with cluster, distributed.Client(cluster) as client:
            devices = client.run(lambda: active().name)
            assert list(devices.values()) == ["cuda"] * n_workers
            rows, labels = da.from_array(X, chunks=(5000, -1)), da.from_array(y, chunks=5000)
            model = dask.SemiSupervisedClassifier(machine, **about).fit(rows, labels)
            found[n_workers] = model.predict_proba(rows).compute()
    np.testing.assert_array_equal(found[1], found[2])
    here = SemiSupervisedClassifier(machine, **about).fit(X, y).predict(X)
    decided = model.classes_[found[2].argmax(axis=1)]
    assert (decided == here).mean() > 0.99
    assert (decided == truth).mean() > 0.9
