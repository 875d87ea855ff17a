"""The map of the labelling page: neighbours stay together, at any number of rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

pytest.importorskip("starlette")

from sklearn.datasets import load_digits
from sklearn.manifold import trustworthiness

from graphkm.app import places
from graphkm.app.places import eigenvectors, first_places, map_places


@pytest.mark.long
@pytest.mark.parametrize("landmarks", [150, 1500])
def test_neighbours_stay_nearer_than_on_principal_components(monkeypatch, landmarks):
    monkeypatch.setattr(places, "LANDMARKS", landmarks)  # below and above the number of rows
    X = load_digits().data[:400]
    first, better = first_places(X), map_places(X)
    trust = [trustworthiness(X, each.astype(float), n_neighbors=12) for each in (first, better)]
    print(f"trustworthiness: components {trust[0]:.3f}, map {trust[1]:.3f}")
    assert trust[1] > trust[0] + 0.05
    assert np.array_equal(better, map_places(X))  # the same at every start
    assert better.min() == 0 and better.max() == 1000


def test_eigenvectors_tell_the_parts_of_a_graph_apart():
    rng = np.random.default_rng(0)
    part = np.arange(90) % 3
    X = rng.normal(size=(90, 4)) + 30 * np.eye(3, 4)[part]
    found = eigenvectors(X)
    centres = np.array([found[part == k].mean(axis=0) for k in range(3)])
    spread = max(np.ptp(found[part == k], axis=0).max() for k in range(3))
    apart = min(np.linalg.norm(centres[a] - centres[b]) for a, b in ((0, 1), (0, 2), (1, 2)))
    assert apart > 5 * spread


@pytest.mark.parametrize("rows", [
    np.zeros((40, 3)), np.ones((2, 2)), np.arange(40.0)[:, None], np.eye(29),
    csr_array(np.eye(35, 60)), np.repeat([[1.0, 2.0], [3.0, 4.0]], 20, axis=0),
])  # fmt: skip
def test_odd_rows_have_places(rows):
    found = map_places(rows)
    assert found.shape == (rows.shape[0], 2) and found.dtype == np.int64
    assert found.min() >= 0 and found.max() <= 1000
