"""
Regression: where neighbours help, and where they do not
========================================================

Targets are known for a few rows only, on three sets: two arcs, along which the target changes
slowly while it jumps from one arc to the other; a rolled-up sheet; and a medical table without such
a shape.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes, make_moons, make_swiss_roll
from sklearn.metrics import r2_score
from sklearn.neighbors import KNeighborsRegressor
from sklearn.preprocessing import scale
from sklearn.svm import SVR

from graphkm import GKMRegressor, GKMRegressorCV

N_ROWS, DRAWS = 250, 3

# %%
# Three sets
# ----------
# The target on one arc grows from left to right, on the other it falls; so rows that face each
# other across the gap have different targets.

arcs, arc = make_moons(N_ROWS, noise=0.08, random_state=0)
roll, along = make_swiss_roll(N_ROWS, noise=0.3, random_state=0)
patients, progression = load_diabetes(return_X_y=True)
sets = {
    "two arcs, 20 known": (arcs, np.where(arc == 0, 2 + arcs[:, 0], -2 - arcs[:, 0]), 20),
    "rolled sheet, 20 known": (roll, along, 20),
    "diabetes, 40 known": (patients[:N_ROWS], progression[:N_ROWS], 40),
}

# %%
# Methods
# -------
# The first two learn from the known targets only. Unknown targets are NaN.


def scores(X, truth, known):
    y = np.where(known, truth, np.nan)
    models = {
        "SVR": SVR(C=10, gamma=1 / X.shape[1]).fit(X[known], y[known]),
        "5 neighbours": KNeighborsRegressor(weights="distance").fit(X[known], y[known]),
        "GKMRegressor": GKMRegressor(random_state=0).fit(X, y),
        "GKMRegressorCV": GKMRegressorCV(random_state=0).fit(X, y),
    }
    reached = {name: r2_score(truth[~known], m.predict(X[~known])) for name, m in models.items()}
    return reached, models["GKMRegressorCV"].unlabeled_gain_


results = {}
for name, (X, truth, n_known) in sets.items():
    X, truth, draws = scale(X), scale(truth), []
    for seed in range(DRAWS):
        known = np.zeros(len(X), dtype=bool)
        known[np.random.default_rng(seed).choice(len(X), n_known, replace=False)] = True
        with warnings.catch_warnings():  # some small part of a graph may hold no known target
            warnings.simplefilter("ignore", UserWarning)
            draws.append(scores(X, truth, known))
    results[name] = {m: [reached[m] for reached, _ in draws] for m in draws[0][0]}
    print(f"{name}: R^2 on the other rows, mean of {DRAWS} draws")
    for method, values in results[name].items():
        print(f"  {method:15} {np.mean(values):6.2f}")
    print(f"  gain the search expected from the graph: {np.mean([g for _, g in draws]):+.2f}")

# %%
# What the graph adds
# -------------------
# On the arcs the search finds a graph that helps much. On the sheet it seldom needs one. On the
# table five neighbours are better than every kernel machine here: patients do not lie along
# curves. The untuned :class:`~graphkm.GKMRegressor` has a weak graph, since a strong one costs more
# on tables than it gains on curves.

figure, axes = plt.subplots(1, len(results), figsize=(10, 3.6), sharey=True, layout="constrained")
for ax, (name, methods) in zip(axes, results.items(), strict=True):
    for i, values in enumerate(methods.values()):
        ax.plot([i] * DRAWS, values, "o", color=f"C{i}", alpha=0.5)
        ax.plot([i - 0.25, i + 0.25], [np.mean(values)] * 2, color=f"C{i}", lw=3)
    ax.set_xticks(range(len(methods)), methods, rotation=30, ha="right")
    ax.set(title=name, ylim=(min(0, ax.get_ylim()[0]), 1.02))
    ax.grid(axis="y", alpha=0.3)
axes[0].set_ylabel("$R^2$: draws, and their mean")
plt.show()
