"""Progressive evaluation: test, then train, on a model whose every call is known."""

from __future__ import annotations

import matplotlib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB

from graphkm.online import Chunk, prequential

matplotlib.use("Agg")


class LastSeen(ClassifierMixin, BaseEstimator):
    """Predicts the last label it was given, so that the right accuracies follow by hand."""

    def partial_fit(self, X, y, classes=None):
        self.calls_ = [*getattr(self, "calls_", []), (len(X), list(y), classes)]
        known = [label for label in y if label == label and label is not None and label != -1]
        if known:
            self.last_ = known[-1]
        return self

    def predict(self, X):
        if not hasattr(self, "last_"):
            raise NotFittedError
        return np.full(len(X), self.last_)


class SemiSupervised(LastSeen):
    """Also takes unlabelled rows."""

    def __init__(self, unlabeled=-1):
        self.unlabeled = unlabeled


def stream_of(*labels, dtype=float):
    row = 0
    for y in labels:
        yield Chunk(np.zeros((len(y), 1)), np.array(y, dtype=dtype), row)
        row += len(y)


def test_every_chunk_is_tested_before_it_is_learnt():
    labels = [0, 0], [0, 1], [1, 1, 0], [0, 0]
    result = prequential(LastSeen(), stream_of(*labels), classes=[0, 1], window=3)
    # Predicted: nothing, then 0 0, then 1 1 1, then 0 0.
    assert result.n_rows.tolist() == [2, 4, 7, 9]
    assert result.n_tested.tolist() == [0, 2, 3, 2]
    np.testing.assert_allclose(result.accuracy, [np.nan, 1 / 2, 2 / 3, 1])
    np.testing.assert_allclose(result.cumulative_accuracy, [np.nan, 1 / 2, 3 / 5, 5 / 7])
    np.testing.assert_allclose(result.window_accuracy, [np.nan, 1 / 2, 2 / 3, 2 / 3])


def test_unlabelled_rows_are_neither_tested_nor_given_to_a_supervised_model():
    model = LastSeen()
    nan = np.nan
    result = prequential(model, stream_of([nan, 1], [nan, nan], [1, nan]), classes=[0, 1])
    assert result.n_tested.tolist() == [0, 0, 1]
    assert [call[1] for call in model.calls_] == [[1], [1]]


@pytest.mark.parametrize(("marker", "dtype"), [(-1, int), (None, object)])
def test_a_semi_supervised_model_gets_all_rows(marker, dtype):
    model = SemiSupervised(unlabeled=-1)
    chunks = stream_of([marker, 1], [marker, marker], [0, marker], dtype=dtype)
    result = prequential(model, chunks, classes=[0, 1])
    assert result.n_tested.tolist() == [0, 0, 1]
    assert result.accuracy[2] == 0
    assert [call[0] for call in model.calls_] == [2, 2, 2]


def test_words_as_labels():
    chunks = stream_of(["a", None], ["a", "b"], dtype=object)
    result = prequential(SGDClassifier(random_state=0), chunks, classes=["a", "b"])
    assert result.accuracy[1] == 0.5


def test_agrees_with_a_plain_loop():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = (X[:, 0] > 0).astype(int)
    chunks = [(X[k : k + 50], y[k : k + 50]) for k in range(0, 600, 50)]
    result = prequential(SGDClassifier(random_state=0), chunks, classes=[0, 1])
    model, expected = SGDClassifier(random_state=0), []
    for k, (rows, labels) in enumerate(chunks):
        expected.append(model.score(rows, labels) if k else np.nan)
        model.partial_fit(rows, labels, classes=[0, 1])
    np.testing.assert_allclose(result.accuracy, expected)


def test_a_fitted_model_goes_on():
    X, y = np.array([[0.0], [1.0]] * 5), np.array([0, 1] * 5)
    model = GaussianNB().fit(X, y)
    assert prequential(model, [(X, y)]).accuracy.tolist() == [1.0]


def test_arguments():
    with pytest.raises(ValueError, match="Pass classes="):
        prequential(SGDClassifier(), [])
    with pytest.raises(ValueError, match="window=0"):
        prequential(SGDClassifier(), [], classes=[0, 1], window=0)


def test_an_empty_stream():
    result = prequential(SGDClassifier(), [], classes=[0, 1])
    assert len(result.accuracy) == len(result.rows_per_second) == 0


def test_table_and_text():
    result = prequential(LastSeen(), stream_of([0, 0], [0, 1]), classes=[0, 1])
    frame = pd.DataFrame(result.table())
    assert frame["n_rows"].tolist() == [2, 4]
    assert (frame["rows_per_second"] > 0).all()
    lines = str(result).split("\n")
    assert lines[0].split() == list(frame.columns)
    assert lines[2].split()[:3] == ["4", "2", "0.5"]


def test_progress_bar(capsys):
    prequential(LastSeen(), stream_of([0, 0], [0, 1]), classes=[0, 1], verbose=1)
    shown = capsys.readouterr().err
    assert "4rows" in shown
    assert "all=50.0%" in shown
    prequential(LastSeen(), stream_of([0, 0], [0, 1]), classes=[0, 1])
    assert capsys.readouterr().err == ""


def test_plot():
    from matplotlib import pyplot

    result = prequential(LastSeen(), stream_of([0, 0], [0, 1]), classes=[0, 1])
    ax = result.plot()
    assert [line.get_xdata().tolist() for line in ax.lines] == [[2, 4]] * 3
    np.testing.assert_allclose(ax.lines[2].get_ydata(), result.cumulative_accuracy)
    assert result.plot(ax) is ax
    pyplot.close(ax.figure)
