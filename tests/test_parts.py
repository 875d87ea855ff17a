"""Parts as parameters: addressed by nested names, replaced and never changed."""

from __future__ import annotations

import inspect
import pickle
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from graphkm import (
    KNN,
    SGD,
    Bipartite,
    Epsilon,
    Full,
    GKMClassifier,
    GKMClassifierCV,
    GKMRegressor,
    GKMRegressorCV,
    IteratedLaplacian,
    Newton,
    Power,
    RowNewton,
)
from graphkm.baselines import LaplacianRegressor, LaplacianSVC
from graphkm.graphs import Affinity
from graphkm.kernels import Cosine, Laplacian, Linear, Polynomial, SquaredExponential
from graphkm.losses import L1, EpsilonInsensitive, Hinge, Logistic, SmoothHinge, SmoothTube
from graphkm.model_selection import LabeledStratifiedKFold

# Parameter, part, a field of it and another value for that field.
PARTS = [
    ("graph", KNN(), "n_neighbors", 7),
    ("graph", KNN(n_neighbors=4), "weights", "local"),
    ("graph", KNN(weights=2.0), "search", "exact"),
    ("graph", Epsilon(radius=1.0), "radius", 2.0),
    ("graph", Epsilon(radius=1.0), "weights", 0.5),
    ("graph", Full(), "weights", 0.5),
    ("graph", Bipartite(), "weights", "kernel"),
    ("smoothness", Power(), "p", 1.5),
    ("smoothness", Power(p=3), "normalized", False),
    ("smoothness", IteratedLaplacian(), "degree", 3),
    ("smoothness", IteratedLaplacian(4), "normalized", False),
    ("solver", Newton(), "tol", 1e-8),
    ("solver", Newton(tol=1e-3), "landmarks", "greedy"),
    ("solver", RowNewton(), "tol", 1e-8),
    ("solver", SGD(), "max_iter", 300),
    ("solver", SGD(max_iter=5), "budget", 20),
    ("kernel", SquaredExponential(), "gamma", 0.3),
    ("kernel", Polynomial(degree=2), "coef0", 3.0),
    ("kernel", Laplacian(gamma=1.0), "gamma", 2.0),
    ("loss", SmoothHinge(), "tau", 0.2),
]
ALL = [*dict.fromkeys(part for _, part, _, _ in PARTS)]
ALL += [Affinity(), Linear(), Cosine(), Hinge(), Logistic(), L1(), EpsilonInsensitive(0.1)]
ALL += [SmoothTube(0.1, 0.2)]
every_part = pytest.mark.parametrize(("name", "part", "field", "value"), PARTS)


# ---------------------------------------------------------------- one part


@pytest.mark.parametrize("part", ALL, ids=repr)
def test_a_part_is_its_fields(part):
    names = [field.name for field in fields(part)]
    assert part.get_params() == part.get_params(deep=False)
    assert list(part.get_params()) == names
    assert type(part)(**part.get_params()) == part
    assert hash(part) == hash(type(part)(**part.get_params()))
    for name in names:
        with pytest.raises(FrozenInstanceError):
            setattr(part, name, 1)
    assert clone(part) is part  # nothing that could change
    assert pickle.loads(pickle.dumps(part)) == part
    assert repr(part).startswith(f"{type(part).__name__}(")


@every_part
def test_another_value_makes_another_part(name, part, field, value):
    before = part.get_params()
    changed = part.with_params(**{field: value})
    assert type(changed) is type(part)
    assert changed.get_params() == before | {field: value}
    assert part.get_params() == before
    with pytest.raises(ValueError, match=f"{type(part).__name__} has no parameter 'size'") as error:
        part.with_params(size=3)
    for known in before:
        assert known in str(error.value)


# ---------------------------------------------------------------- parts of an estimator


@every_part
def test_nested_parameters(name, part, field, value):
    estimator = GKMClassifier(**{name: part})
    nested = {k: v for k, v in estimator.get_params().items() if k.startswith(f"{name}__")}
    assert nested == {f"{name}__{k}": v for k, v in part.get_params().items()}
    assert not any("__" in key for key in estimator.get_params(deep=False))
    before, twin = part.get_params(), clone(estimator)
    assert estimator.set_params(**{f"{name}__{field}": value}) is estimator
    assert estimator.get_params()[f"{name}__{field}"] == value
    assert getattr(estimator, name) == part.with_params(**{field: value})
    # The part that was there, and whoever else has it, is as before.
    assert part.get_params() == before
    assert getattr(twin, name) == part
    twin = clone(estimator)
    assert getattr(twin, name) == getattr(estimator, name)
    twin.set_params(**{name: part})
    assert getattr(estimator, name) == part.with_params(**{field: value})


@every_part
def test_an_unknown_field_names_the_known_ones(name, part, field, value):
    estimator = GKMClassifier(**{name: part})
    with pytest.raises(ValueError, match=f"{type(part).__name__} has no parameter 'size'.*{field}"):
        estimator.set_params(**{f"{name}__size": 3})
    assert getattr(estimator, name) is part


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"graph__n_neighbors": 0}, "n_neighbors must be 'auto' or a whole number >= 1, got 0"),
        ({"graph__weights": -1.0}, "weights must be .* got -1.0"),
        ({"graph__size": 1}, "KNN has no parameter 'size'; it has n_neighbors, weights, search"),
        ({"smoothness__p": 0.5}, "p must be a finite number >= 1, got 0.5"),
        ({"smoothness__normalized": 1}, "normalized must be True or False, got 1"),
        ({"solver__tol": 0}, "tol must be a finite number > 0, got 0"),
        ({"kernel__gamma": -1.0}, "gamma"),
        ({"loss__tau": 0.0}, "tau"),
        ({"graphs__n_neighbors": 1}, "Invalid parameter 'graphs'"),
        ({"n_neighbors": 1}, "Invalid parameter 'n_neighbors'"),
        ({"solver": "auto", "solver__tol": 1e-3}, "solver='auto'"),
    ],
)
def test_a_refused_value_leaves_everything_as_it_was(bad, message):
    estimator = GKMClassifier(
        C=2.0,
        graph=KNN(),
        smoothness=Power(),
        solver=Newton(),
        kernel=SquaredExponential(),
        loss=SmoothHinge(),
    )
    before = estimator.get_params(deep=False)
    with pytest.raises(ValueError, match=message):
        estimator.set_params(C=5.0, graph__search="exact", **bad)
    after = estimator.get_params(deep=False)
    assert after.keys() == before.keys()
    assert all(after[name] is before[name] for name in before)


def test_several_at_once():
    estimator = GKMRegressor(graph=Full(), solver="newton")
    estimator.set_params(
        graph=KNN(weights=2.0), graph__n_neighbors=3, graph__search="exact", solver__tol=1e-3, C=4.0
    )
    assert estimator.graph == KNN(3, 2.0, "exact")
    assert estimator.solver == Newton(tol=1e-3)
    assert estimator.C == 4.0
    assert estimator.set_params() is estimator


def test_a_name_stands_for_its_part():
    estimator = GKMClassifier().set_params(
        graph__n_neighbors=5, kernel__gamma=0.7, smoothness=1.5, solver="sgd"
    )
    assert estimator.graph == KNN(n_neighbors=5)
    assert estimator.kernel == SquaredExponential(gamma=0.7)
    estimator.set_params(smoothness__normalized=False, solver__max_iter=9, loss="smooth_hinge")
    assert estimator.smoothness == Power(1.5, normalized=False)
    assert estimator.solver == SGD(max_iter=9)
    assert estimator.set_params(loss__tau=0.1).loss == SmoothHinge(0.1)
    with pytest.raises(ValueError, match=r"pass graph=Epsilon\(radius="):
        GKMClassifier(graph="epsilon").set_params(graph__radius=1.0)
    tube = GKMRegressor(loss="epsilon_insensitive").set_params(loss__epsilon=0.3)
    assert tube.loss == EpsilonInsensitive(0.3)


@pytest.mark.parametrize(
    ("nested", "named", "others"),
    [
        ({"solver__tol": 1e-8}, ["Newton(tol=1e-08)", "RowNewton(tol=1e-08)"], ["SGD"]),
        ({"solver__budget": 50}, ["SGD(budget=50)"], ["Newton"]),
        ({"solver__size": 5}, ["Newton(...)", "RowNewton(...)", "SGD(...)"], []),
        ({"smoothness__degree": 3}, ["IteratedLaplacian(degree=3)"], ["Power"]),
        ({"smoothness__p": 1}, ["Power(p=1)"], ["IteratedLaplacian"]),
    ],
)
@pytest.mark.parametrize("kind", [GKMClassifier, GKMRegressor])
def test_auto_has_no_parameters_and_names_what_has(kind, nested, named, others):
    estimator = kind()
    (key,) = nested
    name, _, field = key.partition("__")
    with pytest.raises(ValueError, match=f"{name}='auto' .* no parameter '{field}'") as error:
        estimator.set_params(**nested)
    assert all(text in str(error.value) for text in named)
    assert not any(text in str(error.value) for text in others)
    assert getattr(estimator, name) == "auto"


@pytest.mark.parametrize("kind", [LaplacianSVC, LaplacianRegressor])
def test_parts_of_the_laplacian_machines(kind):
    machine = kind().set_params(graph__n_neighbors=4, smoothness__normalized=False)
    assert machine.graph == KNN(n_neighbors=4)
    assert isinstance(machine.smoothness, IteratedLaplacian) and not machine.smoothness.normalized
    assert machine.set_params(kernel__gamma=0.2).kernel == SquaredExponential(gamma=0.2)
    assert machine.get_params()["graph__n_neighbors"] == 4


# ---------------------------------------------------------------- scikit-learn's tools


def composed():
    return GKMClassifier(
        C=2.0,
        graph=KNN(n_neighbors=7, weights="local"),
        smoothness=IteratedLaplacian(3),
        solver=Newton(tol=1e-7),
        kernel=SquaredExponential(gamma=0.4),
        random_state=0,
    )


def test_clone_pickle_and_repr(two):
    estimator = composed()
    expected = clone(estimator).fit(two.X, two.y).dual_coef_
    for copy in (clone(estimator), pickle.loads(pickle.dumps(estimator))):
        assert copy.get_params() == estimator.get_params()
        np.testing.assert_array_equal(copy.fit(two.X, two.y).dual_coef_, expected)
    shown = repr(estimator)
    for text in ("KNN(n_neighbors=7, weights='local'", "IteratedLaplacian(degree=3", "tol=1e-07"):
        assert text in shown
    assert repr(GKMClassifier()) == "GKMClassifier()"
    spelt = {name: globals()[name] for name in ("GKMClassifier", "KNN", "Newton")}
    spelt |= {"IteratedLaplacian": IteratedLaplacian, "SquaredExponential": SquaredExponential}
    assert eval(shown, spelt).get_params() == estimator.get_params()


def test_html():
    page = composed()._repr_html_()
    assert "GKMClassifier" in page and "KNN(n_neighbors=7" in page and "Newton(" in page
    search = GKMClassifierCV(composed())._repr_html_()
    assert "GKMClassifierCV" in search and "KNN(n_neighbors=7" in search


def test_parts_survive_the_fit(two):
    estimator = composed()
    before = estimator.get_params(deep=False)
    estimator.fit(two.X, two.y)
    after = estimator.get_params(deep=False)
    assert all(after[name] is before[name] for name in before)


@pytest.mark.long
@pytest.mark.slow
def test_grid_search(two):
    search = GridSearchCV(
        GKMClassifier(graph=KNN(), solver=Newton(), random_state=0),
        {
            "graph__n_neighbors": [5, 10],
            "solver__tol": [1e-4, 1e-6],
            "kernel__gamma": [0.5, 1.0],
        },
        cv=LabeledStratifiedKFold(3, random_state=0),
        error_score="raise",
    ).fit(two.X, two.y)
    assert len(search.cv_results_["params"]) == 8
    best, found = search.best_estimator_, search.best_params_
    assert best.graph == KNN(found["graph__n_neighbors"])
    assert best.solver == Newton(tol=found["solver__tol"])
    assert best.kernel == SquaredExponential(gamma=found["kernel__gamma"])
    assert search.estimator.graph == KNN() and search.estimator.kernel == "rbf"
    scores = search.cv_results_["mean_test_score"]
    assert np.isfinite(scores).all() and search.best_score_ > 0.7
    whole = GridSearchCV(
        GKMClassifier(random_state=0),
        {"graph": [KNN(5), KNN(10), Full()], "solver": ["newton", SGD(max_iter=200)]},
        cv=LabeledStratifiedKFold(3, random_state=0),
        error_score="raise",
    ).fit(two.X, two.y)
    assert whole.best_params_["graph"] in (KNN(5), KNN(10), Full())


def test_parts_of_a_searching_estimator(two):
    search = GKMClassifierCV(GKMClassifier(solver=Newton()), Cs=[1.0], C_graphs=[1.0])
    assert search.get_params()["estimator__solver__tol"] == 1e-6
    search.set_params(estimator__solver__tol=1e-4, estimator__kernel__gamma=0.5)
    assert search.estimator.solver == Newton(tol=1e-4)
    search.fit(two.X, two.y)
    assert search.estimator.graph == "knn"  # the search works on a copy
    assert search.best_estimator_.solver == Newton(tol=1e-4)


# ---------------------------------------------------------------- shorthands


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "short", "part"),
    [
        ("graph", "knn", KNN()),
        ("graph", "full", Full()),
        ("graph", "bipartite", Bipartite()),
        ("smoothness", 1.5, Power(1.5)),
        ("smoothness", 2, Power()),
        ("solver", "newton", Newton()),
        ("solver", "row_newton", RowNewton()),
        ("solver", "sgd", SGD()),
        ("kernel", "rbf", SquaredExponential()),
        ("kernel", "linear", Linear()),
        ("kernel", "cosine", Cosine()),
        ("loss", "hinge", Hinge()),
        ("loss", "logistic", Logistic()),
        ("loss", "smooth_hinge", SmoothHinge()),
    ],
)
def test_shorthands_give_the_same_model(name, short, part, two):
    models = [
        GKMClassifier(**{name: value}, random_state=0).fit(two.X, two.y) for value in (short, part)
    ]
    scores = [model.decision_function(two.X) for model in models]
    assert np.ptp(scores[0]) > 0
    np.testing.assert_array_equal(*scores)
    np.testing.assert_array_equal(models[0].dual_coef_, models[1].dual_coef_)
    np.testing.assert_array_equal(models[0].support_, models[1].support_)
    assert models[0].plan_ == models[1].plan_


# ---------------------------------------------------------------- size


@pytest.mark.parametrize("kind", [GKMClassifier, GKMRegressor, GKMClassifierCV, GKMRegressorCV])
def test_constructors_are_short(kind):
    assert len(inspect.signature(kind).parameters) <= 17
