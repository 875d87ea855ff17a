"""`partial_fit` among the tools of others: river, scikit-learn's conventions, dask-ml."""

from __future__ import annotations

import pickle
import subprocess
import sys
import textwrap
from importlib.util import find_spec

import numpy as np
import pandas as pd
import polars as pl
import pytest
from river import compat, evaluate, linear_model, metrics, preprocessing
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier
from sklearn.utils import estimator_checks

from flat import gkm_classifier, gkm_regressor
from graphkm import SGD, GKMClassifier, GKMRegressor
from graphkm.online import prequential

NAMES = ["a", "b", "c"]
rng = np.random.default_rng(0)
X = rng.normal(size=(300, 3))
TRUTH = X[:, 0] ** 2 + X[:, 1] ** 2 > 1.6  # a disc: no linear model separates it
Y = np.where(rng.random(300) < 0.4, TRUTH, -1)
TARGET = np.sin(2 * X[:, 0]) + 5.0
ROWS = [dict(zip(NAMES, row, strict=True)) for row in X.tolist()]


@pytest.fixture(params=["sgd", "sums"])
def classifier(request):
    """Return what makes a classifier that learns a stream in one of the two ways."""
    given = {"gamma": 0.5, "random_state": 0, "solver": request.param}
    return lambda **changes: gkm_classifier(**(given | changes))


def regressor(**changes):
    return gkm_regressor(**({"gamma": 0.5, "random_state": 0} | changes))


def in_river(model, classes=(0, 1)):
    known = {} if isinstance(model, GKMRegressor) else {"classes": list(classes)}
    return compat.convert_sklearn_to_river(model, **known)


# ---------------------------------------------------------------- river


@pytest.mark.long
def test_rows_one_by_one_are_one_chunk_up_to_rounding(classifier):
    """Unlabelled rows by the marker, as everywhere."""
    wrapped = in_river(classifier(precision="double"))
    for row, label in zip(ROWS, Y.tolist(), strict=True):
        wrapped.learn_one(row, label)
    whole = classifier(precision="double").partial_fit(X, Y, classes=[0, 1])
    assert wrapped.estimator.n_iter_ == whole.n_iter_ > 0
    np.testing.assert_allclose(
        wrapped.estimator.decision_function(X), whole.decision_function(X), rtol=1e-9, atol=1e-9
    )
    assert [wrapped.predict_one(row) for row in ROWS] == whole.predict(X).tolist()


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_mini_batches_of_a_frame(frame, classifier):
    """Columns may come in another order later, and y as a series of the same library."""
    series = pd.Series if frame is pd.DataFrame else pl.Series
    wrapped = in_river(classifier())
    by_hand = classifier()
    for part, names in ((slice(0, 150), NAMES), (slice(150, 300), NAMES[::-1])):
        data = frame({name: X[part, NAMES.index(name)] for name in names})
        wrapped.learn_many(data, series(Y[part]))
        by_hand.partial_fit(
            frame({name: X[part, j] for j, name in enumerate(NAMES)}), Y[part], classes=[0, 1]
        )
    predicted = wrapped.predict_many(frame({name: X[:, j] for j, name in enumerate(NAMES)}))
    assert isinstance(predicted, series)
    expected = by_hand.predict(frame({name: X[:, j] for j, name in enumerate(NAMES)}))
    np.testing.assert_array_equal(predicted.to_numpy(), expected)


def test_before_the_first_row_and_before_the_first_label(classifier):
    wrapped = in_river(classifier())
    assert wrapped.predict_one(ROWS[0]) == 0
    wrapped.learn_one(ROWS[0], -1)
    wrapped.learn_one(ROWS[1], None)
    assert wrapped.predict_one(ROWS[2]) in (0, 1)
    assert wrapped.estimator.n_iter_ == 0


def test_probabilities_by_class():
    wrapped = in_river(
        gkm_classifier(gamma=0.5, random_state=0, loss="logistic"), classes=(False, True)
    )
    assert wrapped.predict_proba_one(ROWS[0]) == {False: 0.5, True: 0.5}
    for row, label in zip(ROWS[:60], TRUTH[:60].tolist(), strict=True):
        wrapped.learn_one(row, label)
    p = wrapped.predict_proba_one(ROWS[0])
    assert p.keys() == {False, True}
    assert sum(p.values()) == pytest.approx(1)
    assert p[True] == pytest.approx(wrapped.estimator.predict_proba(X[:1])[0, 1])


@pytest.mark.long
def test_progressive_evaluation_agrees_with_prequential(classifier):
    """river tests before it trains, one row at a time; so does `prequential` on such chunks."""
    stream = list(zip(ROWS[:200], TRUTH[:200].tolist(), strict=True))
    metric = metrics.Accuracy()
    evaluate.progressive_val_score(stream, in_river(classifier(), (False, True)), metric)
    chunks = ((X[i : i + 1], TRUTH[i : i + 1]) for i in range(200))
    ours = prequential(classifier(), chunks, classes=[False, True])
    # river counts its guess at the first row, False, which the model could not yet answer.
    assert metric.cm.n_samples == 200 == ours.n_tested.sum() + 1
    hits = 200 * metric.get() - (not TRUTH[0])
    assert 199 * ours.cumulative_accuracy[-1] == pytest.approx(hits)
    linear = metrics.Accuracy()
    evaluate.progressive_val_score(stream, linear_model.LogisticRegression(), linear)
    assert metric.get() > linear.get() + 0.1


@pytest.mark.long
def test_regression_in_a_pipeline_of_river():
    model = preprocessing.StandardScaler() | in_river(regressor(C=10.0))
    mean = metrics.MAE()
    stream = list(zip(ROWS, TARGET.tolist(), strict=True))
    evaluate.progressive_val_score(stream[:150], model, mean)
    error = metrics.MAE()
    evaluate.progressive_val_score(stream[150:], model, error)
    spread = np.abs(TARGET - np.median(TARGET)).mean()
    assert error.get() < 0.6 * spread
    model.learn_one(ROWS[0], np.nan)  # a target that is not known
    assert model["SKL2RiverRegressor"].estimator.stream_.n_labels == 300


def test_a_copy_within_river_learns_on_its_own(classifier):
    wrapped = in_river(classifier())
    for row, label in zip(ROWS[:50], Y[:50].tolist(), strict=True):
        wrapped.learn_one(row, label)
    twin = pickle.loads(pickle.dumps(wrapped))
    twin.learn_one(ROWS[50], 1)
    assert twin.estimator.stream_.n_rows == 51
    assert wrapped.estimator.stream_.n_rows == 50


def test_a_word_for_gamma_cannot_be_taken_from_a_single_row(classifier):
    with pytest.raises(ValueError, match="pass a larger first chunk, or a number for gamma"):
        in_river(classifier(gamma="spread")).learn_one(ROWS[0], 1)


# ---------------------------------------------------------------- scikit-learn

STREAMS = [
    GKMClassifier(random_state=0),
    GKMClassifier(random_state=0, solver="sgd"),
    GKMClassifier(random_state=0, loss="logistic", solver=SGD(budget=20, half_life=50.0)),
    GKMRegressor(random_state=0),
]
CHECKS = [  # those that call partial_fit
    "check_estimators_partial_fit_n_features",
    "check_n_features_in_after_fitting",
    "check_dataframe_column_names_consistency",
    "check_fit_score_takes_y",
]


@pytest.mark.dear
@pytest.mark.parametrize("name", CHECKS)
@pytest.mark.parametrize("model", STREAMS, ids=lambda model: type(model).__name__)
def test_checks_of_scikit_learn(model, name):
    getattr(estimator_checks, name)(type(model).__name__, clone(model))


FIRST = {"X": X[:100], "y": TRUTH[:100].astype(int), "classes": [0, 1]}
NEXT = {"X": X[100:200], "y": TRUTH[100:200].astype(int)}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"classes": [0, 1]},
        {"classes": [1, 0, 1]},
        {"y": np.zeros(100, int)},
        {"sample_weight": np.linspace(0, 1, 100)},
        {"classes": [0, 1, 2]},
        {"classes": [0, 5]},
        {"y": np.full(100, 7)},
        {"y": np.full(100, "word")},
        {"y": NEXT["y"][:99]},
        {"X": X[100:200, :2]},
        {"X": np.full((100, 3), np.nan)},
        {"X": X[100], "y": 1},
        {"X": X[:0], "y": TRUTH[:0].astype(int)},
        {"sample_weight": np.ones(99)},
    ],
)
def test_what_a_second_call_may_be_is_scikit_learns(changes, classifier):
    """Its SGDClassifier takes the same calls, and refuses the same with a ValueError."""

    def outcome(model):
        model.partial_fit(**FIRST)
        before = model.predict(X)
        try:
            model.partial_fit(**(NEXT | changes))
        except ValueError:
            np.testing.assert_array_equal(model.predict(X), before)
            return "refused"
        return model.classes_.tolist()

    assert outcome(classifier()) == outcome(SGDClassifier(random_state=0))


def test_classes_at_the_first_call(classifier):
    """scikit-learn asks for them always; here a first chunk that holds several will do."""
    one = {"X": X[:5], "y": np.zeros(5, int)}
    for model in (classifier(), SGDClassifier()):
        with pytest.raises(ValueError, match="classes"):
            model.partial_fit(**one)
        assert model.partial_fit(**one, classes=[0, 1]).classes_.tolist() == [0, 1]
    assert classifier().partial_fit(X, Y).classes_.tolist() == [0, 1]


# ---------------------------------------------------------------- dask-ml


@pytest.mark.skipif(find_spec("dask_ml") is None, reason="dask-ml is not installed")
def test_incremental_of_dask_ml():
    """Blocks of a dask array, one after the other, are the chunks of a stream."""
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(DASK)], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == ["classifier", "regressor"]


# A process of its own: dask starts threads, and warns of what is not ours.
DASK = """
    import dask.array as da
    import numpy as np
    from dask_ml.wrappers import Incremental
    from graphkm import GKMClassifier, GKMRegressor

    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.where(rng.random(300) < 0.4, X[:, 0] > 0, -1)
    for model, target, options in (
        (GKMClassifier, y, {"classes": [0, 1]}),
        (GKMRegressor, X[:, 0] + 5, {}),
    ):
        settings = {"gamma": 0.5, "random_state": 0}
        blocks = da.from_array(X, chunks=(100, 3)), da.from_array(target, chunks=100)
        wrapped = Incremental(model(**settings), shuffle_blocks=False).fit(*blocks, **options)
        by_hand = model(**settings)
        for part in (slice(0, 100), slice(100, 200), slice(200, 300)):
            by_hand.partial_fit(X[part], target[part], **options)
        np.testing.assert_array_equal(wrapped.estimator_.dual_coef_, by_hand.dual_coef_)
        predicted = np.asarray(wrapped.predict(blocks[0]))
        np.testing.assert_array_equal(predicted, by_hand.predict(X))
        print("classifier" if options else "regressor")
"""
