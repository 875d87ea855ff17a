"""Losses without compiled code: the same steps as compiled ones, and estimators that use them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import ClassVar

import numpy as np
import pytest
from scipy.special import expit

from graphkm import SGD, GKMClassifier, GKMRegressor, Power, _native
from graphkm.backends import run_block
from graphkm.losses import L1, EpsilonInsensitive, Hinge, Logistic, Loss, SmoothHinge, SmoothTube

OWN = [Hinge(), SmoothHinge(0.3), Logistic(), L1(), EpsilonInsensitive(0.2)]


def without_code(loss):
    """Return the same loss, as if the library had no compiled code for it."""
    plain = type("Plain", (type(loss),), {"native_code": None})
    return plain(**asdict(loss))


def make_block(loss, *, dtype, n=12, outputs=3, steps=40, first=1):
    rng = np.random.default_rng(first)
    rows = rng.normal(size=(n, 4))
    labels = np.sign(rng.normal(size=(steps, outputs)))
    target = labels if loss.task == "classification" else rng.normal(size=(steps, outputs))
    u = rng.integers(n, size=steps).astype(np.int32)
    v = ((u + rng.integers(1, n, size=steps)) % n).astype(np.int32)
    u[rng.random(steps) < 0.2] = -1
    start = rng.normal(size=(outputs, n)) * (first > 1) * first**2
    gram = (rows @ rows.T).astype(dtype)
    return {
        "gram": gram,
        "scores": start @ gram.astype(float),
        "change": np.zeros((outputs, n)),
        "weighted": np.zeros((outputs, n)),
        "norm": np.einsum("ri,ij,rj->r", start, gram.astype(float), start),
        "objective": np.zeros((outputs, steps)),
        "first_step": first,
        "harmonic": float(np.sum(1 / np.arange(1, first))),
        "label": rng.integers(n, size=steps).astype(np.int32),
        "target": target,
        "label_weight": rng.uniform(0, 2, steps) * (rng.random(steps) < 0.9),
        "u": u,
        "v": v,
        "edge_weight": rng.uniform(0, 1, steps),
        "C": np.array([0.5, 5.0, 300.0]),
        "C_graph": np.array([0.0, 0.1, 2.0]),
    }


@pytest.mark.parametrize("loss", OWN, ids=lambda loss: loss.name)
@pytest.mark.parametrize("implicit", [False, True])
@pytest.mark.parametrize(("p", "first"), [(1.0, 1), (1.5, 50), (2.0, 1), (2.0, 50), (3.0, 50)])
def test_steps_in_numpy_are_the_compiled_ones(loss, implicit, p, first):
    dtype = np.float32 if first == 1 else np.float64
    if not implicit and p == 3:
        pytest.skip("explicit steps of p = 3 diverge at this C_graph")
    compiled, plain = (make_block(loss, dtype=dtype, first=first) for _ in range(2))
    assert run_block(loss=loss, p=p, implicit=implicit, **compiled)
    assert run_block(loss=without_code(loss), p=p, implicit=implicit, **plain)
    assert compiled["change"].any()
    for name in ("scores", "change", "weighted", "norm", "objective"):
        scale = np.abs(compiled[name]).max()
        np.testing.assert_allclose(plain[name], compiled[name], rtol=1e-9, atol=1e-10 * scale)


def test_what_overflows_is_told():
    block = make_block(Hinge(), dtype=np.float64)
    block["scores"][1, block["label"][3]] = np.inf
    assert not run_block(loss=without_code(Hinge()), p=2.0, implicit=True, **block)


@dataclass(frozen=True)
class Gentle(Loss):
    """The logistic loss with half the slope."""

    task: ClassVar[str] = "classification"
    lipschitz: ClassVar[float] = 0.5

    def value(self, y, f):
        return np.logaddexp(0, -y * f) / 2

    def gradient(self, y, f):
        return -y * expit(-y * f) / 2


@pytest.mark.dear
@pytest.mark.parametrize("step", ["implicit", "explicit"])
@pytest.mark.parametrize("budget", [None, 15])
def test_a_custom_loss_is_learnt(three, classifier, step, budget):
    options = {"step": step, "budget": budget, "max_iter": 300, "precision": "double"}
    mine = classifier(loss=Gentle(), C=2.0, **options).fit(three.X, three.y)
    theirs = classifier(loss="logistic", C=1.0, **options).fit(three.X, three.y)
    np.testing.assert_allclose(
        mine.decision_function(three.X), theirs.decision_function(three.X), rtol=1e-6, atol=1e-8
    )


def test_a_custom_loss_learns_from_a_stream(two, classifier):
    mine, theirs = classifier(loss=Gentle(), C=2.0), classifier(loss="logistic", C=1.0)
    for model in (mine, theirs):
        for part in (slice(0, 30), slice(30, 80)):
            model.partial_fit(two.X[part], two.y[part], classes=[0, 1])
    np.testing.assert_allclose(
        mine.decision_function(two.X), theirs.decision_function(two.X), rtol=1e-4, atol=1e-6
    )


@pytest.mark.long
def test_the_smooth_tube_is_learnt_by_every_solver(curve):
    """Both solvers minimise the same J; the stochastic one comes close to its minimum."""
    common = {"loss": SmoothTube(0.05, 0.5), "C": 1.0, "C_graph": 0.01, "gamma": 0.5}
    common |= {"smoothness": Power(2, normalized=False), "random_state": 0}
    sgd = GKMRegressor(solver=SGD(max_iter=4000), **common).fit(curve.X, curve.y)
    newton = GKMRegressor(solver="newton", **common).fit(curve.X, curve.y)
    difference = sgd.predict(curve.X) - newton.predict(curve.X)
    assert np.sqrt(np.mean(difference**2)) < 0.06 * np.std(newton.predict(curve.X))


def test_the_compiled_block_knows_its_losses_only():
    assert {loss.native_code for loss in OWN} == set(range(5))
    block = make_block(Hinge(), dtype=np.float64)
    with pytest.raises(ValueError, match="unknown loss code 5"):
        _native.run_block(loss=5, parameter=0.0, p=2.0, implicit=True, n_threads=1, **block)


def test_classifier_refuses_a_loss_of_the_other_task(two):
    with pytest.raises(ValueError, match="no classification loss"):
        GKMClassifier(loss=SmoothTube(0.1, 0.1)).fit(two.X, two.y)
