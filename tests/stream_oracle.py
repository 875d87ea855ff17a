"""A stream, literally: one row at a time, kept rows in lists, distances by plain loops.

Only the random numbers come from the library. The steps are those of `oracles.algorithm`.
"""

from __future__ import annotations

import math

import numpy as np

from graphkm import reference
from graphkm.graphs.base import generators
from oracles import STEPS, kernel_matrix


def offer(kept, row, position, number, size, half_life, x):
    """Put a row among those kept, or not; `number` counts rows offered, from 1."""
    limit, rate = size, size / number  # algorithm R
    if half_life is not None:
        coming = half_life / math.log(2) * number / position
        limit = max(1, min(size, int(coming)))
        rate = min(1.0, limit / coming)
    if len(kept) < limit:
        kept.append(row)
    elif x / rate < 1:
        kept[int(x / rate * limit)] = row
    del kept[limit:]


def planned(plan, n):
    return max(min(2 * n, 20000), n // 5) if plan == "auto" else math.floor(plan * n)


def edge(kind, k, X, gamma, labels, others, n_labels, n_others, x):
    """Return (u, v, mu), or None."""
    if not others:
        return None
    first = int(x[0] * len(others))
    u = others[first]
    pairs = []
    if kind == "knn":
        share = n_labels / (n_labels + n_others)
        for c in x[1 : 1 + math.ceil((len(labels) + len(others)) / k)]:
            pool, z = (labels, c / share) if c < share else (others, (c - share) / (1 - share))
            pairs.append(pool[int(z * len(pool))])
    elif kind == "bipartite" or x[2] < 2 * n_labels / (2 * n_labels + n_others - 1):
        pairs.append(labels[int(x[1] * len(labels))])
    elif len(others) > 1:
        pairs.append(others[(first + 1 + int(x[1] * (len(others) - 1))) % len(others)])
    weighed = [(math.exp(-gamma * math.fsum((X[u] - X[v]) ** 2)), v) for v in pairs if v != u]
    if not weighed:
        return None
    mu, v = max(weighed, key=lambda pair: pair[0])
    return u, v, mu


def draws(X, labeled, seed, *, kind, k, gamma, size, half_life, plan):
    """Return for every step the labelled row, the edge, l, and the steps that count at most."""
    for_labels, for_others, for_again, for_edges = generators(seed, 4)
    labels, others, steps = [], [], []
    n_labels = n_others = since = 0
    wide = 1 + (min(math.ceil(2 * size / k), 400) if kind == "knn" else 2)
    for row, known in enumerate(labeled):
        if known:
            n_labels += 1
            offer(labels, row, row + 1, n_labels, size, half_life, for_labels.random())
        else:
            n_others += 1
            offer(others, row, row + 1, n_others, size, half_life, for_others.random())
        if not n_labels:
            continue
        since += 1
        l, own = n_labels, bool(known)  # noqa: E741
        if half_life is not None:
            l *= min(1.0, half_life / math.log(2) / (row + 1))  # noqa: E741
        first = len(steps)
        while own or len(steps) < planned(plan, since):
            again = for_again.random()
            label = row if own else labels[int(again * len(labels))]
            x = for_edges.random(wide)
            joined = edge(kind, k, X, gamma, labels, others, n_labels, n_others, x)
            steps.append((label, joined, l))
            own = False
        memory = math.inf
        if half_life is not None:
            memory = max(4.0, 4 * half_life * len(steps) / (row + 1))
        steps[first:] = [(*step, memory) for step in steps[first:]]
    return steps


def learn(X, targets, weights, steps, *, kernel, C, C_graph, p, loss, step, offset):
    """Return the lemma's average after these steps, one coefficient for every row."""
    name, parameters = kernel
    K = kernel_matrix(name, X, X, **parameters) + offset
    n, n_outputs = targets.shape
    out = np.zeros((n, n_outputs))
    for r in range(n_outputs):
        w, average, t = np.zeros(n), np.zeros(n), 0
        for label, joined, l, memory in steps:  # noqa: E741
            t += 1
            average = (t - 1) / (t + 1) * average + 2 / (t + 1) * w
            problem = reference.Problem(
                K, np.arange(n) == label, targets[[label], r], l * C * weights[label], l * C_graph,
                p, reference.losses()[loss],
            )  # fmt: skip
            w = STEPS[step](problem, t, w, 0, *(joined or (0, 0, 0.0)))
            if t >= memory:
                t //= 2
        out[:, r] = average
    return out
