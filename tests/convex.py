"""The minimum of J from an independent convex solver."""

from __future__ import annotations

import warnings

import cvxpy as cp
import numpy as np

from oracles import dense_laplacian, graph_factor, scales


def losses(name, parameter, y, f):
    """Return the losses of scores, as expressions."""
    margins = 1 - cp.multiply(y, f)
    return {
        "hinge": lambda: cp.pos(margins),
        # A parabola with straight arms is a Huber function of the positive part.
        "smooth_hinge": lambda: cp.huber(cp.pos(margins), parameter) / (2 * parameter),
        "logistic": lambda: cp.logistic(margins - 1),
        "l1": lambda: cp.abs(y - f),
        "epsilon_insensitive": lambda: cp.pos(cp.abs(y - f) - parameter),
    }[name]()


def roughness(problem, f, factor):
    """Return factor times the sum over edges; weights inside keep the cones well scaled."""
    if problem.p == 2:
        values, vectors = np.linalg.eigh(dense_laplacian(problem))
        root = np.sqrt(factor * np.maximum(values, 0) ** problem.degree)[:, None] * vectors.T
        return cp.sum_squares(root @ f)
    u, v, mu = (np.array(column) for column in zip(*problem.edges, strict=True))
    s = np.array(scales(problem))
    inside = (factor * mu) ** (1 / problem.p)
    gaps = cp.multiply(inside * s[u], f[u]) - cp.multiply(inside * s[v], f[v])
    if problem.p == 1:
        return cp.sum(cp.abs(gaps))
    return cp.sum(cp.power(cp.abs(gaps), problem.p, approx=False))


def minimum(problem, r=0):
    """Return min J and the scores there, in the variables w with f = root w."""
    values, vectors = np.linalg.eigh(problem.K + problem.offset)
    kept = values > 1e-12 * values.max()
    root = vectors[:, kept] * np.sqrt(values[kept])
    w = cp.Variable(kept.sum())
    f = root @ w
    y = problem.targets[:, r]
    J = cp.sum_squares(w) / 2 + problem.C[r] * problem.weights @ losses(
        problem.loss, problem.parameter, y, f[problem.labeled]
    )
    if problem.edges and problem.C_graph[r]:
        J += roughness(problem, f, graph_factor(problem, r))
    task = cp.Problem(cp.Minimize(J))
    for tol in (1e-9, 1e-8):  # power cones do not always allow the first
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Solution may be inaccurate")
            task.solve(solver=cp.CLARABEL, tol_gap_abs=tol, tol_gap_rel=tol, tol_feas=tol)
        if task.status == cp.OPTIMAL:
            break
    assert task.status == cp.OPTIMAL
    return float(task.value), np.asarray(f.value)
