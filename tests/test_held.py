"""What a fit said of its labelled rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.linear_model import Ridge

from graphkm import (
    GKMClassifier,
    KernelRidgeClassifierCV,
    SemiSupervisedClassifier,
    SemiSupervisedRegressor,
)
from graphkm.exchange import load_model, save_model
from graphkm.judge.sizes import tilted
from graphkm.semi.held import held_of

X, TRUTH = make_moons(120, noise=0.1, random_state=0)
RIDGE = KernelRidgeClassifierCV(random_state=0)
Y = np.where(np.arange(120) < 30, TRUTH, -1)


def test_probabilities_meet_the_sizes_of_classes_as_predictions_do(tmp_path):
    sizes = {0: 0.8, 1: 0.2}
    model = SemiSupervisedClassifier(RIDGE, class_sizes=sizes, random_state=0).fit(X, Y)
    held = held_of(model)
    assert np.array_equal(held.said, tilted(model.held_out_, model.mixture_.tilt))
    assert np.array_equal(held.told.argmax(axis=1), TRUTH[held.rows])
    assert np.abs(held.said - model.held_out_).max() > 0.01
    save_model(model, tmp_path / "a")
    for one, two in zip(held, held_of(load_model(tmp_path / "a")), strict=True):
        np.testing.assert_equal(one, two)


def test_quantities_have_columns():
    model = SemiSupervisedRegressor(Ridge(), random_state=0).fit(X, np.where(Y < 0, np.nan, Y))
    held = held_of(model)
    assert held.kind == "quantities" and held.said.shape == held.told.shape == (30, 1)


def test_what_holds_no_labels_out_is_told():
    with pytest.raises(TypeError, match="GKMClassifier holds no labels out; pass a Semi"):
        held_of(GKMClassifier().fit(X, Y))
    few = np.where(np.arange(120) < 2, [0, 1] * 60, -1)
    with pytest.raises(ValueError, match="too few labels to hold any out"):
        held_of(SemiSupervisedClassifier(random_state=0).fit(X, few))
