"""The minimum of the Laplacian SVM's and regression's objective, from a convex solver."""

from __future__ import annotations

import cvxpy as cp
import numpy as np


def neighbour_weights(X, k):
    """Return self-tuned weights of the k nearest neighbours, joined where either is the other's."""
    d = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    W = np.zeros((len(X), len(X)))
    order = np.argsort(d + np.diag(np.full(len(X), np.inf)), axis=1)[:, :k]
    far = d[np.arange(len(X)), order[:, -1]]
    for u, near in enumerate(order):
        for v in near:
            W[u, v] = W[v, u] = np.exp(-(d[u, v] ** 2) / (far[u] * far[v]))
    return W


def laplacian(W, normalized):
    """Return D - W, or I - D^(-1/2) W D^(-1/2)."""
    degree = W.sum(axis=1)
    if not normalized:
        return np.diag(degree) - W
    scale = 1 / np.sqrt(degree)
    return np.eye(len(W)) - scale[:, None] * W * scale


def rbf(X, gamma):
    """Return the kernel matrix, pair by pair."""
    return np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(axis=2))


def minimum(K, M, labeled, y, weights, gamma_A, gamma_I, loss, intercept):
    """Return the least objective and the scores there, with M = L^q."""
    values, vectors = np.linalg.eigh(K)
    kept = values > 1e-13 * values.max()
    root = vectors[:, kept] * np.sqrt(values[kept])
    w, b = cp.Variable(kept.sum()), cp.Variable()
    f = root @ w + (b if intercept else 0)
    roughness, axes = np.linalg.eigh((M + M.T) / 2)
    half = np.sqrt(np.maximum(roughness, 0))[:, None] * axes.T
    margins = 1 - cp.multiply(y, f[labeled])
    losses = {
        "squared_hinge": lambda: cp.square(cp.pos(margins)),
        "hinge": lambda: cp.pos(margins),
        "squared_error": lambda: cp.square(y - f[labeled]),
    }[loss]()
    value = weights @ losses + gamma_A * cp.sum_squares(w)
    if gamma_I:
        value += gamma_I * cp.sum_squares(half @ f)
    task = cp.Problem(cp.Minimize(value))
    task.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    assert task.status == cp.OPTIMAL
    return float(task.value), np.asarray(f.value)
