"""
Semi-supervised classifiers, side by side
=========================================

Four made sets in two dimensions, a few labels each, and seven classifiers. The sets are simple, so
that the decisions can be seen. In many dimensions neighbours tell less, and another method may be
best: :doc:`/leaderboard` has accuracies on real data.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from sklearn.datasets import make_blobs, make_circles
from sklearn.ensemble import RandomForestClassifier
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import SVC

from graphkm import GKMClassifierCV, SemiSupervisedClassifier
from graphkm.baselines import LaplacianSVC, TransductiveSVC
from graphkm.datasets import hide_labels, make_two_moons

# %%
# Sets
# ----
# Moons and rings are curves: rows of a class hang together, but lie on both sides of any line.
# Blobs are clusters. In the last set rows fill a square evenly and a line separates the classes:
# unlabelled rows say nothing there, and a method should not lose by them.


def square(n, seed):
    X = np.random.default_rng(seed).uniform(-2, 2, size=(n, 2))
    return X, (X[:, 0] + 0.5 * X[:, 1] > 0).astype(int)


sets = {
    "moons": (*make_two_moons(400, noise=0.12, random_state=0), 5),
    "rings": (*make_circles(400, noise=0.07, factor=0.5, random_state=0), 5),
    "blobs": (*make_blobs(400, centers=4, cluster_std=1.3, random_state=3), 4),
    "square": (*square(400, 0), 10),
}

# %%
# Methods
# -------
# The first sees the labelled rows only. The last two are the front door,
# :class:`~graphkm.SemiSupervisedClassifier`: with two given models, and with its defaults. Nothing
# is tuned by hand.

methods = {
    "SVC, labels only": SVC(),
    "LabelSpreading": LabelSpreading("knn", n_neighbors=10, alpha=0.9, max_iter=1000),
    "TransductiveSVC": TransductiveSVC(),
    "LaplacianSVC": LaplacianSVC(),
    "GKMClassifierCV": GKMClassifierCV(random_state=0),
    "forest, SVC, graph": SemiSupervisedClassifier(
        [RandomForestClassifier(25, random_state=0), SVC()], random_state=0
    ),
    "SemiSupervised": SemiSupervisedClassifier(random_state=0),
}

# %%
# Accuracy
# --------
# On the unlabelled rows, the mean of three draws of the labels. The fits to the first draw are
# drawn below.


def fit(model, X, y):
    rows = y >= 0 if isinstance(model, SVC) else slice(None)
    return model.fit(X[rows], y[rows])


accuracy, drawn = {}, {}
print(f"{'accuracy, %':20}" + "".join(f"{name:>10}" for name in sets))
for method, model in methods.items():
    for name, (X, truth, count) in sets.items():
        scores = []
        for seed in range(3):
            y = hide_labels(truth, n_per_class=count, random_state=seed)
            fit(model, X, y)
            scores.append(100 * np.mean(model.predict(X[y < 0]) == truth[y < 0]))
            if seed == 0:
                x0, x1 = (np.linspace(x.min() - 0.4, x.max() + 0.4, 70) for x in X.T)
                grid = np.stack(np.meshgrid(x0, x1), axis=-1)
                drawn[method, name] = x0, x1, model.predict(grid.reshape(-1, 2)).reshape(70, 70)
        accuracy[method, name] = np.mean(scores)
    figures = "".join(f"{accuracy[method, name]:10.1f}" for name in sets)
    print(f"{method:20}" + figures)

# %%
# Decisions
# ---------
# Large points have labels, small ones have none. The number is the mean accuracy of the table.

colors = ["tab:blue", "tab:red", "tab:green", "tab:orange"]
figure, axes = plt.subplots(
    len(sets), len(methods) + 1, figsize=(15, 7.6), layout="constrained", squeeze=False
)
for line, (name, (X, truth, count)) in zip(axes, sets.items(), strict=True):
    y = hide_labels(truth, n_per_class=count, random_state=0)
    known = y >= 0
    for ax, method in zip(line, [None, *methods], strict=True):
        if method is None:
            ax.scatter(*X.T, s=3, color=np.take(colors, truth), alpha=0.6)
            ax.set_ylabel(f"{name}, {known.sum()} labels")
        else:
            levels = np.arange(truth.max() + 2) - 0.5
            with warnings.catch_warnings():  # a single class has no contour
                warnings.simplefilter("ignore")
                ax.contourf(
                    *drawn[method, name],
                    levels=levels,
                    cmap=ListedColormap(colors[: truth.max() + 1]),
                    alpha=0.35,
                )
            ax.scatter(*X.T, s=1.5, color="0.35", alpha=0.6)
            share = f"{accuracy[method, name]:.0f} %"
            ax.text(0.97, 0.04, share, transform=ax.transAxes, ha="right")
        ax.scatter(*X[known].T, s=36, color=np.take(colors, y[known]), edgecolors="k", zorder=3)
        ax.set(xticks=[], yticks=[])
        if name == "moons":
            ax.set_title(method or "truth", fontsize=10)
plt.show()
