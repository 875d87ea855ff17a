"""Hidden labels: as many as asked for, of every class, in a form that estimators understand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphkm.datasets import hide_labels
from graphkm.estimators.labels import as_label_array, labeled_mask

Y = np.repeat([0, 1, 2], [50, 30, 20])


def known(partly, unlabeled=-1):
    return labeled_mask(as_label_array(partly), unlabeled)


def test_fraction_keeps_the_shares_of_classes():
    partly = hide_labels(Y, 0.9, random_state=0)
    np.testing.assert_array_equal(np.bincount(partly[partly >= 0]), [5, 3, 2])
    np.testing.assert_array_equal(partly[partly >= 0], Y[partly >= 0])
    assert partly.dtype == Y.dtype
    assert (partly != hide_labels(Y, 0.9, random_state=1)).any()
    np.testing.assert_array_equal(partly, hide_labels(Y, 0.9, random_state=0))


@given(
    sizes=st.lists(st.integers(1, 30), min_size=1, max_size=6),
    fraction=st.floats(0, 0.999),
    seed=st.integers(0, 99),
)
def test_counts(sizes, fraction, seed):
    y = np.repeat(np.arange(len(sizes)), sizes)
    asked = max(1, len(y) - round(fraction * len(y)))
    kept = hide_labels(y, fraction, random_state=seed)
    counts = np.bincount(kept[kept >= 0], minlength=len(sizes))
    assert counts.min() >= 1
    exact = np.array(sizes) * asked / len(y)
    assert (counts <= np.maximum(1, np.ceil(exact - 1e-9))).all()
    assert counts.sum() >= asked
    if exact.min() >= 1:
        assert counts.sum() == asked
        assert (counts >= np.floor(exact + 1e-9)).all()
    loose = hide_labels(y, fraction, stratify=False, random_state=seed)
    assert (loose >= 0).sum() == asked


@pytest.mark.long
def test_labels_are_drawn_evenly():
    kept = sum(hide_labels(np.zeros(5, int), 0.6, random_state=s) == 0 for s in range(2000))
    np.testing.assert_allclose(kept / 2000, 0.4, atol=0.05)


def test_number_per_class():
    partly = hide_labels(Y, n_per_class=4, random_state=0)
    np.testing.assert_array_equal(np.bincount(partly[partly >= 0]), [4, 4, 4])
    with pytest.raises(ValueError, match="n_per_class=21, but class 2 has only 20 labels"):
        hide_labels(Y, n_per_class=21)


def test_input_is_not_changed():
    y = Y.copy()
    hide_labels(y, 0.9)
    np.testing.assert_array_equal(y, Y)


@pytest.mark.parametrize(
    "y",
    [
        [0, 1, 0, 1],
        np.array([0, 1, 0, 1], dtype=np.uint8),
        np.array([200, 1, 200, 1], dtype=np.uint8),
        np.array([2**63 + 1, 1, 2**63 + 1, 1], dtype=np.uint64),
        np.array([0.0, 1.0, 0.0, 1.0], dtype=np.float32),
        np.array(["a", "b", "a", "b"]),
        ["a", "b", "a", "b"],
        [True, False, True, False],
        pd.Series(["a", "b", "a", "b"], dtype="category"),
        pd.Series([1, 2, 1, 2], dtype="Int64"),
    ],
    ids=lambda y: str(getattr(y, "dtype", type(y[0]).__name__)),
)
def test_estimators_see_what_is_hidden(y):
    partly = hide_labels(y, n_per_class=1, random_state=0)
    mask = known(partly)
    assert mask.sum() == 2
    assert partly[mask].tolist() == np.asarray(y)[mask].tolist()
    assert len(set(partly[mask].tolist())) == 2


@pytest.mark.parametrize(
    ("y", "dtype", "marker"),
    [
        (np.array([3, 4, 3, 4], dtype=np.int8), np.int8, -1),
        (np.array([3.0, 4.0, 3.0, 4.0]), np.float64, np.nan),
        (np.array(["x", "y", "x", "y"]), object, None),
    ],
)
def test_markers_by_dtype(y, dtype, marker):
    partly = hide_labels(y, 0.5, random_state=0)
    assert partly.dtype == dtype
    hidden = partly[~known(partly)]
    assert len(hidden) == 2
    if marker is None:
        assert hidden.tolist() == [None, None]
    else:
        np.testing.assert_array_equal(hidden, [marker, marker])


# ------------------------------------------------------------ classes like -1


def test_minus_one_as_a_class():
    y = np.array([-1, 1, -1, 1])
    with pytest.raises(ValueError, match="pass unlabeled=None"):
        hide_labels(y, 0.5)
    with pytest.raises(ValueError, match="are of class 1"):
        hide_labels(y, 0.5, unlabeled=-1)
    partly = hide_labels(y, 0.5, unlabeled=None, random_state=0)
    assert partly.dtype == np.float64
    mask = known(partly, None)
    np.testing.assert_array_equal(np.sort(partly[mask]), [-1, 1])
    zeros = hide_labels(y, 0.5, unlabeled=0, random_state=0)
    assert zeros.dtype == np.int64
    assert sorted(zeros) == [-1, 0, 0, 1]


def test_rows_hidden_already_stay_hidden():
    y = np.array([-1, -1, 0, 1, 0, 1])
    partly = hide_labels(y, n_per_class=1, unlabeled=-1, random_state=0)
    assert (partly[:2] == -1).all()
    np.testing.assert_array_equal(np.sort(partly[partly >= 0]), [0, 1])
    floats = hide_labels([np.nan, 0.0, 1.0, 0.0, 1.0], 0.5, random_state=0)
    assert np.isnan(floats[0])
    assert np.isnan(floats).sum() == 3
    texts = hide_labels(["a", None, "b", "a", "b"], 0.5, random_state=0)
    assert texts[1] is None
    assert known(texts).sum() == 2


def test_text_marker_of_text_labels():
    partly = hide_labels(np.array(["a", "b", "a", "b"]), 0.5, unlabeled="hidden", random_state=0)
    assert sorted(partly) == ["a", "b", "hidden", "hidden"]
    assert known(partly, "hidden").sum() == 2


def test_large_integers_do_not_become_floats():
    y = np.array([2**60 + 1, 2**60 + 3] * 2)
    partly = hide_labels(y, 0.5, unlabeled=None, random_state=0)
    assert sorted(v for v in partly if v == v) == [2**60 + 1, 2**60 + 3]
    partly = hide_labels([np.nan, 2**60 + 1, 2**60 + 3], 0.0)
    assert partly[1:].tolist() == [2**60 + 1, 2**60 + 3]


# ----------------------------------------------------------------- regression


def test_targets_of_a_regression():
    y = np.random.default_rng(0).normal(size=50)
    partly = hide_labels(y, 0.8, random_state=0)
    assert np.isnan(partly).sum() == 40
    np.testing.assert_array_equal(partly[~np.isnan(partly)], y[~np.isnan(partly)])
    for wrong in ({"fraction": 0.8, "stratify": True}, {"n_per_class": 1}):
        with pytest.raises(ValueError, match="y holds fractions"):
            hide_labels(y, **wrong)


@pytest.mark.parametrize(
    ("y", "arguments", "message"),
    [
        (Y, {}, "give exactly one"),
        (Y, {"fraction": 0.5, "n_per_class": 1}, "give exactly one"),
        (Y, {"fraction": 1.0}, "fraction=1.0 is the share"),
        (Y, {"fraction": -0.1}, "fraction=-0.1 is the share"),
        (Y, {"n_per_class": 0}, "n_per_class=0 must be"),
        (Y, {"fraction": 0.5, "unlabeled": "?"}, "is text, but y holds numbers"),
        ([None, None], {"fraction": 0.5}, "no label"),
        (["a", 1], {"fraction": 0.5}, "no common order"),
        ([], {"fraction": 0.5}, "no label"),
    ],
)
def test_wrong_arguments(y, arguments, message):
    with pytest.raises(ValueError, match=message):
        hide_labels(y, **arguments)
