"""
First steps: two moons, six labels
==================================

A thousand points, three labels in each class. The same kernel machine is trained on the labelled
points alone and with the unlabelled ones, beside scikit-learn's support vector machine and label
spreading. Run as a script, it draws ``out/two_moons.png``.
"""

import pathlib
import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import SVC

import graphkm
from graphkm import GKMClassifier
from graphkm.datasets import hide_labels, make_two_moons

# %%
# Partly labelled data
# --------------------
# Unlabelled rows stay in ``X``, and ``y`` is -1 there, as in `sklearn.semi_supervised`. (NaN, None
# and NA do as well.) Half of the points are kept for testing.

X, truth = make_two_moons(2000, noise=0.1, random_state=0)
X, X_test, truth, truth_test = X[::2], X[1::2], truth[::2], truth[1::2]
y = np.full(len(X), -1)
rng = np.random.default_rng(0)
for label in (0, 1):
    y[rng.choice(np.flatnonzero(truth == label), 3, replace=False)] = label
labeled = y >= 0
print(f"graphkm {graphkm.__version__}: two moons, {len(y)} points, {labeled.sum()} labels")

# %%
# With and without the unlabelled points
# --------------------------------------
# ``C_graph=0`` ignores the graph, and with it the unlabelled points. Label spreading has an alpha
# of 0.9 here: with scikit-learn's 0.2 six labels do not reach the ends of the moons.

models = {
    "labelled points only": GKMClassifier(C_graph=0, random_state=0),
    "with the unlabelled points": GKMClassifier(random_state=0),
    "scikit-learn: SVC": SVC(C=10),
    "scikit-learn: label spreading": LabelSpreading(
        kernel="knn", n_neighbors=10, alpha=0.9, max_iter=1000
    ),
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
# One draw of six labels says little about methods. Ten of them:

draws = [hide_labels(truth, n_per_class=3, random_state=seed) for seed in range(10)]
for name, model in models.items():
    scores = [fit_and_score(clone(model), drawn) for drawn in draws]
    print(f"  {name:30} mean of ten draws {np.mean(scores):6.1%}, worst {np.min(scores):6.1%}")

# %%
# The two decisions
# -----------------
# The machine without the graph draws the simplest boundary between six points. The graph says
# that points along a moon should score alike, and the boundary moves into the gap.


def draw(ax, name):
    x0, x1 = np.meshgrid(np.linspace(-1.6, 2.6, 300), np.linspace(-1.1, 1.6, 200))
    f = models[name].decision_function(np.c_[x0.ravel(), x1.ravel()]).reshape(x0.shape)
    limit = np.abs(f).max()
    ax.contourf(x0, x1, f, levels=np.linspace(-limit, limit, 41), cmap="RdBu_r", alpha=0.6)
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
