"""
Comparing the solvers
=====================

Both solvers minimise the same objective J. ``solver="newton"`` finds its minimum and certifies the
gap. ``solver="sgd"`` draws one label and one edge per step and stores no matrix. A theorem says
that it is within 2 G^2 / T of the minimum after T steps, in expectation. Here J is written out and
evaluated from the attributes of the fitted estimators.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from graphkm import KNN, SGD, GKMClassifier, Power
from graphkm.datasets import hide_labels, make_two_moons

GAMMA, C, C_GRAPH = 5.0, 1.0, 0.002
X, truth = make_two_moons(600, noise=0.15, random_state=0)
y = hide_labels(truth, n_per_class=20, random_state=0)
labeled = y >= 0

# %%
# The objective
# -------------
# .. math::
#
#    \tfrac{1}{2} \|w\|^2 + C \sum_{i=1}^{l} \max(0, 1 - y_i f(x_i))
#    + C_\text{graph} \frac{l}{|E|} \sum_{(u, v) \in E} \mu_{uv} (f(u) - f(v))^2
#
# over the l labelled rows and the edges E of the graph.

graph = KNN(n_neighbors=10, weights=GAMMA)
edges = graph.build(X, labeled).edges()


def objective(model):
    a = model.dual_coef_.ravel()
    f = model.decision_function(X)
    norm = a @ rbf_kernel(model.support_vectors_, gamma=GAMMA) @ a
    hinge = np.maximum(0, 1 - (2 * truth[labeled] - 1) * f[labeled]).sum()
    smooth = (edges.weight * (f[edges.u] - f[edges.v]) ** 2).mean() * labeled.sum()
    return norm / 2 + C * hinge + C_GRAPH * smooth


# %%
# The fits
# --------
# The settings are those for which the theorem holds: differences of plain scores, and a weak
# graph (``guarantee_`` says how weak).

common = {
    "C": C,
    "C_graph": C_GRAPH,
    "gamma": GAMMA,
    "graph": graph,
    "smoothness": Power(2, normalized=False),
    "precision": "double",
}


def fit(**options):
    start = time.perf_counter()
    model = GKMClassifier(**common, **options).fit(X, y)
    return model, time.perf_counter() - start


best, seconds = fit(solver="newton")
J = objective(best)
hidden = ~labeled
print(f"newton: J = {J:.4f} (it says {best.objective_:.4f}), {seconds:.2f} s, ", end="")
print(f"accuracy {best.score(X[hidden], truth[hidden]):.1%}")

steps, seeds = 2 ** np.arange(7, 15), 3
excess = np.zeros((len(steps), seeds))
for i, T in enumerate(steps):
    for seed in range(seeds):
        model, seconds = fit(solver=SGD("explicit", max_iter=int(T)), random_state=seed)
        excess[i, seed] = objective(model) - J
    correct = model.score(X[hidden], truth[hidden])
    print(f"sgd, {T:6} steps: J - min J = {excess[i].mean():8.4f}, ", end="")
    print(f"{seconds:.2f} s, accuracy {correct:.1%}")
guarantee = model.guarantee_
print(guarantee)

# %%
# The bound is a worst case, and the run stays far below it. Both fall as 1 / T.

figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
ax.loglog(steps, excess, "o", color="tab:blue", ms=4, alpha=0.5)
ax.loglog(steps, excess.mean(axis=1), color="tab:blue", label=f"sgd, mean of {seeds} runs")
ax.loglog(steps, [guarantee.bound(T) for T in steps], "k:", label="the theorem's bound, 2 G² / T")
ax.set(xlabel="steps T", ylabel="J at the average of T steps - min J")
ax.grid(alpha=0.3)
ax.legend()
plt.show()
