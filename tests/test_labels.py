"""Labels of every type, each with its own way to say that one is missing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

TEXT = {0: "no", 1: "yes"}


def hidden(two, values=None, missing=None):
    """Return the labels as a list of `values`, `missing` where there is none."""
    return [missing if c < 0 else (values[c] if values else int(c)) for c in two.y]


def ints(two):
    return hidden(two)


def texts(two):
    return hidden(two, TEXT)


def bools(two):
    return hidden(two, {0: False, 1: True})


SPELLINGS = {
    "int array": (lambda t: t.y, [0, 1], "i"),
    "float array": (lambda t: np.where(t.y < 0, np.nan, t.y), [0.0, 1.0], "f"),
    "float array with -1": (lambda t: t.y.astype(float), [0.0, 1.0], "f"),
    "list of int": (ints, [0, 1], "i"),
    "tuple of int": (lambda t: tuple(ints(t)), [0, 1], "i"),
    "list of bool": (bools, [False, True], "b"),
    "list of text": (texts, ["no", "yes"], "U"),
    "list of text and NaN": (lambda t: hidden(t, TEXT, np.nan), ["no", "yes"], "U"),
    "list of text and -1": (lambda t: np.array(hidden(t, TEXT, -1), object), ["no", "yes"], "U"),
    "object array of int": (lambda t: np.array(ints(t), dtype=object), [0, 1], "i"),
    "object array of text": (lambda t: np.array(texts(t), dtype=object), ["no", "yes"], "U"),
    "labels above 255": (lambda t: np.where(t.y < 0, -1, t.y + 70_000), [70_000, 70_001], "i"),
    "labels above 2^53": (
        lambda t: hidden(t, {0: 2**60, 1: 2**60 + 1}),
        [2**60, 2**60 + 1],
        "i",
    ),
    "pandas object": (lambda t: pd.Series(texts(t), dtype=object), ["no", "yes"], "U"),
    "pandas float": (lambda t: pd.Series(ints(t), dtype=float), [0.0, 1.0], "f"),
    "pandas Int64": (lambda t: pd.Series(ints(t), dtype="Int64"), [0, 1], "i"),
    "pandas boolean": (lambda t: pd.Series(bools(t), dtype="boolean"), [False, True], "b"),
    "pandas string": (lambda t: pd.Series(texts(t), dtype="string"), ["no", "yes"], "U"),
    "pandas str": (lambda t: pd.Series(texts(t)), ["no", "yes"], "U"),
    "pandas category": (lambda t: pd.Series(texts(t), dtype="category"), ["no", "yes"], "U"),
    "pandas Categorical": (lambda t: pd.Categorical(texts(t)), ["no", "yes"], "U"),
    "pandas category of int": (lambda t: pd.Series(ints(t), dtype="category"), [0, 1], "i"),
    "pandas array": (lambda t: pd.array(ints(t), dtype="Int64"), [0, 1], "i"),
    "polars int": (lambda t: pl.Series(ints(t)), [0, 1], "i"),
    "polars bool": (lambda t: pl.Series(bools(t)), [False, True], "b"),
    "polars text": (lambda t: pl.Series(texts(t)), ["no", "yes"], "U"),
    "polars categorical": (
        lambda t: pl.Series(texts(t), dtype=pl.Categorical),
        ["no", "yes"],
        "U",
    ),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_spelling_is_the_same_problem(spelling, classifier, two):
    make, classes, kind = SPELLINGS[spelling]
    y = make(two)
    plain = classifier().fit(two.X, two.y)
    clf = classifier().fit(two.X, y)
    assert clf.classes_.tolist() == classes
    assert clf.classes_.dtype.kind == kind
    assert [type(c) for c in clf.classes_.tolist()] == [type(c) for c in classes]
    np.testing.assert_array_equal(clf.decision_function(two.X), plain.decision_function(two.X))
    np.testing.assert_array_equal(clf.predict(two.X), np.array(classes)[plain.predict(two.X)])
    np.testing.assert_array_equal(clf.transduction_, np.array(classes)[plain.transduction_])
    assert clf.score(two.X, y) == plain.score(two.X, two.y)


@pytest.mark.parametrize(
    ("marker", "codes"),
    [
        (0, {-1: 0, 0: -1, 1: 1}),
        (99, {-1: 99, 0: -1, 1: 1}),
        (-1.0, {-1: -1, 0: 0, 1: 1}),
        ("?", {-1: "?", 0: "no", 1: "yes"}),
        ("", {-1: "", 0: "no", 1: "yes"}),
        (None, {-1: np.nan, 0: -1, 1: 1}),
        (np.nan, {-1: np.nan, 0: -1, 1: 1}),
        (pd.NA, {-1: pd.NA, 0: -1, 1: 1}),
    ],
)
def test_another_marker(marker, codes, classifier, two):
    y = [codes[c] for c in two.y.tolist()]
    clf = classifier(unlabeled=marker).fit(two.X, y)
    assert clf.classes_.tolist() == [codes[0], codes[1]]
    expected = classifier().fit(two.X, two.y).decision_function(two.X)
    np.testing.assert_array_equal(clf.decision_function(two.X), expected)


def test_minus_one_is_an_ordinary_label_beside_others_with_another_marker(classifier, three):
    y = three.y - 1  # classes -1, 0, 1; hidden rows are -2
    clf = classifier(unlabeled=-2).fit(three.X, y)
    assert clf.classes_.tolist() == [-1, 0, 1]


def test_a_word_as_marker_leaves_numbers_alone(classifier, two):
    y = np.where(two.y < 0, np.nan, two.y)
    clf = classifier(unlabeled="unknown").fit(two.X, y)
    assert clf.classes_.tolist() == [0.0, 1.0]
    assert (clf.support_ >= 0).all()


def test_column_vector_is_flattened_with_a_warning(classifier, two):
    from sklearn.exceptions import DataConversionWarning

    with pytest.warns(DataConversionWarning, match="1d array was expected"):
        clf = classifier().fit(two.X, two.y[:, None])
    expected = classifier().fit(two.X, two.y).decision_function(two.X)
    np.testing.assert_array_equal(clf.decision_function(two.X), expected)


def test_labels_are_not_changed(classifier, two):
    y = np.array(texts(two), dtype=object)
    before = y.copy()
    classifier().fit(two.X, y)
    assert all(a is b for a, b in zip(y, before, strict=True))


TARGETS = {
    "float array": lambda c: c.y,
    "list with None": lambda c: [None if np.isnan(v) else float(v) for v in c.y],
    "pandas Float64": lambda c: pd.Series(c.y).astype("Float64"),
    "polars with nulls": lambda c: pl.Series([None if np.isnan(v) else float(v) for v in c.y]),
    "object array": lambda c: np.array([None if np.isnan(v) else v for v in c.y], dtype=object),
}


@pytest.mark.parametrize("spelling", TARGETS)
def test_every_spelling_of_targets(spelling, regressor, curve):
    y = TARGETS[spelling](curve)
    plain = regressor().fit(curve.X, curve.y)
    reg = regressor().fit(curve.X, y)
    np.testing.assert_array_equal(reg.predict(curve.X), plain.predict(curve.X))
    assert reg.score(curve.X, y) == plain.score(curve.X, curve.y)


def test_marker_of_unknown_targets(regressor, curve):
    marked = np.where(np.isnan(curve.y), -999.0, curve.y)
    reg = regressor(unlabeled=-999).fit(curve.X, marked)
    expected = regressor().fit(curve.X, curve.y).predict(curve.X)
    np.testing.assert_array_equal(reg.predict(curve.X), expected)


def test_minus_one_is_an_ordinary_target(regressor, curve):
    y = np.where(curve.y > 3, 1.0, -1.0)
    y[np.isnan(curve.y)] = np.nan
    reg = regressor().fit(curve.X, y)
    known = np.flatnonzero(~np.isnan(y))
    np.testing.assert_array_equal(reg.transduction_[known], y[known])
    assert set(y[known]) == {-1.0, 1.0}
