"""The search over partitions, against local fits of every candidate."""

from __future__ import annotations

import pickle
from itertools import product

import numpy as np
import pytest
from sklearn.base import clone

import graphkm
from dask_rows import cut, moons
from graphkm.graphs import Anchors
from graphkm.machines import KernelRidgeClassifierCV

pytest.importorskip("dask", reason="dask is not installed: pip install 'graphkm[dask]'")
pytest.importorskip("distributed", reason="distributed is not installed")

import dask.array as da

from graphkm.dask import (
    GKMClassifier,
    GKMClassifierCV,
    GKMRegressor,
    GraphCorrectedClassifier,
    GraphCorrectedRegressor,
)

pytestmark = pytest.mark.xdist_group("dask")
GAMMAS, GRAPHS = [0.3, 3.0], [(80, 1), (40, 2)]


def local_fits(X, y, seed=0, **more):
    """Return local models for all pairs, each with its own anchors."""
    own = int(np.random.RandomState(seed).randint(2**31 - 1))
    return {
        (gamma, n_anchors, degree): graphkm.GraphCorrectedClassifier(
            KernelRidgeClassifierCV([gamma], random_state=own, n_jobs=1),
            graph=Anchors(n_anchors),
            degree=degree,
            random_state=own,
            n_jobs=1,
            **more,
        ).fit(X, y)
        for gamma, (n_anchors, degree) in product(GAMMAS, GRAPHS)
    }


@pytest.mark.long
def test_candidates_are_those_of_local_fits():
    X, y, truth = moons(n_labeled=60)
    fits = local_fits(X, y)
    search = GKMClassifierCV(gammas=GAMMAS, graphs=GRAPHS, random_state=0).fit(*cut(X, y))
    table = search.cv_results_
    assert len(table["params"]) == 2 + 4 * 16  # no graph once for each gamma
    for params, score, loss in zip(
        table["params"], table["mean_test_score"], table["criterion"], strict=True
    ):
        none = np.isnan(params["C"])
        pair = GRAPHS[0] if none else (params["n_anchors"], params["degree"])
        own = fits[(params["gamma"], *pair)].cv_results_
        alike = [
            i
            for i, each in enumerate(own["params"])
            if all(each[k] == params[k] or (none and np.isnan(each[k])) for k in each)
        ]
        assert len(alike) == 1
        assert score == own["mean_test_score"][alike[0]]
        assert loss == pytest.approx(own["criterion"][alike[0]], abs=1e-6)
    # The least criterion among the choices of the local fits, each of which may be no graph.
    choices = {key: m.cv_results_["criterion"][m.best_index_] for key, m in fits.items()}
    best = fits[min(choices, key=choices.get)]
    assert search.best_params_["gamma"] == best.estimator_.gamma_
    np.testing.assert_array_equal(search.predict(cut(X, y)[0]).compute(), best.predict(X))
    alone = [i for i, params in enumerate(table["params"]) if np.isnan(params["C"])]
    rival = min(alone, key=lambda i: table["criterion"][i])
    gain = search.best_score_ - table["mean_test_score"][rival]
    assert search.unlabeled_gain_ == pytest.approx(gain)
    assert np.mean(best.predict(X) == truth) > 0.9


def test_no_graph_is_taken_where_rows_say_nothing():
    """Labels that follow one column, and anchors that follow noise in forty others."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 41))
    y = np.where(np.arange(900) % 5 == 0, X[:, 0] > 0, -1)
    search = GKMClassifierCV(graphs=[(100, 1), (30, 1)], random_state=0).fit(*cut(X, y))
    assert search.field_ is None
    assert np.isnan(search.best_params_["n_anchors"])
    assert search.unlabeled_gain_ == 0.0
    assert search.cv_results_["param_n_anchors"].mask[search.best_index_]


def test_the_local_model_is_an_ordinary_one(tmp_path):
    from graphkm.exchange import load_model, save_model

    X, y, _ = moons()
    rows, labels = cut(X, y)
    search = GKMClassifierCV(graphs=[("auto", 1), (50, 1)], random_state=0).fit(rows, labels)
    home = search.to_local()
    assert type(home) is graphkm.GraphCorrectedClassifier and search.best_estimator_ is home
    save_model(home, tmp_path / "model.gkm")
    answers = search.predict_proba(rows).compute()
    for again in (load_model(tmp_path / "model.gkm"), pickle.loads(pickle.dumps(home))):
        np.testing.assert_allclose(again.predict_proba(X), answers, atol=1e-9)
    given = search.transduction(rows, labels).compute()
    np.testing.assert_array_equal(given[y >= 0], y[y >= 0])
    assert search.score(rows, labels) == home.score(X, y)
    assert clone(search).get_params() == search.get_params()
    assert search.cv_results_["param_n_anchors"].dtype == object  # a word among the numbers


@pytest.mark.long
def test_partitions_workers_and_numpy_give_the_same(client):
    X, y, _ = moons()
    search = GKMClassifierCV(
        GKMClassifier(n_landmarks=30, class_weight="balanced"),
        gammas=["spread", 2.0],
        graphs=GRAPHS,
        Cs=[3.0],
        epsilons=[0.1, 0.01],
        scoring="balanced_accuracy",
        random_state=3,
    )
    home = clone(search).fit(X, y)
    search.fit(*cut(X, y, 250, 400))
    answers = search.predict(da.from_array(X, chunks=(500, 2)))
    np.testing.assert_array_equal(answers.compute(), home.predict(X))
    assert search.best_params_ == pytest.approx(home.best_params_, nan_ok=True)
    np.testing.assert_allclose(
        search.cv_results_["mean_test_score"], home.cv_results_["mean_test_score"]
    )


def test_few_labels_take_the_first_graph():
    X, _, truth = moons()
    y = np.full(len(X), -1)
    for label in (0, 1):
        y[np.flatnonzero(truth == label)[:2]] = label
    with pytest.warns(graphkm.machines.GraphWarning, match="too few to judge"):
        search = GKMClassifierCV(graphs=GRAPHS, random_state=0).fit(*cut(X, y))
    assert search.best_params_["n_anchors"] == 80 and np.isnan(search.best_score_)
    assert np.isnan(search.unlabeled_gain_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"estimator": graphkm.GKMClassifier()}, "must be a graphkm.dask.GKMClassifier"),
        ({"gammas": []}, "gammas must be None or a list"),
        ({"gammas": [0.0]}, "gammas"),
        ({"graphs": 80}, "graphs must be None or a list"),
        ({"graphs": [80]}, r"pairs \(n_anchors, degree\), got 80"),
        ({"graphs": [(0, 1)]}, "n_anchors"),
        ({"graphs": [(5, 0)]}, "degree"),
        ({"Cs": [-1.0]}, "Cs"),
    ],
)
def test_wrong_values_are_refused_before_any_pass(parameters, message):
    def fail():
        raise AssertionError("a pass was made")

    from dask import delayed

    X = da.from_delayed(delayed(fail)(), shape=(100, 2), dtype=float)
    with pytest.raises(ValueError, match=message):
        GKMClassifierCV(**parameters).fit(X, da.zeros(100))


@pytest.mark.parametrize("kind", [GraphCorrectedClassifier, GKMClassifier, GKMClassifierCV])
def test_no_graph_takes_part_in_every_search(kind):
    X, y, _ = moons(600)
    model = kind(random_state=0)
    model.fit(*cut(X, y, 200))
    assert np.isnan([params["C"] for params in model.cv_results_["params"]]).sum() == 1


@pytest.mark.parametrize("kind", [GraphCorrectedRegressor, GKMRegressor])
def test_no_graph_takes_part_in_every_search_for_quantities(kind):
    X, y, _ = moons(600)
    model = kind(n_anchors=50, random_state=0)
    model.fit(*cut(X, np.where(y >= 0, X[:, 0], np.nan), 200))
    assert np.isnan([params["C"] for params in model.cv_results_["params"]]).sum() == 1
