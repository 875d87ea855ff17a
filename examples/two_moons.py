"""
First steps: two moons, eight labels
====================================

A thousand points, four labels in each class. A support vector machine learns from the labelled
points alone. Three methods learn from the unlabelled ones as well: scikit-learn's self-training and
label spreading, and this library. Run as a script, it draws ``out/two_moons.png``.
"""

import pathlib
import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC

import graphkm
from graphkm import SemiSupervisedClassifier
from graphkm.datasets import hide_labels, make_two_moons

# %%
# Partly labelled data
# --------------------
# Unlabelled rows stay in ``X``, and ``y`` is -1 there, as in `sklearn.semi_supervised`. (NaN, None
# and NA do as well.) Half of the points are kept for testing.

X, truth = make_two_moons(2000, noise=0.1, random_state=0)
X, X_test, truth, truth_test = X[::2], X[1::2], truth[::2], truth[1::2]
y = hide_labels(truth, n_per_class=4, random_state=0)
labeled = y >= 0
print(f"graphkm {graphkm.__version__}: two moons, {len(y)} points, {labeled.sum()} labels")

# %%
# With and without the unlabelled points
# --------------------------------------
# ``SemiSupervisedClassifier()`` has no parameters to set. The others have better ones than their
# defaults here. Label spreading has an alpha of 0.9, because with scikit-learn's 0.2 eight labels
# do not reach the ends of the moons. Self-training has its nearest neighbour, because three would
# outvote a label.

models = {
    "SVC, labelled points only": SVC(C=10),
    "graphkm, with the unlabelled": SemiSupervisedClassifier(random_state=0),
    "self-training": SelfTrainingClassifier(KNeighborsClassifier(1)),
    "label spreading": LabelSpreading(kernel="knn", n_neighbors=10, alpha=0.9, max_iter=1000),
}


def fit_and_score(model, y):
    rows = y >= 0 if isinstance(model, SVC) else slice(None)  # it learns from labels only
    return model.fit(X[rows], y[rows]).score(X_test, truth_test)


accuracy = {}
for name, model in models.items():
    start = time.perf_counter()
    accuracy[name] = fit_and_score(model, y)
    seconds = time.perf_counter() - start
    print(f"  {name:30} accuracy {accuracy[name]:6.1%}   fit and score {seconds:5.2f} s")

# %%
# One draw of eight labels says little about methods. Ten of them:

draws = [hide_labels(truth, n_per_class=4, random_state=seed) for seed in range(10)]
for name, model in models.items():
    scores = [fit_and_score(clone(model), drawn) for drawn in draws]
    print(f"  {name:30} mean of ten draws {np.mean(scores):6.1%}, worst {np.min(scores):6.1%}")

# %%
# The two decisions
# -----------------
# The support vector machine draws the simplest boundary between eight points. Ours mixes models of
# the eight labels with functions that hardly change along a graph of all points. Held-out labels
# weigh them, and here the functions on the graph win: they say the same all around a moon, and
# change in the gap. Label spreading passes what a label says from neighbour to neighbour, and
# it fades on the way.


def draw(ax, name):
    x0, x1 = np.meshgrid(np.linspace(-1.6, 2.6, 300), np.linspace(-1.1, 1.6, 200))
    f = models[name].decision_function(np.c_[x0.ravel(), x1.ravel()]).reshape(x0.shape)
    f = np.tanh(f / np.median(np.abs(f)))  # how sure a method is has a scale of its own
    ax.contourf(x0, x1, f, levels=np.linspace(-1, 1, 41), cmap="RdBu_r", alpha=0.6)
    ax.contour(x0, x1, f, levels=[0], colors="black", linewidths=1.5)
    ax.scatter(*X[~labeled].T, s=4, color="0.35", label=f"{(~labeled).sum()} unlabelled")
    for label, color, marker in ((0, "tab:blue", "o"), (1, "tab:red", "s")):
        ax.scatter(
            *X[y == label].T, s=90, c=color, marker=marker, edgecolors="w", label=f"class {label}"
        )
    ax.set(xticks=[], yticks=[], aspect="equal", xlim=(-1.6, 2.6), ylim=(-1.1, 1.6))
    ax.set_title(f"{name}: {accuracy[name]:.1%}")


figure, axes = plt.subplots(1, 2, figsize=(11, 3.9), layout="constrained")
for ax, name in zip(axes, models, strict=False):
    draw(ax, name)
axes[0].legend(loc="lower left", fontsize=8)
if "__file__" in globals():  # run as a script, which has no other way to show it
    out = pathlib.Path(__file__).resolve().parents[1] / "out"
    out.mkdir(exist_ok=True)
    figure.savefig(out / "two_moons.png", dpi=120)
    print("  picture: out/two_moons.png")
