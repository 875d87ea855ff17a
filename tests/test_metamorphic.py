"""Changes that should leave a model as it is: decisions stay the same on 99 % of new rows.

Every estimator meets every change. It stays the same, or stands in the table of
`metamorphic_exceptions`, and then it must differ.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone, is_classifier

from graphkm.graphs import Anchors
from metamorphic import (
    CHANGES,
    CHEAP,
    COSTLY,
    LARGE,
    MODELS,
    STREAMS,
    at_once,
    difference,
    run_of,
)
from metamorphic_exceptions import EXCEPTIONS, exemption, rendered

PAGE = Path(__file__).parents[1] / "docs/guide/unchanged.md"
SAME = 0.01
"""Share of new rows that may get another answer."""

LARGE_CHANGES = (
    "rows in another order",
    "classes with other names",
    "sample weights times ten",
    "callback",
    "precision",
)
FIRST_CHUNK = "a first chunk of another size"
OF_DASK = ("SemiSupervisedClassifier", "SemiSupervisedRegressor")


def case(model, change, *marks):
    """Return a test's parameters."""
    return pytest.param(model, change, marks=marks, id=f"{model}-{change}")


def cases():
    """Every model with every change of it; what takes long is marked."""
    for model in CHEAP | COSTLY:
        for change in CHANGES:
            if CHANGES[change](run_of(model)) is not None:
                entry, weights = exemption(model, change), change == "sample weights times ten"
                usual = model in COSTLY and model.startswith("SemiSupervised")  # with its trees
                fast = model in CHEAP or (entry and not usual and not weights)
                slow = pytest.mark.slow if usual else pytest.mark.long
                yield case(model, change, *([] if fast else [slow]))
    for model in LARGE:
        for change in LARGE_CHANGES:
            if CHANGES[change](run_of(model)) is None or exemption(model, change):
                continue  # an exception may make no difference to many rows
            quick = change == "sample weights times ten" and not model.startswith("SemiSup")
            yield case(model, change, pytest.mark.long if quick else pytest.mark.slow)


@cache
def answers_before(model, seed, scaled):
    return run_of(model, seed)._replace(scaled=scaled).answers()


def apart(model, change, seed=1):
    """Return the share of new rows to which a change gives another answer."""
    run = run_of(model, seed)
    changed = CHANGES[change](run)
    known = answers_before(model, seed, changed.scaled)
    return difference(known, changed.answers(), is_classifier(run.model))


@pytest.mark.parametrize("model, change", list(cases()))
def test_one_change(model, change, capsys):
    entry = exemption(model, change)
    if entry is None:
        assert apart(model, change) <= SAME
    else:
        another = any(apart(model, change, seed) > SAME for seed in (1, 3))
        assert another, "this is an exception no longer; take it out of the table"


@pytest.mark.long
@pytest.mark.parametrize("model", COSTLY)
def test_many_changes_at_once(model, capsys):
    """What `test_one_change` shows one by one, where that takes long."""
    run = run_of(model)
    exempt = [each.change for each in EXCEPTIONS if model in each.models]
    one, other = run._replace(scaled=True).answers(), at_once(run, exempt).answers()
    # A forest draws columns by their numbers: a little for one change, and more for several.
    same = 0.03 if model == "SemiSupervisedClassifier" else SAME
    assert difference(one, other, is_classifier(run.model)) <= same


@pytest.mark.parametrize("model", STREAMS)
def test_chunks_of_a_stream(model):
    """The first chunk decides gamma and units; how the rest is cut changes nothing."""
    run = run_of(model)
    one, other = run.answers_of_stream(60), run.answers_of_stream(60, 7)
    assert difference(one, other, is_classifier(run.model)) <= SAME
    assert exemption(model, FIRST_CHUNK)
    first = run.answers_of_stream(15, 105)
    assert difference(one, first, is_classifier(run.model)) > SAME


@pytest.mark.parametrize(
    "model, change",
    [
        case("GKMClassifier, 3,000 rows", change)
        for change in ("callback", "precision", "fit_intercept", "n_jobs", "verbose")
    ],
)
def test_large_data_keep_their_method(model, change):
    """Options of a fit do not decide by which method it is made."""
    other = {"callback": print, "precision": "double", "fit_intercept": True}
    run = run_of(model)
    changed = clone(run.model).set_params(**{change: other.get(change, 2)})
    solvers = [
        type(each.plan(each.encode(run.X, run.y, run.weight)).solver)
        for each in (clone(run.model), changed)
    ]
    assert solvers[0] is solvers[1]


@pytest.mark.long
@pytest.mark.xdist_group("dask")
@pytest.mark.parametrize("change", ["partitions", "sample weights times ten"])
@pytest.mark.parametrize("name", OF_DASK)
def test_partitions_of_dask(name, change):
    da = pytest.importorskip("dask.array", reason="dask is not installed")
    pytest.importorskip("distributed", reason="distributed is not installed")
    kind = getattr(import_module("graphkm.dask"), name)
    run = run_of(name)
    changed = CHANGES[change](run) if change in CHANGES else run
    found = []
    for each, rows in ((run, 120), (changed, 120 if change in CHANGES else 25)):
        model = kind(graph=Anchors(40), random_state=0)
        parts = [da.from_array(part, chunks=(rows, -1)[: part.ndim]) for part in each[1:4]]
        found.append(model.fit(*parts).to_local().predict(each.new))
    assert difference(*found, is_classifier(run.model)) <= SAME


def test_every_public_estimator_takes_part():
    kinds = {type(model) for model in MODELS.values()}
    for place in ("graphkm", "graphkm.baselines"):
        module = import_module(place)
        public = [getattr(module, name) for name in module.__all__]
        estimators = {each for each in public if hasattr(each, "fit") and hasattr(each, "predict")}
        assert estimators and estimators <= kinds
    pytest.importorskip("distributed", reason="distributed is not installed")
    assert set(import_module("graphkm.dask").__all__) == set(OF_DASK)


def test_the_page_shows_the_table():
    assert rendered() in PAGE.read_text("utf-8")
    assert {each.change for each in EXCEPTIONS} <= {*CHANGES, FIRST_CHUNK}
    assert {name for each in EXCEPTIONS for name in each.models} <= set(MODELS)


def test_answers_that_differ_are_seen():
    """A test of the tests: another gamma is another model."""
    run = run_of("LaplacianSVC")
    other = run._replace(model=clone(run.model).set_params(gamma=30.0))
    assert difference(run.answers(), other.answers(), True) > SAME
    assert np.unique(run.answers()).tolist() == [0, 1, 2]
