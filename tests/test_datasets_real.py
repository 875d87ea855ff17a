"""Accuracy on public benchmark sets, where they are at hand."""

from __future__ import annotations

import lzma
import os
from pathlib import Path

import numpy as np
import pytest
import scipy.io
from sklearn.datasets import load_svmlight_file

_BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"


def data_file(name):
    path = Path(os.environ.get("GRAPHKM_DATA", _BESIDE)) / name
    if not path.exists():
        pytest.skip(f"{path} is absent; set GRAPHKM_DATA to the folder of the benchmark sets")
    return path


@pytest.mark.long
def test_g50c_official_splits(classifier):
    """Two Gaussians in 50 dimensions, 50 labels, Bayes error 5 %."""
    with lzma.open(data_file("g50c_lds.mat.xz")) as file:
        data = scipy.io.loadmat(file)
    X, truth = data["X"], data["y"].ravel()
    assert X.shape == (550, 50)
    errors = []
    for split, labeled in enumerate(data["idxLabs"] - 1):
        y = np.full(550, np.nan)
        y[labeled] = truth[labeled]
        clf = classifier(
            C_graph=0.05, gamma=0.005, n_neighbors=50, fit_intercept=False,
            max_iter=5000, unlabeled=None, random_state=split,
        ).fit(X, y)  # fmt: skip
        hidden = data["idxUnls"][split] - 1
        assert np.isnan(y[hidden]).all()
        errors.append(1 - clf.score(X[hidden], truth[hidden]))
    assert len(errors) == 10
    assert np.mean(errors) < 0.12


@pytest.mark.long
def test_a1a_sparse_with_most_labels_hidden(classifier):
    X, truth = load_svmlight_file(str(data_file("a1a.libsvm.bz2")), n_features=123)
    assert X.shape == (1605, 123)
    scores = []
    for seed in range(4):
        hidden = np.random.default_rng(seed).random(len(truth)) < 0.9
        clf = classifier(
            C=5.0, C_graph=0.01, gamma=0.02, graph="bipartite",
            max_iter=5000, unlabeled=None, random_state=seed,
        ).fit(X, np.where(hidden, np.nan, truth))  # fmt: skip
        scores.append(clf.score(X[hidden], truth[hidden]))
    assert np.mean(scores) >= 0.80  # 75 % are of the larger class
