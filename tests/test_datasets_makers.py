"""Made data: what is promised of their distribution holds."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_moons

from graphkm.datasets import make_g50c, make_two_moons


@pytest.mark.parametrize(("n_features", "bayes_error"), [(50, 0.05), (3, 0.2)])
def test_gaussians_have_the_bayes_error(n_features, bayes_error):
    n = 40_000
    X, y = make_g50c(n, n_features=n_features, bayes_error=bayes_error, random_state=0)
    error = np.mean((X.sum(axis=1) > 0) != y)
    assert abs(error - bayes_error) < 4 * np.sqrt(bayes_error / n)
    means = np.array([X[y == k].mean(axis=0) for k in (0, 1)])
    np.testing.assert_allclose(means[0], -means[1], atol=0.05)
    np.testing.assert_allclose(X[y == 1].var(axis=0), 1, atol=0.05)
    np.testing.assert_allclose(np.corrcoef(X[y == 1].T)[0, 1:], 0, atol=0.04)


def test_gaussians_like_g50c():
    X, y = make_g50c(random_state=3)
    assert X.shape == (550, 50)
    np.testing.assert_array_equal(np.bincount(y), [275, 275])
    assert len(set(y[:20])) == 2
    np.testing.assert_array_equal(X, make_g50c(random_state=3)[0])
    assert not np.array_equal(X, make_g50c(random_state=4)[0])


def test_two_moons():
    X, y = make_two_moons(60, noise=0.1, random_state=1)
    expected = make_moons(60, noise=0.1, random_state=1)
    np.testing.assert_array_equal(X, expected[0])
    np.testing.assert_array_equal(y, expected[1])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_samples": 1}, "n_samples=1 must be"),
        ({"n_features": 0}, "n_features=0 must be"),
        ({"bayes_error": 0.5}, "bayes_error=0.5 must lie"),
    ],
)
def test_wrong_arguments(wrong, message):
    with pytest.raises(ValueError, match=message):
        make_g50c(**wrong)
